# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The front of a queue: where an allocation or a free that names nothing but a size or an
allocation meets the pool, and an event that waits for none the queue's list.

In C, a method that is marked with `at_once` first tries what most calls are: no events to wait for,
no pool that is new, no object dropped meanwhile, and at hand what the call takes: pooled memory, a
signal that can be appended; or a wait for a few events and nothing else. Everything else is left to
the method as it stands, which is the reference: with the usual call it does the same. Here the mark
changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sized
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from urasync_l0.enums import UsmType
    from urasync_l0.pool.held_block import HeldBlock
    from urasync_l0.pool.held_signal import HeldSignal
    from urasync_l0.pool.list_front import ListFront
    from urasync_l0.pool.order import QueueOrder
    from urasync_l0.pool.registry import PoolRegistry

Method = TypeVar("Method", bound=Callable[..., Any])


class Route:
    """Where an allocation of one kind on one queue comes from: ``current`` names the pool in its
    attribute ``pool``."""

    __slots__ = ("command", "current", "key", "kind")

    def __init__(self, kind: UsmType, key: tuple[UsmType, int], current: Any, command: Any) -> None:
        self.kind = kind
        self.key = key
        self.current = current
        self.command = command


class QueueFront:
    """What the usual calls read of a queue.

    ``_attention`` is empty unless something is not as usual, and so is ``_notes``, where addresses
    need a note when they are allocated; ``_routes`` has the queue's by kind; ``_held_type`` is what
    an allocation returns, ``_event_type`` an event; ``_dropped`` is where these go when dropped.
    ``command_list`` is what events are appended to.
    """

    __slots__ = (
        *("_attention", "_dropped", "_event_type", "_held_type", "_notes", "_registry", "_routes"),
        *("command_list", "context", "order"),
    )
    _attention: Sized
    _dropped: deque[Any]
    _event_type: type[HeldSignal]
    _held_type: type[HeldBlock]
    command_list: ListFront
    context: Any
    _notes: Sized
    _registry: PoolRegistry
    _routes: dict[UsmType, Route]
    order: QueueOrder


def at_once(action: str) -> Callable[[Method], Method]:
    """Mark a method as one that may be done at once: "alloc_device", "alloc_shared", "alloc_host",
    "alloc_address", "free", "record" or "wait" of a queue, "free_own" of an allocation, or
    "append_marker" of a queue's list."""
    del action
    return _same


def _same(method: Method) -> Method:
    return method
