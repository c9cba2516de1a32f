# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replay allocation traces: ``python -m benchmarks.replay [FILE...]``.

Exit status: 0 when all went well; 1 when a byte that was read back was wrong; 2 when the arguments
or a trace are wrong; 3 when a replay could not be carried out, for example without a driver.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from rich.console import Console

from benchmarks.measurement import (
    ADAPTERS,
    DRIVERS,
    MeasurementOptions,
    measure,
    progress_lines,
)
from benchmarks.passes import KINDS
from benchmarks.progress_bar import ReplayProgress
from benchmarks.result import ReplayResult
from benchmarks.result_table import ResultTable, output_console
from benchmarks.staging import HungError
from benchmarks.trace import MAXIMUM_QUEUES, Trace, TraceError, bundled_traces, read_trace
from urasync_l0.result import UrError

WRONG_BYTES = 1
WRONG_INPUT = 2
NOT_REPLAYED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parsed = _parser().parse_args(arguments)
    options = MeasurementOptions(
        adapter=parsed.adapter,
        driver=parsed.driver,
        kind=parsed.kind,
        verify=parsed.verify,
        repeat=parsed.repeat,
        lag=parsed.lag,
    )
    try:
        traces = [
            read_trace(path, queues=parsed.queues) for path in parsed.files or bundled_traces()
        ]
    except TraceError as error:
        print(error, file=sys.stderr)
        return WRONG_INPUT
    results: list[ReplayResult] = []
    try:
        _replay(traces, options, results, as_json=parsed.json)
    except (UrError, HungError) as error:
        trace = traces[len(results)]
        print(f"{trace.path}: could not be replayed: {error}", file=sys.stderr)
        return NOT_REPLAYED
    finally:
        if results and not parsed.json:
            output_console().print(ResultTable(results))
    failures = [result.failure for result in results if result.failure is not None]
    for failure in failures:
        print(failure, file=sys.stderr)
    return WRONG_BYTES if failures else 0


def _replay(
    traces: Sequence[Trace],
    options: MeasurementOptions,
    results: list[ReplayResult],
    *,
    as_json: bool,
) -> None:
    total = sum(progress_lines(trace, options) for trace in traces)
    with ReplayProgress(Console(stderr=True), total) as progress:
        for trace in traces:
            progress.describe(trace.name, options.adapter)
            results.append(measure(trace, options, progress.advance))
            if as_json:
                print(results[-1].to_json(), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay",
        description="Replay allocation traces and print what they cost in time and memory.",
        epilog=(
            "Timed passes run with the cyclic garbage collector off, as timeit does, and without "
            "verification; the release threshold keeps everything. Verification is a pass of its "
            "own. Exit status: 0 all well, 1 wrong bytes, 2 wrong input, 3 not replayed."
        ),
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="traces; default: all bundled")
    parser.add_argument("--adapter", choices=ADAPTERS, default="v2", help="default: %(default)s")
    parser.add_argument(
        "--driver",
        choices=DRIVERS,
        help="default: what URASYNC_L0_DRIVER says, else the system's",
    )
    parser.add_argument("--kind", choices=KINDS, default="device", help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print one JSON object a trace")
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="fill every allocation and read it back, in a pass of its own (default: yes)",
    )
    parser.add_argument(
        "--repeat",
        type=_whole(1),
        default=3,
        metavar="N",
        help="timed passes; the fastest gives the time, the largest the memory (default: 3)",
    )
    parser.add_argument(
        "--lag",
        type=_whole(0),
        metavar="N",
        help="let a command complete N lines after its own; software driver only, no timing",
    )
    parser.add_argument(
        "--queues",
        type=_whole(1, MAXIMUM_QUEUES),
        default=MAXIMUM_QUEUES,
        metavar="N",
        help="refuse a trace that names a queue above N - 1 (default: %(default)s)",
    )
    return parser


def _whole(minimum: int, maximum: int = 10**9) -> Callable[[str], int]:
    """Argument type: a whole number within the bounds."""

    def whole_number(text: str) -> int:
        known = text.isascii() and text.isdigit() and len(text) < 20
        if not known or not minimum <= int(text) <= maximum:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {minimum} to {maximum}"
            )
        return int(text)

    return whole_number


if __name__ == "__main__":
    sys.exit(main())
