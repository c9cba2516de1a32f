# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may have freed memory, and in which way: steps 1, 2 and 4 of the search.

Every hand-out goes through the oracle of ``tests/helpers/pool_fakes.py``, which fails when a queue
gets a byte before its last free. Queues are held unless a test says that they run.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.helpers.pool_fakes import DEVICE, MIB, SHARED, FakeQueue, Program
from urasync_l0.pool import Block, BlockState, Pool, ReusePolicy
from urasync_l0.result import InvalidMemObjectError, OutOfMemoryError

NONE = ReusePolicy(by_clock=False, by_polling=False, by_waiting=False, wait_when_exhausted=False)
BY_CLOCK = ReusePolicy(by_clock=True, by_polling=False, by_waiting=False, wait_when_exhausted=False)
BY_POLLING = ReusePolicy(
    by_clock=False, by_polling=True, by_waiting=False, wait_when_exhausted=False
)
BY_WAITING = ReusePolicy(
    by_clock=False, by_polling=False, by_waiting=True, wait_when_exhausted=False
)


@pytest.fixture(params=[True, False], ids=["pages", "segments"])
def program(request: pytest.FixtureRequest) -> Program:
    """A program whose device memory comes in pages, and one with separate allocations."""
    return Program(virtual=request.param)


def freed(program: Program, pool: Pool, queue: FakeQueue, size: int) -> int:
    """Allocate and free on one queue; return the address."""
    block = program.alloc(pool, queue, size)
    address = block.address
    program.free(queue, block)
    return address


# -- own order -------------------------------------------------------------------------------------


def test_own_order_gives_the_same_pointer_without_a_call(program: Program) -> None:
    """ORD-3, PERF-3: on one queue a free serves the next allocation at once, without a call."""
    pool, queue = program.pool(policy=NONE), program.queue()
    address = freed(program, pool, queue, 1 * MIB)
    before = program.calls.total
    assert program.alloc(pool, queue, 1 * MIB).address == address
    assert program.calls.total == before
    assert queue.order.sequence == 0
    assert pool.statistics().reused_own == 1
    pool.check()


def test_own_order_of_a_queue_does_not_speak_for_another(program: Program) -> None:
    """The simplest way to hand memory out too early: another queue's own pending block."""
    pool, a, b = program.pool(policy=NONE), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    assert program.alloc(pool, b, 2 * MIB).address != address


# -- by clock --------------------------------------------------------------------------------------


def test_clock_covers_what_was_freed_before_the_event(program: Program) -> None:
    """ORD-5b with an earlier wait: the queue is ordered after the free; no wait is added."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    b.append_wait(a.append_marker())
    before = program.calls.total
    assert program.alloc(pool, b, 2 * MIB).address == address
    assert program.calls.total == before
    assert pool.statistics().reused_clock == 1
    pool.check()


def test_clock_does_not_cover_what_was_freed_after_the_event(program: Program) -> None:
    """The free's stamp is the number of the *next* command: a signal that was there before the
    free says nothing of it."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    block = program.alloc(pool, a, 2 * MIB)
    event = a.append_marker()
    program.free(a, block)
    b.append_wait(event)
    assert program.alloc(pool, b, 2 * MIB).address != block.address
    pool.check()


def test_clock_is_transitive(program: Program) -> None:
    """A frees, B waits for A, C waits for B: C gets A's block, with no call."""
    pool = program.pool(policy=BY_CLOCK)
    a, b, c = program.queue(), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    b.append_wait(a.append_marker())
    c.append_wait(b.append_marker())
    before = program.calls.total
    assert program.alloc(pool, c, 2 * MIB).address == address
    assert program.calls.total == before


