# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Taking a snapshot of this process, from any thread, while others allocate.

Each pool's lock is held once, to copy numbers; the values are made afterwards. Nothing is asked of
the driver, so what is shown as pending is what is not *known* to be complete.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from urasync_l0.context import open_contexts
from urasync_l0.enums import UsmType
from urasync_l0.numbering import number_of
from urasync_l0.pool.pool_copy import BLOCK_FIELDS, PoolCopy, SegmentCopy, copy_pool
from urasync_l0.recording import Recording, as_text, current_recording
from urasync_l0.snapshot import (
    IDLE,
    PENDING,
    STATES,
    BlockSnapshot,
    ContextSnapshot,
    DeviceSnapshot,
    HistoryEntry,
    PendingSnapshot,
    PoolSnapshot,
    QueueSnapshot,
    SegmentSnapshot,
    Snapshot,
)

if TYPE_CHECKING:
    from urasync_l0.native_context import NativeContext
    from urasync_l0.pool import Pool, QueueOrder


def take_snapshot(*, blocks: bool = True) -> Snapshot:
    """A snapshot of every pool of every open context of this process. Any thread may call.

    Parameters
    ----------
    blocks
        Whether to list blocks. Without, a snapshot costs some microseconds, however many there are.
    """
    recording = current_recording()
    contexts = [_context(native, recording, blocks=blocks) for native in open_contexts()]
    contexts.sort(key=lambda context: context.id)
    return Snapshot(
        pid=os.getpid(),
        name=program_name(),
        seconds=time.time(),
        contexts=tuple(contexts),
        has_blocks=blocks,
        is_recording=recording is not None,
        history=_history(recording) if recording is not None and blocks else (),
    )


def program_name() -> str:
    """What the program is called: the file name of its script, or else that of its process."""
    arguments: list[str] = getattr(sys, "argv", None) or [""]
    name = os.path.basename(arguments[0])
    if name and name not in ("-c", "-m", "-"):
        return name
    try:
        # A program in C++ that has Python inside has no script.
        return Path("/proc/self/comm").read_text("utf-8", "replace").strip() or "python"
    except OSError:
        return "python"


def _context(
    native: NativeContext, recording: Recording | None, *, blocks: bool
) -> ContextSnapshot:
    copies = [(pool, copy_pool(pool, blocks=blocks)) for pool in native.registry.pools()]
    devices = {device: index for index, device in enumerate(native.devices)}
    places = {each.order.id: devices[each.device] for each in list(native.lists.values())}
    adapter, driver = native.names
    return ContextSnapshot(
        id=number_of(native),
        adapter=adapter,
        driver=driver,
        devices=tuple(
            DeviceSnapshot(index, device.name, device.total_memory)
            for index, device in enumerate(native.devices)
        ),
        queues=tuple(_queue(order, places.get(order.id)) for order in native.domain.queues()),
        pools=tuple(_pool(pool, copy, native.host_order.id, recording) for pool, copy in copies),
    )


def _queue(order: QueueOrder, device: int | None) -> QueueSnapshot:
    # Without the queue's lock, which is held while its commands are appended: a queue that is stuck
    # in the driver is what somebody may want to see. Each of these is read as a whole.
    markers, clock, completed = tuple(order.markers), order.clock, order.completed
    sequence = order.sequence
    return QueueSnapshot(
        id=order.id,
        device=device,
        sequence=sequence,
        completed=min(completed, sequence),
        markers=tuple(marker.mark.number for marker in markers),
        clock=tuple(sorted((other.id, number) for other, number in clock.items())),
    )


def _pool(pool: Pool, copy: PoolCopy, no_queue: int, recording: Recording | None) -> PoolSnapshot:
    return PoolSnapshot(
        id=number_of(pool),
        name=pool.name,
        release_threshold=copy.release_threshold,
        maximum_size=copy.maximum_size,
        statistics=copy.statistics,
        allocation=copy.births,
        is_closed=copy.is_closed,
        segments=tuple(_segment(each, copy.births, no_queue, recording) for each in copy.segments),
        pending=tuple(PendingSnapshot(*each) for each in sorted(copy.pending)),
    )


def _segment(
    copy: SegmentCopy, births: int, no_queue: int, recording: Recording | None
) -> SegmentSnapshot:
    kind, device = copy.key
    bounds = iter(copy.regions)
    origins = recording.origins if recording is not None else {}
    now = time.monotonic_ns() - recording.began if recording is not None else 0
    blocks: list[BlockSnapshot] = []
    numbers = copy.blocks
    for at in range(0, len(numbers), BLOCK_FIELDS):
        address, size, state, requested, born, queue, stamp = numbers[at : at + BLOCK_FIELDS]
        name = STATES[state]
        if name == IDLE:
            blocks.append(BlockSnapshot(address, size, name))
            continue
        if name == PENDING:
            blocks.append(BlockSnapshot(address, size, name, queue=queue, stamp=stamp))
            continue
        origin = origins.get(address)
        if origin is not None and origin.born != born:
            origin = None
        blocks.append(
            BlockSnapshot(
                address,
                size,
                name,
                requested=requested,
                queue=None if queue == no_queue else queue,
                age=births - born,
                seconds=None if origin is None else (now - origin.nanoseconds) / 1e9,
                traceback=() if origin is None else as_text(origin.frames),
            )
        )
    return SegmentSnapshot(
        kind=UsmType(kind).name.lower(),
        device=device if device >= 0 else None,
        address=copy.address,
        size=copy.size,
        page_size=copy.page_size,
        is_pooled=copy.is_pooled,
        is_owned=copy.is_owned,
        regions=tuple(zip(bounds, bounds, strict=True)),
        blocks=tuple(blocks),
    )


def _history(recording: Recording) -> tuple[HistoryEntry, ...]:
    return tuple(
        HistoryEntry(
            each.nanoseconds,
            each.op,
            each.pool,
            each.address,
            each.size,
            each.queue,
            as_text(each.frames),
        )
        for each in recording.history.copy()
    )
