# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``export --format torch``: a snapshot in the form that PyTorch's memory viewer opens.

The viewer reads a pickle of plain data: the segments with their blocks, and, for each device, what
was recorded. Mapped regions are its segments, queues its streams; host memory is shown as one more
device after the others. The viewer goes through the record backwards and looks for the segment of
every allocation, so memory that has gone back to the driver since is shown as empty segments.
"""

from __future__ import annotations

import pickle
from bisect import bisect_right
from typing import Any

from urasync_l0.snapshot import (
    IDLE,
    IN_USE,
    PENDING,
    BlockSnapshot,
    HistoryEntry,
    SegmentSnapshot,
    Snapshot,
)

_STATES = {IN_USE: "active_allocated", PENDING: "active_pending_free", IDLE: "inactive"}
_PROTOCOL = 4


def torch_snapshot(snapshot: Snapshot) -> bytes:
    """The snapshot as the pickle that the viewer opens; times in microseconds."""
    host = max((len(context.devices) for context in snapshot.contexts), default=0)
    segments = [
        _segment(segment, start, end, host if segment.device is None else segment.device, pool.id)
        for pool in snapshot.pools
        for segment in pool.segments
        for start, end in segment.regions
    ]
    segments.extend(_gone(snapshot, host))
    traces: list[list[dict[str, Any]]] = [[] for _ in range(host + 1)]
    for entry in snapshot.history:
        plain = {
            "addr": entry.address,
            "size": entry.size,
            "stream": entry.queue,
            "time_us": entry.nanoseconds // 1000,
            "frames": _frames(entry.traceback),
        }
        trace = traces[_device(entry, host)]
        if entry.op == "allocate":
            trace.append({"action": "alloc", **plain})
        else:
            trace.append({"action": "free_requested", **plain})
            trace.append({"action": "free_completed", **plain})
    return pickle.dumps(
        {"segments": segments, "device_traces": traces, "allocator_settings": {}}, _PROTOCOL
    )


def _device(entry: HistoryEntry, host: int) -> int:
    """The device whose record an entry belongs to: memory of no known kind is taken for device 0's,
    as is that of a device which is not there any more."""
    if entry.kind is not None and entry.device is None:
        return host
    return entry.device if entry.device is not None and entry.device < host else 0


def _gone(snapshot: Snapshot, host: int) -> list[dict[str, Any]]:
    """Segments for what was recorded at addresses that are not mapped any more."""
    mapped = sorted(
        region for pool in snapshot.pools for segment in pool.segments for region in segment.regions
    )
    starts = [start for start, _ in mapped]
    gone: list[list[int]] = []
    for address, size, device in sorted(
        {(each.address, each.size, _device(each, host)) for each in snapshot.history}
    ):
        at = bisect_right(starts, address) - 1
        if at >= 0 and address < mapped[at][1]:
            continue
        following = mapped[at + 1][0] if at + 1 < len(mapped) else address + size
        end = min(address + size, max(following, address + 1))
        if gone and gone[-1][2] == device and address <= gone[-1][1]:
            gone[-1][1] = max(gone[-1][1], end)
        else:
            gone.append([address, end, device])
    return [
        {
            "device": device,
            "address": start,
            "total_size": end - start,
            "stream": 0,
            "segment_type": "large",
            "frames": [],
            "blocks": [],
        }
        for start, end, device in gone
    ]


def _segment(
    segment: SegmentSnapshot, start: int, end: int, device: int, pool: int
) -> dict[str, Any]:
    blocks = [block for block in segment.blocks if start <= block.address < end]
    used = sum(block.size for block in blocks if block.state == IN_USE)
    pending = sum(block.size for block in blocks if block.state == PENDING)
    return {
        "device": device,
        "address": start,
        "total_size": end - start,
        "allocated_size": used,
        "active_size": used + pending,
        "requested_size": sum(block.requested for block in blocks),
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, pool),
        "is_expandable": bool(segment.page_size),
        "frames": [],
        "blocks": [_block(block) for block in blocks],
    }


def _block(block: BlockSnapshot) -> dict[str, Any]:
    return {
        "address": block.address,
        "size": block.size,
        "requested_size": block.requested or block.size,
        "state": _STATES[block.state],
        "frames": _frames(block.traceback),
    }


def _frames(traceback: tuple[str, ...]) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    for frame in traceback:
        name, _, place = frame.partition(" at ")
        file, _, line = place.rpartition(":")
        frames.append({"name": name, "filename": file, "line": int(line) if line.isdigit() else 0})
    return frames
