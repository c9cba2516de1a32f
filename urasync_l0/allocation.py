# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An allocation as users hold it."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, overload

from urasync_l0 import dlpack
from urasync_l0.enums import UsmType
from urasync_l0.native_context import NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.pool import Block, DroppedBlock, HeldBlock, QueueOrder, at_once
from urasync_l0.result import (
    InvalidMemObjectError,
    InvalidValueError,
    UnsupportedFeatureError,
)
from urasync_l0.ze import host_memory

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.device import Device
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.usm_pool import Pool


class DroppedAllocation(DroppedBlock):
    """Frees, on the queue that allocated it, what nobody holds any more."""

    __slots__ = ()

    def run(self, context: NativeContext) -> None:
        """Free the block unless that happened in another way meanwhile."""
        order = self.order
        assert order is not None
        if context.registry.claim_if(self.block, self.born):
            self.block.heap.pool.free(self.block, order, order.sequence + 1)


class DroppedContextAllocation(DroppedBlock):
    """Frees memory of a context once its queues have done what they had been given by then."""

    __slots__ = ("awaited",)
    awaited: Mapping[QueueOrder, int]

    def run(self, context: NativeContext) -> None:
        """Note where the queues are; the block is freed when they have passed that."""
        self.awaited = context.places()
        context.postponed.append(self)

    def attempt(self, context: NativeContext) -> bool:
        """Free the block if the queues are there; tell whether it needs no further look."""
        if not context.have_passed(self.awaited):
            return False
        if context.registry.claim_if(self.block, self.born):
            self.block.heap.pool.free(self.block, context.host_order, 1)
        return True


