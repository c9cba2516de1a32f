# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A second process with pools for tests of the tool: it does what it is told, line by line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 60
SETTINGS = (
    "URASYNC_L0_POOL_SOCKET",
    "URASYNC_L0_SNAPSHOT_AT_EXIT",
    "URASYNC_L0_SNAPSHOT_ON_SIGNAL",
    "URASYNC_L0_RECORD",
    "URASYNC_L0_RECORD_TRACEBACKS",
    "URASYNC_L0_RECORD_HISTORY",
)

# Answers every line of its input, a Python statement, with one line.
PROGRAM = """\
import sys
import urasync_l0

def start(adapter="v2"):
    global context, queue, kept
    context = urasync_l0.Context(adapter=adapter, driver="software")
    queue = context.create_queue()
    kept = []

for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class WatchedProcess:
    """The process; `do` returns when it has carried out a statement."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def do(self, statement: str) -> None:
        """Carry a statement out."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(statement + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer == "done\n", f"{statement!r} ended the process"

    def end(self) -> None:
        """Let it come to its end, which must be a good one."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(TIMEOUT_SECONDS) == 0
        assert self._process.stderr is not None
        assert self._process.stderr.read() == ""

    def kill(self) -> None:
        """End it with no chance to tidy up."""
        self._process.kill()
        self._process.wait(TIMEOUT_SECONDS)


def environment(runtime: Path, **settings: str) -> dict[str, str]:
    """The environment of a process whose sockets are in a folder of the test."""
    inherited = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return inherited | {"XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": str(ROOT)} | settings


@contextmanager
def watched_process(
    runtime: Path, *, program: str = PROGRAM, name: str = "train.py", **settings: str
) -> Iterator[WatchedProcess]:
    """Run a program called ``name`` with settings in its environment."""
    script = runtime / name
    script.write_text(program, "utf-8")
    with subprocess.Popen(
        [sys.executable, "-W", "error", str(script)],
        env=environment(runtime, **settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watched = WatchedProcess(process)
        try:
            yield watched
        finally:
            if process.poll() is None:
                process.kill()


def run_tool(runtime: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ``urasync-pools`` in a process of its own."""
    program = "import sys; sys.argv[0] = 'urasync-pools'\n"
    program += "from urasync_l0.tools.command import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        env=environment(runtime, **settings),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
