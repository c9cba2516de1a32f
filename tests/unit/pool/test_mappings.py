# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mappings of several pages, which a large heap gets; they move and go as wholes."""

from __future__ import annotations

import pytest

from tests.helpers.pool_fakes import MIB, FakeQueue, Program
from urasync_l0.pool import Block, Pool
from urasync_l0.result import UrError

PAGE = 2 * MIB
FIRST = 256
"""Pages of a first block. What comes behind it is mapped four pages at once."""


@pytest.fixture
def program() -> Program:
    return Program(range_size=1 << 36)


def large_heap(program: Program, *counts: int) -> tuple[Pool, FakeQueue, list[Block]]:
    """A heap whose first block is in use, and blocks of so many pages behind it."""
    pool, queue = program.pool(), program.queue()
    program.alloc(pool, queue, FIRST * PAGE)
    return pool, queue, [program.alloc(pool, queue, count * PAGE) for count in counts]


def make_idle(program: Program, queue: FakeQueue, *blocks: Block) -> None:
    """Free blocks and complete the frees."""
    for block in blocks:
        program.free(queue, block)
    program.finish(queue)


def mapped(program: Program, block: Block) -> list[int]:
    """Of how many pages the mappings are that a block lies in, in address order."""
    return [
        size // PAGE
        for address, (size, _) in sorted(program.driver.mapped.items())
        if address < block.end and block.address < address + size
    ]


@pytest.mark.parametrize(
    ("held", "count", "sizes"),
    [
        (0, 70, [1] * 70),
        (127, 3, [1, 1, 1]),
        (128, 5, [2, 2, 1]),
        (256, 7, [4, 2, 1]),
        (2047, 70, [16] * 4 + [4, 2]),
        (2048, 70, [32, 32, 4, 2]),
        (1 << 14, 97, [32, 32, 32, 1]),
    ],
)
def test_a_mapping_is_a_small_part_of_the_heap(
    program: Program, held: int, count: int, sizes: list[int]
) -> None:
    """At most a 64th, at most 32 pages, and a power of two; driver calls and memory are counted."""
    pool, queue = program.pool(), program.queue()
    if held:
        program.alloc(pool, queue, held * PAGE)
    before = pool.statistics().driver_allocs
    block = program.alloc(pool, queue, count * PAGE)
    assert mapped(program, block) == sizes
    numbers = pool.statistics()
    assert numbers.driver_allocs == before + len(sizes)
    assert numbers.reserved == program.driver.held == (held + count) * PAGE
    pool.check()


def test_idle_mappings_move_as_wholes(program: Program) -> None:
    """The largest that fit move, of equal ones the highest, and the rest of the run is new."""
    pool, queue, (low, _, high, _) = large_heap(program, 4, 1, 6, 1)
    assert (mapped(program, low), mapped(program, high)) == ([4], [4, 2])
    make_idle(program, queue, low, high)
    block = program.alloc(pool, queue, 7 * PAGE)
    assert sorted(mapped(program, block)) == [1, 2, 4]
    assert low.address in program.driver.mapped
    assert high.address not in program.driver.mapped
    numbers = pool.statistics()
    assert (numbers.pages_moved, numbers.idle) == (6, 4 * PAGE)
    pool.check()


def test_a_mapping_that_is_larger_than_what_is_missing_stays(program: Program) -> None:
    """The run begins with the idle memory that it grows behind; two pages are missing then."""
    pool, queue, (four, _, last) = large_heap(program, 4, 1, 3)
    make_idle(program, queue, four, last)
    block = program.alloc(pool, queue, 5 * PAGE)
    assert block.address == last.address
    assert mapped(program, block) == [2, 1, 2]
    numbers = pool.statistics()
    assert (numbers.pages_moved, numbers.idle) == (0, 4 * PAGE)
    assert numbers.reserved == program.driver.held == (FIRST + 10) * PAGE
    pool.check()


def test_a_partly_used_mapping_stays(program: Program) -> None:
    """One small block in use keeps its mapping, and nothing else."""
    pool, queue, (block, _) = large_heap(program, 8, 1)
    assert mapped(program, block) == [4, 4]
    make_idle(program, queue, block)
    start = block.address
    small = program.alloc(pool, queue, 256)
    assert small.address == start
    program.alloc(pool, queue, 9 * PAGE)
    assert pool.statistics().pages_moved == 4
    pool.trim_to(0)
    assert mapped(program, small) == [4]
    assert pool.statistics().idle == 4 * PAGE - 256
    pool.check()


def test_pending_mappings_stay(program: Program) -> None:
    """ORD-2: what another queue freed is not complete: it neither moves nor goes."""
    pool, queue, (block, _) = large_heap(program, 8, 1)
    program.free(queue, block)
    program.alloc(pool, program.queue(), 9 * PAGE)
    pool.trim_to(0)
    assert program.calls.counts["unmap"] == 0
    assert mapped(program, block) == [4, 4]
    pool.check()


