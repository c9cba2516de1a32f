# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers: Unified Runtime's memory objects, over memory of the pools.

A buffer is nothing but memory of its context with a size: device memory if all devices of the
context share it, host memory if they do not, for that is what each of them reaches. Who has its
address can use it like any other. It is given back when the buffer and its parts are closed and the
queues have passed what they had been given by then.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from urasync_l0.allocation import DroppedContextAllocation
from urasync_l0.device import distinct_handles
from urasync_l0.enums import Command, MapFlag, MemFlag, UsmType
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.pool import Block, HeldBlock, QueueOrder
from urasync_l0.result import (
    InvalidMemObjectError,
    InvalidSizeError,
    InvalidValueError,
    UrError,
    UrResult,
)
from urasync_l0.transfer import Copy
from urasync_l0.ze import memory as ze_memory

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event


class PoolMemory(HeldBlock):
    """Memory of a pool, freed when nobody holds this object and the queues have passed what they
    had been given by then."""

    __slots__ = ()
    dropped_type = DroppedContextAllocation

    def __init__(self, context: NativeContext, block: Block) -> None:
        super().__init__(block, context.attention)


class _DroppedNativeMemory(Finalizer):
    __slots__ = ("address", "awaited")
    address: int
    awaited: Mapping[QueueOrder, int]

    def run(self, context: NativeContext) -> None:
        self.awaited = context.places()
        context.postponed.append(self)

    def attempt(self, context: NativeContext) -> bool:
        if not context.have_passed(self.awaited):
            return False
        if context.unwatch(self):
            self.close(context)
        return True

    def close(self, context: NativeContext) -> None:
        with context.loss:
            ze_memory.free(context.handle, self.address)


class NativeMemory:
    """Memory of the driver that was given to a buffer; freed as `PoolMemory`."""

    def __init__(self, context: NativeContext, address: int) -> None:
        finalizer = _DroppedNativeMemory(self, context.attention.append)
        finalizer.address = address
        context.watch(finalizer)


class HostPart(NamedTuple):
    """A part of a buffer that the host was given.

    Attributes
    ----------
    offset
        Where the part begins in the buffer.
    nbytes
        Its size.
    is_written
        Whether the host may change it.
    staging
        Host memory that stands for it, if it was allocated for that.
    """

    offset: int
    nbytes: int
    is_written: bool
    staging: PoolMemory | None


