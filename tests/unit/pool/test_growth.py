# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a pool grows: pages that move, gaps that fill, ranges, and growths that fail half-way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.pool_fakes import DEVICE, MIB, SHARED, FakeQueue, Program
from urasync_l0.pool import Block, HeapSource, Pool, PoolStatistics, ReusePolicy
from urasync_l0.result import OutOfMemoryError, UrError, UrResult

PAGE = 2 * MIB
OWN_ORDER = ReusePolicy(by_clock=False, by_polling=False, by_waiting=False)


@pytest.fixture
def program() -> Program:
    return Program()


def pages(program: Program, pool: Pool, queue: FakeQueue, count: int) -> list[Block]:
    """Allocate single pages, one after another in the range."""
    blocks = [program.alloc(pool, queue, PAGE) for _ in range(count)]
    assert [block.address - blocks[0].address for block in blocks] == [
        number * PAGE for number in range(count)
    ]
    return blocks


def make_idle(program: Program, queue: FakeQueue, *blocks: Block) -> None:
    """Free blocks and complete the frees."""
    for block in blocks:
        program.free(queue, block)
    program.finish(queue)


def layout(block: Block) -> list[list[tuple[int, int, str, int]]]:
    """All blocks of the heap that holds ``block``, by region: address, size, state and stamp."""
    return [
        [
            (each.address, each.size, each.state.name, each.stamp if each.order else 0)
            for each in region.blocks()
        ]
        for segment in block.heap.segments
        for region in segment.regions
    ]


def without_failure_count(numbers: PoolStatistics) -> PoolStatistics:
    """The numbers, except that an allocation was refused."""
    return replace(numbers, out_of_memory=0)


# -- where a heap grows ----------------------------------------------------------------------------


def test_idle_pages_move_before_new_ones_are_made(program: Program) -> None:
    """A page in the middle of the range moves to where a longer run is needed; only what is missing
    is new."""
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 4)
    make_idle(program, queue, blocks[1])
    created = program.calls.counts["create"]
    block = program.alloc(pool, queue, 2 * PAGE)
    assert block.address == blocks[3].end
    assert program.calls.counts["create"] == created + 1
    numbers = pool.statistics()
    assert (numbers.pages_moved, numbers.reserved, numbers.idle) == (1, 5 * PAGE, 0)
    assert (numbers.growths, numbers.driver_allocs) == (5, 5)
    program.alloc(pool, queue, 3 * PAGE - 1)
    numbers = pool.statistics()
    assert (numbers.growths, numbers.driver_allocs) == (6, 8)
    assert numbers.reserved == program.driver.held
    assert blocks[1].address not in program.driver.mapped
    pool.check()


def test_enough_idle_pages_make_a_run_without_new_memory(program: Program) -> None:
    """Scattered free memory costs nothing: reserved bytes stay what they are."""
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 7)
    make_idle(program, queue, blocks[1], blocks[3], blocks[5])
    created = program.calls.counts["create"]
    program.alloc(pool, queue, 3 * PAGE)
    assert program.calls.counts["create"] == created
    assert pool.statistics().reserved == 7 * PAGE
    assert pool.statistics().pages_moved == 3
    pool.check()


def test_partly_used_pages_stay(program: Program) -> None:
    """Only whole idle pages move; a page with one small block in use is where it is."""
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 3)
    make_idle(program, queue, blocks[1])
    page = blocks[1].address
    assert program.alloc(pool, queue, 256).address == page
    program.alloc(pool, queue, 2 * PAGE)
    assert pool.statistics().pages_moved == 0
    assert page in program.driver.mapped
    pool.check()


def test_pending_pages_stay(program: Program) -> None:
    """ORD-2: what is freed but not complete is neither moved nor unmapped by a growth, not even by
    one of its own queue."""
    pool, queue, other = program.pool(policy=OWN_ORDER), program.queue(), program.queue()
    blocks = pages(program, pool, queue, 4)
    program.free(queue, blocks[1])
    for grower in (queue, other):
        program.alloc(pool, grower, 3 * PAGE)
    assert program.calls.counts["unmap"] == 0
    assert blocks[1].address in program.driver.mapped
    assert pool.statistics().pending == PAGE
    pool.check()


