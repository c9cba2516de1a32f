# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One pool, many threads. Each hand-out is checked twice: the oracle knows whether the bytes were
free for the queue, and a table of owners whether two live blocks overlap."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.helpers.pool_fakes import DEVICE, HOST, MIB, SHARED, FakeQueue, Program
from tests.helpers.threads import run_together, switching_often
from urasync_l0.pool import Block, HeapKey, Pool, structure
from urasync_l0.result import InvalidMemObjectError, OutOfMemoryError

THREADS = 8
TIMEOUT = 100
"""Seconds after which a thread counts as stuck."""


@pytest.fixture(autouse=True)
def switch_threads_often() -> Iterator[None]:
    """Let threads meet at as many places as possible."""
    with switching_often():
        yield


def test_every_thread_gets_the_lock() -> None:
    """In any order, one at a time, and none is forgotten while it waits."""
    lock = structure.Lock()
    inside: list[int] = []
    most = 0
    rounds = 300

    def work(thread: int) -> None:
        nonlocal most
        for _ in range(rounds):
            with lock:
                inside.append(thread)
                most = max(most, len(inside))
                time.sleep(0)  # another thread may run, and wait
                assert lock.locked()
                assert inside.pop() == thread

    run_together(work, THREADS)
    assert most == 1
    assert not lock.locked()


class Owners:
    """Which bytes are in use, by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: dict[int, int] = {}

    def take(self, block: Block) -> None:
        """Note a block; fail if a byte of it has an owner."""
        with self._lock:
            for start, end in self._blocks.items():
                assert not (start < block.end and block.address < end), f"{block} is in use"
            self._blocks[block.address] = block.end

    def leave(self, block: Block) -> None:
        """The block is about to be freed."""
        with self._lock:
            assert self._blocks.pop(block.address) == block.end


class Threads:
    """Threads that allocate, free, wait for each other, synchronise and trim at random."""

    def __init__(self, program: Program, pool: Pool, queues: list[FakeQueue]) -> None:
        self.program = program
        self.pool = pool
        self.queues = queues
        self.owners = Owners()
        self.refused = 0
        program.calls.locks.clear()  # another thread may hold them

    def run(self, steps: int, keys: list[HeapKey]) -> None:
        """Run all threads to their ends; raise the first error of any."""
        start = threading.Barrier(THREADS)
        with ThreadPoolExecutor(THREADS) as executor:
            futures = [
                executor.submit(self._work, number, start, steps, keys) for number in range(THREADS)
            ]
            for future in futures:
                future.result(timeout=TIMEOUT)

    def _work(self, number: int, start: threading.Barrier, steps: int, keys: list[HeapKey]) -> None:
        chance = random.Random(number)
        queue = self.queues[number % len(self.queues)]
        live: list[Block] = []
        start.wait(TIMEOUT)
        for _ in range(steps):
            action = chance.random()
            if action < 0.5 and len(live) < 6:
                self._allocate(chance, queue, live, keys)
            elif action < 0.9 and live:
                self._free(queue, live.pop(chance.randrange(len(live))))
            elif action < 0.95:
                other = chance.choice(self.queues)
                event = other.append_marker()
                if chance.random() < 0.5:
                    other.reach(event.mark.number)
                if other is not queue:
                    queue.append_wait(event)
                event.release()
            elif action < 0.99:
                self.program.finish(queue)
            else:
                self.pool.trim_to(chance.randrange(8) * MIB)
        for block in live:
            self._free(queue, block)

    def _allocate(
        self, chance: random.Random, queue: FakeQueue, live: list[Block], keys: list[HeapKey]
    ) -> None:
        size = int(2 ** chance.uniform(0, 21.5))
        try:
            block = self.program.alloc(self.pool, queue, size, key=chance.choice(keys))
        except OutOfMemoryError:
            self.refused += 1
            return
        self.owners.take(block)
        if chance.random() < 0.1 and len(self.queues) == THREADS:
            # On a queue of its own: nobody may have been handed anything by this block's rest.
            self.owners.leave(block)
            self.pool.give_back(block)
        else:
            live.append(block)

    def _free(self, queue: FakeQueue, block: Block) -> None:
        self.owners.leave(block)
        self.program.free(queue, block)

    def check(self) -> None:
        """Everything is free: complete it, and compare all numbers with the driver's."""
        self.pool.check()
        for queue in self.queues:
            self.program.close(queue)
        self.pool.check()
        numbers = self.pool.statistics()
        assert numbers.used == numbers.requested == numbers.pending == 0
        assert numbers.idle == numbers.reserved == self.program.driver.held
        assert numbers.allocations == numbers.frees > 0
        assert numbers.reserved_high >= numbers.used_high
        assert numbers.out_of_memory == self.refused
        assert not self.program.registry.live
        self.pool.close()
        assert self.program.driver.objects() == (0, 0, 0, 0)
        assert self.program.world.live_events == 0


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False], ids=["own queues", "one queue"])
@pytest.mark.parametrize(
    ("device", "limit", "virtual", "keys"),
    [
        (1 << 40, 0, True, [DEVICE]),
        (1 << 40, 8 * MIB, True, [DEVICE, SHARED]),
        (12 * MIB, 0, True, [DEVICE, SHARED, HOST]),
        (12 * MIB, 10 * MIB, False, [DEVICE, SHARED]),
    ],
    ids=["ample", "limited", "full device", "segments"],
)
def test_threads_never_share_a_byte(
    own: bool, device: int, limit: int, virtual: bool, keys: list[HeapKey]
) -> None:
    """MT-1, ORD-7: eight threads, each on its own queue or all on one, in one pool with little
    memory; every byte has one owner at a time, in the order that the queues know of."""
    program = Program(limit=device, virtual=virtual, range_size=16 * MIB)
    pool = program.pool(maximum_size=limit, release_threshold=4 * MIB)
    queues = [program.queue() for _ in range(THREADS if own else 1)]
    threads = Threads(program, pool, queues)
    threads.run(1000, keys)
    assert not limit or pool.statistics().reserved_high <= limit
    threads.check()


