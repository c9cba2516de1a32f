# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a Python program in a process of its own, where any warning or message is a failure."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence

from tests.helpers.leak_balance import take_balance

# Settings of the surrounding run must not reach a test's own process; the loader is the same. The
# checkers of handles and events take a plugin of pytest to get along with.
SETTINGS = (
    "URASYNC_L0_DRIVER",
    "URASYNC_L0_SOFTWARE_DEVICES",
    "ZE_ENABLE_ALT_DRIVERS",
    "ZE_ENABLE_HANDLE_LIFETIME",
    "ZEL_ENABLE_EVENTS_CHECKER",
)

SECONDS = 90
"""How long a program may run."""


def run_strictly(program: str, *arguments: str, **environment: str) -> str:
    """Run a program's text on the software driver; returns what it printed.

    It must end with status 0 and write nothing to its standard error. Where the loader's leak
    checker is on, its table must be in balance.
    """
    return _printed(_run(program, arguments, environment), may_leave=False)


def run_and_leave(program: str, *arguments: str, **environment: str) -> str:
    """As `run_strictly`, for a program that may leave objects behind."""
    return _printed(_run(program, arguments, environment), may_leave=True)


def run_to_the_end(program: str, *arguments: str) -> tuple[int, str]:
    """Run a program's text on the software driver: its exit status and what it complained of."""
    run = _run(program, arguments, {})
    errors, _ = take_balance(run.stderr)
    return run.returncode, errors


def _run(
    program: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(program), *arguments],
        env=kept | {"URASYNC_L0_DRIVER": "software"} | dict(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def _printed(run: subprocess.CompletedProcess[str], *, may_leave: bool) -> str:
    errors, leaks = take_balance(run.stderr)
    clean = run.returncode == 0 and not errors.strip() and (may_leave or not leaks)
    assert clean, f"{run.returncode}\n{run.stdout}{run.stderr}"
    return run.stdout
