# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the pools of a process hold at one moment, as values, and those as JSON and back.

Views read nothing else. Sizes are bytes. Every pool is copied at one moment of its own; two pools
of a process may be some microseconds apart.

The JSON form has a key for each field; a field that has its default is left out, so that a large
snapshot stays small. ``schema`` changes when a field changes its meaning; fields that are new have
a default, and those that a reader does not know are passed over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from urasync_l0.pool.statistics import PoolStatistics as PoolStatistics  # a part of the values

FORMAT = "urasync_l0 pool snapshot"
SCHEMA = 1

State = Literal["in use", "pending", "idle"]
Kind = Literal["device", "shared", "host"]

IN_USE: State = "in use"
PENDING: State = "pending"
IDLE: State = "idle"
STATES: tuple[State, ...] = (IN_USE, PENDING, IDLE)
"""States of a block, in the order of the pool core's own numbers for them."""


class SnapshotError(ValueError):
    """Something that should be a snapshot is none; the message says why."""


@dataclass(frozen=True, slots=True)
class BlockSnapshot:
    """A block.

    Attributes
    ----------
    requested
        What the caller asked for; 0 unless in use.
    queue
        Id of the queue that allocated a block in use, or freed a pending one; None where the
        host did so itself, and for idle blocks.
    stamp
        Of a pending block, the number of a command of its queue: when the queue is known to
        have completed that one, the block is idle. A free is no command, so this is the number of
        the first command given after it; or a later one, if another thread freed meanwhile. 0 of
        other blocks.
    age
        How many allocations the pool has made since this one; None unless in use.
    seconds
        Since the allocation; None unless a recording was on.
    traceback
        Innermost frame first; empty unless a recording kept them.
    """

    address: int
    size: int
    state: State
    requested: int = 0
    queue: int | None = None
    stamp: int = 0
    age: int | None = None
    seconds: float | None = None
    traceback: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """Address after the last byte."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class SegmentSnapshot:
    """A range of driver memory.

    Attributes
    ----------
    device
        Index of the device in its context; None for host memory.
    page_size
        The step in which memory is mapped; 0 when all is one allocation of the driver.
    is_pooled
        False for an allocation that is too large for its pool and has its own memory.
    is_owned
        False for memory of the user that a pool was made in.
    regions
        Start and end of each mapped stretch.
    blocks
        In the order of addresses; empty when the snapshot was taken without.
    """

    kind: Kind
    device: int | None
    address: int
    size: int
    page_size: int = 0
    is_pooled: bool = True
    is_owned: bool = True
    regions: tuple[tuple[int, int], ...] = ()
    blocks: tuple[BlockSnapshot, ...] = ()

    @property
    def mapped(self) -> int:
        """Bytes of memory in the range."""
        return sum(end - start for start, end in self.regions)


@dataclass(frozen=True, slots=True)
class PendingSnapshot:
    """What one queue freed that is not known complete: how much, and from which stamp to which."""

    queue: int
    blocks: int
    size: int
    first_stamp: int
    last_stamp: int


@dataclass(frozen=True, slots=True)
class PoolSnapshot:
    """A pool.

    Attributes
    ----------
    id
        A number that no other pool of the process has or had.
    maximum_size
        0 is no limit.
    allocation
        Number of the latest allocation.
    """

    id: int
    name: str
    release_threshold: int
    maximum_size: int
    statistics: PoolStatistics
    allocation: int = 0
    is_closed: bool = False
    segments: tuple[SegmentSnapshot, ...] = ()
    pending: tuple[PendingSnapshot, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """A queue.

    Attributes
    ----------
    device
        Index of the device in its context; None if that is not known.
    sequence
        How many commands were appended.
    completed
        The number up to which they are known to have finished.
    markers
        Numbers of the markers that the pools placed and nobody has seen complete.
    clock
        For other queues, the number up to which this queue runs after them.
    """

    id: int
    device: int | None
    sequence: int
    completed: int
    markers: tuple[int, ...] = ()
    clock: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceSnapshot:
    """A device of a context."""

    index: int
    name: str
    total_memory: int


@dataclass(frozen=True, slots=True)
class ContextSnapshot:
    """A context with what belongs to it."""

    id: int
    adapter: str
    driver: str
    devices: tuple[DeviceSnapshot, ...] = ()
    queues: tuple[QueueSnapshot, ...] = ()
    pools: tuple[PoolSnapshot, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that a recording saw.

    Attributes
    ----------
    nanoseconds
        Since the recording began.
    traceback
        Of an allocation, innermost frame first.
    kind
        None in snapshots of versions that did not note it.
    device
        Index of the device in its context; None for host memory.
    """

    nanoseconds: int
    op: Literal["allocate", "free"]
    pool: int
    address: int
    size: int
    queue: int
    traceback: tuple[str, ...] = ()
    kind: Kind | None = None
    device: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The pools of a process.

    Attributes
    ----------
    seconds
        When it was taken, in seconds since the epoch.
    has_blocks
        Whether segments list their blocks.
    history
        What a recording saw last, oldest first.
    """

    pid: int
    name: str
    seconds: float
    contexts: tuple[ContextSnapshot, ...] = ()
    has_blocks: bool = True
    is_recording: bool = False
    history: tuple[HistoryEntry, ...] = ()

    @property
    def pools(self) -> tuple[PoolSnapshot, ...]:
        """The pools of all contexts."""
        return tuple(pool for context in self.contexts for pool in context.pools)

    def to_json(self) -> str:
        """The snapshot as JSON, without a line end."""
        return "".join(self.json_parts())

    def json_parts(
        self, items_of: Callable[[Any, str], Iterable[str] | None] | None = None
    ) -> Iterator[str]:
        """Yield the JSON form in small parts, so that other threads have their turn between.

        Parameters
        ----------
        items_of
            For a value of this module and the name of a field that is an array: the JSON of each
            item, instead of what the value holds; None where the value holds them itself.
        """
        yield f'{{"format": {json.dumps(FORMAT)}, "schema": {SCHEMA}, "snapshot": '
        yield from _json_parts(self, items_of or _nothing_else)
        yield "}"

    @staticmethod
    def from_json(text: str | bytes, source: str = "snapshot") -> Snapshot:
        """Read the JSON form; ``source`` is what errors call it.

        Raises
        ------
        SnapshotError
            It is cut, is no snapshot, has another schema, or a field that cannot be.
        """
        return _decode_document(text, source)


def read_snapshot(path: str | Path) -> Snapshot:
    """Read a snapshot from a file.

    Raises
    ------
    SnapshotError
        The file cannot be read, or `Snapshot.from_json` refuses what it holds.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SnapshotError(f"{path} cannot be read: {error.strerror or error}") from None
    return Snapshot.from_json(data, str(path))


