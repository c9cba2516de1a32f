# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite on a GPU that is not there: one message, and an end at once."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_suite_says_that_there_is_no_driver() -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("--driver", "system", "tests/conformance/test_queue.py"),
        ],
        cwd=ROOT,
        env=os.environ | {"ZE_ENABLE_ALT_DRIVERS": "libthere_is_none.so"},
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert run.returncode == 4, run.stdout + run.stderr
    assert "--driver system cannot be used" in run.stdout + run.stderr
    assert "URASYNC_L0_DRIVER=software" in run.stdout + run.stderr
    assert len((run.stdout + run.stderr).splitlines()) < 10
