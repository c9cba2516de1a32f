# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m benchmarks.speed``: figures of both adapters as JSON and as a table."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import speed
from benchmarks.bundled_traces import bundled_traces

pytestmark = pytest.mark.usefixtures("frozen")

UNITS = {"pair": "µs a pair", "call": "µs a call", "trace": "µs a line"}


def test_figures_of_some_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "times.json"
    text = StringIO()
    flags = ["--only", "pair", "call", "--rounds", "2", "--output", str(written)]
    assert speed.main(flags, Console(file=text, width=200)) == 0
    told = json.loads(written.read_text(encoding="utf-8"))
    assert set(told["machine"]) == {"python", "system", "processor"}
    figures = told["figures"]
    assert {figure["group"] for figure in figures} == {"pair", "call"}
    for figure in figures:
        assert figure["unit"] == UNITS[figure["group"]]
        assert figure["rounds"] == 2
        low, high = figure["extremes"]
        assert 0 < low <= figure["median"] <= high
        assert figure["name"] in text.getvalue()
    names = {(figure["group"], figure["name"], figure["adapter"]) for figure in figures}
    assert len(names) == len(figures)
    for adapter in ("v2", "legacy"):
        assert {("pair", "no events", adapter), ("call", "free", adapter)} <= names
    assert capsys.readouterr().out == ""


def test_json_instead_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert speed.main(["--only", "trace", "--rounds", "1", "--adapter", "v2", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert [figure["unit"] for figure in figures] == [UNITS["trace"]] * len(figures)
    assert {figure["name"] for figure in figures} == {path.stem for path in bundled_traces()}
