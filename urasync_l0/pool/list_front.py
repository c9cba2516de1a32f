# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The front of a queue's list: where a signal is asked for that nothing else comes with.

In C, `queue_front` appends such a signal itself, through the address of the function that does it,
and waits that nothing else comes with; the markers of a crowded heap are asked for likewise.
Everything else is left to the list's own methods, which are the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urasync_l0.pool.held_signal import Signal
    from urasync_l0.pool.order import Mark, QueueOrder


class ListFront:
    """What a signal reads of a queue's list.

    Attributes
    ----------
    order
        That of the queue, whose lock guards the list and the signals noted here.
    last
        The signal that was appended last, held; None if there is none.
    ready
        The signals that can be appended; None while nobody knows where they come from.
    is_private
        Whether nobody else appends to the native list.
    is_plain
        Whether a signal is no more than one: no times are taken.
    is_closing
        Whether the queue was closed, or is just being closed.
    append, query, wait, value
        The addresses of the functions that append a signal, ask for it and append waits, and the
        native list, as numbers.
    mark_type
        What a place in the order is.
    """

    __slots__ = (
        *("append", "is_closing", "is_plain", "is_private", "last", "mark_type", "order"),
        *("query", "ready", "value", "wait"),
    )
    order: QueueOrder
    mark_type: type[Mark]
    last: Signal | None
    ready: list[Any] | None
    is_private: bool
    is_plain: bool
    is_closing: bool
    append: int
    query: int
    value: int
    wait: int

    def signal_from(self, number: int) -> Any:
        """The last signal, a `MarkerEvent`, held, if it covers command ``number``; else None.

        Others may have appended to the list behind it if it is not private; then it proves nothing.
        The caller holds the queue's lock.
        """
        last = self.last
        if last is None or not self.is_private or last.mark.number < number:
            return None
        last.hold()
        return last

    def note_signal(self, signal: Signal) -> None:
        """Note that a signal was appended. The caller holds the queue's lock."""
        signal.hold()
        last, self.last = self.last, signal
        if last is not None:
            last.release()

    def forget_signal(self) -> None:
        """Hold no signal any more. The caller holds the queue's lock."""
        last, self.last = self.last, None
        if last is not None:
            last.release()