def test_gap_is_filled(program: Program) -> None:
    """Where pages left, later ones come: a long-running program does not use its range up."""
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 4)
    make_idle(program, queue, blocks[1])
    program.alloc(pool, queue, 2 * PAGE)
    assert program.alloc(pool, queue, PAGE).address == blocks[1].address
    assert len(blocks[0].heap.segments[0].regions) == 1
    pool.check()


def test_gap_is_filled_with_the_idle_memory_on_both_sides(program: Program) -> None:
    """One page joins what lies before and behind it; neither of those moves."""
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 5)
    make_idle(program, queue, blocks[2])
    pool.trim_to(4 * PAGE)
    make_idle(program, queue, blocks[1], blocks[3])
    block = program.alloc(pool, queue, 3 * PAGE)
    assert block.address == blocks[1].address
    numbers = pool.statistics()
    assert (numbers.pages_moved, numbers.reserved) == (0, 5 * PAGE)
    pool.check()


def test_growth_continues_memory_that_the_queue_may_have(program: Program) -> None:
    """Idle memory, and what the queue itself freed, at the end of the range needs that much less
    behind it."""
    pool, queue = program.pool(policy=OWN_ORDER), program.queue()
    first = program.alloc(pool, queue, 3 * MIB)
    second = program.alloc(pool, queue, 2 * MIB)
    assert second.address == first.end
    assert pool.statistics().reserved == 6 * MIB
    program.free(queue, second)
    third = program.alloc(pool, queue, 4 * MIB)
    assert third.address == first.end
    assert pool.statistics().reserved == 8 * MIB
    pool.check()


def test_growth_does_not_continue_memory_of_another_queue(program: Program) -> None:
    """What another queue freed is no part of the run that the growth is to make."""
    pool, queue, other = program.pool(policy=OWN_ORDER), program.queue(), program.queue()
    program.free(other, program.alloc(pool, other, PAGE))
    block = program.alloc(pool, queue, 2 * PAGE)
    numbers = pool.statistics()
    assert (numbers.reserved, numbers.growths) == (3 * PAGE, 2)
    assert block.address % PAGE == 0
    pool.check()


def test_full_range_is_followed_by_another() -> None:
    """A second range is reserved only when the first has no place; small requests still fill the
    first."""
    program = Program(range_size=4 * PAGE)
    pool, queue = program.pool(), program.queue()
    first = program.alloc(pool, queue, 3 * PAGE)
    second = program.alloc(pool, queue, 2 * PAGE)
    assert sorted(program.driver.ranges.values()) == [4 * PAGE, 4 * PAGE]
    assert not first.address <= second.address < first.address + 4 * PAGE
    assert program.alloc(pool, queue, PAGE).address == first.end
    assert len(program.driver.ranges) == 2
    pool.check()


def test_request_larger_than_a_range_gets_one_of_its_size() -> None:
    """The size of a range is a choice of ours, not a limit on allocations."""
    program = Program(range_size=4 * PAGE)
    pool, queue = program.pool(), program.queue()
    block = program.alloc(pool, queue, 10 * PAGE + 1)
    assert list(program.driver.ranges.values()) == [11 * PAGE]
    assert block.size == 10 * PAGE + 256
    make_idle(program, queue, block)
    pool.trim_to(0)
    assert program.driver.held == 0
    pool.check()


def test_pages_move_between_ranges() -> None:
    """Idle pages of one range serve another."""
    program = Program(range_size=4 * PAGE)
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 4)
    make_idle(program, queue, blocks[0], blocks[2])
    program.alloc(pool, queue, 2 * PAGE)
    numbers = pool.statistics()
    assert (numbers.reserved, numbers.pages_moved) == (4 * PAGE, 2)
    pool.check()


# -- separate allocations --------------------------------------------------------------------------


def test_segment_is_a_multiple_of_the_step() -> None:
    """A small request gets a segment that also serves the next ones."""
    program = Program(virtual=False)
    pool, queue = program.pool(), program.queue()
    program.alloc(pool, queue, 1)
    assert list(program.driver.allocations.values()) == [2 * MIB]
    program.alloc(pool, queue, MIB)
    assert len(program.driver.allocations) == 1
    program.alloc(pool, queue, 5 * MIB)
    assert sorted(program.driver.allocations.values()) == [2 * MIB, 6 * MIB]
    assert pool.statistics().driver_allocs == 2
    pool.check()


