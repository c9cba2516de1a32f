# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits of the host for the driver."""

from collections.abc import Callable
from time import monotonic_ns
from typing import TypeVar

from urasync_l0.ze.result import ZeResult, check

H = TypeVar("H")

INFINITE = 2**64 - 1
"""Time-out in nanoseconds that never ends."""

SLICE_NS = 1_000_000_000
"""Nanoseconds that one call to the driver waits at most."""

_NOT_READY = int(ZeResult.NOT_READY)


def wait_for(
    synchronize: Callable[[H, int], int],
    name: str,
    handle: H,
    timeout_ns: int,
    is_known: Callable[[], bool] = lambda: False,
) -> bool:
    """Call the entry ``name`` for a handle; True when what it waits for has come about.

    False when ``timeout_ns`` nanoseconds are over; 0 only asks. A driver may come back early, as if
    the time were over; it is asked again then for what is left of it. Long waits are several calls,
    with a look at ``is_known`` between: it tells whether the answer is known otherwise, or raises.
    """
    limited = 0 < timeout_ns < INFINITE
    deadline = monotonic_ns() + timeout_ns
    left = timeout_ns
    while True:
        code = synchronize(handle, min(left, SLICE_NS))
        if code == 0:
            return True
        if code != _NOT_READY:
            check(code, name, f"The time-out is {timeout_ns} ns")
        if limited:
            left = deadline - monotonic_ns()
        if left <= 0:
            return False
        if is_known():
            return True