def test_clock_covers_each_free_once_however_often_it_grows(program: Program) -> None:
    """A view looks at what a longer clock adds, not at all that it covers: frees before and after
    the first look are both found."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    blocks = [program.alloc(pool, a, 2 * MIB) for _ in range(3)]
    found = []
    for block in blocks:
        program.free(a, block)
        b.append_wait(a.append_marker())
        found.append(program.alloc(pool, b, 2 * MIB).address)
        pool.check()
    assert found == [block.address for block in blocks]
    assert pool.statistics().reserved == 6 * MIB


# -- by the caller's wait list ---------------------------------------------------------------------


def test_wait_list_serves_the_memory_that_it_orders(program: Program) -> None:
    """ORD-5b: an event at or after the free in the wait list is enough; the core adds no wait."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    event = a.append_marker()
    assert program.alloc(pool, b, 2 * MIB, wait=[event]).address == address
    assert program.calls.counts["append_wait"] == 1, "the caller's own"
    assert pool.statistics().inserted_waits == 0
    pool.check()


def test_wait_list_that_comes_too_early_serves_nothing(program: Program) -> None:
    """An event before the free orders nothing."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    block = program.alloc(pool, a, 2 * MIB)
    event = a.append_marker()
    program.free(a, block)
    assert program.alloc(pool, b, 2 * MIB, wait=[event]).address != block.address


def test_wait_list_brings_the_clock_of_its_events(program: Program) -> None:
    """The event is B's, the memory A's, and B waited for A before it signalled."""
    pool = program.pool(policy=BY_CLOCK)
    a, b, c = program.queue(), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    b.append_wait(a.append_marker())
    event = b.append_marker()
    assert program.alloc(pool, c, 2 * MIB, wait=[event]).address == address


def test_wait_list_that_is_never_appended_absorbs_nothing(program: Program) -> None:
    """ERR-8: the adapter's append failed and the block went back, so the queue is not ordered
    after the free, and the next allocation must not act as if it were."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    blocks = [program.alloc(pool, a, 2 * MIB) for _ in range(2)]
    for block in blocks:
        program.free(a, block)
    event = a.append_marker()
    block = pool.allocate(b.order, DEVICE, 2 * MIB, (event.mark,))
    assert block.address == blocks[0].address
    pool.give_back(block)
    pool.check()
    assert pool.statistics().pending == 4 * MIB
    other = program.alloc(pool, b, 2 * MIB)
    assert other.address not in [each.address for each in blocks]
    assert program.alloc(pool, a, 4 * MIB if program.driver.mapped else 2 * MIB).address == (
        blocks[0].address
    )
    pool.check()


def test_wait_list_of_a_successful_call_is_not_relied_on_before_it_is_appended(
    program: Program,
) -> None:
    """Another thread may allocate on the queue before the waits are appended: only the block of
    the call itself is ordered by them."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    blocks = [program.alloc(pool, a, 2 * MIB) for _ in range(2)]
    for block in blocks:
        program.free(a, block)
    event = a.append_marker()
    pool.allocate(b.order, DEVICE, 2 * MIB, (event.mark,))
    assert program.alloc(pool, b, 2 * MIB).address != blocks[1].address
    pool.check()


# -- by completion ---------------------------------------------------------------------------------


def test_completed_memory_serves_every_queue(program: Program) -> None:
    """ORD-5a: after a finish of the freeing queue its memory is idle: no switch, no call."""
    pool, a, b = program.pool(policy=NONE), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    program.finish(a)
    assert pool.statistics().idle == 2 * MIB
    before = program.calls.total
    assert program.alloc(pool, b, 2 * MIB).address == address
    assert program.calls.total == before
    assert pool.statistics().reused_idle == 1


def test_completion_noted_by_an_event_is_seen_at_the_next_call(program: Program) -> None:
    """MEM-2: whoever saw an event complete tells the registry; the pool needs no finish."""
    pool, a, b = program.pool(policy=NONE), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    event = a.append_marker()
    a.reach(1)
    assert event.query()
    program.registry.completed(event.mark)
    assert program.alloc(pool, b, 2 * MIB).address == address


def test_completion_before_the_free_is_not_that_of_the_free(program: Program) -> None:
    """The queue finished, then freed: what it was given meanwhile may still run. A free appends
    nothing, so its stamp must lie above what is complete."""
    pool, a, b = program.pool(policy=NONE), program.queue(), program.queue()
    block = program.alloc(pool, a, 2 * MIB)
    program.finish(a)
    with a.order.lock:
        a.order.advance()  # a command that uses the block
    program.free(a, block)
    assert pool.statistics().pending == 2 * MIB
    assert program.alloc(pool, b, 2 * MIB).address != block.address


def test_completion_goes_through_clocks_to_other_queues_frees(program: Program) -> None:
    """After a finish of B, what A freed before the event that B waited for is complete too."""
    pool, a, b, c = program.pool(policy=NONE), program.queue(), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    b.append_wait(a.append_marker())
    program.finish(b)
    assert pool.statistics().pending == 0
    assert program.alloc(pool, c, 2 * MIB).address == address


def test_slow_queue_does_not_hold_up_the_completion_of_others(program: Program) -> None:
    """One entry that stays pending blocks nothing but its own queue's later ones."""
    pool, slow, quick, c = program.pool(), program.queue(), program.queue(), program.queue()
    first = program.alloc(pool, slow, 2 * MIB)
    second = program.alloc(pool, quick, 2 * MIB)
    program.free(slow, first)
    program.free(quick, second)
    program.finish(quick)
    assert pool.statistics().pending == 2 * MIB
    assert program.alloc(pool, c, 2 * MIB).address == second.address


