# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that goes back to the driver: at synchronisations, by trimming, when queues and pools
close; and what never goes back."""

from __future__ import annotations

import pytest

from tests.helpers.pool_fakes import DEVICE, HOST, MIB, SHARED, FakeQueue, Program
from urasync_l0.pool import Block, HeapSource, Pool, ReusePolicy
from urasync_l0.pool.heap_source import UserMemory
from urasync_l0.result import InvalidValueError, UrError, UrResult

PAGE = 2 * MIB
EVERYTHING = 1 << 62
GIVING = {"free", "unmap", "destroy", "release"}
"""The driver calls that give memory back."""


@pytest.fixture(params=[True, False], ids=["pages", "segments"])
def program(request: pytest.FixtureRequest) -> Program:
    """A program whose device memory comes in pages, and one with separate allocations."""
    return Program(virtual=request.param, range_size=1 << 32)


def allocated(program: Program, pool: Pool, queue: FakeQueue, size: int, count: int) -> list[Block]:
    """Allocate blocks of one size."""
    return [program.alloc(pool, queue, size) for _ in range(count)]


def free_all(program: Program, queue: FakeQueue, blocks: list[Block]) -> None:
    """Free blocks on one queue."""
    for block in blocks:
        program.free(queue, block)


def given_back(program: Program) -> int:
    """How many driver calls gave memory back so far."""
    return sum(program.calls.counts[name] for name in GIVING)


# -- the release threshold -------------------------------------------------------------------------


def test_threshold_is_what_a_synchronisation_leaves(program: Program) -> None:
    """MEM-8: of 3 x 64 MiB, a threshold of 64 MiB leaves exactly that."""
    pool, queue = program.pool(release_threshold=64 * MIB), program.queue()
    free_all(program, queue, allocated(program, pool, queue, 64 * MIB, 3))
    assert pool.statistics().reserved == 192 * MIB
    program.finish(queue)
    assert pool.statistics().reserved == program.driver.held == 64 * MIB
    pool.check()


def test_threshold_of_everything_keeps_everything(program: Program) -> None:
    """MEM-8: ten rounds with a finish each, and no memory goes back."""
    pool, queue = program.pool(release_threshold=EVERYTHING), program.queue()
    for _ in range(10):
        free_all(program, queue, allocated(program, pool, queue, 64 * MIB, 3))
        program.finish(queue)
        assert pool.statistics().reserved == 192 * MIB
    assert given_back(program) == 0
    assert pool.statistics().driver_frees == 0


def test_threshold_of_nothing_leaves_what_is_used(program: Program) -> None:
    """MEM-8: the default gives all idle memory back, and nothing else."""
    pool, queue = program.pool(release_threshold=0), program.queue()
    kept, *others = allocated(program, pool, queue, 4 * MIB, 3)
    free_all(program, queue, others)
    program.finish(queue)
    assert pool.statistics().reserved == program.driver.held == 4 * MIB
    assert program.registry.find(kept.address) is kept
    pool.check()


def test_threshold_applies_whenever_it_is_set(program: Program) -> None:
    """MEM-9: set on an empty pool it holds later; set later it holds from the next synchronisation
    on. A free alone lowers nothing."""
    pool, queue = program.pool(), program.queue()
    pool.release_threshold = 128 * MIB
    assert pool.release_threshold == 128 * MIB
    free_all(program, queue, allocated(program, pool, queue, 64 * MIB, 3))
    assert pool.statistics().reserved == 192 * MIB
    program.finish(queue)
    assert pool.statistics().reserved == 128 * MIB
    pool.release_threshold = 64 * MIB
    assert pool.statistics().reserved == 128 * MIB
    program.finish(queue)
    assert pool.statistics().reserved == 64 * MIB


def test_threshold_is_for_the_sum_over_kinds(program: Program) -> None:
    """One pool, one threshold, whatever kinds the memory is of."""
    pool, queue = program.pool(release_threshold=8 * MIB), program.queue()
    for key in (DEVICE, SHARED, HOST):
        program.free(queue, program.alloc(pool, queue, 4 * MIB, key=key))
    program.finish(queue)
    assert pool.statistics().reserved == program.driver.held == 8 * MIB
    pool.check()


def test_reuse_after_a_release_gets_new_memory(program: Program) -> None:
    """ORD-7: what went back is never handed out; the fake driver refuses a double mapping."""
    pool, queue = program.pool(release_threshold=0), program.queue()
    for _ in range(20):
        blocks = allocated(program, pool, queue, 3 * MIB, 3)
        assert pool.statistics().reserved == program.driver.held
        free_all(program, queue, blocks)
        program.finish(queue)
        assert program.driver.held == 0
        pool.check()


# -- never pending, never used ---------------------------------------------------------------------


def test_pending_memory_stays_until_its_queue_was_seen_to_finish(program: Program) -> None:
    """ORD-1: another queue finishes, pools are trimmed, events complete: not one call gives the
    memory back before the host has waited for the freeing queue."""
    pool, a, b = program.pool(release_threshold=0), program.queue(), program.queue()
    free_all(program, a, allocated(program, pool, a, 4 * MIB, 1))
    program.finish(b)
    pool.trim_to(0)
    program.registry.completed(b.append_marker().mark)
    program.finish(b)
    assert given_back(program) == 0
    assert pool.statistics().pending == program.driver.held == 4 * MIB
    program.finish(a)
    assert program.driver.held == 0


def test_finish_covers_what_was_freed_before_it_began(program: Program) -> None:
    """ORD-1: a free during the host wait is not taken for complete by it."""
    pool, queue = program.pool(release_threshold=0), program.queue()
    before, during = allocated(program, pool, queue, 4 * MIB, 2)
    program.free(queue, before)
    mark = queue.synchronise()
    program.free(queue, during)
    program.registry.synchronised(mark)
    assert pool.statistics().pending == program.driver.held == 4 * MIB
    pool.check()


def test_allocation_gives_nothing_back(program: Program) -> None:
    """ORD-2: three held frees, then a larger request on the same queue: new driver memory, and no
    driver free."""
    pool, queue = program.pool(release_threshold=0), program.queue()
    free_all(program, queue, allocated(program, pool, queue, PAGE, 3))
    start = len(program.calls.log)
    program.alloc(pool, queue, 32 * MIB)
    assert not GIVING & set(program.calls.log[start:])
    pool.check()


def test_finish_of_a_later_queue_releases_what_its_clock_covers(program: Program) -> None:
    """A host wait on B completes what A freed before the event that B waited for, no more."""
    pool, a, b = program.pool(release_threshold=0), program.queue(), program.queue()
    first, second = allocated(program, pool, a, 4 * MIB, 2)
    program.free(a, first)
    b.append_wait(a.append_marker())
    program.free(a, second)
    program.finish(b)
    assert pool.statistics().pending == program.driver.held == 4 * MIB
    pool.check()


# -- trim ------------------------------------------------------------------------------------------


def trimmed(program: Program, keep: int) -> tuple[Pool, int]:
    """Of 4 x 16 MiB, one in use, one pending and two idle, trim to ``keep``."""
    pool, queue, held = program.pool(), program.queue(), program.queue()
    blocks = allocated(program, pool, queue, 16 * MIB, 4)
    free_all(program, queue, blocks[1:3])
    program.finish(queue)
    program.free(held, blocks[3])
    pool.trim_to(keep)
    pool.check()
    assert pool.statistics().used == pool.statistics().pending == 16 * MIB
    return pool, pool.statistics().reserved


@pytest.mark.parametrize(
    ("keep", "left"), [(0, 32), (32, 32), (33, 48), (40, 48), (48, 48), (64, 64), (1000, 64)]
)
def test_trim_of_separate_allocations(keep: int, left: int) -> None:
    """MEM-11: whole allocations go, and never so many that less than asked for is left."""
    program = Program(virtual=False)
    pool, reserved = trimmed(program, keep * MIB)
    assert reserved == program.driver.held == left * MIB
    assert pool.statistics().trims == 1
    assert program.calls.counts["wait"] == program.calls.counts["append_signal"] == 0


@pytest.mark.parametrize(
    ("keep", "left"), [(0, 32), (32, 32), (33, 34), (40, 40), (48, 48), (64, 64), (1000, 64)]
)
def test_trim_of_pages(keep: int, left: int) -> None:
    """MEM-11: pages go one by one, so that the size asked for is met to a page."""
    program = Program()
    pool, reserved = trimmed(program, keep * MIB)
    assert reserved == program.driver.held == left * MIB
    assert len(program.driver.mapped) * PAGE == reserved
    assert program.calls.counts["wait"] == program.calls.counts["append_signal"] == 0
    program.alloc(pool, program.queue(), 16 * MIB)
    pool.check()


def test_trim_sees_what_is_complete(program: Program) -> None:
    """Completion that was noted by an event counts, without a search in between."""
    pool, queue = program.pool(), program.queue()
    free_all(program, queue, allocated(program, pool, queue, 4 * MIB, 2))
    event = queue.append_marker()
    queue.reach(event.mark.number)
    program.registry.completed(event.mark)
    pool.trim_to(0)
    assert program.driver.held == 0


def test_partly_used_driver_memory_stays(program: Program) -> None:
    """A segment or page with one small block in use stays whole."""
    pool, queue = program.pool(), program.queue()
    small = program.alloc(pool, queue, 256)
    free_all(program, queue, allocated(program, pool, queue, MIB, 1))
    program.finish(queue)
    pool.trim_to(0)
    assert pool.statistics().reserved == program.driver.held == PAGE
    assert small.size == 256
    pool.check()


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("nth", range(8))
def test_failure_while_releasing_leaves_numbers_right(program: Program, nth: int) -> None:
    """ERR-1: each driver call of a release fails in turn; what it concerns stays with the pool, the
    error is reported, and the rest still goes."""
    pool, queue = program.pool(), program.queue()
    free_all(program, queue, allocated(program, pool, queue, PAGE, 4))
    program.finish(queue)
    before = pool.statistics().driver_allocs
    program.calls.fail_after = nth
    if nth >= (8 if program.driver.mapped else 4):
        pool.trim_to(0)
        program.calls.fail_after = None
        assert program.driver.held == 0
        return
    with pytest.raises(UrError, match="injected"):
        pool.trim_to(0)
    numbers = pool.statistics()
    assert numbers.reserved == numbers.idle == program.driver.held == PAGE
    assert numbers.driver_frees == 3
    pool.check()
    program.alloc(pool, queue, PAGE)
    assert pool.statistics().driver_allocs == before
    pool.check()


def test_page_that_can_be_neither_destroyed_nor_mapped_back_is_lost() -> None:
    """The pool counts it no more, and its address is free for another page."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    free_all(program, queue, allocated(program, pool, queue, PAGE, 2))
    program.finish(queue)
    program.calls.broken = {"destroy", "map"}
    with pytest.raises(UrError, match="injected"):
        pool.trim_to(0)
    program.calls.broken = set()
    assert pool.statistics().reserved == 0
    assert not program.driver.mapped
    pool.check()
    allocated(program, pool, queue, PAGE, 2)
    assert len(program.driver.mapped) == 2
    pool.check()


