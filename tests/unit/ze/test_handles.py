# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handles of different kinds do not mix, at run time and for mypy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.type_checker import check_marked_errors
from urasync_l0.ze import command_list, context, device, event, virtual_memory
from urasync_l0.ze._extension import ffi
from urasync_l0.ze.handles import ContextHandle, EventHandle, handle_value

KINDS = (
    *("driver", "device", "context", "command_list", "command_queue"),
    *("event_pool", "event", "fence", "physical_mem"),
)


def made_up(kind: str) -> Any:
    return ffi.cast(f"ze_{kind}_handle_t", 0x1000)


# The loader is never reached: cffi refuses the arguments first.
CALLS: dict[str, Callable[[Any], object]] = {
    "command_list": command_list.destroy,
    "context": context.destroy,
    "device": device.get_properties,
    "event": event.query_status,
    "event_pool": event.destroy_pool,
    "physical_mem": lambda handle: virtual_memory.destroy_physical(made_up("context"), handle),
}


@pytest.mark.parametrize("given", KINDS)
@pytest.mark.parametrize("wanted", CALLS)
def test_another_kind_is_a_type_error(wanted: str, given: str) -> None:
    if given == wanted:
        return
    with pytest.raises(TypeError, match=f"_ze_{wanted}_handle_t"):
        CALLS[wanted](made_up(given))


def test_numbers_and_none_are_no_handles() -> None:
    for wrong in (0, 0x1000, None, "list", b"list"):
        with pytest.raises(TypeError):
            command_list.destroy(wrong)  # type: ignore[arg-type]


def test_an_array_takes_events_only() -> None:
    events = [EventHandle(made_up("event"))] * 3
    assert len(command_list.event_array(events)) == 3
    with pytest.raises(TypeError):
        command_list.event_array([made_up("event"), made_up("fence")])


def test_the_value_of_a_handle() -> None:
    assert handle_value(ContextHandle(made_up("context"))) == 0x1000


SAMPLE = """
from urasync_l0.ze import command_list, context, event, memory, virtual_memory
from urasync_l0.ze.handles import (
    CommandListHandle, ContextHandle, DeviceHandle, EventHandle, EventPoolHandle, PhysicalMemHandle,
)


def right(
    a_list: CommandListHandle,
    a_context: ContextHandle,
    a_device: DeviceHandle,
    an_event: EventHandle,
    a_pool: EventPoolHandle,
    physical: PhysicalMemHandle,
) -> None:
    command_list.append_signal_event(a_list, an_event)
    command_list.append_wait_on_events(a_list, command_list.event_array([an_event]))
    memory.alloc_device(a_context, a_device, 64)
    virtual_memory.destroy_physical(a_context, physical)
    event.destroy_pool(a_pool)


def wrong(
    a_list: CommandListHandle,
    a_context: ContextHandle,
    a_device: DeviceHandle,
    an_event: EventHandle,
    a_pool: EventPoolHandle,
    physical: PhysicalMemHandle,
) -> None:
    command_list.append_signal_event(an_event, an_event)  # error
    command_list.append_signal_event(a_list, a_list)  # error
    command_list.append_wait_on_events(a_list, an_event)  # error
    command_list.event_array([a_pool])  # error
    memory.alloc_device(a_device, a_device, 64)  # error
    virtual_memory.destroy_physical(a_context, a_context)  # error
    event.destroy_pool(physical)  # error
    context.destroy(0)  # error
"""


@pytest.mark.slow
def test_mypy_refuses_another_kind(tmp_path: Path) -> None:
    check_marked_errors(SAMPLE, tmp_path)
