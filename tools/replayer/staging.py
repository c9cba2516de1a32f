# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host memory that queues write to, and that is looked at once they have.

The memory is one host allocation, cut into chunks. Commands fill one chunk after another. A full
chunk gets an event on every queue that writes to it, and is looked at when all of these are
complete; only when no chunk is left does the host wait, for the oldest one. So the host neither
holds much nor synchronises often.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urasync_l0 import Event, Queue

CHUNK_BYTES = 1 << 20
CHUNKS = 16
WAIT_NS = 60_000_000_000
"""How long a command may take before the driver is taken to hang."""

Check = Callable[[bytes], None]


class HungError(RuntimeError):
    """A queue did not finish its commands in a minute."""


class Staging:
    """The chunks, and the places in them that have not been looked at.

    Parameters
    ----------
    queue : makes the host allocation, of ``CHUNKS * CHUNK_BYTES`` bytes.
    before_wait : called before the host waits for a queue.

    Attributes
    ----------
    memory : the host allocation.
    view : its bytes.
    """

    def __init__(self, queue: Queue, before_wait: Callable[[], None]) -> None:
        self._before_wait = before_wait
        self._queue = queue
        self.memory = queue.alloc_host(CHUNKS * CHUNK_BYTES)
        before_wait()
        queue.finish(timeout_ns=WAIT_NS)  # the other queues use it, too
        self.view = self.memory.memoryview()
        self._idle = deque(_Chunk(number * CHUNK_BYTES) for number in range(CHUNKS))
        self._current = self._idle.popleft()
        self._full: deque[_Chunk] = deque()

    def reserve(self, queue: Queue, nbytes: int, check: Check) -> int:
        """Where the next command of `queue` shall write `nbytes` bytes (at most `CHUNK_BYTES`), as
        an offset; `check` gets them once the command has run."""
        chunk = self._current
        if chunk.used + nbytes > CHUNK_BYTES:
            chunk = self._next_chunk()
        position = chunk.start + chunk.used
        chunk.used += nbytes
        chunk.queues.add(queue)
        chunk.places.append((position, nbytes, check))
        return position

    def finish(self) -> None:
        """Wait for every command, look at what it wrote, and free the memory."""
        self._close_current()
        while self._full:
            self._look_at_oldest()
        self.view.release()
        self._queue.free(self.memory)

    def _next_chunk(self) -> _Chunk:
        self._close_current()
        while self._full and self._full[0].is_complete():
            self._look_at_oldest()
        if not self._idle:
            self._look_at_oldest()
        self._current = self._idle.popleft()
        return self._current

    def _close_current(self) -> None:
        self._current.events = [queue.record() for queue in self._current.queues]
        self._full.append(self._current)

    def _look_at_oldest(self) -> None:
        chunk = self._full.popleft()
        if not chunk.is_complete():
            self._before_wait()
            for event in chunk.events:
                if not event.wait(timeout_ns=WAIT_NS):
                    seconds = WAIT_NS // 1_000_000_000
                    raise HungError(f"{len(chunk.places)} places were not looked at in {seconds} s")
        for position, nbytes, check in chunk.places:
            check(bytes(self.view[position : position + nbytes]))
        self._idle.append(_Chunk(chunk.start))


class _Chunk:
    """A part of the staging memory: `start` and `used` in bytes."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.used = 0
        self.queues: set[Queue] = set()
        self.places: list[tuple[int, int, Check]] = []
        self.events: list[Event] = []

    def is_complete(self) -> bool:
        return all(event.is_complete() for event in self.events)
