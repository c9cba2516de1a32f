# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of queues: who is known to run after whom, and how far each queue has come.

Words
-----
sequence
    How many commands were appended to a queue. A command's *number* is the sequence right after it
    was appended, so the first command has number 1.
stamp
    What a free leaves behind: the freeing queue and ``sequence + 1``. Everything that used the
    memory has a smaller number, and any command appended from now on covers the free. A free
    itself appends nothing.
mark
    A place on a queue that others can order themselves after: the number of a signal, and the
    clock that the queue had there.
clock
    For every other queue, the number up to which this queue's tail is ordered after it. Clocks are
    immutable mappings, so that an event keeps the one of its moment without a copy.
completed
    The number up to which a queue is known to have finished, as seen by a host wait or a query.

Order is transitive: merging a mark merges the clock that it carries, and a mark that is complete
completes all that its clock covers.

Locks: ``QueueOrder.lock`` guards a queue's list, its sequence, its clock and its markers.
``OrderDomain`` has one lock of its own for completed marks; it is a leaf: nothing else is taken
while it is held. Reading ``sequence``, ``clock`` or ``completed`` needs no lock: each is replaced
as a whole and only ever moves forward, and an old value is merely cautious.
"""

from __future__ import annotations

import threading
from typing import Protocol

from urasync_l0.pool.fields import EVERYTHING, NOTHING, Clock
from urasync_l0.pool.structure import DomainFields, Lock, MarkFields, OrderFields

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Clock",
    "Mark",
    "MarkerEvent",
    "OrderDomain",
    "QueueOperations",
    "QueueOrder",
    "joined",
]

_PATIENCE_NS = 2_000_000
"""How long, in nanoseconds, a search that found nothing waits for a queue. An idle queue reaches
its markers sooner ..."""

_LEAST_PATIENCE_NS = 25_000
"""... and a busy one gets half as long each time that it was waited for in vain, down to this."""


class Mark(MarkFields):
    """A place on a queue, with the clock that the queue had there. Immutable."""

    __slots__ = ()

    def __init__(self, order: QueueOrder, number: int, clock: Clock) -> None:
        self.order = order
        self.number = number
        self.clock = clock

    def is_complete(self) -> bool:
        """Tell whether the queue is already known to have passed this place. Asks no driver."""
        return self.number <= self.order.completed

    def __repr__(self) -> str:
        return f"Mark(queue {self.order.id}, command {self.number})"


class MarkerEvent(Protocol):
    """A signal on a queue that the host can query, and that other queues can wait for."""

    @property
    def mark(self) -> Mark:
        """Where the signal stands."""

    def query(self) -> bool:
        """Ask the driver once whether the signal has happened."""

    def wait(self, timeout_ns: int) -> bool:
        """Block until the signal or for ``timeout_ns`` nanoseconds; tell which."""

    def hold(self) -> bool:
        """Keep the event from being given back until one `release` more; False if it was."""

    def release(self) -> None:
        """Hold the event no longer. Who does so last gives it back; its owner recycles it once no
        queue waits for it any more."""


class QueueOperations(Protocol):
    """What the pool core may ask of a queue's list."""

    def append_marker(self) -> MarkerEvent:
        """Append one signal, held; it covers everything that the queue was given before."""

    def signal_from(self, number: int) -> MarkerEvent | None:
        """The signal that was appended last, held, if it covers command ``number``.

        The caller holds the queue's lock, which the others take themselves.
        """

    def append_wait(self, event: MarkerEvent) -> None:
        """Append a wait for another queue's signal and merge its mark into this queue's clock."""


