# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peer access on request: what is resident where, and when."""

import pytest

from tests.helpers.strict_process import run_strictly

pytestmark = pytest.mark.usefixtures("controls")

START = """
    import sys
    from urasync_l0 import Context, UsmType
    from urasync_l0.result import UrError
    from urasync_l0.software_driver.controls import Controls
    SECOND = 10**9
    MIB = 1 << 20
    OUT_OF_DEVICE_MEMORY = 0x70000003
    INVALID_ARGUMENT = 0x78000004
    controls = Controls()
    context = Context(sys.argv[1], expanding_segments=sys.argv[2])
    first, second = context.devices[:2]
    mine, theirs = context.create_queue(first), context.create_queue(second)
    pool = context.default_pool(second)
    pool.release_threshold = 2**64 - 1

    def refused(call, *arguments):
        try:
            call(*arguments)
        except UrError as error:
            return error.code.name
        return "SUCCESS"

    class Calls:
        def __enter__(self):
            self.before = controls.call_counts()
            return self
        def __exit__(self, *exception):
            after = controls.call_counts()
            self.made = {
                name: after[name] - self.before.get(name, 0)
                for name in after if after[name] != self.before.get(name, 0)
            }
        @property
        def residency(self):
            entries = "zeContextMakeMemoryResident", "zeContextEvictMemory"
            return [self.made.get(entry, 0) for entry in entries]

    def separate(count):
        # Each of 3 MiB takes a page and a half, or an allocation of its own.
        return [theirs.alloc_device(3 * MIB) for _ in range(count)]
"""

END = """
    del mine, theirs
    assert context.close(20 * SECOND)
    left = {kind: n for kind, n in controls.live_objects().items() if n}
    assert not left, left
    assert controls.resident_bytes() == 0
"""


def run_on_two(program: str, adapter: str, expanding: str = "off", **settings: str) -> list[str]:
    """What a program on two devices prints, by line."""
    settings = {"URASYNC_L0_SOFTWARE_DEVICES": "2"} | settings
    return run_strictly(START + program + END, adapter, expanding, **settings).splitlines()


def test_no_peers_by_default(adapter: str) -> None:
    """MT-5."""
    program = """
    with Calls() as calls:
        held = separate(3)
        for each in held:
            each.free()
        assert theirs.finish(20 * SECOND)
    print(calls.residency, context.has_peer_access(0, 1), context.has_peer_access(1, 0))
    print(context.has_peer_access(0, 0), context.can_access_peer(0, 1))
    """
    assert run_on_two(program, adapter) == ["[0, 0] False False", "True True"]


def test_memory_that_exists_and_that_comes(adapter: str) -> None:
    """MT-5: three allocations exist, so three calls; one more, one call."""
    program = """
    held = separate(3)
    with Calls() as calls:
        context.enable_peer_access(first, second)
    print(calls.residency, calls.made["zeDeviceCanAccessPeer"], sum(calls.made.values()))
    print(controls.resident_bytes(0) == pool.reserved_bytes, controls.resident_bytes(1))
    with Calls() as calls:
        held += separate(1)
    print(calls.residency, controls.resident_bytes(0) == pool.reserved_bytes)
    with Calls() as calls:
        context.disable_peer_access(first, second)
    print(calls.residency, controls.resident_bytes())
    with Calls() as calls:
        held += separate(1)
    print(calls.residency)
    for each in held:
        each.free()
    """
    assert run_on_two(program, adapter) == [
        "[3, 0] 1 4",
        "True 0",
        "[1, 0] True",
        "[0, 4] 0",
        "[0, 0]",
    ]


@pytest.mark.parametrize("expanding", ["on", "off"])
def test_what_goes_is_evicted_or_freed(adapter: str, expanding: str) -> None:
    """Trims, pages that move and closed pools leave exactly what is held resident."""
    program = """
    context.enable_peer_access(first, second)
    mapped = context.has_expanding_segments(second)
    private = context.create_pool(second, release_threshold=2**64 - 1)
    held = [theirs.alloc_device(3 * MIB, pool=private) for _ in range(6)]
    def exact():
        return controls.resident_bytes(0) == private.reserved_bytes + pool.reserved_bytes
    print(exact())
    for each in held[::2]:
        each.free()
    assert theirs.finish(20 * SECOND)
    with Calls() as calls:
        private.trim_to(0)
    print(exact(), (calls.residency[1] > 0) == mapped, private.reserved_bytes < 20 * MIB)
    big = theirs.alloc_device(9 * MIB, pool=private)
    print(exact())
    for each in (*held[1::2], big):
        each.free()
    assert theirs.finish(20 * SECOND)
    private.close()
    print(controls.resident_bytes(0) == pool.reserved_bytes)
    """
    expected = ["True", "True True True", "True", "True"]
    assert run_on_two(program, adapter, expanding) == expected


