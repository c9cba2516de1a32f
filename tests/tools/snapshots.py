# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fixed snapshot for tests of what is rendered: every state, kind and count occurs in it."""

from __future__ import annotations

import time
from dataclasses import replace

from urasync_l0 import PoolStatistics
from urasync_l0.snapshot import (
    IDLE,
    IN_USE,
    PENDING,
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

KIB, MIB = 1 << 10, 1 << 20
BASE = 0x7F0000000000
TAKEN = time.mktime((2026, 12, 2, 10, 30, 0, 0, 0, -1))  # shown in local time

FRAMES = ("load at /home/me/model.py:12", "main at /home/me/train.py:3")

_EXPANDING = SegmentSnapshot(
    kind="device",
    device=0,
    address=BASE,
    size=1 << 36,
    page_size=2 * MIB,
    regions=((BASE, BASE + 6 * MIB), (BASE + 100 * MIB, BASE + 102 * MIB)),
    blocks=(
        BlockSnapshot(BASE, 3 * MIB, IN_USE, 3 * MIB - 5, 1, age=11, seconds=75.5,
                      traceback=FRAMES),
        BlockSnapshot(BASE + 3 * MIB, 256 * KIB, PENDING, queue=2, stamp=9),
        BlockSnapshot(BASE + 3 * MIB + 256 * KIB, MIB, IN_USE, MIB, 2, age=1, seconds=0.25,
                      traceback=FRAMES[1:]),
        BlockSnapshot(BASE + 4 * MIB + 256 * KIB, 2 * MIB - 256 * KIB, IDLE),
        BlockSnapshot(BASE + 100 * MIB, 2 * MIB, IDLE),
    ),
)  # fmt: skip

_ALONE = SegmentSnapshot(
    kind="shared",
    device=0,
    address=0x10000000,
    size=4 * MIB,
    is_pooled=False,
    regions=((0x10000000, 0x10000000 + 4 * MIB),),
    blocks=(BlockSnapshot(0x10000000, 4 * MIB, IN_USE, 4 * MIB - 100, 1, age=0, seconds=0.001),),
)

_POOL = PoolSnapshot(
    id=1,
    name="default pool of device 0",
    release_threshold=0,
    maximum_size=64 * MIB,
    statistics=PoolStatistics(
        used=8 * MIB,
        used_high=9 * MIB,
        requested=8 * MIB - 105,
        pending=256 * KIB,
        idle=4 * MIB - 256 * KIB,
        reserved=12 * MIB,
        reserved_high=14 * MIB,
        allocations=1200,
        frees=1197,
        reused_own=900,
        reused_clock=200,
        reused_idle=94,
        reused_polled=12,
        reused_waited=3,
        inserted_waits=4,
        growths=6,
        driver_allocs=8,
        driver_frees=1,
        pages_moved=2,
        trims=1,
        ladder_releases=1,
        ladder_waits=2,
        out_of_memory=1,
    ),
    allocation=1200,
    segments=(_EXPANDING, _ALONE),
    pending=(PendingSnapshot(2, 1, 256 * KIB, 9, 9),),
)

_EMPTY = PoolSnapshot(
    id=2,
    name="host pool",
    release_threshold=0,
    maximum_size=0,
    statistics=PoolStatistics(
        used=0, used_high=0, requested=0, pending=0, idle=0, reserved=0, reserved_high=0
    ),
)

SNAPSHOT = Snapshot(
    pid=4242,
    name="train.py",
    seconds=TAKEN,
    contexts=(
        ContextSnapshot(
            id=3,
            adapter="v2",
            driver="system",
            devices=(DeviceSnapshot(0, "a device", 16 << 30),),
            queues=(
                QueueSnapshot(1, 0, sequence=20, completed=18, markers=(20,), clock=((2, 7),)),
                QueueSnapshot(2, 0, sequence=8, completed=7),
            ),
            pools=(_POOL, _EMPTY),
        ),
    ),
    is_recording=True,
    history=(
        HistoryEntry(1000, "allocate", 1, BASE, 3 * MIB, 1, FRAMES),
        HistoryEntry(3500, "allocate", 1, BASE + 3 * MIB, 256 * KIB, 2),
        HistoryEntry(9000, "free", 1, BASE + 3 * MIB, 256 * KIB, 2),
    ),
)


def later() -> Snapshot:
    """The same process two seconds on: one allocation is freed, another came at its address."""
    statistics = replace(
        _POOL.statistics,
        used=6 * MIB,
        pending=2 * MIB + 256 * KIB,
        allocations=1203,
        frees=1200,
        reused_own=902,
        growths=7,
    )
    blocks = list(_EXPANDING.blocks)
    blocks[0] = replace(blocks[0], age=14, seconds=77.5)
    blocks[2] = replace(blocks[2], age=0, seconds=0.5, traceback=FRAMES)
    segments = (replace(_EXPANDING, blocks=tuple(blocks)),)
    pool = replace(_POOL, statistics=statistics, allocation=1203, segments=segments)
    (context,) = SNAPSHOT.contexts
    contexts = (replace(context, pools=(pool, _EMPTY)),)
    return replace(SNAPSHOT, contexts=contexts, seconds=TAKEN + 2.0)
