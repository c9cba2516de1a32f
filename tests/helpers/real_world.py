# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A context of an adapter, on the real loader and the software driver, as a world of the machine.

The driver holds every queue by a limit to how many commands it may run, so programs run late and in
another order than they were given. Nothing waits in vain: before the host waits for a queue, that
queue and those that it waits for are let run as far as needed, also when it is the pool core that
waits for a marker of its own.

What is complete, the driver says: the oracle knows for each free how many commands its queue had
been given by then. Each allocation is filled with a byte of its own by each queue that uses it, and
copied out by the last one before the free; all bytes of all copies are looked at in the end.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tests.helpers.oracle import Oracle
from tests.helpers.pool_machine import Failure, Held, PoolSettings, World
from tests.helpers.usm import alloc
from urasync_l0 import Context, Event, Pool, Queue, UsmPoolFlag, UsmType
from urasync_l0.enums import NO_POOL_FLAGS
from urasync_l0.pool import GRANULE, Mark, MarkerEvent, QueueOperations, QueueOrder
from urasync_l0.pool import Pool as PoolCore
from urasync_l0.software_driver.controls import Controls
from urasync_l0.usm_memory import ExpandingSegments
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.host_wait import INFINITE
from urasync_l0.ze.loader import DriverName
from urasync_l0.ze.result import ZeResult

_ENTRIES = {
    "allocate": ("zeMemAllocDevice", "zeMemAllocShared", "zeMemAllocHost"),
    "free": ("zeMemFree",),
    "reserve": ("zeVirtualMemReserve",),
    "release": ("zeVirtualMemFree",),
    "create": ("zePhysicalMemCreate",),
    "destroy": ("zePhysicalMemDestroy",),
    "map": ("zeVirtualMemMap",),
    "unmap": ("zeVirtualMemUnmap",),
    "signal": ("zeCommandListAppendSignalEvent",),
    "wait": ("zeCommandListAppendWaitOnEvents",),
    "query": ("zeEventQueryStatus",),
    "host wait": ("zeCommandListHostSynchronize", "zeEventHostSynchronize"),
    "event": ("zeEventCreate", "zeEventCounterBasedCreate", "zeEventPoolCreate"),
    "reset": ("zeEventHostReset",),
    "fill": ("zeCommandListAppendMemoryFill",),
}

TIMEOUT_NS = 5_000_000_000
"""How long, in nanoseconds, the host waits for what was let run. Many a program that fails is run
before the smallest is found, so this is less than in other tests."""

_MOMENT_NS = 1_000_000
"""How long a queue gets for what it was let run; it may be waiting for one that is held."""

_SOON_NS = 1_000_000_000
"""How long the oracle waits for what should be complete already before it says that it is not."""

_PATTERNS = 250

_MEMORY = ("device_memory", "shared_memory", "host_memory", "physical_memory")

Before = dict["RealQueue", int]
"""For each queue, how many of its commands come before a place."""


class RealQueue:
    """A queue, and what its tail comes after: the frees, and commands of other queues."""

    def __init__(self, world: RealWorld, queue: Queue) -> None:
        self.world = world
        self.queue = queue
        self.handle = handle_value(queue.handle)
        self.order: QueueOrder = queue.order
        self.known: set[int] = set()
        self.before: Before = {}
        self.waits: deque[tuple[int, Before]] = deque()
        self.is_closed = False
        self.core_appended = 0
        self.allowed = 0
        world.controls.limit_gate(self.handle, 0)

    def __repr__(self) -> str:
        return repr(self.queue)

    def follow(self, known: frozenset[int], before: Before) -> None:
        """A wait was appended."""
        self.known |= known
        self.waits.append((self.appended(), before))
        for queue, number in before.items():
            if queue is not self:
                self.before[queue] = max(number, self.before.get(queue, 0))

    def check(self) -> None:
        """Fail if it has run on before what it had to wait for was done."""
        done = self.world.controls.list_progress(self.handle).completed
        while self.waits and self.waits[0][0] <= done:
            number, before = self.waits.popleft()
            for queue, needed in before.items():
                # The signal comes a moment before its command counts as done.
                assert queue.has_done(needed, _SOON_NS), (
                    f"{self} has done {number} commands, but {queue} not {needed}"
                )

    def here(self) -> Before:
        """What an event comes after that is appended now."""
        return {**self.before, self: self.appended()}

    def appended(self) -> int:
        """How many commands it was given."""
        return self.world.controls.list_progress(self.handle).appended

    def has_done(self, number: int, timeout_ns: int) -> bool:
        """Whether so many commands are complete, at the latest after ``timeout_ns``."""
        if self.is_closed:
            return True
        return self.world.controls.wait_completed(self.handle, number, timeout_ns)

    def allow(self, number: int) -> None:
        """Let it run so many commands."""
        if number > self.allowed and not self.is_closed:
            self.allowed = number
            self.world.controls.limit_gate(self.handle, number)


@dataclass(eq=False)
class RealEvent:
    """An event of a user, and what it comes after."""

    event: Event
    known: frozenset[int]
    before: Before

    @property
    def mark(self) -> Mark:
        return self.event.mark

    @property
    def released(self) -> bool:
        return self.event.is_released


