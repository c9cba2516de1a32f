# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What single calls cost: pairs of an allocation and a free, with and without events, each half by
itself, a synchronisation, a snapshot, threads, and what Python itself asks for the like."""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

import urasync_l0
from benchmarks import threads
from benchmarks.free_blocks import Clock, microseconds_a_pair
from benchmarks.rounds import Case, SharedMeasurement
from urasync_l0.ze.loader import DriverName

NBYTES = 4096
PAIRS = 2_000
BATCH = 256
FREED = (10, 1_000, 10_000, 100_000)
FREE_BLOCKS = (100, 10_000, 100_000)
SNAPSHOT_BLOCKS = 1_000
SNAPSHOTS = 5
MANY = 50_000
"""Cases with more blocks than this are measured once."""

Made = TypeVar("Made")


class Bench:
    """A context of one adapter whose pools keep what they have, and the cases on it.

    All is measured by one clock, but for what threads do together, which only the wall's can tell.
    """

    def __init__(
        self,
        adapter: str,
        driver: DriverName,
        stack: ExitStack,
        clock: Clock = time.thread_time_ns,
    ) -> None:
        self.adapter = adapter
        self.driver = driver
        self.clock = clock
        self.context = stack.enter_context(urasync_l0.Context(adapter=adapter, driver=driver))
        self.pool = self.context.create_pool(release_threshold=urasync_l0.KEEP_EVERYTHING)
        self.queue = self.context.create_queue()
        self.other = self.context.create_queue()
        self.appending = self.context.create_queue()
        assert self.appending.handle  # whoever has it may append, so each event is a signal there
        self.queue.free(self.queue.alloc_device(NBYTES, self.pool))
        self.queue.finish()
        self.context.default_pool(
            self.context.devices[0]
        ).release_threshold = urasync_l0.KEEP_EVERYTHING

    def cases(self) -> Iterator[Case]:
        """All cases, the cheap ones first."""
        yield self._case("pair", "no events", "µs a pair", self.pair)
        yield self._case("pair", "no events, a pool named", "µs a pair", self.pair_of_pool)
        yield self._case("pair", "no events, by address", "µs a pair", self.pair_by_address)
        events = self.pair_with_events
        yield self._case("pair", "an event for both calls", "µs a pair", events)
        appending = partial(events, self.appending)
        yield self._case("pair", "and a signal for each event", "µs a pair", appending)
        yield self._case("pair", "handed to another queue", "µs a pair", self.hand_over)
        for names, measure in (
            (("allocate", "free"), self.halves),
            (("record an event", "release an event"), self.event_halves),
        ):
            shared = SharedMeasurement(measure)
            for place, name in enumerate(names):
                yield self._case("call", name, "µs a call", partial(shared.value, place))
        appending = partial(self.record, self.appending)
        yield self._case("call", "both, and a signal for each event", "µs a call", appending)
        for count in FREED:
            name = f"{count:,} freed blocks"
            rounds = 1 if count > MANY else 100
            yield self._case("finish", name, "µs", partial(self.finish, count), rounds)
        for count in threads.THREADS:
            yield self._case("threads", f"{count}", "µs a pair", partial(self.threads, count), 3)
        yield self._case("snapshot", f"of {SNAPSHOT_BLOCKS:,} blocks", "µs", self.snapshot, 5)
        yield self._case("snapshot", "pair meanwhile", "µs a pair", self.pair_meanwhile, 3)
        yield self._case("start", "to a first context", "ms", self.start, 5)
        for count in FREE_BLOCKS:
            yield self._case(
                "free blocks",
                f"pair among {count:,}",
                "µs a pair",
                partial(self.among_free_blocks, count),
                1 if count > MANY else 2,
            )

    def _case(
        self, group: str, name: str, unit: str, measure: Callable[[], float], rounds: int = 100
    ) -> Case:
        return Case(group, name, self.adapter, unit, measure, rounds)

    def pair(self) -> float:
        """Allocate from the device's current pool and free."""
        allocate, free = self.queue.alloc_device, self.queue.free
        start = self.clock()
        for _ in range(PAIRS):
            free(allocate(NBYTES))
        return self._each(start, PAIRS)

    def pair_of_pool(self) -> float:
        """The same from a pool that the call names."""
        allocate, free, pool = self.queue.alloc_device, self.queue.free, self.pool
        start = self.clock()
        for _ in range(PAIRS):
            free(allocate(NBYTES, pool))
        return self._each(start, PAIRS)

    def pair_by_address(self) -> float:
        """The same without a Python object for the allocation."""
        allocate, free = self.queue.enqueue_alloc, self.queue.free
        kind = urasync_l0.UsmType.DEVICE
        start = self.clock()
        for _ in range(PAIRS):
            free(allocate(kind, NBYTES)[0])
        return self._each(start, PAIRS)

    def pair_with_events(self, queue: urasync_l0.Queue | None = None) -> float:
        """Allocate and free, each with an event that is dropped at once."""
        queue = queue or self.queue
        allocate, free = queue.alloc_device, queue.free
        count = PAIRS // 8
        start = self.clock()
        for _ in range(count):
            free(allocate(NBYTES, event=True), event=True)
        return self._each(start, count)

    def hand_over(self) -> float:
        """Free on one queue with an event, allocate on the other behind it."""
        one, two = self.queue, self.other
        count = PAIRS // 8
        allocation = one.alloc_device(NBYTES)
        start = self.clock()
        for _ in range(count):
            event = one.free(allocation, event=True)
            allocation = two.alloc_device(NBYTES, wait=(event,))
            one, two = two, one
        result = self._each(start, count)
        one.free(allocation)
        return result

    def halves(self) -> tuple[float, float]:
        """Allocations, and their frees."""
        allocate, free = self.queue.alloc_device, self.queue.free

        def free_all(row: list[urasync_l0.Allocation]) -> None:
            for allocation in row:
                free(allocation)

        return self._in_batches(lambda: [allocate(NBYTES) for _ in range(BATCH)], free_all)

    def event_halves(self) -> tuple[float, float]:
        """Recording events, and dropping them."""
        record = self.queue.record
        return self._in_batches(lambda: [record() for _ in range(BATCH)], list.clear)

    def _in_batches(
        self, make: Callable[[], list[Made]], unmake: Callable[[list[Made]], None]
    ) -> tuple[float, float]:
        """The two halves by themselves, `BATCH` of them at a time."""
        clock = self.clock
        making = unmaking = 0
        for _ in range(PAIRS // BATCH):
            start = clock()
            row = make()
            middle = clock()
            unmake(row)
            unmaking += clock() - middle
            making += middle - start
            self.queue.finish()
        count = PAIRS // BATCH * BATCH * 1000
        return making / count, unmaking / count

    def record(self, queue: urasync_l0.Queue) -> float:
        """Record an event and drop it."""
        record = queue.record
        count = PAIRS // 8
        start = self.clock()
        for _ in range(count):
            record()
        return self._each(start, count)

    def finish(self, count: int) -> float:
        """Synchronise after so many frees, in an order that lets no two neighbours meet early."""
        queue = self.queue
        row = [queue.alloc_device(256) for _ in range(count)]
        for allocation in (*row[::2], *row[1::2]):
            queue.free(allocation)
        start = self.clock()
        queue.finish()
        return self._each(start, 1)

    def threads(self, count: int) -> float:
        """Time a pair when so many threads work on queues and pools of their own."""
        return threads.microseconds_a_pair(self.context, count)

    def snapshot(self) -> float:
        """Take a snapshot of a pool with many blocks in use."""
        row = [self.queue.alloc_device(NBYTES) for _ in range(SNAPSHOT_BLOCKS)]
        start = self.clock()
        urasync_l0.take_snapshot()
        result = self._each(start, 1)
        for allocation in row:
            self.queue.free(allocation)
        self.queue.finish()
        return result

    def pair_meanwhile(self) -> float:
        """Time a pair while another thread takes twenty snapshots a second, of many blocks."""
        row = [self.queue.alloc_device(NBYTES) for _ in range(SNAPSHOT_BLOCKS)]
        stop = threading.Event()
        taken = 0

        def watch() -> None:
            nonlocal taken
            while not stop.wait(0.05):
                urasync_l0.take_snapshot()
                taken += 1

        watcher = threading.Thread(target=watch)
        watcher.start()
        times = []
        try:
            while taken < SNAPSHOTS and watcher.is_alive():
                times.append(self.pair())
        finally:
            stop.set()
            watcher.join()
        for allocation in row:
            self.queue.free(allocation)
        self.queue.finish()
        if taken < SNAPSHOTS:
            raise RuntimeError("a snapshot failed; what it raised is printed above")
        return statistics.fmean(times)

    def start(self) -> float:
        """Import the package in a new process and get a context there."""
        return start_time(
            f"import urasync_l0\n"
            f"context = urasync_l0.Context(adapter={self.adapter!r}, driver={self.driver!r})",
            self.clock,
        )

    def among_free_blocks(self, count: int) -> float:
        """Time a pair among so many free blocks of many sizes."""
        return microseconds_a_pair(self.context, "many sizes", count, self.clock)

    def _each(self, start: int, count: int) -> float:
        return (self.clock() - start) / count / 1000


def start_time(code: str, clock: Clock) -> float:
    """Milliseconds that this code takes in a new process, beyond Python's own start."""
    program = (
        f"from time import {clock.__name__} as clock\nstart = clock()\n{code}\n"
        "print((clock() - start) / 1e6)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return float(run.stdout)


class _FreeList:
    """The barest allocator that Python can express: what a pair costs without a pool behind it."""

    __slots__ = ("free_lists", "sizes")

    def __init__(self) -> None:
        self.free_lists: dict[int, list[int]] = {NBYTES: [1 << 32]}
        self.sizes: dict[int, int] = {}

    def allocate(self, nbytes: int) -> int:
        address = self.free_lists[nbytes].pop()
        self.sizes[address] = nbytes
        return address

    def free(self, address: int) -> None:
        self.free_lists[self.sizes.pop(address)].append(address)


def barest_pair(clock: Clock) -> float:
    """A pair of a free list in Python, for scale."""
    free_list = _FreeList()
    allocate, free = free_list.allocate, free_list.free
    start = clock()
    for _ in range(PAIRS):
        free(allocate(NBYTES))
    return (clock() - start) / PAIRS / 1000


def common_cases(clock: Clock = time.thread_time_ns) -> Iterator[Case]:
    """Cases in which no adapter takes part."""
    barest = partial(barest_pair, clock)
    yield Case("for scale", "a free list in Python", "", "µs a pair", barest)
    imported = partial(start_time, "import urasync_l0", clock)
    yield Case("start", "import urasync_l0", "", "ms", imported, 5)
