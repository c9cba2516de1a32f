# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wait list: checked, and reduced to what a queue really has to wait for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from urasync_l0.event_source import NativeEvent
from urasync_l0.pool import Mark
from urasync_l0.recorded_event import Event
from urasync_l0.result import InvalidEventWaitListError

if TYPE_CHECKING:
    from urasync_l0.usm_queue import UsmQueue


class WaitList(NamedTuple):
    """Events to append a wait for, and their marks."""

    natives: tuple[NativeEvent, ...] = ()
    marks: tuple[Mark, ...] = ()
    held: tuple[Event, ...] = ()


NO_WAITS = WaitList()


def resolve(queue: UsmQueue, events: Iterable[Event] | Event) -> WaitList:
    """What ``queue`` has to wait for, to run after ``events``.

    Left out are events that are known complete, those of the queue itself, and those that the queue
    is already ordered after. They must be valid all the same.

    Raises
    ------
    InvalidEventWaitListError
        If an entry is no event, is released, or belongs to another context.
    """
    order = queue.order
    clock = order.clock
    natives: list[NativeEvent] = []
    marks: list[Mark] = []
    held: list[Event] = []
    for event in (events,) if isinstance(events, Event) else events:
        if not isinstance(event, Event):
            raise InvalidEventWaitListError(
                f"The wait list of {queue!r} holds {event!r}, no event."
            )
        if event.queue.context is not queue.context:
            raise InvalidEventWaitListError(
                f"The wait list of {queue!r} holds {event!r}, which belongs to another context."
            )
        if event.is_released:
            raise InvalidEventWaitListError(f"The wait list of {queue!r} holds {event!r}.")
        mark = event.mark
        owner = mark.order
        if owner is order or mark.is_complete() or clock.get(owner, 0) >= mark.number:
            continue
        held.append(event)
        natives.append(event.native)
        marks.append(mark)
    return WaitList(tuple(natives), tuple(marks), tuple(held)) if natives else NO_WAITS