def test_failure_in_one_pool_does_not_keep_others_from_settling(program: Program) -> None:
    """LIFE-6: all pools have their turn before the error is raised."""
    queue = program.queue()
    pools = [program.pool(release_threshold=0) for _ in range(3)]
    for pool in pools:
        program.free(queue, program.alloc(pool, queue, PAGE))
    mark = queue.synchronise()
    program.calls.fail_after = 0
    with pytest.raises(UrError, match="injected"):
        program.registry.synchronised(mark)
    assert [pool.statistics().pending for pool in pools] == [0, 0, 0]
    assert program.driver.held == PAGE


def test_peak_counts_what_a_failed_release_leaves(program: Program) -> None:
    """STAT-1: while memory is on its way back another thread grows; then the release fails."""
    pool, queue = program.pool(), program.queue()
    free_all(program, queue, allocated(program, pool, queue, PAGE, 1))
    program.finish(queue)
    name = "unmap" if program.driver.mapped else "free"
    program.calls.meanwhile[name] = lambda: program.alloc(pool, queue, PAGE)
    program.calls.broken = {name}
    with pytest.raises(UrError, match="injected"):
        pool.trim_to(0)
    numbers = pool.statistics()
    assert numbers.reserved == numbers.reserved_high == program.driver.held == 2 * PAGE
    pool.check()


