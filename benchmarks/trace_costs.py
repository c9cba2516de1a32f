# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a trace costs in Python: time by the clock on the wall, and memory."""

from __future__ import annotations

import urasync_l0
from benchmarks.rounds import Case
from urasync_l0.tools.replayer.passes import PassResult, timed_pass
from urasync_l0.tools.replayer.trace import Trace
from urasync_l0.ze.loader import DriverName


def replay(trace: Trace, adapter: str, driver: DriverName) -> PassResult:
    """Replay with device memory, on a context of its own."""
    with urasync_l0.Context(adapter=adapter, driver=driver) as context:
        return timed_pass(context, trace, "device")


def trace_case(trace: Trace, adapter: str, driver: DriverName, rounds: int = 100) -> Case:
    """The time that a line takes."""

    def measure() -> float:
        return replay(trace, adapter, driver).seconds * 1e6 / len(trace.lines)

    return Case("trace", trace.name, adapter, "µs a line", measure, rounds)
