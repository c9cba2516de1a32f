# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The demo: every bundled trace through both adapters, every byte looked at.

``python -m benchmarks.demo`` runs on the software driver, so it needs no GPU; with
``--driver system`` it runs on the one that is there. Where the driver can compile it, a kernel
looks at the bytes, in the order of the queue that frees them; else they are copied to the host.
Exit status as for ``benchmarks.replay``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

import urasync_l0
from benchmarks.bundled_traces import bundled_traces
from urasync_l0.result import UrError
from urasync_l0.tools.layout import output_console
from urasync_l0.tools.replayer.looking import NotRunError, missing_compiler
from urasync_l0.tools.replayer.measurement import (
    ADAPTERS,
    DRIVERS,
    MeasurementOptions,
    measure,
    progress_lines,
)
from urasync_l0.tools.replayer.progress_bar import ReplayProgress
from urasync_l0.tools.replayer.result import ReplayResult
from urasync_l0.tools.replayer.result_table import ResultTable
from urasync_l0.tools.replayer.staging import HungError
from urasync_l0.tools.replayer.trace import read_trace
from urasync_l0.ze import loader
from urasync_l0.ze.loader import DriverName

WRONG_BYTES = 1
NOT_REPLAYED = 3


def main(arguments: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the demo on `console` (default: standard output); returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.demo",
        description="Replay every bundled trace through both adapters and look at every byte.",
    )
    parser.add_argument("--driver", choices=DRIVERS, default="software")
    driver: DriverName = parser.parse_args(arguments).driver
    console = console if console is not None else output_console()
    try:
        console.print(Text(stage(driver)))
        results = _replay_all(driver, console)
    except (UrError, HungError, NotRunError) as error:
        Console(stderr=True).print(Text(f"The demo could not run: {error}"))
        return NOT_REPLAYED
    console.print(ResultTable(results))
    console.print(verdict(results))
    return 0 if all(result.verified for result in results) else WRONG_BYTES


def verdict(results: Sequence[ReplayResult]) -> Text:
    """What the verification found, over all results."""
    failed = [result for result in results if not result.verified]
    if not failed:
        read = "read back" if results[0].looked_at_by == "host" else "seen by the kernel"
        return Text(
            f"All {len(results)} replays verified: every byte that was {read} was right.",
            style="green",
        )
    text = Text(f"{len(failed)} of {len(results)} replays read back wrong bytes:", "bold red")
    for result in failed:
        text.append(f"\n{result.adapter}: {result.failure}")
    return text


def stage(driver: DriverName) -> str:
    """What the demo runs on, and what looks at the bytes."""
    with urasync_l0.Context(adapter=ADAPTERS[0], driver=driver) as context:
        device = context.devices[0].name
        missing = missing_compiler(context)
    version = loader.loader_version()
    through = f"Level Zero loader {version}" if version is not None else "the Level Zero loader"
    if driver == "software":
        runs = f"Runs on the software driver through {through}: no GPU is used."
        advice = "make demo-kernels, or pip install 'urasync-l0[kernels]', gets one"
    else:
        runs = f"Runs on {device} through {through}."
        advice = "python -m urasync_l0 doctor says what to install"
    if missing is None:
        return f"{runs}\nA kernel looks at the bytes, in queue order before each free."
    return (
        f"{runs}\nThe bytes are copied to the host to be looked at, for no compiler of kernels was "
        f"found ({advice})."
    )


def _replay_all(driver: DriverName, console: Console) -> list[ReplayResult]:
    traces = [read_trace(path) for path in bundled_traces()]
    options = [MeasurementOptions(adapter=adapter, driver=driver) for adapter in ADAPTERS]
    total = sum(progress_lines(trace, each) for trace in traces for each in options)
    results: list[ReplayResult] = []
    with ReplayProgress(console, total) as progress:
        for trace in traces:
            for each in options:
                progress.describe(trace.name, each.adapter)
                results.append(measure(trace, each, progress.advance))
    return results


if __name__ == "__main__":
    sys.exit(main())
