# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocation traces: the file format, read strictly.

``benchmarks/traces/README.md`` describes the format. A trace is read as a whole before anything is
replayed, so a replay never meets a free of nothing, an event that was not recorded or an unknown
queue.

Ids and events of a file are any numbers; a replay wants small tables. So each allocation gets a
*slot* that is free again after its last line, as a program's variable would be, and each recorded
event one that is free again after the last line that waits for it.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HEADER = "op,id,bytes,queue,event"
FIELDS = tuple(HEADER.split(","))

MAXIMUM_QUEUES = 64
"""A trace may name the queues 0 to 63."""

MAXIMUM_BYTES = 1 << 47
"""No allocation is larger than half of the address space of a 64-bit process."""

MAXIMUM_NUMBER = (1 << 63) - 1
"""Ids and events fit into 63 bits."""


class TraceError(ValueError):
    """A trace that is not one.

    Attributes
    ----------
    path : the file.
    line : number of the line, from 1 (the header), or 0 when the file as a whole is meant.
    problem : what is wrong there.
    """

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(path, line, problem)
        self.path = path
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        if not self.line:
            return f"{self.path}: {self.problem}"
        return f"{self.path}, line {self.line}: {self.problem}"


class Op(enum.IntEnum):
    """What a line asks for."""

    ALLOCATE = 0
    FREE = 1
    RECORD = 2
    WAIT = 3
    SYNCHRONISE = 4


OPS = {
    "A": Op.ALLOCATE,
    "F": Op.FREE,
    "R": Op.RECORD,
    "W": Op.WAIT,
    "S": Op.SYNCHRONISE,
}

USED_FIELDS = {
    Op.ALLOCATE: ("id", "bytes", "queue"),
    Op.FREE: ("id", "queue"),
    Op.RECORD: ("queue", "event"),
    Op.WAIT: ("queue", "event"),
    Op.SYNCHRONISE: ("queue",),
}


class TraceLine(NamedTuple):
    """One line: `slot` is the allocation's or the event's, -1 for neither; `nbytes` is also set
    on a free; `subject` is the id or the event as the file names it, -1 for neither."""

    op: Op
    slot: int
    nbytes: int
    queue: int
    subject: int


@dataclass(frozen=True)
class Trace:
    """A trace that was read.

    Attributes
    ----------
    lines : the operations; ``lines[i]`` is line ``i + 2`` of the file.
    queues : the numbers of the queues that occur, in rising order.
    allocation_slots, event_slots : sizes of the tables that slots index.
    live_peak : highest sum of the live allocations' requested bytes.
    """

    name: str
    path: str
    lines: tuple[TraceLine, ...]
    queues: tuple[int, ...]
    allocation_slots: int
    event_slots: int
    live_peak: int


def line_number(index: int) -> int:
    """Number in the file of ``Trace.lines[index]``."""
    return index + 2


