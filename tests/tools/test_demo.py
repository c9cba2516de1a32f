# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The demo: its words for fixed results, and a whole run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import demo
from benchmarks.bundled_traces import bundled_traces
from tests.tools.results import RESULT, console_of, text_of
from urasync_l0.result import DriverNotFoundError
from urasync_l0.tools.replayer.progress_bar import ReplayProgress

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 300
MISSING = "make demo-kernels, or pip install 'urasync-l0[kernels]', gets one"


def test_the_verdict_over_right_results() -> None:
    assert demo.verdict([RESULT, RESULT]).plain == (
        "All 2 replays verified: every byte that was seen by the kernel was right."
    )
    assert demo.verdict([replace(RESULT, looked_at_by="host")]).plain == (
        "All 1 replays verified: every byte that was read back was right."
    )


def test_the_verdict_names_each_failure() -> None:
    failed = replace(RESULT, verified=False, failure="handoff: a byte was wrong")

    assert demo.verdict([RESULT, failed]).plain == (
        "1 of 2 replays read back wrong bytes:\nv2: handoff: a byte was wrong"
    )


def test_a_replay_that_nobody_looked_at_is_not_verified() -> None:
    assert demo.verdict([replace(RESULT, verified=None)]).plain.startswith("1 of 1 replays")


def test_wrong_bytes_fail_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = replace(RESULT, verified=False, failure="handoff: a byte was wrong")
    monkeypatch.setattr(demo, "stage", lambda driver: "Runs on paper.")
    monkeypatch.setattr(demo, "measure", lambda *_: failed)
    console = console_of(140)

    assert demo.main([], console) == demo.WRONG_BYTES
    lines = text_of(console).splitlines()
    assert lines[0] == "Runs on paper."
    assert sum("FALSE" in line for line in lines) == 14
    assert lines[-1] == "v2: handoff: a byte was wrong"


def test_the_demo_says_why_it_cannot_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(driver: str) -> str:
        raise DriverNotFoundError(f"There is no {driver} driver.")

    monkeypatch.setattr(demo, "stage", fail)

    assert demo.main(["--driver", "system"], console_of(140)) == demo.NOT_REPLAYED
    assert capsys.readouterr().err.startswith("The demo could not run: There is no system driver.")


def test_a_log_shows_no_progress() -> None:
    console = console_of(80)
    with ReplayProgress(console, 10) as progress:
        progress.describe("handoff", "v2")
        progress.advance(10)

    assert text_of(console) == ""


@pytest.mark.slow
def test_the_demo_verifies_every_trace_on_both_adapters() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        env={"COLUMNS": "200", "PATH": ""}
        | {name: text for name, text in os.environ.items() if name == "URASYNC_L0_OPENCL"},
    )

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Runs on the software driver")
    assert lines[0].endswith("no GPU is used.")
    read = "read back" if MISSING in lines[1] else "seen by the kernel"
    assert read == "read back" or lines[1].startswith("A kernel looks at the bytes")
    assert lines[-1] == f"All 14 replays verified: every byte that was {read} was right."
    for path in bundled_traces():
        rows = [line.split() for line in lines if line.startswith(f"{path.stem} ")]
        assert len(rows) == 2
        for adapter, row in zip(("v2", "legacy"), rows, strict=True):
            assert {adapter, "software", "true"} <= set(row)
    assert "\x1b" not in done.stdout
