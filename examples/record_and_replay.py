# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Record what a program allocates, and replay it: what would it take with the other adapter?

A program of your own is recorded when it is started with URASYNC_L0_RECORD=trace.csv.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import urasync_l0

KIB = 1 << 10


def work(queue: urasync_l0.Queue) -> None:
    """Blocks of many sizes that come and go, as those of layers and their gradients."""
    chance = random.Random(2026)
    alive: list[urasync_l0.Allocation] = []
    for _ in range(1000):
        if len(alive) > 20:
            alive.pop(chance.randrange(len(alive))).free()
        block = queue.alloc_device(chance.choice([4, 12, 64, 500, 2000]) * KIB)
        queue.fill(block, b"\1")
        alive.append(block)
    queue.finish()
    for block in alive:
        block.free()


with tempfile.TemporaryDirectory() as folder:
    trace = Path(folder, "trace.csv")
    with urasync_l0.Context() as context, urasync_l0.record_allocations(trace):
        work(context.create_queue())

    lines = trace.read_text().splitlines()
    print(f"recorded {len(lines) - 1} operations, such as:", *lines[:3], sep="\n", flush=True)
    command = [sys.executable, "-m", "urasync_l0.tools.command", "replay", str(trace)]
    subprocess.run(command, check=True)
