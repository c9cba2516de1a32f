# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One pass over a trace on a fresh context: a timed one, or a checked one.

The timed pass does what the trace says and nothing else. Its loop knows each line as an operation,
a bound method of the line's queue and that method's argument, all made before the clock starts.
The cyclic garbage collector runs before the loop and is off while it runs, as in ``timeit``;
reference counting still frees what a line drops. What is live at the end is freed after the clock
stopped.

The checked pass calls the verification, the completion lag, or both between the lines.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import urasync_l0
from urasync_l0.tools.replayer.lag import Lag
from urasync_l0.tools.replayer.looking import KERNEL, build_comparison
from urasync_l0.tools.replayer.staging import HungError
from urasync_l0.tools.replayer.trace import Op, Trace
from urasync_l0.tools.replayer.verification import Verification
from urasync_l0.ze import loader

if TYPE_CHECKING:
    from urasync_l0 import Allocation, Context, Pool, PoolStatistics, Queue

KINDS = ("device", "shared", "host")

WAIT_NS = 60_000_000_000
"""How long a checked pass waits for a queue before the driver is taken to hang."""

PROGRESS_LINES = 256
"""A checked pass reports its progress each time it has done so many lines."""

Hold = Callable[[Sequence["Queue"]], Lag]
"""Makes what holds back the completion of these queues."""

Progress = Callable[[int], None]
"""Gets the number of lines that were done since the last call."""


@dataclass(frozen=True, slots=True)
class PassResult:
    """What one pass measured.

    Attributes
    ----------
    seconds : host time from the first line to the return of the last.
    statistics : the pool's, right after the last line.
    level_zero_calls : calls of Level Zero that this process made meanwhile.
    """

    seconds: float
    statistics: PoolStatistics
    level_zero_calls: int


def timed_pass(context: Context, trace: Trace, kind: str) -> PassResult:
    """Replay `trace` as fast as Python goes. Single-threaded; `context` should be fresh."""
    pool = _pool(context, kind)
    queues = {number: context.create_queue() for number in trace.queues}
    steps = _steps(trace, queues, kind)
    allocations: list[Any] = [None] * trace.allocation_slots
    events: list[Any] = [None] * trace.event_slots
    allocate, free, record, wait = int(Op.ALLOCATE), int(Op.FREE), int(Op.RECORD), int(Op.WAIT)
    clock = time.perf_counter
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    try:
        calls = loader.total_calls()
        start = clock()
        for op, call, slot, nbytes in steps:
            if op == allocate:
                allocations[slot] = call(nbytes)
            elif op == free:
                call(allocations[slot])
            elif op == record:
                events[slot] = call()
            elif op == wait:
                call((events[slot],))
            else:
                call()
        seconds = clock() - start
        calls = loader.total_calls() - calls
    finally:
        if collecting:
            gc.enable()
    statistics = pool.statistics()
    _free_the_rest(trace, queues, allocations)
    for queue in queues.values():
        queue.finish(timeout_ns=WAIT_NS)
        queue.close()
    return PassResult(seconds, statistics, calls)


def checked_pass(
    context: Context,
    trace: Trace,
    kind: str,
    *,
    verify: bool = True,
    by_kernel: bool = False,
    hold: Hold | None = None,
    progress: Progress = lambda lines: None,
) -> PassResult:
    """Replay `trace`, with every byte looked at, with completion held back, or both.

    Parameters
    ----------
    verify : fill and read back every allocation.
    by_kernel : a kernel compares what is read back, which the driver must be able to compile.
    hold : makes what holds back the queues' completion.

    Raises
    ------
    VerificationError
        A byte or an address was wrong.
    NotRunError
        The kernel did not run.
    """
    pool = _pool(context, kind)
    queues = {number: context.create_queue() for number in trace.queues}
    program = build_comparison(context) if verify and by_kernel else None
    kernel = program.kernel(KERNEL) if program is not None else None
    held = hold(list(queues.values())) if hold is not None else None
    release = held.open if held is not None else _nothing
    try:
        first = next(iter(queues.values()))
        check = Verification(trace, first, release, kernel) if verify else None
        if held is not None:
            held.hold()
        calls = loader.total_calls()
        start = time.perf_counter()
        allocations = run_lines(trace, queues, kind, check, held, progress)
        seconds = time.perf_counter() - start
        calls = loader.total_calls() - calls
        statistics = pool.statistics()
        release()
        if check is not None:
            check.finish()
    finally:
        release()
    _free_the_rest(trace, queues, allocations)
    for queue in queues.values():
        queue.finish(timeout_ns=WAIT_NS)
        queue.close()
    if kernel is not None and program is not None:
        kernel.close()
        program.close()
    return PassResult(seconds, statistics, calls)


