# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``--demo``: a small program in this process, on the software driver, for the views to look at."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import urasync_l0
from urasync_l0.inspection import take_snapshot
from urasync_l0.recording import record_allocations
from urasync_l0.tools.attachment import Source

_STEPS_AT_FIRST = 400
_PAUSE_SECONDS = 0.001
_CHUNK = 64 << 10


class _Program:
    """Queues that allocate, hand over and free, in steps; the same ones every time."""

    def __init__(self, context: urasync_l0.Context) -> None:
        self._draw = random.Random(7)
        self._queues = [context.create_queue() for _ in range(3)]
        pool = context.default_pool()
        pool.release_threshold = 96 << 20
        self._cache = context.create_pool(
            0, release_threshold=urasync_l0.KEEP_EVERYTHING, maximum_size=256 << 20
        )
        self._weights = [self._queues[0].alloc_device(size << 20) for size in (24, 12, 12, 3)]
        self._kept: deque[tuple[int, urasync_l0.Allocation]] = deque()

    def step(self) -> None:
        """Allocate a few things, and free what is old."""
        number = self._draw.randrange(len(self._queues))
        queue = self._queues[number]
        size = self._draw.choice((1, 2, 3, 5, 8, 13, 21, 34)) * _CHUNK
        self._kept.append((number, queue.alloc_device(size)))
        if self._draw.random() < 0.2:
            self._kept.append((number, queue.alloc_device(size, pool=self._cache)))
        while len(self._kept) > 40 + self._draw.randrange(20):
            owner, allocation = self._kept.popleft()
            if self._draw.random() < 0.1:
                after = self._queues[(owner + 1) % 3]
                after.wait(self._queues[owner].record())
                after.free(allocation)
            else:
                self._queues[owner].free(allocation)
        if self._draw.random() < 0.01:
            queue.finish(10_000_000_000)


@contextmanager
def demonstration(*, running: bool) -> Iterator[Source]:
    """Make the program, and let it do some steps; if ``running`` it goes on with them meanwhile."""
    stop = threading.Event()
    with (
        record_allocations(tracebacks=2, history=10_000),
        urasync_l0.Context(adapter="v2", driver="software") as context,
    ):
        program = _Program(context)
        for _ in range(_STEPS_AT_FIRST):
            program.step()

        def run() -> None:
            while not stop.wait(_PAUSE_SECONDS):
                program.step()

        thread = threading.Thread(target=run, daemon=True)
        if running:
            thread.start()
        try:
            yield lambda blocks: take_snapshot(blocks=blocks)
        finally:
            stop.set()
            if running:
                thread.join()