@pytest.mark.parametrize(
    ("keep", "left"),
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (11, 11), (14, 14), (99, 14)],
)
def test_trim_meets_what_it_is_asked_for(program: Program, keep: int, left: int) -> None:
    """MEM-11: powers of two make every number of pages that all of them make together."""
    pool, queue, (one, _, other, _) = large_heap(program, 7, 1, 7, 1)
    make_idle(program, queue, one, other)
    pool.trim_to((FIRST + 2 + keep) * PAGE)
    assert pool.statistics().reserved == program.driver.held == (FIRST + 2 + left) * PAGE
    pool.check()


def test_trim_never_leaves_less_than_it_is_told(program: Program) -> None:
    """MEM-11: of a mapping that would be too much, nothing goes; a threshold lets it go."""
    pool, queue, (block, _) = large_heap(program, 4, 1)
    make_idle(program, queue, block)
    held = pool.statistics().reserved
    pool.trim_to(held - PAGE)
    assert pool.statistics().reserved == program.driver.held == held
    pool.release_threshold = held - PAGE
    program.finish(queue)
    assert pool.statistics().reserved == program.driver.held == held - 4 * PAGE
    pool.check()


def test_a_threshold_lets_go_of_the_smallest_that_does(program: Program) -> None:
    """MEM-8: below the threshold by as little as there is."""
    pool, queue, (four, _, two, _) = large_heap(program, 4, 1, 2, 1)
    make_idle(program, queue, four, two)
    held = pool.statistics().reserved
    pool.release_threshold = held - PAGE
    program.finish(queue)
    assert pool.statistics().reserved == program.driver.held == held - 2 * PAGE
    assert mapped(program, four) == [4]
    pool.check()


@pytest.mark.parametrize("idle", [False, True], ids=["all new", "some moved"])
def test_failure_of_any_call_changes_nothing(idle: bool) -> None:
    """ERR-1: every driver call of a growth fails in turn, then the call that comes after it."""
    counts = (4, 1, 6, 1)
    nth = 0
    while True:
        program = Program(range_size=1 << 36)
        pool, queue, blocks = large_heap(program, *counts)
        if idle:
            make_idle(program, queue, blocks[0], blocks[2])
        numbers, before = pool.statistics(), dict(program.driver.mapped)
        program.calls.fail_after = nth
        try:
            program.alloc(pool, queue, 13 * PAGE)
        except UrError:
            assert not program.calls.failing
        else:
            assert program.calls.failing
            break
        assert program.driver.mapped == before, f"call {nth}"
        assert len(program.driver.physical) == len(before), f"call {nth}"
        assert pool.statistics() == numbers, f"call {nth}"
        pool.check()
        program.alloc(pool, queue, 13 * PAGE)
        pool.check()
        nth += 1
    created, moved = (2, 3) if idle else (4, 0)
    assert nth == created + 2 * moved + created


def test_an_allocation_that_is_undone_gives_back_what_it_grew_by(program: Program) -> None:
    """ERR-1: also where idle mappings beside it are of other sizes."""
    pool, queue, (_, one, _) = large_heap(program, 4, 1, 1)
    make_idle(program, queue, one)
    numbers = pool.statistics()
    block = program.alloc(pool, queue, 7 * PAGE)
    pool.give_back(block)
    assert pool.statistics().reserved == program.driver.held == numbers.reserved
    assert pool.statistics().reserved_high == numbers.reserved_high
    pool.check()


def test_a_mapping_that_cannot_be_mapped_back_is_accounted_for(program: Program) -> None:
    pool, queue, (four, _) = large_heap(program, 4, 1)
    make_idle(program, queue, four)
    before = pool.statistics()
    program.calls.broken = {"map"}
    with pytest.raises(UrError, match="injected"):
        program.alloc(pool, queue, 5 * PAGE)
    program.calls.broken = set()
    numbers = pool.statistics()
    assert numbers.reserved == program.driver.held == before.reserved - 4 * PAGE
    assert (numbers.used, numbers.idle) == (before.used, 0)
    pool.check()
    program.alloc(pool, queue, 5 * PAGE)
    pool.check()


@pytest.mark.parametrize("broken", ["unmap", "destroy"])
def test_a_failure_while_releasing_keeps_the_mapping(program: Program, broken: str) -> None:
    """ERR-1: what the driver does not take stays with the pool, idle."""
    pool, queue, (block, _) = large_heap(program, 6, 1)
    make_idle(program, queue, block)
    before = pool.statistics()
    program.calls.fail_after = 0
    program.calls.only = broken
    with pytest.raises(UrError, match="injected"):
        pool.trim_to(0)
    numbers = pool.statistics()
    assert numbers.reserved == program.driver.held
    assert before.reserved - numbers.reserved in (2 * PAGE, 4 * PAGE)
    pool.check()
    pool.trim_to(0)
    assert pool.statistics().idle == 0
    pool.check()


def test_a_closed_pool_gives_all_back(program: Program) -> None:
    """Also the next close when the driver refuses once, wherever that is."""
    for name in ("unmap", "destroy"):
        pool, queue, blocks = large_heap(program, 6, 1)
        make_idle(program, queue, *blocks)
        make_idle(program, queue, *program.registry.live.values())
        program.calls.fail_after = FIRST
        program.calls.only = name
        with pytest.raises(UrError, match="injected"):
            pool.close()
        assert pool.statistics().reserved == program.driver.held == 7 * PAGE
        program.finish(queue)
        assert program.driver.objects() == (0, 0, 0, 0)
