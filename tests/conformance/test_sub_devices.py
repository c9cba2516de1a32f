# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sub-devices and compute slices: parts of a device with queues, and maybe memory, of their own.

The driver divides its devices as its settings say, so each program runs in a process of its own.
"""

import pytest

from tests.helpers.strict_process import run_strictly
from urasync_l0.ze import loader

pytestmark = pytest.mark.usefixtures("controls")

START = """
    import sys
    from urasync_l0 import Context, UsmType
    from urasync_l0.enums import DevicePartition
    from urasync_l0.platform import default_platform
    from urasync_l0.result import UrError
    from urasync_l0.software_driver.controls import Controls
    from urasync_l0.ze import loader
    from urasync_l0.ze.handles import handle_value
    SECOND = 10**9
    MIB = 1 << 20
    loader.choose_driver("software")
    platform = default_platform()
    controls = Controls()

    def refused(call, *arguments):
        try:
            call(*arguments)
        except UrError as error:
            return error.code.name
        return "SUCCESS"

    def end(context):
        assert context.close(20 * SECOND)
        left = {kind: n for kind, n in controls.live_objects().items() if n}
        assert not left, left
"""


def run_on_parts(program: str, adapter: str, **settings: str) -> list[str]:
    """What a program on two devices of two sub-devices prints, by line."""
    parts = {"URASYNC_L0_SOFTWARE_DEVICES": "2", "URASYNC_L0_SOFTWARE_SUB_DEVICES": "2"}
    return run_strictly(START + program, adapter, **(parts | settings)).splitlines()


def test_the_tree(adapter: str) -> None:
    program = """
    for root in platform.devices:
        assert root.parent is None and root.root is root and root.partition is None
        assert not root.compute_slices
        for part in root.sub_devices:
            assert part.parent is part.root is root and not part.sub_devices
            assert part.partition is DevicePartition.BY_AFFINITY_DOMAIN
            for one in part.compute_slices:
                assert one.parent is part and one.root is root
                assert one.native_value == part.native_value
                assert one.partition is DevicePartition.BY_CSLICE
        print(root.path, [part.path for part in root.sub_devices],
              [one.path for one in root.sub_devices[1].compute_slices])
    print(len({device.native_value for device in platform.all_devices()}),
          len(list(platform.all_devices())))
    """
    assert run_on_parts(program, adapter) == [
        "0 ['0.0', '0.1'] ['0.1.s0', '0.1.s1', '0.1.s2', '0.1.s3']",
        "1 ['1.0', '1.1'] ['1.1.s0', '1.1.s1', '1.1.s2', '1.1.s3']",
        "6 6",
    ]


def test_sub_devices_have_pools_and_memory_of_their_own(adapter: str) -> None:
    """MT-6, of the parts of one device. Sub-device n of device 0 has the driver's index 2 + n."""
    program = """
    parts = platform.devices[0].sub_devices
    context = Context(sys.argv[1], devices=parts)
    queues = [context.create_queue(part) for part in parts]
    print([queue.device is part for queue, part in zip(queues, parts)])
    print(context.default_pool(parts[0]) is context.default_pool(parts[1]))
    for n, queue in enumerate(queues):
        before = [controls.used_device_memory(each) for each in (0, 1, 2, 3)]
        held = queue.alloc_device(5 * MIB), queue.alloc_shared(MIB)
        after = [controls.used_device_memory(each) for each in (0, 1, 2, 3)]
        grown = [b - a >= 6 * MIB for a, b in zip(before, after)]
        same = [b == a for a, b in zip(before, after)]
        print(grown, same, context.default_pool(parts[n]).used_bytes == 6 * MIB)
        held[0].free(), held[1].free()
    print(refused(context.create_queue, platform.devices[0]),
          refused(context.create_queue, platform.devices[1].sub_devices[0]),
          refused(queues[0].alloc_device, MIB, context.default_pool(parts[1])))
    del queues, queue
    end(context)
    """
    assert run_on_parts(program, adapter) == [
        "[True, True]",
        "False",
        "[True, False, True, False] [False, True, False, True] True",
        "[True, False, False, True] [False, True, True, False] True",
        "INVALID_DEVICE INVALID_DEVICE INVALID_VALUE",
    ]


