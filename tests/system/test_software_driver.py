# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every module of the bindings on the software driver, through the real loader."""

from collections.abc import Callable, Iterator

import pytest

from tests.system.bench import Bench
from tests.system.python_process import run_program
from urasync_l0.result import (
    DeviceLostError,
    InvalidSizeError,
    OutOfMemoryError,
    ProfilingInfoNotAvailableError,
    UrError,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import (
    command_list,
    context,
    device,
    driver,
    event,
    loader,
    memory,
    virtual_memory,
)
from urasync_l0.ze._extension import ffi
from urasync_l0.ze.handles import EventHandle, PhysicalMemHandle, handle_value
from urasync_l0.ze.memory import MemoryType
from urasync_l0.ze.result import ZeResult

TIMEOUT_NS = 60_000_000_000


def read_memory(address: int, size: int) -> bytes:
    return bytes(ffi.buffer(ffi.cast("char *", address), size))


@pytest.fixture
def events(bench: Bench) -> Iterator[Callable[[], EventHandle]]:
    """Makes events of a pool, and destroys them after the test."""
    pool = event.create_pool(bench.context, [bench.device], 8, kernel_timestamp=True)
    made: list[EventHandle] = []

    def make() -> EventHandle:
        made.append(event.create(pool, len(made)))
        return made[-1]

    yield make
    for one in made:
        event.destroy(one)
    event.destroy_pool(pool)


def test_driver(bench: Bench) -> None:
    assert driver.get_api_version(bench.driver) >= 0x10004
    assert driver.get_driver_version(bench.driver) > 0
    extensions = driver.get_extension_properties(bench.driver)
    assert all(name and version >= 0 for name, version in extensions.items())
    assert driver.find_function(bench.driver, "zeThereIsNoSuchFunction") is None


def test_device(bench: Bench) -> None:
    properties = device.get_properties(bench.device)
    assert properties.type is device.DeviceType.GPU
    assert properties.name
    assert len(properties.uuid) == 16
    memories = device.get_memory_properties(bench.device)
    assert memories[0].total_size > 0
    assert properties.max_mem_alloc_size > 0
    access = device.get_memory_access_properties(bench.device)
    assert device.MemoryAccessCapFlag.RW in access.device & access.host
    groups = device.get_command_queue_group_properties(bench.device)
    assert device.CommandQueueGroupFlag.COMPUTE in groups[0].flags
    assert groups[0].num_queues > 0
    assert groups[0].max_memory_fill_pattern_size >= 16
    assert device.get_compute_properties(bench.device).max_total_group_size > 0
    assert isinstance(device.get_sub_devices(bench.device), list)
    for peer in device.get_devices(bench.driver):
        assert isinstance(device.can_access_peer(bench.device, peer), bool)
    first, second = (device.get_global_timestamps(bench.device) for _ in range(2))
    assert first[0] <= second[0]


def test_context(bench: Bench) -> None:
    context.get_status(bench.context)
    everything = context.create(bench.driver, [])
    context.destroy(everything)


@pytest.mark.parametrize("relaxed", [False, True], ids=["regular", "relaxed"])
@pytest.mark.parametrize("kind", [MemoryType.DEVICE, MemoryType.SHARED, MemoryType.HOST])
def test_memory(bench: Bench, kind: MemoryType, relaxed: bool) -> None:
    if kind is MemoryType.DEVICE:
        address = memory.alloc_device(bench.context, bench.device, 10_000, 4096, relaxed=relaxed)
    elif kind is MemoryType.SHARED:
        address = memory.alloc_shared(bench.context, bench.device, 10_000, 4096, relaxed=relaxed)
    else:
        address = memory.alloc_host(bench.context, 10_000, 4096, relaxed=relaxed)
    assert address % 4096 == 0
    properties = memory.get_alloc_properties(bench.context, address + 5000)
    assert properties.type is kind
    assert properties.page_size > 0
    if kind is not MemoryType.HOST:
        assert properties.device == bench.device
    base, size = memory.get_address_range(bench.context, address + 5000)
    assert base == address
    assert size >= 10_000
    context.make_memory_resident(bench.context, bench.device, address, 10_000)
    context.evict_memory(bench.context, bench.device, address, 10_000)
    if relaxed:
        memory.free_blocking(bench.context, address)
    else:
        memory.free(bench.context, address)
    assert memory.get_alloc_properties(bench.context, address).type is MemoryType.UNKNOWN


def test_sizes_that_no_device_has(bench: Bench) -> None:
    with pytest.raises(InvalidSizeError, match="Asked for 0 bytes"):
        memory.alloc_device(bench.context, bench.device, 0)
    too_large = device.get_properties(bench.device).max_mem_alloc_size + 1
    with pytest.raises(InvalidSizeError, match=f"Asked for {too_large} bytes"):
        memory.alloc_device(bench.context, bench.device, too_large)


def test_fill_and_copy(bench: Bench, events: Callable[[], EventHandle]) -> None:
    size = 4096
    source = memory.alloc_device(bench.context, bench.device, size)
    target = memory.alloc_host(bench.context, size)
    done = events()
    command_list.append_memory_fill(bench.list, source, b"urasync.", size)
    command_list.append_memory_copy(bench.list, target, source, size, done)
    assert event.host_synchronize(done, TIMEOUT_NS)
    assert event.query_status(done)
    assert read_memory(target, size) == b"urasync." * (size // 8)
    memory.free(bench.context, source)
    memory.free(bench.context, target)


def test_waits_and_time_outs(bench: Bench, events: Callable[[], EventHandle]) -> None:
    first, second, third, last = (events() for _ in range(4))
    target = memory.alloc_host(bench.context, 64)
    command_list.append_wait_on_events(bench.list, command_list.event_array([first, second]))
    command_list.append_memory_fill(bench.list, target, b"\x07", 64, third)
    command_list.append_barrier(bench.list, None, command_list.event_array([third]))
    command_list.append_signal_event(bench.list, last)
    event.host_signal(first)
    assert not event.host_synchronize(last, 0)
    assert not event.query_status(third)
    event.host_signal(second)
    assert event.host_synchronize(last, TIMEOUT_NS)
    assert event.query_status(third)
    assert read_memory(target, 64) == b"\x07" * 64
    event.host_reset(first)
    assert not event.query_status(first)
    command_list.append_event_reset(bench.list, last)
    command_list.append_signal_event(bench.list, first)
    assert event.host_synchronize(first, TIMEOUT_NS)
    assert not event.query_status(last)
    memory.free(bench.context, target)


def test_time_stamps(bench: Bench, events: Callable[[], EventHandle]) -> None:
    before, after = events(), events()
    with pytest.raises(ProfilingInfoNotAvailableError):
        event.query_kernel_timestamp(before)
    written = memory.alloc_host(bench.context, 8)
    command_list.append_signal_event(bench.list, before)
    command_list.append_write_global_timestamp(bench.list, written, None, None)
    command_list.append_barrier(bench.list, after)
    assert event.host_synchronize(after, TIMEOUT_NS)
    first, second = map(event.query_kernel_timestamp, (before, after))
    assert first.global_start <= first.global_end <= second.global_end
    assert first.context_start <= first.context_end
    assert int.from_bytes(read_memory(written, 8), "little") > 0
    memory.free(bench.context, written)


def test_counter_based_events_of_a_pool(bench: Bench) -> None:
    pool = event.create_pool(bench.context, [bench.device], 1, counter_based=True)
    one = event.create(pool, 0)
    for _ in range(3):
        command_list.append_signal_event(bench.list, one)
        assert event.host_synchronize(one, TIMEOUT_NS)
    event.destroy(one)
    event.destroy_pool(pool)


def test_counter_based_events_need_the_loader(bench: Bench) -> None:
    if not loader.has("zeEventCounterBasedCreate"):
        with pytest.raises(UrError, match=r"loader .*has no such entry"):
            event.create_counter_based(bench.context, bench.device)
        return
    one = event.create_counter_based(bench.context, bench.device, timestamp=True)
    command_list.append_signal_event(bench.list, one)
    assert event.host_synchronize(one, TIMEOUT_NS)
    event.destroy(one)


def test_list_synchronisation_needs_the_loader(bench: Bench) -> None:
    if not loader.has("zeCommandListHostSynchronize"):
        with pytest.raises(UrError, match=r"loader .*has no such entry"):
            command_list.host_synchronize(bench.list, 0)
        return
    assert command_list.host_synchronize(bench.list, TIMEOUT_NS)


def test_memory_advice(bench: Bench) -> None:
    address = memory.alloc_shared(bench.context, bench.device, 4096)
    advice = command_list.MemoryAdvice.SET_READ_MOSTLY
    command_list.append_mem_advise(bench.list, bench.device, address, 4096, advice)
    memory.free_blocking(bench.context, address)


def test_virtual_memory(bench: Bench, events: Callable[[], EventHandle]) -> None:
    page = virtual_memory.query_page_size(bench.context, bench.device, 2**21)
    assert page > 0
    size = 2 * page
    address = virtual_memory.reserve(bench.context, 4 * page)
    created: list[PhysicalMemHandle] = []
    virtual_memory.create_physical(bench.context, bench.device, [size], created)
    (physical,) = created
    target = memory.alloc_host(bench.context, size)
    done = events()
    virtual_memory.map_memory(bench.context, address + page, page, physical, page)
    virtual_memory.map_memory(bench.context, address, page, physical)
    command_list.append_memory_fill(bench.list, address, b"\x05", size)
    command_list.append_memory_copy(bench.list, target, address, size, done)
    assert event.host_synchronize(done, TIMEOUT_NS)
    assert read_memory(target, size) == b"\x05" * size
    virtual_memory.unmap(bench.context, address, page)
    virtual_memory.unmap(bench.context, address + page, page)
    virtual_memory.destroy_physical(bench.context, physical)
    virtual_memory.free(bench.context, address, 4 * page)
    memory.free(bench.context, target)


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (ZeResult.ERROR_OUT_OF_DEVICE_MEMORY, OutOfMemoryError),
        (ZeResult.ERROR_DEVICE_LOST, DeviceLostError),
        (0x71234567, UrError),
    ],
)
def test_failures_of_the_driver(
    bench: Bench, controls: Controls, result: int, kind: type[UrError]
) -> None:
    controls.fail("zeMemAllocDevice", 1, int(result))
    with pytest.raises(kind, match=r"zeMemAllocDevice: .* Asked for 777 bytes") as caught:
        memory.alloc_device(bench.context, bench.device, 777)
    assert f"0x{result:08x}" in str(caught.value)
    memory.free(bench.context, memory.alloc_device(bench.context, bench.device, 777))