def test_memory_on_its_way_back_is_not_handed_out(program: Program) -> None:
    """ORD-7: between the choice of a block and the driver call, others get other memory."""
    pool, queue = program.pool(), program.queue()
    (block,) = allocated(program, pool, queue, PAGE, 1)
    address = block.address
    free_all(program, queue, [block])
    program.finish(queue)
    taken: list[Block] = []
    name = "unmap" if program.driver.mapped else "free"
    program.calls.meanwhile[name] = lambda: taken.append(program.alloc(pool, queue, PAGE))
    pool.trim_to(0)
    assert taken[0].address != address
    assert program.driver.held == PAGE
    pool.check()


# -- queues that close -----------------------------------------------------------------------------


def test_queue_closed_with_pending_frees_leaves_idle_memory(program: Program) -> None:
    """LIFE-2: a hundred queues that allocate, free and go; a new one reuses, with no call on dead
    ones, and nothing of them is kept."""
    pool = program.pool()
    for _ in range(100):
        queue = program.queue()
        free_all(program, queue, allocated(program, pool, queue, PAGE, 1))
        queue.synchronise()
        queue.order.close()
    assert pool.statistics().reserved == PAGE
    queue = program.queue()
    before = program.calls.total
    (block,) = allocated(program, pool, queue, PAGE, 1)
    assert program.calls.total == before
    assert list(block.heap.views) == [queue.order]
    assert program.world.live_events == 0
    pool.check()