def test_segment_is_never_larger_than_the_driver_gives() -> None:
    """Rounding up must not make a size impossible that the driver can give."""
    program = Program(virtual=False)
    program.driver.maximum_allocation = 3 * MIB
    pool, queue = program.pool(), program.queue()
    program.alloc(pool, queue, 5 * MIB // 2)
    assert list(program.driver.allocations.values()) == [3 * MIB]


@pytest.mark.parametrize("virtual", [True, False], ids=["pages", "segments"])
def test_minimum_is_asked_for_at_a_time(virtual: bool) -> None:
    """A source's minimum makes growths rarer, and never beyond the pool's limit."""
    program = Program(virtual=virtual)
    source = replace(program.sources[DEVICE], minimum=4 * PAGE)
    program.sources = {DEVICE: source}
    pool, queue = program.pool(maximum_size=6 * PAGE), program.queue()
    program.alloc(pool, queue, 1)
    assert program.driver.held == 4 * PAGE
    program.alloc(pool, queue, 4 * PAGE - 256)
    assert program.driver.held == 4 * PAGE
    program.alloc(pool, queue, PAGE)
    assert program.driver.held == pool.statistics().reserved <= 6 * PAGE
    pool.check()


# -- other threads meanwhile -----------------------------------------------------------------------


def test_two_growths_at_once_choose_different_places(program: Program) -> None:
    """While one growth is in the driver, another finds its place claimed and its pages gone."""
    pool, queue, other = program.pool(), program.queue(), program.queue()
    blocks = pages(program, pool, queue, 4)
    make_idle(program, queue, blocks[1])
    taken: list[Block] = []
    program.calls.meanwhile["unmap"] = lambda: taken.append(program.alloc(pool, other, 2 * PAGE))
    block = program.alloc(pool, queue, 2 * PAGE)
    assert block.address == blocks[3].end
    assert taken[0].address == block.end
    assert pool.statistics().reserved == program.driver.held == 7 * PAGE
    pool.check()


def test_growth_whose_neighbour_was_taken_meanwhile_grows_again(program: Program) -> None:
    """The run that the growth was to complete has lost its front to another thread."""
    pool, queue, other = program.pool(), program.queue(), program.queue()
    first = program.alloc(pool, queue, 3 * MIB)
    taken: list[Block] = []
    program.calls.meanwhile["create"] = lambda: taken.append(program.alloc(pool, other, 1 * MIB))
    block = program.alloc(pool, queue, 3 * MIB)
    assert taken[0].address == first.end
    assert block.size == 3 * MIB
    assert pool.statistics().growths == 3
    assert pool.statistics().allocations == 3
    pool.check()


def test_growth_that_fails_while_another_thread_grows(program: Program) -> None:
    """Putting back what the failed one took leaves the other's pages alone."""
    pool, queue, other = program.pool(), program.queue(), program.queue()
    blocks = pages(program, pool, queue, 4)
    make_idle(program, queue, blocks[1])
    program.calls.meanwhile["create"] = lambda: program.alloc(pool, other, 2 * PAGE)
    program.calls.fail_after = 3
    program.calls.only = "map"
    with pytest.raises(UrError, match="injected"):
        program.alloc(pool, queue, 2 * PAGE)
    numbers = pool.statistics()
    assert numbers.reserved == program.driver.held == 6 * PAGE
    assert (numbers.used, numbers.idle) == (5 * PAGE, PAGE)
    assert blocks[1].address in program.driver.mapped
    pool.check()


def test_limit_holds_for_growths_at_once(program: Program) -> None:
    """MEM-10: what a thread is just asking the driver for counts against the limit."""
    pool = program.pool(maximum_size=3 * PAGE, policy=OWN_ORDER)
    queue, other = program.queue(), program.queue()

    def grow_too() -> None:
        with pytest.raises(OutOfMemoryError):
            program.alloc(pool, other, 2 * PAGE)

    program.calls.meanwhile["reserve"] = grow_too
    program.alloc(pool, queue, 2 * PAGE)
    assert program.driver.held == 2 * PAGE
    pool.check()


def test_limit_is_still_reached_after_a_growth_that_failed(program: Program) -> None:
    """MEM-10: what was asked for in vain does not count against the limit for ever."""
    pool, queue = program.pool(maximum_size=2 * PAGE), program.queue()
    for code in (UrResult.UNKNOWN, UrResult.OUT_OF_DEVICE_MEMORY):
        program.calls.code = code
        program.calls.fail_after = 1
        with pytest.raises(UrError):
            program.alloc(pool, queue, 2 * PAGE)
    program.alloc(pool, queue, 2 * PAGE)
    pool.check()


# -- growths that fail -----------------------------------------------------------------------------


def with_donors() -> tuple[Program, Pool, FakeQueue, Block]:
    """A heap in which a request of three pages moves two and makes one."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 6)
    make_idle(program, queue, blocks[1], blocks[3])
    return program, pool, queue, blocks[0]


def with_a_gap() -> tuple[Program, Pool, FakeQueue, Block]:
    """A heap in which a request of three pages fills a gap between idle pages."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 5)
    make_idle(program, queue, blocks[2])
    pool.trim_to(4 * PAGE)
    make_idle(program, queue, blocks[1], blocks[3])
    return program, pool, queue, blocks[0]


def with_full_range() -> tuple[Program, Pool, FakeQueue, Block]:
    """A heap in which a request of three pages needs a second range, one page of which is idle."""
    program = Program(range_size=4 * PAGE)
    pool, queue = program.pool(), program.queue()
    blocks = pages(program, pool, queue, 4)
    make_idle(program, queue, blocks[2])
    return program, pool, queue, blocks[0]


def with_segments() -> tuple[Program, Pool, FakeQueue, Block]:
    """A heap of separate allocations."""
    program = Program(virtual=False)
    pool, queue = program.pool(), program.queue()
    block = program.alloc(pool, queue, PAGE)
    return program, pool, queue, block


SETUPS = [with_donors, with_a_gap, with_full_range, with_segments]


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize(
    "code", [UrResult.UNKNOWN, UrResult.OUT_OF_DEVICE_MEMORY, UrResult.DEVICE_LOST]
)
def test_failure_of_any_call_changes_nothing(setup: object, code: UrResult) -> None:
    """ERR-1: every driver call of the allocation fails in turn; numbers, peaks, blocks and driver
    objects are as before, and the next allocation works."""
    assert callable(setup)
    program, pool, queue, _ = setup()
    before = program.calls.total
    pool.allocate(queue.order, DEVICE, 3 * PAGE)
    calls = program.calls.total - before
    assert calls >= (1 if setup is with_segments else 2)
    for nth in range(calls):
        program, pool, queue, block = setup()
        numbers, blocks = pool.statistics(), layout(block)
        objects, mapped = program.driver.objects(), dict(program.driver.mapped)
        program.calls.code = code
        program.calls.fail_after = nth
        with pytest.raises(UrError, match="left for" if code in OUT_OF_MEMORY else "injected"):
            pool.allocate(queue.order, DEVICE, 3 * PAGE)
        assert not program.calls.failing
        assert without_failure_count(pool.statistics()) == numbers, f"call {nth}"
        assert layout(block) == blocks, f"call {nth}"
        assert program.driver.objects() == objects, f"call {nth}"
        assert program.driver.mapped == mapped, f"call {nth}"
        pool.check()
        taken = program.alloc(pool, queue, 3 * PAGE)
        assert taken.size == 3 * PAGE
        assert pool.statistics().reserved == program.driver.held
        pool.check()


OUT_OF_MEMORY = {UrResult.OUT_OF_DEVICE_MEMORY}


@pytest.mark.parametrize("broken", [{"map"}, {"map", "destroy"}])
def test_page_that_cannot_be_mapped_back_is_accounted_for(broken: set[str]) -> None:
    """The page is lost to the pool, and no number claims that it has it."""
    program, pool, queue, block = with_donors()
    before = pool.statistics()
    program.calls.broken = broken
    with pytest.raises(UrError, match="injected"):
        pool.allocate(queue.order, DEVICE, 3 * PAGE)
    program.calls.broken = set()
    numbers = pool.statistics()
    assert (numbers.reserved, numbers.idle) == (before.reserved - PAGE, before.idle - PAGE)
    assert numbers.used == before.used
    assert numbers.reserved_high == before.reserved_high
    assert len(program.driver.mapped) * PAGE == numbers.reserved
    leaked = program.driver.held - numbers.reserved
    assert leaked == (0 if "destroy" not in broken else 2 * PAGE), "the lost one and the new one"
    pool.check()
    program.alloc(pool, queue, 3 * PAGE)
    assert pool.statistics().used == before.used + 3 * PAGE
    assert len(program.driver.mapped) * PAGE == pool.statistics().reserved
    assert block.heap.segments[0].claims == set()
    pool.check()


def test_page_that_can_neither_stay_nor_go_is_accounted_for() -> None:
    """The first page has moved and cannot be unmapped again, the second cannot be mapped back: both
    are lost, and nothing is ever mapped where the first one is."""
    program, pool, queue, _ = with_donors()
    before = pool.statistics()

    def second_map() -> None:
        program.calls.broken = {"map", "unmap"}

    def first_map() -> None:
        program.calls.meanwhile["map"] = second_map

    program.calls.meanwhile["map"] = first_map
    with pytest.raises(UrError, match="injected"):
        pool.allocate(queue.order, DEVICE, 3 * PAGE)
    program.calls.broken = set()
    numbers = pool.statistics()
    assert numbers.reserved == before.reserved - 2 * PAGE
    assert (numbers.used, numbers.idle) == (before.used, 0)
    assert len(program.driver.mapped) * PAGE == numbers.reserved + PAGE
    assert program.driver.held == numbers.reserved + PAGE, "the new page went"
    pool.check()
    for _ in range(8):
        program.alloc(pool, queue, PAGE)
    pool.check()


def test_new_range_whose_pages_cannot_go_is_left_alone() -> None:
    """What cannot be unmapped is not destroyed, and its range is not released."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    program.calls.fail_after = 2
    program.calls.only = "map"
    program.calls.broken = {"unmap"}
    with pytest.raises(UrError, match="injected"):
        pool.allocate(queue.order, DEVICE, 3 * PAGE)
    assert program.driver.objects() == (0, 2, 2, 1)
    assert pool.statistics().reserved == 0
    program.calls.broken = set()
    program.alloc(pool, queue, 3 * PAGE)
    pool.check()


@pytest.mark.parametrize("setup", SETUPS)
def test_undone_growth_gives_its_memory_back(setup: object) -> None:
    """ERR-8: the allocation grew the pool and a later step of the caller failed: numbers and peaks
    are as before, and so is what the driver has given."""
    assert callable(setup)
    program, pool, queue, _ = setup()
    before, held = pool.statistics(), program.driver.held
    pool.give_back(pool.allocate(queue.order, DEVICE, 3 * PAGE))
    after = pool.statistics()
    for name in ("used", "used_high", "requested", "pending", "idle", "reserved", "reserved_high"):
        assert getattr(after, name) == getattr(before, name), name
    assert (after.allocations, after.frees) == (before.allocations, before.frees)
    assert program.driver.held == held
    pool.check()


@pytest.mark.parametrize("setup", SETUPS)
def test_undone_growth_that_the_driver_does_not_take_back(setup: object) -> None:
    """The error that began the undoing matters more; what stays is idle memory of the pool, and the
    peak counts it."""
    assert callable(setup)
    program, pool, queue, _ = setup()
    before = pool.statistics()
    block = pool.allocate(queue.order, DEVICE, 3 * PAGE)
    program.calls.broken = {"free", "unmap"}
    pool.give_back(block)
    after = pool.statistics()
    assert after.reserved == program.driver.held > before.reserved
    assert after.reserved_high >= after.reserved
    assert (after.used, after.requested) == (before.used, before.requested)
    pool.check()


def test_heaps_of_other_kinds_have_their_own_memory() -> None:
    """Shared memory is not mapped page by page, whatever device memory is."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    program.alloc(pool, queue, PAGE, key=SHARED)
    program.alloc(pool, queue, PAGE)
    assert program.driver.objects() == (1, 1, 1, 1)
    assert pool.statistics().reserved == 2 * PAGE


def test_step_is_the_drivers_page_when_that_is_larger() -> None:
    """A device whose pages are larger than the step grows by whole pages."""
    program = Program()
    program.driver.page_size = 8 * MIB
    source = HeapSource(program.driver, program.driver, 64 * MIB)
    assert source.step == 8 * MIB
    program.sources = {DEVICE: source}
    pool, queue = program.pool(), program.queue()
    program.alloc(pool, queue, 1)
    assert pool.statistics().reserved == program.driver.held == 8 * MIB
