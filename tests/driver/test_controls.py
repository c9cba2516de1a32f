# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver's controls from Python. What they do is tested in C; here: that they arrive."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.threads import InThread
from urasync_l0.result import (
    DeviceLostError,
    DriverNotFoundError,
    InvalidOperationError,
    InvalidValueError,
    OutOfMemoryError,
    UrError,
)
from urasync_l0.software_driver import library, library_path
from urasync_l0.software_driver.controls import Controls, LiveObject
from urasync_l0.ze import command_list, context, device, driver, event, loader, memory
from urasync_l0.ze.handles import CommandListHandle, ContextHandle, DeviceHandle, handle_value

TIMEOUT_NS = 10_000_000_000
DEVICE_LOST = 0x70000001


@dataclass(frozen=True)
class Bench:
    """A context with one in-order list on the first device."""

    controls: Controls
    device: DeviceHandle
    context: ContextHandle
    list: CommandListHandle

    @property
    def list_value(self) -> int:
        return handle_value(self.list)

    def append(self, count: int = 1) -> None:
        for _ in range(count):
            command_list.append_barrier(self.list, None, None)

    def finish(self, number: int) -> None:
        assert self.controls.wait_completed(self.list_value, number, TIMEOUT_NS)


@pytest.fixture
def bench() -> Iterator[Bench]:
    loader.choose_driver("software")
    loader.initialise()
    controls = Controls()
    first_driver = driver.get_drivers()[0]
    first_device = device.get_devices(first_driver)[0]
    before = controls.live_objects()
    made = context.create(first_driver, [first_device])
    a_list = command_list.create_immediate(made, first_device)
    yield Bench(controls, first_device, made, a_list)
    controls.clear_failures()
    controls.open_all_gates()
    command_list.destroy(a_list)
    context.destroy(made)
    assert controls.live_objects() == before


def test_a_gate_holds_and_counts(bench: Bench) -> None:
    gate = bench.controls.gate(bench.list_value)
    assert gate.depth == 0
    with gate, gate:
        assert gate.depth == 2
        assert not gate.wait_reached(0)
        bench.append()
        assert gate.wait_reached(TIMEOUT_NS)
        progress = bench.controls.list_progress(bench.list_value)
        assert (progress.appended, progress.completed) == (1, 0)
    bench.finish(1)
    with pytest.raises(InvalidOperationError, match="is not closed"):
        gate.open()
    with pytest.raises(InvalidValueError, match="no live object with the handle 0x7"):
        bench.controls.gate(7).close()


def test_a_limit_lets_a_number_through(bench: Bench) -> None:
    controls = bench.controls
    controls.limit_gate(bench.list_value, 2)
    bench.append(3)
    bench.finish(2)
    assert controls.gate(bench.list_value).wait_reached(TIMEOUT_NS)
    assert controls.list_progress(bench.list_value).completed == 2
    assert not controls.wait_completed(bench.list_value, 3, 0)
    controls.limit_gate(bench.list_value, None)
    bench.finish(3)


def test_new_lists_begin_behind_a_gate(bench: Bench) -> None:
    controls = bench.controls
    controls.close_gate_of_new_lists()
    held = command_list.create_immediate(bench.context, bench.device)
    controls.open_gate_of_new_lists()
    free = command_list.create_immediate(bench.context, bench.device)
    assert controls.gate(handle_value(held)).depth == 1
    assert controls.gate(handle_value(free)).depth == 0
    controls.open_all_gates()
    assert controls.gate(handle_value(held)).depth == 0
    command_list.destroy(held)
    command_list.destroy(free)
    with pytest.raises(InvalidOperationError):
        controls.open_gate_of_new_lists()
    with pytest.raises(InvalidValueError, match="out of range"):
        controls.close_gate_of_new_lists(99)


def test_events_tell_their_place_in_the_order(bench: Bench) -> None:
    controls = bench.controls
    pool = event.create_pool(bench.context, [bench.device], 2)
    first, second = event.create(pool, 0), event.create(pool, 1)
    with controls.gate(bench.list_value):
        command_list.append_signal_event(bench.list, second)
        command_list.append_signal_event(bench.list, first)
        assert controls.event_serial(handle_value(first)) is None
    assert event.host_synchronize(first, TIMEOUT_NS)
    serials = [controls.event_serial(handle_value(one)) for one in (second, first)]
    assert None not in serials
    assert serials == sorted(serials, key=lambda serial: serial or 0)
    assert controls.commands_completed() >= (serials[1] or 0)
    event.destroy(first)
    event.destroy(second)
    event.destroy_pool(pool)