def test_devices_that_share_a_native_handle(adapter: str) -> None:
    """MT-4: a device, its sub-device and that one's slices in one context, one heap a handle.

    MT-6: each device has a default pool of its own all the same.
    """
    program = """
    root = platform.devices[0]
    part = root.sub_devices[0]
    slices = part.compute_slices[:2]
    context = Context(sys.argv[1], devices=[slices[0], root, part, *slices, root])
    print([device.path for device in context.devices])
    pools = [context.default_pool(device) for device in context.devices]
    print([pools.index(pool) for pool in pools], len(context.native.sources))
    shared = context.create_pool()
    queues = [context.create_queue(device) for device in context.devices]
    print([queue.device.path for queue in queues])
    # What the queue of one slice frees is reused by the others' in the order that an event gives.
    first = queues[0].alloc_device(MIB, shared)
    address, freed = first.ptr, queues[0].free(first, event=True)
    again = queues[2].alloc_device(MIB, shared, wait=(freed,))
    print(again.ptr == address, context.find_allocation(again.ptr).device.path)
    done = queues[3].fill(again, b"x", event=True)
    other = queues[1].alloc_device(MIB, shared, wait=(done,))
    print(other.ptr != again.ptr, context.find_allocation(other.ptr).device.path)
    again.free(), other.free(), freed.release(), done.release()
    del queues, freed, done, again, other, first
    end(context)
    """
    assert run_on_parts(program, adapter) == [
        "['0.0.s0', '0', '0.0', '0.0.s1']",
        "[0, 1, 2, 3] 7",
        "['0.0.s0', '0', '0.0', '0.0.s1']",
        "True 0.0",
        "True 0",
    ]


SLICES = """
    from urasync_l0.adapter import find_adapter
    from urasync_l0.descriptors import UsmPoolBufferDesc, UsmPoolDesc
    from urasync_l0.enums import UsmAllocInfo
    from urasync_l0.out import Out
    adapter = find_adapter(sys.argv[1])
    one, two = platform.devices[0].sub_devices[0].compute_slices[:2]

    def out(entry, *arguments):
        made = Out()
        entry(*arguments, made)
        return made.value

    def device_of(mem):
        answer = Out()
        adapter.urUSMGetMemAllocInfo(context, mem, UsmAllocInfo.DEVICE, 8, answer, None)
        return answer.value.path
"""


