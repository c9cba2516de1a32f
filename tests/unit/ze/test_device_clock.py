# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ticks of a device's timer as nanoseconds; short time stamps put behind longer ones."""

import pytest

from urasync_l0.device_clock import DeviceClock
from urasync_l0.event_profile import EventProfile
from urasync_l0.ze.event import KernelTimestamp


def clock(frequency: int = 19_200_000, kernel_bits: int = 32) -> DeviceClock:
    return DeviceClock(None, frequency=frequency, valid_bits=36, kernel_valid_bits=kernel_bits)


@pytest.mark.parametrize(
    ("frequency", "ticks", "nanoseconds"),
    [
        (10**9, 12345, 12345),
        (19_200_000, 19_200_000, 10**9),
        (19_200_000, 1, 52),
        (12_500_000, 3, 240),
        (19_200_000, 2**56, 2**56 * 10**9 // 19_200_000),
    ],
)
def test_ticks_are_exact(frequency: int, ticks: int, nanoseconds: int) -> None:
    """No tick is rounded to a whole number of nanoseconds before it is multiplied."""
    assert clock(frequency).nanoseconds(ticks) == nanoseconds


@pytest.mark.parametrize("passed", [0, 1, 1000, 2**31, 2**32 - 2 * 19_200_000])
@pytest.mark.parametrize("earlier", [0, 2**32 - 1, 2**32, 5 * 2**32 + 77, 2**36 - 1])
def test_stamps_of_fewer_bits_wrap(earlier: int, passed: int) -> None:
    stamp = (earlier + passed) % 2**32
    assert clock().at_or_after(earlier, stamp) == earlier + passed


@pytest.mark.parametrize("before", [1, 500, 19_000_000])
def test_clocks_that_disagree_a_little(before: int) -> None:
    """A stamp just before the host's reading is no turn of the clock later."""
    earlier = 2**33 + 5
    assert clock().at_or_after(earlier, (earlier - before) % 2**32) == earlier


def test_a_profile_never_goes_back() -> None:
    device = clock(10**9, kernel_bits=16)
    stamps = KernelTimestamp(global_start=0xFFF0, global_end=0x0010, context_start=0, context_end=0)
    profile = EventProfile.of(device, 0x5FF00, stamps, stamps)
    assert profile == EventProfile(0x5FF00, 0x5FF00, 0x5FFF0, 0x60010, 0x60010)