class _WatchedMarker:
    """A marker of the pool core; before the core waits for it, it is let happen."""

    def __init__(self, event: MarkerEvent, queue: RealQueue) -> None:
        self.event = event
        self.known = frozenset(queue.known)
        self.before = {} if queue.is_closed else queue.here()
        self._world = queue.world

    @property
    def mark(self) -> Mark:
        return self.event.mark

    def query(self) -> bool:
        return self.event.query()

    def wait(self, timeout_ns: int) -> bool:
        if timeout_ns < INFINITE:
            return self.event.wait(timeout_ns)
        self._world.allow(self.before)
        assert self.event.wait(TIMEOUT_NS), "a marker does not come"
        return True

    def hold(self) -> bool:
        return self.event.hold()

    def release(self) -> None:
        self.event.release()


class _WatchedOperations:
    """What the core asks a queue for, on its way to the command list."""

    def __init__(self, queue: RealQueue, operations: QueueOperations) -> None:
        self._queue = queue
        self._operations = operations

    def append_marker(self) -> MarkerEvent:
        marker = _WatchedMarker(self._operations.append_marker(), self._queue)
        self._queue.core_appended += 1
        return marker

    def signal_from(self, number: int) -> None:
        return None  # what the oracle knows of an earlier signal is forgotten

    def append_wait(self, event: MarkerEvent) -> None:
        assert isinstance(event, _WatchedMarker)
        self._operations.append_wait(event.event)
        self._queue.core_appended += 1
        self._queue.follow(event.known, event.before)


