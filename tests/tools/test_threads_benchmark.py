# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m benchmarks.threads``: what threads do, and what is made of what they took."""

import json
import threading
import time
from collections.abc import Sequence

import pytest

import urasync_l0
from benchmarks import threads
from benchmarks.threads import Took, Work

TIMEOUT_S = 60


def test_works_are_done_together_after_one_that_does_not_count() -> None:
    meeting = threading.Barrier(3)
    done: list[int] = []

    def work(pairs: int) -> None:
        done.append(pairs)
        if pairs > 1:
            meeting.wait(TIMEOUT_S)  # breaks unless all three are under way

    took = threads.together([work] * 3, 40)
    assert sorted(done) == [1, 1, 1, 40, 40, 40]
    assert took.pairs == 120


def test_the_processors_time_of_all_threads_is_counted_and_that_of_the_first_pair_is_not() -> None:
    def work(pairs: int) -> None:
        until = time.thread_time_ns() + pairs * 1_000_000
        while time.thread_time_ns() < until:
            pass

    took = threads.together([work] * 2, 3)
    assert took.busy_seconds >= 2 * 0.003
    assert took.seconds >= 0.003


def test_a_thread_that_waits_is_counted_as_asleep() -> None:
    one, other = threading.Semaphore(0), threading.Semaphore(0)

    def play(mine: threading.Semaphore, theirs: threading.Semaphore, pairs: int) -> None:
        for _ in range(pairs):
            theirs.release()
            assert mine.acquire(timeout=TIMEOUT_S)

    works: list[Work] = [
        lambda pairs: play(one, other, pairs),
        lambda pairs: play(other, one, pairs),
    ]
    assert threads.together(works, 50).sleeps > 0
    assert threads.together([lambda pairs: None], 50).sleeps == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("at", [1, 5])
def test_a_work_that_fails_is_told_and_leaves_none_waiting(at: int) -> None:
    def fail(pairs: int) -> None:
        if pairs == at:
            raise OSError("no")

    with pytest.raises(RuntimeError, match="a thread failed"):
        threads.together([lambda pairs: None, fail], 5)


@pytest.mark.parametrize("event", [False, True])
def test_each_thread_has_a_queue_and_a_pool_of_its_own(
    event: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[urasync_l0.Queue, urasync_l0.Pool, int]] = []

    def together(works: Sequence[Work], pairs: int) -> Took:
        for work in works:
            queue, pool, with_event = work.args  # type: ignore[attr-defined]
            assert with_event == event
            work(pairs)
            numbers = pool.statistics()
            assert numbers.frees == numbers.allocations
            seen.append((queue, pool, numbers.allocations))
        return Took(pairs * len(works), 1.0, 0, 1.0)

    monkeypatch.setattr(threads, "together", together)
    with urasync_l0.Context(adapter="v2", driver="software") as context:
        took = threads.on_pools([context] * 3, 7, event)
        queues, pools, allocations = zip(*seen, strict=True)
        assert len(set(queues)) == len(set(pools)) == 3
        assert allocations == (7, 7, 7)
        assert took.pairs == 21
        assert all(repr(pool).endswith("closed)") for pool in pools)


def test_microseconds_are_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def on_pools(contexts: Sequence[urasync_l0.Context], pairs: int) -> Took:
        asked.append((len(contexts), pairs))
        return Took(len(contexts) * pairs, 0.05, 3, 0.2)

    monkeypatch.setattr(threads, "on_pools", on_pools)
    with urasync_l0.Context(adapter="v2", driver="software") as context:
        assert threads.microseconds_a_pair(context, 4) == pytest.approx(2.5)
    assert asked == [(4, 5_000)]


def test_every_way_is_measured_with_every_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int, int, bool]] = []

    def on_pools(contexts: Sequence[urasync_l0.Context], pairs: int, event: bool = False) -> Took:
        asked.append((len(set(contexts)), len(contexts), pairs, event))
        return Took(1, 1.0, 0, 1.0)

    monkeypatch.setattr(threads, "on_pools", on_pools)
    took = threads.measure("v2", (1, 3), 2, 40)
    assert [
        (name, list(row), [len(each) for each in row.values()]) for name, row in took.items()
    ] == [
        (name, [1, 3], [2, 2])
        for name in (
            "a loop in Python",
            "one context",
            "contexts of their own",
            "one context, with events",
            "contexts of their own, with events",
        )
    ]
    assert {each.pairs for each in took["a loop in Python"][3]} == {120}
    one_round = [
        *((1, 1, 40, False), (1, 3, 40, False), (1, 1, 40, False), (3, 3, 40, False)),
        *((1, 1, 2, True), (1, 3, 2, True), (1, 1, 2, True), (3, 3, 2, True)),
    ]
    assert asked == one_round * 2


def test_what_is_told_is_the_best_of_the_rounds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    took = {
        1: [Took(1000, 0.02, 5, 0.01), Took(1000, 0.01, 2, 0.02)],
        2: [Took(2000, 0.016, 8, 0.05), Took(2000, 0.04, 6, 0.04)],
    }
    monkeypatch.setattr(threads, "measure", lambda *arguments: {"one context": took})
    threads.main(["--threads", "1", "2", "--adapter", "legacy"])
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert isinstance(told.pop("python_lock"), bool)
    assert told == {
        "benchmark": "threads",
        "adapter": "legacy",
        "way": "one context",
        "pairs_a_second": {"1": 100_000, "2": 125_000},
        "ratio": {"1": 1.0, "2": 1.25},
        "sleeps_a_thousand": {"1": 2.0, "2": 3.0},
        "busy_us_a_pair": {"1": 10.0, "2": 20.0},
    }
