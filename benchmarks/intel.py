# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Intel's C++ adapters beside ours: ``make bench-intel``, or ``python -m benchmarks.intel``.

It takes a folder with libur_loader and Intel's adapter libraries. A C program drives all four
adapters through the loader (``ur_client/measure.c``), Python ours as well and, through cffi alone,
Intel's (``cffi_client``), all of them on the software driver and in turns: memory and time of every
trace, pairs with and without events, single calls, pairs among free blocks and of threads,
synchronisations, snapshots and starts, all by the clock on the wall; and instructions of pairs,
where callgrind can count them. Prints tables, or JSON. Compare times only within one run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import call_costs, free_blocks, instructions, threads
from benchmarks.bundled_traces import bundled_traces
from benchmarks.call_costs import Bench, common_cases
from benchmarks.comparison import Measurements, MemoryFigure, from_json
from benchmarks.comparison_tables import markdown, print_tables
from benchmarks.machine import machine
from benchmarks.measuring_process import MeasuringProcess, Program, c_programs, cffi_programs
from benchmarks.rounds import Case, Figure, SharedMeasurement, measure_in_turns
from benchmarks.trace_costs import replay, trace_case
from benchmarks.ur_client import INTEL, OURS, STACK_LIBRARIES, UrAdapter, ur_adapters
from urasync_l0.tools.layout import output_console
from urasync_l0.tools.replayer.trace import Trace, read_trace

ROUNDS = 5
ROUNDS_OF_MANY = 3
"""Of cases that `call_costs` measures once or twice."""

ONLY_PYTHON = ("snapshot", "start")
"""Groups of cases of `Bench` that are measured although no request stands for them."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the C program is asked for a case, and which of the numbers of its answer is meant."""

    text: str
    place: int = 0


def requests(sizes: dict[int, Path]) -> dict[tuple[str, str], Request]:
    """Requests for the cases of `Bench`, by group and name; the sizes of free blocks are in files.

    The programs through cffi answer those for pairs.
    """
    many, few = call_costs.PAIRS, call_costs.PAIRS // 8
    found = {
        ("pair", "no events"): Request(f"pairs {many}"),
        ("pair", "an event for both calls"): Request(f"event_pairs {few}"),
        ("call", "allocate"): Request(f"halves {many}", 0),
        ("call", "free"): Request(f"halves {many}", 1),
        ("call", "record an event"): Request(f"event_halves {many}", 0),
        ("call", "release an event"): Request(f"event_halves {many}", 1),
    }
    for count in call_costs.FREED:
        found["finish", f"{count:,} freed blocks"] = Request(f"finish {count}")
    for count in threads.THREADS:
        found["threads", f"{count}"] = Request(f"threads {count}")
    for count, path in sizes.items():
        found["free blocks", f"pair among {count:,}"] = Request(f"free_blocks {path}")
    return found


def write_lines(trace: Trace, target: Path) -> None:
    """Write a trace as the C program reads it: sizes of its tables, then four numbers a line."""
    positions = {queue: position for position, queue in enumerate(trace.queues)}
    sizes = (len(trace.lines), trace.allocation_slots, trace.event_slots, len(positions))
    rows = (
        (int(line.op), positions[line.queue], max(line.slot, 0), line.nbytes)
        for line in trace.lines
    )
    text = "\n".join(" ".join(map(str, row)) for row in (sizes, *rows))
    target.write_text(f"{text}\n", encoding="utf-8")