# -- by polling ------------------------------------------------------------------------------------


def test_idle_queue_does_not_hoard(program: Program) -> None:
    """MEM-2: 64 MiB freed on a queue that is done and never used again serve another queue."""
    pool = program.pool(policy=BY_POLLING)
    a, b = program.queue(eager=True), program.queue()
    address = freed(program, pool, a, 64 * MIB)
    created = (program.calls.counts["create"], program.calls.counts["allocate"])
    assert program.alloc(pool, b, 64 * MIB).address == address
    assert (program.calls.counts["create"], program.calls.counts["allocate"]) == created
    assert program.calls.counts["append_signal"] == 1
    assert program.calls.counts["append_wait"] == 0
    numbers = pool.statistics()
    assert (numbers.reused_polled, numbers.reused_idle) == (1, 1)
    pool.check()


def test_polling_never_waits_for_a_busy_queue(program: Program) -> None:
    """A held queue is asked and then left alone: new memory instead."""
    pool, a, b = program.pool(policy=BY_POLLING), program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    assert program.alloc(pool, b, 2 * MIB).address != address
    assert program.calls.counts["wait"] == 0
    assert pool.statistics().reused_polled == 0


def test_polling_that_fails_does_not_fail_the_allocation(program: Program) -> None:
    """Markers only help to notice completion; what ails a queue shows in its own next call."""
    pool = program.pool(policy=BY_POLLING)
    a, b = program.queue(eager=True), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    program.calls.broken = {"query", "append_signal"}
    assert program.alloc(pool, b, 2 * MIB).address != address
    program.calls.broken = {"query"}
    assert program.alloc(pool, b, 2 * MIB).address != address
    program.calls.broken = set()
    assert program.alloc(pool, b, 2 * MIB).address == address
    pool.check()


def test_without_polling_nobody_looks(program: Program) -> None:
    """The switch of the opportunistic way: even a finished queue is not asked."""
    pool = program.pool(policy=NONE)
    a, b = program.queue(eager=True), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    assert program.alloc(pool, b, 2 * MIB).address != address
    assert program.calls.counts["append_signal"] == 0


# -- by an inserted wait ---------------------------------------------------------------------------


