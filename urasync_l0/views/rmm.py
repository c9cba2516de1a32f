# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool under the names of RMM's memory resources and of its statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from urasync_l0.context import Context
from urasync_l0.device import Device
from urasync_l0.enums import UsmType
from urasync_l0.queue import Queue
from urasync_l0.usm_pool import Pool


class RmmStatistics(NamedTuple):
    """As ``rmm.statistics.Statistics``, as far as a pool keeps them. Sizes are bytes; ``peak`` is
    since the pool was made or the peak reset, ``total`` since it was made."""

    current_bytes: int
    current_count: int
    peak_bytes: int
    total_count: int


@dataclass(frozen=True)
class RmmMemoryResource:
    """A pool under the names of ``rmm.mr.DeviceMemoryResource``. Streams are queues.

    Attributes
    ----------
    pool
        The pool itself.
    """

    pool: Pool

    def allocate(self, nbytes: int, stream: Queue) -> int:
        """The address of device memory for work that comes after this call in the queue's order;
        0 for no bytes. Errors as `Queue.alloc_device`."""
        if nbytes == 0:
            return 0
        address, _ = stream.enqueue_alloc(UsmType.DEVICE, nbytes, self.pool)
        return address

    def deallocate(self, ptr: int, nbytes: int, stream: Queue) -> None:
        """Give memory back in the queue's order, whatever the size. Errors as `Queue.free`."""
        if ptr or nbytes:
            stream.free(ptr, self.pool)

    def pool_size(self) -> int:
        """Bytes of driver memory that the pool holds."""
        return self.pool.statistics().reserved

    def get_statistics(self) -> RmmStatistics:
        """The pool's numbers at this moment."""
        numbers = self.pool.statistics()
        return RmmStatistics(
            current_bytes=numbers.used,
            current_count=numbers.allocations - numbers.frees,
            peak_bytes=numbers.used_high,
            total_count=numbers.allocations,
        )


def get_per_device_resource(
    context: Context, device: Device | int | None = None
) -> RmmMemoryResource:
    """The current pool of a device, by default the first: see `Context.current_pool`."""
    return RmmMemoryResource(context.current_pool(device))


def set_per_device_resource(
    context: Context, resource: RmmMemoryResource, device: Device | int | None = None
) -> None:
    """Let a pool serve a device for all who name none: see `Context.set_current_pool`."""
    context.set_current_pool(resource.pool, device)
