# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Taking a snapshot of this process, from any thread, while others allocate.

Each pool's lock is held once, to copy numbers; the values are made afterwards. Nothing is asked of
the driver, so what is shown as pending is what is not *known* to be complete.

What goes to a file or a client is written from those numbers: an object for each of many blocks
would set off full collections, and those stop the whole program.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from urasync_l0.device import memory_position
from urasync_l0.enums import UsmType
from urasync_l0.numbering import number_of
from urasync_l0.open_contexts import open_contexts
from urasync_l0.pool.pool_copy import BLOCK_FIELDS, PoolCopy, SegmentCopy, copy_pool
from urasync_l0.recording import as_text, current_recording
from urasync_l0.snapshot import (
    IDLE,
    PENDING,
    STATES,
    BlockSnapshot,
    ContextSnapshot,
    DeviceSnapshot,
    HistoryEntry,
    Kind,
    PendingSnapshot,
    PoolSnapshot,
    QueueSnapshot,
    SegmentSnapshot,
    Snapshot,
    State,
)

_Block = tuple[int, int, State, int, int | None, int, int | None, float | None, tuple[str, ...]]
"""The fields of a `BlockSnapshot`, in their order."""

_Entry = tuple[
    int,
    Literal["allocate", "free"],
    int,
    int,
    int,
    int,
    tuple[str, ...],
    Kind,
    int | None,
]
"""Those of a `HistoryEntry`."""

_ENTRY = tuple(field.name for field in fields(HistoryEntry))

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
    return _Look(blocks=blocks).snapshot(whole=True)


def snapshot_json_parts(*, blocks: bool = True) -> Iterator[str]:
    """Take a snapshot as `take_snapshot` does, and yield its JSON form in small parts.

    Creates no lasting object for each block. Any thread may call.
    """
    look = _Look(blocks=blocks)
    return look.snapshot(whole=False).json_parts(look.items_of)


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


