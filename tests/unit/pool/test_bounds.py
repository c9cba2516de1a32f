# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stays bounded in a program that never synchronises, and what costs nothing at all."""

from __future__ import annotations

import random
import sys

import pytest

from tests.helpers.pool_fakes import DEVICE, MIB, SHARED, FakeQueue, Program
from urasync_l0.pool import Block, HeapKey, Pool, ReusePolicy

PENDING_AT_MOST = 300
"""Pieces that a queue may have pending, over all queues of these programs."""

EVENTS_AT_MOST = 80
"""Markers, and events of markers, that may live at a time: 16 for each of four queues, and some."""


class Unsynchronised:
    """A program of pairs of an allocation and a free of random sizes that never synchronises.

    Its queues run ``lag`` commands behind, or at once with none.
    """

    def __init__(self, count: int, key: HeapKey, lag: int = 0) -> None:
        self.program = Program()
        self.pool = self.program.pool()
        self.queues = [self.program.queue(eager=not lag) for _ in range(count)]
        self.key = key
        self.lag = lag
        self.most_pending = 0
        self.most_markers = 0
        self.live: list[tuple[FakeQueue, Block]] = []
        self.heap = self.pool._heaps[key]

    def run(self, pairs: int, depth: int) -> None:
        """Make pairs, with ``depth`` blocks in use at a time. The oracle would take too long."""
        chance = random.Random(7)
        registry = self.program.registry
        for pair in range(pairs):
            queue = self.queues[pair % len(self.queues)]
            size = int(2 ** chance.uniform(0, 20))
            with queue.order.lock:
                queue.order.advance()
            block = self.pool.allocate(queue.order, self.key, size, undoable=False)
            self.live.append((queue, block))
            if len(self.live) > depth:
                owner, block = self.live.pop(chance.randrange(depth))
                registry.claim(block.address)
                self.pool.free(block, owner.order, owner.order.sequence + 1)
            if self.lag:
                queue.reach(queue.order.sequence - self.lag)
            if pair % 64 == 0:
                self.look()

    def look(self) -> None:
        """Note how many pieces and markers there are."""
        pending = sum(len(view.pending) for view in self.heap.views.values())
        markers = sum(len(queue.order.markers) for queue in self.queues)
        self.most_pending = max(self.most_pending, pending)
        self.most_markers = max(self.most_markers, markers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "queues", "lag", "pairs"),
    [
        (DEVICE, 1, 0, 100_000),
        (DEVICE, 4, 0, 100_000),
        (DEVICE, 4, 50, 20_000),
        (SHARED, 1, 0, 20_000),
        (SHARED, 4, 0, 20_000),
        (SHARED, 4, 50, 20_000),
    ],
)
def test_pending_pieces_markers_and_memory_stay_bounded(
    key: HeapKey, queues: int, lag: int, pairs: int
) -> None:
    """MEM-4: 100,000 pairs of random sizes without any synchronisation, on one queue and on four
    (those also running behind): pieces, markers, events and memory all stay bounded."""
    run = Unsynchronised(queues, key, lag)
    run.run(pairs // 10, 8)
    early = run.pool.statistics()
    run.run(pairs - pairs // 10, 8)
    late = run.pool.statistics()
    assert run.most_pending <= PENDING_AT_MOST
    assert run.most_markers <= EVENTS_AT_MOST
    assert run.program.world.most_events <= EVENTS_AT_MOST
    assert late.reserved <= 2 * max(early.reserved_high, 16 * MIB)
    # Queues that run behind wait for each other now and then, rather than the pool growing.
    assert late.inserted_waits <= early.inserted_waits + (pairs // 20 if lag else 100)
    assert late.ladder_waits == 0
    run.pool.check()


def test_queue_that_never_runs_has_bounded_markers() -> None:
    """A held queue is not given marker upon marker, however much it frees and others ask."""
    program = Program()
    pool, held, other = program.pool(), program.queue(), program.queue()
    for number in range(2000):
        with held.order.lock:
            held.order.advance()
        program.free(held, program.alloc(pool, held, 256 * (number % 7 + 1)))
        program.free(other, program.alloc(pool, other, 256 * (number % 5 + 1)))
    assert len(held.order.markers) <= 16
    assert program.world.most_events <= 40
    pool.check()


def test_warm_pair_makes_no_call() -> None:
    """PERF-3: a thousand pairs on one queue, memory warm: not one driver call, and not one command
    on the queue."""
    for key in (DEVICE, SHARED):
        program = Program()
        pool, queue = program.pool(), program.queue()
        program.free(queue, program.alloc(pool, queue, 4096, key=key))
        calls = program.calls.total
        for _ in range(1000):
            block = pool.allocate(queue.order, key, 4096)
            program.registry.claim(block.address)
            pool.free(block, queue.order, queue.order.sequence + 1)
        assert program.calls.total == calls
        assert queue.order.sequence == 0
        assert pool.statistics().reused_own == 1000
        pool.check()


def test_warm_pairs_of_several_sizes_make_no_call() -> None:
    """PERF-3: neither do pairs that split and rejoin what the queue has."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    program.free(queue, program.alloc(pool, queue, MIB))
    calls = program.calls.total
    for number in range(60):
        blocks = [program.alloc(pool, queue, size) for size in (256, 70_000, 1000 + number)]
        for block in blocks:
            program.free(queue, block)
    assert program.calls.total == calls
    pool.check()


def calls_of_a_synchronisation(program: Program, queue: FakeQueue) -> int:
    """How many functions the pools enter, in Python or in C, once the host has waited."""
    mark = queue.synchronise()
    entered: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: entered.append(event))
    try:
        program.registry.synchronised(mark)
    finally:
        sys.setprofile(before)
    return sum(event.endswith("call") for event in entered)


@pytest.mark.parametrize("key", [DEVICE, SHARED])
def test_a_synchronisation_takes_as_much_as_it_completes(key: HeapKey) -> None:
    """Eight times the frees, no more than eight times the steps."""

    def steps(freed: int) -> int:
        program = Program()
        pool, queue = program.pool(), program.queue()
        blocks = [program.alloc(pool, queue, 4096, key=key) for _ in range(2 * freed)]
        for block in blocks[::2]:  # no two neighbours, so that all of them are pending
            program.free(queue, block)
        result = calls_of_a_synchronisation(program, queue)
        assert pool.statistics().pending == 0
        return result

    assert steps(800) <= 9 * steps(100)


@pytest.mark.parametrize("key", [DEVICE, SHARED])
def test_a_synchronisation_looks_at_no_block_that_must_stay(key: HeapKey) -> None:
    """Idle blocks between others go nowhere, however little the pool is to keep."""

    def steps(idle: int) -> int:
        program = Program()
        pool, queue = program.pool(release_threshold=0), program.queue()
        blocks = [program.alloc(pool, queue, 4096, key=key) for _ in range(2 * idle)]
        for block in blocks[::2]:
            program.free(queue, block)
        program.finish(queue)
        assert pool.statistics().idle >= idle * 4096
        return calls_of_a_synchronisation(program, queue)

    assert steps(400) <= steps(40) + 40


# -- undoing ---------------------------------------------------------------------------------------


def digest(pool: Pool, *blocks: Block) -> object:
    """Everything that an undone allocation must restore: numbers, pieces with their stamps, who may
    have them, and in which order they wait for completion."""
    heap = blocks[0].heap
    pieces = [
        (
            block.address,
            block.size,
            block.state,
            (block.order, block.stamp, block.age) if block.order else None,
            {view.order for view in block.views},
        )
        for segment in heap.segments
        for region in segment.regions
        for block in region.blocks()
    ]
    views = {
        view.order: (
            view.runs(),
            [(block.address, block.stamp) for block in view.pending],
            dict(view.clock),
        )
        for view in heap.views.values()
    }
    return pool.statistics(), pieces, views


@pytest.mark.parametrize("key", [DEVICE, SHARED], ids=["pages", "segments"])
def test_give_back_restores_everything(key: HeapKey) -> None:
    """ERR-8: whatever a run consisted of - idle memory, own frees, frees of others by clock or by
    the wait list, whole pieces and parts - it is what it was, for every queue."""
    program = Program()
    pool = program.pool(policy=ReusePolicy(by_polling=False, by_waiting=False))
    a, b, c = program.queue(), program.queue(), program.queue()
    whole = program.alloc(pool, a, 2 * MIB, key=key)
    kept = whole.address
    program.free(a, whole)
    sizes = [300, 70_000, 256, 5000, 100_000, 4096, 900, 256]
    blocks = [program.alloc(pool, a, size, key=key) for size in sizes]
    assert blocks[0].address == kept
    program.free(c, blocks[2])
    program.finish(c)
    for number, queue in ((0, a), (3, b), (1, a), (4, b), (6, c)):
        program.free(queue, blocks[number])
        queue.append_marker().release()
    b.append_wait(a.append_marker())
    event = c.append_marker()
    program.alloc(pool, b, 1_000_000, key=key)
    program.alloc(pool, c, 900_000, key=key)
    before = digest(pool, blocks[5])
    reused = 0
    for queue in (a, b, c):
        for size in (256, 300, 600, 70_000, 70_500, 76_000, 100_000, 106_000, 180_000):
            for marks in ((), (event.mark,)):
                block = pool.allocate(queue.order, key, size, marks)
                reused += block.address in range(kept, kept + 2 * MIB)
                pool.give_back(block)
                pool.check()
                after = digest(pool, blocks[5])
                if pool.statistics().growths == 1 + (key is SHARED):
                    assert after == before
    assert reused > 30


def test_give_back_after_the_pieces_became_complete() -> None:
    """The frees completed while the block was out: what comes back is idle at once."""
    program = Program()
    pool, a = program.pool(), program.queue()
    blocks = [program.alloc(pool, a, MIB // 2) for _ in range(4)]
    for block in blocks[:3]:
        program.free(a, block)
    taken = pool.allocate(a.order, DEVICE, MIB)
    program.finish(a)
    pool.give_back(taken)
    numbers = pool.statistics()
    assert (numbers.pending, numbers.idle) == (0, 3 * MIB // 2)
    pool.check()


def test_give_back_after_the_freeing_queue_closed() -> None:
    """LIFE-2: no piece refers to the dead queue."""
    program = Program()
    pool, a, b = program.pool(), program.queue(), program.queue()
    block = program.alloc(pool, a, MIB)
    program.free(a, block)
    b.append_wait(a.append_marker())
    taken = pool.allocate(b.order, DEVICE, MIB)
    program.close(a)
    pool.give_back(taken)
    assert pool.statistics().pending == 0
    program.alloc(pool, b, 256)
    assert list(taken.heap.views) == [b.order]
    pool.check()


def test_give_back_while_other_frees_came() -> None:
    """Frees of the same queue since then have later stamps: the pieces go back before them."""
    program = Program()
    pool, a, b = program.pool(), program.queue(), program.queue()
    first, second = program.alloc(pool, a, 2 * MIB), program.alloc(pool, a, 2 * MIB)
    program.free(a, first)
    taken = pool.allocate(a.order, DEVICE, 2 * MIB)
    early = a.append_marker()
    program.free(a, second)
    pool.give_back(taken)
    pool.check()
    a.reach(early.mark.number)
    assert early.query()
    program.registry.completed(early.mark)
    assert program.alloc(pool, b, 2 * MIB).address == taken.address
    assert pool.statistics().pending == 2 * MIB
    pool.check()


def test_give_back_to_a_view_that_looked_meanwhile() -> None:
    """A queue became ordered after the free while the block was out: the memory is its too."""
    program = Program()
    pool = program.pool(policy=ReusePolicy(by_polling=False, by_waiting=False))
    a, b = program.queue(), program.queue()
    block = program.alloc(pool, a, 2 * MIB)
    program.free(a, block)
    taken = pool.allocate(a.order, DEVICE, 2 * MIB)
    b.append_wait(a.append_marker())
    program.alloc(pool, b, 2 * MIB)
    pool.give_back(taken)
    pool.check()
    assert program.alloc(pool, b, 2 * MIB).address == taken.address


def test_peaks_of_an_undone_allocation_are_undone() -> None:
    """STAT-1: a peak that only the undone block made is gone; one that another made stays."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    kept = program.alloc(pool, queue, MIB)
    block = pool.allocate(queue.order, DEVICE, 5 * MIB)
    assert pool.statistics().used_high == 6 * MIB
    pool.give_back(block)
    numbers = pool.statistics()
    assert (numbers.used_high, numbers.reserved_high) == (MIB, 2 * MIB)
    program.free(queue, kept)
    pool.give_back(pool.allocate(queue.order, DEVICE, 256))
    assert pool.statistics().used_high == MIB
    pool.reset_peak_used()
    pool.reset_peak_reserved()
    numbers = pool.statistics()
    assert (numbers.used_high, numbers.reserved_high) == (0, 2 * MIB)
