# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``export --format timeline``: a recorded history for a browser's timeline.

The form is that of Chrome's trace events, which Perfetto and ``chrome://tracing`` open: a counter
of the bytes in use for each pool, and a slice for each allocation, on the track of its queue.
"""

from __future__ import annotations

from typing import Any

from urasync_l0.snapshot import HistoryEntry, Snapshot
from urasync_l0.tools.failure import ToolError
from urasync_l0.tools.layout import binary_size


def timeline_of(snapshot: Snapshot) -> dict[str, Any]:
    """The history of a snapshot as trace events; times in microseconds.

    Raises
    ------
    ToolError
        If nothing was recorded.
    """
    require_history(snapshot)
    names = {pool.id: pool.name for pool in snapshot.pools}
    pid = snapshot.pid
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": snapshot.name}}
    ]
    queues = sorted({entry.queue for entry in snapshot.history})
    events.extend(
        {"ph": "M", "pid": pid, "tid": queue, "name": "thread_name",
         "args": {"name": f"queue {queue}"}}
        for queue in queues
    )  # fmt: skip
    used = _used_at_start(snapshot)
    live: dict[tuple[int, int], tuple[int, HistoryEntry]] = {}
    for number, entry in enumerate(snapshot.history):
        key = entry.pool, entry.address
        if entry.op == "allocate":
            live[key] = number, entry
            events.append(_slice("b", number, entry, entry, pid))
            used[entry.pool] = used.get(entry.pool, 0) + entry.size
        else:
            begun = live.pop(key, None)
            if begun is not None:
                events.append(_slice("e", begun[0], begun[1], entry, pid))
            used[entry.pool] = used.get(entry.pool, 0) - entry.size
        pool = names.get(entry.pool, f"pool {entry.pool}")
        events.append(
            {
                "ph": "C",
                "pid": pid,
                "ts": entry.nanoseconds / 1000,
                "name": f"{pool} ({entry.pool}): in use",
                "args": {"bytes": used[entry.pool]},
            }
        )
    last = snapshot.history[-1]
    events.extend(_slice("e", number, entry, last, pid) for number, entry in live.values())
    return {"displayTimeUnit": "ms", "traceEvents": events}


def require_history(snapshot: Snapshot) -> None:
    """Raise `ToolError` if nothing was recorded."""
    if not snapshot.history:
        raise ToolError(
            f"Process {snapshot.pid} ({snapshot.name}) has recorded no history; start it with "
            "URASYNC_L0_RECORD_HISTORY=100000, or call urasync_l0.record_allocations("
            "history=100000) in it."
        )


def _used_at_start(snapshot: Snapshot) -> dict[int, int]:
    """Bytes in use when the history begins: those of the end, less what it shows."""
    used = {pool.id: pool.statistics.used for pool in snapshot.pools}
    for entry in snapshot.history:
        change = entry.size if entry.op == "allocate" else -entry.size
        used[entry.pool] = used.get(entry.pool, 0) - change
    return used


def _slice(
    phase: str, number: int, entry: HistoryEntry, at: HistoryEntry, pid: int
) -> dict[str, Any]:
    event: dict[str, Any] = {
        "ph": phase,
        "cat": "allocation",
        "id": number,
        "pid": pid,
        "tid": entry.queue,
        "ts": at.nanoseconds / 1000,
        "name": binary_size(entry.size),
    }
    if phase == "b":
        event["args"] = {
            "bytes": entry.size,
            "address": f"{entry.address:#x}",
            "pool": entry.pool,
            "queue": entry.queue,
        }
        if entry.traceback:
            event["args"]["allocated by"] = list(entry.traceback)
    return event