class _Look:
    """The numbers of one snapshot, and what is made of them: values, or JSON."""

    def __init__(self, *, blocks: bool) -> None:
        self._recording = recording = current_recording()
        self._blocks = blocks
        # Of blocks that may be freed before they are written: what is in a pool's copy was here, or
        # came since and is looked up then.
        self._origins = recording.origins.copy() if recording is not None and blocks else {}
        self._contexts = [
            (native, [(pool, copy_pool(pool, blocks=blocks)) for pool in native.registry.pools()])
            for native in sorted(open_contexts(), key=number_of)
        ]
        self._segments: dict[int, tuple[SegmentCopy, int, int]] = {}
        self._seconds = time.time()
        self._now = time.monotonic_ns()

    def snapshot(self, *, whole: bool) -> Snapshot:
        """The snapshot; unless ``whole``, without blocks and history, which `items_of` gives."""
        contexts = tuple(self._context(native, copies, whole) for native, copies in self._contexts)
        return Snapshot(
            pid=os.getpid(),
            name=program_name(),
            seconds=self._seconds,
            contexts=contexts,
            has_blocks=self._blocks,
            is_recording=self._recording is not None,
            history=tuple(HistoryEntry(*each) for each in self._history()) if whole else (),
        )

    def items_of(self, value: Any, name: str) -> Iterable[str] | None:
        """The JSON of each block of a segment, and of each entry of the history."""
        if name == "blocks" and isinstance(value, SegmentSnapshot) and self._blocks:
            return map(_block_json, self._blocks_of(*self._segments[id(value)]))
        if name == "history" and self._blocks and self._recording is not None:
            return map(_entry_json, self._history())
        return None

    def _context(
        self, native: NativeContext, copies: list[tuple[Pool, PoolCopy]], whole: bool
    ) -> ContextSnapshot:
        devices = {device: index for index, device in enumerate(native.devices)}
        places = {
            each.order.id: devices.get(each.device, memory_position(native.devices, each.device))
            for each in list(native.lists.values())
        }
        adapter, driver = native.names
        no_queue = native.host_order.id
        return ContextSnapshot(
            id=number_of(native),
            adapter=adapter,
            driver=driver,
            devices=tuple(
                DeviceSnapshot(index, device.name, device.total_memory)
                for index, device in enumerate(native.devices)
            ),
            queues=tuple(_queue(order, places.get(order.id)) for order in native.domain.queues()),
            pools=tuple(self._pool(pool, copy, no_queue, whole) for pool, copy in copies),
        )

    def _pool(self, pool: Pool, copy: PoolCopy, no_queue: int, whole: bool) -> PoolSnapshot:
        segments = tuple(
            self._segment(each, copy.births, no_queue, whole) for each in copy.segments
        )
        return PoolSnapshot(
            id=number_of(pool),
            name=pool.name,
            release_threshold=copy.release_threshold,
            maximum_size=copy.maximum_size,
            statistics=copy.statistics,
            allocation=copy.births,
            is_closed=copy.is_closed,
            segments=segments,
            pending=tuple(PendingSnapshot(*each) for each in sorted(copy.pending)),
        )

    def _segment(
        self, copy: SegmentCopy, births: int, no_queue: int, whole: bool
    ) -> SegmentSnapshot:
        kind, device = copy.key
        bounds = iter(copy.regions)
        blocks = self._blocks_of(copy, births, no_queue) if whole else ()
        made = SegmentSnapshot(
            kind=_kind(kind),
            device=_device(device),
            address=copy.address,
            size=copy.size,
            page_size=copy.page_size,
            is_pooled=copy.is_pooled,
            is_owned=copy.is_owned,
            regions=tuple(zip(bounds, bounds, strict=True)),
            blocks=tuple(BlockSnapshot(*each) for each in blocks),
        )
        self._segments[id(made)] = copy, births, no_queue
        return made

    def _blocks_of(self, copy: SegmentCopy, births: int, no_queue: int) -> Iterator[_Block]:
        recording = self._recording
        later = recording.origins if recording is not None else {}
        now = self._now - recording.began if recording is not None else 0
        numbers = copy.blocks
        for at in range(0, len(numbers), BLOCK_FIELDS):
            address, size, state, requested, born, queue, stamp = numbers[at : at + BLOCK_FIELDS]
            name = STATES[state]
            if name == IDLE:
                yield address, size, name, 0, None, 0, None, None, ()
                continue
            if name == PENDING:
                yield address, size, name, 0, queue, stamp, None, None, ()
                continue
            seconds: float | None = None
            frames: tuple[str, ...] = ()
            origin = self._origins.get(address)
            if origin is None or origin.born != born:
                origin = later.get(address)
            if origin is not None and origin.born == born:  # else the address was given out again
                seconds = max(0, now - origin.nanoseconds) / 1e9
                frames = as_text(origin.frames)
            owner = None if queue == no_queue else queue
            yield address, size, name, requested, owner, 0, births - born, seconds, frames

    def _history(self) -> Iterator[_Entry]:
        if self._recording is None or not self._blocks:
            return
        for each in self._recording.history.copy():
            kind, device = each.key
            yield (
                each.nanoseconds,
                each.op,
                each.pool,
                each.address,
                each.size,
                each.queue,
                as_text(each.frames),
                _kind(kind),
                _device(device),
            )


def _kind(kind: UsmType) -> Kind:
    return cast(Kind, UsmType(kind).name.lower())


def _device(index: int) -> int | None:
    """The index of a device in its context, where host memory has -1."""
    return index if index >= 0 else None


def _block_json(block: _Block) -> str:
    address, size, state, requested, queue, stamp, age, seconds, frames = block
    text = f'{{"address": {address}, "size": {size}, "state": "{state}"'
    if requested:
        text += f', "requested": {requested}'
    if queue is not None:
        text += f', "queue": {queue}'
    if stamp:
        text += f', "stamp": {stamp}'
    if age is not None:
        text += f', "age": {age}'
    if seconds is not None:
        text += f', "seconds": {seconds!r}'
    if frames:
        text += f', "traceback": {json.dumps(frames)}'
    return text + "}"


def _entry_json(entry: _Entry) -> str:
    text = ", ".join(
        f'"{name}": {json.dumps(value)}' for name, value in zip(_ENTRY, entry, strict=True)
    )
    return f"{{{text}}}"


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
