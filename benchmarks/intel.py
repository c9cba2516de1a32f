# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Intel's C++ adapters beside ours: ``make bench-intel``, or ``python -m benchmarks.intel``.

It takes a folder with libur_loader and Intel's adapter libraries. A C program drives all four
adapters through the loader (``ur_client/measure.c``), Python ours as well and, through cffi alone,
Intel's (``cffi_client``), all of them on the software driver and in turns: memory and time of every
trace, pairs with and without events, pairs among free blocks, single calls, threads and
synchronisations; for ours from Python also what ``speed`` has beyond these, by the processor's
clock. Prints tables, or JSON. Compare times only within one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

import urasync_l0
from benchmarks.bundled_traces import bundled_traces
from benchmarks.call_costs import PAIRS as BENCH_PAIRS
from benchmarks.call_costs import Bench, common_cases
from benchmarks.rounds import Case, Figure, measure_in_turns
from benchmarks.speed import machine
from benchmarks.threads import THREADS
from benchmarks.ur_client import (
    INTEL,
    OURS,
    SOURCES,
    STACK_LIBRARIES,
    UrAdapter,
    compile_program,
    software_settings,
    ur_adapters,
)
from urasync_l0.tools.layout import output_console, plain_table
from urasync_l0.tools.replayer.passes import timed_pass
from urasync_l0.tools.replayer.trace import Trace, read_trace

ROUNDS = 5
PAIRS = 2000
FREE_BLOCKS = (100, 10_000, 100_000)
FREED = (10, 1_000, 100_000)
MANY = 50_000
"""Cases with more blocks than this are measured once."""

PAIR_REQUESTS = {"pairs": "no events", "event_pairs": "an event for each"}
"""What measuring processes are asked for, and the names of those cases."""

CALL_REQUESTS = {"allocate": "allocate", "free": "free", "record": "record an event"}

BY_THE_PROCESSOR = ("call", "finish", "snapshot", "free blocks")
"""Groups of `Bench` that are measured by the processor's clock, also here."""

INTEL_IN_C = tuple(f"{name}, C" for name in INTEL)


@dataclass(frozen=True)
class MemoryFigure:
    """How much an adapter takes for a trace.

    Attributes
    ----------
    reserved : highest number of bytes that the driver gave out, or that the pool held, for Python.
    said : the highest number of bytes that the pool says it held; 0 where it does not.
    ratio : `reserved` over the highest sum of the live allocations' requested bytes.
    """

    trace: str
    adapter: str
    reserved: int
    said: int
    ratio: float


