# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many instructions a pair of an allocation and a free takes, under callgrind.

They do not vary with the load of the machine as times do. A process is asked for few pairs and then
for many, and what is counted meanwhile differs by what the pairs took: of all threads, so those of
the driver's workers as well. ``python -m benchmarks.instructions`` counts ours, from Python.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count as count_from
from pathlib import Path
from typing import NamedTuple

import urasync_l0
import ze_build
from benchmarks.measuring_process import Program
from benchmarks.requests import answer
from benchmarks.rounds import Case, SharedMeasurement
from benchmarks.ur_client import SOURCES

REQUESTS = ("pairs", "event_pairs")
FEW, MANY = 50, 550
NBYTES = 4096

SMALL_DEVICE = {
    "PYTHONHASHSEED": "0",
    "URASYNC_L0_SOFTWARE_MEMORY": "256M",
    "URASYNC_L0_SOFTWARE_MAX_ALLOCATION": "128M",
}
"""Settings under callgrind, which has few addresses to give."""


class Counted(NamedTuple):
    """Instructions of a pair without events, and of one with an event for both calls."""

    pair: float
    event_pair: float


def what_is_missing() -> str | None:
    """Why nothing can be counted here, if so."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    command = [*ze_build.compiler(), "-E", "-x", "c", "-"]
    text = "#include <valgrind/callgrind.h>"
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return None if run.returncode == 0 else "there is no header valgrind/callgrind.h"


def count(program: Program) -> Counted:
    """Count in a process that answers ``pairs`` and ``event_pairs``.

    Raises
    ------
    RuntimeError
        If callgrind is not installed, or the program does not run under it.
    """
    if missing := what_is_missing():
        raise RuntimeError(f"no instructions can be counted: {missing}")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        counter = _counter(folder)
        callgrind = [
            *("valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no"),
            f"--callgrind-out-file={folder}/counted",
        ]
        process = program.start(stack, callgrind, SMALL_DEVICE)
        for request in REQUESTS:
            process.ask(f"{request} {FEW}")  # what only the first pairs need
        process.ask(f"instructions {counter}")
        counts = {}
        parts = count_from(1)
        for request in REQUESTS:
            for pairs in (FEW, MANY):
                process.ask(f"{request} {pairs}")
                process.ask(f"instructions {counter}")
                counts[request, pairs] = _total(folder / f"counted.{next(parts)}")
    return Counted(
        *((counts[request, MANY] - counts[request, FEW]) / (MANY - FEW) for request in REQUESTS)
    )


def _counter(folder: Path) -> Path:
    """The library that a process counts by."""
    counter = folder / "counter.so"
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    source = str(SOURCES / "counter.c")
    subprocess.run([*ze_build.compiler(), *flags, source, "-o", str(counter)], check=True)
    return counter


def cases(program: Program, adapter: str) -> Iterator[Case]:
    """The two counts as cases."""
    counted = SharedMeasurement(partial(count, program))
    for place, name in enumerate(("no events", "an event for both calls")):
        measure = partial(counted.value, place)
        yield Case("instructions", name, adapter, "a pair", measure, 1)


def _total(dump: Path) -> int:
    found = re.search(r"^(?:totals|summary): (\d+)", dump.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"callgrind counted nothing: {dump.name}")
    return int(found[1])


def python_program(adapter: str) -> Program:
    """Pairs of ours from Python, on the software driver."""
    command = (sys.executable, "-m", "benchmarks.instructions", "--adapter", adapter, "--answer")
    return Program(f"{adapter}, Python", command, os.environ)


def pair_requests(queue: urasync_l0.Queue) -> dict[str, Callable[[int], float]]:
    """What callgrind watches: pairs on one queue, from a warm pool."""

    def pairs(count: int, event: bool = False) -> float:
        for _ in range(count):
            queue.free(queue.alloc_device(NBYTES, event=event), event=event)
        queue.finish()
        return 0

    return {"pairs": pairs, "event_pairs": lambda count: pairs(count, True)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Count and print one JSON object, or be what is counted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--adapter", choices=urasync_l0.adapter_names(), default="v2")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.answer:
        with urasync_l0.Context(adapter=chosen.adapter, driver="software") as context:
            pool = context.default_pool(context.devices[0])
            pool.release_threshold = urasync_l0.KEEP_EVERYTHING
            answer(pair_requests(context.create_queue()))
        return
    counted = count(python_program(chosen.adapter))
    told = {"benchmark": "instructions", "adapter": chosen.adapter, **counted._asdict()}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
