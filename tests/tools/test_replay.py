# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The replayer: what it prints, its exit status, and whole runs through the real loader."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from benchmarks import replay
from benchmarks.bundled_traces import TRACES
from tests.tools.results import BLOCKS, RESULT, TABLE, console_of, text_of
from urasync_l0.result import DriverNotFoundError
from urasync_l0.tools.layout import binary_size
from urasync_l0.tools.replayer import command
from urasync_l0.tools.replayer.measurement import MeasurementOptions, progress_lines
from urasync_l0.tools.replayer.result import ReplayResult
from urasync_l0.tools.replayer.result_table import ResultTable
from urasync_l0.tools.replayer.staging import HungError
from urasync_l0.tools.replayer.trace import HEADER, Trace, read_trace

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 120

SMALL = """\
op,id,bytes,queue,event
A,0,300,0,
A,1,1000001,0,
R,,,0,5
W,,,3,5
F,1,,3,
A,2,1000001,3,
S,,,3,
F,0,,0,
A,4,17,0,
F,2,,0,
"""
"""Two queues, a free on another queue with an event and one without, and one that stays live."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text(SMALL, "utf-8")
    return path


def rendered(width: int) -> str:
    """Three results as a console of that width shows them, without trailing spaces."""
    lagging = replace(RESULT, adapter="legacy", us_per_op=None, verified=None, lag=20)
    failed = replace(RESULT, trace="pipeline", driver="system", verified=False, failure="…")
    console = console_of(width)
    console.print(ResultTable([RESULT, lagging, failed]))
    return "\n".join(line.rstrip() for line in text_of(console).splitlines())


# --- what is printed -------------------------------------------------------------------------


@pytest.mark.parametrize("width", [102, 160])
def test_the_table(width: int) -> None:
    assert rendered(width) == TABLE


@pytest.mark.parametrize("width", [80])
def test_a_narrow_console_gets_lines_instead_of_a_table(width: int) -> None:
    assert rendered(width) == BLOCKS


def test_no_console_is_too_narrow() -> None:
    assert "reserved peak 28.0 MiB" in rendered(30)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "0.98 KiB"),
        (1024, "1.00 KiB"),
        (28458240, "27.1 MiB"),
        (466512640, "445 MiB"),
        (3163500608, "2.95 GiB"),
        (1 << 60, "1024 PiB"),
    ],
)
def test_sizes_are_in_binary_units(nbytes: int, text: str) -> None:
    assert binary_size(nbytes) == text


def test_json_has_every_attribute() -> None:
    assert json.loads(RESULT.to_json()) == {
        field.name: getattr(RESULT, field.name) for field in fields(ReplayResult)
    }
    assert "\n" not in RESULT.to_json()


# --- exit status -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lag", "-1"], "argument --lag: '-1' is not a whole number from 0 to 1000000000"),
        (["--repeat", "0"], "argument --repeat: '0' is not a whole number from 1 to 1000000000"),
        (["--queues", "65"], "argument --queues: '65' is not a whole number from 1 to 64"),
        (["--queues", "two"], "argument --queues: 'two' is not a whole number from 1 to 64"),
        (["--adapter", "v3"], "argument --adapter: invalid choice: 'v3'"),
        (["--driver", "opencl"], "argument --driver: invalid choice: 'opencl'"),
        (["--kind", "managed"], "argument --kind: invalid choice: 'managed'"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        replay.main(arguments)

    assert caught.value.code == command.WRONG_INPUT
    assert message in capsys.readouterr().err


def test_a_malformed_trace_is_named_and_nothing_is_replayed(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(f"{HEADER}\nA,0,5,0,\nF,0,,0,\nF,0,,0,\n", "utf-8")

    assert replay.main(["--json", str(small), str(wrong)]) == command.WRONG_INPUT
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"{wrong}, line 4: allocation 0 was freed already, on line 3\n"


def test_the_queue_limit_reaches_the_reader(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay.main(["--queues", "3", str(small)]) == command.WRONG_INPUT
    assert capsys.readouterr().err == (f"{small}, line 5: unknown queue 3: the queues are 0 to 2\n")


def test_wrong_bytes_fail_the_run_after_all_traces(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = iter([replace(RESULT, verified=False, failure="a byte was wrong"), RESULT])
    monkeypatch.setattr(command, "measure", lambda *_: next(results))

    assert replay.main(["--json", str(small), str(small)]) == command.WRONG_BYTES
    output = capsys.readouterr()
    assert [json.loads(line)["verified"] for line in output.out.splitlines()] == [False, True]
    assert output.err == "a byte was wrong\n"


@pytest.mark.parametrize(
    "error", [DriverNotFoundError("There is no driver."), HungError("A queue hangs.")]
)
def test_a_replay_that_cannot_be_carried_out_names_its_trace(
    error: Exception,
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(trace: Trace, options: MeasurementOptions, progress: object) -> ReplayResult:
        raise error

    monkeypatch.setattr(command, "measure", fail)

    assert replay.main([str(small)]) == command.NOT_REPLAYED
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"{small}: could not be replayed: {error}\n"


def test_progress_counts_every_pass(small: Path) -> None:
    trace = read_trace(small)

    assert progress_lines(trace, MeasurementOptions(repeat=3)) == 40
    assert progress_lines(trace, MeasurementOptions(repeat=3, verify=False)) == 30
    assert progress_lines(trace, MeasurementOptions(lag=5)) == 20


# --- whole runs ------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as the choice of driver is made once in a process."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.replay", "--driver", "software", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("name", ["v2", "legacy"])
@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_a_run_prints_one_json_object_a_trace(name: str, kind: str, small: Path) -> None:
    done = run("--adapter", name, "--kind", kind, "--repeat", "1", "--json", *[str(small)] * 2)

    assert (done.returncode, done.stderr) == (0, "")
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(objects) == 2
    for found in objects:
        assert set(found) == {field.name for field in fields(ReplayResult)}
        assert found["trace"] == "small"
        assert (found["adapter"], found["driver"], found["kind"]) == (name, "software", kind)
        assert found["ops"] == 10
        assert found["us_per_op"] > 0
        assert found["live_peak"] == 1000301
        assert found["reserved_high"] >= found["live_peak"]
        assert found["memory_ratio"] == found["reserved_high"] / found["live_peak"]
        assert found["driver_allocs"] >= 1
        assert found["level_zero_calls"] > 0
        assert found["verified"] is True
        assert found["failure"] is None


def test_an_unverified_run_says_so(small: Path) -> None:
    done = run("--no-verify", "--repeat", "1", "--json", str(small))

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["verified"] is None


@pytest.mark.parametrize("name", ["v2", "legacy"])
@pytest.mark.parametrize("lag", [0, 3, 200])
def test_completion_can_be_held_back(name: str, lag: int, small: Path) -> None:
    done = run("--adapter", name, "--lag", str(lag), "--json", str(small))

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["lag"], found["us_per_op"], found["repeat"]) == (lag, None, 0)
    assert found["verified"] is True


def test_lagging_completion_costs_memory_and_is_repeatable() -> None:
    """In the pipeline trace no event orders the queues: only completion lets them share memory."""
    reserved: dict[int, set[int]] = {}
    for lag, name in ((0, "v2"), (200, "v2"), (200, "legacy")):
        done = run(
            *("--adapter", name, "--lag", str(lag), "--no-verify", "--json"),
            str(TRACES / "pipeline.csv"),
        )
        assert (done.returncode, done.stderr) == (0, "")
        reserved.setdefault(lag, set()).add(json.loads(done.stdout)["reserved_high"])

    assert len(reserved[200]) == 1
    assert max(reserved[0]) < min(reserved[200])


HASTY_POOL = """\
import sys
from benchmarks import replay
from benchmarks.bundled_traces import TRACES
from urasync_l0.tools.replayer import command
from urasync_l0.pool.order import NOTHING, Mark, QueueOrder