def test_inserted_wait_is_exactly_one(program: Program) -> None:
    """ORD-5c, this way alone: the pool is at its limit, the freeing queue is held, and the
    allocation takes the memory with one wait on its own queue."""
    pool = program.pool(policy=BY_WAITING, maximum_size=2 * MIB)
    a, b = program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    assert program.alloc(pool, b, 2 * MIB).address == address
    assert program.calls.counts["append_wait"] == 1
    assert program.calls.counts["append_signal"] == 1
    assert program.calls.counts["wait"] == 0, "no host wait"
    numbers = pool.statistics()
    assert (numbers.inserted_waits, numbers.reused_waited, numbers.reused_clock) == (1, 1, 1)
    assert b.order.clock[a.order] == 1
    pool.check()


def test_inserted_wait_uses_a_marker_that_is_there(program: Program) -> None:
    """A marker that already covers the free is waited for; no second signal."""
    pool = program.pool(policy=BY_WAITING, maximum_size=2 * MIB)
    a, b = program.queue(), program.queue()
    freed(program, pool, a, 2 * MIB)
    a.order.marker_covering(1).release()
    program.alloc(pool, b, 2 * MIB)
    assert program.calls.counts["append_signal"] == 1


def test_inserted_wait_covers_a_third_queues_frees() -> None:
    """A run that is B's only by B's clock needs a marker that knows that clock: the one that B has
    already, from before it waited for A, does not order C after A."""
    program = Program()
    pool = program.pool(
        policy=ReusePolicy(by_polling=False, wait_when_exhausted=False), maximum_size=4 * MIB
    )
    a, b, c = program.queue(), program.queue(), program.queue()
    first = program.alloc(pool, a, 2 * MIB)
    second = program.alloc(pool, b, 2 * MIB)
    program.free(a, first)
    program.free(b, second)
    b.order.marker_covering(1).release()
    b.append_wait(a.append_marker())
    pool.give_back(pool.allocate(b.order, DEVICE, 4 * MIB))  # B's view learns its clock
    block = program.alloc(pool, c, 4 * MIB)
    assert block.address == first.address
    assert pool.statistics().inserted_waits == 1
    assert c.order.clock[a.order] == 1
    pool.check()


def test_inserted_wait_covers_the_latest_free_of_a_run() -> None:
    """A marker that stands between the frees of two pieces orders the waiter after the first
    alone."""
    program = Program()
    pool = program.pool(policy=BY_WAITING, maximum_size=4 * MIB)
    a, b = program.queue(), program.queue()
    blocks = [program.alloc(pool, a, 2 * MIB) for _ in range(2)]
    program.free(a, blocks[0])
    a.order.marker_covering(1).release()
    program.free(a, blocks[1])
    assert program.alloc(pool, b, 4 * MIB).address == blocks[0].address
    assert b.order.clock[a.order] == 2
    assert program.calls.counts["append_wait"] == 1
    pool.check()