def test_of_two_frees_of_one_address_one_is_refused() -> None:
    """ERR-9 with threads: taking a block out of the live table is one step."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    program.calls.locks.clear()
    for _ in range(200):
        block = program.alloc(pool, queue, 256)
        start = threading.Barrier(4)

        def free(block: Block = block, start: threading.Barrier = start) -> bool:
            start.wait(TIMEOUT)
            try:
                program.registry.claim(block.address)
            except InvalidMemObjectError:
                return False
            pool.free(block, queue.order, queue.order.sequence + 1)
            return True

        with ThreadPoolExecutor(4) as executor:
            futures = [executor.submit(free) for _ in range(4)]
            assert sum(future.result(timeout=TIMEOUT) for future in futures) == 1
    assert pool.statistics().frees == 200
    pool.check()


def test_markers_placed_by_threads_at_once_are_released_once() -> None:
    """ORD-10: threads that place, hold, poll and retire markers of one queue; the fake's events
    fail when they are released twice or looked at afterwards."""
    program = Program()
    queue = program.queue()
    start = threading.Barrier(THREADS)

    def work(number: int) -> None:
        chance = random.Random(number)
        start.wait(TIMEOUT)
        for _ in range(200):
            marker = queue.order.marker_covering(chance.randrange(queue.order.sequence + 2))
            queue.reach(chance.randrange(queue.order.sequence + 1))
            marker.query()
            queue.order.poll_markers(3)
            if chance.random() < 0.1 and marker.wait(2**64 - 1):
                queue.order.retire(marker)
            marker.release()

    with ThreadPoolExecutor(THREADS) as executor:
        for future in [executor.submit(work, number) for number in range(THREADS)]:
            future.result(timeout=TIMEOUT)
    queue.order.close()
    assert program.world.live_events == 0
