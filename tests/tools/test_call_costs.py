# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done between two looks at the clock (`benchmarks.call_costs`)."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import urasync_l0
from benchmarks import call_costs
from benchmarks.call_costs import BATCH, PAIRS, SNAPSHOT_BLOCKS, SNAPSHOTS, Bench
from urasync_l0.pool.statistics import PoolStatistics


class LookingClock:
    """A clock that goes on by a microsecond with each look, and keeps what the pools had done."""

    def __init__(self) -> None:
        self.looks: list[list[PoolStatistics]] = []
        self.pools: list[urasync_l0.Pool] = []

    def __call__(self) -> int:
        self.looks.append([pool.statistics() for pool in self.pools])
        return len(self.looks) * 1000

    def between(self, first: int) -> list[tuple[int, int]]:
        """Allocations and frees of each pool from one look to the next."""
        return [
            (after.allocations - before.allocations, after.frees - before.frees)
            for before, after in zip(self.looks[first], self.looks[first + 1], strict=True)
        ]


CLOCK = LookingClock()


@pytest.fixture(params=["legacy", "v2"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with ExitStack() as stack:
        bench = Bench(request.param, "software", stack, CLOCK)
        CLOCK.looks.clear()
        CLOCK.pools[:] = [bench.context.default_pool(bench.context.devices[0]), bench.pool]
        yield bench


DEFAULT, NAMED = [(PAIRS, PAIRS), (0, 0)], [(0, 0), (PAIRS, PAIRS)]
FEW = [(PAIRS // 8, PAIRS // 8), (0, 0)]


@pytest.mark.parametrize(
    ("name", "count", "done"),
    [
        ("no events", PAIRS, DEFAULT),
        ("no events, a pool named", PAIRS, NAMED),
        ("no events, by address", PAIRS, DEFAULT),
        ("an event for both calls", PAIRS // 8, FEW),
        ("and a signal for each event", PAIRS // 8, FEW),
        ("handed to another queue", PAIRS // 8, FEW),
    ],
)
def test_pairs(bench: Bench, name: str, count: int, done: list[tuple[int, int]]) -> None:
    case = next(case for case in bench.cases() if (case.group, case.name) == ("pair", name))
    assert case.measure() == pytest.approx(1 / count)
    assert len(CLOCK.looks) == 2
    assert CLOCK.between(0) == done


def test_halves_are_apart(bench: Bench) -> None:
    allocating, freeing = bench.halves()
    batches = PAIRS // BATCH
    assert [allocating, freeing] == pytest.approx([1 / BATCH, 1 / BATCH])
    assert len(CLOCK.looks) == 3 * batches
    for batch in range(batches):
        assert CLOCK.between(3 * batch)[0] == (BATCH, 0)
        assert CLOCK.between(3 * batch + 1)[0] == (0, BATCH)


def test_a_synchronisation_is_measured_alone(bench: Bench) -> None:
    assert bench.finish(50) == 1
    before, after = (look[0] for look in CLOCK.looks)
    assert before.frees == before.allocations >= 50
    assert before.pending >= 50 * 256
    assert (after.pending, after.allocations) == (0, before.allocations)


def test_a_snapshot_is_of_many_blocks(bench: Bench) -> None:
    assert bench.snapshot() == 1
    before, after = (look[0] for look in CLOCK.looks)
    assert before == after
    assert before.allocations - before.frees == SNAPSHOT_BLOCKS
    assert CLOCK.pools[0].statistics().used == 0


def test_pairs_are_measured_until_enough_snapshots_were_taken(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def take_snapshot() -> None:
        taken.append(CLOCK.pools[0].statistics().used)

    monkeypatch.setattr(urasync_l0, "take_snapshot", take_snapshot)
    assert bench.pair_meanwhile() == pytest.approx(1 / PAIRS)
    assert len(taken) >= SNAPSHOTS
    assert min(taken) >= SNAPSHOT_BLOCKS * call_costs.NBYTES
    assert CLOCK.pools[0].statistics().used == 0


def test_a_start_is_of_a_process_of_its_own(tmp_path: Path) -> None:
    written = tmp_path / "written"
    code = f"import os; open({str(written)!r}, 'w').write(str(os.getpid()))"
    assert call_costs.start_time(code, time.perf_counter_ns) > 0
    assert int(written.read_text(encoding="utf-8")) != os.getpid()
    with pytest.raises(subprocess.CalledProcessError):
        call_costs.start_time("raise OSError", time.thread_time_ns)


def test_no_adapter_takes_part_in_common_cases() -> None:
    names = [(case.group, case.name, case.adapter) for case in call_costs.common_cases()]
    assert names == [
        ("for scale", "a free list in Python", ""),
        ("start", "import urasync_l0", ""),
    ]