class Buffer:
    """A range of memory of a context. Any thread may use it. Sizes are bytes.

    Attributes
    ----------
    context
        The context that it belongs to.
    address
        Where it begins.
    nbytes
        Its size.
    is_host
        Whether the host can use it at its address.
    access
        What kernels may do with it, as whoever made it said; Level Zero does not see to it.
    """

    def __init__(
        self,
        context: Context,
        address: int,
        nbytes: int,
        *,
        is_host: bool,
        memory: PoolMemory | NativeMemory | None,
        host_address: int | None = None,
        access: MemFlag = MemFlag.READ_WRITE,
    ) -> None:
        self.access = access
        self.context = context
        self.address = address
        self.nbytes = nbytes
        self.is_host = is_host
        self._memory = memory
        self._host_address = host_address
        self._mapped: dict[int, list[HostPart]] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    __reduce_ex__ = not_copied("Copy its bytes to the host.")

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else ""
        return f"<Buffer of {self.nbytes} bytes at {self.address:#x}{state}>"

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its context was."""
        return self._is_closed or self.context.is_closed

    def require_live(self) -> None:
        """Raise InvalidMemObjectError if the buffer is closed."""
        if self.is_closed:
            raise InvalidMemObjectError(f"{self!r} cannot be used any more.")

    def require(self, queue: Queue, offset: int, nbytes: int) -> int:
        """The address of a part of the buffer, for a command of a queue.

        Raises
        ------
        InvalidMemObjectError
            If the buffer is closed, or belongs to another context.
        InvalidSizeError
            If the part is empty, or goes beyond the end.
        """
        self.require_live()
        if self.context is not queue.context:
            raise InvalidMemObjectError(f"{self!r} belongs to another context than {queue!r}.")
        if not self._has(offset, nbytes):
            raise InvalidSizeError(f"{self!r} has no {nbytes} bytes at {offset}.")
        return self.address + offset

    def _has(self, offset: int, nbytes: int) -> bool:
        return nbytes > 0 and 0 <= offset <= self.nbytes - nbytes

    def part(self, offset: int, nbytes: int, access: MemFlag | None = None) -> Buffer:
        """A buffer over a part of this one, which keeps the memory.

        Parameters
        ----------
        access
            What kernels may do with it; None for the same as with the whole.

        Raises
        ------
        InvalidMemObjectError
            If the buffer is closed.
        InvalidValueError
            If that is not the whole's, which allows less than reading and writing.
        UrError
            With INVALID_BUFFER_SIZE if the part is empty or goes beyond the end.
        """
        self.require_live()
        if access is None:
            access = self.access
        elif access is not self.access is not MemFlag.READ_WRITE:
            raise InvalidValueError(
                f"{self!r} is {self.access.name}; no part of it can be {access.name}."
            )
        offset, nbytes = operator.index(offset), operator.index(nbytes)
        if not self._has(offset, nbytes):
            raise UrError(
                f"{self!r} has no part of {nbytes} bytes at {offset}.",
                code=UrResult.INVALID_BUFFER_SIZE,
            )
        host = self._host_address
        return Buffer(
            self.context,
            self.address + offset,
            nbytes,
            is_host=self.is_host,
            memory=self._memory,
            host_address=None if host is None else host + offset,
            access=access,
        )

    def close(self) -> None:
        """Give it back when the queues have passed what they were given so far. Idempotent."""
        with self._lock:
            self._is_closed = True
            self._memory = None
            self._mapped = {}
        self.context.native.run_finalizers()

    # -- mapping -----------------------------------------------------------------------------------

    @property
    def is_mapped_in_place(self) -> bool:
        """Whether the host is given the buffer's own memory."""
        return self.is_host and self._host_address is None

    def map(
        self,
        queue: Queue,
        map_flags: int,
        offset: int,
        nbytes: int,
        wait: Iterable[Event],
        event: bool,
    ) -> tuple[int, Event | None]:
        """Give the host a part of the buffer, in a queue's order: its address, and the event.

        The host may use the address when the event is complete. Errors as `require`.
        """
        source = self.require(queue, offset, nbytes)
        staging = None
        if self._host_address is not None:
            address = self._host_address + offset
        elif self.is_host:
            address = source
        else:
            address, _ = queue.enqueue_alloc(UsmType.HOST, nbytes)
            block = queue.native.registry.find(address)
            assert block is not None  # just allocated
            staging = PoolMemory(queue.native, block)
        steps = (Copy(address, source, nbytes),)
        is_read = not map_flags & MapFlag.WRITE_INVALIDATE_REGION
        mapped = self._enqueue(queue, steps if is_read else (), wait, event, Command.MEM_BUFFER_MAP)
        is_written = bool(map_flags & (MapFlag.WRITE | MapFlag.WRITE_INVALIDATE_REGION))
        with self._lock:
            part = HostPart(offset, nbytes, is_written, staging)
            self._mapped.setdefault(address, []).append(part)
        return address, mapped

    def unmap(self, queue: Queue, address: int, wait: Iterable[Event], event: bool) -> Event | None:
        """Take a part back that was mapped to an address, with what the host wrote.

        Raises
        ------
        InvalidMemObjectError
            If the buffer is closed, or belongs to another context.
        InvalidValueError
            If nothing is mapped to the address.
        """
        self.require(queue, 0, 1)
        part = self.forget(address)
        try:
            steps = (Copy(self.address + part.offset, address, part.nbytes),)
            unmapped = self._enqueue(
                queue, steps if part.is_written else (), wait, event, Command.MEM_UNMAP
            )
        except BaseException:
            with self._lock:
                self._mapped.setdefault(address, []).append(part)
            raise
        if part.staging is not None:
            queue.free(address)
        return unmapped

    def forget(self, address: int) -> HostPart:
        """Forget what was mapped last to an address, and return it.

        Raises
        ------
        InvalidValueError
            If nothing is mapped to the address.
        """
        with self._lock:
            parts = self._mapped.get(address)
            if parts is None:
                raise InvalidValueError(f"Nothing of {self!r} is mapped to {address:#x}.")
            part = parts.pop()
            if not parts:
                del self._mapped[address]
            return part

    def _enqueue(
        self,
        queue: Queue,
        steps: Sequence[Copy],
        wait: Iterable[Event],
        event: bool,
        command: Command,
    ) -> Event | None:
        if steps and not self.is_mapped_in_place:
            return queue.enqueue(steps, (), wait, event, command)
        return queue.place(wait, event, command)


