# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log of RMM's logging resource adaptor: a CSV file with a row for each call.

Columns are found by their names, so their order does not matter; needed are the action, the
pointer, the size and the stream. Failed allocations gave nothing and are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from urasync_l0.tools.replayer.foreign_trace import ForeignTrace
from urasync_l0.tools.replayer.trace import TraceError

_NEEDED = ("action", "pointer", "size", "stream")


def is_rmm_log(data: bytes) -> bool:
    """Whether the first line is a header with the needed columns."""
    first = data[:1024].partition(b"\n")[0].decode("utf-8", "replace").lower()
    names = {name.strip() for name in first.split(",")}
    return all(name in names for name in _NEEDED)


def read_rmm_log(data: bytes, path: str, queues: int) -> ForeignTrace:
    """Read the bytes of a log; `path` is what errors call it.

    Raises
    ------
    TraceError
        A row has too few fields, an unknown action, or no number where one belongs.
    """
    trace = ForeignTrace(path, queues)
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise TraceError(path, 0, f"not UTF-8 at byte {error.start}") from None
    failed = 0
    rows = _rows(path, lines)
    _, header = next(rows)
    names = [name.strip().lower() for name in header]
    for name in _NEEDED:
        if name not in names:
            raise TraceError(path, 1, f"the header has no column {name!r}")
    action_at, pointer_at, size_at, stream_at = (names.index(name) for name in _NEEDED)
    for line, row in rows:
        if not row:
            continue
        if len(row) < len(names):
            raise TraceError(
                path, line, f"{len(row)} fields; expected {len(names)}: is the file cut?"
            )
        action = row[action_at].strip().lower()
        stream = row[stream_at].strip()
        if action == "allocate failure":
            failed += 1
        elif action == "allocate":
            size = _number(path, line, "size", row[size_at], 10)
            trace.allocate(line, _pointer(path, line, row[pointer_at]), size, stream)
        elif action in ("free", "deallocate"):
            trace.free(line, _pointer(path, line, row[pointer_at]), stream)
        else:
            raise TraceError(
                path, line, f"unknown action {action[:40]!r}; expected allocate or free"
            )
    if failed:
        trace.note(f"{failed} failed allocations are left out")
    return trace


def _rows(path: str, lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row, with the number of its last line."""
    rows = csv.reader(lines)
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise TraceError(path, rows.line_num, f"no row of a log: {error}") from None


def _pointer(path: str, line: int, text: str) -> int:
    text = text.strip()
    return 0 if text in ("", "(nil)") else _number(path, line, "pointer", text, 16)


def _number(path: str, line: int, name: str, text: str, base: int) -> int:
    try:
        if len(text) > 24:
            raise ValueError(text)
        return int(text, base)
    except ValueError:
        raise TraceError(path, line, f"the {name} is {text[:40]!r}, no number") from None
