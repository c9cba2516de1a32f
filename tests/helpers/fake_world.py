# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pool core alone, on fake queues and a fake driver, as a world of the pool machine.

What an adapter does around the core is done here in its simplest form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tests.helpers.pool_fakes import DEVICE, HOST, SHARED, FakeEvent, FakeQueue, Program
from tests.helpers.pool_machine import Failure, Held, PoolSettings, World
from urasync_l0.enums import UsmType
from urasync_l0.pool import Pool
from urasync_l0.result import InvalidEventWaitListError, UrResult

_KEYS = {UsmType.DEVICE: DEVICE, UsmType.SHARED: SHARED, UsmType.HOST: HOST}

_CALLS = {"signal": "append_signal", "wait": "append_wait", "host wait": "wait"}
"""The fake names of driver calls, where they are others."""


class FakeWorld(World[FakeQueue, FakeEvent, Pool]):
    """Fake queues, with the core's own pools. ``virtual``: device memory comes in pages."""

    def __init__(self, device_memory: int, *, virtual: bool) -> None:
        self.program = Program(limit=device_memory, virtual=virtual, range_size=64 << 20)
        self.oracle = self.program.world
        self.registry = self.program.registry
        self.program.driver.on_give_back = self.program.world.check_given_back

    def create_queue(self) -> FakeQueue:
        return self.program.queue()

    def close_queue(self, queue: FakeQueue) -> None:
        self.program.close(queue)

    def create_pool(self, how: PoolSettings) -> Pool:
        return self.program.pool(
            release_threshold=how.release_threshold,
            maximum_size=how.maximum_size,
            maximum_pooled=how.maximum_pooled,
            policy=how.policy,
        )

    def close_pool(self, pool: Pool) -> None:
        pool.close()

    def core(self, pool: Pool) -> Pool:
        return pool

    def allocate(
        self,
        queue: FakeQueue,
        pool: Pool,
        kind: UsmType,
        nbytes: int,
        waits: Sequence[FakeEvent],
        *,
        signal: bool,
    ) -> tuple[Held[FakeQueue, Pool], FakeEvent | None]:
        _check(waits)
        marks = tuple(event.mark for event in waits)
        block = pool.allocate(queue.order, _KEYS[kind], nbytes, marks)
        try:
            self.wait(queue, waits)
            event = queue.append_marker() if signal else None
        except BaseException:
            pool.give_back(block)
            raise
        return Held(block, pool, kind, block.address, block.size, block.requested, queue), event

    def hand_over(self, queue: FakeQueue, held: Held[FakeQueue, Pool]) -> None:
        if held.last is not queue and held.last.order.is_open:
            event = held.last.append_marker()
            queue.append_wait(event)
            event.release()

    def free(
        self,
        queue: FakeQueue,
        held: Held[FakeQueue, Pool],
        waits: Sequence[FakeEvent],
        *,
        signal: bool,
    ) -> tuple[FakeEvent | None]:
        _check(waits)
        block = held.token
        assert self.registry.claim(held.address) is block
        try:
            self.wait(queue, waits)
            stamp = queue.order.sequence + 1
            event = queue.append_marker() if signal else None
        except BaseException:
            self.registry.restore(block)
            raise
        free = self.program.world.note_free(queue, block)
        if event is not None:
            event.known |= {free}
        held.pool.free(block, queue.order, stamp)
        return (event,)

    def record(self, queue: FakeQueue) -> FakeEvent:
        return queue.append_marker()

    def release(self, event: FakeEvent) -> None:
        event.release()

    def wait(self, queue: FakeQueue, waits: Sequence[FakeEvent]) -> None:
        _check(waits)
        for event in waits:
            queue.append_wait(event)

    def run(self, queue: FakeQueue, quarters: int) -> None:
        queue.reach(queue.reached + (queue.order.sequence - queue.reached) * quarters // 4)

    def finish(self, queue: FakeQueue) -> None:
        self.program.finish(queue)

    def look(self, event: FakeEvent, *, wait: bool) -> None:
        if wait:
            event.queue.reach(event.mark.number)
        if event.query():
            self.registry.completed(event.mark)

    def held_bytes(self) -> int:
        return self.program.driver.held

    @contextmanager
    def failing(self, failure: Failure) -> Iterator[Callable[[], bool]]:
        calls = self.program.calls
        calls.only = _CALLS.get(failure.call, failure.call)
        calls.code = UrResult.OUT_OF_DEVICE_MEMORY if failure.out_of_memory else UrResult.UNKNOWN
        calls.fail_after = failure.nth - 1
        try:
            yield lambda: not calls.failing
        finally:
            calls.fail_after = None

    def end(self, *, clean: bool) -> None:
        if clean:
            self.registry.close()
            assert self.program.driver.objects() == (0, 0, 0, 0)
            assert self.program.world.live_events == 0


def _check(waits: Sequence[FakeEvent]) -> None:
    if any(event.released for event in waits):
        raise InvalidEventWaitListError("the wait list holds a released event")
