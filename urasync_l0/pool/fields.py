# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every allocation and free reads of queues, contexts and the registry of pools.

Bases of the classes that have the rest, so that their twins in C read these without a look-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.observer import Observer
    from urasync_l0.pool.order import QueueOrder

Clock = Mapping["QueueOrder", int]

NOTHING: Clock = MappingProxyType({})
"""The clock of a queue that has waited for nobody."""

EVERYTHING = 2**63
"""The completed mark of a closed queue: above any number that a queue reaches."""


class OrderFields:
    """Of a `QueueOrder`: its id, and the numbers and the clock that ``order`` explains."""

    __slots__ = ("clock", "completed", "id", "sequence")
    id: int
    sequence: int
    completed: int
    clock: Clock


class DomainFields:
    """Of an `OrderDomain`: a number that changes whenever any queue's completed mark moves."""

    __slots__ = ("epoch",)
    epoch: int


class RegistryFields:
    """Of a `PoolRegistry`: the blocks in use by their addresses, and who is told of every call."""

    __slots__ = ("live", "observer")
    live: dict[int, Block]
    observer: Observer | None
