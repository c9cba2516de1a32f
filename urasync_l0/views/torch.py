# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A context's memory under the names of ``torch.xpu``."""

from __future__ import annotations

from dataclasses import dataclass

from urasync_l0.context import Context
from urasync_l0.device import Device
from urasync_l0.result import UnsupportedFeatureError
from urasync_l0.views.fraction import bytes_of, memory_of


@dataclass(frozen=True)
class TorchMemory:
    """The current pools of a context's devices under the names of ``torch.xpu``.

    Each function is about the current pool of a device, by default the first. Sizes are bytes.

    Attributes
    ----------
    context
        The context itself.
    """

    context: Context

    def memory_allocated(self, device: Device | int | None = None) -> int:
        """Bytes in use."""
        return self.context.current_pool(device).statistics().used

    def max_memory_allocated(self, device: Device | int | None = None) -> int:
        """The peak of bytes in use."""
        return self.context.current_pool(device).statistics().used_high

    def memory_reserved(self, device: Device | int | None = None) -> int:
        """Bytes of driver memory that the pool holds."""
        return self.context.current_pool(device).statistics().reserved

    def max_memory_reserved(self, device: Device | int | None = None) -> int:
        """The peak of bytes of driver memory."""
        return self.context.current_pool(device).statistics().reserved_high

    def memory_stats(self, device: Device | int | None = None) -> dict[str, int]:
        """The pool's numbers under torch's keys, zeros before the first use.

        ``active_bytes`` counts what is in use and what is freed but not complete. Peaks that a pool
        does not keep, and the parts for large and small blocks that it does not have, are left out.
        """
        numbers = self.context.current_pool(device).statistics()
        return {
            "active_bytes.all.current": numbers.used + numbers.pending,
            "allocated_bytes.all.current": numbers.used,
            "allocated_bytes.all.peak": numbers.used_high,
            "allocation.all.allocated": numbers.allocations,
            "allocation.all.current": numbers.allocations - numbers.frees,
            "allocation.all.freed": numbers.frees,
            "num_alloc_retries": numbers.ladder_releases,
            "num_ooms": numbers.out_of_memory,
            "requested_bytes.all.current": numbers.requested,
            "reserved_bytes.all.current": numbers.reserved,
            "reserved_bytes.all.peak": numbers.reserved_high,
        }

    def reset_peak_memory_stats(self, device: Device | int | None = None) -> None:
        """Set the peaks to the present values."""
        pool = self.context.current_pool(device)
        pool.reset_peak_used()
        pool.reset_peak_reserved()

    def empty_cache(self) -> None:
        """Finish all queues, and give the idle memory of every device's current pool back."""
        self.context.native.synchronise_all()
        for device in self.context.devices:
            self.context.current_pool(device).trim_to(0)

    def mem_get_info(self, device: Device | int | None = None) -> tuple[int, int]:
        """Bytes of a device that are free, and all of them, as the driver says.

        Raises
        ------
        UnsupportedFeatureError
            If the driver cannot tell what is free.
        """
        chosen = self.context.member(device)
        free = chosen.free_memory
        if free is None:
            raise UnsupportedFeatureError(
                f"The driver does not tell the free memory of {chosen!r}."
            )
        return free, chosen.total_memory

    def get_per_process_memory_fraction(self, device: Device | int | None = None) -> float:
        """The pool's limit as a fraction of the device's memory; 1 if it has none."""
        pool = self.context.current_pool(device)
        return pool.maximum_size / memory_of(pool) if pool.maximum_size else 1.0

    def set_per_process_memory_fraction(
        self, fraction: float, device: Device | int | None = None
    ) -> None:
        """Limit the pool to a fraction of the device's memory; 1 is no limit of its own.

        Raises
        ------
        InvalidValueError
            If the fraction is not above 0 and at most 1.
        """
        pool = self.context.current_pool(device)
        pool.maximum_size = 0 if fraction == 1 else bytes_of(fraction, pool)
