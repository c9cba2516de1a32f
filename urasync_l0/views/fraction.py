# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Limits as fractions of a device's memory."""

from __future__ import annotations

from urasync_l0.result import InvalidValueError
from urasync_l0.usm_pool import Pool


def memory_of(pool: Pool) -> int:
    """Bytes of memory of a pool's device, or of all devices of its context if it serves all."""
    devices = pool.context.devices if pool.device is None else (pool.device,)
    return sum(device.total_memory for device in devices)


def bytes_of(fraction: float, pool: Pool) -> int:
    """The size in bytes of a fraction of a pool's memory.

    Raises
    ------
    InvalidValueError
        If it is not above 0 and at most 1.
    """
    if not 0 < fraction <= 1:
        raise InvalidValueError(f"The fraction is {fraction}; it must be above 0 and at most 1.")
    return int(fraction * memory_of(pool))
