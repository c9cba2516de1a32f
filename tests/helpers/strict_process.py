# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a Python program in a process of its own, where any warning or message is a failure."""

import os
import subprocess
import sys
import textwrap

# Settings of the surrounding run must not reach a test's own process; the loader is the same.
SETTINGS = ("URASYNC_L0_DRIVER", "URASYNC_L0_SOFTWARE_DEVICES", "ZE_ENABLE_ALT_DRIVERS")

SECONDS = 90
"""How long a program may run."""


def run_strictly(program: str, *arguments: str, **environment: str) -> str:
    """Run a program's text on the software driver; returns what it printed.

    It must end with status 0 and write nothing to its standard error.
    """
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(program), *arguments],
        env=kept | {"URASYNC_L0_DRIVER": "software"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    return run.stdout
