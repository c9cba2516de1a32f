# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool as users hold it."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from urasync_l0 import loggers
from urasync_l0.device import Device
from urasync_l0.enums import NO_POOL_FLAGS, UsmPoolFlag, UsmType
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.pool import HeapKey, PoolStatistics
from urasync_l0.pool import Pool as PoolCore
from urasync_l0.result import (
    InvalidArgumentError,
    InvalidValueError,
    UrError,
)
from urasync_l0.transfer import Advise, Fill

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.queue import Queue

KEEP_EVERYTHING = 2**64 - 1
"""A release threshold, in bytes, that lets a pool keep all its memory at synchronisations."""


class _PoolFinalizer(Finalizer):
    __slots__ = ("core",)
    core: PoolCore

    def run(self, context: NativeContext) -> None:
        if context.unwatch(self) and not self.core.is_closed:
            # What the driver refuses to take back stays with the core until the context closes.
            with suppress(UrError):
                self.core.close()


class Pool:
    """Memory handed out and taken back in queue order. Any thread may use it. Sizes are bytes.

    Made by `Context.create_pool`; the context and each device have one of their own. A pool that is
    closed or dropped gives its memory back when its last allocation is freed and complete.

    Attributes
    ----------
    context
        The context that it belongs to.
    device
        The device whose memory it gives; None when it serves all devices, or the host only.
    flags
        What it does with every allocation that it hands out.
    """

    def __init__(
        self,
        context: Context,
        core: PoolCore,
        device: Device | None,
        keys: frozenset[HeapKey],
        *,
        is_default: bool,
        flags: UsmPoolFlag = NO_POOL_FLAGS,
    ) -> None:
        self.context = context
        self.core = core
        self.device = device
        self.keys = keys
        self.is_default = is_default
        self.flags = flags
        self.buffer: object = None  # the allocation that the pool lies in lives as long as the pool
        self.prepares = bool(
            flags & (UsmPoolFlag.ZERO_INITIALIZE_BLOCK | UsmPoolFlag.READ_ONLY_EXP)
        )
        native = self._native = context.native
        context.pools_of_cores[core] = self
        self._finalizer: _PoolFinalizer | None = None
        if not is_default:
            self._finalizer = _PoolFinalizer(self, native.attention.append)
            self._finalizer.core = core
            native.watch(self._finalizer)

    def __repr__(self) -> str:
        numbers = self.statistics()
        state = ", closed" if self.core.is_closed else ""
        return f"Pool({self.name!r}, {numbers.used} of {numbers.reserved} bytes in use{state})"

    @property
    def name(self) -> str:
        """What messages call the pool."""
        return self.core.name

    @property
    def used_bytes(self) -> int:
        """Bytes of the allocations that are not freed yet, each rounded up to 256."""
        return self.statistics().used

    @property
    def reserved_bytes(self) -> int:
        """Bytes of driver memory that the pool holds."""
        return self.statistics().reserved

    @property
    def release_threshold(self) -> int:
        """Bytes that the pool keeps at a synchronisation; idle memory above goes to the driver."""
        return self.core.release_threshold

    @release_threshold.setter
    def release_threshold(self, nbytes: int) -> None:
        self.core.release_threshold = checked_size("release_threshold", nbytes)

    @property
    def maximum_size(self) -> int:
        """Limit in bytes on the driver memory that the pool holds; 0 is no limit."""
        return self.core.maximum_size

    @maximum_size.setter
    def maximum_size(self, nbytes: int) -> None:
        self.core.maximum_size = checked_size("maximum_size", nbytes)

    def trim_to(self, nbytes: int, *, sync: Queue | Literal["all"] | None = None) -> None:
        """Give idle memory back to the driver while more than ``nbytes`` bytes are reserved.

        Never touches memory that is in use or freed but not complete, and by itself never blocks.

        Parameters
        ----------
        nbytes
            Bytes to keep.
        sync
            A queue to finish first, so that what it freed is complete, or "all" for every queue of
            the context.
        """
        native = self._native
        if native.attention:
            native.attend()
        if sync == "all":
            native.synchronise_all()
        elif sync is not None:
            if not hasattr(sync, "finish"):
                raise TypeError(f'sync must be a Queue, "all" or None, not {sync!r}.')
            sync.finish()
        self.core.trim_to(checked_size("nbytes", nbytes))

    def statistics(self) -> PoolStatistics:
        """The pool's numbers at this moment."""
        return self.core.statistics()

    def reset_peak_used(self) -> None:
        """Set the peak of used bytes to the present value."""
        self.core.reset_peak_used()

    def reset_peak_reserved(self) -> None:
        """Set the peak of reserved bytes to the present value."""
        self.core.reset_peak_reserved()

    def preparation(
        self, kind: UsmType, address: int, nbytes: int, device: Device
    ) -> list[Fill | Advise]:
        """The commands that make an allocation what the flags promise, in their order."""
        steps: list[Fill | Advise] = []
        if self.flags & UsmPoolFlag.READ_ONLY_EXP and kind is UsmType.SHARED:
            steps.append(Advise(address, nbytes, device.handle))
        if self.flags & UsmPoolFlag.ZERO_INITIALIZE_BLOCK:
            steps.append(Fill(address, b"\0", nbytes))
        return steps

    def require(self, context: Context, key: HeapKey, device: Device | None) -> PoolCore:
        """The core of the pool, if it can serve an allocation.

        Raises
        ------
        InvalidValueError
            If the pool belongs to another context or another device.
        InvalidArgumentError
            If host memory is asked of a pool that has none.
        """
        if self.context is not context:
            raise InvalidValueError(f"{self!r} belongs to another context.")
        is_its_own = self.device is None or device is None or self.device is device
        if key not in self.keys or not is_its_own:
            kind = key[0]
            if kind is UsmType.HOST:
                raise InvalidArgumentError(
                    f"{self!r} serves a device and has no host memory; name no pool, or one that "
                    "was made without a device."
                )
            raise InvalidValueError(f"{self!r} has no {kind.name} memory for {device!r}.")
        return self.core

    def close(self) -> None:
        """Refuse new allocations; the rest goes when its last allocation is freed and complete.

        A device whose current pool this was goes back to its default. On a lost device the memory
        goes with the context, and it is no error that it cannot go before.

        Raises
        ------
        InvalidValueError
            If the pool is closed already, or a default pool, which lives as long as its context.
        """
        native = self._native
        if native.attention and native.lost is None:
            native.attend()
        if self.is_default or self._finalizer is None:
            raise InvalidValueError(f"{self!r} lives as long as its context and is not closed.")
        self.leave_current()
        is_end = native.lost is not None and not self.core.is_closed
        try:
            self.core.close()
        except UrError:
            if not is_end:
                raise
        finally:
            # Closed it is all the same: what the driver did not take back is tried again later.
            native.unwatch(self._finalizer)
            loggers.POOL.debug("Closed %r", self)

    def leave_current(self) -> None:
        """Where this is the current pool of a device, let the default be so again."""
        for current in list(self.context.current_pools.values()):
            current.replace(self, current.default)

    __reduce_ex__ = not_copied("Make another with Context.create_pool; statistics() can be sent.")

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: Any) -> None:
        if not self.core.is_closed and not self._native.is_closed:
            self.close()


def checked_size(name: str, nbytes: int) -> int:
    """Return a size in bytes; raise InvalidValueError if it does not fit 64 bits."""
    nbytes = operator.index(nbytes)
    if not 0 <= nbytes < 2**64:
        raise InvalidValueError(f"{name} is {nbytes}; it must be 0 to 2**64 - 1 bytes.")
    return nbytes
