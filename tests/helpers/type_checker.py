# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What mypy, as strict as the project has it, says about a program."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ze_build


def check_marked_errors(program: str, folder: Path) -> None:
    """Assert that mypy refuses the lines that end with ``# error``, and no others.

    ``folder`` is an empty one, for the program and mypy's notes on it.
    """
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    sample = folder / "sample.py"
    sample.write_text(program, encoding="utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", str(ze_build.ROOT / "pyproject.toml")),
            *("--cache-dir", str(folder / "cache"), "--no-error-summary", str(sample)),
        ],
        cwd=ze_build.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    errors = [
        line for line in run.stdout.splitlines() if "sample.py:" in line and ": error:" in line
    ]
    found = {int(line.split(":")[1]) for line in errors}
    marked = {
        number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# error")
    }
    assert found == marked, run.stdout + run.stderr
