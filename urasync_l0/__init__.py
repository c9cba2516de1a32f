# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory allocated and freed in queue order, on Level Zero devices."""

from urasync_l0 import main_interpreter  # noqa: F401, I001  before everything else
from urasync_l0 import watch_settings  # noqa: F401  does what the environment asks for
from urasync_l0.adapter import adapter_names
from urasync_l0.allocation import Allocation
from urasync_l0.context import Context
from urasync_l0.current_pool import use_pool
from urasync_l0.default_context import default_context
from urasync_l0.device import Device
from urasync_l0.enums import Command, EventStatus, ExecutionInfo, QueueFlag, UsmPoolFlag, UsmType
from urasync_l0.event_profile import EventProfile
from urasync_l0.immediate_queue import ImmediateQueue
from urasync_l0.inspection import take_snapshot
from urasync_l0.launch import LocalMemory
from urasync_l0.platform import Platform
from urasync_l0.pool import PoolStatistics, ReusePolicy
from urasync_l0.pool_service import serve_pools, stop_serving_pools
from urasync_l0.program import Kernel, Program
from urasync_l0.queue import Queue
from urasync_l0.recorded_event import Event
from urasync_l0.recording import Recording, record_allocations
from urasync_l0.result import (
    DeviceLostError,
    DeviceNotFoundError,
    DriverNotFoundError,
    InvalidEventError,
    InvalidEventWaitListError,
    InvalidMemObjectError,
    InvalidUsmSizeError,
    InvalidValueError,
    LoaderNotFoundError,
    LoaderTooOldError,
    OutOfHostMemoryError,
    OutOfMemoryError,
    UnsupportedFeatureError,
    UrError,
    UrResult,
)
from urasync_l0.snapshot import Snapshot, SnapshotError, read_snapshot
from urasync_l0.snapshot_writer import (
    write_snapshot,
    write_snapshot_at_exit,
    write_snapshot_on_signal,
)
from urasync_l0.usm_pool import KEEP_EVERYTHING, Pool
from urasync_l0.v2 import InOrderQueue
from urasync_l0.version import __version__ as __version__
from urasync_l0.ze.host_wait import INFINITE

__all__ = [
    "INFINITE",
    "KEEP_EVERYTHING",
    "Allocation",
    "Command",
    "Context",
    "Device",
    "DeviceLostError",
    "DeviceNotFoundError",
    "DriverNotFoundError",
    "Event",
    "EventProfile",
    "EventStatus",
    "ExecutionInfo",
    "ImmediateQueue",
    "InOrderQueue",
    "InvalidEventError",
    "InvalidEventWaitListError",
    "InvalidMemObjectError",
    "InvalidUsmSizeError",
    "InvalidValueError",
    "Kernel",
    "LoaderNotFoundError",
    "LoaderTooOldError",
    "LocalMemory",
    "OutOfHostMemoryError",
    "OutOfMemoryError",
    "Platform",
    "Pool",
    "PoolStatistics",
    "Program",
    "Queue",
    "QueueFlag",
    "Recording",
    "ReusePolicy",
    "Snapshot",
    "SnapshotError",
    "UnsupportedFeatureError",
    "UrError",
    "UrResult",
    "UsmPoolFlag",
    "UsmType",
    "adapter_names",
    "default_context",
    "read_snapshot",
    "record_allocations",
    "serve_pools",
    "stop_serving_pools",
    "take_snapshot",
    "use_pool",
    "write_snapshot",
    "write_snapshot_at_exit",
    "write_snapshot_on_signal",
]