def test_inserted_wait_that_fails_takes_nothing(program: Program) -> None:
    """ERR-1: neither marker nor wait can be appended; the memory is where it was."""
    pool = program.pool(policy=BY_WAITING, maximum_size=2 * MIB)
    a, b = program.queue(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    before = pool.statistics()
    for broken in ("append_signal", "append_wait"):
        program.calls.broken = {broken}
        with pytest.raises(Exception, match="injected"):
            pool.allocate(b.order, DEVICE, 2 * MIB)
        assert pool.statistics() == before
        assert b.order.sequence == 0
        pool.check()
    program.calls.broken = set()
    assert program.alloc(pool, b, 2 * MIB).address == address
    a.order.close()
    assert program.world.live_events == 0


def test_no_wait_is_inserted_while_there_is_new_memory(program: Program) -> None:
    """PERF-2: two held queues, ample memory, and all ways allowed: no queue waits for the other."""
    pool, a, b = program.pool(), program.queue(), program.queue()
    for _ in range(8):
        for queue in (a, b):
            freed(program, pool, queue, 2 * MIB)
            freed(program, pool, queue, 1 * MIB)
    assert program.calls.counts["append_wait"] == 0
    assert program.calls.counts["wait"] == 0
    assert pool.statistics().reserved == 4 * MIB
    pool.check()


# -- the switches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["clock", "polling", "waiting"])
@pytest.mark.parametrize("policy", [NONE, BY_CLOCK, BY_POLLING, BY_WAITING])
def test_each_switch_allows_its_way_alone(program: Program, way: str, policy: ReusePolicy) -> None:
    """ORD-5: in the situation of each way, the memory is reused exactly if that way is allowed;
    with all off, each gets fresh memory (or an error at the limit)."""
    pool = program.pool(policy=policy, maximum_size=2 * MIB if way == "waiting" else 0)
    a, b = program.queue(eager=way == "polling"), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    if way == "clock":
        b.append_wait(a.append_marker())
    try:
        reused = program.alloc(pool, b, 2 * MIB).address == address
    except OutOfMemoryError:
        reused = False
    assert reused is getattr(policy, f"by_{way}")
    pool.check()


# -- pieces and their stamps -----------------------------------------------------------------------


def test_remainder_keeps_its_stamp(program: Program) -> None:
    """ORD-4: A frees X and takes a part of it again; the rest is still A's, and B, which is ordered
    after nothing, gets none of it."""
    pool = program.pool(policy=BY_CLOCK)
    a, b, c = program.queue(), program.queue(), program.queue()
    block = program.alloc(pool, a, 2 * MIB)
    start, end = block.address, block.end
    program.free(a, block)
    part = program.alloc(pool, a, 1 * MIB)
    assert part.address == start
    assert part.next.state is BlockState.PENDING
    assert (part.next.order, part.next.stamp) == (a.order, 1)
    assert not start <= program.alloc(pool, b, 1 * MIB).address < end
    c.append_wait(a.append_marker())
    assert program.alloc(pool, c, 1 * MIB).address == part.end
    pool.check()


def test_remainder_of_a_part_taken_by_clock_is_still_the_freers(program: Program) -> None:
    """ORD-4 over three queues: B splits A's block by its clock and frees its part; C may have B's
    part by B's event from before that free never, and A's rest only by an order after A."""
    pool = program.pool(policy=BY_CLOCK)
    a, b, c = program.queue(), program.queue(), program.queue()
    start = freed(program, pool, a, 2 * MIB)
    b.append_wait(a.append_marker())
    part = program.alloc(pool, b, 1 * MIB)
    assert part.address == start
    early = b.append_marker()  # after A's free by B's wait, before B's free
    program.free(b, part)
    c.append_wait(early)
    assert program.alloc(pool, c, 1 * MIB).address == start + 1 * MIB
    assert program.alloc(pool, c, 1 * MIB).address not in (start, start + 1 * MIB)
    pool.check()


def test_request_that_is_too_large_moves_no_stamp(program: Program) -> None:
    """ORD-4 as it was reported: A's block goes past B's too large request, and C, which gets it
    then, still waits for A."""
    pool = program.pool(
        policy=ReusePolicy(by_polling=False, wait_when_exhausted=False), maximum_size=4 * MIB
    )
    a, b, c = program.queue(), program.queue(), program.queue()
    address = freed(program, pool, a, 4 * MIB)
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, b, 5 * MIB)
    assert program.alloc(pool, c, 4 * MIB).address == address
    assert c.order.clock[a.order] == 1
    assert program.calls.counts["append_wait"] == 1
    pool.check()


