# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queues and events of a context: new ones, and those over native objects of somebody else's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from urasync_l0.device import Device
from urasync_l0.enums import NO_QUEUE_FLAGS, Command, QueueFlag
from urasync_l0.native_context import NativeContext
from urasync_l0.native_list import (
    NativeList,
    adopt_native_list,
    checked_flags,
    create_native_list,
    device_of_owned,
)
from urasync_l0.open_contexts import open_contexts
from urasync_l0.pool import QueueOrder
from urasync_l0.queue import Queue
from urasync_l0.recorded_event import Event
from urasync_l0.result import (
    InvalidContextError,
    InvalidDeviceError,
    InvalidEventError,
    UnsupportedFeatureError,
    UrError,
)
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import loader
from urasync_l0.ze.handles import (
    CommandListHandle,
    command_list_from,
    event_from,
    handle_value,
)

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.entry_points import Adapter


class QueueContext(ABC):
    """A context as far as it makes queues and events; `Context` adds the rest."""

    native: NativeContext
    devices: Sequence[Device]
    _adapter: Adapter

    @abstractmethod
    def member(self, device: Device | int | None) -> Device:
        """A device of the context, by default the first, or the one at a place."""

    def create_queue(
        self,
        device: Device | int | None = None,
        *,
        flags: QueueFlag | int = NO_QUEUE_FLAGS,
        index: int | None = None,
    ) -> Queue:
        """A new queue on a device, by default the first.

        Parameters
        ----------
        flags
            ``PROFILING_ENABLE``: its events tell when their commands ran (`Event.profile`).
            ``PRIORITY_LOW``, ``PRIORITY_HIGH``: that of the native queue.
            ``OUT_OF_ORDER_EXEC_MODE_ENABLE``: accepted; commands run in order all the same.
            ``SUBMISSION_BATCHED``, ``SUBMISSION_IMMEDIATE``: accepted; commands are submitted at
            once. ``DISCARD_EVENTS``: accepted; a command without an event costs none anyway, and
            one that asks for an event still gets it. ``USE_DEFAULT_STREAM``,
            ``SYNC_WITH_DEFAULT_STREAM``, ``LOW_POWER_EVENTS_SUPPORT_EXP``: accepted, as hints that
            mean nothing here.
        index
            Which of the device's compute queues it uses; None lets new queues take turns.

        Raises
        ------
        InvalidDeviceError
            If the context does not have the device.
        InvalidEnumerationError
            If there is a flag that does not exist.
        InvalidQueuePropertiesError
            If two flags exclude each other, or the queue is to be on the device.
        InvalidValueError
            If the device has no queue of that index.
        UnsupportedFeatureError
            If events with time stamps are asked for and the driver has none.
        """
        chosen = self._open(device)
        with self.native.loss:  # as one call: a context that ends meanwhile closes the queue
            native = create_native_list(self.native, chosen, checked_flags(flags), index)
            try:
                return self._queue(native)
            except BaseException:
                with suppress(UrError):  # what failed first matters more
                    native.give_back(self.native)
                raise

    def create_queue_with_native_handle(
        self,
        handle: CommandListHandle | int,
        device: Device | int | None = None,
        *,
        flags: QueueFlag | int = NO_QUEUE_FLAGS,
        is_owned: bool = False,
    ) -> Queue:
        """A queue over an immediate list that somebody else made, which must be in-order.

        Others may go on appending to the list, but no two threads may at the same time. It must not
        be destroyed before the queue is closed. Closing the queue waits for the list, and destroys
        it if it is owned. The list of a queue of ours is destroyed with the last queue over it,
        whether owned or not. What is no list cannot be told from one, and does harm in the driver.

        Parameters
        ----------
        device
            The list's device; None to ask the driver.
        flags
            As in `create_queue`; what the list itself is like, such as its priority, they do not
            change.

        Raises
        ------
        InvalidDeviceError
            If the context does not have the device, if it is not the list's, as far as the driver
            can tell, or if the driver cannot be asked and the context has several.
        InvalidEnumerationError, InvalidQueuePropertiesError
            As `create_queue`.
        InvalidContextError
            If the list belongs to a queue of ours in another native context.
        UnsupportedFeatureError
            If the list is no immediate one.
        """
        native = command_list_from(handle) if isinstance(handle, int) else handle
        if self.native.attention:
            self.native.attend()
        chosen_flags = checked_flags(flags)
        with self.native.loss:  # as one call
            chosen = self._device_of(native, None if device is None else self.member(device))
            adopted = adopt_native_list(self.native, chosen, native, chosen_flags, is_owned)
            try:
                self._require_immediate(native)
                return self._queue(adopted)
            except BaseException:
                adopted.abandon()
                raise

    def _require_immediate(self, native: CommandListHandle) -> None:
        if loader.has("zeCommandListIsImmediate") and not ze_list.is_immediate(native):
            raise UnsupportedFeatureError(
                f"The list {handle_value(native):#x} is no immediate list; queues need one."
            )

    def create_event_with_native_handle(self, handle: int, *, is_owned: bool = False) -> Event:
        """An event over a native one that somebody else made and signals.

        The host and every queue of the context can wait for it. It must not be reset or destroyed
        before the event is released and the queues have passed their waits; if it is owned, it is
        destroyed then. It proves nothing about the order of any queue of ours, so memory that a
        queue freed before it is not known to be free by it. The handle 0 gives an event that has
        happened.

        The handle of an event of ours gives a second event for the same command: it tells the
        queue, is in its order, and keeps the native event, whether owned or not, which stays ours.
        What is no event cannot be told from one, and does harm in the driver.

        Raises
        ------
        InvalidEventError
            If the native event is ours and stands for no command, since its event was released.
        InvalidContextError
            If it is an event of ours, of another context.
        """
        if self.native.attention:
            self.native.attend()
        event = event_from(handle)
        for context in open_contexts():
            ours = context.find_event(event) if handle else None
            if ours is None:
                continue
            if context is not self.native:
                raise InvalidContextError(
                    f"The native event {handle:#x} belongs to an event of another context."
                )
            if not (hasattr(ours, "mark") and ours.hold()):
                raise InvalidEventError(
                    f"The event of ours that had the native event {handle:#x} is released."
                )
            queue = self._queue_of(ours.mark.order)
            return Event(queue, ours, Command.ENQUEUE_NATIVE_EXP, cast("Context", self))
        native = self.native.foreign_events.adopt(event, is_owned=is_owned)
        return Event(None, native, Command.ENQUEUE_NATIVE_EXP, cast("Context", self))

    def _queue_of(self, order: QueueOrder) -> Queue | None:
        for finalizer in list(self.native.finalizers.values()):
            owner = finalizer()
            if isinstance(owner, Queue) and owner.order is order:
                return owner
        return None

    def _open(self, device: Device | int | None) -> Device:
        if self.native.attention:
            self.native.attend()
        return self.member(device)

    def _device_of(self, native: CommandListHandle, named: Device | None) -> Device:
        """The device of a list: the one that is named, if what is known says nothing else."""
        ours = device_of_owned(native)
        if ours is not None:
            wanted = ours.native_value
        elif loader.has("zeCommandListGetDeviceHandle"):
            wanted = handle_value(ze_list.get_device(native))
        elif named is not None or len(self.devices) == 1:
            return named or self.devices[0]
        else:
            raise InvalidDeviceError(
                f"The loader cannot tell which of the context's {len(self.devices)} devices the "
                f"list {handle_value(native):#x} belongs to; name the device."
            )
        candidates = self.native.devices if named is None else (named,)
        if ours is not None and ours in candidates:
            return ours
        for device in candidates:
            if device.native_value == wanted:
                return device
        raise InvalidDeviceError(
            f"The list {handle_value(native):#x} belongs to no device of the context."
            if named is None
            else f"The list {handle_value(native):#x} does not belong to {named!r}."
        )

    def _queue(self, native: NativeList) -> Queue:
        if native.flags & QueueFlag.PROFILING_ENABLE:
            self.native.event_source(native.device, timestamps=True)
        self.native.close_abandoned()
        return self._adapter.create_queue(cast("Context", self), native)
