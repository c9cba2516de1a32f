# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``urDevice…``: devices, their parts, and every property.

What depends on the driver's settings runs in a process of its own.
"""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.helpers.entries import Client, refused, written
from tests.helpers.strict_process import run_strictly
from urasync_l0 import Context, Device
from urasync_l0.descriptors import DevicePartitionProperties, DevicePartitionProperty
from urasync_l0.device_info import DEVICE_INFO
from urasync_l0.enums import (
    DeviceAffinityDomainFlag,
    DeviceInfo,
    DevicePartition,
    DeviceType,
    QueueFlag,
)
from urasync_l0.out import Out
from urasync_l0.platform import Platform, default_platform
from urasync_l0.result import DeviceLostError, UnsupportedEnumerationError, UrResult
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.device import MemoryAccessCapFlag, MemoryAccessProperties
from urasync_l0.ze.device_properties import ModuleFlag, get_pci_address

ROOM = 1 << 16


@pytest.fixture
def platform(client: Client) -> Platform:
    """The driver of this process."""
    return default_platform()


@pytest.fixture
def root(platform: Platform, device_index: int) -> Device:
    """The device of this process; needs no context."""
    return platform.devices[device_index]


def info(client: Client, device: Device, prop_name: int) -> Any:
    value: Out[Any] = Out()
    client.adapter.urDeviceGetInfo(device, prop_name, ROOM, value, None)
    return written(value)


# -- getting devices -------------------------------------------------------------------------------


def test_get(client: Client, platform: Platform) -> None:
    get = client.adapter.urDeviceGet
    count: Out[int] = Out()
    get(platform, DeviceType.ALL, 0, None, count)
    assert written(count) == len(platform.devices)
    found: Out[tuple[Device, ...]] = Out()
    get(platform, DeviceType.ALL, count.value + 1, found, None)
    assert written(found) == platform.devices
    get(platform, DeviceType.DEFAULT, 5, found, count)
    assert written(found) == platform.devices[:1]
    assert count.value == 1


def test_get_by_type(client: Client, platform: Platform) -> None:
    kinds = [info(client, device, DeviceInfo.TYPE) for device in platform.devices]
    for kind in DeviceType:
        if kind in (DeviceType.ALL, DeviceType.DEFAULT):
            continue
        found: Out[tuple[Device, ...]] = Out()
        count: Out[int] = Out()
        client.adapter.urDeviceGet(platform, kind, 100, found, count)
        assert written(count) == kinds.count(kind)
        assert all(info(client, each, DeviceInfo.TYPE) == kind for each in written(found))


def test_get_refuses(client: Client, platform: Platform) -> None:
    found: Out[tuple[Device, ...]] = Out()
    count: Out[int] = Out()
    get = client.adapter.urDeviceGet
    with refused(UrResult.INVALID_NULL_HANDLE, found, count):
        get(None, DeviceType.ALL, 1, found, count)
    with refused(UrResult.INVALID_NULL_POINTER, count):
        get(platform, DeviceType.ALL, 1, None, count)
    with refused(UrResult.INVALID_SIZE, found, count):
        get(platform, DeviceType.ALL, 0, found, count)
    for unknown in (0, DeviceType.CUSTOM + 1):
        with refused(UrResult.INVALID_ENUMERATION, found, count):
            get(platform, unknown, 1, found, count)


def test_a_root_device_has_one_reference(client: Client, platform: Platform, root: Device) -> None:
    """As Unified Runtime has it, however often it is given, retained and released."""
    found: Out[tuple[Device, ...]] = Out()
    for _ in range(3):
        client.adapter.urDeviceGet(platform, DeviceType.ALL, 100, found, None)
        client.adapter.urDeviceRelease(root)
        client.adapter.urDeviceRelease(root)
        assert info(client, root, DeviceInfo.REFERENCE_COUNT) == 1
        client.adapter.urDeviceRetain(root)
        assert info(client, root, DeviceInfo.REFERENCE_COUNT) == 1
    with refused(UrResult.INVALID_NULL_HANDLE):
        client.adapter.urDeviceRetain(None)
    with refused(UrResult.INVALID_NULL_HANDLE):
        client.adapter.urDeviceRelease(None)


def test_native_handle_and_back(client: Client, platform: Platform) -> None:
    for device in platform.all_devices():
        native: Out[int] = Out()
        client.adapter.urDeviceGetNativeHandle(device, native)
        back: Out[Device] = Out()
        client.adapter.urDeviceCreateWithNativeHandle(written(native), client.adapter, None, back)
        assert written(back) is device
        client.adapter.urDeviceRelease(device)


def test_native_handles_refuse(client: Client, root: Device) -> None:
    native: Out[int] = Out()
    found: Out[Device] = Out()
    adapter = client.adapter
    with refused(UrResult.INVALID_NULL_HANDLE, native):
        adapter.urDeviceGetNativeHandle(None, native)
    with refused(UrResult.INVALID_NULL_POINTER):
        adapter.urDeviceGetNativeHandle(root, None)
    with refused(UrResult.INVALID_NULL_HANDLE, found):
        adapter.urDeviceCreateWithNativeHandle(1, None, None, found)
    with refused(UrResult.INVALID_NULL_POINTER):
        adapter.urDeviceCreateWithNativeHandle(1, adapter, None, None)
    with refused(UrResult.INVALID_VALUE, found):
        adapter.urDeviceCreateWithNativeHandle(1, adapter, None, found)


@pytest.mark.needs_execution("only execution writes time stamps", run=False)
def test_global_timestamps(client: Client, root: Device) -> None:
    device_time: Out[int] = Out()
    host_time: Out[int] = Out()
    get = client.adapter.urDeviceGetGlobalTimestamps
    get(root, device_time, host_time)
    earlier = written(device_time), written(host_time)
    get(root, device_time, None)
    get(root, None, host_time)
    get(root, None, None)
    assert written(host_time) > earlier[1]
    wraps_after = root.clock.nanoseconds(1 << root.properties.timestamp_valid_bits)
    passed = (written(device_time) - earlier[0]) % wraps_after
    assert 0 <= passed < 60_000_000_000
    with refused(UrResult.INVALID_NULL_HANDLE):
        get(None, device_time, host_time)


# -- properties ------------------------------------------------------------------------------------


# Clients bear it that these are unknown, and ask for all others without a second thought.
NOT_ALWAYS_TOLD = {"GLOBAL_MEM_FREE", "IP_VERSION", "VERSION", "PCI_ADDRESS", "IL_VERSION"}


@pytest.mark.parametrize("name", DeviceInfo, ids=lambda name: name.name)
def test_every_property(client: Client, root: Device, name: DeviceInfo) -> None:
    """The size is that of the C type; a place too small, or none at all, is refused."""
    get = client.adapter.urDeviceGetInfo
    value: Out[Any] = Out()
    size: Out[int] = Out()
    with suppress(UnsupportedEnumerationError):
        get(root, name, ROOM, value, size)
    if not value.is_set:
        assert name.name in NOT_ALWAYS_TOLD
        assert not size.is_set
        with pytest.raises(UnsupportedEnumerationError, match="The driver does not tell"):
            get(root, name, ROOM, value, size)
        return
    assert written(size) == DEVICE_INFO.property(name).type.size_of(written(value))
    only_size: Out[int] = Out()
    get(root, name, 0, None, only_size)
    assert written(only_size) == written(size)
    if not written(size):
        return
    exact: Out[Any] = Out()
    get(root, name, written(size), exact, None)
    if name is not DeviceInfo.GLOBAL_MEM_FREE:
        assert written(exact) == written(value)
    small: Out[Any] = Out()
    with pytest.raises(Exception, match="INVALID_SIZE"):
        get(root, name, written(size) - 1, small, None)
    assert not small.is_set


def test_info_refuses(client: Client, root: Device) -> None:
    value: Out[Any] = Out()
    size: Out[int] = Out()
    get = client.adapter.urDeviceGetInfo
    with refused(UrResult.INVALID_NULL_HANDLE, value, size):
        get(None, DeviceInfo.NAME, ROOM, value, size)
    with refused(UrResult.INVALID_NULL_POINTER):
        get(root, DeviceInfo.NAME, 0, None, None)
    with refused(UrResult.INVALID_NULL_POINTER, size):
        get(root, DeviceInfo.NAME, ROOM, None, size)
    with refused(UrResult.INVALID_SIZE, value, size):
        get(root, DeviceInfo.NAME, 0, value, size)
    for unknown in (104, 0x7FFFFFFE):
        with refused(UrResult.UNSUPPORTED_ENUMERATION, value, size):
            get(root, unknown, ROOM, value, size)


SETTINGS = {
    "URASYNC_L0_SOFTWARE_DEVICES": "2",
    "URASYNC_L0_SOFTWARE_SUB_DEVICES": "2",
    "URASYNC_L0_SOFTWARE_MEMORY": "6G",
    "URASYNC_L0_SOFTWARE_MAX_ALLOCATION": "4G",
    "URASYNC_L0_SOFTWARE_TIMER": "12500000",
}

DUMP = """
    import json, sys
    import urasync_l0
    from urasync_l0.adapter import find_adapter
    from urasync_l0.enums import DeviceInfo, DevicePartition
    from urasync_l0.descriptors import DevicePartitionProperties, DevicePartitionProperty
    from urasync_l0.out import Out
    from urasync_l0.result import UrError

    adapter = find_adapter(sys.argv[1])

    def get(entry, *arguments):
        out = Out()
        entry(*arguments, 100, out, None)
        return out.value

    def parts(device, way, value=0):
        wanted = DevicePartitionProperties(properties=(DevicePartitionProperty(way, value),))
        return get(adapter.urDevicePartition, device, wanted)

    platform = get(adapter.urPlatformGet, adapter)[0]
    roots = get(adapter.urDeviceGet, platform, 2)
    second = parts(roots[1], DevicePartition.BY_AFFINITY_DOMAIN, 1)[1]
    slice = parts(second, DevicePartition.BY_CSLICE)[2]
    names = {id(roots[1]): "root", id(second): "part", id(slice): "slice", id(platform): "platform"}

    def shown(value):
        if isinstance(value, bytes):
            return value.hex()
        if isinstance(value, DevicePartitionProperty):
            return [int(value.type), int(value.value)]
        if isinstance(value, tuple):
            return [shown(each) for each in value]
        return names.get(id(value), value)

    answers = {}
    for name in DeviceInfo:
        row = answers[name.name] = []
        for device in (roots[1], second, slice):
            out = Out()
            try:
                adapter.urDeviceGetInfo(device, name, 1 << 16, out, None)
                row.append(shown(out.value))
            except UrError as error:
                row.append(error.code.name)
    print(json.dumps(answers))