def poll_markers(order, limit):
    order.domain.complete(Mark(order, order.sequence, NOTHING))
    return True

QueueOrder.poll_markers = poll_markers
sys.exit(replay.main(sys.argv[1:]))
"""
"""A pool that believes that whatever it asks about is complete."""


@pytest.mark.parametrize("name", ["v2", "legacy"])
def test_a_pool_that_hands_out_pending_memory_is_found(name: str) -> None:
    arguments = ["--adapter", name, "--driver", "software", "--repeat", "1", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", HASTY_POOL, *arguments, str(TRACES / "pipeline.csv")],
        cwd=ROOT,
        # Pages that move from under a command end the process; wrong bytes are what is looked for,
        # not what the driver's checker says.
        env={
            **os.environ,
            "URASYNC_L0_EXPANDING_SEGMENTS": "off",
            "URASYNC_L0_SOFTWARE_CHECK": "0",
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    assert done.returncode == command.WRONG_BYTES
    found = json.loads(done.stdout)
    assert found["verified"] is False
    assert done.stderr == f"{found['failure']}\n"
    assert re.fullmatch(
        r"pipeline: allocation \d+ of line \d+, freed on line \d+: byte at offset \d+ is "
        r"0x[0-9a-f]{2}; expected 0x[0-9a-f]{2}\n",
        done.stderr,
    )


def test_a_run_without_json_prints_a_table_and_no_progress(small: Path) -> None:
    done = run("--repeat", "1", str(small))

    assert (done.returncode, done.stderr) == (0, "")
    assert "small" in done.stdout
    assert "true" in done.stdout
    assert "\x1b" not in done.stdout
