# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m benchmarks.library_calls``: pairs of a C program, library by library, in turns."""

import json
import os
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import library_calls
from benchmarks.measuring_process import Program
from benchmarks.rounds import Figure

pytestmark = pytest.mark.usefixtures("frozen")

# Answers with how many requests of its kind it has had.
ANSWERS = """
while read name count; do
    echo "$0 $name $count" >>"$1"
    if [ "$name" = pairs ]; then pairs=$((pairs + 1)); echo $pairs
    else events=$((events + 10)); echo $events; fi
done
"""


def programs(asked: Path) -> list[Program]:
    return [
        Program(name, ("sh", "-c", ANSWERS, name, str(asked)), os.environ)
        for name in ("one.so", "other.so")
    ]


def test_libraries_are_measured_in_turns(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    figures = library_calls.measure(programs(asked), 3)
    assert [(each.name, each.adapter, each.median, each.extremes) for each in figures] == [
        ("no events", "one.so", 2, (1, 3)),
        ("no events", "other.so", 2, (1, 3)),
        ("an event for both calls", "one.so", 20, (10, 30)),
        ("an event for both calls", "other.so", 20, (10, 30)),
    ]
    assert {each.rounds for each in figures} == {3}
    assert {each.unit for each in figures} == {"µs a pair"}
    one_round = [
        *("one.so pairs 5000", "other.so pairs 5000"),
        *("one.so event_pairs 5000", "other.so event_pairs 5000"),
    ]
    assert asked.read_text(encoding="utf-8").splitlines() == one_round * 3


def test_a_table_and_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    started: list[Program] = []
    measure = library_calls.measure

    def measured(found: list[Program], rounds: int) -> list[Figure]:
        started.extend(found)
        return measure(programs(tmp_path / "asked"), rounds)

    monkeypatch.setattr(library_calls, "measure", measured)
    monkeypatch.setattr(library_calls, "compile_program", lambda sources, target: None)
    text = StringIO()
    flags = ["--rounds", "2", "elsewhere/libother.so"]
    assert library_calls.main(flags, Console(file=text, width=100)) == 0
    assert [each.name for each in started] == [
        *("libur_adapter_urasync_legacy.so", "libur_adapter_urasync_v2.so"),
        "libother.so",
    ]
    assert {each.environment["URASYNC_L0_DRIVER"] for each in started} == {"software"}
    row = next(line for line in text.getvalue().splitlines() if line.startswith("other.so"))
    assert row.split() == ["other.so", "1.50", "±33%", "15.0", "±33%"]
    assert capsys.readouterr().out == ""
    assert library_calls.main(["--json", "--rounds", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"machine", "figures"}
    assert [figure["median"] for figure in told["figures"]] == [1, 1, 10, 10]
