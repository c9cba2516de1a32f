# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which pool serves the allocations that name none: for a device, or for a part of a program.

`Context.set_current_pool` chooses for a device, whoever allocates; `use_pool` for what the caller
does in a ``with`` block.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast

from urasync_l0.argument import checked_instance
from urasync_l0.device import Device
from urasync_l0.enums import UsmType
from urasync_l0.pool.structure import CurrentFields
from urasync_l0.result import InvalidValueError
from urasync_l0.usm_pool import Pool


class _TheLongWay:
    """Stands where a usual call looks for the pool, while somebody is in a `use_pool` block: a pool
    that prepares its memory sends every call the long way, which looks again."""

    prepares = True


_THE_LONG_WAY = cast(Pool, _TheLongWay())


@dataclass(eq=False, slots=True)
class _Block:
    """A `use_pool` block. It may be over and yet the innermost: in what copied the caller's context
    variables, or where a generator left it in another context. ``pool`` is None then."""

    pool: Pool | None
    places: frozenset[CurrentPool]
    outer: _Block | None


_innermost: ContextVar[_Block | None] = ContextVar("urasync_l0.use_pool", default=None)


class CurrentPool(CurrentFields):
    """Which pool serves the allocations on a device that name none. Any thread may call.

    Attributes
    ----------
    default
        The device's own pool.
    pool
        What the usual call reads: the device's current pool, unless somebody is in a `use_pool`
        block. Everybody else calls `chosen`.
    """

    __slots__ = ("_blocks", "_for_all", "_lock", "default")
    pool: Pool

    def __init__(self, default: Pool) -> None:
        self.default = default
        self.pool = default
        self._for_all = default
        self._blocks = 0
        self._lock = threading.Lock()

    def chosen(self) -> Pool:
        """The pool that serves the caller."""
        block = _innermost.get() if self._blocks else None
        while block is not None:
            pool = block.pool
            if pool is not None and self in block.places and not pool.core.is_closed:
                return pool
            block = block.outer
        return self._for_all

    def exchange(self, pool: Pool) -> Pool:
        """Let a pool serve the device for all; return the one before."""
        with self._lock:
            before, self._for_all = self._for_all, pool
            self._show()
            return before

    def replace(self, pool: Pool, successor: Pool) -> None:
        """Let a successor serve the device for all if the pool does now."""
        with self._lock:
            if self._for_all is pool:
                self._for_all = successor
                self._show()

    def count_blocks(self, change: int) -> None:
        """Note that a `use_pool` block begins or ends in some thread."""
        with self._lock:
            self._blocks += change
            self._show()

    def _show(self) -> None:
        self.pool = _THE_LONG_WAY if self._blocks else self._for_all


@contextmanager
def use_pool(pool: Pool, device: Device | int | None = None) -> Iterator[Pool]:
    """Let a pool serve the device and shared memory that the caller's block allocates by no name.

    That includes libraries that use the pool's context and know nothing of the pool. The choice is
    a context variable: other threads keep theirs, also those that the block starts; asyncio tasks
    that it starts share it until the block ends, and so do its threads where Python hands the
    context on to threads (``sys.flags.thread_inherit_context``, on in a free-threaded Python). A
    generator that is suspended in a block leaves the pool to whoever runs it. Blocks nest, and may
    end in any order; the innermost counts. A pool that is closed meanwhile gives way to the next;
    leaving the block does not close it. Host memory that names no pool comes from the context's
    host pool all the same. While any thread is in such a block, allocations on the device that name
    no pool take a little longer.

    Parameters
    ----------
    pool
        The pool, which ``as`` gives.
    device
        The device that it serves; None for that of the pool, or for all of its context if it was
        made without one.

    Raises
    ------
    InvalidValueError
        If the pool is closed, or does not serve both kinds of memory of the device.
    InvalidDeviceError
        If the context does not have the device.
    """
    context = checked_instance("pool", pool, Pool).context
    if context.native.attention:
        context.native.attend()
    if pool.core.is_closed:
        raise InvalidValueError(f"{pool!r} is closed and cannot serve a block.")
    if device is None and pool.device is None:
        served = [part for each in context.native.devices for part in (each, *each.compute_slices)]
    else:
        served = [context.member(pool.device if device is None else device)]
    for each in served:
        for kind in (UsmType.DEVICE, UsmType.SHARED):
            pool.require(context, (kind, context.position(each)), each)
    places = frozenset(map(context.current_of, served))
    block = _Block(pool, places, _innermost.get())
    for place in places:
        place.count_blocks(1)
    _innermost.set(block)
    try:
        yield pool
    finally:
        block.pool = None
        for place in places:
            place.count_blocks(-1)
        # No `reset`: generators end out of order, and in other contexts than they began in.
        innermost = _innermost.get()
        while innermost is not None and innermost.pool is None:
            innermost = innermost.outer
        _innermost.set(innermost)
