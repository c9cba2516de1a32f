# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of contexts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from urasync_l0 import callback_error, reference_count
from urasync_l0.context import Context
from urasync_l0.entry_points._handles import close_unused, flags, handle, live_context, pointer
from urasync_l0.enums import ContextFlag, ContextInfo
from urasync_l0.info import BOOL, HANDLES, UINT32, InfoTable, Property
from urasync_l0.result import InvalidSizeError
from urasync_l0.ze.handles import context_from, handle_value

if TYPE_CHECKING:
    from urasync_l0.descriptors import ContextProperties, NativeHandleProperties
    from urasync_l0.device import Device
    from urasync_l0.entry_points.base import Adapter
    from urasync_l0.out import Out

_INFO: InfoTable[Context] = InfoTable(
    {
        ContextInfo.NUM_DEVICES: Property(UINT32, lambda context: len(context.devices)),
        ContextInfo.DEVICES: Property(HANDLES, lambda context: tuple(context.devices)),
        ContextInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        ContextInfo.USM_MEMCPY2D_SUPPORT: Property(BOOL, lambda context: True),
        ContextInfo.USM_FILL2D_SUPPORT: Property(BOOL, lambda context: True),
    },
    live=live_context,
)

_Deleter = tuple[Callable[[Any], object], Any]
_deleters: WeakKeyDictionary[Context, list[_Deleter]] = WeakKeyDictionary()
_deleters_lock = threading.Lock()


class ContextEntryPoints:
    """``urContext…``."""

    name: str

    def urContextCreate(
        self,
        device_count: int,
        devices: Sequence[Device | None] | None,
        properties: ContextProperties | None,
        context: Out[Context] | None,
    ) -> None:
        """A context on devices of one platform."""
        devices = pointer(devices, "devices")
        context = pointer(context, "context")
        chosen = _devices(device_count, devices)
        if properties is not None:
            flags(properties.flags, ContextFlag.TBD, "The context's flags")
        if not chosen:
            raise InvalidSizeError("A context needs at least one device.")
        context.value = Context(self.name, devices=chosen)

    def urContextRetain(self, context: Context | None) -> None:
        """Add a reference."""
        reference_count.retain(live_context(handle(context, "context")))

    def urContextRelease(self, context: Context | None) -> None:
        """Give a reference back. After the last one the handle is dead, and the context is closed
        as soon as no queue, pool, event or allocation of it is left."""
        released = handle(context, "context")
        # One that the driver did not let go is closed by now, and can be released again.
        if released.native.is_released or not released.is_closed:
            live_context(released)
        reference_count.release(released, lambda: _end(released))

    def urContextGetInfo(
        self,
        context: Context | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ContextInfo`."""
        context = handle(context, "context")
        _INFO.answer(context, prop_name, prop_size, prop_value, prop_size_ret)

    def urContextGetNativeHandle(
        self, context: Context | None, native_context: Out[int] | None
    ) -> None:
        """The ``ze_context_handle_t``."""
        context = handle(context, "context")
        native_context = pointer(native_context, "native_context")
        native_context.value = handle_value(live_context(context).native.handle)

    def urContextCreateWithNativeHandle(
        self,
        native_context: int,
        adapter: Adapter | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        properties: NativeHandleProperties | None,
        context: Out[Context] | None,
    ) -> None:
        """A context over a ``ze_context_handle_t``; without devices, on all of the platform.

        One that contexts of ours own is destroyed with the last of them, whether owned or not. What
        is no such handle cannot be told from one.
        """
        handle(native_context or None, "native context")
        handle(adapter, "adapter")
        context = pointer(context, "context")
        chosen = _devices(num_devices, devices or ())
        context.value = Context(
            self.name,
            devices=chosen or None,
            native_handle=context_from(native_context),
            is_native_handle_owned=properties is not None and properties.is_native_handle_owned,
        )

    def urContextSetExtendedDeleter(
        self, context: Context | None, deleter: Callable[[Any], object] | None, user_data: Any
    ) -> None:
        """Have a function called, with the data, when the context's last reference is released.

        What it raises goes to ``threading.excepthook``, and the release succeeds.
        """
        context = handle(context, "context")
        deleter = pointer(deleter, "deleter")
        live_context(context)
        with _deleters_lock:
            _deleters.setdefault(context, []).append((deleter, user_data))


def _devices(count: int, devices: Sequence[Device | None]) -> list[Device]:
    if count != len(devices):
        raise InvalidSizeError(f"{len(devices)} devices are given, but {count} are counted.")
    return [handle(device, "device") for device in devices]


def _end(context: Context) -> None:
    """Call the deleters, each once and in their order, and close the context if nobody uses it.

    What one of them raises is told, and keeps neither the others nor the release from their work.
    """
    with _deleters_lock:
        deleters = _deleters.pop(context, [])
    for deleter, user_data in deleters:
        try:
            deleter(user_data)
        except Exception as error:
            callback_error.tell(error)
    close_unused(context)