def test_the_driver_counts_the_same_calls(bench: Bench, controls: Controls) -> None:
    entries = ("zeMemAllocHost", "zeMemGetAllocProperties", "zeMemFree")
    before = [counts.get(name, 0) for name in entries for counts in (loader.call_counts(),)]
    controls.reset_call_counts()
    for _ in range(3):
        address = memory.alloc_host(bench.context, 64)
        memory.get_alloc_properties(bench.context, address)
        memory.free(bench.context, address)
    after = [loader.call_counts()[name] for name in entries]
    assert [late - early for late, early in zip(after, before, strict=True)] == [3, 3, 3]
    theirs = controls.call_counts()
    assert [theirs[name] for name in entries] == [3, 3, 3]


def test_a_gate_holds_a_list(
    bench: Bench, controls: Controls, events: Callable[[], EventHandle]
) -> None:
    done = events()
    with controls.gate(handle_value(bench.list)):
        command_list.append_signal_event(bench.list, done)
        assert not event.query_status(done)
    assert event.host_synchronize(done, TIMEOUT_NS)


def test_a_child_forked_from_a_running_driver_makes_no_call() -> None:
    answer = run_program(
        """
import os
from urasync_l0.result import UrError
from urasync_l0.ze import command_list, context, device, driver, event, loader, memory

def program():
    loader.choose_driver("software")
    first = driver.get_drivers()[0]
    a_device = device.get_devices(first)[0]
    made = context.create(first, [a_device])
    a_list = command_list.create_immediate(made, a_device)
    address = memory.alloc_host(made, 64)
    calls = loader.total_calls()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        texts = []
        for work in (
            lambda: memory.free(made, address),
            lambda: command_list.destroy(a_list),
            lambda: context.destroy(made),
            driver.get_drivers,
        ):
            try:
                work()
                texts.append("no error")
            except UrError as error:
                texts.append("forked" if "forked" in str(error) else str(error))
        texts.append(str(loader.total_calls() - calls))
        os.write(writer, " ".join(texts).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        facts["child"] = stream.read()
    facts["status"] = os.waitpid(child, 0)[1]
    memory.free(made, address)
    command_list.destroy(a_list)
    context.destroy(made)
"""
    )
    assert answer == {"error": None, "child": "forked forked forked forked 0", "status": 0}