# -- JSON ------------------------------------------------------------------------------------------


def _nothing_else(value: Any, name: str) -> None:
    """Every field holds its items itself."""


def _json_parts(value: Any, items_of: Callable[[Any, str], Iterable[str] | None]) -> Iterator[str]:
    """Yield the JSON of a dataclass; one without dataclasses inside is one part."""
    before = "{"
    simple: dict[str, Any] = {}
    for field in fields(value):
        items = items_of(value, field.name)
        if items is not None:
            yield f"{before}{json.dumps(field.name)}: "
            separator = "["
            for item in items:
                yield separator + item
                separator = ", "
            yield "[]" if separator == "[" else "]"
            before = ", "
            continue
        content = getattr(value, field.name)
        if field.default is not MISSING and content == field.default:
            continue
        if isinstance(content, tuple) and content and is_dataclass(content[0]):
            yield f"{before}{json.dumps(field.name)}: "
            separator = "["
            for each in content:
                yield separator
                yield from _json_parts(each, items_of)
                separator = ", "
            yield "]"
            before = ", "
        elif is_dataclass(content):
            yield f"{before}{json.dumps(field.name)}: "
            yield from _json_parts(content, items_of)
            before = ", "
        else:
            simple[field.name] = content
    if simple:
        yield before + json.dumps(simple)[1:]
    else:
        yield "{}" if before == "{" else "}"


