# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a trace file while it is recorded, in a thread of its own.

Each file can be replayed by itself: it begins with the allocations that were live when the one
before it was full, and an event that was recorded there is recorded again before the first wait for
it. A trace has 64 queues at most; of more, two share one, which only adds order.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import deque
from pathlib import Path

from urasync_l0 import loggers

ALLOCATE, FREE, SIGNAL, WAIT, SYNCHRONISE = range(5)

Entry = tuple[int, int, int, int]
"""What happened: one of the numbers above, the address or the number of the event's command, the
bytes or the queue of the event, and the queue."""

_HEADER = b"op,id,bytes,queue,event\n"
_QUEUES = 64
_PERIOD_SECONDS = 0.1
_AT_ONCE = 4096
_MOST_WAITING = 1 << 20
"""So many entries may wait for the disk; with more, the trace ends."""


class TraceWriter:
    """A trace in the making. `put` may be called by any thread, and under any lock.

    Raises `OSError` if the file cannot be made.
    """

    def __init__(self, path: Path, *, max_bytes: int, files: int) -> None:
        self.path = path
        self.problem: str | None = None
        self._max_bytes = max_bytes
        self._files = files
        self._waiting: deque[Entry] = deque()
        self._wake = threading.Event()
        self._is_closing = False
        self._live: dict[int, tuple[int, int, int]] = {}  # address: id, bytes, queue
        self._queues: dict[int, int] = {}
        self._ids = 0
        self._file = -1
        self._written = 0
        self._recorded: set[int] = set()
        try:
            self._begin()
        except OSError:
            if self._file >= 0:
                os.close(self._file)
            raise
        self._thread = threading.Thread(
            target=self._run, name="urasync_l0 trace writer", daemon=True
        )
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Add an entry. Never waits."""
        if self.problem is None:
            self._waiting.append(entry)
            if len(self._waiting) > _MOST_WAITING:
                self.problem = (
                    f"the disk of {self.path} is slower than the program; the trace ends when "
                    f"{_MOST_WAITING} lines waited for it"
                )

    def close(self) -> None:
        """Write what is left and close the file."""
        self._is_closing = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            closing = False
            while not closing:
                self._wake.wait(_PERIOD_SECONDS)
                closing = self._is_closing
                while self._waiting:
                    self._write(self._take())
        except OSError as error:
            self.problem = f"the trace ends, {self.path} cannot be written: {error.strerror}"
            self._waiting.clear()
        finally:
            if self._file >= 0:
                os.close(self._file)
            if self.problem is not None:
                loggers.RECORDING.warning("Of a recording: %s", self.problem)

    def _take(self) -> list[bytes]:
        """The lines of the next entries."""
        lines: list[bytes] = []
        waiting = self._waiting
        for _ in range(min(len(waiting), _AT_ONCE)):
            self._add(waiting.popleft(), lines)
        return lines

    def _add(self, entry: Entry, lines: list[bytes]) -> None:
        op, subject, other, queue_id = entry
        if op == ALLOCATE:
            queue = self._queue(queue_id)
            self._live[subject] = self._ids, other, queue
            lines.append(b"A,%d,%d,%d,\n" % (self._ids, other, queue))
            self._ids += 1
        elif op == FREE:
            live = self._live.pop(subject, None)
            if live is not None:  # allocated since the recording began
                queue = self._queue(queue_id) if queue_id else live[2]
                lines.append(b"F,%d,,%d,\n" % (live[0], queue))
        elif op == SIGNAL:
            self._record(self._queue(queue_id), subject, lines)
        elif op == WAIT:
            queue, signaller = self._queue(queue_id), self._queue(other)
            event = subject * _QUEUES + signaller
            if event not in self._recorded:
                self._record(signaller, subject, lines)
            lines.append(b"W,,,%d,%d\n" % (queue, event))
        else:
            lines.append(b"S,,,%d,\n" % self._queue(queue_id))

    def _record(self, queue: int, number: int, lines: list[bytes]) -> None:
        event = number * _QUEUES + queue
        self._recorded.add(event)
        lines.append(b"R,,,%d,%d\n" % (queue, event))

    def _queue(self, queue_id: int) -> int:
        queue = self._queues.get(queue_id)
        if queue is None:
            queue = self._queues[queue_id] = len(self._queues) % _QUEUES
        return queue

    def _write(self, lines: list[bytes]) -> None:
        data = memoryview(b"".join(lines))
        self._written += len(data)
        while data:
            data = data[os.write(self._file, data) :]
        if self._written >= self._max_bytes:
            self._begin()

    def _begin(self) -> None:
        """Begin a file, with what is live; rename those before it."""
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)
            for number in range(self._files - 1, 0, -1):
                older = self._numbered(number - 1)
                if older.exists():
                    older.replace(self._numbered(number))
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self.path, flags, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError(error.errno, "another process writes it", str(self.path)) from None
        if os.path.isfile(self.path):
            os.ftruncate(self._file, 0)
        self._recorded.clear()
        live = [b"A,%d,%d,%d,\n" % each for each in sorted(self._live.values())]
        data = memoryview(b"".join([_HEADER, *live]))
        self._written = len(data) - len(_HEADER)
        while data:
            data = data[os.write(self._file, data) :]
        # So much is live that a file would hold nothing else: let it grow.
        self._max_bytes = max(self._max_bytes, 2 * self._written)

    def _numbered(self, number: int) -> Path:
        if not number:
            return self.path
        return self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")