class MeasuringProcess:
    """A process with one adapter that answers requests until the stack is left."""

    def __init__(
        self, name: str, command: Sequence[str], adapter: UrAdapter, stack: ExitStack
    ) -> None:
        self.name = name
        self._process = stack.enter_context(
            subprocess.Popen(
                command,
                env=adapter.environment(software_settings()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )

    def ask(self, request: str) -> list[float]:
        """The numbers that the program answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name}: {request} ended the process ({self._process.wait()})")
        return [float(number) for number in answer.split()]


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


def replay_in_python(trace: Trace, adapter: str) -> tuple[float, int]:
    """Seconds that the lines took, and the highest number of bytes that the pool held."""
    with urasync_l0.Context(adapter=adapter, driver="software") as context:
        result = timed_pass(context, trace, "device")
    return result.seconds, result.statistics.reserved_high


def clocked(run: Callable[[], object], count: int) -> Callable[[], float]:
    """Measure by the clock on the wall, as the C program does: microseconds of `count` in a run."""

    def measure() -> float:
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e6 / count

    return measure


def ratios(memory: Sequence[MemoryFigure], figures: Sequence[Figure]) -> list[dict[str, object]]:
    """Of each trace with each of our adapters: memory and time over those of Intel's like it."""
    reserved = {(each.trace, each.adapter): each.reserved for each in memory}
    medians = {(each.name, each.adapter): each.median for each in figures if each.group == "trace"}
    rows: list[dict[str, object]] = []
    for trace, adapter in reserved:
        if adapter in INTEL_IN_C:
            continue
        intel = f"Intel {adapter.partition(',')[0]}, C"
        row: dict[str, object] = {"trace": trace, "adapter": adapter, "over": intel}
        row["memory"] = reserved[trace, adapter] / reserved[trace, intel]
        if (trace, adapter) in medians:
            row["time"] = medians[trace, adapter] / medians[trace, intel]
        rows.append(row)
    return rows


def pair_targets(figures: Sequence[Figure]) -> list[dict[str, object]]:
    """Pairs from Python with each of our adapters, median over median: without events over Intel's
    v2 through cffi, with an event for each over twice Intel's v2 from C. At most 1 is the aim."""
    medians = {(each.name, each.adapter): each.median for each in figures if each.group == "pair"}
    no_events, events = PAIR_REQUESTS.values()
    over = ((no_events, "Intel v2, cffi", 1), (events, "Intel v2, C", 2))
    return [
        {
            "pair": name,
            "adapter": f"{adapter}, Python",
            "over": intel if times == 1 else f"{times} x {intel}",
            "time": medians[name, f"{adapter}, Python"] / (times * medians[name, intel]),
        }
        for adapter in OURS
        for name, intel, times in over
        if (name, intel) in medians
    ]


class Comparison:
    """Everything that is measured, by the processes of one run."""

    def __init__(self, folder: Path, traces: Sequence[Path], stack: ExitStack) -> None:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        program = place / "measure"
        compile_program([SOURCES / "measure.c"], program)
        self.traces = {read_trace(path): place / f"{path.name}.lines" for path in traces}
        for trace, lines in self.traces.items():
            write_lines(trace, lines)
        driver = software_settings()["ZE_ENABLE_ALT_DRIVERS"]
        through_cffi = [sys.executable, "-m", "benchmarks.cffi_client", str(folder)]
        adapters = ur_adapters(folder)
        self.processes = [
            MeasuringProcess(
                f"{each.name}, C", [str(program), str(each.loader), driver], each, stack
            )
            for each in adapters
        ]
        self.cffi_processes = [
            MeasuringProcess(f"{each.name}, cffi", through_cffi, each, stack)
            for each in adapters
            if each.name in INTEL
        ]
        self.benches = {name: Bench(name, "software", stack) for name in OURS}

    def memory(self) -> Iterator[MemoryFigure]:
        """The memory that every trace takes with every adapter."""
        for trace, lines in self.traces.items():
            for process in self.processes:
                reserved, said = (int(number) for number in process.ask(f"memory {lines}"))
                ratio = reserved / trace.live_peak
                yield MemoryFigure(trace.name, process.name, reserved, said, ratio)
            for adapter in OURS:
                _, reserved = replay_in_python(trace, adapter)
                ratio = reserved / trace.live_peak
                yield MemoryFigure(trace.name, f"{adapter}, Python", reserved, reserved, ratio)

    def cases(self) -> Iterator[Case]:
        """What is measured in turns."""
        for trace, lines in self.traces.items():
            count = len(trace.lines)
            for process in self.processes:
                run = self._asking(process, f"time {lines}", 1e6 / count)
                yield Case("trace", trace.name, process.name, "µs a line", run)
            for adapter in OURS:
                yield Case(
                    "trace",
                    trace.name,
                    f"{adapter}, Python",
                    "µs a line",
                    lambda trace=trace, adapter=adapter, count=count: (  # type: ignore[misc]
                        replay_in_python(trace, adapter)[0] * 1e6 / count
                    ),
                )
        for process in (*self.processes, *self.cffi_processes):
            for request, name in PAIR_REQUESTS.items():
                run = self._asking(process, f"{request} {PAIRS}")
                yield Case("pair", name, process.name, "µs a pair", run)
        for process in self.processes:
            for count in FREE_BLOCKS:
                run = self._asking(process, f"free_blocks {count}")
                rounds = 1 if count > MANY else ROUNDS
                yield Case("pair", f"among {count:,}", process.name, "µs a pair", run, rounds)
            for count in FREED:
                run = self._asking(process, f"finish {count}")
                rounds = 1 if count > MANY else ROUNDS
                yield Case("finish", f"{count:,} freed", process.name, "µs", run, rounds)
            for request, name in CALL_REQUESTS.items():
                run = self._asking(process, f"{request} {PAIRS}")
                yield Case("call", name, process.name, "µs a call", run)
            for count in THREADS:
                run = self._asking(process, f"threads {count}")
                yield Case("threads", f"{count}", process.name, "µs a pair", run)
        for adapter, bench in self.benches.items():
            name = f"{adapter}, Python"
            for count in THREADS:
                run = partial(bench.threads, count)
                yield Case("threads", f"{count}", name, "µs a pair", run)
            for case in bench.cases():
                if case.group in BY_THE_PROCESSOR:
                    yield replace(case, adapter=name, unit=f"{case.unit}, processor")
            no_events, events = PAIR_REQUESTS.values()
            yield Case("pair", no_events, name, "µs a pair", clocked(bench.pair, BENCH_PAIRS))
            run = clocked(bench.pair_with_events, BENCH_PAIRS // 8)
            yield Case("pair", events, name, "µs a pair", run)
        for case in common_cases():
            yield replace(case, adapter="v2, Python", unit=f"{case.unit}, processor")

    def _asking(
        self, process: MeasuringProcess, request: str, factor: float = 1
    ) -> Callable[[], float]:
        return lambda: process.ask(request)[0] * factor


def print_tables(
    memory: Sequence[MemoryFigure], figures: Sequence[Figure], console: Console
) -> None:
    """Memory ratios, then times: a column for each adapter."""
    told = [*(each.adapter for each in memory), *(each.adapter for each in figures)]
    adapters = list(dict.fromkeys(told))
    reserved = {(each.trace, each.adapter): f"{each.ratio:.3f}" for each in memory}
    console.print("Highest reserved bytes over highest live bytes")
    _print_table(dict.fromkeys(each.trace for each in memory), adapters, reserved, console)
    console.print("\nMicroseconds: median (least to most)")
    times = {
        (f"{each.group}: {each.name}, {each.unit}", each.adapter): (
            f"{each.median:.3g} ({each.extremes[0]:.3g} to {each.extremes[1]:.3g})"
            if each.rounds > 1
            else f"{each.median:.3g}"
        )
        for each in figures
    }
    _print_table(dict.fromkeys(name for name, _ in times), adapters, times, console)
    console.print("\nOurs over Intel's of the same flavour: memory, median time of a trace")
    quotients = {}
    for row in ratios(memory, figures):
        text = f"{row['memory']:.2f}" + (f", {row['time']:.1f}" if "time" in row else "")
        quotients[str(row["trace"]), str(row["adapter"])] = text
    ours = list(dict.fromkeys(adapter for _, adapter in quotients))
    _print_table(dict.fromkeys(each.trace for each in memory), ours, quotients, console)
    for target in pair_targets(figures):
        console.print(
            f"A pair, {target['pair']}: {target['adapter']}, over {target['over']}: "
            f"{target['time']:.2f}"
        )


def _print_table(
    rows: dict[str, None],
    columns: Sequence[str],
    cells: dict[tuple[str, str], str],
    console: Console,
) -> None:
    table = plain_table()
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(row, *(cells.get((row, column), "") for column in columns))
    console.print(table)


def measure(
    folder: Path, traces: Sequence[Path], rounds: int, groups: Sequence[str] | None
) -> tuple[list[MemoryFigure], list[Figure]]:
    """Measure the traces' memory, and times: of some groups of cases, or of all."""
    with ExitStack() as stack:
        comparison = Comparison(folder, traces, stack)
        memory = list(comparison.memory())
        cases = [case for case in comparison.cases() if groups is None or case.group in groups]
        total = sum(min(rounds, case.rounds) for case in cases)
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("measuring", total=total)
            figures = measure_in_turns(cases, rounds, lambda case: progress.advance(task))
    return memory, figures


def to_json(memory: Sequence[MemoryFigure], figures: Sequence[Figure]) -> str:
    """Everything that was measured, and on what."""
    return json.dumps(
        {
            "machine": machine(),
            "memory": [asdict(each) for each in memory],
            "figures": [asdict(each) for each in figures],
            "ratios": ratios(memory, figures),
            "pair_targets": pair_targets(figures),
        }
    )


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
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write JSON to a file as well")
    chosen = parser.parse_args(arguments)
    memory, figures = measure(chosen.folder, chosen.trace, chosen.rounds, chosen.only)
    text = to_json(memory, figures)
    if chosen.output is not None:
        chosen.output.write_text(f"{text}\n", encoding="utf-8")
    if chosen.json:
        print(text)
    else:
        print_tables(memory, figures, console or output_console())
    return 0


if __name__ == "__main__":
    sys.exit(main())