def test_planned_calls_fail(bench: Bench) -> None:
    controls = bench.controls
    before = controls.failures_delivered()
    controls.fail("zeContextGetStatus", 2, DEVICE_LOST, times=2)
    context.get_status(bench.context)
    for _ in range(2):
        with pytest.raises(DeviceLostError):
            context.get_status(bench.context)
    context.get_status(bench.context)
    controls.fail("zeContextGetStatus", 1, DEVICE_LOST, times=0)
    controls.clear_failures()
    context.get_status(bench.context)
    assert controls.failures_delivered() - before == 2
    with pytest.raises(InvalidValueError, match="no entry 'zeNothing'"):
        controls.fail("zeNothing", 1, DEVICE_LOST)
    with pytest.raises(InvalidValueError, match="out of range"):
        controls.fail("zeMemFree", 0, DEVICE_LOST)


def test_a_planned_call_is_slow(bench: Bench) -> None:
    controls = bench.controls
    assert not controls.wait_slow(0)
    controls.slow_down("zeContextGetStatus", 2)
    context.get_status(bench.context)
    assert not controls.wait_slow(0)
    thread = InThread(lambda: context.get_status(bench.context))
    assert controls.wait_slow(TIMEOUT_NS)
    context.get_status(bench.context)  # others are as quick as ever
    assert controls.wait_slow(0)
    assert thread.is_alive()
    controls.hurry()
    thread.result()
    assert not controls.wait_slow(0)
    controls.slow_down("zeContextGetStatus", 1, 1_000_000)
    context.get_status(bench.context)  # for no longer than that
    controls.slow_down("zeContextGetStatus", 1)
    controls.hurry()
    context.get_status(bench.context)
    with pytest.raises(InvalidValueError, match="no entry 'zeNothing'"):
        controls.slow_down("zeNothing", 1)
    with pytest.raises(InvalidValueError, match="out of range"):
        controls.slow_down("zeMemFree", 0)


def test_device_memory_has_a_limit(bench: Bench) -> None:
    controls = bench.controls
    limit = controls.device_memory()
    used = controls.used_device_memory()
    try:
        controls.set_device_memory(0, used + 5000)
        address = memory.alloc_device(bench.context, bench.device, 3000, 0)
        assert controls.free_device_memory() == 2000
        assert controls.used_device_memory() == used + 3000
        with pytest.raises(OutOfMemoryError):
            memory.alloc_device(bench.context, bench.device, 2001, 0)
        context.make_memory_resident(bench.context, bench.device, address, 3000)
        assert controls.resident_bytes() >= 3000
        memory.free(bench.context, address)
    finally:
        controls.set_device_memory(0, limit)
    assert controls.device_memory() == limit
    with pytest.raises(InvalidValueError):
        controls.set_device_memory(99, 1)


def test_calls_are_counted(bench: Bench) -> None:
    controls = bench.controls
    controls.reset_call_counts()
    assert controls.call_counts() == {}
    context.get_status(bench.context)
    context.get_status(bench.context)
    assert controls.call_counts() == {"zeContextGetStatus": 2}
    assert controls.calls("zeContextGetStatus") == controls.total_calls() == 2
    with pytest.raises(InvalidValueError):
        controls.calls("zeNothing")
    entries = controls.entries()
    assert entries["zeMemFree"]
    assert not entries["zeImageCreate"]


def test_live_objects_have_rows(bench: Bench) -> None:
    controls = bench.controls
    address = memory.alloc_device(bench.context, bench.device, 4321, 0)
    row = next(row for row in controls.live_table() if row.handle == address)
    assert row == LiveObject("device_memory", address, 4321, row.serial, "zeMemAllocDevice", 0)
    lists = [row for row in controls.live_table() if row.handle == bench.list_value]
    assert [(one.kind, one.bytes) for one in lists] == [("command_list", 0)]
    assert lists[0].serial < row.serial
    owner = next(row for row in controls.live_table() if row.handle == handle_value(bench.context))
    assert (owner.kind, owner.device) == ("context", None)
    memory.free(bench.context, address)
    assert all(row.handle != address for row in controls.live_table())


def test_a_table_of_many_objects_is_whole(bench: Bench) -> None:
    pool = event.create_pool(bench.context, [bench.device], 300)
    events = [event.create(pool, index) for index in range(300)]
    serials = [row.serial for row in bench.controls.live_table()]
    assert serials == sorted(set(serials))
    handles = {row.handle for row in bench.controls.live_table() if row.kind == "event"}
    assert handles >= {handle_value(one) for one in events}
    assert bench.controls.live_objects()["event"] == len(handles)
    for one in events:
        event.destroy(one)
    event.destroy_pool(pool)


def test_a_driver_that_was_not_built_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert Path(library_path()).is_absolute()
    monkeypatch.setattr(library, "_LIBRARY", tmp_path / "nothing.so")
    with pytest.raises(DriverNotFoundError, match=r"nothing\.so.*libze-dev"):
        library_path()


def test_controls_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urasync_l0.software_driver.controls._VERSION", 99)
    with pytest.raises(UrError, match="needs version 99"):
        Controls()
