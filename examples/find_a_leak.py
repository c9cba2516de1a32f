# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that keeps more and more memory, and how urasync-pools tells where.

In a program of your own nothing need be written for this: start it with
URASYNC_L0_POOL_SOCKET=1 and URASYNC_L0_RECORD_TRACEBACKS=4, and look from another terminal.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import urasync_l0

KIB = 1 << 10


class Server:
    """Answers requests; every answer needs some memory for a moment."""

    def __init__(self, queue: urasync_l0.Queue) -> None:
        self.queue = queue
        self.history: list[urasync_l0.Allocation] = []

    def answer(self, request: int) -> None:
        with self.queue.alloc_device(256 * KIB) as scratch:
            self.queue.fill(scratch, bytes([request]))
            self.keep_for_history(scratch)

    def keep_for_history(self, answer: urasync_l0.Allocation) -> None:
        copy = self.queue.alloc_device(64 * KIB)
        self.queue.memcpy(copy, answer, copy.nbytes)
        self.history.append(copy)  # and nobody ever takes it out


def urasync_pools(command: str, folder: str) -> None:
    """Run the tool as a terminal would."""
    print(f"\n$ urasync-pools {command}", flush=True)
    tool = [sys.executable, "-m", "urasync_l0.tools.command"]
    subprocess.run([*tool, *command.split()], cwd=folder, check=True)


with (
    urasync_l0.Context() as context,
    urasync_l0.record_allocations(tracebacks=4),
    tempfile.TemporaryDirectory() as folder,
):
    server = Server(context.create_queue())
    urasync_l0.write_snapshot(Path(folder, "before.json"))
    for request in range(100):
        server.answer(request)
    urasync_l0.write_snapshot(Path(folder, "after.json"))

    urasync_pools("top --by site after.json", folder)
    urasync_pools("diff before.json after.json", folder)
