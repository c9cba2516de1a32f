# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a pool holds and why it does not give it back, found in a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from urasync_l0.snapshot import (
    IDLE,
    IN_USE,
    PENDING,
    BlockSnapshot,
    ContextSnapshot,
    PoolSnapshot,
    QueueSnapshot,
    SegmentSnapshot,
)
from urasync_l0.tools.layout import Layout
from urasync_l0.wording import counted

KEEPS_EVERYTHING = 1 << 60
"""A release threshold from here on is no number that a user chose."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Some bytes of a pool in one state, and what keeps them there."""

    state: str
    size: int
    reason: str


def blocks_of(pool: PoolSnapshot) -> Iterator[tuple[SegmentSnapshot, BlockSnapshot]]:
    """Yield the blocks of a pool with their segments."""
    for segment in pool.segments:
        for block in segment.blocks:
            yield segment, block


def findings(
    pool: PoolSnapshot, context: ContextSnapshot, layout: Layout, *, has_blocks: bool = True
) -> list[Finding]:
    """What a pool holds, state by state; nothing for a pool without memory."""
    numbers = pool.statistics
    found: list[Finding] = []
    if numbers.used:
        used = [block for _, block in blocks_of(pool) if block.state == IN_USE]
        found.append(Finding(IN_USE, numbers.used, _in_use(pool, used, layout)))
    queues = {queue.id: queue for queue in context.queues}
    for each in pool.pending:
        reason = _pending(each.queue, each.blocks, each.last_stamp, queues.get(each.queue))
        found.append(Finding(PENDING, each.size, reason))
    if numbers.idle:
        found.extend(_idle(pool, layout, has_blocks=has_blocks))
    return found


def whole_idle_bytes(segment: SegmentSnapshot) -> int:
    """Idle bytes of a segment that can go back to the driver: whole pages, or the segment."""
    if not segment.is_owned:
        return 0
    if not segment.page_size:
        free = sum(block.size for block in segment.blocks if block.state == IDLE)
        return free if free == segment.mapped else 0
    page = segment.page_size
    whole = 0
    for block in segment.blocks:
        if block.state == IDLE:
            first = -(-(block.address - segment.address) // page)
            last = (block.end - segment.address) // page
            whole += max(0, last - first) * page
    return whole


def _in_use(pool: PoolSnapshot, used: Iterable[BlockSnapshot], layout: Layout) -> str:
    blocks = list(used)
    if not blocks:
        numbers = pool.statistics
        return counted(numbers.allocations - numbers.frees, "allocation")
    words = [counted(len(blocks), "allocation")]
    sizes: Counter[int | None] = Counter()
    for block in blocks:
        sizes[block.queue] += block.size
    ((queue, most),) = sizes.most_common(1)
    share = "all of" if len(sizes) == 1 else f"{layout.size(most)} of"
    words.append(f"{share} {'no queue' if queue is None else f'queue {queue}'}")
    largest = max(block.size for block in blocks)
    if len(blocks) > 1:
        words.append(f"the largest {layout.size(largest)}")
    oldest = max(blocks, key=lambda block: block.age or 0)
    if oldest.age:
        words.append(f"the oldest {counted(oldest.age, 'allocation')} ago")
    return ", ".join(words)


def _pending(number: int, blocks: int, stamp: int, queue: QueueSnapshot | None) -> str:
    freed = f"{counted(blocks, 'block')} freed on queue {number}"
    if queue is None:
        return f"{freed}, which is closed: idle at the next look"
    if queue.completed >= stamp:
        return f"{freed}, which is complete: idle at the next look"
    known = f"known complete to command {queue.completed:,} of {queue.sequence:,}"
    if queue.sequence < stamp:
        return f"{freed}, {known}, and nobody has asked since: finish it, or let it go on"
    return f"{freed}, {known}: busy, or not asked since; finish it, or wait for an event of it"


def _idle(pool: PoolSnapshot, layout: Layout, *, has_blocks: bool) -> list[Finding]:
    idle = pool.statistics.idle
    if not has_blocks:
        return [Finding(IDLE, idle, _kept(pool, layout))]
    whole = min(idle, sum(map(whole_idle_bytes, pool.segments)))
    user = sum(
        block.size
        for segment, block in blocks_of(pool)
        if block.state == IDLE and not segment.is_owned
    )
    found: list[Finding] = []
    if whole:
        found.append(Finding(IDLE, whole, _kept(pool, layout)))
    if user:
        found.append(Finding(IDLE, user, "in memory of the user's own, which the pool lies in"))
    rest = idle - whole - user
    if rest > 0:
        found.append(
            Finding(IDLE, rest, "on pages or in segments that also hold memory in use or pending")
        )
    return found


def _kept(pool: PoolSnapshot, layout: Layout) -> str:
    if pool.release_threshold >= KEEPS_EVERYTHING:
        return "kept for reuse: the release threshold keeps everything; trim_to(0) gives it back"
    if pool.statistics.reserved <= pool.release_threshold:
        threshold = layout.size(pool.release_threshold)
        return f"kept for reuse: the release threshold is {threshold}; trim_to(0) gives it back"
    return "goes back at the next finish of a queue, or with trim_to(0)"
