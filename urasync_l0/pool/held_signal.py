# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals on queues: who holds them, and what users hold of them.

The classes in C of the same names do the same; ``structure`` chooses. There the last one who holds
a signal gives it back at once, also when collection drops it, for that calls no driver and takes no
lock. Here what is dropped leaves a `DroppedSignal` where the next call finds it.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urasync_l0.pool.order import Mark, OrderDomain

_lock = threading.Lock()
"""Guards the numbers of holders. Nothing is called while it is held."""


class Signal:
    """What stands for one signal on a queue at a time, and then for another.

    Whoever took it where it was ready holds it, and so does everybody who is just waiting for it.
    When the last of them releases it, it goes to ``returned``, if that is not None.

    Attributes
    ----------
    value
        The native event, as a number.
    mark
        Where the signal stands; set when it is appended.
    first
        The signal of the command's first step, held, if there is another one for it.
    waiters
        For each queue that waits for it, the number of its last wait; None where it does not matter
        who does.
    is_new
        Whether it has never served before.
    is_unseen
        Whether the driver has not seen the signal, though the queue is complete.
    """

    __slots__ = (
        *("_holders", "first", "is_new", "is_unseen", "mark", "returned", "value"),
        "waiters",
    )
    mark: Mark
    first: Signal | None
    waiters: dict[Any, int] | None

    def __init__(self, value: int, returned: list[Any] | None) -> None:
        self.value = value
        self.returned = returned
        self.first = None
        self.waiters = None
        self.is_new = True
        self.is_unseen = False
        self._holders = 1

    def take(self) -> None:
        """Begin to serve another signal. Nobody holds it."""
        self.is_new = False
        self.is_unseen = False
        self._holders = 1

    def hold(self) -> bool:
        """Keep it from serving another signal until `release`; False if nobody holds it."""
        with _lock:
            if not self._holders:
                return False
            self._holders += 1
            return True

    def let_go(self) -> bool:
        """Hold it no longer; tell whether nobody does."""
        with _lock:
            self._holders -= 1
            return not self._holders

    def release(self) -> None:
        """Hold it no longer; the last one gives it back. Calls no driver."""
        if self.let_go():
            first, self.first = self.first, None
            if first is not None:
                first.release()
            if self.returned is not None:
                self.returned.append(self)


class DroppedSignal:
    """A signal that a user's object held, which nobody has any more."""

    __slots__ = ("domain", "signal")

    def __init__(self, signal: Signal, domain: OrderDomain) -> None:
        self.signal = signal
        self.domain = domain

    def run(self, context: object) -> None:
        """Hold it no longer."""
        self.signal.release()
        with _lock:
            self.domain.held_signals -= 1


class HeldSignal:
    """A signal in the hands of a user's object, released at the latest when that is dropped.

    ``queue``, ``context`` and ``command`` are the user's: here they are only kept. ``dropped`` gets
    what is left to do; ``domain`` counts the objects that hold a signal. ``mark`` is that of the
    signal which it was made for.
    """

    __slots__ = ("_signal", "command", "context", "domain", "dropped", "mark", "queue")

    def __init__(
        self,
        signal: Signal,
        domain: OrderDomain,
        dropped: deque[Any],
        queue: Any = None,
        context: Any = None,
        command: Any = None,
    ) -> None:
        self._signal: Signal | None = None
        self.mark = signal.mark
        self.domain = domain
        self.dropped = dropped
        self.queue = queue
        self.context = context
        self.command = command
        with _lock:
            domain.held_signals += 1
            self._signal = signal

    def release(self) -> None:
        """Give the signal back now. Idempotent; calls no driver."""
        with _lock:
            signal, self._signal = self._signal, None
        if signal is not None:
            DroppedSignal(signal, self.domain).run(None)

    def __del__(self) -> None:
        if self._signal is not None:
            self.dropped.append(DroppedSignal(self._signal, self.domain))
