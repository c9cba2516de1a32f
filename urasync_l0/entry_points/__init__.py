# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The UR-named entry points of both adapters: a module for each noun, and here all together.

They are the second face of what the Python objects do. An entry checks what a C caller can get
wrong, then calls what the objects call, and writes its out-pointers last.
"""

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

__all__ = ["EntryPoints"]


class EntryPoints(
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
):
    """All entry points that do not depend on how an adapter uses Level Zero."""