def test_the_view_of_a_queue_is_the_one_that_the_heap_has(program: Program) -> None:
    """Also right after one was forgotten: with its queue, or with all blocks."""
    pool, a, b = program.pool(), program.queue(), program.queue()
    block = program.alloc(pool, a, PAGE)
    heap = block.heap
    for order in (a.order, b.order, a.order):
        assert heap.view(order) is heap.view(order) is heap.views[order]
    program.free(a, block)
    before = heap.view(a.order)
    a.synchronise()
    a.order.close()
    heap.note_completion()
    assert a.order not in heap.views
    assert heap.view(a.order) is heap.views[a.order] is not before
    before = heap.view(b.order)
    pool.abandon()
    assert not heap.views
    assert heap.view(b.order) is heap.views[b.order] is not before


def test_queue_closed_while_others_see_its_memory(program: Program) -> None:
    """LIFE-2: the views of the queues that were ordered after it, and its own view of their memory,
    go without a trace."""
    pool, a, b = program.pool(), program.queue(), program.queue()
    first, second = allocated(program, pool, a, PAGE, 2)
    program.free(a, first)
    b.append_wait(a.append_marker())
    pool.give_back(pool.allocate(b.order, DEVICE, PAGE))
    program.free(b, second)
    a.append_wait(b.append_marker())
    pool.give_back(pool.allocate(a.order, DEVICE, PAGE))
    pool.check()
    program.close(b)
    pool.check()
    assert pool.statistics().pending == 0, "the finish of B covered A's free"
    allocated(program, pool, a, PAGE, 2)
    assert list(second.heap.views) == [a.order]
    pool.check()


def test_queue_of_a_lost_device_closed_while_it_sees_memory_of_others(program: Program) -> None:
    """LIFE-2: nothing waited for it, so what it saw of the others' memory is pending still; it is
    forgotten there all the same."""
    pool, a, b = program.pool(), program.queue(), program.queue()
    first, _ = allocated(program, pool, a, PAGE, 2)
    program.free(a, first)
    b.append_wait(a.append_marker())
    program.alloc(pool, b, 4 * PAGE)
    assert [view.order for view in first.views] == [a.order, b.order]
    b.order.close()
    program.alloc(pool, a, 4 * PAGE)
    assert [view.order for view in first.views] == [a.order]
    pool.check()


def test_free_on_another_queue_after_the_allocating_one_closed(program: Program) -> None:
    """LIFE-3: the freeing queue alone decides; the memory is its own at once."""
    pool, a, b = program.pool(), program.queue(), program.queue()
    (block,) = allocated(program, pool, a, PAGE, 1)
    program.close(a)
    program.free(b, block)
    assert program.alloc(pool, b, PAGE).address == block.address
    assert pool.statistics().reused_own == 1
    assert program.calls.counts["append_wait"] == program.calls.counts["wait"] == 0
    pool.check()


