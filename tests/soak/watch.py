# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a soak holds, sampled while it runs, and the bounds that it must keep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from urasync_l0 import Context, Pool, take_snapshot
from urasync_l0.software_driver.controls import Controls

MIB = 1 << 20

MOST_EVENTS_A_QUEUE = 1024
"""More native events than this for each queue are a leak: programs of a soak hold far fewer."""

MOST_PENDING_A_QUEUE = 4096
"""So are more pending blocks than this."""

GROWTH = 32 * MIB
"""By so many bytes may resident memory grow from the first half of a soak to the second."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look. Bytes, and counts."""

    seconds: float
    resident: int
    events: int
    pending: int
    reserved: int

    def line(self) -> str:
        """The sample in a line of a log."""
        return (
            f"{self.seconds:7.0f} s   resident {self.resident / MIB:7.1f} MiB   "
            f"events {self.events:5}   pending {self.pending:5}   "
            f"reserved {self.reserved / MIB:7.1f} MiB"
        )


def own_memory() -> int:
    """Resident bytes of this process that are its own: not the device's memory, which is shared."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def sample(seconds: float, controls: Controls) -> Sample:
    """Look once; holds each pool's lock for a moment."""
    pools = take_snapshot(blocks=False).pools
    return Sample(
        seconds=seconds,
        resident=own_memory(),
        events=controls.live_objects()["event"],
        pending=sum(each.blocks for pool in pools for each in pool.pending),
        reserved=sum(pool.statistics.reserved for pool in pools),
    )


def faults(samples: Sequence[Sample], queues: int, limited: Sequence[Pool]) -> list[str]:
    """What of the samples is out of bounds, in words."""
    found: list[str] = []
    half = len(samples) // 2
    before = max(each.resident for each in samples[:half])
    after = max(each.resident for each in samples[half:])
    if after > before + GROWTH:
        found.append(
            f"resident memory grew from {before / MIB:.1f} MiB in the first half to "
            f"{after / MIB:.1f} MiB"
        )
    for name, values, most in (
        ("native events", [each.events for each in samples], MOST_EVENTS_A_QUEUE * queues),
        ("pending blocks", [each.pending for each in samples], MOST_PENDING_A_QUEUE * queues),
    ):
        if max(values) > most:
            found.append(f"there were {max(values)} {name}, at most {most} are in order")
    for pool in limited:
        numbers = pool.statistics()
        if numbers.reserved_high > pool.maximum_size:
            found.append(
                f"{pool!r} reserved {numbers.reserved_high} bytes, over its limit of "
                f"{pool.maximum_size}"
            )
    return found


def left(context: Context, controls: Controls, before: dict[str, int]) -> list[str]:
    """What is still there after the context was closed, in words."""
    now = controls.live_objects()
    found = [f"{now[kind] - before[kind]} {kind} left" for kind in now if now[kind] > before[kind]]
    return found if context.is_closed else [*found, f"{context!r} is not closed"]
