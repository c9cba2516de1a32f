# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command that replays traces: its arguments, its output and its exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from urasync_l0.result import UrError
from urasync_l0.tools.layout import output_console
from urasync_l0.tools.replayer.looking import NotRunError
from urasync_l0.tools.replayer.measurement import (
    ADAPTERS,
    DRIVERS,
    MeasurementOptions,
    measure,
    progress_lines,
)
from urasync_l0.tools.replayer.passes import KINDS
from urasync_l0.tools.replayer.progress_bar import ReplayProgress
from urasync_l0.tools.replayer.result import ReplayResult
from urasync_l0.tools.replayer.result_table import ResultTable
from urasync_l0.tools.replayer.staging import HungError
from urasync_l0.tools.replayer.trace import MAXIMUM_QUEUES, Trace, TraceError
from urasync_l0.tools.replayer.trace_file import read_any_trace

WRONG_BYTES = 1
WRONG_INPUT = 2
NOT_REPLAYED = 3

ALL_ADAPTERS = "all"

DESCRIPTION = "Replay allocation traces and print what they cost in time and memory."
EPILOG = (
    "Timed passes run with the cyclic garbage collector off, as timeit does, and without "
    "verification; the release threshold keeps everything. Verification is a pass of its "
    "own. Exit status: 0 all well, 1 wrong bytes, 2 wrong input, 3 not replayed."
)


def run(parsed: argparse.Namespace, default_files: Sequence[Path] = ()) -> int:
    """Replay what the arguments of `add_arguments` ask for; returns the exit status."""
    options = MeasurementOptions(
        driver=parsed.driver,
        kind=parsed.kind,
        verify=parsed.verify,
        repeat=parsed.repeat,
        lag=parsed.lag,
    )
    adapters = ADAPTERS if parsed.adapter == ALL_ADAPTERS else (parsed.adapter,)
    traces: list[Trace] = []
    try:
        for path in parsed.files or default_files:
            trace, notes = read_any_trace(path, queues=parsed.queues, device=parsed.device)
            traces.append(trace)
            for note in notes:
                print(f"{path}: {note}", file=sys.stderr)
    except TraceError as error:
        print(error, file=sys.stderr)
        return WRONG_INPUT
    work = [(trace, replace(options, adapter=name)) for trace in traces for name in adapters]
    results: list[ReplayResult] = []
    try:
        _replay(work, results, as_json=parsed.json)
    except (UrError, HungError, NotRunError) as error:
        trace = work[len(results)][0]
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
    work: Sequence[tuple[Trace, MeasurementOptions]],
    results: list[ReplayResult],
    *,
    as_json: bool,
) -> None:
    total = sum(progress_lines(trace, options) for trace, options in work)
    with ReplayProgress(Console(stderr=True), total) as progress:
        for trace, options in work:
            progress.describe(trace.name, options.adapter)
            results.append(measure(trace, options, progress.advance))
            if as_json:
                print(results[-1].to_json(), flush=True)


def add_arguments(parser: argparse.ArgumentParser, *, adapter: str, files: str) -> None:
    """Give a parser the arguments of the command.

    Parameters
    ----------
    adapter : the default of ``--adapter``.
    files : help for the files; without any, `run` takes its default.
    """
    parser.add_argument("files", nargs="*", metavar="FILE", help=files)
    parser.add_argument(
        "--adapter",
        choices=(*ADAPTERS, ALL_ADAPTERS),
        default=adapter,
        help="default: %(default)s",
    )
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
        help="fill every allocation and look at it before its free, in a pass of its own; by a "
        "kernel where the driver can compile one (default: yes)",
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
    parser.add_argument(
        "--device",
        type=_whole(0, 1023),
        metavar="N",
        help="of a PyTorch snapshot of several devices, the one to replay (default: the busiest)",
    )


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
