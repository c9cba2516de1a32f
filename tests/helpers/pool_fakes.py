# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver for tests of the pool core alone: memory, queues that run when told to, and an oracle.

The oracle knows nothing of clocks or stamps. For every queue it keeps the set of frees that are
ordered before the queue's tail, by the queue's own order and by the waits appended to it, and for
every byte the free that touched it last. Memory is handed out too early exactly when a queue gets
a byte whose last free is neither in its set nor known complete.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from urasync_l0.pool import Block, Mark, OrderDomain, QueueOrder
from urasync_l0.result import OutOfMemoryError, UrError, UrResult


class FailingCalls:
    """Counts the calls that a fake driver gets, and lets the n-th coming one fail."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.fail_after: int | None = None
        self.code = UrResult.UNKNOWN

    def call(self, name: str) -> None:
        """Count one call; raise if it is the one that shall fail."""
        self.counts[name] += 1
        if self.fail_after is None:
            return
        self.fail_after -= 1
        if self.fail_after < 0:
            self.fail_after = None
            if self.code is UrResult.OUT_OF_DEVICE_MEMORY:
                raise OutOfMemoryError("injected", function=name)
            raise UrError("injected", code=self.code, function=name)


class FakeDriver:
    """Driver memory of one device: separate allocations and mapped pages under one limit."""

    def __init__(self, limit: int = 1 << 40, page_size: int = 1 << 16) -> None:
        self.calls = FailingCalls()
        self.limit = limit
        self.page_size = page_size
        self.maximum_allocation = 1 << 36
        self.allocations: dict[int, int] = {}
        self.physical: dict[object, int] = {}
        self.mapped: dict[int, tuple[int, object]] = {}
        self.ranges: dict[int, int] = {}
        self._next = 1 << 32

    @property
    def held(self) -> int:
        """Bytes of memory that the driver has given."""
        return sum(self.allocations.values()) + sum(self.physical.values())

    def objects(self) -> tuple[int, ...]:
        """How many objects of each kind live, for a comparison before and after."""
        return len(self.allocations), len(self.physical), len(self.mapped), len(self.ranges)

    def _address(self, size: int) -> int:
        address = self._next
        self._next += -(-(size + (1 << 21)) >> 21 << 21)
        return address

    def _check_room(self, size: int, name: str) -> None:
        if self.held + size > self.limit:
            raise OutOfMemoryError("the fake device is full", function=name)

    def allocate(self, size: int) -> int:
        self.calls.call("allocate")
        self._check_room(size, "allocate")
        address = self._address(size)
        self.allocations[address] = size
        return address

    def free(self, address: int) -> None:
        self.calls.call("free")
        del self.allocations[address]

    def reserve(self, size: int) -> int:
        self.calls.call("reserve")
        address = self._address(size)
        self.ranges[address] = size
        return address

    def release(self, address: int, size: int) -> None:
        self.calls.call("release")
        assert self.ranges.pop(address) == size

    def create(self, size: int) -> object:
        self.calls.call("create")
        self._check_room(size, "create")
        pages = object()
        self.physical[pages] = size
        return pages

    def destroy(self, pages: object) -> None:
        self.calls.call("destroy")
        assert all(pages is not mapped for _, mapped in self.mapped.values())
        del self.physical[pages]

    def map(self, address: int, size: int, pages: object) -> None:
        self.calls.call("map")
        assert self.physical[pages] == size
        assert address not in self.mapped
        assert any(start <= address < start + length for start, length in self.ranges.items())
        self.mapped[address] = (size, pages)

    def unmap(self, address: int, size: int) -> None:
        self.calls.call("unmap")
        assert self.mapped.pop(address)[0] == size


class FakeEvent:
    """A signal on a fake queue."""

    def __init__(self, queue: FakeQueue, mark: Mark, known: frozenset[int]) -> None:
        self.queue = queue
        self.mark = mark
        self.known = known
        self.released = False

    def query(self) -> bool:
        assert not self.released, "a released event was queried"
        self.queue.calls.call("query")
        if self.queue.reached < self.mark.number:
            return False
        self.queue.world.complete |= self.known
        return True

    def wait(self, timeout_ns: int) -> bool:
        assert not self.released, "a released event was waited for"
        self.queue.calls.call("wait")
        self.queue.reach(self.mark.number)
        return self.query()

    def release(self) -> None:
        assert not self.released, "an event was released twice"
        self.released = True
        self.queue.world.live_events -= 1


@dataclass
class World:
    """What the oracle knows of the whole program."""

    domain: OrderDomain = field(default_factory=OrderDomain)
    complete: set[int] = field(default_factory=set)
    frees: int = 0
    live_events: int = 0
    touched: list[tuple[int, int, int]] = field(default_factory=list)

    def note_free(self, queue: FakeQueue, block: Block) -> None:
        """A queue frees a block: everything that used it is before this."""
        self.frees += 1
        queue.known.add(self.frees)
        # A free speaks for all that used the bytes before, on whichever queue: so says the contract.
        remaining: list[tuple[int, int, int]] = []
        for start, end, free in self.touched:
            if start < block.address:
                remaining.append((start, min(end, block.address), free))
            if block.end < end:
                remaining.append((max(start, block.end), end, free))
        self.touched = remaining
        self.touched.append((block.address, block.end, self.frees))

    def check_handed_out(self, queue: FakeQueue, block: Block, known: set[int]) -> None:
        """Fail if a byte of ``block`` may still be in use when ``queue`` gets to it."""
        for start, end, free in self.touched:
            if start < block.end and block.address < end:
                assert free in known or free in self.complete, (
                    f"queue {queue.order.id} got {block} too early: free {free} is not before it"
                )


class FakeQueue:
    """A queue that runs its commands only when told to (`reach`), or at once (``eager``)."""

    def __init__(self, world: World, calls: FailingCalls, *, eager: bool = False) -> None:
        self.world = world
        self.calls = calls
        self.eager = eager
        self.order: QueueOrder = world.domain.add_queue(self)
        self.reached = 0
        self.known: set[int] = set()
        self.signals: deque[int] = deque()

    def reach(self, number: int) -> None:
        """Let the queue run up to a command."""
        self.reached = max(self.reached, number)

    def append_marker(self) -> FakeEvent:
        self.calls.call("append_signal")
        with self.order.lock:
            self.order.advance()
            mark = self.order.mark_here()
        if self.eager:
            self.reach(mark.number)
        self.signals.append(mark.number)
        self.world.live_events += 1
        return FakeEvent(self, mark, frozenset(self.known))

    def append_wait(self, event: FakeEvent) -> None:  # type: ignore[override]
        self.calls.call("append_wait")
        with self.order.lock:
            self.order.advance()
            self.order.merge(event.mark)
        self.known |= event.known

    def synchronise(self) -> Mark:
        """Wait for the whole queue, and return the mark that the registry wants."""
        with self.order.lock:
            number = self.order.advance()
            mark = self.order.mark_here()
        self.reach(number)
        self.world.complete |= self.known
        return mark