class _DriverOracle(Oracle):
    """An oracle that asks the driver what is complete."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[int, tuple[RealQueue, int]] = {}

    def is_complete(self, free: int) -> bool:
        queue, number = self.places[free]
        return queue.has_done(number, _SOON_NS)


class RealWorld(World[RealQueue, RealEvent, Pool]):
    """Queues and pools of one context."""

    def __init__(
        self,
        controls: Controls,
        adapter: str,
        driver: DriverName,
        expanding: ExpandingSegments,
        device_memory: int,
    ) -> None:
        self.controls = controls
        # What else lives in this process, such as its shared context, is none of the programs'; a
        # context that others have dropped is closed by the next one, which must not be ours.
        gc.collect()
        assert Context(adapter, driver, [0]).close(TIMEOUT_NS)
        self.before = controls.live_objects()
        self.held_before = self._driver_memory()
        self.device_memory = controls.device_memory(0)
        controls.set_device_memory(0, controls.used_device_memory(0) + device_memory)
        self.oracle: _DriverOracle = _DriverOracle()
        self.queues: list[RealQueue] = []
        self.copies: list[tuple[bytearray, int]] = []
        self.made = 0
        self.context = Context(adapter, driver, [0], expanding_segments=expanding)
        self.registry = self.context.native.registry

    def create_queue(self) -> RealQueue:
        queue = RealQueue(self, self.context.create_queue())
        queue.order.operations = _WatchedOperations(queue, queue.order.operations)
        self.queues.append(queue)
        return queue

    def close_queue(self, queue: RealQueue) -> None:
        with self.running(queue):
            assert queue.queue.close(TIMEOUT_NS)
        queue.is_closed = True
        self.queues.remove(queue)

    def create_pool(self, how: PoolSettings) -> Pool:
        return self.context.create_pool(
            release_threshold=how.release_threshold,
            maximum_size=how.maximum_size,
            maximum_pooled=how.maximum_pooled,
            flags=UsmPoolFlag.ZERO_INITIALIZE_BLOCK if how.zero else NO_POOL_FLAGS,
            policy=how.policy,
        )

    def close_pool(self, pool: Pool) -> None:
        pool.close()

    def core(self, pool: Pool) -> PoolCore:
        return pool.core

    # -- memory ------------------------------------------------------------------------------------

    def allocate(
        self,
        queue: RealQueue,
        pool: Pool,
        kind: UsmType,
        nbytes: int,
        waits: Sequence[RealEvent],
        *,
        signal: bool,
    ) -> tuple[Held[RealQueue, Pool], RealEvent | None]:
        with self.following(queue, waits):
            made = alloc(
                queue.queue,
                kind,
                nbytes,
                pool=pool,
                wait=[event.event for event in waits],
                event=signal,
            )
        size = -(-nbytes // GRANULE) * GRANULE
        if pool.flags & UsmPoolFlag.ZERO_INITIALIZE_BLOCK:
            self.copy_out(queue, made.ptr, nbytes, 0)
        event = None if made.event is None else self.event(queue, made.event)
        return Held(made, pool, kind, made.ptr, size, nbytes, queue), event

    def begin(self, queue: RealQueue, held: Held[RealQueue, Pool]) -> None:
        self.made += 1
        held.pattern = self.made % _PATTERNS + 1
        queue.queue.fill(held.token, bytes([held.pattern]))

    def hand_over(self, queue: RealQueue, held: Held[RealQueue, Pool]) -> None:
        if held.last is not queue and not held.last.is_closed:
            event = self.record(held.last)
            self.wait(queue, [event])
            self.release(event)

    def prepare_free(
        self, queue: RealQueue, held: Held[RealQueue, Pool], *, by_event: bool
    ) -> Sequence[RealEvent]:
        last = held.last
        if last is queue or last.is_closed or not by_event:
            self.hand_over(queue, held)
            self.copy_out(queue, held.address, held.requested, held.pattern)
            held.last = queue
            return ()
        self.copy_out(last, held.address, held.requested, held.pattern)
        return (self.record(last),)

    def copy_out(self, queue: RealQueue, address: int, nbytes: int, pattern: int) -> None:
        """Read memory in the queue's order; `settle` compares."""
        copy = bytearray(nbytes)
        queue.queue.memcpy(copy, address, nbytes)
        self.copies.append((copy, pattern))

    def free(
        self,
        queue: RealQueue,
        held: Held[RealQueue, Pool],
        waits: Sequence[RealEvent],
        *,
        signal: bool,
    ) -> tuple[RealEvent | None]:
        with self.following(queue, waits):
            event = queue.queue.free(held.token, wait=[e.event for e in waits], event=signal)
        free = self.oracle.note(held.address, held.end)
        self.oracle.places[free] = (queue, queue.appended())
        queue.known.add(free)
        return (None if event is None else self.event(queue, event),)

    # -- order -------------------------------------------------------------------------------------

    def event(self, queue: RealQueue, event: Event) -> RealEvent:
        """An event that was just signalled as the queue's last command."""
        return RealEvent(event, frozenset(queue.known), queue.here())

    def record(self, queue: RealQueue) -> RealEvent:
        return self.event(queue, queue.queue.record())

    def release(self, event: RealEvent) -> None:
        event.event.release()

    def wait(self, queue: RealQueue, waits: Sequence[RealEvent]) -> None:
        with self.following(queue, waits):
            queue.queue.wait([event.event for event in waits])

    @contextmanager
    def following(self, queue: RealQueue, waits: Sequence[RealEvent]) -> Iterator[None]:
        """A call with a wait list. Also one that fails may have appended the wait before."""
        before = queue.appended() - queue.core_appended
        failed = True
        try:
            yield
            failed = False
        finally:
            if not failed or queue.appended() - queue.core_appended > before:
                for event in waits:
                    queue.follow(event.known, event.before)

    # -- time --------------------------------------------------------------------------------------

    def run(self, queue: RealQueue, quarters: int) -> None:
        progress = self.controls.list_progress(queue.handle)
        number = progress.completed + (progress.appended - progress.completed) * quarters // 4
        queue.allow(number)
        queue.has_done(number, _MOMENT_NS)

    def allow(self, before: Before) -> None:
        """Let queues run as far as something needs it."""
        for queue, number in before.items():
            queue.allow(number)

    @contextmanager
    def running(self, queue: RealQueue) -> Iterator[None]:
        """Let a queue run all of what it is given, and others what it waits for."""
        self.allow(queue.before)
        self.controls.limit_gate(queue.handle, None)
        try:
            yield
        finally:
            if queue.queue.is_closed:
                queue.is_closed = True
            else:
                queue.allowed = queue.appended()
                self.controls.limit_gate(queue.handle, queue.allowed)

    def finish(self, queue: RealQueue) -> None:
        with self.running(queue):
            assert queue.queue.finish(TIMEOUT_NS)

    def look(self, event: RealEvent, *, wait: bool) -> None:
        if wait:
            self.allow(event.before)
            assert event.event.wait(TIMEOUT_NS)
        else:
            event.event.is_complete()

    # -- the driver --------------------------------------------------------------------------------

    def held_bytes(self) -> int:
        return self._driver_memory() - self.held_before

    def _driver_memory(self) -> int:
        return sum(each.bytes for each in self.controls.live_table() if each.kind in _MEMORY)

    @contextmanager
    def failing(self, failure: Failure) -> Iterator[Callable[[], bool]]:
        before = self.controls.failures_delivered()
        code = (
            ZeResult.ERROR_OUT_OF_DEVICE_MEMORY if failure.out_of_memory else ZeResult.ERROR_UNKNOWN
        )
        for entry in _ENTRIES[failure.call]:
            if self.controls.entries().get(entry):
                self.controls.fail(entry, failure.nth, int(code))
        try:
            yield lambda: self.controls.failures_delivered() > before
        finally:
            self.controls.clear_failures()

    def check(self) -> None:
        for queue in self.queues:
            queue.check()

    def settle(self) -> None:
        for copy, pattern in self.copies:
            assert copy == bytes([pattern]) * len(copy), f"not all bytes are {pattern}"

    def end(self, *, clean: bool) -> None:
        try:
            self.controls.clear_failures()
            self.controls.open_all_gates(0)
            assert self.context.close(TIMEOUT_NS)
            if clean:
                assert self.controls.live_objects() == self.before
        finally:
            self.controls.set_device_memory(0, self.device_memory)