@pytest.mark.parametrize("named", ["one, two", "one.parent", "one.root"])
def test_slices_are_devices_of_their_own(adapter: str, named: str) -> None:
    """MT-6: whether the context names them or not, each has its default and its current pool."""
    program = f"""
    context = Context(sys.argv[1], devices=[{named}])
    get, default = adapter.urUSMPoolGetDevicePoolExp, adapter.urUSMPoolGetDefaultDevicePoolExp
    print(out(default, context, one) is out(default, context, two),
          out(get, context, one) is out(default, context, one))
    make = adapter.urUSMPoolCreateExp
    first, second = (out(make, context, each, UsmPoolDesc()) for each in (one, two))
    print(first.device.path, second.device.path)
    set = adapter.urUSMPoolSetDevicePoolExp
    set(context, two, second)
    print(out(get, context, two) is second, out(get, context, one) is out(default, context, one),
          refused(set, context, one, second))
    queues = [context.create_queue(each) for each in (one, two)]
    both = context.create_pool()
    mems = [queue.enqueue_alloc(UsmType.DEVICE, 4096, pool)[0]
            for queue in queues for pool in (None, both)]
    mems += [out(adapter.urUSMDeviceAlloc, context, each, None, pool, 4096)
             for each in (one, two) for pool in (None, both)]
    print([device_of(mem) for mem in mems])
    print(second.used_bytes, refused(queues[0].alloc_device, 8, second),
          refused(adapter.urUSMDeviceAlloc, context, one, None, second, 8, Out()))
    held = queues[1].alloc_shared(8, both)
    print(device_of(held.ptr))
    buffer = UsmPoolBufferDesc(mem=mems[3], size=4096, mem_type=UsmType.DEVICE, device=two)
    inside = out(make, context, two, UsmPoolDesc(next=buffer))
    print(inside.device.path, refused(make, context, one, UsmPoolDesc(next=buffer), Out()))
    trim, destroy = adapter.urUSMPoolTrimToExp, adapter.urUSMPoolDestroyExp
    for pool in (inside, second):
        print(refused(trim, context, one, pool, 0), refused(destroy, context, one, pool),
              refused(trim, context, two, pool, 0), refused(destroy, context, two, pool))
    print(out(get, context, two) is out(default, context, two))
    for mem in mems:
        context.free(mem)
    del queues, held
    end(context)
    """
    paths = ["0.0.s0", "0.0.s0", "0.0.s1", "0.0.s1"]
    assert run_on_parts(SLICES + program, adapter) == [
        "False True",
        "0.0.s0 0.0.s1",
        "True True INVALID_VALUE",
        str(paths * 2),
        "8192 INVALID_VALUE INVALID_VALUE",
        "0.0.s1",
        "0.0.s1 INVALID_VALUE",
        "INVALID_VALUE INVALID_VALUE SUCCESS SUCCESS",
        "INVALID_VALUE INVALID_VALUE SUCCESS SUCCESS",
        "True",
    ]


def test_parts_of_a_device_that_the_context_names(adapter: str) -> None:
    """They have memory, pools and queues of their own in it, and the context tells the root."""
    program = """
    root = platform.devices[0]
    context = Context(sys.argv[1], devices=[root])
    print([device.path for device in context.devices])
    part = root.sub_devices[1]
    queues = [context.create_queue(each) for each in (root, part, part.compute_slices[2])]
    pool = context.create_pool()
    before = [controls.used_device_memory(each) for each in (0, 2, 3)]
    held = [queues[1].alloc_device(5 * MIB, pool), context.alloc_shared(MIB, part)]
    after = [controls.used_device_memory(each) for each in (0, 2, 3)]
    print([b - a >= 6 * MIB for a, b in zip(before, after)],
          [context.find_allocation(each.ptr).device.path for each in held],
          context.default_pool(part).used_bytes == MIB, context.default_pool(root).used_bytes)
    done = queues[1].fill(held[0], b"x", event=True)
    target = bytearray(100)
    queues[2].memcpy(target, held[0], 100, wait=(done,))
    queues[0].wait(queues[2].record())
    assert queues[0].finish(20 * SECOND)
    print(bytes(target) == b"x" * 100)
    from urasync_l0.inspection import take_snapshot
    print([each.device for each in take_snapshot().contexts[0].queues][:3])
    for each in held:
        each.free()
    del queues, held, done, each
    end(context)
    """
    assert run_on_parts(program, adapter)[:4] == [
        "['0']",
        "[True, False, True] ['0.1', '0.1'] True 0",
        "True",
        "[0, 2, 2]",
    ]


def test_slices_use_their_own_compute_queue(adapter: str) -> None:
    program = """
    from urasync_l0.ze._extension import ffi, lib
    part = platform.devices[1].sub_devices[1]
    slices = part.compute_slices
    context = Context(sys.argv[1], devices=[part, *slices])
    calls = []
    from urasync_l0.ze import command_list
    create = command_list.create_immediate
    def watch(*arguments, **more):
        calls.append((more["ordinal"], more["index"]))
        return create(*arguments, **more)
    command_list.create_immediate = watch
    for device in (slices[2], slices[2], slices[1], slices[3]):
        context.create_queue(device)
    command_list.create_immediate = create
    print(calls)
    print(slices[2].compute_queues, part.compute_queues)
    end(context)
    """
    assert run_on_parts(program, adapter) == ["[(0, 2), (0, 2), (0, 1), (0, 3)]", "1 4"]


