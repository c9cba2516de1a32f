# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Between devices with peer access, every Level Zero call of each operation fails, or is slow.

What fails changes nothing, or can be done again; memory is resident where it should be, and the end
leaves nothing. A lost device poisons the context; a slow call stops nobody else.
"""

import pytest

from tests.helpers.strict_process import run_strictly

pytestmark = pytest.mark.usefixtures("controls")

PROGRAM = """
    import sys
    from tests.helpers.calls import LevelZeroCalls
    from tests.helpers.failures import attempt, state
    from tests.helpers.snapshot_sums import assert_consistent
    from tests.helpers.threads import InThread
    from tests.helpers.usm import MIB, TIMEOUT_NS, repeat_until
    from urasync_l0 import KEEP_EVERYTHING, Context, UrResult, take_snapshot
    from urasync_l0.adapter import find_adapter
    from urasync_l0.software_driver.controls import Controls

    adapter, expanding, kind = sys.argv[1:]
    entries = find_adapter(adapter)
    controls = Controls()
    SLOW_NS = {"zeCommandListAppendSignalEvent": 5_000_000}  # it keeps Python's lock
    CODES = {"unknown": 0x7ffffffe, "memory": 0x70000003, "lost": 0x70000001}

    class Scene:
        # Memory of the second device in use and idle, which the first one reaches, or not yet.
        def __init__(self, granted):
            self.context = Context(adapter, expanding_segments=expanding)
            self.first, self.second = self.context.devices
            self.mine, self.another = (self.context.create_queue(self.first) for _ in range(2))
            self.theirs = self.context.create_queue(self.second)
            self.pool = self.context.create_pool(self.second, release_threshold=KEEP_EVERYTHING)
            self.other = self.context.create_pool(self.first, release_threshold=KEEP_EVERYTHING)
            self.another.alloc_device(100, pool=self.other).free()
            assert self.another.finish(TIMEOUT_NS)
            made = [self.theirs.alloc_device(3 * MIB, pool=self.pool) for _ in range(4)]
            self.held = made[1::2]
            for each in made[::2]:
                each.free()
            assert self.theirs.finish(TIMEOUT_NS)
            if granted == "context":
                self.context.enable_peer_access(self.first, self.second)
            elif granted == "adapter":
                entries.urUsmP2PEnablePeerAccessExp(self.first, self.second)

    def use(scene):
        # The first device's queue writes to the second one's memory.
        scene.mine.fill(scene.held[0], b"a", event=True).release()
        assert scene.mine.finish(TIMEOUT_NS)

    def close_pool(scene):
        scene.held.clear()
        assert scene.theirs.finish(TIMEOUT_NS)
        if not scene.pool.core.is_closed:
            scene.pool.close()
        assert scene.theirs.finish(TIMEOUT_NS)

    OPERATIONS = {
        "enable": ("", lambda s: s.context.enable_peer_access(s.first, s.second)),
        "disable": ("context", lambda s: s.context.disable_peer_access(s.first, s.second)),
        "enable by entry": ("", lambda s: entries.urUsmP2PEnablePeerAccessExp(s.first, s.second)),
        "disable by entry": (
            "adapter", lambda s: entries.urUsmP2PDisablePeerAccessExp(s.first, s.second)
        ),
        "grow": ("context", lambda s: s.held.append(s.theirs.alloc_device(20 * MIB, pool=s.pool))),
        "trim": ("context", lambda s: s.pool.trim_to(0)),
        "use": ("context", use),
        "close a pool": ("context", close_pool),
        "close": ("context", lambda s: s.context.close(TIMEOUT_NS)),
    }
    MAY_DO_A_PART = {"trim", "use", "close a pool", "close"}

    def check(scene):
        if scene.context.is_closed:
            return
        pools = scene.context.native.registry.pools()
        for pool in pools:
            pool.check()
        for shown in take_snapshot().pools:
            assert_consistent(shown)
        granted = scene.context.has_peer_access(scene.first, scene.second)
        there = sum(pool.statistics().reserved for pool in pools if pool is not scene.other.core)
        assert controls.resident_bytes(0) == (there if granted else 0)

    def end(scene):
        # What the adapter grants, later contexts would have, too.
        attempt(lambda s: entries.urUsmP2PDisablePeerAccessExp(s.first, s.second), scene)
        attempt(lambda s: s.context.close(TIMEOUT_NS), scene)
        assert scene.context.close(TIMEOUT_NS)

    def slow(scene, name, entry, nth):
        controls.slow_down(entry, nth, SLOW_NS.get(entry, TIMEOUT_NS))
        thread = InThread(lambda: OPERATIONS[name][1](scene))
        repeat_until(lambda: controls.wait_slow(1000000) or not thread.is_alive(), lambda: None)
        if controls.wait_slow(0) and entry not in SLOW_NS and name != "close":
            scene.another.alloc_device(100, pool=scene.other).free()
            assert scene.another.finish(TIMEOUT_NS)
            for shown in take_snapshot().pools:
                assert_consistent(shown)
            assert controls.wait_slow(0), "others had to wait"
        controls.hurry()
        thread.result()

    def fail(scene, name, entry, nth):
        operation = OPERATIONS[name][1]
        before = state(controls, scene.context), controls.resident_bytes(0)
        controls.fail(entry, nth, CODES[kind])
        _, error = attempt(operation, scene)
        controls.clear_failures()
        if kind == "lost":
            assert error is None or error.code is UrResult.DEVICE_LOST, error
            if entry != "zeDeviceCanAccessPeer":  # which is about no context
                assert scene.context.is_closed or scene.context.native.lost is not None
        elif error is not None:
            assert error.function == entry or isinstance(error, MemoryError), error
            if name not in MAY_DO_A_PART:
                after = state(controls, scene.context), controls.resident_bytes(0)
                assert after == before, (before, after)
            check(scene)
            operation(scene)

    for name, (granted, operation) in OPERATIONS.items():
        scene = Scene(granted)
        with LevelZeroCalls() as calls:
            operation(scene)
        end(scene)
        del scene
        nothing = controls.live_objects()
        counts = calls.counts.items()
        planned = [(entry, nth) for entry, count in counts for nth in range(1, count + 1)]
        assert len(planned) > 1, planned
        for entry, nth in planned:
            try:
                scene = Scene(granted)
                (slow if kind == "slow" else fail)(scene, name, entry, nth)
                if kind != "lost":
                    check(scene)
                end(scene)
                del scene
                assert controls.live_objects() == nothing
                assert controls.resident_bytes() == 0
            except BaseException as error:
                error.add_note(f"{name}, call {nth} of {entry}")
                raise
"""


@pytest.mark.parametrize("kind", ["unknown", "memory", "lost", "slow"])
@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
def test_each_call(adapter: str, expanding: str, kind: str) -> None:
    """MT-5, ERR-1."""
    settings = {"URASYNC_L0_SOFTWARE_DEVICES": "2"}
    assert run_strictly(PROGRAM, adapter, expanding, kind, **settings) == ""
