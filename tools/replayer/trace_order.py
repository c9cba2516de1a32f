# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a trace itself puts in order: by queue, by recorded and awaited events, by the host.

A queue's clock says, for every other queue, up to which line it runs after that queue. Waiting for
an event merges the clock that the event captured; once the host has waited for a queue, every line
that follows runs after all that this queue's clock covers.
"""

from __future__ import annotations

from urasync_l0.tools.replayer.trace import Op, Trace

_Clock = dict[int, int]


def unordered_frees(trace: Trace) -> frozenset[int]:
    """Indices of the frees on another queue than the allocation's that nothing orders after it.

    Such a free is legal, for nothing was enqueued that uses the memory. Whoever does use it on the
    allocation's queue must add that order.
    """
    clocks: dict[int, _Clock] = {queue: {} for queue in trace.queues}
    host: _Clock = {}
    events: dict[int, _Clock] = {}
    born: dict[int, tuple[int, int]] = {}  # allocation slot: queue, index
    found: set[int] = set()
    for index, line in enumerate(trace.lines):
        clock = clocks[line.queue]
        clock[line.queue] = index
        if line.op is Op.ALLOCATE:
            born[line.slot] = line.queue, index
        elif line.op is Op.FREE:
            queue, start = born.pop(line.slot)
            if max(clock.get(queue, -1), host.get(queue, -1)) < start:
                found.add(index)
        elif line.op is Op.RECORD:
            events[line.slot] = dict(clock)
        elif line.op is Op.WAIT:
            _merge(clock, events[line.slot])
        else:
            _merge(host, clock)
    return frozenset(found)


def _merge(clock: _Clock, other: _Clock) -> None:
    for queue, index in other.items():
        if clock.get(queue, -1) < index:
            clock[queue] = index
