# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several devices: pools, events and queues of their own.

Their number is set before the driver loads, so each program runs in a process of its own.
"""

import pytest

from tests.helpers.kernels import build
from tests.helpers.strict_process import run_strictly
from urasync_l0 import Context

pytestmark = pytest.mark.usefixtures("controls")

START = """
    import sys
    import urasync_l0
    from urasync_l0 import UsmType
    from urasync_l0.result import UrError
    from urasync_l0.software_driver.controls import Controls
    from urasync_l0.ze.handles import handle_value
    SECOND = 10**9
    context = urasync_l0.Context(sys.argv[1])
    controls = Controls()
    assert len(context.devices) == 2
    queues = [context.create_queue(device) for device in context.devices]

    def refused(call):
        try:
            call()
        except UrError as error:
            return error.code.name
        return "nothing"
"""

END = """
    del queues
    assert context.close(20 * SECOND)
    left = {kind: n for kind, n in controls.live_objects().items() if n}
    assert not left, left
"""


def run_on_two(program: str, adapter: str) -> str:
    return run_strictly(START + program + END, adapter, URASYNC_L0_SOFTWARE_DEVICES="2")


def test_default_pools_are_separate(adapter: str) -> None:
    """MT-6."""
    program = """
    held = [queue.alloc_device(1000 + n) for n, queue in enumerate(queues)]
    shared = [queue.alloc_shared(10) for queue in queues]
    print([context.default_pool(n).statistics().requested for n in range(2)])
    print(context.default_pool(0) is context.default_pool(1))
    host = [queue.alloc_host(7) for queue in queues]
    print(context.host_pool.statistics().requested)
    print([queue.device.index for queue in queues])
    for each in (*held, *shared, *host):
        each.free()
    """
    assert run_on_two(program, adapter) == "[1010, 1011]\nFalse\n14\n[0, 1]\n"


def test_pools_of_another_device_are_refused(adapter: str) -> None:
    program = """
    pool = context.create_pool(device=0)
    everything = context.create_pool()
    print(refused(lambda: queues[1].alloc_device(10, pool=pool)),
          refused(lambda: queues[1].alloc_shared(10, pool=context.default_pool(0))),
          refused(lambda: queues[1].alloc_host(10, pool=pool)))
    for queue in queues:
        for alloc in (queue.alloc_device, queue.alloc_shared, queue.alloc_host):
            alloc(10, pool=everything).free()
    print(everything.statistics().allocations)
    """
    expected = "INVALID_VALUE INVALID_VALUE INVALID_ARGUMENT\n6\n"
    assert run_on_two(program, adapter) == expected


def test_order_across_devices(adapter: str) -> None:
    """Data handed from one device's queue to the other's through events, freed on the other."""
    program = """
    target = bytearray(4096)
    for n in range(50):
        first, second = queues[n % 2], queues[1 - n % 2]
        allocation = first.alloc_shared(4096)
        written = first.fill(allocation, bytes([n, 255 - n]), event=True)
        copied = second.memcpy(target, allocation, wait=(written,), event=True)
        second.free(allocation)
        assert copied.wait(20 * SECOND)
        assert bytes(target) == bytes([n, 255 - n]) * 2048
    print("done")
    """
    assert run_on_two(program, adapter) == "done\n"


def test_events_belong_to_their_device(adapter: str) -> None:
    """MT-3: an event that served one device's queue never serves the other's."""
    program = """
    seen = [set(), set()]
    for n in range(200):
        event = queues[n % 2].record()
        assert event.wait(20 * SECOND)
        seen[n % 2].add(handle_value(event.handle))
        event.release()
    print(len(seen[0] & seen[1]))
    """
    assert run_on_two(program, adapter) == "0\n"


def test_memory_of_the_right_device(adapter: str) -> None:
    program = """
    for n, queue in enumerate(queues):
        before = controls.used_device_memory(n), controls.used_device_memory(1 - n)
        allocation = queue.alloc_device(5 << 20)
        used = controls.used_device_memory(n), controls.used_device_memory(1 - n)
        assert used[0] >= before[0] + (5 << 20), (before, used)
        assert used[1] == before[1], (before, used)
        allocation.free()
    print("done")
    """
    assert run_on_two(program, adapter) == "done\n"


def test_a_context_on_the_second_device_alone(adapter: str) -> None:
    program = """
    one = urasync_l0.Context(sys.argv[1], devices=[1, 1, context.devices[1]])
    print([device.index for device in one.devices], one.create_queue().device.index)
    print(refused(lambda: one.create_queue(1)),
          refused(lambda: one.create_queue(context.devices[0])))
    queue = one.create_queue()
    queue.alloc_device(100).free()
    assert queue.finish(20 * SECOND)
    del queue
    assert one.close(20 * SECOND)
    """
    assert run_on_two(program, adapter) == "[1] 1\nINVALID_DEVICE INVALID_DEVICE\n"


def test_markers_and_events_belong_to_the_device_of_their_list(adapter: str) -> None:
    """MT-3: what is appended to a list signals an event of that list's device.

    The driver knows the device of a counter-based event that has no pool; others come from a pool
    of their own for each device, and no list of the other device is ever given one of it.
    """
    program = """
    from urasync_l0.ze import command_list as ze_list
    from urasync_l0.ze import loader
    signalled = [set(), set()]
    lists_of = {handle_value(queue.handle): n for n, queue in enumerate(queues)}
    append = ze_list.append_signal_event
    def watch(command_list, event):
        append(command_list, event)
        signalled[lists_of[handle_value(command_list)]].add(handle_value(event))
    ze_list.append_signal_event = watch
    # Alternating frees, markers by other queues' needs, and events that are asked for.
    others = [context.create_queue(device) for device in context.devices]
    for n, queue in enumerate(others):
        lists_of[handle_value(queue.handle)] = n
    for round in range(60):
        n = round % 2
        first, second = queues[n], others[n]
        for size in (4096, 70000, 1 << 20):
            allocation = first.alloc_device(size)
            event = first.free(allocation, event=round % 3 == 0)
            second.alloc_device(size, wait=() if event is None else (event,)).free()
            if event is not None:
                event.release()
    ze_list.append_signal_event = append
    rows = {row.handle: row for row in controls.live_table() if row.kind == "event"}
    known = [{rows[handle].device for handle in each if handle in rows} for each in signalled]
    print(all(signalled), len(signalled[0] & signalled[1]))
    print(all(devices <= {n, None} for n, devices in enumerate(known)))
    pooled = sys.argv[1] == "legacy" or not loader.has("zeEventCounterBasedCreate")
    print(known == ([{None}, {None}] if pooled else [{0}, {1}]))
    del others, first, second, queue, allocation, event
    """
    assert run_on_two(program, adapter) == "True 0\nTrue\nTrue\n"


def test_waits_across_devices(adapter: str) -> None:
    """A queue of one device is held; the other's waits for its event, in both directions."""
    program = """
    for n in range(2):
        first, second = queues[n], queues[1 - n]
        allocation = first.alloc_shared(4096)
        target = bytearray(4096)
        gate = controls.gate(handle_value(first.handle))
        gate.close()
        written = first.fill(allocation, b"z", event=True)
        copied = second.memcpy(target, allocation, wait=(written,), event=True)
        assert not copied.is_complete() and not second.finish(0) and target == bytearray(4096)
        gate.open()
        assert copied.wait(20 * SECOND)
        print(bytes(target) == b"z" * 4096)
        second.free(allocation)
        written.release(), copied.release()
    del first, second
    """
    assert run_on_two(program, adapter) == "True\nTrue\n"


