# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A device: what it is, how much memory it has, and which of its queues serve us."""

from __future__ import annotations

import itertools
from functools import cached_property

from urasync_l0.result import UnsupportedFeatureError
from urasync_l0.ze import device as ze_device
from urasync_l0.ze.device import (
    CommandQueueGroup,
    CommandQueueGroupFlag,
    DeviceProperties,
    MemoryAccessCapFlag,
    MemoryAccessProperties,
    MemoryProperties,
)
from urasync_l0.ze.handles import DeviceHandle

_NEEDED = CommandQueueGroupFlag.COMPUTE | CommandQueueGroupFlag.COPY


class Device:
    """A Level Zero device. Immutable; any thread may use it. Sizes are bytes.

    Parameters
    ----------
    handle
        The native handle.
    index
        The device's place among those of its platform.
    """

    def __init__(self, handle: DeviceHandle, index: int) -> None:
        self.handle = handle
        self.index = index
        self.properties: DeviceProperties = ze_device.get_properties(handle)
        self.memories: tuple[MemoryProperties, ...] = tuple(ze_device.get_memory_properties(handle))
        self.queue_groups: tuple[CommandQueueGroup, ...] = tuple(
            ze_device.get_command_queue_group_properties(handle)
        )
        self._queue_indices = itertools.count()

    def __repr__(self) -> str:
        return f"Device({self.index}, {self.name!r}, {self.total_memory} bytes)"

    @property
    def name(self) -> str:
        """The driver's name for the device."""
        return self.properties.name

    @property
    def uuid(self) -> bytes:
        """The 16 bytes that identify the device."""
        return self.properties.uuid

    @property
    def total_memory(self) -> int:
        """Bytes of all the device's memories together."""
        return sum(memory.total_size for memory in self.memories)

    @property
    def max_allocation(self) -> int:
        """The largest single allocation, in bytes."""
        return self.properties.max_mem_alloc_size

    @cached_property
    def memory_access(self) -> MemoryAccessProperties:
        """What the device may do with each kind of memory."""
        return ze_device.get_memory_access_properties(self.handle)

    @cached_property
    def queue_ordinal(self) -> int:
        """The number of the queue group that our queues use: the first that computes and copies.

        Raises
        ------
        UnsupportedFeatureError
            If the device has no such group.
        """
        for ordinal, group in enumerate(self.queue_groups):
            if group.flags & _NEEDED == _NEEDED and group.num_queues:
                return ordinal
        raise UnsupportedFeatureError(
            f"The device {self.name!r} has no queue group that both computes and copies, among "
            f"{len(self.queue_groups)} groups; enqueue allocations need one."
        )

    @property
    def max_fill_pattern(self) -> int:
        """The longest pattern, in bytes, that the device fills memory with by itself."""
        return self.queue_groups[self.queue_ordinal].max_memory_fill_pattern_size

    @property
    def supports_async_alloc(self) -> bool:
        """Whether enqueued allocations and frees work on the device."""
        return bool(self.memory_access.device & MemoryAccessCapFlag.RW) and any(
            group.flags & _NEEDED == _NEEDED and group.num_queues for group in self.queue_groups
        )

    def next_queue_index(self) -> int:
        """The number, in its group, of the queue that the next list should use: they take turns."""
        return next(self._queue_indices) % self.queue_groups[self.queue_ordinal].num_queues
