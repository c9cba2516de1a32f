# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m benchmarks.free_blocks``: pairs among as many free blocks as it says."""

import json
from collections.abc import Iterator

import pytest

import urasync_l0
from benchmarks import free_blocks
from urasync_l0.snapshot import IDLE, IN_USE, PoolSnapshot


@pytest.fixture
def context() -> Iterator[urasync_l0.Context]:
    with urasync_l0.Context(adapter="v2", driver="software") as context:
        yield context


def largest_pool() -> PoolSnapshot:
    (context,) = urasync_l0.take_snapshot().contexts
    return max(context.pools, key=lambda pool: pool.statistics.allocations)


@pytest.mark.parametrize("spread", ["one size", "many sizes"])
def test_each_round_does_so_many_pairs_among_so_many_free_blocks(
    context: urasync_l0.Context, spread: str
) -> None:
    count = 30
    looks: list[PoolSnapshot] = []

    def clock() -> int:
        looks.append(largest_pool())
        return len(looks) * 1000

    assert free_blocks.microseconds_a_pair(context, spread, count, clock) == 1 / free_blocks.PAIRS
    assert len(looks) == 2 * free_blocks.ROUNDS
    for start, end in zip(looks[::2], looks[1::2], strict=True):
        done = end.statistics.allocations - start.statistics.allocations
        assert done == end.statistics.frees - start.statistics.frees == free_blocks.PAIRS
        assert start.statistics.pending == 0
    states = [block.state for segment in looks[0].segments for block in segment.blocks]
    while states[-1] == IDLE:  # what no block has had yet
        states.pop()
    assert sorted(states) == [IDLE] * count + [IN_USE] * count
    (kept,) = urasync_l0.take_snapshot().contexts
    assert all(pool.statistics.allocations == 0 for pool in kept.pools)


def test_the_quickest_round_counts(context: urasync_l0.Context) -> None:
    times = iter([0, 9_000_000, 10_000_000, 14_000_000, *range(20_000_000, 10**9, 6_000_000)])
    assert free_blocks.microseconds_a_pair(
        context, "one size", 2, lambda: next(times)
    ) == pytest.approx(4_000 / free_blocks.PAIRS)


def test_sizes() -> None:
    assert free_blocks.sizes_of("one size", 3, 1) == [4096] * 3
    sizes = free_blocks.sizes_of("many sizes", 2000, 1)
    assert sizes == free_blocks.sizes_of("many sizes", 2000, 1)
    assert sizes != free_blocks.sizes_of("many sizes", 2000, 2)
    assert min(sizes) >= 256
    assert max(sizes) <= 65536
    below = sum(size < 4096 for size in sizes)
    assert 900 < below < 1100  # half of them, where sizes are log-uniform


def test_the_c_program_gets_the_same_blocks_and_pairs() -> None:
    blocks, pairs, rounds, *sizes = map(int, free_blocks.sizes_text("many sizes", 7).split())
    assert (blocks, pairs, rounds) == (14, free_blocks.PAIRS, free_blocks.ROUNDS)
    assert sizes[:14] == free_blocks.sizes_of("many sizes", 14, 1)
    assert sizes[14:] == free_blocks.sizes_of("many sizes", free_blocks.PAIRS, 2)


def test_ratios_are_to_the_first_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = {("one size", 10): 0.5, ("one size", 1000): 0.75}
    times |= {("many sizes", 10): 2.0, ("many sizes", 1000): 3.0}
    adapters: list[str] = []

    def microseconds_a_pair(context: urasync_l0.Context, spread: str, count: int) -> float:
        adapters.append(context.adapter_name)
        return times[spread, count]

    monkeypatch.setattr(free_blocks, "microseconds_a_pair", microseconds_a_pair)
    free_blocks.main(["--adapter", "legacy", "--counts", "10", "1000"])
    one, many = map(json.loads, capsys.readouterr().out.splitlines())
    assert one == {
        "benchmark": "free_blocks",
        "adapter": "legacy",
        "sizes": "one size",
        "us_per_pair": {"10": 0.5, "1000": 0.75},
        "ratio": {"10": 1.0, "1000": 1.5},
    }
    assert (many["sizes"], many["ratio"]) == ("many sizes", {"10": 1.0, "1000": 1.5})
    assert adapters == ["legacy"] * 4