def test_free_on_a_closed_queue_is_complete_at_once(program: Program) -> None:
    """LIFE-3: a dropped allocation may be freed in the order of its queue after that closed."""
    pool, a, b = program.pool(), program.queue(), program.queue()
    (block,) = allocated(program, pool, a, PAGE, 1)
    program.close(a)
    program.registry.claim(block.address)
    pool.free(block, a.order, a.order.sequence + 1)
    assert pool.statistics().idle == PAGE
    assert program.alloc(pool, b, PAGE).address == block.address
    assert list(block.heap.views) == [b.order]
    pool.check()


# -- pools that close ------------------------------------------------------------------------------


def test_undone_after_the_context_ended(program: Program) -> None:
    """A thread in the middle of a call, beside another that closes the context."""
    pool, queue = program.pool(), program.queue()
    block = pool.allocate(queue.order, DEVICE, PAGE)
    program.registry.close()
    pool.give_back(block)
    assert program.driver.held == 0
    assert (pool.statistics().used, pool.statistics().reserved) == (0, 0)
    pool.check()


def test_closed_pool_gives_back_when_the_last_free_is_complete(program: Program) -> None:
    """LIFE-5: no new memory at once; live and pending blocks stay valid; then everything goes."""
    pool, queue = program.pool(), program.queue()
    live, pending = allocated(program, pool, queue, PAGE, 2)
    program.free(queue, pending)
    pool.close()
    assert pool.is_closed
    with pytest.raises(InvalidValueError, match="was destroyed"):
        pool.allocate(queue.order, DEVICE, PAGE)
    with pytest.raises(InvalidValueError, match="already destroyed"):
        pool.close()
    assert given_back(program) == 0
    assert program.registry.find(live.address + 1) is live
    program.finish(queue)
    assert program.registry.find(live.address) is live
    assert program.driver.held >= PAGE
    program.free(queue, live)
    assert program.driver.held >= PAGE, "freed, but not complete"
    assert program.registry.pools() == [pool]
    program.finish(queue)
    assert program.driver.objects() == (0, 0, 0, 0)
    assert program.registry.pools() == []
    numbers = pool.statistics()
    assert numbers.used == numbers.pending == numbers.idle == numbers.reserved == 0
    pool.check()


def test_empty_pool_gives_back_as_it_closes(program: Program) -> None:
    """LIFE-5: idle memory needs no synchronisation to go."""
    pool, queue = program.pool(), program.queue()
    free_all(program, queue, allocated(program, pool, queue, PAGE, 2))
    program.finish(queue)
    pool.close()
    assert program.driver.objects() == (0, 0, 0, 0)


def test_closed_pool_waits_for_an_allocation_under_way(program: Program) -> None:
    """LIFE-5 with threads: the pool is destroyed while another thread's allocation is in the
    driver. That allocation counts as one from before."""
    pool, queue = program.pool(), program.queue()
    name = "create" if program.sources[DEVICE].virtual else "allocate"
    program.calls.meanwhile[name] = pool.close
    block = program.alloc(pool, queue, PAGE)
    assert program.registry.find(block.address) is block
    pool.check()
    program.free(queue, block)
    program.finish(queue)
    assert program.driver.objects() == (0, 0, 0, 0)
    assert program.registry.pools() == []


def test_closed_pool_after_an_undone_allocation(program: Program) -> None:
    """LIFE-5 with threads: the last block goes by `give_back`, not by a free."""
    pool, queue = program.pool(), program.queue()
    block = pool.allocate(queue.order, DEVICE, PAGE)
    pool.close()
    pool.give_back(block)
    assert program.driver.objects() == (0, 0, 0, 0)
    assert program.registry.pools() == []


def test_every_pool_settles(program: Program) -> None:
    """LIFE-6: one finish completes the queue's frees in all pools, closed ones too."""
    queue = program.queue()
    pools = [program.pool(), program.pool(), program.pool(release_threshold=0), program.pool()]
    for pool in pools:
        program.free(queue, program.alloc(pool, queue, PAGE))
    pools[3].close()
    program.finish(queue)
    assert [pool.statistics().pending for pool in pools] == [0, 0, 0, 0]
    assert [pool.statistics().reserved for pool in pools] == [PAGE, PAGE, 0, 0]
    assert program.registry.pools() == pools[:3]


