# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A device's clock: its ticks as nanoseconds, and time stamps of commands on the same scale."""

from __future__ import annotations

from urasync_l0.ze import device as ze_device
from urasync_l0.ze.handles import DeviceHandle

NANOSECONDS = 10**9


class DeviceClock:
    """The timer of a device. Immutable; any thread may use it.

    Parameters
    ----------
    device
        The native device; None for a clock that only converts.
    frequency
        Ticks a second.
    valid_bits
        After so many bits the clock that the host reads begins again at 0.
    kernel_valid_bits
        The same for the stamps of commands, which may have fewer.
    """

    def __init__(
        self,
        device: DeviceHandle | None,
        *,
        frequency: int,
        valid_bits: int,
        kernel_valid_bits: int,
    ) -> None:
        self._device = device
        self.frequency = frequency
        self._mask = (1 << valid_bits) - 1
        self._kernel_mask = (1 << kernel_valid_bits) - 1

    def read(self) -> tuple[int, int]:
        """The host's time in nanoseconds and the device's in ticks, at one moment."""
        assert self._device is not None
        host, ticks = ze_device.get_global_timestamps(self._device)
        return host, ticks & self._mask

    def ticks(self) -> int:
        """The time now, in ticks."""
        return self.read()[1]

    def nanoseconds(self, ticks: int) -> int:
        """A time in nanoseconds, rounded down."""
        return ticks * NANOSECONDS // self.frequency

    def at_or_after(self, earlier: int, stamp: int) -> int:
        """A command's stamp as a time in ticks, at or after an earlier one.

        A stamp has only the low bits of the time, so it tells how long after ``earlier`` it was
        taken as long as that is less than one turn of those bits. The two readings may disagree a
        little: a stamp less than a second before ``earlier`` counts as taken at the same time.
        """
        passed = (stamp - earlier) & self._kernel_mask
        if self._kernel_mask - passed < min(self.frequency, self._kernel_mask // 2):
            passed = 0
        return earlier + passed