"""

GIB = 1 << 30
ALL_ACCESS = 0b1111
NUMA = int(DeviceAffinityDomainFlag.NUMA)
BY_DOMAIN = int(DevicePartition.BY_AFFINITY_DOMAIN)
BY_CSLICE = int(DevicePartition.BY_CSLICE)

# The second of two root devices, its second sub-device, and that one's third compute slice.
EXPECTED: dict[str, list[Any]] = {
    "TYPE": [int(DeviceType.GPU)] * 3,
    "VENDOR_ID": [0x8086] * 3,
    "DEVICE_ID": [0x56C0] * 3,
    "VENDOR": ["Intel(R) Corporation"] * 3,
    "NAME": ["urasync software device 1", *["urasync software device 1, sub-device 1"] * 2],
    "UUID": [b"urasync-device-\x01".hex(), *[b"urasync-device-\x05".hex()] * 2],
    "PCI_ADDRESS": ["0000:04:00.0"] * 3,
    "VERSION": ["12.55.8"] * 3,
    "IP_VERSION": [12 << 22 | 55 << 14 | 8] * 3,
    "DRIVER_VERSION": ["1.15.39000"] * 3,
    "PLATFORM": ["platform"] * 3,
    "PARENT_DEVICE": [None, "root", "part"],
    "REFERENCE_COUNT": [1] * 3,
    "SUPPORTED_PARTITIONS": [[BY_DOMAIN], [BY_CSLICE], []],
    "PARTITION_MAX_SUB_DEVICES": [2, 4, 0],
    "PARTITION_AFFINITY_DOMAIN": [NUMA | 32, 0, 0],
    "PARTITION_TYPE": [[], [[BY_DOMAIN, NUMA]], [[BY_CSLICE, 0]]],
    "COMPONENT_DEVICES": [[]] * 3,
    "COMPOSITE_DEVICE": [None] * 3,
    "GLOBAL_MEM_SIZE": [6 * GIB, 3 * GIB, 3 * GIB],
    "GLOBAL_MEM_FREE": [6 * GIB, 3 * GIB, 3 * GIB],
    "MAX_MEM_ALLOC_SIZE": [4 * GIB, 3 * GIB, 3 * GIB],
    "GLOBAL_MEM_CACHE_SIZE": [16 << 20] * 3,
    "LOCAL_MEM_SIZE": [64 << 10] * 3,
    "LOCAL_MEM_TYPE": [1] * 3,
    "MEMORY_CLOCK_RATE": [2000] * 3,
    "MEMORY_BUS_WIDTH": [256] * 3,
    "HOST_UNIFIED_MEMORY": [False] * 3,
    "USM_HOST_SUPPORT": [ALL_ACCESS] * 3,
    "USM_DEVICE_SUPPORT": [ALL_ACCESS] * 3,
    "USM_SINGLE_SHARED_SUPPORT": [ALL_ACCESS] * 3,
    "USM_CROSS_SHARED_SUPPORT": [ALL_ACCESS] * 3,
    "USM_SYSTEM_SHARED_SUPPORT": [0] * 3,
    "USM_POOL_SUPPORT": [True] * 3,
    "ASYNC_USM_ALLOCATIONS_SUPPORT_EXP": [True] * 3,
    "USM_P2P_SUPPORT_EXP": [True] * 3,
    "VIRTUAL_MEMORY_SUPPORT": [False] * 3,
    "PROFILING_TIMER_RESOLUTION": [80] * 3,
    "MAX_COMPUTE_QUEUE_INDICES": [4, 4, 1],
    "MAX_COMPUTE_UNITS": [512, 256, 64],
    "NUM_COMPUTE_UNITS": [32, 16, 16],
    "GPU_EU_SLICES": [8, 4, 4],
    "GPU_EU_COUNT_PER_SUBSLICE": [16] * 3,
    "GPU_SUBSLICES_PER_SLICE": [4] * 3,
    "GPU_EU_SIMD_WIDTH": [8] * 3,
    "GPU_HW_THREADS_PER_EU": [8] * 3,
    "MAX_CLOCK_FREQUENCY": [2000] * 3,
    "MAX_WORK_ITEM_DIMENSIONS": [3] * 3,
    "MAX_WORK_ITEM_SIZES": [[1024] * 3] * 3,
    "MAX_WORK_GROUP_SIZE": [1024] * 3,
    "MAX_NUM_SUB_GROUPS": [128] * 3,
    "SUB_GROUP_SIZES_INTEL": [[8, 16, 32]] * 3,
    "MAX_PARAMETER_SIZE": [2048] * 3,
    "ADDRESS_BITS": [64] * 3,
    "IL_VERSION": ["SPIR-V_1.4"] * 3,
    "GLOBAL_MEM_CACHE_TYPE": [2] * 3,
    "GLOBAL_MEM_CACHELINE_SIZE": [1] * 3,
    "MEM_BASE_ADDR_ALIGN": [8] * 3,
    "MAX_CONSTANT_ARGS": [256] * 3,
    "MAX_CONSTANT_BUFFER_SIZE": [4 * GIB, 3 * GIB, 3 * GIB],
    "EXECUTION_CAPABILITIES": [1] * 3,
    "PROFILE": ["FULL_PROFILE"] * 3,
    "PREFERRED_INTEROP_USER_SYNC": [True] * 3,
    "SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS": [False] * 3,
    "BUILD_ON_SUBDEVICE": [False] * 3,
    "MULTI_DEVICE_COMPILE_SUPPORT_EXP": [True] * 3,
    "ATOMIC_MEMORY_ORDER_CAPABILITIES": [0b11111] * 3,
    "ATOMIC_MEMORY_SCOPE_CAPABILITIES": [0b11111] * 3,
    "ATOMIC_FENCE_ORDER_CAPABILITIES": [0b11111] * 3,
    "ATOMIC_FENCE_SCOPE_CAPABILITIES": [0b11111] * 3,
    "BFLOAT16_CONVERSIONS_NATIVE": [False] * 3,
    "PREFERRED_VECTOR_WIDTH_LONG_LONG": [1] * 3,
    "NATIVE_VECTOR_WIDTH_LONG_LONG": [1] * 3,
    "KERNEL_LAUNCH_CAPABILITIES": [0] * 3,
    "IMAGE2D_MAX_WIDTH": [0] * 3,
    "MAX_SAMPLERS": [0] * 3,
    "ESIMD_SUPPORT": [False] * 3,
    "EXTENSIONS": [
        "cl_khr_il_program cl_khr_subgroups cl_intel_subgroups cl_intel_subgroups_short "
        "cl_intel_required_subgroup_size cl_khr_fp16 cl_khr_fp64 cl_khr_int64_base_atomics "
        "cl_khr_int64_extended_atomics"
    ]
    * 3,
}


@pytest.mark.usefixtures("controls")
def test_exact_answers(adapter: str) -> None:
    answers = json.loads(run_strictly(DUMP, adapter, **SETTINGS))
    assert {name: answers[name] for name in EXPECTED} == EXPECTED


@pytest.mark.usefixtures("controls")
def test_what_the_driver_cannot_tell(adapter: str) -> None:
    """A driver without the extensions: these properties are unsupported, all others as before."""
    hidden = "ZE_extension_device_usablemem_size_properties,ZE_extension_device_ip_version"
    hidden += ",zeDevicePciGetPropertiesExt,zeDeviceGetRootDevice"
    answers = json.loads(run_strictly(DUMP, adapter, **SETTINGS, URASYNC_L0_SOFTWARE_HIDE=hidden))
    unsupported = {"GLOBAL_MEM_FREE", "IP_VERSION", "VERSION", "PCI_ADDRESS"}
    changed = {name for name in EXPECTED if answers[name] != EXPECTED[name]}
    assert changed == unsupported
    for name in unsupported:
        assert answers[name] == ["UNSUPPORTED_ENUMERATION"] * 3


def test_extensions_tell_what_kernels_can_compute_with(
    client: Client, root: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SYCL programs look for these names before they use half, double or 64-bit atomics."""
    names = {
        ModuleFlag.FP16: {"cl_khr_fp16"},
        ModuleFlag.FP64: {"cl_khr_fp64"},
        ModuleFlag.INT64_ATOMICS: {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"},
    }
    monkeypatch.setattr(root, "module", replace(root.module, flags=ModuleFlag(0)))
    monkeypatch.setattr(root.platform, "extensions", {})
    always = set(info(client, root, DeviceInfo.EXTENSIONS).split())
    for flag, expected in names.items():
        monkeypatch.setattr(root, "module", replace(root.module, flags=flag))
        assert set(info(client, root, DeviceInfo.EXTENSIONS).split()) - always == expected
    with monkeypatch.context() as patch:
        patch.setattr(root.platform, "extensions", {"ZE_extension_bfloat16_conversions": 0x10000})
        found = set(info(client, root, DeviceInfo.EXTENSIONS).split()) - always
        assert "cl_intel_bfloat16_conversions" in found
        assert info(client, root, DeviceInfo.BFLOAT16_CONVERSIONS_NATIVE)


def test_queues_can_be_made_with_every_flag_that_is_promised(
    client: Client, context: Context, device: Device
) -> None:
    promised = info(client, device, DeviceInfo.QUEUE_ON_HOST_PROPERTIES)
    assert promised == info(client, device, DeviceInfo.QUEUE_PROPERTIES)
    for flag in QueueFlag(promised):
        queue = client.create_queue(context, device, flag)
        client.adapter.urQueueFinish(queue)
        client.adapter.urQueueRelease(queue)
    assert info(client, device, DeviceInfo.QUEUE_ON_DEVICE_PROPERTIES) == 0


@pytest.mark.parametrize("code", [0x78000001, 0x78000003], ids=["uninitialised", "unsupported"])
def test_a_bus_that_the_driver_cannot_see(controls: Controls, root: Device, code: int) -> None:
    controls.fail("zeDevicePciGetPropertiesExt", 1, code)
    assert get_pci_address(root.handle) is None
    controls.fail("zeDevicePciGetPropertiesExt", 1, 0x70000001)
    with pytest.raises(DeviceLostError):
        get_pci_address(root.handle)
    assert get_pci_address(root.handle) == root.pci_address


# -- parts -----------------------------------------------------------------------------------------


def ways(*pairs: tuple[int, int]) -> DevicePartitionProperties:
    return DevicePartitionProperties(
        properties=tuple(DevicePartitionProperty(way, value) for way, value in pairs)
    )


def test_partition_gives_what_the_properties_promise(client: Client, root: Device) -> None:
    supported = info(client, root, DeviceInfo.SUPPORTED_PARTITIONS)
    for way in (DevicePartition.BY_AFFINITY_DOMAIN, DevicePartition.BY_CSLICE):
        by_domain = way is DevicePartition.BY_AFFINITY_DOMAIN
        count: Out[int] = Out()
        wanted = ways((way, NUMA if by_domain else 0))
        client.adapter.urDevicePartition(root, wanted, 0, None, count)
        if way not in supported:
            assert written(count) == 0
            continue
        assert written(count) == info(client, root, DeviceInfo.PARTITION_MAX_SUB_DEVICES)
        first: Out[tuple[Device, ...]] = Out()
        client.adapter.urDevicePartition(root, wanted, 1, first, None)
        assert len(written(first)) == 1
        parts: Out[tuple[Device, ...]] = Out()
        client.adapter.urDevicePartition(root, wanted, 100, parts, None)
        assert len(written(parts)) == written(count)
        assert written(parts)[0] is written(first)[0], "the same part is another object"
        for part in written(parts):
            assert info(client, part, DeviceInfo.PARENT_DEVICE) is root
            assert info(client, part, DeviceInfo.PARTITION_TYPE)[0].type == way
        for part in (*written(parts), *written(first)):
            client.adapter.urDeviceRelease(part)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (ways(), UrResult.INVALID_VALUE),
        (ways((BY_CSLICE, 0), (BY_CSLICE, 0)), UrResult.INVALID_VALUE),
        (ways((0x1085, 0)), UrResult.INVALID_ENUMERATION),
        (ways((BY_DOMAIN, 64)), UrResult.INVALID_ENUMERATION),
        (ways((BY_DOMAIN, 2)), UrResult.INVALID_VALUE),
        (ways((BY_DOMAIN, 0)), UrResult.INVALID_VALUE),
        (ways((BY_CSLICE, 1)), UrResult.INVALID_VALUE),
        (ways((DevicePartition.EQUALLY, 2)), UrResult.INVALID_VALUE),
        (ways((DevicePartition.BY_COUNTS, 2)), UrResult.INVALID_VALUE),
    ],
    ids=[
        "no-way",
        "two-ways",
        "unknown-way",
        "unknown-domain",
        "l4-cache",
        "no-domain",
        "cslice-value",
        "equally",
        "by-counts",
    ],
)
def test_partition_refuses_ways(
    client: Client, root: Device, wanted: DevicePartitionProperties, code: UrResult
) -> None:
    parts: Out[tuple[Device, ...]] = Out()
    count: Out[int] = Out()
    with refused(code, parts, count):
        client.adapter.urDevicePartition(root, wanted, 100, parts, count)


