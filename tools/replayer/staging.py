# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host memory that queues copy into, and that is looked at once they have.

The memory is one host allocation, cut into chunks. Copies fill one chunk after another. A full
chunk gets an event on every queue that copies into it, and is looked at when all of these are
complete; only when no chunk is left does the host wait, for the oldest one. So the host neither
holds much nor synchronises often.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urasync_l0 import Allocation, Event, Queue

CHUNK_BYTES = 1 << 20
CHUNKS = 16
WAIT_NS = 60_000_000_000
"""How long a copy may take before the driver is taken to hang."""

Check = Callable[[bytes], None]


class HungError(RuntimeError):
    """A queue did not finish its copies in a minute."""


class Staging:
    """The chunks, and the copies that have not been looked at.

    Parameters
    ----------
    queue : makes the host allocation, of ``CHUNKS * CHUNK_BYTES`` bytes.
    before_wait : called before the host waits for a queue.
    """

    def __init__(self, queue: Queue, before_wait: Callable[[], None]) -> None:
        self._before_wait = before_wait
        self._queue = queue
        self._memory = queue.alloc_host(CHUNKS * CHUNK_BYTES)
        before_wait()
        queue.finish(timeout_ns=WAIT_NS)  # the other queues use it, too
        self._view = self._memory.memoryview()
        self._idle = deque(_Chunk(number * CHUNK_BYTES) for number in range(CHUNKS))
        self._current = self._idle.popleft()
        self._full: deque[_Chunk] = deque()

    def copy(
        self, queue: Queue, source: Allocation, offset: int, nbytes: int, check: Check
    ) -> None:
        """Let `queue` copy `nbytes` bytes (at most `CHUNK_BYTES`) of `source`; `check` gets them
        once the copy has run."""
        chunk = self._current
        if chunk.used + nbytes > CHUNK_BYTES:
            chunk = self._next_chunk()
        position = chunk.start + chunk.used
        queue.memcpy(
            self._memory, source, nbytes, destination_offset=position, source_offset=offset
        )
        chunk.used += nbytes
        chunk.queues.add(queue)
        chunk.copies.append((position, nbytes, check))

    def finish(self) -> None:
        """Wait for every copy, look at it, and free the memory."""
        self._close_current()
        while self._full:
            self._look_at_oldest()
        self._view.release()
        self._queue.free(self._memory)

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
                    raise HungError(
                        f"{len(chunk.copies)} copies to host memory did not end in {seconds} s"
                    )
        for position, nbytes, check in chunk.copies:
            check(bytes(self._view[position : position + nbytes]))
        self._idle.append(_Chunk(chunk.start))


class _Chunk:
    """A part of the staging memory: `start` and `used` in bytes."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.used = 0
        self.queues: set[Queue] = set()
        self.copies: list[tuple[int, int, Check]] = []
        self.events: list[Event] = []

    def is_complete(self) -> bool:
        return all(event.is_complete() for event in self.events)
