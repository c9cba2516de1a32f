# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``benchmarks.intel`` as far as it needs none of Intel's adapters."""

import subprocess
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import intel
from benchmarks.rounds import Figure
from benchmarks.ur_client import SOURCES, UrAdapter, compile_program, software_settings
from urasync_l0 import adapter_names
from urasync_l0.ur_library import library_path

REQUESTS = ("pairs", "event_pairs", "free_blocks", "finish", "allocate", "free", "record")


def pair(name: str, adapter: str, median: float) -> Figure:
    return Figure("pair", name, adapter, "µs a pair", median, (median, median), (median, median), 5)


FIGURES = [
    pair("no events", "Intel v2, C", 0.1),
    pair("no events", "Intel v2, cffi", 0.5),
    pair("no events", "legacy, Python", 0.4),
    pair("no events", "v2, Python", 0.6),
    pair("an event for each", "Intel v2, C", 0.5),
    pair("an event for each", "Intel v2, cffi", 3.0),
    pair("an event for each", "legacy, Python", 2.0),
    pair("an event for each", "v2, Python", 0.8),
]


def test_pairs_are_set_against_cffi_and_against_twice_the_time_from_c() -> None:
    targets = {
        (target["adapter"], target["pair"]): (target["over"], target["time"])
        for target in intel.pair_targets(FIGURES)
    }
    assert targets == {
        ("legacy, Python", "no events"): ("Intel v2, cffi", pytest.approx(0.8)),
        ("legacy, Python", "an event for each"): ("2 x Intel v2, C", pytest.approx(2.0)),
        ("v2, Python", "no events"): ("Intel v2, cffi", pytest.approx(1.2)),
        ("v2, Python", "an event for each"): ("2 x Intel v2, C", pytest.approx(0.8)),
    }
    assert intel.pair_targets([]) == []


def test_every_figure_is_in_the_column_of_its_adapter() -> None:
    text = StringIO()
    intel.print_tables([], FIGURES, Console(file=text, width=200))
    lines = text.getvalue().splitlines()
    row = next(line for line in lines if line.startswith("pair: no events"))
    heading = next(line for line in lines[lines.index(row) :: -1] if "Intel v2, cffi" in line)
    for figure in FIGURES[:4]:
        end = heading.index(figure.adapter) + len(figure.adapter)
        least = f"{figure.median:.3g}"
        assert row[:end].endswith(f" {least} ({least} to {least})")


@pytest.mark.parametrize("name", adapter_names())
def test_the_c_program_answers_every_request(name: str, tmp_path: Path) -> None:
    program = tmp_path / "measure"
    compile_program([SOURCES / "measure.c"], program)
    library = library_path(name)
    settings = software_settings()
    requests = [f"{request} 20" for request in REQUESTS] + ["threads 1", "threads 4"]
    run = subprocess.run(
        [str(program), str(library)],
        env=UrAdapter(name, library, library).environment(settings),
        input="".join(f"{request}\n" for request in requests),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    answers = [float(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(requests)
    assert all(answer > 0 for answer in answers)