class QueueOrder(OrderFields):
    """The order of one queue: its identity, how far it was filled and how far it has run.

    Created by `OrderDomain.add_queue`; the id is never used again in the process. ``markers`` are
    those that the core placed and still looks at, oldest first, each held once.
    """

    __slots__ = ("__weakref__", "_patience_ns")

    def __init__(self, domain: OrderDomain, queue_id: int, operations: QueueOperations) -> None:
        self.domain = domain
        self.id = queue_id
        self.operations = operations
        self.lock = Lock()
        self.sequence = 0
        self.completed = 0
        self.clock = NOTHING
        self.markers: list[MarkerEvent] = []
        self._patience_ns = _PATIENCE_NS

    @property
    def is_open(self) -> bool:
        """Whether the queue can still be given commands."""
        return self.completed < EVERYTHING

    def __repr__(self) -> str:
        return f"QueueOrder({self.id}, {self.completed} of {self.sequence} complete)"

    # -- for the adapter, which appends commands: call these with ``lock`` held --------------------

    def advance(self) -> int:
        """Count one appended command and return its number. The caller holds ``lock``."""
        self.sequence += 1
        return self.sequence

    def mark_here(self) -> Mark:
        """Return the mark of the command appended last. The caller holds ``lock``."""
        return Mark(self, self.sequence, self.clock)

    def merge(self, mark: Mark) -> None:
        """Note that a wait for ``mark`` was appended to this queue. The caller holds ``lock``."""
        self.clock = joined(self.clock, (mark,), self)

    # -- markers: placed when somebody needs to know -----------------------------------------------

    def marker_covering(self, number: int, *, placed: bool = False) -> MarkerEvent:
        """Return a held marker at or after ``number``, appending one only if there is none.

        Unless it has to be ``placed``, any other signal that the queue was given last will do; that
        does not cover frees since then. The caller releases the marker. May append one signal;
        takes ``lock``.
        """
        with self.lock:
            for marker in self.markers:
                if marker.mark.number >= number:
                    marker.hold()
                    return marker
            given = None if placed else self.operations.signal_from(number)
        if given is None:
            given = self.operations.append_marker()
        with self.lock:
            if self.is_open:  # else nobody would ever take it off the list
                given.hold()
                self.markers.append(given)
        return given

    def _held_marker(self, position: int) -> MarkerEvent | None:
        """The oldest (0) or newest (-1) outstanding marker, held; None if there is none."""
        with self.lock:
            if not self.markers:
                return None
            marker = self.markers[position]
            marker.hold()
            return marker

    def poll_markers(self, limit: int) -> bool:
        """Query at most ``limit`` outstanding markers, oldest first; stop at one not yet reached.

        Tells whether any completed. Never blocks: a queue busy elsewhere is skipped.
        """
        progressed = False
        for _ in range(limit):
            marker = self._held_marker(0)
            if marker is None:
                break
            try:
                if not (marker.mark.is_complete() or marker.query()):
                    break
                self.retire(marker)
                progressed = True
            finally:
                marker.release()
        return progressed

    def wait_a_moment(self) -> bool:
        """Wait a moment for the newest outstanding marker: what new memory costs, or less.

        Tells whether it was reached. Does not wait when there is none, and less long for a queue
        that was busy the last time.
        """
        marker = self._held_marker(-1)
        if marker is None:
            return False
        try:
            if marker.wait(self._patience_ns):
                self._patience_ns = _PATIENCE_NS
                self.retire(marker)
                return True
            self._patience_ns = max(self._patience_ns // 2, _LEAST_PATIENCE_NS)
            return False
        finally:
            marker.release()

    def retire(self, marker: MarkerEvent) -> None:
        """Note that ``marker`` is complete, and take it and those before it off the list."""
        mark = marker.mark
        self.domain.complete(mark)
        with self.lock:
            markers = self.markers
            passed = 0
            while passed < len(markers) and markers[passed].mark.number <= mark.number:
                passed += 1
            retired = markers[:passed]
            del markers[:passed]
        for done in retired:
            done.release()

    def close(self) -> None:
        """Note that the queue has finished for good; its owner waited for it. Idempotent."""
        self.domain.remove_queue(self)
        with self.lock:
            retired = self.markers[:]
            self.markers.clear()
            self.clock = NOTHING  # it would keep every queue alive that this one ever waited for
        for done in retired:
            done.release()


class OrderDomain(DomainFields):
    """The queues of one context, and what is known of their completion.

    ``epoch`` changes whenever any queue's completed mark moves, so that a pool sees with one
    comparison that there is nothing new.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self._queues: dict[int, QueueOrder] = {}
        self.epoch = 0
        self.held_signals = 0

    def add_queue(self, operations: QueueOperations) -> QueueOrder:
        """Create the order of a new queue."""
        with self.lock:
            order = QueueOrder(self, _take_queue_id(), operations)
            self._queues[order.id] = order
            return order

    def place_of_its_own(self) -> QueueOrder:
        """Create the order of one event that somebody else signals: it is no queue of ours, and
        nobody is known to run before it."""
        return QueueOrder(self, _take_queue_id(), _NoQueue())

    def without_queue(self) -> QueueOrder:
        """Create the order of what belongs to no queue: memory that the host itself takes and
        frees. It gets nothing but idle memory, and what it frees is complete at once."""
        order = self.add_queue(_NoQueue())
        self.remove_queue(order)
        return order

    def remove_queue(self, order: QueueOrder) -> None:
        """Forget a queue whose every command is complete."""
        with self.lock:
            self._queues.pop(order.id, None)
            order.completed = EVERYTHING
            self.epoch += 1

    def queues(self) -> list[QueueOrder]:
        """Return the open queues, oldest first."""
        with self.lock:
            return list(self._queues.values())

    def complete(self, mark: Mark) -> None:
        """Note that a mark was seen complete, and with it all that its clock covers."""
        with self.lock:
            moved = _raise_completed(mark.order, mark.number)
            for order, number in mark.clock.items():
                moved |= _raise_completed(order, number)
            if moved:
                self.epoch += 1


class _NoQueue:
    """What can be appended where there is no queue: nothing."""

    def append_marker(self) -> MarkerEvent:
        raise AssertionError("an order without a queue needs no marker")

    def signal_from(self, number: int) -> None:
        return None

    def append_wait(self, event: MarkerEvent) -> None:
        raise AssertionError("an order without a queue cannot wait")


def joined(clock: Clock, marks: tuple[Mark, ...], own: QueueOrder) -> Clock:
    """Return ``clock`` after waits for ``marks``, without entries for ``own`` and finished queues.

    Returns the same object when the marks add nothing.
    """
    merged: dict[QueueOrder, int] | None = None
    for mark in marks:
        for order, number in ((mark.order, mark.number), *mark.clock.items()):
            if order is own or number <= order.completed or number <= clock.get(order, 0):
                continue
            if merged is None:
                merged = {o: n for o, n in clock.items() if n > o.completed}
            merged[order] = max(number, merged.get(order, 0))
    return clock if merged is None else merged


def _raise_completed(order: QueueOrder, number: int) -> bool:
    if number <= order.completed:
        return False
    order.completed = number
    return True


_queue_id_lock = threading.Lock()
_last_queue_id = 0


def _take_queue_id() -> int:
    global _last_queue_id
    with _queue_id_lock:
        _last_queue_id += 1
        return _last_queue_id
