# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native immediate lists: what queue flags ask of them, and how they are made."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from urasync_l0.device import Device
from urasync_l0.enums import NO_QUEUE_FLAGS, QueueFlag
from urasync_l0.native_context import NativeContext
from urasync_l0.native_share import NativeShares
from urasync_l0.result import (
    InvalidContextError,
    InvalidEnumerationError,
    InvalidQueuePropertiesError,
    InvalidValueError,
)
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze.command_list import Priority
from urasync_l0.ze.handles import CommandListHandle, handle_value

_ALL = QueueFlag((1 << 12) - 1)
_ON_DEVICE = QueueFlag.ON_DEVICE | QueueFlag.ON_DEVICE_DEFAULT
_EXCLUSIVE = (
    QueueFlag.PRIORITY_LOW | QueueFlag.PRIORITY_HIGH,
    QueueFlag.SUBMISSION_BATCHED | QueueFlag.SUBMISSION_IMMEDIATE,
)


@dataclass(frozen=True, slots=True)
class NativeList:
    """An in-order immediate list on a device, with the flags of its queue.

    Attributes
    ----------
    is_owned
        Whether it is destroyed with the last of its queues.
    """

    device: Device
    handle: CommandListHandle
    flags: QueueFlag = NO_QUEUE_FLAGS
    is_owned: bool = True

    @property
    def is_exclusive(self) -> bool:
        """Whether nobody else appends to it."""
        return self.is_owned and not _shares.is_shared(handle_value(self.handle))

    def abandon(self) -> None:
        """There is no queue over the list after all: it is as before."""
        if self.is_owned:
            _shares.let_go(handle_value(self.handle))

    def give_back(self, context: NativeContext) -> None:
        """Destroy the list if it is owned and no other queue of ours is over it."""
        if self.is_owned:
            with context.loss:
                _shares.give_back(handle_value(self.handle), partial(ze_list.destroy, self.handle))


class _OwnedList(NamedTuple):
    device: Device
    context: int


_shares: NativeShares[_OwnedList] = NativeShares()
"""The lists that queues of ours own, with their device and native context."""


def device_of_owned(handle: CommandListHandle) -> Device | None:
    """The device of a list that a queue of ours owns; None for any other list."""
    about = _shares.about(handle_value(handle))
    return None if about is None else about.device


def checked_flags(flags: int) -> QueueFlag:
    """The flags of a queue, if there can be such a queue.

    Raises
    ------
    InvalidEnumerationError
        If there is a flag that does not exist.
    InvalidQueuePropertiesError
        If two exclude each other, or the queue is to be on the device.
    """
    flags = operator.index(flags)
    unknown = flags & ~int(_ALL)
    if unknown:
        raise InvalidEnumerationError(f"Queue flags {flags:#x} have unknown bits {unknown:#x}.")
    chosen = QueueFlag(flags)
    if chosen & _ON_DEVICE:
        raise InvalidQueuePropertiesError(f"{chosen!r}: Level Zero has no queues on the device.")
    for both in _EXCLUSIVE:
        if chosen & both == both:
            raise InvalidQueuePropertiesError(f"{chosen!r}: {both!r} exclude each other.")
    return chosen


def create_native_list(
    context: NativeContext, device: Device, flags: QueueFlag, index: int | None
) -> NativeList:
    """A list of our own; ``index`` chooses one of the device's queues, None takes turns.

    Raises
    ------
    InvalidValueError
        If the device does not have so many queues.
    """
    if index is not None:
        index = operator.index(index)
        count = device.compute_queues
        if not 0 <= index < count:
            raise InvalidValueError(
                f"{device!r} has no queue {index}; its compute queues are 0 to {count - 1}."
            )
    if index is None or device.slice is not None:
        index = device.next_queue_index()
    priority = Priority.NORMAL
    if flags & QueueFlag.PRIORITY_LOW:
        priority = Priority.LOW
    elif flags & QueueFlag.PRIORITY_HIGH:
        priority = Priority.HIGH
    with context.loss:
        handle = ze_list.create_immediate(
            context.handle,
            device.handle,
            ordinal=device.queue_ordinal,
            index=index,
            priority=priority,
        )
    _shares.own(handle_value(handle), _OwnedList(device, handle_value(context.handle)))
    return NativeList(device, handle, flags)


def adopt_native_list(
    context: NativeContext,
    device: Device,
    handle: CommandListHandle,
    flags: QueueFlag,
    is_owned: bool,
) -> NativeList:
    """A list that exists. One that a queue of ours owns is destroyed with the last of them.

    Raises
    ------
    InvalidContextError
        If a queue of ours owns it, in another native context.
    """
    value = handle_value(handle)
    about = _shares.about(value)
    here = _OwnedList(device, handle_value(context.handle))
    if about is not None and about.context != here.context:
        raise InvalidContextError(
            f"The list {value:#x} belongs to a queue of another context, in which alone it works."
        )
    return NativeList(device, handle, flags, _shares.adopt(value, here, is_owned=is_owned))