def test_registry_gives_everything_back(program: Program) -> None:
    """The context ends: memory in use, pending and idle, of all pools and kinds, goes back once."""
    queue = program.queue()
    pools = [program.pool(), program.pool(), program.pool()]
    for pool in pools:
        for key in (DEVICE, SHARED, HOST):
            blocks = [program.alloc(pool, queue, MIB, key=key) for _ in range(3)]
            program.free(queue, blocks[0])
        program.finish(queue)
        program.free(queue, blocks[1])
    pools[0].close()
    queue.order.close()
    program.registry.close()
    assert program.driver.objects() == (0, 0, 0, 0)
    assert program.registry.pools() == []
    assert program.registry.live == {}
    for pool in pools:
        numbers = pool.statistics()
        assert 0 == numbers.used == numbers.requested == numbers.reserved
        pool.check()


def test_registry_closes_in_spite_of_failures(program: Program) -> None:
    """What the driver does not take back is tried again; everything else goes at once."""
    queue = program.queue()
    for _ in range(2):
        program.alloc(program.pool(), queue, 2 * PAGE)
    program.calls.code = UrResult.DEVICE_LOST
    program.calls.fail_after = 0
    with pytest.raises(UrError):
        program.registry.close()
    assert not program.calls.failing
    assert 0 < program.driver.held <= 2 * PAGE
    assert len(program.registry.pools()) == 1
    program.registry.close()
    assert program.driver.objects() == (0, 0, 0, 0)
    assert program.registry.pools() == []


def test_pool_that_cannot_be_given_back_is_tried_again(program: Program) -> None:
    """A failure at each call of a close: it is raised, and nothing is lost."""
    nth = 0
    while True:
        pool, queue = program.pool(), program.queue()
        program.free(queue, program.alloc(pool, queue, 2 * PAGE))
        program.finish(queue)
        program.calls.code = UrResult.UNKNOWN
        program.calls.fail_after = nth
        try:
            pool.close()
            break
        except UrError:
            assert pool in program.registry.pools()
            program.finish(queue)
            assert program.driver.objects() == (0, 0, 0, 0)
            assert program.registry.pools() == []
        nth += 1
    program.calls.fail_after = None
    assert nth > 0


# -- a pool in the user's memory -------------------------------------------------------------------


def test_users_buffer_is_never_freed() -> None:
    """It is all the pool has, at its granule's alignment; trimming and closing leave it alone."""
    program = Program()
    program.sources = {DEVICE: HeapSource(UserMemory(MIB), buffer=(0x10001, MIB))}
    pool, queue = program.pool(release_threshold=0, policy=ReusePolicy()), program.queue()
    assert pool.statistics().reserved == MIB - 256
    block = program.alloc(pool, queue, MIB - 256)
    assert block.address == 0x10100
    with pytest.raises(MemoryError):
        program.alloc(pool, queue, 1)
    program.free(queue, block)
    program.finish(queue)
    pool.trim_to(0)
    assert pool.statistics().reserved == MIB - 256
    pool.check()
    pool.close()
    assert given_back(program) == 0
    assert program.registry.pools() == []


def test_undoing_does_not_bring_back_a_peak_that_was_reset(program: Program) -> None:
    """STAT-5: after a reset the peaks are those since the reset."""
    pool, queue = program.pool(release_threshold=0), program.queue()
    program.free(queue, program.alloc(pool, queue, 20 * PAGE))
    program.finish(queue)
    block = pool.allocate(queue.order, DEVICE, 2 * PAGE)
    pool.reset_peak_used()
    pool.reset_peak_reserved()
    pool.give_back(block)
    numbers = pool.statistics()
    assert numbers.used_high <= 2 * PAGE
    assert numbers.reserved_high <= 2 * PAGE


def test_a_release_under_way_counts_against_the_limit(program: Program) -> None:
    """MEM-10: what the driver then refuses to take back must still fit."""
    pool, queue = program.pool(maximum_size=4 * PAGE), program.queue()
    program.free(queue, program.alloc(pool, queue, 4 * PAGE))
    program.finish(queue)
    seen: list[int] = []
    name = "unmap" if program.sources[DEVICE].virtual else "free"
    program.calls.meanwhile[name] = lambda: seen.append(pool.reserve.allowed())
    pool.trim_to(0)
    assert seen
    assert seen[0] == 0
    assert pool.statistics().reserved == 0
