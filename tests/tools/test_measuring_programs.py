# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that measuring programs make, in C and through cffi, for what they are asked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import free_blocks, threads
from benchmarks.intel import write_lines
from benchmarks.measuring_process import c_programs, cffi_programs
from benchmarks.requests import answer
from benchmarks.ur_client import UrAdapter
from tests.tools.loader_calls import NONE, Call, WrittenCalls, build_loader
from urasync_l0.tools.replayer.trace import read_trace

EVERYTHING = f"{2**64 - 1:x}"
WARM_UP = 200
BATCH = 256


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, WrittenCalls]]:
    folder = tmp_path_factory.mktemp("loader")
    loader = build_loader(folder)
    adapters = [UrAdapter("some", loader, loader)]
    (in_c,), (through_cffi,) = c_programs(adapters, folder), cffi_programs(adapters)
    without_driver = replace(in_c, command=in_c.command[:2])
    with ExitStack() as stack:
        yield {
            "C": WrittenCalls(without_driver, folder, stack),
            "cffi": WrittenCalls(through_cffi, folder, stack),
        }


@pytest.fixture
def in_c(programs: dict[str, WrittenCalls]) -> WrittenCalls:
    return programs["C"]


def names(calls: Sequence[Call]) -> list[str]:
    return [call.name for call in calls]


def enqueued(calls: Sequence[Call]) -> list[Call]:
    """What is done on queues, with what comes before checked: the pool keeps what it has."""
    pool = next(call.values[0] for call in calls if call.name == "default_pool")
    assert Call("set", (pool, "2050", EVERYTHING)) in calls
    done = ("allocate", "free", "barrier", "finish", "release_event")
    return [call for call in calls if call.name in done]


def is_pair(allocation: Call, free: Call, size: int = 4096, pool: str = NONE) -> bool:
    queue, from_pool, nbytes, memory, _ = allocation.values
    return (from_pool, nbytes) == (pool, str(size)) and free.values[:2] == (queue, memory)


@pytest.mark.parametrize("language", ["C", "cffi"])
@pytest.mark.parametrize("count", [20, 300])
def test_pairs(programs: dict[str, WrittenCalls], language: str, count: int) -> None:
    answer, calls = programs[language].ask(f"pairs {count}")
    assert len(answer) == 1
    assert answer[0] > 0
    calls = enqueued(calls)
    pair = ["allocate", "free"]
    assert names(calls) == pair * WARM_UP + ["finish"] + pair * count + ["finish"]
    measured = calls[2 * WARM_UP + 1 : -1]
    for allocation, free in zip(measured[::2], measured[1::2], strict=True):
        assert is_pair(allocation, free)
        assert (allocation.values[4], free.values[2]) == (NONE, NONE)


@pytest.mark.parametrize("language", ["C", "cffi"])
def test_pairs_with_events(programs: dict[str, WrittenCalls], language: str) -> None:
    _, calls = programs[language].ask("event_pairs 20")
    calls = enqueued(calls)
    pair = ["allocate", "free", "release_event", "release_event"]
    assert names(calls) == pair * WARM_UP + ["finish"] + pair * 20 + ["finish"]
    measured = calls[4 * WARM_UP + 1 : -1]
    for number in range(0, 80, 4):
        allocation, free, *releases = measured[number : number + 4]
        assert is_pair(allocation, free)
        events = (allocation.values[4], free.values[2])
        assert NONE not in events
        assert tuple(release.values[0] for release in releases) == events


def test_halves_in_batches(in_c: WrittenCalls) -> None:
    answer, calls = in_c.ask("halves 300")
    assert len(answer) == 2
    assert min(answer) > 0
    calls = enqueued(calls)
    batch = ["allocate"] * BATCH + ["free"] * BATCH + ["finish"]
    assert names(calls) == batch * 3 + ["finish"]  # one fills the pool, two have at least 300
    first = calls[: 2 * BATCH]
    assert all(map(is_pair, first[:BATCH], first[BATCH:]))


def test_halves_of_events_in_batches(in_c: WrittenCalls) -> None:
    answer, calls = in_c.ask("event_halves 256")
    assert len(answer) == 2
    calls = enqueued(calls)
    batch = ["barrier"] * BATCH + ["release_event"] * BATCH + ["finish"]
    assert names(calls) == batch * 2 + ["finish"]
    first = calls[: 2 * BATCH]
    assert [call.values[2] for call in first[:BATCH]] == [call.values[0] for call in first[BATCH:]]
    assert {call.values[1] for call in first[:BATCH]} == {"0"}