def read_trace(path: str | Path, *, queues: int = MAXIMUM_QUEUES) -> Trace:
    """Read a trace file.

    Parameters
    ----------
    queues : how many queues there are; a line may name the queues 0 to ``queues - 1``.

    Raises
    ------
    TraceError
        The file cannot be read, or is not a trace; the message names the line and what is wrong.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TraceError(str(path), 0, f"cannot be read: {error.strerror or error}") from None
    return parse_trace(data, str(path), name=path.stem, queues=queues)


def parse_trace(
    data: bytes, path: str, *, name: str | None = None, queues: int = MAXIMUM_QUEUES
) -> Trace:
    """Read a trace from the bytes of a file; `path` is what errors call it.

    Raises
    ------
    TraceError
        The bytes are not a trace.
    """
    if not 1 <= queues <= MAXIMUM_QUEUES:
        raise ValueError(f"a trace has 1 to {MAXIMUM_QUEUES} queues, not {queues}")
    reader = _Reader(path, queues)
    for number, text in _numbered_lines(data, path):
        reader.read(number, text)
    return reader.trace(name if name is not None else Path(path).stem)


def _numbered_lines(data: bytes, path: str) -> Iterator[tuple[int, str]]:
    """The lines after the header, numbered as in the file, without their ends."""
    if not data:
        raise TraceError(path, 0, f"the file is empty; expected the header {HEADER}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise TraceError(path, line, f"not UTF-8: byte {byte:#04x} cannot stand here") from None
    lines = text.split("\n")
    header = lines[0].removesuffix("\r")
    if header != HEADER:
        raise TraceError(path, 1, f"wrong header {_quoted(header)}; expected {HEADER}")
    if lines.pop():
        raise TraceError(path, len(lines) + 1, "the line has no end: the file was cut")
    if len(lines) == 1:
        raise TraceError(path, 0, "no operation follows the header")
    for number, content in enumerate(lines[1:], start=2):
        yield number, content.removesuffix("\r")


class _Reader:
    """Reads line after line and keeps what the lines so far have made."""

    def __init__(self, path: str, queues: int) -> None:
        self._path = path
        self._queues = queues
        self._number = 0
        self._lines: list[TraceLine] = []
        self._live: dict[int, tuple[int, int, int]] = {}  # id: slot, bytes, line
        self._freed: dict[int, int] = {}  # id: line of its latest free
        self._slots = _Slots()
        self._live_bytes = 0
        self._live_peak = 0
        self._recorded: set[int] = set()

    def read(self, number: int, text: str) -> None:
        self._number = number
        if not text:
            raise self._error("the line is empty")
        fields = text.split(",")
        op = OPS.get(fields[0])
        if op is None:
            raise self._error(f"unknown op {_quoted(fields[0])}; expected one of A, F, R, W, S")
        if len(fields) != len(FIELDS):
            raise self._error(f"{len(fields)} fields; expected {len(FIELDS)} ({HEADER})")
        used = USED_FIELDS[op]
        for name, value in zip(FIELDS[1:], fields[1:], strict=True):
            if value and name not in used:
                raise self._error(f"{fields[0]} takes no {name}, but it is {_quoted(value)}")
            if not value and name in used:
                raise self._error(f"{fields[0]} needs {name}, but it is missing")
        queue = self._queue(fields[3])
        if op is Op.ALLOCATE:
            self._allocate(self._whole("id", fields[1]), self._bytes(fields[2]), queue)
        elif op is Op.FREE:
            self._free(self._whole("id", fields[1]), queue)
        elif op is Op.SYNCHRONISE:
            self._lines.append(TraceLine(op, -1, 0, queue, -1))
        else:
            self._event(op, self._whole("event", fields[4]), queue)

    def trace(self, name: str) -> Trace:
        lines, event_slots = _with_event_slots(self._lines)
        return Trace(
            name=name,
            path=self._path,
            lines=tuple(lines),
            queues=tuple(sorted({line.queue for line in lines})),
            allocation_slots=self._slots.count,
            event_slots=event_slots,
            live_peak=self._live_peak,
        )

    def _allocate(self, subject: int, nbytes: int, queue: int) -> None:
        if subject in self._live:
            since = self._live[subject][2]
            raise self._error(f"allocation {subject} is live already, since line {since}")
        slot = self._slots.take()
        self._live[subject] = slot, nbytes, self._number
        self._live_bytes += nbytes
        self._live_peak = max(self._live_peak, self._live_bytes)
        self._lines.append(TraceLine(Op.ALLOCATE, slot, nbytes, queue, subject))

    def _free(self, subject: int, queue: int) -> None:
        if subject not in self._live:
            if subject in self._freed:
                at = self._freed[subject]
                raise self._error(f"allocation {subject} was freed already, on line {at}")
            raise self._error(f"unknown allocation {subject}: no line before allocates it")
        slot, nbytes, _ = self._live.pop(subject)
        self._slots.give(slot)
        self._freed[subject] = self._number
        self._live_bytes -= nbytes
        self._lines.append(TraceLine(Op.FREE, slot, nbytes, queue, subject))

    def _event(self, op: Op, subject: int, queue: int) -> None:
        if op is Op.RECORD:
            self._recorded.add(subject)
        elif subject not in self._recorded:
            raise self._error(f"event {subject} is waited for before it was recorded")
        self._lines.append(TraceLine(op, -1, 0, queue, subject))

    def _queue(self, value: str) -> int:
        queue = self._whole("queue", value)
        if queue >= self._queues:
            raise self._error(f"unknown queue {queue}: the queues are 0 to {self._queues - 1}")
        return queue

    def _bytes(self, value: str) -> int:
        nbytes = self._whole("bytes", value)
        if nbytes == 0:
            raise self._error("an allocation of 0 bytes; expected at least 1")
        if nbytes > MAXIMUM_BYTES:
            raise self._error(f"an allocation of {nbytes} bytes; expected at most {MAXIMUM_BYTES}")
        return nbytes

    def _whole(self, name: str, value: str) -> int:
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise self._error(f"{name} is {_quoted(value)}; expected a whole number")
        if len(digits) > 19 or int(digits) > MAXIMUM_NUMBER:
            raise self._error(f"{name} is {_quoted(value)}; expected at most {MAXIMUM_NUMBER}")
        if value.startswith("-"):
            raise self._error(f"{name} is {value}; expected no negative number")
        return int(digits)

    def _error(self, problem: str) -> TraceError:
        return TraceError(self._path, self._number, problem)


class _Slots:
    """Hands out small numbers, the smallest free one first."""

    def __init__(self) -> None:
        self.count = 0
        self._free: list[int] = []

    def take(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self.count += 1
        return self.count - 1

    def give(self, slot: int) -> None:
        heapq.heappush(self._free, slot)


def _with_event_slots(lines: list[TraceLine]) -> tuple[list[TraceLine], int]:
    """Give each recording of an event a slot until the last line that waits for that recording."""
    last_use: dict[int, int] = {}  # index of a record: index of the last line that names it
    recording: dict[int, int] = {}  # event: index of its latest record
    for index, line in enumerate(lines):
        if line.op is Op.RECORD:
            recording[line.subject] = last_use[index] = index
        elif line.op is Op.WAIT:
            last_use[recording[line.subject]] = index
    slots = _Slots()
    slot_of: dict[int, int] = {}  # event: slot of its latest record
    recording.clear()
    result: list[TraceLine] = []
    for index, line in enumerate(lines):
        if line.op is Op.RECORD:
            recording[line.subject] = index
            slot_of[line.subject] = slots.take()
        if line.op in (Op.RECORD, Op.WAIT):
            slot = slot_of[line.subject]
            line = line._replace(slot=slot)
            if last_use[recording[line.subject]] == index:
                slots.give(slot)
        result.append(line)
    return result, slots.count


def _quoted(value: str) -> str:
    """`value` as it can stand in a message of one line."""
    shortened = value if len(value) <= 40 else value[:37] + "..."
    return repr(shortened)
