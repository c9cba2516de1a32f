# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``benchmarks.intel`` as far as it needs none of Intel's adapters: programs that answer anything
with 2 and 3 stand for those that measure."""

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import call_costs, instructions, intel
from benchmarks.comparison import Measurements, MemoryFigure, from_json
from benchmarks.comparison_tables import markdown, print_tables
from benchmarks.instructions import Counted
from benchmarks.measuring_process import Program
from benchmarks.rounds import Figure
from benchmarks.ur_client import UrAdapter, ur_adapters
from tests.intel.replay import judged
from urasync_l0.tools.replayer.trace import read_trace

pytestmark = pytest.mark.usefixtures("frozen")

IN_C = {"Intel legacy, C", "Intel v2, C", "legacy, C", "v2, C"}
THROUGH_CFFI = {"Intel legacy, cffi", "Intel v2, cffi"}
IN_PYTHON = {"legacy, Python", "v2, Python"}
REQUIRED = {
    ("trace", "small"): IN_C | IN_PYTHON,
    ("pair", "no events"): IN_C | THROUGH_CFFI | IN_PYTHON,
    ("pair", "an event for both calls"): IN_C | THROUGH_CFFI | IN_PYTHON,
    **{
        ("call", name): IN_C | IN_PYTHON
        for name in ("allocate", "free", "record an event", "release an event")
    },
    **{
        ("finish", f"{count} freed blocks"): IN_C | IN_PYTHON
        for count in ("10", "1,000", "10,000", "100,000")
    },
    **{("threads", count): IN_C | IN_PYTHON for count in ("1", "2", "4", "8")},
    **{
        ("free blocks", f"pair among {count}"): IN_C | IN_PYTHON
        for count in ("100", "10,000", "100,000")
    },
    ("snapshot", "of 1,000 blocks"): IN_PYTHON,
    ("snapshot", "pair meanwhile"): IN_PYTHON,
    ("start", "to a first context"): IN_C | IN_PYTHON,
    ("start", "import urasync_l0"): {""},
    ("for scale", "a free list in Python"): {""},
}
"""What `make bench-intel` promises to measure."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text("op,id,bytes,queue,event\nA,1,4194304,0,\nF,1,,0,\nS,,,0,\n", encoding="utf-8")
    return path


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the programs write down what they are asked."""
    path = tmp_path / "asked"
    path.touch()
    answers = f'while read request; do echo "$request" >>"{path}"; echo 2 3; done'

    def programs(adapters: Sequence[UrAdapter], folder: Path = tmp_path) -> list[Program]:
        language = "cffi" if folder == tmp_path else "C"
        compiled = folder / "compiled"
        compiled.touch()
        environment = {**os.environ, "compiled": str(compiled)}
        command = ("sh", "-c", answers)
        return [Program(f"{each.name}, {language}", command, environment) for each in adapters]

    monkeypatch.setattr(intel, "c_programs", programs)
    monkeypatch.setattr(intel, "cffi_programs", programs)
    return path


def test_everything_that_is_promised_is_measured_once(
    asked: Path, trace: Path, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        comparison = intel.Comparison(ur_adapters(tmp_path), [trace], stack)
        cases = list(comparison.cases())
    adapters: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        adapters.setdefault((case.group, case.name), []).append(case.adapter)
    assert {case: set(row) for case, row in adapters.items()} == REQUIRED
    assert sum(map(len, adapters.values())) == sum(map(len, REQUIRED.values()))
    for case in cases:  # no figure without a spread but of what is promised to be counted once
        assert case.rounds >= intel.ROUNDS_OF_MANY
    assert {program.name for program in comparison.programs} == IN_C | THROUGH_CFFI | IN_PYTHON


def test_each_case_has_its_number_of_the_answer(
    asked: Path, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_costs, "PAIRS", 256)
    adapters = ur_adapters(tmp_path)
    measured = intel.measure(adapters, [trace], 2, ["call", "trace"])
    live = read_trace(trace).live_peak
    for memory in measured.memory:
        assert memory.trace == "small"
        if memory.adapter in IN_C:
            assert (memory.reserved, memory.said, memory.ratio) == (2, 3, 2 / live)
        else:
            assert memory.said == memory.reserved >= live
            assert memory.ratio == memory.reserved / live
    told = {
        "small": 2e6 / 3,  # seconds of three lines
        "allocate": 2,
        "free": 3,
        "record an event": 2,
        "release an event": 3,
    }
    for figure in measured.figures:
        assert figure.rounds == 2
        if figure.adapter in IN_C:
            assert figure.extremes == pytest.approx((told[figure.name], told[figure.name]))
        else:
            assert 0 < figure.extremes[0] <= figure.median <= figure.extremes[1]
    assert {figure.name for figure in measured.figures} == set(told)
    requests = asked.read_text(encoding="utf-8").splitlines()
    for request in ("halves 256", "event_halves 256"):
        assert requests.count(request) == len(adapters) * 2  # once a round for both halves
    assert measured.notes == []


def test_instructions_are_counted_of_every_program_while_it_is_there(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []

    def count(program: Program) -> Counted:
        assert (
            "compiled" not in program.environment or Path(program.environment["compiled"]).exists()
        )
        counted.append(program.name)
        return Counted(1, 2)

    monkeypatch.setattr(instructions, "what_is_missing", lambda: None)
    monkeypatch.setattr(instructions, "count", count)
    measured = intel.measure(ur_adapters(tmp_path), [], 1, ["instructions"])
    assert sorted(counted) == sorted(IN_C | THROUGH_CFFI | IN_PYTHON)
    assert {each.group for each in measured.figures} == {"instructions"}
    assert len(measured.figures) == 2 * len(counted)


def test_a_program_whose_instructions_cannot_be_counted_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def count(program: Program) -> Counted:
        if program.name == "odd":
            raise RuntimeError("it ended")
        return Counted(100.5, 300)

    monkeypatch.setattr(instructions, "what_is_missing", lambda: None)
    monkeypatch.setattr(instructions, "count", count)
    programs = [Program(name, (), {}) for name in ("one", "odd", "other")]
    figures, notes = intel.count_instructions(programs)
    assert notes == ["No instructions are counted of odd: it ended."]
    assert [(each.group, each.name, each.adapter, each.median) for each in figures] == [
        ("instructions", "no events", "one", 100.5),
        ("instructions", "no events", "other", 100.5),
        ("instructions", "an event for both calls", "one", 300),
        ("instructions", "an event for both calls", "other", 300),
    ]
    monkeypatch.setattr(instructions, "what_is_missing", lambda: "there is no callgrind")
    assert intel.count_instructions(programs) == (
        [],
        ["No instructions are counted: there is no callgrind."],
    )


def figure(group: str, name: str, adapter: str, median: float) -> Figure:
    extremes = (median * 0.9, median * 1.3)
    return Figure(group, name, adapter, "µs", median, extremes, extremes, 5)


def memory(adapter: str, reserved: int) -> MemoryFigure:
    return MemoryFigure("handoff", adapter, reserved, 0, reserved / 50)


MEASURED = Measurements(
    {"python": "CPython"},
    [
        memory("Intel legacy, C", 400),
        memory("Intel v2, C", 200),
        memory("legacy, C", 100),
        memory("v2, Python", 100),
    ],
    [
        figure("trace", "handoff", "Intel legacy, C", 2.0),
        figure("trace", "handoff", "Intel v2, C", 1.0),
        figure("trace", "handoff", "legacy, Python", 3.0),
        figure("trace", "handoff", "v2, Python", 5.0),
        figure("pair", "no events", "Intel v2, C", 0.1),
        figure("pair", "no events", "Intel v2, cffi", 0.5),
        figure("pair", "no events", "legacy, Python", 0.4),
        figure("pair", "no events", "v2, Python", 0.6),
        figure("pair", "an event for both calls", "Intel v2, C", 0.5),
        figure("pair", "an event for both calls", "Intel v2, cffi", 3.0),
        figure("pair", "an event for both calls", "v2, C", 9.0),
        figure("pair", "an event for both calls", "v2, Python", 0.8),
        figure("start", "import urasync_l0", "", 98.7),
    ],
    ["No tea is counted: there is none."],
)


def test_memory_and_time_are_set_against_the_adapter_of_the_same_flavour() -> None:
    ratios = [
        (each.trace, each.adapter, each.over, each.memory, each.time)
        for each in MEASURED.trace_ratios()
    ]
    assert ratios == [
        ("handoff", "legacy, C", "Intel legacy, C", 0.25, None),
        ("handoff", "v2, Python", "Intel v2, C", 0.5, 5.0),
    ]


def test_times_are_set_against_what_is_aimed_at() -> None:
    targets = {
        (each.case, each.adapter): (each.over, round(each.time, 9))
        for each in MEASURED.target_ratios()
    }
    assert targets == {
        ("trace: handoff", "legacy, Python"): ("Intel legacy, C", 1.5),
        ("trace: handoff", "v2, Python"): ("Intel legacy, C", 2.5),
        ("pair: no events", "legacy, Python"): ("Intel v2, cffi", 0.8),
        ("pair: no events", "v2, Python"): ("Intel v2, cffi", 1.2),
        ("pair: an event for both calls", "v2, Python"): ("2 x Intel v2, C", 0.8),
    }
    assert Measurements({}, [], []).target_ratios() == []


def test_only_memory_is_judged() -> None:
    outcome = judged("times", MEASURED)
    assert (outcome.passed, outcome.failed) == (2, 0)
    assert dict(outcome.skipped) == {MEASURED.notes[0]: 1}
    worse = [*MEASURED.memory[:2], memory("legacy, C", 401), memory("v2, C", 200)]
    outcome = judged("times", Measurements({}, worse, []))
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert "handoff: legacy, C takes more memory" in outcome.text


def test_json_can_be_read_again() -> None:
    told = json.loads(MEASURED.to_json())
    assert set(told) == {
        *("machine", "memory", "figures", "notes"),
        *("trace_ratios", "target_ratios"),
    }
    assert len(told["figures"]) == len(MEASURED.figures)
    assert told["trace_ratios"][1] == {
        "trace": "handoff",
        "adapter": "v2, Python",
        "over": "Intel v2, C",
        "memory": 0.5,
        "time": 5.0,
    }
    assert set(told["target_ratios"][0]) == {"case", "adapter", "over", "time"}
    assert from_json(MEASURED.to_json()) == MEASURED


def test_every_figure_is_in_the_column_of_its_adapter() -> None:
    text = StringIO()
    print_tables(MEASURED, Console(file=text, width=200))
    lines = text.getvalue().splitlines()
    row = next(line for line in lines if line.startswith("no events"))
    above = lines[lines.index(row) - 3 : lines.index(row)]
    for median, adapter, language in (
        ("0.100", "Intel v2", "C"),
        ("0.500", "Intel v2", "cffi"),
        ("0.400", "legacy", "Python"),
        ("0.600", "v2", "Python"),
    ):
        end = row.index(median) + len(f"{median} ±20%")
        assert row[:end].endswith(f"{median} ±20%")
        assert above[-2][:end].endswith(language)
        assert above[-3][:end].endswith(adapter)
    assert lines[-1] == MEASURED.notes[0]


def test_what_is_no_adapters_has_a_place_of_its_own() -> None:
    text = StringIO()
    print_tables(MEASURED, Console(file=text, width=200))
    lines = text.getvalue().splitlines()
    row = next(line for line in lines if line.startswith("start: import urasync_l0"))
    assert row.split() == ["start:", "import", "urasync_l0,", "µs", "98.7", "±20%"]
    assert lines[lines.index(row) - 2].strip() == "no adapter takes part"
    tables = markdown(MEASURED).split("\n\n")
    assert "import" not in tables[0]
    assert tables[1].splitlines()[-1] == "| start: import urasync_l0, µs | 98.7 |"


def test_markdown_of_a_kept_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, again = tmp_path / "kept.json", tmp_path / "again.json"
    kept.write_text(MEASURED.to_json(), encoding="utf-8")
    assert intel.main(["--read", str(kept), "--markdown", "--output", str(again)]) == 0
    printed = capsys.readouterr().out
    assert printed == markdown(MEASURED)
    assert from_json(again.read_text(encoding="utf-8")) == MEASURED
    head, rule, *rows = printed.partition("\n\n")[0].splitlines()
    assert head.split(" | ")[1:3] == ["Intel legacy, C", "Intel v2, C"]
    assert "ours, v2, Python" in head
    assert all(row.count("|") == head.count("|") for row in (rule, *rows))
    assert rows[0].startswith("| trace: handoff, µs | 2.00 | 1.00 |")
