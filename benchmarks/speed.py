# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What everything costs in time: ``python -m benchmarks.speed``, or ``make bench``.

Measures pairs with and without events, single calls, synchronisations, searches among many free
blocks, threads, snapshots, the import and every bundled trace, on both adapters in turns, and
prints medians with their quartiles as a table, or as JSON. Compare times only within one run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks import instructions
from benchmarks.bundled_traces import bundled_traces
from benchmarks.call_costs import Bench, common_cases
from benchmarks.machine import machine
from benchmarks.rounds import Figure, measure_in_turns, three_digits
from benchmarks.trace_costs import trace_case
from urasync_l0.tools.layout import output_console, plain_table
from urasync_l0.tools.replayer.measurement import ADAPTERS, DRIVERS
from urasync_l0.tools.replayer.trace import read_trace
from urasync_l0.ze.loader import DriverName

ROUNDS = 5
TRACE_ROUNDS = 3


def main(arguments: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--driver", choices=DRIVERS, default="software")
    parser.add_argument("--adapter", choices=ADAPTERS, nargs="+", default=ADAPTERS)
    parser.add_argument("--only", nargs="+", metavar="GROUP", help="measure these groups only")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write JSON to a file as well")
    chosen = parser.parse_args(arguments)
    figures = measure(chosen.adapter, chosen.driver, chosen.rounds, chosen.only)
    text = json.dumps(
        {"machine": machine(), "figures": [asdict(figure) for figure in figures]}, indent=1
    )
    if chosen.output is not None:
        chosen.output.write_text(text + "\n", encoding="utf-8")
    if chosen.json:
        print(text)
    else:
        _print_table(figures, console or output_console())
    return 0


def measure(
    adapters: Sequence[str], driver: DriverName, rounds: int, groups: Sequence[str] | None = None
) -> list[Figure]:
    """Measure all cases of some groups, of all without any named."""
    with ExitStack() as stack:
        cases = list(common_cases())
        for adapter in adapters:
            cases += Bench(adapter, driver, stack).cases()
        for path in bundled_traces():
            trace = read_trace(path)
            cases += [trace_case(trace, adapter, driver, TRACE_ROUNDS) for adapter in adapters]
        if instructions.what_is_missing() is None and driver == "software":
            for adapter in adapters:
                cases += instructions.cases(instructions.python_program(adapter), adapter)
        wanted = [case for case in cases if not groups or case.group in groups]
        wanted.sort(key=lambda case: (case.group, case.name))
        return measure_in_turns(wanted, rounds)


def _print_table(figures: Sequence[Figure], console: Console) -> None:
    table = plain_table()
    for heading in ("what", "case", "adapter"):
        table.add_column(heading, no_wrap=True)
    for heading in ("least", "median", "quartiles", "rounds"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for figure in figures:
        low, high = figure.quartiles
        table.add_row(
            figure.group,
            figure.name,
            figure.adapter,
            three_digits(figure.extremes[0]),
            three_digits(figure.median),
            f"{three_digits(low)} to {three_digits(high)}",
            str(figure.rounds),
            figure.unit,
        )
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
