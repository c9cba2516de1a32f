# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes that measure one trace through one adapter, and the result that they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import urasync_l0
from urasync_l0.result import UnsupportedFeatureError
from urasync_l0.tools.replayer.gated_list import gated_lists
from urasync_l0.tools.replayer.lag import EvenLag, UnevenLag
from urasync_l0.tools.replayer.looking import missing_compiler
from urasync_l0.tools.replayer.passes import Hold, PassResult, Progress, checked_pass, timed_pass
from urasync_l0.tools.replayer.result import ReplayResult
from urasync_l0.tools.replayer.trace import Trace
from urasync_l0.tools.replayer.verification import VerificationError
from urasync_l0.ze import loader

if TYPE_CHECKING:
    from urasync_l0 import Context
    from urasync_l0.ze.loader import DriverName

ADAPTERS = ("v2", "legacy")
DRIVERS = ("software", "system")

APART_LINES = 32
"""How far the verified pass drives queues apart when no lag is asked for."""


@dataclass(frozen=True, slots=True)
class MeasurementOptions:
    """How a trace is replayed.

    Attributes
    ----------
    adapter : "v2" or "legacy".
    driver : "software", "system", or None for what the environment says.
    kind : "device", "shared" or "host" memory.
    verify : add a pass that fills and reads back every allocation.
    repeat : number of timed passes, at least 1.
    lag : hold completion back by so many lines, in every pass; there is no timed pass then. Needs
        the software driver.
    """

    adapter: str = "v2"
    driver: DriverName | None = None
    kind: str = "device"
    verify: bool = True
    repeat: int = 3
    lag: int | None = None


def progress_lines(trace: Trace, options: MeasurementOptions) -> int:
    """How many lines `measure` reports in all."""
    passes = options.repeat if options.lag is None else 1
    return len(trace.lines) * (passes + options.verify)


def measure(
    trace: Trace, options: MeasurementOptions, progress: Progress = lambda lines: None
) -> ReplayResult:
    """Replay `trace`, each pass on a context of its own.

    Wrong bytes are told by the result. Raises what the adapters raise (`urasync_l0.UrError`),
    `HungError` when a queue does not finish, and `NotRunError` when a kernel did not run.
    """
    with _context(options) as context:
        driver, device = context.driver_name, context.devices[0].name
        by_kernel = options.verify and missing_compiler(context) is None
    if options.lag is None:
        passes = [_timed(trace, options, progress) for _ in range(options.repeat)]
        us_per_op = min(each.seconds for each in passes) * 1e6 / len(trace.lines)
    else:
        lag = options.lag
        passes = [
            _checked(
                trace,
                options,
                progress,
                lambda queues: EvenLag(gated_lists(queues), lag),
                verify=False,
            )
        ]
        us_per_op = None
    most = max(passes, key=lambda each: each.statistics.reserved_high)
    verified: bool | None = None
    failure: str | None = None
    if options.verify:
        try:
            apart = _apart(trace, options, driver)
            _checked(trace, options, progress, apart, verify=True, by_kernel=by_kernel)
            verified = True
        except VerificationError as error:
            verified = False
            failure = str(error)
    numbers = most.statistics
    reused = numbers.allocations - numbers.growths
    return ReplayResult(
        trace=trace.name,
        adapter=options.adapter,
        driver=driver,
        ops=len(trace.lines),
        us_per_op=us_per_op,
        live_peak=trace.live_peak,
        reserved_high=numbers.reserved_high,
        memory_ratio=numbers.reserved_high / trace.live_peak if trace.live_peak else 0.0,
        driver_allocs=numbers.driver_allocs,
        inserted_waits=numbers.inserted_waits,
        verified=verified,
        failure=failure,
        looked_at_by=("kernel" if by_kernel else "host") if options.verify else None,
        reuse_rate=reused / numbers.allocations if numbers.allocations else 0.0,
        level_zero_calls=most.level_zero_calls,
        loader=loader.loader_version(),
        device=device,
        kind=options.kind,
        lag=options.lag,
        repeat=options.repeat if options.lag is None else 0,
    )


def _timed(trace: Trace, options: MeasurementOptions, progress: Progress) -> PassResult:
    with _context(options) as context:
        result = timed_pass(context, trace, options.kind)
    progress(len(trace.lines))
    return result


def _checked(
    trace: Trace,
    options: MeasurementOptions,
    progress: Progress,
    hold: Hold | None,
    *,
    verify: bool,
    by_kernel: bool = False,
) -> PassResult:
    with _context(options) as context:
        if hold is not None and context.driver_name != "software":
            raise UnsupportedFeatureError(
                "Only the software driver's gates hold completion back; drop --lag, or choose "
                "--driver software."
            )
        return checked_pass(
            context,
            trace,
            options.kind,
            verify=verify,
            by_kernel=by_kernel,
            hold=hold,
            progress=progress,
        )


def _apart(trace: Trace, options: MeasurementOptions, driver: str) -> Hold | None:
    """How the verified pass drives queues apart, where it can and where there are several."""
    lines = options.lag
    if lines is None:
        if len(trace.queues) == 1 or driver != "software":
            return None
        lines = APART_LINES
    return lambda queues: UnevenLag(gated_lists(queues), lines)


def _context(options: MeasurementOptions) -> Context:
    return urasync_l0.Context(adapter=options.adapter, driver=options.driver)