def run_lines(
    trace: Trace,
    queues: dict[int, Queue],
    kind: str,
    check: Verification | None,
    held: Lag | None,
    progress: Progress = lambda lines: None,
) -> list[Allocation]:
    """Carry out every line; returns the table of allocations. Leaves `held` as it is."""
    allocators = {number: _allocator(queue, kind) for number, queue in queues.items()}
    allocations: list[Any] = [None] * trace.allocation_slots
    events: list[Any] = [None] * trace.event_slots
    for index, line in enumerate(trace.lines):
        queue = queues[line.queue]
        if line.op is Op.ALLOCATE:
            allocations[line.slot] = allocators[line.queue](line.nbytes)
            if check is not None:
                check.allocated(index, queue, allocations[line.slot])
        elif line.op is Op.FREE:
            if check is not None:
                check.freeing(index, queue)
            queue.free(allocations[line.slot])
        elif line.op is Op.RECORD:
            events[line.slot] = queue.record()
        elif line.op is Op.WAIT:
            queue.wait((events[line.slot],))
        else:
            if held is not None:
                held.open()
            _finish(queue)
            if held is not None:
                held.hold()
        if held is not None:
            held.step()
        if index % PROGRESS_LINES == PROGRESS_LINES - 1:
            progress(PROGRESS_LINES)
    progress(len(trace.lines) % PROGRESS_LINES)
    return allocations


def _steps(trace: Trace, queues: dict[int, Queue], kind: str) -> list[tuple[int, Any, int, int]]:
    """Every line as the operation's number, a method of its queue, the slot and the size."""
    methods: dict[int, dict[Op, Any]] = {
        number: {
            Op.ALLOCATE: _allocator(queue, kind),
            Op.FREE: queue.free,
            Op.RECORD: queue.record,
            Op.WAIT: queue.wait,
            Op.SYNCHRONISE: queue.finish,
        }
        for number, queue in queues.items()
    }
    return [(int(ln.op), methods[ln.queue][ln.op], ln.slot, ln.nbytes) for ln in trace.lines]


def _pool(context: Context, kind: str) -> Pool:
    """The pool that serves `kind`, told to keep what it has."""
    pool = context.host_pool if kind == "host" else context.default_pool(context.devices[0])
    pool.release_threshold = urasync_l0.KEEP_EVERYTHING
    return pool


def _allocator(queue: Queue, kind: str) -> Callable[[int], Allocation]:
    if kind == "device":
        return queue.alloc_device
    return queue.alloc_shared if kind == "shared" else queue.alloc_host


def _free_the_rest(
    trace: Trace, queues: dict[int, Queue], allocations: Sequence[Allocation]
) -> None:
    """Free what the trace leaves live, each on the queue that allocated it."""
    live: dict[int, int] = {}  # slot: queue
    for line in trace.lines:
        if line.op is Op.ALLOCATE:
            live[line.slot] = line.queue
        elif line.op is Op.FREE:
            del live[line.slot]
    for slot, number in live.items():
        queues[number].free(allocations[slot])


def _nothing() -> None:
    """Hold nothing back, so release nothing."""


def _finish(queue: Queue) -> None:
    if not queue.finish(timeout_ns=WAIT_NS):
        raise HungError(f"a queue did not finish in {WAIT_NS // 1_000_000_000} s")
