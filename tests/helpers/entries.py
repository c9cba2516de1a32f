# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Call the UR-named entry points as a client does, without a cell for every result."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.readback import as_copied
from urasync_l0 import Context, Device, Event, Pool, Queue, UrError, UrResult, UsmType
from urasync_l0.descriptors import QueueProperties, UsmDesc, UsmPoolDesc
from urasync_l0.entry_points import Adapter
from urasync_l0.enums import NO_POOL_FLAGS
from urasync_l0.out import Out

T = TypeVar("T")


def written(out: Out[T]) -> T:
    """What an entry wrote; fails if it wrote nothing."""
    assert out.is_set, "the entry wrote nothing"
    return out.value


@contextmanager
def refused(code: UrResult, *outs: Out[Any]) -> Iterator[None]:
    """A call fails with a code, writes none of the cells, and makes no Level Zero call."""
    with LevelZeroCalls() as calls, pytest.raises(UrError) as caught:
        yield
    assert caught.value.code is code, caught.value
    assert not any(out.is_set for out in outs), outs
    assert calls.total == 0, calls.counts


def waits(events: Sequence[Event]) -> tuple[int, Sequence[Event] | None]:
    """The two arguments of a wait list."""
    return len(events), events or None


class Client:
    """A program that knows nothing but the entry points of one adapter."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    # -- contexts, queues and pools ----------------------------------------------------------------

    def create_context(self, devices: Sequence[Device]) -> Context:
        """A context on devices."""
        out: Out[Context] = Out()
        self.adapter.urContextCreate(len(devices), devices, None, out)
        return written(out)

    def create_queue(self, context: Context, device: Device, flags: int = 0) -> Queue:
        """A queue with flags."""
        out: Out[Queue] = Out()
        self.adapter.urQueueCreate(context, device, QueueProperties(flags), out)
        return written(out)

    def create_pool(
        self, context: Context, device: Device | None = None, desc: UsmPoolDesc | None = None
    ) -> Pool:
        """A pool of a device, or without one of the context."""
        out: Out[Pool] = Out()
        desc = UsmPoolDesc(NO_POOL_FLAGS) if desc is None else desc
        if device is None:
            self.adapter.urUSMPoolCreate(context, desc, out)
        else:
            self.adapter.urUSMPoolCreateExp(context, device, desc, out)
        return written(out)

    def pool_info(self, pool: Pool, prop_name: int) -> Any:
        """A property of a pool."""
        out: Out[Any] = Out()
        self.adapter.urUSMPoolGetInfoExp(pool, prop_name, out, None)
        return written(out)

    def release(self, *events: Event) -> None:
        """Release events."""
        for event in events:
            self.adapter.urEventRelease(event)

    # -- commands ----------------------------------------------------------------------------------

    def enqueue_alloc(
        self,
        queue: Queue | None,
        kind: UsmType,
        size: int,
        mem: Out[int] | None,
        event: Out[Event] | None = None,
        *,
        pool: Pool | None = None,
        wait: Sequence[Event] = (),
    ) -> None:
        """The allocation of a kind given as a value."""
        entry = {
            UsmType.DEVICE: self.adapter.urEnqueueUSMDeviceAllocExp,
            UsmType.SHARED: self.adapter.urEnqueueUSMSharedAllocExp,
            UsmType.HOST: self.adapter.urEnqueueUSMHostAllocExp,
        }[kind]
        entry(queue, pool, size, None, *waits(wait), mem, event)

    def alloc(
        self,
        queue: Queue,
        kind: UsmType,
        size: int,
        *,
        pool: Pool | None = None,
        wait: Sequence[Event] = (),
    ) -> tuple[int, Event]:
        """Allocate with an event; neither is null."""
        mem: Out[int] = Out()
        event: Out[Event] = Out()
        self.enqueue_alloc(queue, kind, size, mem, event, pool=pool, wait=wait)
        assert written(mem)
        return mem.value, written(event)

    def alloc_only(
        self, queue: Queue, kind: UsmType, size: int, *, pool: Pool | None = None
    ) -> int:
        """Allocate without waits or an event; never null."""
        mem: Out[int] = Out()
        self.enqueue_alloc(queue, kind, size, mem, pool=pool)
        assert written(mem)
        return mem.value

    def fill(
        self, queue: Queue, mem: int, pattern: bytes, size: int, *, wait: Sequence[Event] = ()
    ) -> Event:
        """Fill with an event."""
        event: Out[Event] = Out()
        self.adapter.urEnqueueUSMFill(queue, mem, len(pattern), pattern, size, *waits(wait), event)
        return written(event)

    def free(
        self, queue: Queue, mem: int, *, pool: Pool | None = None, wait: Sequence[Event] = ()
    ) -> Event:
        """Free with an event."""
        event: Out[Event] = Out()
        self.adapter.urEnqueueUSMFreeExp(queue, pool, mem, *waits(wait), event)
        return written(event)

    def free_only(self, queue: Queue, mem: int) -> None:
        """Free without waits or an event."""
        self.adapter.urEnqueueUSMFreeExp(queue, None, mem, 0, None, None)

    def read(self, queue: Queue, mem: int, size: int) -> bytes:
        """Read memory by a blocking copy."""
        target = bytearray(size)
        self.adapter.urEnqueueUSMMemcpy(queue, True, target, mem, size, 0, None, None)
        return as_copied(target)

    # -- memory without a queue --------------------------------------------------------------------

    def usm_alloc(
        self,
        context: Context | None,
        kind: UsmType,
        device: Device | None,
        size: int,
        mem: Out[int] | None,
        *,
        desc: UsmDesc | None = None,
        pool: Pool | None = None,
    ) -> None:
        """The allocation of a kind given as a value."""
        if kind is UsmType.HOST:
            self.adapter.urUSMHostAlloc(context, desc, pool, size, mem)
        elif kind is UsmType.DEVICE:
            self.adapter.urUSMDeviceAlloc(context, device, desc, pool, size, mem)
        else:
            self.adapter.urUSMSharedAlloc(context, device, desc, pool, size, mem)