def test_a_synchronisation_finds_so_many_frees(in_c: WrittenCalls) -> None:
    answer, calls = in_c.ask("finish 5")
    assert len(answer) == 1
    calls = enqueued(calls)
    assert names(calls) == ["allocate"] * 5 + ["free"] * 5 + ["finish"] * 2
    memory = [call.values[3] for call in calls[:5]]
    assert [call.values[1] for call in calls[5:10]] == [memory[i] for i in (0, 2, 4, 1, 3)]


def test_pairs_among_free_blocks(
    in_c: WrittenCalls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_blocks, "PAIRS", 4)
    monkeypatch.setattr(free_blocks, "ROUNDS", 3)
    file = tmp_path / "sizes"
    file.write_text(free_blocks.sizes_text("many sizes", 5), encoding="utf-8")
    _, calls = in_c.ask(f"free_blocks {file}")
    calls = enqueued(calls)
    one_round = ["finish", *["allocate", "free"] * 4]
    assert names(calls) == ["allocate"] * 10 + ["free"] * 5 + one_round * 3 + ["free"] * 5 + [
        "finish"
    ]
    blocks = calls[:10]
    sizes = [int(call.values[2]) for call in blocks]
    assert sizes == free_blocks.sizes_of("many sizes", 10, 1)
    assert [call.values[1] for call in calls[10:15]] == [call.values[3] for call in blocks[::2]]
    assert [call.values[1] for call in calls[-6:-1]] == [call.values[3] for call in blocks[1::2]]
    pairs = [call for call in calls[15:-6] if call.name != "finish"]
    wanted = free_blocks.sizes_of("many sizes", 4, 2) * 3
    for allocation, free, size in zip(pairs[::2], pairs[1::2], wanted, strict=True):
        assert is_pair(allocation, free, size)


def test_threads_have_queues_and_pools_of_their_own(in_c: WrittenCalls) -> None:
    _, calls = in_c.ask("threads 4")
    pairs = Counter(call.values[:2] for call in calls if call.name == "allocate")
    of_each = threads.PAIRS // 4 + 1  # the first one is not counted
    assert list(pairs.values()) == [of_each] * 4
    frees = Counter(call.values[0] for call in calls if call.name == "free")
    assert frees == {queue: of_each for queue, _ in pairs}
    pools = {pool for _, pool in pairs}
    assert len(pools) == len(frees) == 4
    assert pools == {call.values[0] for call in calls if call.name == "destroy_pool"}
    assert {Call("set", (pool, "2050", EVERYTHING)) for pool in pools} <= set(calls)


def test_a_trace_is_carried_out_line_by_line(in_c: WrittenCalls, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(
        "op,id,bytes,queue,event\nA,1,4096,0,\nR,,,0,7\nW,,,1,7\nF,1,,1,\nA,2,512,1,\nS,,,1,\n",
        encoding="utf-8",
    )
    trace = read_trace(path)
    lines = tmp_path / "lines"
    write_lines(trace, lines)
    answers = {}
    for request in ("time", "memory"):
        answers[request], calls = in_c.ask(f"{request} {lines}")
        first, second = (call.values[0] for call in calls if call.name == "queue")
        calls = enqueued(calls)
        assert names(calls)[:6] == ["allocate", "barrier", "barrier", "free", "allocate", "finish"]
        assert [call.values[0] for call in calls[:6]] == [first, first, *[second] * 4]
        allocation, record, wait, free, other, _ = calls[:6]
        assert (allocation.values[2], other.values[2]) == ("4096", "512")
        assert free.values[1] == allocation.values[3]
        assert (record.values[1], wait.values[1:]) == ("0", ("1", NONE))
        assert calls[6] == Call("free", (first, other.values[3], NONE))
        assert calls[7] == Call("release_event", (record.values[2],))
    assert len(answers["time"]) == 1
    assert answers["memory"] == [0, 4096]  # the loader uses no driver, and says what its pool held


def test_a_start_is_of_one_context(in_c: WrittenCalls) -> None:
    answer, calls = in_c.ask("start 0")
    assert len(answer) == 1
    assert names(calls) == ["context", "release_context"]


def test_an_unknown_request_ends_the_program(
    in_c: WrittenCalls, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as stack, pytest.raises(RuntimeError) as raised:
        WrittenCalls(in_c.program, tmp_path, stack).ask("shoes 3")
    assert str(raised.value) == "some, C: shoes 3 ended the process (1)"
    assert "a known request" in capfd.readouterr().err


def test_a_program_in_python_answers_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", ["pairs 3\n", "event_pairs 4\n", "pairs 5\n"])
    answer({"pairs": lambda count: count * 1.5, "event_pairs": lambda count: -count})
    assert capsys.readouterr().out == "4.5\n-4\n7.5\n"
