# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time-outs of host waits, in nanoseconds."""

from __future__ import annotations

import operator

from urasync_l0.result import InvalidValueError
from urasync_l0.ze.host_wait import INFINITE


def checked_timeout(timeout_ns: int | None) -> int:
    """A time-out as Level Zero takes it; None means for ever.

    Raises
    ------
    InvalidValueError
        If it is negative or has more than 64 bits.
    """
    if timeout_ns is None:
        return INFINITE
    timeout_ns = operator.index(timeout_ns)
    if not 0 <= timeout_ns <= INFINITE:
        raise InvalidValueError(
            f"The time-out is {timeout_ns} ns; it must be 0 to 2**64 - 1, or None for ever."
        )
    return timeout_ns
