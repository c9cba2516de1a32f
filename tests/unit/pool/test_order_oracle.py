# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of several queues against an oracle that knows who may touch which byte when.

Named rules of the field reports proved here: ORD-1, ORD-2, ORD-4, ORD-5, ORD-7, ERR-1, ERR-8,
STAT-1 (see ``tests/helpers/pool_fakes.py`` for what the oracle knows).
"""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.helpers.pool_fakes import FakeDriver, FakeEvent, FakeQueue, World
from urasync_l0.enums import UsmType
from urasync_l0.pool import Block, HeapSource, Pool, PoolRegistry, ReusePolicy
from urasync_l0.result import OutOfMemoryError, UrError, UrResult

MIB = 1 << 20
DEVICE = (UsmType.DEVICE, 0)
SHARED = (UsmType.SHARED, 0)

sizes = st.one_of(
    st.integers(1, 2000),
    st.integers(1, 3 * MIB),
    st.sampled_from([256, 4096, 2 * MIB, 2 * MIB + 1, 5 * MIB]),
)


class PoolMachine(RuleBasedStateMachine):
    """Queues that allocate, free, wait, run and fail, in any order."""

    @initialize(
        virtual=st.booleans(),
        limit=st.sampled_from([0, 16 * MIB]),
        device=st.sampled_from([1 << 40, 24 * MIB]),
        policy=st.builds(ReusePolicy, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    )
    def start(self, virtual: bool, limit: int, device: int, policy: ReusePolicy) -> None:
        self.driver = FakeDriver(limit=device)
        self.world = World()
        self.registry = PoolRegistry(self.world.domain)
        source = HeapSource(self.driver, self.driver if virtual else None, 64 * MIB)
        shared = HeapSource(self.driver)
        self.pool = Pool(
            self.registry,
            {DEVICE: source, SHARED: shared},
            release_threshold=8 * MIB,
            maximum_size=limit,
            policy=policy,
        )
        self.queues = [FakeQueue(self.world, self.driver.calls) for _ in range(3)]
        self.blocks: list[Block] = []
        self.events: list[FakeEvent] = []

    def pick(self, data: st.DataObject) -> FakeQueue:
        return data.draw(st.sampled_from(self.queues), label="queue")

    @rule(data=st.data(), size=sizes, shared=st.booleans())
    def allocate(self, data: st.DataObject, size: int, shared: bool) -> None:
        queue = self.pick(data)
        events = data.draw(
            st.lists(st.sampled_from(self.events), max_size=2) if self.events else st.just([]),
            label="wait list",
        )
        try:
            block = self.pool.allocate(
                queue.order,
                SHARED if shared else DEVICE,
                size,
                tuple(event.mark for event in events),
            )
        except OutOfMemoryError:
            return
        known = queue.known.union(*(event.known for event in events))
        self.world.check_handed_out(queue, block, known)
        if data.draw(st.booleans(), label="a later step fails"):
            self.pool.give_back(block)
            return
        for event in events:
            queue.append_wait(event)
        self.blocks.append(block)

    @rule(data=st.data(), size=sizes, nth=st.integers(0, 6), memory=st.booleans())
    def allocate_with_failure(self, data: st.DataObject, size: int, nth: int, memory: bool) -> None:
        queue = self.pick(data)
        calls = self.driver.calls
        before = (self.pool.statistics().used, self.pool.statistics().requested)
        waits = self.pool.statistics().inserted_waits
        calls.fail_after = nth
        calls.code = UrResult.OUT_OF_DEVICE_MEMORY if memory else UrResult.DEVICE_LOST
        try:
            block = self.pool.allocate(queue.order, DEVICE, size)
        except UrError:
            after = self.pool.statistics()
            assert (after.used, after.requested) == before
            assert after.inserted_waits >= waits
        else:
            self.world.check_handed_out(queue, block, queue.known)
            self.blocks.append(block)
        finally:
            calls.fail_after = None

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        queue = self.pick(data)
        block = self.blocks.pop(data.draw(st.integers(0, len(self.blocks) - 1), label="block"))
        assert self.registry.claim(block.address) is block
        self.world.note_free(queue, block)
        self.pool.free(block, queue.order, queue.order.sequence + 1)

    @rule(data=st.data())
    def record(self, data: st.DataObject) -> None:
        self.events.append(self.pick(data).append_marker())

    @precondition(lambda self: self.events)
    @rule(data=st.data())
    def wait(self, data: st.DataObject) -> None:
        self.pick(data).append_wait(data.draw(st.sampled_from(self.events), label="event"))

    @rule(data=st.data())
    def run(self, data: st.DataObject) -> None:
        queue = self.pick(data)
        queue.reach(data.draw(st.integers(0, queue.order.sequence), label="up to"))

    @rule(data=st.data())
    def synchronise(self, data: st.DataObject) -> None:
        self.registry.synchronised(self.pick(data).synchronise())

    @rule(keep=st.integers(0, 20 * MIB))
    def trim(self, keep: int) -> None:
        before = self.pool.statistics()
        self.pool.trim_to(keep)
        after = self.pool.statistics()
        assert after.reserved >= min(keep, before.reserved)
        assert (after.used, after.pending) == (before.used, before.pending)

    @rule(data=st.data())
    def replace_queue(self, data: st.DataObject) -> None:
        position = data.draw(st.integers(0, len(self.queues) - 1), label="queue to close")
        queue = self.queues[position]
        self.registry.synchronised(queue.synchronise())
        queue.order.close()
        self.queues[position] = FakeQueue(self.world, self.driver.calls)

    @invariant()
    def numbers_hold(self) -> None:
        numbers = self.pool.statistics()
        assert numbers.used == sum(block.size for block in self.blocks)
        assert numbers.requested == sum(block.requested for block in self.blocks)
        assert numbers.used + numbers.pending + numbers.idle == numbers.reserved
        assert numbers.reserved == self.driver.held
        assert numbers.used <= numbers.used_high <= numbers.reserved_high
        assert numbers.reserved <= numbers.reserved_high
        assert not self.pool.maximum_size or numbers.reserved <= self.pool.maximum_size
        self.pool.check()

    def teardown(self) -> None:
        if not hasattr(self, "pool"):
            return
        for queue in self.queues:
            self.registry.synchronised(queue.synchronise())
            queue.order.close()
        for event in self.events:
            event.release()
        self.registry.close()
        assert self.driver.objects() == (0, 0, 0, 0)
        assert self.world.live_events == 0


PoolMachine.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestPoolMachine = pytest.mark.slow(PoolMachine.TestCase)
