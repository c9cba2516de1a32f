# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the driver does not take back is still owned, and given back by the next call.

Every Level Zero call of each operation fails once. The helper closes the context in the end and
looks whether anything is left.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.helpers.failures import each_failure
from tests.helpers.gates import HeldQueue
from tests.helpers.usm import MIB, TIMEOUT_NS, alloc, finish
from urasync_l0 import KEEP_EVERYTHING, Allocation, Context, Event, Pool, Queue, UsmType
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value

SIZE = 3 * MIB

Make = Callable[..., Context]


@dataclass
class ReleaseScene:
    """A pool with idle memory between memory in use, and what else is to be given back."""

    context: Context
    queue: Queue
    pool: Pool | None
    live: list[Allocation]
    other: Queue | None = None
    event: Event | None = None
    held: HeldQueue | None = None
    reserved: int = field(default=0)


def make_scene(context: Context, kind: UsmType) -> ReleaseScene:
    queue = context.create_queue()
    pool = context.create_pool(release_threshold=KEEP_EVERYTHING)
    made = [alloc(queue, kind, SIZE, pool=pool) for _ in range(4)]
    live = made[1::2]
    for each in made[::2]:
        each.free()
    del made, each
    finish(queue)
    return ReleaseScene(context, queue, pool, live, reserved=pool.reserved_bytes)


def check(pool: Pool) -> None:
    """The numbers hold together."""
    numbers = pool.statistics()
    assert numbers.used + numbers.pending + numbers.idle == numbers.reserved
    assert numbers.reserved <= numbers.reserved_high
    pool.core.check()


@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
def test_trim(controls: Controls, make_context: Make, kind: UsmType, expanding: str) -> None:
    """MEM-11: the numbers are right at once, and the next trim does the rest."""

    def trim(scene: ReleaseScene) -> None:
        assert scene.pool is not None
        scene.pool.trim_to(0)

    failed = 0
    for scene, error, _ in each_failure(
        controls, lambda: make_scene(make_context(expanding_segments=expanding), kind), trim
    ):
        assert error is not None
        assert scene.pool is not None
        check(scene.pool)
        assert scene.pool.used_bytes == 2 * SIZE
        assert 2 * SIZE < scene.pool.reserved_bytes <= scene.reserved
        trim(scene)
        check(scene.pool)
        assert scene.pool.statistics().idle < 2 * MIB * len(scene.live)
        failed += 1
    assert failed > 1


@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
def test_close_of_a_pool(
    controls: Controls, make_context: Make, kind: UsmType, expanding: str
) -> None:
    """LIFE-5: what a closed pool could not give back goes with the next finish."""

    def make() -> ReleaseScene:
        scene = make_scene(make_context(expanding_segments=expanding), kind)
        while scene.live:
            scene.live.pop().free()
        finish(scene.queue)
        return scene

    def close(scene: ReleaseScene) -> None:
        assert scene.pool is not None
        scene.pool.close()

    failed = 0
    for scene, error, _ in each_failure(controls, make, close):
        assert error is not None
        assert scene.pool is not None
        assert scene.pool.core.is_closed
        assert scene.pool.core in scene.context.native.registry.pools()
        assert scene.pool.reserved_bytes <= scene.reserved
        finish(scene.queue)
        assert scene.pool.core not in scene.context.native.registry.pools()
        assert scene.pool.reserved_bytes == 0
        failed += 1
    assert failed > 1


@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
@pytest.mark.parametrize("pending", [False, True], ids=["live", "pending"])
def test_end_of_a_closed_pool(
    controls: Controls, make_context: Make, kind: UsmType, expanding: str, pending: bool
) -> None:
    """LIFE-5: live and pending blocks stay; the finish after the last free gives all back."""

    def make() -> ReleaseScene:
        scene = make_scene(make_context(expanding_segments=expanding), kind)
        assert scene.pool is not None
        if pending:
            scene.held = HeldQueue(controls.gate(handle_value(scene.queue.handle)))
            scene.queue.fill(scene.live[0], b"\x01")
        scene.live.pop().free()
        scene.pool.close()
        assert scene.pool.reserved_bytes > 0
        if scene.held is not None:
            scene.live.pop().free()
            assert scene.pool.statistics().pending > 0
            scene.held.release()
        return scene

    def end(scene: ReleaseScene) -> None:
        while scene.live:
            scene.live.pop().free()
        assert scene.queue.finish(TIMEOUT_NS)

    for scene, error, _ in each_failure(controls, make, end):
        assert scene.pool is not None
        assert error is not None or scene.pool.reserved_bytes == 0
        finish(scene.queue)
        assert scene.pool.reserved_bytes == 0


@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
def test_close_of_a_queue(
    controls: Controls, make_context: Make, kind: UsmType, expanding: str
) -> None:
    """LIFE-2: a queue that could not be closed can be closed again, and works until then."""

    def make() -> ReleaseScene:
        scene = make_scene(make_context(expanding_segments=expanding), kind)
        assert scene.pool is not None
        scene.pool.release_threshold = 0
        scene.queue.fill(scene.live[0], b"\x01")
        scene.live.pop(0).free()
        return scene

    def close(scene: ReleaseScene) -> None:
        assert scene.queue.close(TIMEOUT_NS)

    failed = 0
    for scene, error, _ in each_failure(controls, make, close):
        assert error is not None
        assert scene.pool is not None
        check(scene.pool)
        states = [scene.queue.is_closed]
        finish(scene.queue)
        alloc(scene.queue, kind, 4096, pool=scene.pool).free()
        close(scene)
        assert [*states, scene.queue.is_closed] == [False, True]
        assert scene.pool.statistics().pending == 0
        failed += 1
    assert failed > 1


@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
def test_close_of_a_context(
    controls: Controls, make_context: Make, kind: UsmType, expanding: str
) -> None:
    """MEM-5: with a queue, events, memory in use and pools; the next close does the rest."""

    def make() -> ReleaseScene:
        scene = make_scene(make_context(expanding_segments=expanding), kind)
        scene.other = scene.context.create_queue()
        scene.event = scene.other.record()
        scene.queue.wait(scene.event)
        return scene

    def close(scene: ReleaseScene) -> None:
        assert scene.context.close(TIMEOUT_NS)

    failed = 0
    for scene, error, _ in each_failure(controls, make, close):
        assert error is not None
        close(scene)
        assert scene.context.is_closed
        failed += 1
    assert failed > 5


@pytest.mark.parametrize("what", ["allocation", "event", "queue", "pool"])
def test_dropped_objects(controls: Controls, make_context: Make, kind: UsmType, what: str) -> None:
    """MEM-5: the call that works off what was dropped is not the one to fail for it, or can be
    repeated; what the driver refuses goes later."""

    def make() -> ReleaseScene:
        scene = make_scene(make_context(), kind)
        scene.other = scene.context.create_queue()
        if what == "event":
            scene.other.wait(scene.queue.record())
            scene.event = scene.other.record()
        finish(scene.other)
        if what == "pool":
            while scene.live:
                scene.live.pop().free()
            finish(scene.queue)
        return scene

    def drop(scene: ReleaseScene) -> None:
        if what == "allocation":
            scene.live.clear()
        elif what == "event":
            scene.event = None
        elif what == "queue":
            scene.other = None
        else:
            scene.pool = None
        scene.queue.record()

    for scene, _, _ in each_failure(controls, make, drop, steady=False):
        scene.queue.record()
        finish(scene.queue)
        if scene.pool is not None:
            check(scene.pool)
            assert scene.pool.used_bytes == SIZE * len(scene.live)
