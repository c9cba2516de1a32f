# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several devices and their parts in one context: what UR's suite asks of enqueued allocations
there, the pools of each, and what is refused.

The driver's devices are set before it loads, so each program runs in a process of its own.
"""

from pathlib import Path

import pytest

from tests.helpers.strict_process import run_strictly

pytestmark = pytest.mark.usefixtures("controls")

ROOT = Path(__file__).resolve().parents[3]

START = """
    import sys, threading
    import urasync_l0
    from tests.helpers.entries import Client, written
    from urasync_l0 import UsmType, UrError
    from urasync_l0.adapter import find_adapter
    from urasync_l0.enums import UsmAllocInfo, UsmPoolInfo
    from urasync_l0.out import Out
    from urasync_l0.platform import default_platform
    from urasync_l0.software_driver.controls import Controls
    from urasync_l0.ze import loader

    loader.choose_driver("software")
    client = Client(find_adapter(sys.argv[1]))
    adapter = client.adapter
    devices = default_platform().devices
    controls = Controls()
    KINDS = (UsmType.DEVICE, UsmType.SHARED, UsmType.HOST)
    ROUNDS = 128
    context = client.create_context(devices)
    queues = [client.create_queue(context, device) for device in devices]
    for device in devices:
        for peer in devices:
            if peer is not device:
                adapter.urUsmP2PEnablePeerAccessExp(device, peer)

    def refused(entry, *arguments):
        try:
            entry(*arguments)
        except UrError as error:
            return error.code.name
        return "SUCCESS"
"""

END = """
    for queue in queues:
        adapter.urQueueRelease(queue)
    adapter.urContextRelease(context)
    assert context.is_closed, [*context.native.registry.live.values()]
    left = {kind: n for kind, n in controls.live_objects().items() if n}
    assert not left, left
"""


def run(program: str, adapter: str, devices: int, **settings: str) -> list[str]:
    """What a program on some devices prints, by line."""
    settings = {"URASYNC_L0_SOFTWARE_DEVICES": str(devices), "PYTHONPATH": str(ROOT)} | settings
    return run_strictly(START + program + END, adapter, **settings).splitlines()


def test_chains_of_events_on_each_device(adapter: str) -> None:
    """A thread for each device: every step waits for the one before it."""
    program = """
    def work(queue, kind):
        events = []
        for _ in range(ROUNDS):
            mem, allocated = client.alloc(queue, kind, 1024, wait=events[-1:])
            filled = client.fill(queue, mem, b"\\xaf", 1024, wait=[allocated])
            events += [allocated, filled, client.free(queue, mem, wait=[filled])]
        adapter.urQueueFinish(queue)
        client.release(*events)
        done.append(queue)

    done = []
    for kind in KINDS:
        threads = [threading.Thread(target=work, args=(queue, kind)) for queue in queues]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    print(len(done))
    """
    assert run(program, adapter, 2) == ["6"]


@pytest.mark.parametrize("devices", [2, 3])
def test_each_step_on_the_next_device(adapter: str, devices: int) -> None:
    """Allocated on one queue, filled on another, freed on a third; the events order them."""
    program = """
    turn = 0
    for kind in KINDS:
        events = []
        for number in range(ROUNDS):
            def next_queue():
                global turn
                turn += 1
                return queues[turn % len(queues)]
            mem, allocated = client.alloc(next_queue(), kind, 1024, wait=events[-1:])
            filled = client.fill(next_queue(), mem, b"\\xaf", 1024, wait=[allocated])
            freed = client.free(next_queue(), mem, wait=[filled])
            events += [allocated, filled, freed]
        for queue in queues:
            adapter.urQueueFinish(queue)
        client.release(*events)
    print(turn)
    """
    assert run(program, adapter, devices) == [str(3 * 128 * 3)]


def test_what_one_device_wrote_is_read_through_another(adapter: str) -> None:
    """All live at the same time; each read by a blocking copy before the next is allocated."""
    program = """
    for kind in KINDS:
        events, given = [], []
        for number in range(32):
            first, second = queues[number % 2], queues[(number + 1) % 2]
            mem, allocated = client.alloc(first, kind, 1024, wait=events[-1:])
            adapter.urQueueFinish(first)
            filled = client.fill(second, mem, bytes([number, 0xAF]), 1024, wait=[allocated])
            events += [allocated, filled]
            adapter.urEventWait(1, [filled])
            assert client.read(queues[0], mem, 1024) == bytes([number, 0xAF]) * 512
            given.append(mem)
        assert len(set(given)) == 32
        for mem in given:
            client.free_only(queues[0], mem)
        adapter.urQueueFinish(queues[0])
        client.release(*events)
    print("read")
    """
    assert run(program, adapter, 2) == ["read"]


def test_pools_of_each_device(adapter: str) -> None:
    """MT-6: a pool that is set serves its own device, and host memory is the context's."""
    program = """
    first, second = devices
    def used(pool):
        return client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP)
    def current(device):
        out = Out()
        adapter.urUSMPoolGetDevicePoolExp(context, device, out)
        return out.value
    pool = client.create_pool(context, first)
    default = current(second)
    print(current(first) is default)
    adapter.urUSMPoolSetDevicePoolExp(context, first, pool)
    print(current(first) is pool, current(second) is default)
    given = [client.alloc_only(queue, kind, 1000) for queue in queues for kind in KINDS]
    print(used(pool), used(default))
    print(refused(adapter.urUSMPoolSetDevicePoolExp, context, second, pool))
    print(refused(adapter.urUSMPoolDestroyExp, context, second, pool))
    print(refused(adapter.urUSMPoolTrimToExp, context, second, pool, 0))
    out = Out()
    for kind in KINDS[:2]:
        try:
            client.enqueue_alloc(queues[1], kind, 8, out, pool=pool)
        except UrError as error:
            print(error.code.name, out.is_set)
    for mem in given:
        owner = Out()
        adapter.urUSMGetMemAllocInfo(context, mem, UsmAllocInfo.DEVICE, 8, owner, None)
        print(owner.value.index if owner.value else None, end=" ")
        client.free_only(queues[0], mem)
    print()
    adapter.urUSMPoolDestroyExp(context, first, pool)
    """
    assert run(program, adapter, 2) == [
        "False",
        "True True",
        "2048 2048",
        "INVALID_VALUE",
        "INVALID_VALUE",
        "INVALID_VALUE",
        "INVALID_VALUE False",
        "INVALID_VALUE False",
        "0 0 None 1 1 None ",
    ]


