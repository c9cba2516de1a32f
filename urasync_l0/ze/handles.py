# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One type for each kind of Level Zero handle.

At run time a handle is the raw cffi pointer, and cffi refuses a pointer of another kind with a
TypeError. For mypy each kind is a type of its own.
"""

from typing import NewType

from urasync_l0.ze._extension import CData, ffi

DriverHandle = NewType("DriverHandle", CData)
DeviceHandle = NewType("DeviceHandle", CData)
ContextHandle = NewType("ContextHandle", CData)
CommandListHandle = NewType("CommandListHandle", CData)
CommandQueueHandle = NewType("CommandQueueHandle", CData)
EventPoolHandle = NewType("EventPoolHandle", CData)
EventHandle = NewType("EventHandle", CData)
FenceHandle = NewType("FenceHandle", CData)
PhysicalMemHandle = NewType("PhysicalMemHandle", CData)
ModuleHandle = NewType("ModuleHandle", CData)
KernelHandle = NewType("KernelHandle", CData)

AnyHandle = (
    DriverHandle
    | DeviceHandle
    | ContextHandle
    | CommandListHandle
    | CommandQueueHandle
    | EventPoolHandle
    | EventHandle
    | FenceHandle
    | PhysicalMemHandle
    | ModuleHandle
    | KernelHandle
)


def command_list_from(value: int) -> CommandListHandle:
    """The list of a number that somebody was given for it."""
    return CommandListHandle(ffi.cast("ze_command_list_handle_t", value))


def event_from(value: int) -> EventHandle:
    """The event of a number that somebody was given for it."""
    return EventHandle(ffi.cast("ze_event_handle_t", value))


def context_from(value: int) -> ContextHandle:
    """The context of a number that somebody was given for it."""
    return ContextHandle(ffi.cast("ze_context_handle_t", value))


def module_from(value: int) -> ModuleHandle:
    """The module of a number that somebody was given for it."""
    return ModuleHandle(ffi.cast("ze_module_handle_t", value))


def kernel_from(value: int) -> KernelHandle:
    """The kernel of a number that somebody was given for it."""
    return KernelHandle(ffi.cast("ze_kernel_handle_t", value))


def handle_value(handle: AnyHandle) -> int:
    """The handle as a number, for messages and for the software driver's controls."""
    return int(ffi.cast("uintptr_t", handle))