def test_sub_devices_share_the_memory_of_their_root(adapter: str) -> None:
    """What the root has allocated is missing on its parts, as the driver counts it."""
    program = """
    root = platform.devices[0]
    context = Context(sys.argv[1], devices=[root, *root.sub_devices])
    queues = [context.create_queue(device) for device in context.devices]
    free = lambda: [device.free_memory // MIB for device in context.devices]
    print(free())
    held = queues[0].alloc_device(40 * MIB)
    print(free(), refused(queues[1].alloc_device, 33 * MIB))
    more = queues[2].alloc_device(24 * MIB)
    print(free())
    more.free(), held.free()
    for queue in queues:
        assert queue.finish(20 * SECOND)
    print(free())
    del queues, queue
    end(context)
    """
    settings = {"URASYNC_L0_SOFTWARE_MEMORY": "64M"}
    assert run_on_parts(program, adapter, **settings) == [
        "[64, 32, 32]",
        "[24, 24, 24] INVALID_USM_SIZE",
        "[0, 0, 0]",
        "[64, 32, 32]",
    ]


def test_peer_access_of_parts(adapter: str) -> None:
    """Parts of one device always reach each other; a grant is needed all the same."""
    program = """
    one, other = platform.devices
    devices = [*one.sub_devices, *other.sub_devices, one.sub_devices[0].compute_slices[0]]
    context = Context(sys.argv[1], devices=devices)
    print(context.can_access_peer(0, 1), context.can_access_peer(0, 2))
    held = context.create_queue(1).alloc_device(MIB)
    context.enable_peer_access(0, 1)
    print(controls.resident_bytes(2) > 0, controls.resident_bytes())
    print(context.has_peer_access(devices[4], 1), refused(context.enable_peer_access, 4, 1),
          refused(context.enable_peer_access, 4, 0), refused(context.enable_peer_access, 0, 2))
    context.disable_peer_access(devices[4], 1)
    print(controls.resident_bytes())
    held.free()
    end(context)
    """
    assert run_on_parts(program, adapter, URASYNC_L0_SOFTWARE_PEER="0") == [
        "True False",
        f"True {2 << 20}",
        "True INVALID_OPERATION INVALID_DEVICE INVALID_OPERATION",
        "0",
    ]


@pytest.mark.parametrize(
    ("hierarchy", "expected"),
    [
        ("COMPOSITE", ["2 2 0 0", "True"]),
        ("FLAT", ["4 0 0 0", "True"]),
        ("COMBINED", ["4 0 2 2", "True"]),
    ],
)
def test_hierarchies(adapter: str, hierarchy: str, expected: list[str]) -> None:
    """Whatever the driver calls a root device, all work, and none is found twice.

    Loaders of Level Zero 1.8 cannot tell what a root device is a component of.
    """
    if not loader.has("zeDeviceGetRootDevice"):
        expected = [expected[0].replace(" 2 2", " 0 0"), *expected[1:]]
    program = """
    devices = platform.devices
    print(len(devices), len(devices[0].sub_devices), len(platform.composites),
          len(platform.composites[0].components) if platform.composites else 0)
    for composite in platform.composites:
        assert all(each.composite is composite for each in composite.components)
        assert not composite.sub_devices and composite.path == str(composite.index)
    context = Context(sys.argv[1])
    for device in devices:
        queue = context.create_queue(device)
        target = bytearray(100)
        allocation = queue.alloc_device(100)
        queue.fill(allocation, b"ab")
        queue.memcpy(target, allocation)
        allocation.free()
        assert queue.finish(20 * SECOND) and bytes(target) == b"ab" * 50
    values = [device.native_value for device in platform.all_devices()]
    print(len(values) == len(set(values)))
    del queue
    end(context)
    """
    settings = {"ZE_FLAT_DEVICE_HIERARCHY": hierarchy}
    assert run_on_parts(program, adapter, **settings) == expected
