# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver for tests of the pool core alone: memory, queues that run when told to, and an oracle.

What the oracle knows of completion is what the queries and waits of these queues have told.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from tests.helpers.oracle import Oracle
from urasync_l0.enums import UsmType
from urasync_l0.pool import (
    Block,
    HeapKey,
    HeapSource,
    Mark,
    MarkerEvent,
    OrderDomain,
    Pool,
    PoolRegistry,
    QueueOrder,
    ReusePolicy,
)
from urasync_l0.result import DeviceLostError, OutOfMemoryError, UrError, UrResult

MIB = 1 << 20
DEVICE: HeapKey = (UsmType.DEVICE, 0)
SHARED: HeapKey = (UsmType.SHARED, 0)
HOST: HeapKey = (UsmType.HOST, -1)
INFINITE = 2**64 - 1


class FailingCalls:
    """Counts and logs the calls that a fake driver gets, and lets some of them fail.

    ``fail_after`` says how many calls pass before one fails; ``only`` counts those of that name
    alone; ``broken`` names calls that always fail. None of ``locks`` may be held during a call.
    ``meanwhile`` is what another thread does during the next call of a name.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.log: list[str] = []
        self.fail_after: int | None = None
        self.only = ""
        self.broken: set[str] = set()
        self.locks: list[threading.Lock] = []
        self.meanwhile: dict[str, Callable[[], object]] = {}
        self.code = UrResult.UNKNOWN

    @property
    def total(self) -> int:
        """Calls of every kind."""
        return self.counts.total()

    @property
    def failing(self) -> bool:
        """Whether a call is still to fail."""
        return self.fail_after is not None

    def call(self, name: str) -> None:
        """Count one call; raise if it is the one that shall fail."""
        self.counts[name] += 1
        self.log.append(name)
        assert not any(lock.locked() for lock in self.locks), f"{name} with a pool's lock held"
        self.meanwhile.pop(name, _nothing)()
        if name in self.broken:
            self._fail(name)
        if self.fail_after is None or self.only not in ("", name):
            return
        self.fail_after -= 1
        if self.fail_after < 0:
            self.fail_after = None
            self._fail(name)

    def _fail(self, name: str) -> None:
        if self.code is UrResult.OUT_OF_DEVICE_MEMORY:
            raise OutOfMemoryError("injected", function=name)
        if self.code is UrResult.DEVICE_LOST:
            raise DeviceLostError("injected", function=name)
        raise UrError("injected", code=self.code, function=name)


def _nothing(*arguments: object) -> None:
    """What happens besides, unless a test wants something."""


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
        self.on_give_back: Callable[[int, int], object] = _nothing
        self._next = 1 << 32
        self._lock = threading.RLock()

    @property
    def held(self) -> int:
        """Bytes of memory that the driver has given."""
        with self._lock:
            return sum(self.allocations.values()) + sum(self.physical.values())

    def objects(self) -> tuple[int, ...]:
        """How many objects of each kind live, for a comparison before and after."""
        return len(self.allocations), len(self.physical), len(self.mapped), len(self.ranges)

    def start_at(self, address: int) -> None:
        """Give addresses from here on, apart from those of another fake driver."""
        self._next = address

    def _address(self, size: int) -> int:
        address = self._next
        self._next += -(-size >> 21 << 21)  # neighbours touch, as those of real drivers may
        return address

    def _check_room(self, size: int, name: str) -> None:
        if self.held + size > self.limit:
            raise OutOfMemoryError("the fake device is full", function=name)

    def allocate(self, size: int) -> int:
        self.calls.call("allocate")
        with self._lock:
            self._check_room(size, "allocate")
            address = self._address(size)
            self.allocations[address] = size
            return address

    def free(self, address: int) -> None:
        self.calls.call("free")
        with self._lock:
            self.on_give_back(address, address + self.allocations.pop(address))

    def reserve(self, size: int) -> int:
        self.calls.call("reserve")
        with self._lock:
            address = self._address(size)
            self.ranges[address] = size
            return address

    def release(self, address: int, size: int) -> None:
        self.calls.call("release")
        with self._lock:
            length = self.ranges.pop(address)
            assert length == size
            end = address + size
            assert not any(address <= page < end for page in self.mapped), "pages are mapped there"

    def create(self, sizes: Sequence[int], created: list[object]) -> None:
        for size in sizes:
            self.calls.call("create")
            with self._lock:
                self._check_room(size, "create")
                pages = object()
                self.physical[pages] = size
                created.append(pages)

    def destroy(self, pages: object) -> None:
        self.calls.call("destroy")
        with self._lock:
            assert all(pages is not mapped for _, mapped in self.mapped.values())
            del self.physical[pages]

    def map(
        self,
        address: int,
        sizes: Sequence[int],
        pages: Sequence[object],
        mapped: list[object],
    ) -> None:
        for size, piece in zip(sizes, pages, strict=True):
            self.calls.call("map")
            with self._lock:
                self._map(address, size, piece)
            mapped.append(piece)
            address += size

    def _map(self, address: int, size: int, piece: object) -> None:
        assert self.physical[piece] == size
        assert address not in self.mapped
        assert all(piece is not mapped for _, mapped in self.mapped.values())
        assert any(start <= address < start + length for start, length in self.ranges.items())
        self.mapped[address] = (size, piece)

    def unmap(self, address: int, size: int) -> None:
        self.calls.call("unmap")
        with self._lock:
            mapped, _ = self.mapped.pop(address)
            assert mapped == size
            self.on_give_back(address, address + size)


class FakeEvent:
    """A signal on a fake queue, with the number of those who hold it."""

    def __init__(self, queue: FakeQueue, mark: Mark, known: frozenset[int]) -> None:
        self.queue = queue
        self.mark = mark
        self.known = known
        self.holders = 1

    @property
    def released(self) -> bool:
        return not self.holders

    def query(self) -> bool:
        assert not self.released, "a released event was queried"
        self.queue.calls.call("query")
        if self.queue.reached < self.mark.number:
            return False
        with self.queue.world.lock:
            self.queue.world.complete |= self.known
        return True

    def wait(self, timeout_ns: int) -> bool:
        """Let the queue run up to the event; a wait that has an end finds the queue busy."""
        assert not self.released, "a released event was waited for"
        if timeout_ns < INFINITE:
            return self.query()
        self.queue.calls.call("wait")
        self.queue.reach(self.mark.number)
        return self.query()

    def hold(self) -> bool:
        with self.queue.world.lock:
            assert not self.released, "a released event was held"
            self.holders += 1
        return True

    def release(self) -> None:
        with self.queue.world.lock:
            assert not self.released, "an event was released more often than it was held"
            self.holders -= 1
            if not self.holders:
                self.queue.world.live_events -= 1


class World(Oracle):
    """What the oracle knows of the whole program. Any thread may tell it or ask."""

    def __init__(self) -> None:
        super().__init__()
        self.domain = OrderDomain()
        self.live_events = 0
        self.most_events = 0
        self.lock = threading.RLock()

    def note_free(self, queue: FakeQueue, block: Block) -> int:
        """A queue frees a block: everything that used it is before this."""
        with self.lock:
            free = self.note(block.address, block.end)
            queue.known.add(free)
            return free

    def check_handed_out(self, queue: FakeQueue, block: Block, known: set[int]) -> None:
        """Fail if a byte of ``block`` may still be in use when ``queue`` gets to it."""
        with self.lock:
            self.check(f"queue {queue.order.id} got {block}", block.address, block.end, known)

    def check_given_back(self, start: int, end: int) -> None:
        """Fail if the driver gets back a byte that a queue may still use."""
        with self.lock:
            self.check("the driver got back", start, end, frozenset())


class FakeQueue:
    """A queue that runs its commands only when told to (`reach`), or at once (``eager``)."""

    def __init__(self, world: World, calls: FailingCalls, *, eager: bool = False) -> None:
        self.world = world
        self.calls = calls
        self.eager = eager
        self.order: QueueOrder = world.domain.add_queue(self)
        self.reached = 0
        self.known: set[int] = set()

    def reach(self, number: int) -> None:
        """Let the queue run up to a command."""
        with self.world.lock:
            self.reached = max(self.reached, number)

    def append_marker(self) -> FakeEvent:
        self.calls.call("append_signal")
        with self.order.lock:
            self.order.advance()
            mark = self.order.mark_here()
        if self.eager:
            self.reach(mark.number)
        with self.world.lock:
            self.world.live_events += 1
            self.world.most_events = max(self.world.most_events, self.world.live_events)
            return FakeEvent(self, mark, frozenset(self.known))

    def signal_from(self, number: int) -> None:
        return None

    def append_wait(self, event: MarkerEvent) -> None:
        assert isinstance(event, FakeEvent)
        self.calls.call("append_wait")
        with self.order.lock:
            self.known |= event.known
            self.order.advance()
            self.order.merge(event.mark)

    def synchronise(self) -> Mark:
        """Wait for the whole queue, and return the mark that the registry wants."""
        with self.order.lock:
            number = self.order.advance()
            mark = self.order.mark_here()
        self.reach(number)
        with self.world.lock:
            self.world.complete |= self.known
        return mark


class Program:
    """A program on a fake driver: its queues and pools. The oracle checks every hand-out.

    ``limit`` is the memory of the device in bytes. Without ``virtual``, device memory comes in
    separate allocations, as that of the other kinds always does.
    """

    def __init__(
        self, *, limit: int = 1 << 40, virtual: bool = True, range_size: int = 256 * MIB
    ) -> None:
        self.driver = FakeDriver(limit=limit)
        self.calls = self.driver.calls
        self.world = World()
        self.registry = PoolRegistry(self.world.domain)
        fixed = HeapSource(self.driver)
        device = HeapSource(self.driver, self.driver, range_size) if virtual else fixed
        self.sources = {DEVICE: device, SHARED: fixed, HOST: fixed}

    def pool(
        self,
        *,
        name: str = "pool",
        release_threshold: int = 1 << 62,
        maximum_size: int = 0,
        maximum_pooled: int | None = None,
        policy: ReusePolicy | None = None,
    ) -> Pool:
        """Make a pool. Unlike the pools of users it keeps all memory unless told otherwise."""
        pool = Pool(
            self.registry,
            self.sources,
            name=name,
            release_threshold=release_threshold,
            maximum_size=maximum_size,
            maximum_pooled=maximum_pooled,
            policy=policy,
        )
        self.calls.locks.append(pool.lock)
        return pool

    def queue(self, *, eager: bool = False) -> FakeQueue:
        """Make a queue that runs only when told to, or at once."""
        return FakeQueue(self.world, self.calls, eager=eager)

    def alloc(
        self,
        pool: Pool,
        queue: FakeQueue,
        size: int,
        wait: Iterable[FakeEvent] = (),
        *,
        key: HeapKey = DEVICE,
    ) -> Block:
        """Allocate, ask the oracle, and append the waits."""
        events = tuple(wait)
        block = pool.allocate(queue.order, key, size, tuple(event.mark for event in events))
        known = queue.known.union(*(event.known for event in events))
        self.world.check_handed_out(queue, block, known)
        for event in events:
            queue.append_wait(event)
        return block

    def free(self, queue: FakeQueue, block: Block) -> None:
        """Free on a queue, as an adapter does it."""
        assert self.registry.claim(block.address) is block
        self.world.note_free(queue, block)
        block.heap.pool.free(block, queue.order, queue.order.sequence + 1)

    def finish(self, queue: FakeQueue) -> None:
        """Synchronise with a queue, as an adapter does it."""
        self.registry.synchronised(queue.synchronise())

    def close(self, queue: FakeQueue) -> None:
        """Complete a queue and close it."""
        self.finish(queue)
        queue.order.close()