@pytest.mark.parametrize("expanding", ["on", "off"])
def test_shared_and_host_memory_need_no_grant(adapter: str, expanding: str) -> None:
    program = """
    context.enable_peer_access(first, second)
    with Calls() as calls:
        held = [theirs.alloc_shared(MIB), theirs.alloc_host(MIB), mine.alloc_device(MIB)]
    print(calls.residency)
    for each in held:
        each.free()
    """
    assert run_on_two(program, adapter, expanding) == ["[0, 0]"]


def test_states_that_do_not_fit(adapter: str) -> None:
    program = """
    enable, disable = context.enable_peer_access, context.disable_peer_access
    held = separate(1)
    with Calls() as calls:
        print(refused(disable, 0, 1), refused(enable, 0, 0), refused(enable, 0, 2),
              refused(enable, 5, 1))
    print(calls.made)
    enable(0, 1)
    print(refused(enable, first, second))
    enable(1, 0)
    disable(0, 1)
    print(context.has_peer_access(0, 1), context.has_peer_access(1, 0))
    held[0].free()
    """
    assert run_on_two(program, adapter) == [
        "INVALID_OPERATION INVALID_DEVICE INVALID_DEVICE INVALID_DEVICE",
        "{}",
        "INVALID_OPERATION",
        "False True",
    ]


def test_incapable_peers(adapter: str) -> None:
    """MT-5: an error, and no call beyond the question."""
    program = """
    held = separate(2)
    with Calls() as calls:
        print(refused(context.enable_peer_access, first, second))
    print(calls.made, context.can_access_peer(first, second))
    held[0].free(), held[1].free()
    """
    assert run_on_two(program, adapter, URASYNC_L0_SOFTWARE_PEER="0") == [
        "INVALID_OPERATION",
        "{'zeDeviceCanAccessPeer': 1} False",
    ]


@pytest.mark.parametrize("expanding", ["on", "off"])
def test_a_failed_call_undoes_the_others(adapter: str, expanding: str) -> None:
    """ERR-1: for each call that can fail nothing has changed afterwards."""
    program = """
    held = separate(3)
    pieces = 3 if not context.has_expanding_segments(second) else pool.reserved_bytes // (2 * MIB)
    for n in range(1, pieces + 1):
        controls.fail("zeContextMakeMemoryResident", n, OUT_OF_DEVICE_MEMORY)
        assert refused(context.enable_peer_access, first, second) == "OUT_OF_DEVICE_MEMORY"
        assert controls.resident_bytes() == 0, n
        assert not context.has_peer_access(first, second)
    context.enable_peer_access(first, second)
    everything = controls.resident_bytes(0)
    for n in range(1, pieces + 1):
        controls.fail("zeContextEvictMemory", n, OUT_OF_DEVICE_MEMORY)
        assert refused(context.disable_peer_access, first, second) == "OUT_OF_DEVICE_MEMORY"
        assert controls.resident_bytes(0) == everything, n
        assert context.has_peer_access(first, second)
    for each in held:
        each.free()
    print("done")
    """
    assert run_on_two(program, adapter, expanding) == ["done"]


@pytest.mark.parametrize("expanding", ["on", "off"])
def test_growth_that_cannot_be_made_resident(adapter: str, expanding: str) -> None:
    """ERR-1: memory that a peer cannot get is not handed out, and is given back."""
    program = """
    context.enable_peer_access(first, second)
    held = separate(1)
    before = pool.statistics(), controls.live_objects(), controls.resident_bytes()
    controls.fail("zeContextMakeMemoryResident", 1, OUT_OF_DEVICE_MEMORY, 0)
    print(refused(theirs.alloc_device, 20 * MIB))
    controls.clear_failures()
    after = pool.statistics(), controls.live_objects(), controls.resident_bytes()
    print(before[1:] == after[1:], before[0].reserved == after[0].reserved,
          before[0].used == after[0].used)
    theirs.alloc_device(20 * MIB).free()
    held[0].free()
    """
    assert run_on_two(program, adapter, expanding) == ["OUT_OF_DEVICE_MEMORY", "True True True"]


