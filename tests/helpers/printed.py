# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program prints, compared with a text that may have wildcards."""

import os
import subprocess
import sys
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_quietly(folder: Path, *arguments: str) -> str:
    """Run Python on the software driver under its checker; return what it prints.

    Raises AssertionError if it fails or complains; every warning is an error. Skips the test if it
    ends because the driver has no compiler.
    """
    settings = {
        name: text
        for name, text in os.environ.items()
        if "URASYNC" not in name or name == "URASYNC_L0_OPENCL"
    }
    settings |= {"URASYNC_L0_DRIVER": "software", "URASYNC_L0_SOFTWARE_CHECK": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env={**settings, "PYTHONPATH": str(ROOT), "COLUMNS": "160"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if run.returncode and "COMPILER_NOT_AVAILABLE" in run.stderr:
        pytest.skip(run.stderr.splitlines()[-1])
    assert (run.returncode, run.stderr) == (0, ""), f"{run.returncode}\n{run.stderr}"
    return run.stdout


def check_printed(printed: str, expected: str) -> None:
    """Raise AssertionError unless each line is as expected, where ``*`` stands for anything."""
    for line, pattern in zip_longest(printed.splitlines(), expected.splitlines()):
        assert line is not None, f"missing at the end: {pattern}"
        assert pattern is not None, f"too much at the end: {line}"
        # Only `*` is a wildcard: brackets stand for themselves.
        literal = pattern.rstrip().replace("[", "[[]").replace("?", "[?]")
        assert fnmatchcase(line.rstrip(), literal), f"{line!r} is not as {pattern!r}"
