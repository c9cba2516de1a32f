# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The made traces of several queues: they are valid, and the pool does not sprawl on them."""

import json
from pathlib import Path

import pytest

from benchmarks.made_traces import MADE, main, write
from benchmarks.replay import main as replay
from urasync_l0.tools.replayer.trace import read_trace


@pytest.mark.parametrize("name", MADE)
def test_trace_is_valid_and_the_same_each_time(tmp_path: Path, name: str) -> None:
    (path,) = write(tmp_path, [name])
    trace = read_trace(str(path))
    assert len(trace.queues) > 1
    assert path.read_text() == MADE[name]()


def test_command_writes_all(tmp_path: Path) -> None:
    main([str(tmp_path / "made")])
    assert {path.stem for path in (tmp_path / "made").iterdir()} == set(MADE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bursts_4", "crossing_8", "crossing_3_events", "growing_2"])
def test_memory_stays_bounded_behind_queues_that_lag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, adapter: str
) -> None:
    """At most 2.25 times the live bytes, 200 lines behind."""
    (path,) = write(tmp_path, [name])
    arguments = ["--driver", "software", "--adapter", adapter, "--json", "--no-verify"]
    assert replay([*arguments, "--repeat", "1", "--lag", "200", str(path)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert 1 <= result["memory_ratio"] <= 2.25
