# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that all entry points share, in the order in which they are made."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from urasync_l0 import reference_count
from urasync_l0.result import (
    InvalidContextError,
    InvalidEnumerationError,
    InvalidEventError,
    InvalidEventWaitListError,
    InvalidNullHandleError,
    InvalidNullPointerError,
    InvalidQueueError,
    InvalidValueError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urasync_l0.buffer import Buffer
    from urasync_l0.context import Context
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.usm_pool import Pool

T = TypeVar("T")


def handle(value: T | None, name: str) -> T:
    """A handle that must not be null.

    Raises
    ------
    InvalidNullHandleError
        If it is.
    """
    if value is None:
        raise InvalidNullHandleError(f"The {name} is a null handle.")
    return value


def pointer(value: T | None, name: str) -> T:
    """A pointer that must not be null.

    Raises
    ------
    InvalidNullPointerError
        If it is.
    """
    if value is None:
        raise InvalidNullPointerError(f"The pointer {name} is null.")
    return value


def address(value: int, name: str) -> int:
    """A pointer to memory that must not be null.

    Raises
    ------
    InvalidNullPointerError
        If it is.
    """
    return pointer(value or None, name)


def flags(value: int, known: int, name: str) -> int:
    """Flags of which all bits must be known.

    Raises
    ------
    InvalidEnumerationError
        If one is not.
    """
    if value & ~int(known):  # the inverse of an IntFlag has none but its own bits
        raise InvalidEnumerationError(f"{name} {value:#x} has bits other than {known:#x}.")
    return value


# -- handles that must be alive -------------------------------------------------------------------


def live_context(context: Context) -> Context:
    """Raise InvalidContextError if the context is closed or its last reference released."""
    if context.is_closed or not reference_count.count(context):
        raise InvalidContextError(f"{context!r} is released; it cannot be used any more.")
    return context


def live_queue(queue: Queue) -> Queue:
    """Raise InvalidQueueError if the queue is closed."""
    if queue.is_closed:
        raise InvalidQueueError(f"{queue!r} is released; it cannot be used any more.")
    return queue


def live_event(event: Event) -> Event:
    """Raise InvalidEventError if the event is released."""
    if event.is_released:
        raise InvalidEventError(f"{event!r} cannot be used any more.")
    return event


def live_buffer(buffer: Buffer) -> Buffer:
    """Raise InvalidMemObjectError if the buffer is released."""
    buffer.require_live()
    return buffer


def live_pool(pool: Pool) -> Pool:
    """Raise InvalidValueError if the pool is destroyed."""
    if pool.core.is_closed:
        raise InvalidValueError(f"{pool!r} is destroyed; it cannot be used any more.")
    return pool


# -- wait lists ------------------------------------------------------------------------------------


def wait_list(
    num_events_in_wait_list: int, event_wait_list: Sequence[Event | None] | None
) -> Sequence[Event]:
    """The events of a wait list, in which all must be alive.

    Raises
    ------
    InvalidEventWaitListError
        If the count and the list disagree, or an entry is null or released.
    """
    if event_wait_list is None:
        if num_events_in_wait_list:
            raise InvalidEventWaitListError(
                f"The wait list is null, but {num_events_in_wait_list} events are counted."
            )
        return ()
    if not num_events_in_wait_list or num_events_in_wait_list != len(event_wait_list):
        raise InvalidEventWaitListError(
            f"The wait list has {len(event_wait_list)} events, but {num_events_in_wait_list} are "
            "counted; without events it must be null."
        )
    events: list[Event] = []
    for event in event_wait_list:
        if event is None or event.is_released:
            raise InvalidEventWaitListError(f"The wait list holds {event!r}.")
        events.append(event)
    return events


# -- events that are handed out --------------------------------------------------------------------


def complete(event: Event) -> None:
    """Wait for the event of a blocking command; if that fails, nobody gets the event."""
    try:
        event.wait()
    except BaseException:
        event.release()
        raise


def write_event(out: Out[Event] | None, event: Event | None) -> None:
    """Hand an event out; who asked for one got one."""
    if out is not None and event is not None:
        out.value = event


def write_copied(out: Out[Event] | None, copied: Event | None, blocking: bool) -> None:
    """Hand out the event of a copy, which has one if it blocks, when the copy is complete."""
    if blocking and copied is not None:
        complete(copied)
        if out is None:
            copied.release()
    write_event(out, copied)


# -- the end of a context --------------------------------------------------------------------------

_closing = threading.Lock()


def close_unused(context: Context) -> None:
    """Close a context whose last reference is released, if nothing that depends on it is left.

    To be called after the release of anything that depends on a context.
    """
    if reference_count.count(context):
        return
    native = context.native
    with _closing:
        if native.is_released:
            return
        native.run_finalizers()
        native.run_postponed()
        # Queues and pools are watched, and so are the context itself and its own queues. On a lost
        # device only queues can be given back one by one.
        own = context.preparing_queues
        used = (
            len(native.finalizers) > 1 + own or native.domain.held_signals or native.registry.live
        )
        if len(native.lists) <= own and (native.lost is not None or not used):
            context.close()
