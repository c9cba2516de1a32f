# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The index of free runs against a list that is searched by hand."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.helpers.pool_fakes import DEVICE, Program
from urasync_l0.pool.block import BlockState
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.structure import Block, SizeIndex

GRANULE = 256
PER_OCTAVE = 8

sizes = st.one_of(
    st.integers(1, 40),
    st.integers(1, 5000),
    st.sampled_from([1, 8, 15, 16, 17, 4096, 1 << 20, (1 << 28) - 1, 1 << 28]),
).map(lambda units: units * GRANULE)
"""Small ones meet in few classes; the others are classes far apart."""

steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), sizes),
        st.tuples(st.just("remove"), st.integers(0, 10_000)),
        st.tuples(st.just("find"), sizes),
    ),
    max_size=80,
)


def size_class(size: int) -> tuple[int, int]:
    """The class of a size: its power of two, and which eighth of the way to the next."""
    units = size // GRANULE
    power = units.bit_length() - 1
    return power, units * PER_OCTAVE >> power


def lowest_fit(runs: dict[int, int], size: int) -> int | None:
    """The rule of one range: the lowest run of exactly the size or of a higher class; without
    those the smallest that fits, and of its equals the lowest."""
    fits = {address: width for address, width in runs.items() if width >= size}
    clear = [
        a for a, width in fits.items() if width == size or size_class(width) > size_class(size)
    ]
    return min(clear) if clear else smallest_fit(runs, size)


def smallest_fit(runs: dict[int, int], size: int) -> int | None:
    """The rule of separate allocations: the smallest run that fits, the lowest of its equals."""
    fits = [(width, address) for address, width in runs.items() if width >= size]
    return min(fits)[1] if fits else None


@pytest.fixture(scope="module")
def heap() -> Heap:
    """Any heap; the index does not look at it."""
    return Heap(Program().pool(), DEVICE, one_range=True)


@pytest.mark.parametrize("lowest", [True, False], ids=["lowest", "smallest"])
@given(steps=steps, order=st.randoms(use_true_random=False))
def test_every_find_is_what_the_rule_says(
    heap: Heap, lowest: bool, steps: list[tuple[str, int]], order: object
) -> None:
    """Runs come and go, also many of one size, and each search names the run of the rule."""
    index = SizeIndex(lowest=lowest)
    blocks: dict[int, Block] = {}
    addresses = [number << 40 for number in range(1, len(steps) + 1)]
    order.shuffle(addresses)  # type: ignore[attr-defined]
    for step, number in steps:
        if step == "add":
            address = addresses.pop()
            block = blocks[address] = Block(heap, address, number, BlockState.IDLE)
            index.add(number, address, block)
        elif step == "remove" and blocks:
            address = sorted(blocks)[number % len(blocks)]
            block = blocks.pop(address)
            assert index.remove(block.size, address) is block
        elif step == "find":
            runs = {address: block.size for address, block in blocks.items()}
            expected = lowest_fit(runs, number) if lowest else smallest_fit(runs, number)
            found = index.find(number)
            if expected is None:
                assert found is None
            else:
                assert found is not None
                assert found[1] is blocks[expected]
                assert found[0] == (expected if lowest else runs[expected])
        assert index.count == len(blocks)
    for size in (1, 300 * GRANULE):
        large = {block for block in blocks.values() if block.size >= size}
        assert set(index.at_least(size)) == large


@pytest.mark.parametrize("lowest", [True, False], ids=["lowest", "smallest"])
def test_removed_runs_are_never_found_again(heap: Heap, lowest: bool) -> None:
    """An address that left and came back with another size is found with the new one alone."""
    index = SizeIndex(lowest=lowest)
    small = Block(heap, 1 << 20, 1 * GRANULE, BlockState.IDLE)
    large = Block(heap, 1 << 20, 100 * GRANULE, BlockState.IDLE)
    for _ in range(200):
        index.add(small.size, small.address, small)
        assert index.find(2 * GRANULE) is None
        assert index.remove(small.size, small.address) is small
        index.add(large.size, large.address, large)
        found = index.find(GRANULE)
        assert found is not None
        assert found[1] is large
        assert index.remove(large.size, large.address) is large
        assert index.find(GRANULE) is None


def test_a_hundred_thousand_runs_of_one_size_leave_in_address_order(heap: Heap) -> None:
    """Among equals the lowest address comes first, whatever order they came in."""
    index = SizeIndex(lowest=True)
    count = 100_000
    for number in range(count):
        address = (number * 7919 % count + 1) * 4096
        index.add(GRANULE, address, Block(heap, address, GRANULE, BlockState.IDLE))
    seen = []
    for _ in range(1000):
        found = index.find(GRANULE)
        assert found is not None
        seen.append(found[0])
        index.remove(GRANULE, found[0])
    assert seen == [(number + 1) * 4096 for number in range(1000)]
    assert index.count == count - 1000


def test_sizes_that_came_and_went_are_forgotten() -> None:
    """A program that never repeats a size does not make the index grow."""
    index = SizeIndex(lowest=True)
    heap = object()
    for n in range(1, 20_000):
        block = Block(heap, n << 8, n << 8, BlockState.IDLE)  # type: ignore[arg-type]
        index.add(block.size, block.address, block)
        index.remove(block.size, block.address)
    assert index.known_sizes <= 2000
    assert index.count == 0
    assert index.find(256) is None
