# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the C client in a process of its own."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

ADAPTERS = ("legacy", "v2")

# Settings of the surrounding run must not reach the client.
FOREIGN = ("URASYNC_L0_", "UR_", "ZE_", "PYTHON", "VIRTUAL_ENV")


def run_client(
    client: Path,
    scenario: str,
    libraries: Sequence[Path],
    *,
    mode: str = "direct",
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a scenario on the software driver; ``mode`` is direct or loader."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return subprocess.run(
        [str(client), scenario, mode, *map(str, libraries)],
        env=inherited | {"URASYNC_L0_DRIVER": "software"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def must_pass(run: subprocess.CompletedProcess[str]) -> None:
    """Fail with what the client said unless it passed."""
    said = f"status {run.returncode}\n{run.stdout}{run.stderr}"
    assert run.returncode == 0, said
    assert run.stdout.endswith("passed\n"), said