def _decode_document(text: str | bytes, source: str) -> Snapshot:
    try:
        document = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    except UnicodeDecodeError:
        raise SnapshotError(f"{source} is no snapshot: it is not text") from None
    except RecursionError:
        raise SnapshotError(f"{source} is no snapshot: it is nested too deeply") from None
    except ValueError as error:
        if not text.strip():
            raise SnapshotError(f"{source} is empty: what should be in it was cut") from None
        if text[:1] in ("{", b"{") and isinstance(error, json.JSONDecodeError) and _at_end(error):
            raise SnapshotError(f"{source} is cut: it ends after {len(text)} bytes") from None
        raise SnapshotError(f"{source} is no snapshot: it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SnapshotError(f"{source} is no snapshot: its format is not {FORMAT!r}")
    schema = document.get("schema")
    if schema != SCHEMA:
        advice = "take it again"
        if isinstance(schema, int) and schema > SCHEMA:
            advice = "look at it with the urasync_l0 that wrote it, or a newer one"
        raise SnapshotError(
            f"{source} has schema {schema!r}, and this version reads schema {SCHEMA}; {advice}"
        )
    snapshot = _decode(Snapshot, document.get("snapshot"), "snapshot", source)
    assert isinstance(snapshot, Snapshot)
    return snapshot


def _at_end(error: json.JSONDecodeError) -> bool:
    """Whether nothing is wrong but that the text ends."""
    return error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()


_Value = TypeVar("_Value")

_LARGEST = 2**64 - 1
_LATEST_SECONDS = 253_370_764_800
"""The year 9999, after which there are no dates."""


@cache
def _types(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    """Name, type and whether it must be there, of each field of a dataclass."""
    hints = get_type_hints(kind)
    return tuple(
        (field.name, hints[field.name], field.default is MISSING) for field in fields(kind)
    )


def _decode(kind: type[_Value], value: Any, where: str, source: str) -> _Value:
    """Make a value of a dataclass from plain data, with every field looked at: its type, that
    numbers are none that no address, size, count or time can be, and where segments are mapped."""
    if not isinstance(value, dict):
        raise _wrong(value, where, "an object", source)
    made: dict[str, Any] = {}
    for name, hint, needed in _types(kind):  # type: ignore[arg-type]  # a class is hashable
        if name in value:
            made[name] = _decode_field(hint, value[name], f"{where}.{name}", source)
        elif needed:
            raise SnapshotError(f"{source} is no snapshot: {where} has no {name!r}")
    result = kind(**made)
    if isinstance(result, SegmentSnapshot):
        _check_segment(result, where, source)
    if isinstance(result, Snapshot) and result.seconds > _LATEST_SECONDS:
        raise _wrong(result.seconds, f"{where}.seconds", "a date before the year 9999", source)
    return result


def _check_segment(segment: SegmentSnapshot, where: str, source: str) -> None:
    """Regions follow each other inside the segment, and every block lies in one."""
    end = segment.address
    for number, region in enumerate(segment.regions):
        if not end <= region[0] < region[1] <= segment.address + segment.size:
            expected = f"a region after {end:#x} in the segment"
            raise _wrong(list(region), f"{where}.regions[{number}]", expected, source)
        end = region[1]
    regions = iter(segment.regions)
    start, end = next(regions, (0, 0))
    at = start
    for number, block in enumerate(segment.blocks):
        if at == end:
            start, end = next(regions, (0, 0))
            at = start
        if block.address != at or not at < block.end <= end:
            expected = f"a block from {at:#x} on, in a region that ends at {end:#x}"
            raise _wrong([block.address, block.size], f"{where}.blocks[{number}]", expected, source)
        at = block.end


def _decode_field(hint: Any, value: Any, where: str, source: str) -> Any:
    if is_dataclass(hint):
        return _decode(hint, value, where, source)  # type: ignore[arg-type]
    if get_origin(hint) in (UnionType, Union):
        if value is None and NoneType in get_args(hint):
            return None
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise _wrong(value, where, "an array", source)
        inner = get_args(hint)
        if len(inner) == 2 and inner[1] is Ellipsis:
            item = inner[0]
            return tuple(
                _decode_field(item, each, f"{where}[{number}]", source)
                for number, each in enumerate(value)
            )
        if len(value) != len(inner):
            raise _wrong(value, where, f"an array of {len(inner)}", source)
        return tuple(
            _decode_field(item, each, where, source)
            for item, each in zip(inner, value, strict=True)
        )
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise _wrong(value, where, " or ".join(map(repr, get_args(hint))), source)
        return value
    if hint is float and type(value) is int:
        value = float(value) if abs(value) <= _LARGEST else math.inf
    if type(value) is not hint:
        names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
        raise _wrong(value, where, names[hint], source)
    if hint is str and not value.isprintable():  # a terminal might act on it
        return value.encode("unicode_escape").decode("ascii")
    if hint in (int, float) and not 0 <= value <= _LARGEST:
        raise _wrong(value, where, "a number from 0 to 2**64 - 1", source)
    return value


def _wrong(value: Any, where: str, expected: str, source: str) -> SnapshotError:
    return SnapshotError(f"{source} is no snapshot: {where} is {repr(value)[:40]}, not {expected}")