def test_a_driver_that_refuses_mapped_pages(adapter: str) -> None:
    """The error says which setting helps."""
    program = """
    held = separate(1)
    controls.fail("zeContextMakeMemoryResident", 1, INVALID_ARGUMENT, 0)
    try:
        context.enable_peer_access(first, second)
    except UrError as error:
        print(error.code.name, "expanding_segments='off'" in str(error), error.function)
    controls.clear_failures()
    print(controls.resident_bytes())
    held[0].free()
    """
    assert run_on_two(program, adapter, "on") == [
        "UNSUPPORTED_FEATURE True zeContextMakeMemoryResident",
        "0",
    ]


@pytest.mark.parametrize("expanding", ["on", "off"])
def test_pages_that_cannot_be_evicted_or_freed_stay(adapter: str, expanding: str) -> None:
    """A trim that fails keeps the memory, resident as before."""
    program = """
    context.enable_peer_access(first, second)
    held = separate(4)
    for each in held:
        each.free()
    assert theirs.finish(20 * SECOND)
    reserved = pool.reserved_bytes
    entries = ["zeVirtualMemUnmap", "zeContextEvictMemory"]
    if not context.has_expanding_segments(second):
        entries = ["zeMemFree"]
    for entry in entries:
        controls.fail(entry, 1, OUT_OF_DEVICE_MEMORY, 0)
        assert refused(pool.trim_to, 0) == "OUT_OF_DEVICE_MEMORY", entry
        assert controls.resident_bytes(0) == pool.reserved_bytes == reserved, entry
        controls.clear_failures()
    pool.trim_to(0)
    print(pool.reserved_bytes, controls.resident_bytes())
    """
    assert run_on_two(program, adapter, expanding) == ["0 0"]


@pytest.mark.parametrize("expanding", ["on", "off"])
def test_grants_beside_growth_and_trims(adapter: str, expanding: str) -> None:
    """MT-1: threads that grow and trim while another grants and revokes; the end is exact."""
    program = """
    import threading
    sys.setswitchinterval(1e-6)
    failures = []
    def work():
        try:
            queue = context.create_queue(second)
            for n in range(60):
                held = [queue.alloc_device((1 + n % 5) * MIB) for _ in range(3)]
                for each in held:
                    each.free()
                assert queue.finish(20 * SECOND)
                pool.trim_to(0)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        context.enable_peer_access(first, second)
        context.disable_peer_access(first, second)
    for thread in threads:
        thread.join(60)
    print(failures, controls.resident_bytes())
    held = separate(2)
    context.enable_peer_access(first, second)
    print(controls.resident_bytes(0) == pool.reserved_bytes)
    held[0].free(), held[1].free()
    """
    assert run_on_two(program, adapter, expanding) == ["[] 0", "True"]


def test_one_of_two_peers_refuses(adapter: str) -> None:
    """ERR-1: memory that comes is resident on all peers or on none, and goes from all or none."""
    program = """
    third = context.devices[2]
    context.enable_peer_access(first, second)
    context.enable_peer_access(third, second)
    def resident():
        return [controls.resident_bytes(each) // MIB for each in range(3)]
    held = separate(1)
    before = resident()
    controls.fail("zeContextMakeMemoryResident", 2, OUT_OF_DEVICE_MEMORY)
    with Calls() as calls:
        print(refused(theirs.alloc_device, 20 * MIB))
    print(before, resident() == before, calls.residency)
    controls.clear_failures()
    held[0].free()
    assert theirs.finish(20 * SECOND)
    controls.fail("zeContextEvictMemory", 2, OUT_OF_DEVICE_MEMORY)
    print(refused(pool.trim_to, 0))
    print(resident(), pool.reserved_bytes // MIB)
    controls.clear_failures()
    pool.trim_to(0)
    """
    assert run_on_two(program, adapter, "on", URASYNC_L0_SOFTWARE_DEVICES="3") == [
        "OUT_OF_DEVICE_MEMORY",
        "[4, 0, 4] True [2, 1]",
        "OUT_OF_DEVICE_MEMORY",
        "[2, 0, 2] 2",
    ]
