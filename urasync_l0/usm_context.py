# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of a context without a queue, and which pool serves those who name none.

Memory that the host asks for is usable at once, by every queue of the context: it only comes from
what is known complete. When the host gives it back, the call waits for what the queues were given
so far, as the text of ``urUSMFree`` demands.
"""

from __future__ import annotations

import operator
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast
from weakref import WeakValueDictionary

from urasync_l0.allocation import Allocation, ContextAllocation
from urasync_l0.argument import checked_instance, checked_kind
from urasync_l0.current_pool import CurrentPool
from urasync_l0.device import Device
from urasync_l0.enums import UsmType
from urasync_l0.native_context import NativeContext
from urasync_l0.pool import GRANULE, Block, HeapKey
from urasync_l0.pool import Pool as PoolCore
from urasync_l0.result import InvalidMemObjectError, InvalidValueError
from urasync_l0.usm_memory import ALIGNMENT, HOST_INDEX
from urasync_l0.usm_pool import Pool
from urasync_l0.wait_list import NO_WAITS
from urasync_l0.ze.host_wait import INFINITE

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.queue import Queue


class FoundAllocation(NamedTuple):
    """What is known about an address.

    Attributes
    ----------
    base
        Where the allocation begins.
    nbytes
        The size that was asked for, in bytes.
    kind
        DEVICE, SHARED or HOST.
    device
        The device that it belongs to; None for host memory.
    pool
        Where it comes from; None when nobody holds that pool any more.
    """

    base: int
    nbytes: int
    kind: UsmType
    device: Device | None
    pool: Pool | None


class UsmContext(ABC):
    """A context as far as it allocates without a queue; `Context` adds the rest.

    Every context is a `Context`, which is what allocations and pools are given.
    """

    native: NativeContext
    devices: Sequence[Device]
    host_pool: Pool
    current_pools: dict[Device, CurrentPool]
    noted_devices: dict[int, tuple[int, Device]]
    pools_of_cores: WeakValueDictionary[PoolCore, Pool]
    _preparing: dict[int, Queue]
    _preparing_lock: threading.Lock

    @abstractmethod
    def member(self, device: Device | int | None) -> Device:
        """A device of the context, by default the first, or the one at a place."""

    @abstractmethod
    def current_of(self, device: Device) -> CurrentPool:
        """What serves a device of the context."""

    @abstractmethod
    def position(self, device: Device | int | None) -> int:
        """The place of a device, by default the first, among those of the context."""

    @abstractmethod
    def create_queue(self, device: Device | int | None = None) -> Queue:
        """A new queue on a device."""

    # -- the current pool --------------------------------------------------------------------------

    def current_pool(self, device: Device | int | None = None) -> Pool:
        """The pool that serves what names none on a device, by default the first: that of
        `use_pool` where the caller is in such a block, else that of `set_current_pool`."""
        return self.current_of(self.member(device)).chosen()

    def set_current_pool(self, pool: Pool, device: Device | int | None = None) -> None:
        """Let a pool serve the device and shared memory of a device for all who name none.

        That includes libraries that use the context and know nothing of the pool. `default_pool`
        can be set again; a pool that is closed gives way to it by itself. Host memory that names
        no pool comes from the context's host pool all the same.

        Raises
        ------
        InvalidValueError
            If the pool belongs to another context, is closed, or does not serve both kinds of
            memory of the device.
        InvalidDeviceError
            If the context does not have the device.
        """
        if self.native.attention:
            self.native.attend()
        chosen = self.member(device)
        position = self.position(chosen)
        checked = checked_instance("pool", pool, Pool)
        for kind in (UsmType.DEVICE, UsmType.SHARED):
            checked.require(cast("Context", self), (kind, position), chosen)
        current = self.current_of(chosen)
        before = current.exchange(pool)
        # Looked at only now: whoever closes it from here on finds it to be current.
        if pool.core.is_closed:
            current.replace(pool, current.default if before.core.is_closed else before)
            raise InvalidValueError(f"{pool!r} is closed and cannot serve a device.")

    # -- allocate and free -------------------------------------------------------------------------

    def alloc_device(
        self,
        nbytes: int,
        device: Device | int | None = None,
        pool: Pool | None = None,
        alignment: int = 0,
    ) -> Allocation:
        """Allocate device memory that every queue of the context can use at once.

        Waits a moment for frees that are nearly complete rather than ask the driver for more, for
        zeros if the pool gives such memory, and for longer only when no other memory is left.

        Parameters
        ----------
        nbytes
            Size in bytes, at least 1.
        device
            The device; None for the first.
        pool
            Where it comes from; None for the device's current pool.
        alignment
            Bytes that the address is a multiple of: a power of two up to 65536, or 0. Up to 256 it
            is so anyway; for more the allocation gets driver memory of its own.

        Raises
        ------
        InvalidUsmSizeError
            If the size is 0 or above the device's largest allocation.
        OutOfMemoryError
            If there is no memory left, after everything that may free some was tried.
        InvalidValueError
            If the pool belongs to another context or device, or is closed, or if it cannot give
            the alignment.
        InvalidDeviceError
            If the context does not have the device.
        """
        return self._alloc(UsmType.DEVICE, device, nbytes, pool, alignment)

    def alloc_shared(
        self,
        nbytes: int,
        device: Device | int | None = None,
        pool: Pool | None = None,
        alignment: int = 0,
    ) -> Allocation:
        """Allocate memory that the host and a device share; as `alloc_device`."""
        return self._alloc(UsmType.SHARED, device, nbytes, pool, alignment)

    def alloc_host(self, nbytes: int, pool: Pool | None = None, alignment: int = 0) -> Allocation:
        """Allocate host memory that all devices can use; as `alloc_device`.

        Without a pool it comes from the context's host pool.

        Raises
        ------
        InvalidArgumentError
            If the pool serves a device, and so has no host memory.
        """
        return self._alloc(UsmType.HOST, None, nbytes, pool, alignment)

    def _alloc(
        self,
        kind: UsmType,
        device: Device | int | None,
        nbytes: int,
        pool: Pool | None,
        alignment: int,
    ) -> Allocation:
        chosen = None if kind is UsmType.HOST else self.member(device)
        block, served = self.usm_alloc(kind, chosen, nbytes, pool, alignment)
        return ContextAllocation(block, nbytes, kind, served, chosen)

    def usm_alloc(
        self,
        kind: UsmType,
        device: Device | None,
        nbytes: int,
        pool: Pool | None,
        alignment: int,
    ) -> tuple[Block, Pool]:
        """Allocate memory that nobody's collection frees; return it and the pool it came from.

        Arguments and errors as `alloc_device`; ``device`` is None for host memory alone.
        """
        native = self.native
        if native.attention:
            native.attend()
        nbytes, alignment = operator.index(nbytes), operator.index(alignment)
        position = HOST_INDEX if device is None else self.position(device)
        key = (checked_kind(kind), position)
        if not 0 <= alignment <= ALIGNMENT or alignment & (alignment - 1):
            raise InvalidValueError(
                f"An alignment of {alignment} bytes is no power of two up to {ALIGNMENT}."
            )
        if pool is not None:
            checked_instance("pool", pool, Pool).require(cast("Context", self), key, device)
        elif device is None:
            pool = self.host_pool
        else:
            pool = self.current_of(device).chosen()
        block = self._usm_alloc(key, device, nbytes, pool, alignment)
        if device is not None and pool.device is None:
            self.note_device(block, device)
        return block, pool

    def _usm_alloc(
        self, key: HeapKey, device: Device | None, nbytes: int, pool: Pool, alignment: int
    ) -> Block:
        core = pool.core
        # Zeros and advice are a queue's work, and complete when the memory is handed out.
        queue = self._preparing_queue(key[1]) if pool.prepares else None
        order = self.native.host_order if queue is None else queue.order
        block = core.allocate(order, key, nbytes, own=alignment > GRANULE)
        if alignment and block.address % alignment:
            core.give_back(block)
            raise InvalidValueError(
                f"{pool!r} lies in a buffer and gives no alignment of {alignment} bytes."
            )
        if queue is not None:
            prepared = queue.prepare(pool, key[0], block, nbytes, NO_WAITS, event=True)
            assert prepared is not None  # asked for
            try:
                prepared.wait(INFINITE)
                self.native.registry.completed(prepared.mark)
            except BaseException:
                # It is on its way all the same, so the memory is pending, not idle.
                self.native.registry.claim(block.address)
                core.free(block, order, order.sequence + 1)
                raise
            finally:
                prepared.release()
        return block

    @property
    def preparing_queues(self) -> int:
        """How many queues the context has for itself, to zero memory without a queue."""
        return len(self._preparing)

    def _preparing_queue(self, position: int) -> Queue:
        """The context's own queue on a device, by its place; host memory uses the first device's.

        It is made when the first pool needs it, and lives as long as the context.
        """
        position = max(position, 0)
        with self._preparing_lock:
            queue = self._preparing.get(position)
            if queue is None:
                queue = self._preparing[position] = self.create_queue(self.native.devices[position])
            return queue

    def write_at_once(self, address: int, source: int, nbytes: int) -> None:
        """Copy to memory that was just allocated; complete on return."""
        copied = self._preparing_queue(0).memcpy(address, source, nbytes, event=True)
        assert copied is not None  # asked for
        try:
            copied.wait()
        finally:
            copied.release()

    def free(self, target: Allocation | int) -> None:
        """Give memory back, whoever allocated it, once the context's queues have done all that
        they were given before this call. Blocks until then; `Queue.free` does not.

        Raises
        ------
        InvalidMemObjectError
            If the address was given by no pool of the context, lies inside an allocation, or is
            freed already.
        """
        native = self.native
        if native.attention:
            native.attend()
        if isinstance(target, Allocation):
            block = target.block
            born = block.born  # other uses of the block come later: of a live one this is it
            target.require_live()
            target.require_context(cast("Context", self))
            if not native.registry.claim_if(block, born):
                raise InvalidMemObjectError(f"{target!r} cannot be freed again.")
        else:
            block = native.registry.claim(operator.index(target))
        try:
            native.has_passed(native.places(), INFINITE)
        except BaseException:
            native.registry.restore(block)
            raise
        block.heap.pool.free(block, native.host_order, 1)

    # -- what is known about an address ------------------------------------------------------------

    def find_allocation(self, address: int) -> FoundAllocation | None:
        """Tell what an address belongs to, which may lie inside an allocation; None for nothing.

        Answers from the pools' own records, whatever the driver says about mapped memory.
        """
        block = self.native.registry.find(operator.index(address))
        if block is None:
            return None
        kind, position = block.heap.key
        pool = self.pools_of_cores.get(block.heap.pool)
        device = None if position == HOST_INDEX else self._device_of_block(block, position, pool)
        return FoundAllocation(block.address, block.requested, kind, device, pool)

    def note_device(self, block: Block, device: Device) -> None:
        """Note for which device memory was allocated, if its place alone does not tell."""
        position = block.heap.key[1]
        noted = self.noted_devices
        if position == HOST_INDEX or device is self.native.devices[position]:
            noted.pop(block.address, None)
            return
        noted[block.address] = block.born, device
        if len(noted) > 2 * len(self.native.registry.live) + 64:
            self._forget_devices()

    def _forget_devices(self) -> None:
        live = self.native.registry.live
        for address, (born, _) in list(self.noted_devices.items()):
            block = live.get(address)
            if block is None or block.born != born:
                self.noted_devices.pop(address, None)

    def _device_of_block(self, block: Block, position: int, pool: Pool | None) -> Device:
        """Devices with the same memory are told apart by who allocated, or by the pool."""
        if pool is not None and pool.device is not None:
            return pool.device
        born, device = self.noted_devices.get(block.address, (None, None))
        if device is not None and born == block.born:
            return device
        return self.native.devices[position]
