# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a Python program in a process of its own, with a chosen environment."""

import json
import os
import subprocess
import sys
from typing import Any

# Settings of the surrounding run must not reach a test's own process.
SETTINGS = ("URASYNC_L0_DRIVER", "URASYNC_L0_LOADER", "ZE_ENABLE_ALT_DRIVERS", "ZE_AFFINITY_MASK")

REPORT = """
import json as _json, sys as _sys
from urasync_l0.result import UrError as _UrError
try:
    program()
except _UrError as error:
    answer = {"error": type(error).__name__, "code": error.code.name, "text": str(error)}
else:
    answer = {"error": None}
print("answer:" + _json.dumps(answer | facts))
"""


def run_program(program: str, **environment: str) -> dict[str, Any]:
    """Run the text of a Python program; returns its facts and the error that it ended with.

    The program defines a function ``program()`` and may put facts into the dictionary ``facts``.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", "facts = {}\n" + program + REPORT],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    for line in run.stdout.splitlines():
        if line.startswith("answer:"):
            answer: dict[str, Any] = json.loads(line.removeprefix("answer:"))
            assert run.returncode == 0, f"ended with {run.returncode}:\n{run.stderr}"
            return answer
    raise AssertionError(f"no answer, ended with {run.returncode}:\n{run.stdout}{run.stderr}")
