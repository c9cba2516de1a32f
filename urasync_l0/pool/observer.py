# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Somebody who is told of every allocation and free while a recording is on, and only then.

Each registry has an ``observer``, None as a rule, so that the hot path pays one look at it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.order import Mark, QueueOrder
    from urasync_l0.pool.registry import PoolRegistry


class Observer(Protocol):
    """What a recording is told. Called under locks: must be quick, and take no lock itself."""

    def allocated(self, block: Block, order: QueueOrder) -> None:
        """A block was handed out for ``order``'s queue. The pool's lock is held."""

    def undone(self, block: Block) -> None:
        """The hand-out of a block was undone. The pool's lock is held."""

    def freed(self, block: Block, order: QueueOrder) -> None:
        """A block was freed on ``order``'s queue. The pool's lock is held."""

    def signalled(self, mark: Mark) -> None:
        """The program asked for an event, which stands at ``mark``."""

    def waits(self, order: QueueOrder, mark: Mark) -> None:
        """The program lets ``order``'s queue wait for the event at ``mark``."""

    def synchronised(self, order: QueueOrder) -> None:
        """The host has waited for all of ``order``'s queue."""


_lock = threading.Lock()
_registries: WeakSet[PoolRegistry] = WeakSet()
_current: Observer | None = None


def enter_registry(registry: PoolRegistry) -> Observer | None:
    """Enter a new registry; return the observer that it begins with."""
    with _lock:
        _registries.add(registry)
        return _current


def observe_registries(observer: Observer | None) -> None:
    """Let every registry of the process, also those to come, have this observer."""
    global _current
    with _lock:
        _current = observer
        for registry in _registries:
            registry.observer = observer
