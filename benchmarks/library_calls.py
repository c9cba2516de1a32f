# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost a C program through the UR adapter libraries, without a loader between.

``python -m benchmarks.library_calls`` measures ours, in turns; other adapter libraries can be
named, and are measured in the same run. They find their driver by the settings of the Level Zero
loader.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.machine import machine
from benchmarks.measuring_process import MeasuringProcess, Program
from benchmarks.rounds import Case, Figure, measure_in_turns
from benchmarks.ur_client import SOURCES, compile_program
from urasync_l0 import adapter_names
from urasync_l0.tools.layout import output_console, plain_table
from urasync_l0.tools.replayer.measurement import DRIVERS
from urasync_l0.ur_library import library_path

REQUESTS = {"no events": "pairs 5000", "an event for both calls": "event_pairs 5000"}
ROUNDS = 7


def measure(programs: Sequence[Program], rounds: int) -> list[Figure]:
    """Microseconds of pairs in processes of these programs, which answer `REQUESTS`."""

    def value(process: MeasuringProcess, request: str) -> float:
        return process.ask(request)[0]

    with ExitStack() as stack:
        processes = [program.start(stack) for program in programs]
        cases = [
            Case("pair", name, process.name, "µs a pair", partial(value, process, request))
            for name, request in REQUESTS.items()
            for process in processes
        ]
        return measure_in_turns(cases, rounds)


def main(arguments: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library_calls", description=__doc__)
    parser.add_argument("--driver", choices=DRIVERS, default="software")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("libraries", nargs="*", help="other adapter libraries to measure")
    chosen = parser.parse_args(arguments)
    libraries = [*map(library_path, adapter_names()), *map(Path, chosen.libraries)]
    environment = os.environ | {"URASYNC_L0_DRIVER": chosen.driver}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "measure")
        compile_program([SOURCES / "measure.c"], program)
        programs = [
            Program(library.name, (str(program), str(library)), environment)
            for library in libraries
        ]
        figures = measure(programs, chosen.rounds)
    if chosen.json:
        told = {"machine": machine(), "figures": [asdict(figure) for figure in figures]}
        print(json.dumps(told, indent=1, ensure_ascii=False))
        return 0
    medians = {(figure.adapter, figure.name): str(figure) for figure in figures}
    table = plain_table()
    table.add_column("microseconds a pair")
    for name in REQUESTS:
        table.add_column(name, justify="right", no_wrap=True)
    for library in dict.fromkeys(figure.adapter for figure in figures):
        table.add_row(library, *(medians[library, name] for name in REQUESTS))
    (console or output_console()).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