def test_partition_refuses(client: Client, root: Device) -> None:
    parts: Out[tuple[Device, ...]] = Out()
    count: Out[int] = Out()
    partition = client.adapter.urDevicePartition
    wanted = ways((BY_CSLICE, 0))
    with refused(UrResult.INVALID_NULL_HANDLE, parts, count):
        partition(None, wanted, 1, parts, count)
    with refused(UrResult.INVALID_NULL_POINTER, parts, count):
        partition(root, None, 1, parts, count)
    with refused(UrResult.INVALID_NULL_POINTER, parts, count):
        partition(root, DevicePartitionProperties(), 1, parts, count)
    with refused(UrResult.INVALID_NULL_POINTER):
        partition(root, wanted, 0, None, None)
    with refused(UrResult.INVALID_SIZE, parts, count):
        partition(root, wanted, 0, parts, count)


# -- programs --------------------------------------------------------------------------------------


def test_a_program_in_spirv_is_selected(client: Client, root: Device) -> None:
    selected: Out[int] = Out()
    targets = ["spir64_gen", "spir64", "spir64"]
    client.adapter.urDeviceSelectBinary(root, targets, 3, selected)
    assert written(selected) == 1


def test_other_programs_are_refused(client: Client, root: Device) -> None:
    selected: Out[int] = Out()
    select = client.adapter.urDeviceSelectBinary
    with refused(UrResult.INVALID_BINARY, selected):
        select(root, ["nvptx64", "spir64_gen"], 2, selected)
    with refused(UrResult.INVALID_SIZE, selected):
        select(root, ["spir64"], 2, selected)
    with refused(UrResult.INVALID_NULL_POINTER, selected):
        select(root, None, 1, selected)


def test_each_kind_of_memory_is_asked_for_itself(
    client: Client, root: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drivers answer differently for each kind."""
    given = [MemoryAccessCapFlag(each) for each in (1, 3, 5, 7, 9)]
    monkeypatch.setitem(vars(root), "memory_access", MemoryAccessProperties(*given))
    answers = []
    for name in ("HOST", "DEVICE", "SINGLE_SHARED", "CROSS_SHARED", "SYSTEM_SHARED"):
        out: Out[int] = Out()
        client.adapter.urDeviceGetInfo(root, DeviceInfo[f"USM_{name}_SUPPORT"], 4, out, None)
        answers.append(int(out.value))
    assert answers == [1, 3, 5, 7, 9]