def blocks_side_by_side(program: Program, pool: Pool, queue: FakeQueue, count: int) -> list[Block]:
    """Allocate adjacent blocks of half a MiB."""
    whole = program.alloc(pool, queue, count * MIB // 2)
    program.free(queue, whole)
    blocks = [program.alloc(pool, queue, MIB // 2) for _ in range(count)]
    assert all(left.end == right.address for left, right in pairwise(blocks))
    return blocks


def test_run_goes_over_pieces_with_different_stamps(program: Program) -> None:
    """Pending blocks never merge; a request takes a run of them, each safe for its queue."""
    pool, a = program.pool(policy=NONE), program.queue()
    blocks = blocks_side_by_side(program, pool, a, 4)
    for block in reversed(blocks):
        program.free(a, block)
        a.append_marker()
    before = program.calls.total
    taken = program.alloc(pool, a, 2 * MIB)
    assert (taken.address, taken.size) == (blocks[0].address, 2 * MIB)
    assert program.calls.total == before
    pool.check()


def test_run_is_only_as_long_as_its_queue_may_have_it(program: Program) -> None:
    """The piece in the middle is another queue's: no run for either, until the clock covers it."""
    pool = program.pool(policy=BY_CLOCK, maximum_size=2 * MIB)
    a, b = program.queue(), program.queue()
    blocks = blocks_side_by_side(program, pool, a, 4)
    program.free(a, blocks[0])
    program.free(b, blocks[1])
    program.free(a, blocks[2])
    pool.check()
    for queue in (a, b):
        with pytest.raises(OutOfMemoryError):
            program.alloc(pool, queue, MIB)
    a.append_wait(b.append_marker())
    assert program.alloc(pool, a, 3 * MIB // 2).address == blocks[0].address
    assert pool.statistics().reused_clock == 1, "counted by the least safe piece"
    pool.check()


def test_run_joins_idle_and_pending_memory(program: Program) -> None:
    """Idle memory is safe for all, so it lengthens everybody's runs."""
    pool = program.pool(policy=NONE, maximum_size=2 * MIB)
    a, b = program.queue(), program.queue()
    blocks = blocks_side_by_side(program, pool, a, 4)
    program.free(b, blocks[1])
    program.finish(b)
    program.free(a, blocks[0])
    program.free(a, blocks[2])
    pool.check()
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, b, MIB)
    own = pool.statistics().reused_own
    assert program.alloc(pool, a, 3 * MIB // 2).address == blocks[0].address
    assert pool.statistics().reused_own == own + 1, "counted by the least safe piece"
    pool.check()


def test_small_request_does_not_take_a_huge_block(program: Program) -> None:
    """MEM-6: the rest of a split huge block still serves the next large request."""
    pool, a = program.pool(), program.queue()
    freed(program, pool, a, 1024 * MIB)
    reserved = program.driver.held
    program.alloc(pool, a, 4096)
    program.alloc(pool, a, 512 * MIB)
    assert program.driver.held == reserved
    assert pool.statistics().used == 4096 + 512 * MIB


class LateFrees:
    """Frees of threads that take their stamps on one queue in turn and reach the pool in reverse.

    ``first`` covers the free with the earlier stamp alone.
    """

    def __init__(self, program: Program, pool: Pool, queue: FakeQueue) -> None:
        self._queue = queue
        self._stamped = []
        for block in [program.alloc(pool, queue, 2 * MIB) for _ in range(2)]:
            program.registry.claim(block.address)
            program.world.note_free(queue, block)
            stamp = queue.order.sequence + 1
            queue.order.marker_covering(stamp).release()
            self._stamped.append((block, stamp))
        self.first = queue.order.markers[0]
        self.addresses = {block.address for block, _ in self._stamped}

    def arrive(self) -> None:
        """Reach the pool."""
        for block, stamp in reversed(self._stamped):
            block.heap.pool.free(block, self._queue.order, stamp)


def test_late_frees_are_found_by_clock(program: Program) -> None:
    """A view that has seen the clock up to the first stamp still finds the second."""
    pool, a, b = program.pool(policy=BY_CLOCK), program.queue(), program.queue()
    frees = LateFrees(program, pool, a)
    b.append_wait(frees.first)
    program.alloc(pool, b, 2 * MIB)
    frees.arrive()
    b.append_wait(a.append_marker())
    assert {program.alloc(pool, b, 2 * MIB).address for _ in range(2)} == frees.addresses
    pool.check()


def test_late_frees_are_covered_by_markers(program: Program) -> None:
    """The marker that polling places covers the latest stamp, not the one that came last."""
    pool, a, b = program.pool(policy=BY_POLLING), program.queue(eager=True), program.queue()
    frees = LateFrees(program, pool, a)
    a.order.poll_markers(1)
    frees.arrive()
    program.alloc(pool, b, 2 * MIB)
    program.alloc(pool, b, 2 * MIB)
    assert pool.statistics().pending == 0
    pool.check()


# -- kinds and addresses ---------------------------------------------------------------------------


def test_kinds_never_mix(program: Program) -> None:
    """Freed device memory is no shared memory."""
    pool, a = program.pool(), program.queue()
    address = freed(program, pool, a, 2 * MIB)
    assert program.alloc(pool, a, 2 * MIB, key=SHARED).address != address


def test_double_free_is_refused(program: Program) -> None:
    """ERR-9: pending or idle, a freed pointer is refused; handed out anew, it is fine."""
    pool, a = program.pool(), program.queue()
    address = freed(program, pool, a, 4096)
    numbers = pool.statistics()
    with pytest.raises(InvalidMemObjectError, match="freed already"):
        program.registry.claim(address)
    program.finish(a)
    with pytest.raises(InvalidMemObjectError, match="freed already"):
        program.registry.claim(address)
    assert pool.statistics().used == numbers.used == 0
    again = program.alloc(pool, a, 4096)
    assert again.address == address
    program.free(a, again)
    pool.check()


def test_interior_and_unknown_pointers_are_refused(program: Program) -> None:
    """ERR-7, ERR-9: the error names the allocation that a pointer lies in; nothing changes."""
    pool, a = program.pool(), program.queue()
    block = program.alloc(pool, a, 4096)
    neighbour = program.alloc(pool, a, 100)
    inside_of = f"inside the allocation of 4096 .*{block.address:#x}"
    for inside in (block.address + 1, block.address + 4095):
        assert program.registry.find(inside) is block
        with pytest.raises(InvalidMemObjectError, match=inside_of):
            program.registry.claim(inside)
    for nowhere in (0, 1, block.address - 1, neighbour.end, 1 << 63):
        assert program.registry.find(nowhere) is None
        with pytest.raises(InvalidMemObjectError, match="not an allocation"):
            program.registry.claim(nowhere)
    assert pool.statistics().used == 4096 + 256
    assert program.registry.claim(block.address) is block
    program.registry.restore(block)
    assert program.registry.claim(block.address) is block


def test_dropped_use_of_a_block_is_not_mistaken_for_the_next() -> None:
    """ERR-9: the same block at the same address, handed out again, is somebody else's."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    block = program.alloc(pool, queue, 4096)
    born = block.born
    program.free(queue, block)
    again = program.alloc(pool, queue, 4096)
    assert again is block, "the case that an address and an identity cannot tell"
    assert not program.registry.claim_if(block, born)
    assert program.registry.claim_if(again, again.born)
    assert not program.registry.claim_if(again, again.born)
    program.registry.restore(again)
    program.free(queue, again)


def test_stretch_of_several_queues_is_waited_for_up_to_their_latest_frees() -> None:
    """ORD-4: an outstanding marker before a queue's latest free in the stretch is not enough."""
    program = Program()
    policy = ReusePolicy(by_polling=False, wait_when_exhausted=False)
    pool = program.pool(maximum_size=6 * MIB, policy=policy)
    one, two, asking = program.queue(), program.queue(), program.queue()
    first, second, third = (program.alloc(pool, one, 2 * MIB) for _ in range(3))
    program.free(one, first)
    one.order.marker_covering(first.stamp).release()
    early = one.order.markers[0].mark.number
    program.free(two, second)
    program.free(one, third)
    assert third.stamp > early, "or the marker would cover it anyway"
    waits = program.calls.counts["append_wait"]
    program.alloc(pool, asking, 6 * MIB)
    assert program.calls.counts["append_wait"] == waits + 2
    assert asking.order.clock[one.order] >= third.stamp
    assert asking.order.clock[two.order] >= 1
    pool.check()
