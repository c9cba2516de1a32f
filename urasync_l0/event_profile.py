# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When a command was enqueued, started and ended."""

from __future__ import annotations

from dataclasses import dataclass

from urasync_l0.device_clock import DeviceClock
from urasync_l0.ze.event import KernelTimestamp


@dataclass(frozen=True, slots=True)
class EventProfile:
    """Times of one command in nanoseconds of its device's clock, each at or after the one before.

    Attributes
    ----------
    queued
        When the host enqueued it.
    submit
        The same: commands are submitted at once.
    start
        When the device began it, or the first of several steps.
    end
        When the device ended it, or the last of several steps.
    complete
        The same as the end: a command starts no others.
    """

    queued: int
    submit: int
    start: int
    end: int
    complete: int

    @classmethod
    def of(
        cls, clock: DeviceClock, queued: int, first: KernelTimestamp, last: KernelTimestamp
    ) -> EventProfile:
        """The profile of a command enqueued at ``queued`` ticks, from its first and last stamps."""
        start = clock.at_or_after(queued, first.global_start)
        end = clock.at_or_after(start, last.global_end)
        enqueued, started, ended = map(clock.nanoseconds, (queued, start, end))
        return cls(enqueued, enqueued, started, ended, ended)