class Comparison:
    """Everything that is measured, by processes that stay until the stack is left, and by this one.

    Parameters
    ----------
    adapters : those that the C program drives; Intel's among them are called through cffi as well.
    """

    def __init__(
        self, adapters: Sequence[UrAdapter], traces: Sequence[Path], stack: ExitStack
    ) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        in_c = c_programs(adapters, folder)
        through_cffi = cffi_programs([each for each in adapters if each.name in INTEL])
        in_python = [instructions.python_program(adapter) for adapter in OURS]
        self.programs = [*in_c, *through_cffi, *in_python]
        self.in_c = {program: program.start(stack) for program in in_c}
        self.through_cffi = [program.start(stack) for program in through_cffi]
        self.benches = [Bench(name, "software", stack, time.perf_counter_ns) for name in OURS]
        self.traces = {read_trace(path): folder / f"{path.name}.lines" for path in traces}
        for trace, lines in self.traces.items():
            write_lines(trace, lines)
        sizes = {count: folder / f"{count}.sizes" for count in call_costs.FREE_BLOCKS}
        for count, path in sizes.items():
            path.write_text(free_blocks.sizes_text("many sizes", count), encoding="utf-8")
        self.requests = requests(sizes)
        self._asked: dict[tuple[MeasuringProcess, str], SharedMeasurement] = {}

    def memory(self) -> Iterator[MemoryFigure]:
        """The memory that every trace takes with every adapter."""
        for trace, lines in self.traces.items():
            for process in self.in_c.values():
                reserved, said = (int(number) for number in process.ask(f"memory {lines}"))
                ratio = reserved / trace.live_peak
                yield MemoryFigure(trace.name, process.name, reserved, said, ratio)
            for adapter in OURS:
                reserved = replay(trace, adapter, "software").statistics.reserved_high
                ratio = reserved / trace.live_peak
                yield MemoryFigure(trace.name, f"{adapter}, Python", reserved, reserved, ratio)

    def cases(self) -> Iterator[Case]:
        """What is measured in turns: one case after the other, each with all that have it."""
        for trace, lines in self.traces.items():
            ours = [trace_case(trace, adapter, "software") for adapter in OURS]
            for process in self.in_c.values():
                measure = partial(self._time_a_line, process, trace, lines)
                yield replace(ours[0], adapter=process.name, measure=measure)
            yield from map(_in_python, ours)
        for of_benches in zip(*(bench.cases() for bench in self.benches), strict=True):
            ours = [replace(each, rounds=max(each.rounds, ROUNDS_OF_MANY)) for each in of_benches]
            beside = list(self._beside(ours[0]))
            if beside or ours[0].group in ONLY_PYTHON:
                yield from (*beside, *map(_in_python, ours))
        yield from common_cases(time.perf_counter_ns)

    def _time_a_line(self, process: MeasuringProcess, trace: Trace, lines: Path) -> float:
        return process.ask(f"time {lines}")[0] * 1e6 / len(trace.lines)

    def _beside(self, case: Case) -> Iterator[Case]:
        """A case of `Bench` in the other processes that have it."""
        if (case.group, case.name) == ("start", "to a first context"):
            for program in self.in_c:
                yield replace(case, adapter=program.name, measure=partial(_start, program))
        request = self.requests.get((case.group, case.name))
        if request is None:
            return
        processes = [*self.in_c.values(), *(self.through_cffi if case.group == "pair" else ())]
        for process in processes:
            asked = self._asked.setdefault(
                (process, request.text), SharedMeasurement(partial(process.ask, request.text))
            )
            measure = partial(asked.value, request.place)
            yield replace(case, adapter=process.name, measure=measure)


def _in_python(case: Case) -> Case:
    return replace(case, adapter=f"{case.adapter}, Python")


def _start(program: Program) -> float:
    with ExitStack() as stack:
        return program.start(stack).ask("start 0")[0]


def count_instructions(programs: Sequence[Program]) -> tuple[list[Figure], list[str]]:
    """Instructions of pairs, and a note for each program of which none could be counted."""
    if missing := instructions.what_is_missing():
        return [], [f"No instructions are counted: {missing}."]
    figures, notes = [], []
    for program in programs:
        try:
            figures += measure_in_turns(list(instructions.cases(program, program.name)), 1)
        except RuntimeError as error:
            notes.append(f"No instructions are counted of {program.name}: {error}.")
    figures.sort(key=lambda figure: figure.name, reverse=True)  # by case first, as all others
    return figures, notes


def measure(
    adapters: Sequence[UrAdapter],
    traces: Sequence[Path],
    rounds: int,
    groups: Sequence[str] | None = None,
) -> Measurements:
    """Measure the traces' memory, and some groups of cases, or all."""
    notes: list[str] = []
    with ExitStack() as stack:
        comparison = Comparison(adapters, traces, stack)
        memory = list(comparison.memory())
        cases = [case for case in comparison.cases() if groups is None or case.group in groups]
        figures = measure_in_turns(cases, rounds)
        if groups is None or "instructions" in groups:
            counted, notes = count_instructions(comparison.programs)
            figures += counted
    return Measurements(machine(), memory, figures, notes)


def main(arguments: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intel", description=__doc__)
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=STACK_LIBRARIES,
        help="has libur_loader.so and Intel's adapters; default: %(default)s",
    )
    parser.add_argument("--trace", type=Path, nargs="+", default=bundled_traces())
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--only", nargs="*", metavar="GROUP", help="times of these groups only")
    parser.add_argument(
        "--read", type=Path, metavar="FILE", help="measure nothing: the JSON of another run"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON instead of tables")
    shown.add_argument("--markdown", action="store_true", help="print the medians in Markdown")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write JSON to a file as well")
    chosen = parser.parse_args(arguments)
    if chosen.read is not None:
        measured = from_json(chosen.read.read_text(encoding="utf-8"))
    else:
        adapters = ur_adapters(chosen.folder)
        measured = measure(adapters, chosen.trace, chosen.rounds, chosen.only)
    if chosen.output is not None:
        chosen.output.write_text(f"{measured.to_json()}\n", encoding="utf-8")
    if chosen.json:
        print(measured.to_json())
    elif chosen.markdown:
        print(markdown(measured), end="")
    else:
        print_tables(measured, console or output_console())
    return 0


if __name__ == "__main__":
    sys.exit(main())
