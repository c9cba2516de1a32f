# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A trace from another program's record, which names streams and addresses."""

from __future__ import annotations

from urasync_l0.tools.replayer.trace import HEADER, MAXIMUM_BYTES, TraceError


class ForeignTrace:
    """Collects allocations and frees by address, and turns streams into queues.

    Streams become the queues 0, 1, … in the order in which they occur. A record may begin after
    allocations were made, so a free of an unknown address is left out, and counted.
    """

    def __init__(self, path: str, queues: int) -> None:
        self._path = path
        self._most = queues
        self._lines = [HEADER]
        self._queues: dict[object, int] = {}
        self._live: dict[int, int] = {}
        self._ids = 0
        self._unknown_frees = 0
        self._empty: set[int] = set()
        self._lost_frees = 0
        self._notes: list[str] = []

    def allocate(self, line: int, address: int, nbytes: int, stream: object) -> None:
        """Note an allocation; ``line`` is what errors name."""
        if nbytes > MAXIMUM_BYTES or nbytes < 0:
            raise TraceError(self._path, line, f"an allocation of {nbytes} bytes is none")
        queue = self._queue(line, stream)
        if address in self._live:
            # The free of the one before was not recorded.
            self._lost_frees += 1
            self._lines.append(f"F,{self._live.pop(address)},,{queue},")
        if nbytes == 0:
            self._empty.add(address)
            return
        self._live[address] = self._ids
        self._lines.append(f"A,{self._ids},{nbytes},{queue},")
        self._ids += 1

    def free(self, line: int, address: int, stream: object) -> None:
        """Note a free."""
        queue = self._queue(line, stream)
        subject = self._live.pop(address, None)
        if subject is not None:
            self._lines.append(f"F,{subject},,{queue},")
        elif address in self._empty:
            self._empty.discard(address)
        else:
            self._unknown_frees += 1

    def note(self, text: str) -> None:
        """Say something about the file to the user."""
        self._notes.append(text)

    def to_csv(self) -> bytes:
        """The trace as a file of our own format."""
        if not self._ids:
            raise TraceError(self._path, 0, "records no allocation")
        return ("\n".join(self._lines) + "\n").encode()

    def notes(self) -> list[str]:
        """What the user should know of the trace."""
        notes = list(self._notes)
        if self._unknown_frees:
            notes.append(
                f"{self._unknown_frees} frees of memory that was allocated before the record "
                "began are left out"
            )
        if self._lost_frees:
            notes.append(
                f"{self._lost_frees} addresses were given out twice with no free between; a free "
                "was added"
            )
        return notes

    def _queue(self, line: int, stream: object) -> int:
        queue = self._queues.setdefault(stream, len(self._queues))
        if queue >= self._most:
            raise TraceError(
                self._path,
                line,
                f"more than {self._most} streams; a replay has {self._most} queues",
            )
        return queue
