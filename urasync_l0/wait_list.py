# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wait list: checked, and reduced to what a queue really has to wait for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from urasync_l0.pool import Mark
from urasync_l0.recorded_event import Event
from urasync_l0.result import InvalidEventWaitListError

if TYPE_CHECKING:
    from urasync_l0.usm_queue import UsmQueue


class WaitList(NamedTuple):
    """Events to append a wait for, and their marks."""

    events: tuple[Event, ...] = ()
    marks: tuple[Mark, ...] = ()


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
    observer = queue.native.registry.observer
    awaited: list[Event] = []
    marks: list[Mark] = []
    for event in (events,) if isinstance(events, Event) else events:
        if not isinstance(event, Event):
            raise InvalidEventWaitListError(
                f"The wait list of {queue!r} holds {event!r}, no event."
            )
        if event.context is not queue.context:
            raise InvalidEventWaitListError(
                f"The wait list of {queue!r} holds {event!r}, which belongs to another context."
            )
        if event.is_released:
            raise InvalidEventWaitListError(f"The wait list of {queue!r} holds {event!r}.")
        mark = event.mark
        owner = mark.order
        if observer is not None and owner is not order:
            observer.waits(order, mark)
        if owner is order or mark.is_complete() or clock.get(owner, 0) >= mark.number:
            continue
        awaited.append(event)
        marks.append(mark)
    return WaitList(tuple(awaited), tuple(marks)) if awaited else NO_WAITS
