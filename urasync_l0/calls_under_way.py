# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who is just using something of the driver's, which must not be destroyed under their hands.

A user first counts itself and then looks whether the thing may still be used; whoever destroys it
first makes that look fail and then waits for those that are counted. One of the two sees the other.
"""

from __future__ import annotations

import threading
from threading import get_ident
from time import monotonic_ns

_ended = threading.Condition()
"""Guards the numbers of those who wait, and is told when a use ends for which somebody does. One
for all: nobody waits but where something is closed."""


class CallsUnderWay:
    """The calls of all threads that just use one thing. Any thread may call.

    ``threads`` has the number of each call's thread, ``waiting`` is how many wait for their end.
    `begin` and `end` are done in C, too (``pool/compiled/marker.c``), where the pools ask about a
    marker.
    """

    __slots__ = ("threads", "waiting")

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.waiting = 0

    def begin(self) -> None:
        """Count a call of this thread."""
        self.threads.append(get_ident())

    def end(self) -> None:
        """The call is back."""
        self.threads.remove(get_ident())
        if self.waiting:
            self.tell()

    def tell(self) -> None:
        """Let those who wait look again."""
        with _ended:
            _ended.notify_all()

    @property
    def is_none(self) -> bool:
        """Whether there is none, of any thread."""
        return not self.threads

    @property
    def is_nested(self) -> bool:
        """Whether this thread counts more than one call."""
        return self.threads.count(get_ident()) > 1

    def have_ended(self, timeout_ns: int) -> bool:
        """Wait at most ``timeout_ns`` nanoseconds until no other thread has one; tell whether so.

        The caller has seen to it that whoever begins one from now on soon ends it.
        """
        deadline = monotonic_ns() + timeout_ns
        with _ended:
            self.waiting += 1
            try:
                while self._others():
                    left = deadline - monotonic_ns()
                    if left <= 0:
                        return False
                    _ended.wait(min(left / 1e9, threading.TIMEOUT_MAX))
            finally:
                self.waiting -= 1
        return True

    def _others(self) -> bool:
        me = get_ident()
        return any(thread != me for thread in self.threads[:])
