# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many instructions a pair of an allocation and a free takes, under callgrind.

They do not vary with the load of the machine as times do. Two runs of this module under callgrind
differ only in the number of pairs, so their difference is what the pairs took:
``python -m benchmarks.instructions``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import urasync_l0

FEW, MANY = 50, 550
NBYTES = 4096


def is_available() -> bool:
    """Whether callgrind is installed."""
    return shutil.which("valgrind") is not None


def instructions_a_pair(adapter: str, *, events: bool = False) -> float:
    """Count the instructions of the calling thread's side, and of the driver's workers, a pair.

    Raises
    ------
    RuntimeError
        If callgrind is not installed, or does not tell what it counted.
    """
    counts = [_collected(adapter, pairs, events=events) for pairs in (FEW, MANY)]
    return (counts[1] - counts[0]) / (MANY - FEW)


def _collected(adapter: str, pairs: int, *, events: bool) -> int:
    if not is_available():
        raise RuntimeError("valgrind is not installed, so no instructions can be counted")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"),
            *(sys.executable, "-m", "benchmarks.instructions"),
            *("--adapter", adapter, "--pairs", str(pairs), *(["--events"] if events else [])),
        ]
        # Callgrind has few addresses to give, so the device is small.
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "URASYNC_L0_SOFTWARE_MEMORY": "256M",
            "URASYNC_L0_SOFTWARE_MAX_ALLOCATION": "128M",
        }
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=600
        )
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        raise RuntimeError(f"callgrind counted nothing (status {run.returncode}): {run.stderr}")
    return int(found[1])


def run_pairs(adapter: str, pairs: int, *, events: bool) -> None:
    """What callgrind watches: so many pairs on one queue, from a warm pool."""
    with urasync_l0.Context(adapter=adapter, driver="software") as context:
        context.default_pool(context.devices[0]).release_threshold = urasync_l0.KEEP_EVERYTHING
        queue = context.create_queue()
        queue.free(queue.alloc_device(NBYTES))
        for _ in range(pairs):
            queue.free(queue.alloc_device(NBYTES, event=events), event=events)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run pairs, or, without a number of them, count and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapter", choices=urasync_l0.adapter_names(), default="v2")
    parser.add_argument("--events", action="store_true")
    parser.add_argument("--pairs", type=int)
    chosen = parser.parse_args(arguments)
    if chosen.pairs is not None:
        run_pairs(chosen.adapter, chosen.pairs, events=chosen.events)
        return
    counted = instructions_a_pair(chosen.adapter, events=chosen.events)
    print(json.dumps({"adapter": chosen.adapter, "events": chosen.events, "a_pair": counted}))


if __name__ == "__main__":
    main()