class Allocation(HeldBlock):
    """Memory that a queue allocated. Freed by `free`, by leaving a ``with`` block, or when dropped.

    Work that uses the memory must be ordered after the allocation, and the free after that work:
    by the same queue's order, or by events. A dropped allocation is freed in the order of the queue
    that made it; pass the events of other queues to `free` instead.

    Attributes
    ----------
    ptr
        The address.
    nbytes
        The size asked for, in bytes.
    kind
        DEVICE, SHARED or HOST.
    queue
        The queue that allocated it, which also frees it unless told otherwise; None if it was
        allocated without one.
    pool
        The pool that it comes from.
    event
        The event of the allocation, if one was asked for.
    is_freed
        Whether it was freed.
    """

    __slots__ = ("__weakref__",)
    dropped_type: ClassVar[type[DroppedBlock]] = DroppedAllocation
    queue: Queue | None
    kind: UsmType
    pool: Pool
    event: Event | None

    def __repr__(self) -> str:
        owner = "" if self.queue is None else f", queue {self.queue.id}"
        state = ", freed" if self.is_freed else ""
        return f"Allocation({self.kind.name}, {self.nbytes} bytes at {self.ptr:#x}{owner}{state})"

    @property
    def context(self) -> Context:
        """The context that it belongs to."""
        return self.pool.context

    @property
    def device(self) -> Device | None:
        """The device of the queue that allocated it; for memory of a context the device that it
        was allocated on, None for host memory."""
        return None if self.queue is None else self.queue.device

    @overload
    def free(
        self, queue: Queue | None = None, wait: Iterable[Event] = (), *, event: Literal[True]
    ) -> Event: ...
    @overload
    def free(
        self, queue: Queue | None = None, wait: Iterable[Event] = (), event: bool = False
    ) -> Event | None: ...
    @at_once("free_own")
    def free(
        self, queue: Queue | None = None, wait: Iterable[Event] = (), event: bool = False
    ) -> Event | None:
        """Give the memory back in the order of a queue; see `Queue.free`.

        Without a queue it is the one that allocated it. If that is closed, its work is complete and
        the memory is free at once; there is no event then. Memory that was allocated without a
        queue is freed so by `Context.free`, which waits.
        """
        if queue is None:
            queue = self.queue
            if queue is None:
                self._free_in_context(wait, event)
                return None
            if queue.is_closed and not event and not wait:
                self._free_at_once()
                return None
        return queue.free(self, wait=wait, event=event)

    def _free_in_context(self, wait: Iterable[Event], event: bool) -> None:
        if event or wait:
            raise InvalidValueError(
                f"{self!r} belongs to no queue; name one to free it after events or with an event."
            )
        self.context.free(self)

    def _free_at_once(self) -> None:
        native = self.context.native
        if native.attention:
            native.attend()
        self.require_live()
        dropped = self.leave()
        assert isinstance(dropped, DroppedAllocation)  # of a queue
        dropped.run(native)

    __reduce_ex__ = not_copied("Copy its bytes to the host with Queue.memcpy.")

    def __enter__(self) -> Allocation:
        return self

    def __exit__(self, *exception: Any) -> None:
        if not self.is_freed and not self.context.is_closed:
            self.free()

    def require_live(self) -> None:
        """Raise InvalidMemObjectError if the allocation is freed."""
        if self.is_freed:
            raise InvalidMemObjectError(f"{self!r} cannot be used any more.")

    def require_context(self, context: Context) -> None:
        """Raise InvalidMemObjectError if the allocation belongs to another context."""
        if self.context is not context:
            raise InvalidMemObjectError(f"{self!r} belongs to another context.")

    # -- views of host and shared memory -----------------------------------------------------------

    def __buffer__(self, flags: int) -> builtins.memoryview:
        # Called by memoryview() and the like from Python 3.12 on.
        try:
            return self.memoryview()
        except UnsupportedFeatureError as error:
            raise BufferError(str(error)) from error

    def memoryview(self) -> builtins.memoryview:
        """The bytes as a writable view, which keeps the allocation alive; no copy.

        Nothing orders the host's reads and writes with the queue's work: finish the queue, or wait
        for an event, before looking at what it wrote.

        Raises
        ------
        UnsupportedFeatureError
            For device memory, which the host cannot read; copy it to host memory.
        InvalidMemObjectError
            If the allocation is freed.
        """
        self.require_live()
        if self.kind is UsmType.DEVICE:
            raise UnsupportedFeatureError(
                f"The host cannot read {self!r}; copy it to a host allocation or buffer with "
                "Queue.memcpy."
            )
        return host_memory.view(self.ptr, self.nbytes, self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's view of host and shared memory, as bytes."""
        self.require_live()
        if self.kind is UsmType.DEVICE:
            # Who asks whether there is one is told so; NumPy asks for `__array__` next.
            raise AttributeError("device memory has no __array_interface__")
        return {
            "version": 3,
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.ptr, False),
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refuse to be an array: NumPy asks so for device memory only, after the interface above,
        and would otherwise make an array of one object.

        Raises
        ------
        UnsupportedFeatureError
            For device memory, which the host cannot read; copy it to host memory.
        InvalidMemObjectError
            If the allocation is freed.
        """
        self.memoryview()
        raise UnsupportedFeatureError(f"{self!r} has NumPy's __array_interface__; use that.")

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device: kDLCPU for host memory, else kDLOneAPI with the root device's index.

        Raises
        ------
        BufferError
            If it is memory of a sub-device or a compute slice.
        """
        return dlpack.device_of(self)

    def __dlpack__(
        self,
        *,
        stream: Queue | int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule with the bytes, writable and without a copy.

        Whoever takes it keeps the allocation alive, and must be done with the memory when letting
        go: then it is freed as a dropped allocation is. It must not be freed in another way before.
        A consumer on a GPU finds device memory only if it works in the same native context.

        Parameters
        ----------
        stream
            What comes before the consumer's work. None: the call waits until the context's queues
            have done what they were given. A queue of the context: in its order, what the queue
            that allocated was given (for memory of a context, as None). -1: nothing.
        max_version
            The newest version that the consumer knows; from (1, 0) on the capsule is of version 1.
        dl_device
            Where the consumer wants it; ``(1, 0)``, the host, for shared memory as well.
        copy
            True is refused.

        Raises
        ------
        BufferError
            If the memory cannot be had so: on that device, as a copy, or with that stream.
        InvalidMemObjectError
            If the allocation is freed.
        """
        return dlpack.export(self, stream, max_version, dl_device, copy)

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        """The view of SYCL libraries such as dpctl, as bytes.

        ``syclobj`` names the device; the memory belongs to this package's context on it, and a
        library finds it only if it works in the same native one. Memory of a sub-device or a
        compute slice has none: SYCL has no name for these.
        """
        self.require_live()
        device = self.device or self.context.devices[0]
        if device.parent is not None:
            raise AttributeError(f"{device!r} has no name in SYCL")
        return {
            "version": 1,
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "strides": None,
            "offset": 0,
            "data": (self.ptr, False),
            "syclobj": f"level_zero:gpu:{device.index}",
        }


class ContextAllocation(Allocation):
    """Memory that was allocated without a queue: see `Context.alloc_device`."""

    __slots__ = ("_device",)
    dropped_type = DroppedContextAllocation

    def __init__(
        self, block: Block, nbytes: int, kind: UsmType, pool: Pool, device: Device | None
    ) -> None:
        dropped = pool.context.native.attention
        super().__init__(block, dropped, nbytes=nbytes, kind=kind, pool=pool)
        self._device = device

    @property
    def device(self) -> Device | None:
        """The device that it was allocated on; None for host memory."""
        return self._device
