# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What both adapters derive from: all entry points together, and what each adds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from urasync_l0.entry_points.adapter import AdapterEntryPoints
from urasync_l0.entry_points.buffer import BufferEntryPoints
from urasync_l0.entry_points.buffer_enqueue import BufferEnqueueEntryPoints
from urasync_l0.entry_points.context import ContextEntryPoints
from urasync_l0.entry_points.device import DeviceEntryPoints
from urasync_l0.entry_points.event import EventEntryPoints
from urasync_l0.entry_points.kernel import KernelEntryPoints
from urasync_l0.entry_points.peer_access import PeerAccessEntryPoints
from urasync_l0.entry_points.platform import PlatformEntryPoints
from urasync_l0.entry_points.program import ProgramEntryPoints
from urasync_l0.entry_points.queue import QueueEntryPoints
from urasync_l0.entry_points.usm import UsmEntryPoints
from urasync_l0.entry_points.usm_enqueue import UsmEnqueueEntryPoints
from urasync_l0.entry_points.usm_pool import UsmPoolEntryPoints

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.device import Device
    from urasync_l0.event_source import EventSource
    from urasync_l0.native_context import NativeContext
    from urasync_l0.native_list import NativeList
    from urasync_l0.platform import Platform
    from urasync_l0.queue import Queue


class Adapter(
    AdapterEntryPoints,
    PlatformEntryPoints,
    DeviceEntryPoints,
    PeerAccessEntryPoints,
    ContextEntryPoints,
    QueueEntryPoints,
    EventEntryPoints,
    ProgramEntryPoints,
    KernelEntryPoints,
    UsmEntryPoints,
    UsmPoolEntryPoints,
    UsmEnqueueEntryPoints,
    BufferEntryPoints,
    BufferEnqueueEntryPoints,
    ABC,
):
    """One way to run queues and events over Level Zero, with every entry point.

    The entries have no idea which adapter they serve; an adapter adds how its queues and events are
    made.

    Attributes
    ----------
    name
        The name that users choose it by.
    """

    name: str

    @abstractmethod
    def create_event_source(
        self, platform: Platform, context: NativeContext, device: Device, timestamps: bool
    ) -> EventSource:
        """Where the events of a device's queues come from, those with or those without time stamps.

        Raises
        ------
        UnsupportedFeatureError
            If the loader or the driver lacks what the adapter needs.
        """

    @abstractmethod
    def create_queue(self, context: Context, native: NativeList) -> Queue:
        """A queue over a native list on a device of the context."""