def create_buffer(
    context: Context,
    nbytes: int,
    *,
    on_host: bool = False,
    content: int | None = None,
    host_address: int | None = None,
    access: MemFlag = MemFlag.READ_WRITE,
) -> Buffer:
    """A buffer over new memory of a context.

    Parameters
    ----------
    on_host
        Whether the host shall be able to use it at its address.
    content
        Where its first content is; copied before the call returns.
    host_address
        Where the host finds what it maps.
    access
        As the buffer's.

    Raises
    ------
    UrError
        With INVALID_BUFFER_SIZE if it has no bytes, or more than the devices can allocate.
    OutOfMemoryError
        If there is no memory left.
    """
    largest = min(device.max_allocation for device in context.devices)
    if not 0 < nbytes <= largest:
        raise UrError(
            f"A buffer of {nbytes} bytes; it can have 1 to {largest}.",
            code=UrResult.INVALID_BUFFER_SIZE,
        )
    is_host = on_host or len(distinct_handles(context.devices)) > 1
    kind, device = (UsmType.HOST, None) if is_host else (UsmType.DEVICE, context.devices[0])
    block, _ = context.usm_alloc(kind, device, nbytes, None, 0)
    memory = PoolMemory(context.native, block)
    if content is not None:
        context.write_at_once(block.address, content, nbytes)
    return Buffer(
        context,
        block.address,
        nbytes,
        is_host=is_host,
        memory=memory,
        host_address=host_address,
        access=access,
    )


def buffer_over(context: Context, address: int, *, is_owned: bool) -> Buffer:
    """A buffer over memory that exists, from an address to the end of its allocation.

    Parameters
    ----------
    is_owned
        Whether the buffer frees the allocation, whose start the address must be then.

    Raises
    ------
    InvalidValueError
        If nobody knows the memory, or it is to be owned and the address lies inside it.
    """
    native = context.native
    block = native.registry.find(address)
    if block is not None:
        base, nbytes = block.address, block.requested
        is_host = block.heap.key[0] is not UsmType.DEVICE
    else:
        with native.loss:
            known = ze_memory.get_alloc_properties(native.handle, address).type
        if known is ze_memory.MemoryType.UNKNOWN:
            raise InvalidValueError(f"{address:#x} is not in memory that {context!r} knows.")
        with native.loss:
            base, nbytes = ze_memory.get_address_range(native.handle, address)
        is_host = known is not ze_memory.MemoryType.DEVICE
    memory: PoolMemory | NativeMemory | None = None
    if is_owned:
        if base != address:
            raise InvalidValueError(
                f"{address:#x} lies inside an allocation at {base:#x}; only all of it can be owned."
            )
        memory = NativeMemory(native, address) if block is None else PoolMemory(native, block)
    return Buffer(context, address, base + nbytes - address, is_host=is_host, memory=memory)
