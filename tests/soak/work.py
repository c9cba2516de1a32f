# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each thread of a soak does: random operations on queues that all threads share.

Every allocation is filled with a byte of its own when it is made; before it is freed it is copied
out in the order of the queue that frees it, and every byte of the copy is looked at. What uses an
allocation is ordered by events, so that the driver's checker has nothing to report.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.helpers.usm import KINDS, TIMEOUT_NS, alloc
from urasync_l0 import Allocation, Context, Event, Pool, Queue, UsmPoolFlag
from urasync_l0.enums import NO_POOL_FLAGS
from urasync_l0.result import OutOfMemoryError

LARGEST = 21
"""Exponent of the largest allocation; most are much smaller."""

_HELD_AT_MOST = 24
_COPIES_AT_MOST = 32
_POOL_BYTES = 64 << 20


@dataclass(eq=False)
class Held:
    """An allocation, the byte that it is filled with, and the event after its last use."""

    allocation: Allocation
    pattern: int
    last_use: Event


@dataclass(eq=False)
class Copy:
    """What was copied out of an allocation, once the event has happened."""

    bytes: bytearray
    pattern: int
    done: Event


@dataclass(eq=False)
class Worker:
    """The state of one thread."""

    context: Context
    queues: list[Queue]
    pools: list[Pool]
    random: random.Random
    stop: threading.Event
    held: list[Held] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        """Do one thing after another until it is time to stop; then free and check everything."""
        operations = (
            (self._allocate, 40),
            (self._free, 38),
            (self._use, 10),
            (self._drop, 2),
            (self._finish, 1),
            (self._look, 6),
            (self._pool_of_its_own, 1),
            (self._trim, 1),
        )
        actions = [action for action, weight in operations for _ in range(weight)]
        while not self.stop.is_set():
            action = self.random.choice(actions)
            self.counts[action.__name__.lstrip("_")] += 1
            action()
        while self.held:
            self._free()
        self._check(len(self.copies))

    def _queue(self) -> Queue:
        return self.random.choice(self.queues)

    def _allocate(self) -> None:
        if len(self.held) >= _HELD_AT_MOST:
            self._free()
        queue = self._queue()
        nbytes = self.random.randint(1, 1 << self.random.randint(8, LARGEST))
        kind = self.random.choice(KINDS)
        pool = self.random.choice(self.pools) if self.random.random() < 0.3 else None
        try:
            allocation = alloc(queue, kind, nbytes, pool=pool)
        except OutOfMemoryError:  # pools have a limit, and others may hold what is in it
            self.counts["out of memory"] += 1
            return
        pattern = self.random.randrange(256)
        event = queue.fill(allocation, bytes([pattern]), event=True)
        self.held.append(Held(allocation, pattern, event))

    def _take(self) -> Held | None:
        if not self.held:
            return None
        place = self.random.randrange(len(self.held))
        self.held[place], self.held[-1] = self.held[-1], self.held[place]
        return self.held.pop()

    def _use(self) -> None:
        """Fill an allocation anew, on another queue perhaps."""
        held = self._take()
        if held is None:
            return
        queue = self._queue()
        held.pattern = self.random.randrange(256)
        event = queue.fill(held.allocation, bytes([held.pattern]), wait=[held.last_use], event=True)
        held.last_use = event
        self.held.append(held)

    def _free(self) -> None:
        held = self._take()
        if held is None:
            return
        queue = self._queue()
        target = bytearray(held.allocation.nbytes)
        done = queue.memcpy(target, held.allocation, wait=[held.last_use], event=True)
        if self.random.random() < 0.2:
            queue = self._queue()
            held.allocation.free(queue, wait=[done])
        else:
            held.allocation.free(queue)
        self.copies.append(Copy(target, held.pattern, done))
        if len(self.copies) > _COPIES_AT_MOST:
            self._check(_COPIES_AT_MOST // 2)

    def _drop(self) -> None:
        """Let go of an allocation, which is then freed on the queue that made it."""
        held = self._take()
        if held is not None:
            assert held.allocation.queue is not None
            held.allocation.queue.wait([held.last_use])

    def _check(self, number: int) -> None:
        for copy in self.copies[:number]:
            assert copy.done.wait(TIMEOUT_NS), "a copy does not come to its end"
            size = len(copy.bytes)
            wrong = size - copy.bytes.count(copy.pattern)
            assert not wrong, f"{wrong} of {size} bytes are not {copy.pattern:#x}"
            copy.done.release()
            self.counts["bytes looked at"] += size
        del self.copies[:number]

    def _finish(self) -> None:
        assert self._queue().finish(TIMEOUT_NS), "a queue does not finish"

    def _look(self) -> None:
        """Ask whether something is complete, as programs do."""
        if self.held:
            self.random.choice(self.held).last_use.is_complete()

    def _trim(self) -> None:
        self.random.choice(self.pools).trim_to(self.random.randrange(1 << LARGEST))

    def _pool_of_its_own(self) -> None:
        """A pool that lives for a moment: its memory goes when the last free is complete."""
        queue = self._queue()
        flags = self.random.choice((NO_POOL_FLAGS, UsmPoolFlag.ZERO_INITIALIZE_BLOCK))
        pool = self.context.create_pool(queue.device, maximum_size=_POOL_BYTES, flags=flags)
        memory = queue.alloc_device(self.random.randint(1, 1 << 16), pool=pool)
        pool.close()
        memory.free()
