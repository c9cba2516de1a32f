# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pool core: memory in queue order. Pure Python; knows no driver and no adapter."""

from urasync_l0.pool.block import GRANULE, BlockState
from urasync_l0.pool.driver_memory import DriverMemory, PhysicalPages, VirtualMemory
from urasync_l0.pool.heap_source import STEP, HeapSource, UserMemory
from urasync_l0.pool.order import Mark, MarkerEvent, OrderDomain, QueueOperations, QueueOrder
from urasync_l0.pool.pool import HeapKey, Pool
from urasync_l0.pool.registry import PoolRegistry
from urasync_l0.pool.reuse_policy import ReusePolicy
from urasync_l0.pool.statistics import PoolStatistics
from urasync_l0.pool.structure import (
    Block,
    DroppedBlock,
    HeldBlock,
    HeldSignal,
    ListFront,
    QueueFront,
    Route,
    Signal,
    at_once,
)

__all__ = [
    "GRANULE",
    "STEP",
    "Block",
    "BlockState",
    "DriverMemory",
    "DroppedBlock",
    "HeapKey",
    "HeapSource",
    "HeldBlock",
    "HeldSignal",
    "ListFront",
    "Mark",
    "MarkerEvent",
    "OrderDomain",
    "PhysicalPages",
    "Pool",
    "PoolRegistry",
    "PoolStatistics",
    "QueueFront",
    "QueueOperations",
    "QueueOrder",
    "ReusePolicy",
    "Route",
    "Signal",
    "UserMemory",
    "VirtualMemory",
    "at_once",
]