def test_devices_that_the_context_does_not_have(adapter: str) -> None:
    """INVALID_DEVICE, also for the root of a device that it has, and for another part."""
    program = """
    from urasync_l0.descriptors import UsmPoolDesc
    root, *others = devices[0].sub_devices
    narrow = client.create_context([root])
    strangers = [devices[1], devices[0], *others]
    for stranger in strangers:
        out = Out()
        pool = narrow.default_pool(root)
        for entry, *rest in (
            (adapter.urUSMDeviceAlloc, None, None, 8, out),
            (adapter.urUSMSharedAlloc, None, None, 8, out),
            (adapter.urUSMPoolCreateExp, UsmPoolDesc(), out),
            (adapter.urUSMPoolDestroyExp, pool),
            (adapter.urUSMPoolGetDefaultDevicePoolExp, out),
            (adapter.urUSMPoolGetDevicePoolExp, out),
            (adapter.urUSMPoolSetDevicePoolExp, pool),
            (adapter.urUSMPoolTrimToExp, pool, 0),
            (adapter.urQueueCreate, None, out),
        ):
            code = refused(entry, narrow, stranger, *rest)
            if code != "INVALID_DEVICE" or out.is_set:
                print(entry.__name__, code)
    adapter.urContextRelease(narrow)
    assert narrow.is_closed
    """
    assert run(program, adapter, 2, URASYNC_L0_SOFTWARE_SUB_DEVICES="2") == []


def test_every_part_supports_what_it_says(adapter: str) -> None:
    """ERR-10 on two devices with two sub-devices each, and what those are divided into."""
    program = """
    from tests.conformance.entry_points.test_support import (
        call_all_twelve, parts_of, supports_async_alloc
    )
    parts = [part for root in devices for part in parts_of(root)]
    print(len(parts))
    for part in parts:
        assert supports_async_alloc(client, part)
        results = call_all_twelve(client, part)
        assert len(results) == 12
        assert {code.name for code in results.values()} == {"SUCCESS"}, results
    """
    assert run(program, adapter, 2, URASYNC_L0_SOFTWARE_SUB_DEVICES="2") == ["6"]
