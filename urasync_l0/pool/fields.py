# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every allocation and free reads of queues, contexts and the registry of pools.

Bases of the classes that have the rest, so that their twins in C read these without a look-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threading import Lock

    from urasync_l0.pool.block import Block
    from urasync_l0.pool.observer import Observer
    from urasync_l0.pool.order import (
        MarkerEvent,
        OrderDomain,
        QueueOperations,
        QueueOrder,
    )

Clock = Mapping["QueueOrder", int]

NOTHING: Clock = MappingProxyType({})
"""The clock of a queue that has waited for nobody."""

EVERYTHING = 2**63
"""The completed mark of a closed queue: above any number that a queue reaches."""


class MarkFields:
    """Of a `Mark`: a command's number on a queue, and the clock that the queue had there."""

    __slots__ = ("clock", "number", "order")
    order: QueueOrder
    number: int
    clock: Clock


class OrderFields:
    """Of a `QueueOrder`: its id, its domain, its lock, what can be asked of its list, and the
    markers, the numbers and the clock that ``order`` explains."""

    __slots__ = ("clock", "completed", "domain", "id", "lock", "markers", "operations", "sequence")
    domain: OrderDomain
    lock: Lock
    operations: QueueOperations
    markers: list[MarkerEvent]
    id: int
    sequence: int
    completed: int
    clock: Clock


class DomainFields:
    """Of an `OrderDomain`: the lock of the completed marks, a number that changes whenever one of
    them moves, and how many `HeldSignal` hold one."""

    __slots__ = ("epoch", "held_signals", "lock")
    lock: Lock
    epoch: int
    held_signals: int


class CurrentFields:
    """Of a `CurrentPool`: the pool that the usual allocation reads."""

    __slots__ = ("pool",)
    pool: Any


class RegistryFields:
    """Of a `PoolRegistry`: the blocks in use by their addresses, and who is told of every call."""

    __slots__ = ("live", "observer")
    live: dict[int, Block]
    observer: Observer | None