def test_a_free_waits_for_the_other_device(adapter: str) -> None:
    """ORD-8: memory of one device that another device's queue still reads stays, trims or not."""
    program = """
    pool = context.default_pool(0)
    source, reader = queues
    context.enable_peer_access(1, 0)
    allocation = source.alloc_device(4096)
    target = bytearray(4096)
    source.fill(allocation, b"p")
    filled = source.record()
    gate = controls.gate(handle_value(reader.handle))
    gate.close()
    copied = reader.memcpy(target, allocation, wait=(filled,), event=True)
    freed = source.free(allocation, wait=(copied,), event=True)
    freeing = "zeMemFree", "zeVirtualMemUnmap", "zePhysicalMemDestroy"
    before = [controls.calls(entry) for entry in freeing]
    reserved = pool.reserved_bytes
    pool.trim_to(0)
    print([controls.calls(entry) for entry in freeing] == before, pool.reserved_bytes == reserved)
    print(source.finish(0), freed.is_complete(), bytes(target) == bytes(4096))
    gate.open()
    assert source.finish(20 * SECOND)
    print(bytes(target) == b"p" * 4096)
    pool.trim_to(0)
    print(pool.reserved_bytes, controls.used_device_memory(0), controls.resident_bytes())
    for event in (filled, copied, freed):
        event.release()
    del source, reader
    """
    expected = "True True\nFalse False True\nTrue\n0 0 0\n"
    assert run_on_two(program, adapter) == expected


def test_a_queue_of_the_other_device_frees(adapter: str) -> None:
    """LIFE-3: the freeing queue decides the order, whatever device it belongs to."""
    program = """
    first, second = queues
    allocation = first.alloc_device(4096)
    filled = first.fill(allocation, b"q", event=True)
    gate = controls.gate(handle_value(second.handle))
    gate.close()
    freed = second.free(allocation, wait=(filled,), event=True)
    other = first.alloc_device(4096)
    print(other.ptr != allocation.ptr)
    again = first.alloc_device(4096, wait=(freed,))
    print(again.ptr == allocation.ptr, first.finish(0))
    gate.open()
    assert first.finish(20 * SECOND)
    other.free(), again.free(), filled.release(), freed.release()
    del first, second
    """
    assert run_on_two(program, adapter) == "True\nTrue False\n"


def test_a_program_is_built_for_each_device(adapter: str, context: Context) -> None:
    """``context`` is here to skip where there is no compiler."""
    build(context).close()
    program = """
    from tests.helpers.spirv import special_program
    built = context.create_program(special_program())
    kernel = built.kernel("special")
    print([kernel.properties(device).argument_count for device in context.devices])
    for queue in queues:
        memory, seen = queue.alloc_device(256), bytearray(8)
        queue.launch(kernel, (64,), [memory])
        queue.memcpy(seen, memory, 8)
        queue.free(memory)
        queue.finish(20 * SECOND)
        print(seen.hex())
    kernel.close()
    print(refused(lambda: kernel.properties(context.devices[1])))
    alone = urasync_l0.Context(sys.argv[1], devices=context.devices[:1])
    kernel = alone.create_program(special_program()).kernel("special")
    print(refused(lambda: kernel.properties(context.devices[1])))
    del kernel
    alone.close(20 * SECOND)
    built.close()
    """
    expected = "[1, 1]\n4100000041000000\n4100000041000000\nINVALID_KERNEL\nINVALID_DEVICE\n"
    assert run_on_two(program, adapter) == expected
