# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native immediate lists: what queue flags ask of them, and how they are made."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from urasync_l0.device import Device
from urasync_l0.enums import NO_QUEUE_FLAGS, QueueFlag
from urasync_l0.native_context import NativeContext
from urasync_l0.result import (
    InvalidEnumerationError,
    InvalidQueuePropertiesError,
    InvalidValueError,
)
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze.command_list import Priority
from urasync_l0.ze.handles import CommandListHandle

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
        Whether it is destroyed with its queue.
    """

    device: Device
    handle: CommandListHandle
    flags: QueueFlag = NO_QUEUE_FLAGS
    is_owned: bool = True


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
    return NativeList(device, handle, flags)
