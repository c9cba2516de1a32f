# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls functions when events have happened.

Level Zero calls nobody back, so a thread asks. It is started when there is something to watch and
ends when there is nothing any more. Between two rounds it sleeps, 50 microseconds at first and up
to 5 milliseconds when nothing happens, so a callback comes at most so much late. Functions are
called on that thread, with no lock held. They must not wait for queues, and may not close the
context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from urasync_l0 import callback_error
from urasync_l0.enums import EventStatus, ExecutionInfo
from urasync_l0.result import UrError

if TYPE_CHECKING:
    from urasync_l0.event_source import NativeEvent
    from urasync_l0.recorded_event import Event

Callback = Callable[["Event", int, Any], object]

SHORTEST_PAUSE = 50e-6
"""Seconds between two rounds after something happened."""

LONGEST_PAUSE = 5e-3
"""Seconds between two rounds when nothing happens."""


class _Watch(NamedTuple):
    event: Event
    native: NativeEvent
    status: ExecutionInfo
    callback: Callback
    user_data: Any

    def reached(self, *, may_ask: bool) -> int | None:
        """The status to report, or None if it is not known to be reached."""
        if self.status is ExecutionInfo.SUBMITTED:
            return self.status
        if not may_ask and not self.event.is_decided:
            return None
        try:
            now = self.event.status_of(self.native)
        except UrError:
            return EventStatus.ERROR
        # That a command runs cannot be seen, so this is told with its end.
        if now is EventStatus.COMPLETE:
            return EventStatus(self.status)
        return now if now is EventStatus.ERROR else None


class EventWatcher:
    """The callbacks of a context's events. Any thread may call."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asking = threading.Lock()
        self._watches: list[_Watch] = []
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def watch(
        self,
        event: Event,
        native: NativeEvent,
        status: ExecutionInfo,
        callback: Callback,
        user_data: Any,
    ) -> None:
        """Call ``callback(event, status, user_data)`` once when the status is reached.

        The native event is held by the caller, and released here afterwards.
        """
        with self._changed:
            self._watches.append(_Watch(event, native, status, callback, user_data))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="urasync_l0 events", daemon=True
                )
                self._thread.start()
            else:
                self._changed.notify()

    def close(self) -> None:
        """Never ask the driver again: the process ends.

        Of a context that ends every status is known, and it waits for those who ask itself.
        Callbacks whose status is known by now are called, on the watcher's thread; the others never
        are.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        with self._asking:
            pass  # no question to the driver is under way any more

    def _run(self) -> None:
        pause = SHORTEST_PAUSE
        while True:
            with self._changed:
                watches = self._watches[:]
                if not watches:
                    self._thread = None
                    return
            with self._asking:
                may_ask = not self._is_closed
                told = [(watch, watch.reached(may_ask=may_ask)) for watch in watches]
            due = [(watch, status) for watch, status in told if status is not None]
            with self._changed:
                for watch, _ in due if may_ask else told:
                    self._watches.remove(watch)
            for watch, status in due:
                self._call(watch, status)
            with self._changed:
                if due or len(self._watches) > len(watches):
                    pause = SHORTEST_PAUSE
                elif self._watches:
                    self._changed.wait(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)

    def _call(self, watch: _Watch, status: int) -> None:
        watch.native.release()
        try:
            watch.callback(watch.event, status, watch.user_data)
        except BaseException as error:
            callback_error.tell(error)
