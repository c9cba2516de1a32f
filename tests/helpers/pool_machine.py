# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of several queues and pools, against an oracle: one machine for several worlds.

A world is what lies under the rules: the pool core alone on fake queues (``fake_world``), or a
context of an adapter on a real loader (``real_world``). The rules are the same: queues that
allocate, free, wait, run, finish, are closed and fail, in any order, on two pools of any settings.
After each step the numbers are right, what the driver gave is what the pools hold, and no place in
the order of queues is said to be complete, or ahead of another, that the oracle does not know so.

Nothing that is drawn depends on what the program did before, so that a step which comes out
differently when a program is run again is no trouble: a choice is taken modulo what there is.
"""

from __future__ import annotations

import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.helpers.oracle import Oracle
from urasync_l0.enums import UsmType
from urasync_l0.pool import Mark, Pool, PoolRegistry, PoolStatistics, QueueOrder, ReusePolicy
from urasync_l0.result import (
    InvalidEventWaitListError,
    InvalidValueError,
    OutOfMemoryError,
    UrError,
)

MIB = 1 << 20

QUEUES = 3
POOLS = 2
_EVENTS_AT_MOST = 12

FAILING_CALLS = (
    "allocate",
    "free",
    "reserve",
    "release",
    "create",
    "destroy",
    "map",
    "unmap",
    "signal",
    "wait",
    "query",
    "host wait",
    "event",
    "reset",
    "fill",
)
"""What the driver may refuse. A world leaves out what it does not have."""


@dataclass(frozen=True)
class Failure:
    """The ``nth`` driver call of a name (1 is the next) fails, for want of memory or otherwise."""

    call: str
    nth: int = 1
    out_of_memory: bool = False


@dataclass(frozen=True)
class PoolSettings:
    """How a pool is made; see `urasync_l0.Context.create_pool`."""

    release_threshold: int
    maximum_size: int
    maximum_pooled: int | None
    zero: bool
    policy: ReusePolicy


class WorldQueue(Protocol):
    """A queue, and the frees that the oracle knows to be before its tail."""

    known: set[int]

    @property
    def order(self) -> QueueOrder:
        """Its place in the order of queues."""


class WorldEvent(Protocol):
    """An event, and the frees that the oracle knows to be before it."""

    @property
    def known(self) -> frozenset[int]:
        """Those frees."""

    @property
    def mark(self) -> Mark:
        """Where the signal stands."""

    @property
    def released(self) -> bool:
        """Whether it was given back."""


class WorldPool(Protocol):
    """What pools of users and of the core have in common."""

    release_threshold: int

    @property
    def maximum_size(self) -> int:
        """Its limit in bytes; 0 is none."""

    def statistics(self) -> PoolStatistics:
        """Its numbers."""

    def trim_to(self, nbytes: int, /) -> None:
        """Give idle memory back."""


Q = TypeVar("Q", bound=WorldQueue)
E = TypeVar("E", bound=WorldEvent)
P = TypeVar("P", bound=WorldPool)


@dataclass(eq=False)
class Held(Generic[Q, P]):
    """An allocation in use. ``last`` is the queue whose tail comes after all uses of it."""

    token: Any
    pool: P
    kind: UsmType
    address: int
    size: int
    requested: int
    last: Q
    pattern: int = 0

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.address + self.size


class World(ABC, Generic[Q, E, P]):
    """What the rules act on. Each method that calls the product raises what the product raises."""

    oracle: Oracle
    registry: PoolRegistry

    @abstractmethod
    def create_queue(self) -> Q:
        """A queue that runs nothing until it is told to."""

    @abstractmethod
    def close_queue(self, queue: Q) -> None:
        """Complete a queue and close it."""

    @abstractmethod
    def create_pool(self, how: PoolSettings) -> P:
        """A pool of device, shared and host memory."""

    @abstractmethod
    def close_pool(self, pool: P) -> None:
        """Destroy a pool."""

    @abstractmethod
    def core(self, pool: P) -> Pool:
        """The core of a pool."""

    @abstractmethod
    def allocate(
        self, queue: Q, pool: P, kind: UsmType, nbytes: int, waits: Sequence[E], *, signal: bool
    ) -> tuple[Held[Q, P], E | None]:
        """Allocate behind waits, with an event if asked for; the queue then knows their frees."""

    def begin(self, queue: Q, held: Held[Q, P]) -> None:
        """Write something to memory that the queue may use from now on."""

    @abstractmethod
    def hand_over(self, queue: Q, held: Held[Q, P]) -> None:
        """Let another queue use memory after the last one that did."""

    def prepare_free(self, queue: Q, held: Held[Q, P], *, by_event: bool) -> Sequence[E]:
        """Do the last use of memory that ``queue`` will free; what the free must wait for.

        If another queue uses it last, the use is put there with ``by_event``, else on ``queue``.
        """
        return ()

    @abstractmethod
    def free(
        self, queue: Q, held: Held[Q, P], waits: Sequence[E], *, signal: bool
    ) -> tuple[E | None]:
        """Free behind waits, with an event if asked for; the oracle and the queue know it then."""

    @abstractmethod
    def record(self, queue: Q) -> E:
        """An event behind everything that the queue was given."""

    @abstractmethod
    def release(self, event: E) -> None:
        """Give an event back."""

    @abstractmethod
    def wait(self, queue: Q, waits: Sequence[E]) -> None:
        """Append waits; the queue then knows their frees."""

    @abstractmethod
    def run(self, queue: Q, quarters: int) -> None:
        """Let a queue run so many quarters of what it was given and has not done."""

    @abstractmethod
    def finish(self, queue: Q) -> None:
        """Wait for all of a queue, and let run what it waits for."""

    @abstractmethod
    def look(self, event: E, *, wait: bool) -> None:
        """Query an event, or wait for it and let run what it waits for."""

    @abstractmethod
    def held_bytes(self) -> int:
        """Bytes of memory that the driver has given."""

    @abstractmethod
    def failing(self, failure: Failure) -> AbstractContextManager[Callable[[], bool]]:
        """Let a driver call fail within a ``with`` block; gives what tells if it did."""

    def check(self) -> None:
        """Fail if a queue has run ahead of what it had to wait for."""

    def settle(self) -> None:
        """Let everything run to its end, and look at what the queues have read."""

    @abstractmethod
    def end(self, *, clean: bool) -> None:
        """Give everything back. If all went well, look whether anything is left."""


sizes = st.one_of(
    st.sampled_from([256, 5000, 70_000, MIB, 2 * MIB, 2 * MIB + 1, 5 * MIB]),
    st.sampled_from([256, 5000, 70_000, MIB]),
    st.integers(1, 3 * MIB),
)
queues = st.integers(0, QUEUES - 1)
pools = st.sampled_from([0, 0, 0, 1])
counts = st.integers(1, 6)
choices = st.one_of(st.integers(0, 2), st.integers(0, 30))
events = st.lists(choices, max_size=3)
kinds = st.sampled_from([UsmType.DEVICE, UsmType.DEVICE, UsmType.SHARED, UsmType.HOST])
policies = st.one_of(
    st.just(ReusePolicy()),
    st.just(ReusePolicy()),
    st.builds(ReusePolicy, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)
pool_settings = st.builds(
    PoolSettings,
    release_threshold=st.sampled_from([8 * MIB, 0, 1 << 62]),
    maximum_size=st.sampled_from([0, 0, 16 * MIB, 8 * MIB, 4 * MIB]),
    maximum_pooled=st.sampled_from([None, None, None, 64 << 10]),
    zero=st.booleans(),
    policy=policies,
)
failures = st.builds(Failure, st.sampled_from(FAILING_CALLS), st.integers(1, 4), st.booleans())


class PoolMachine(RuleBasedStateMachine, Generic[Q, E, P]):
    """Queues that allocate, free, wait, run and fail, in any order. A world is made in `start`."""

    world: World[Q, E, P]
    has_failed: ClassVar[bool] = False

    def make_world(self, device_memory: int) -> World[Q, E, P]:
        """The world of one program; its device has so many bytes."""
        raise NotImplementedError

    @initialize(
        device_memory=st.sampled_from([1 << 32, 1 << 32, 24 * MIB, 12 * MIB]),
        how=st.tuples(pool_settings, pool_settings),
    )
    def start(self, device_memory: int, how: tuple[PoolSettings, PoolSettings]) -> None:
        self.world = self.make_world(device_memory)
        self.how = how
        self.pools = [self.world.create_pool(each) for each in how]
        self.closed_pools: list[P] = []
        self.queues = [self.world.create_queue() for _ in range(QUEUES)]
        self.live: list[Held[Q, P]] = []
        self.events: list[E] = []
        self.failure: Failure | None = None

    # -- memory ------------------------------------------------------------------------------------

    @rule(queue=queues, pool=pools, kind=kinds, nbytes=sizes, waits=events, signal=st.booleans())
    def allocate(
        self,
        queue: int,
        pool: int,
        kind: UsmType,
        nbytes: int,
        waits: Sequence[int] = (),
        signal: bool = False,
    ) -> None:
        user, source = self.queues[queue], self.pools[pool]
        chosen = self.chosen(waits)
        before = source.statistics()
        made = None
        with self.attempt(chosen), suppress(OutOfMemoryError):
            made = self.world.allocate(user, source, kind, nbytes, chosen, signal=signal)
        if made is None:
            after = source.statistics()
            assert (after.used, after.requested) == (before.used, before.requested)
            return
        held, event = made
        what = f"queue {user.order.id} got memory"
        self.world.oracle.check(what, held.address, held.end, user.known)
        assert not any(e.address < held.end and held.address < e.end for e in self.live), what
        self.live.append(held)
        self.keep(event)
        self.world.begin(user, held)

    def allocate_some(self, queue: int, pool: int, nbytes: int, count: int) -> None:
        """Device memory as most programs take it."""
        for _ in range(count):
            self.allocate(queue, pool, UsmType.DEVICE, nbytes)

    @rule(
        queue=queues,
        pool=pools,
        nbytes=sizes,
        waits=events,
        call=st.sampled_from(["wait", "signal"]),
    )
    def allocate_in_vain(
        self, queue: int, pool: int, nbytes: int, waits: Sequence[int], call: str
    ) -> None:
        """ERR-8: the memory is found, but then the wait or the signal cannot be appended."""
        self.failure = Failure(call)
        self.allocate(queue, pool, UsmType.DEVICE, nbytes, waits, signal=True)

    @rule(
        queue=queues,
        choice=choices,
        waits=events,
        signal=st.booleans(),
        by_event=st.booleans(),
        recorded=st.booleans(),
    )
    def free(
        self,
        queue: int,
        choice: int,
        waits: Sequence[int] = (),
        signal: bool = False,
        by_event: bool = False,
        recorded: bool = False,
    ) -> None:
        """With ``recorded``, there is an event of just before the free that does not cover it."""
        if not self.live:
            return
        held = self.live[choice % len(self.live)]
        user = self.queues[queue]
        chosen = self.chosen(waits)
        needed = self.world.prepare_free(user, held, by_event=by_event)
        if recorded:
            self.keep(self.world.record(user))
        done = None
        with self.attempt(chosen):
            done = self.world.free(user, held, [*chosen, *needed], signal=signal)
        for event in needed:
            self.world.release(event)
        if done is not None:
            self.live.remove(held)
            self.keep(done[0])

    @rule(queue=queues, choice=choices, waits=events, call=st.sampled_from(["wait", "signal"]))
    def free_in_vain(self, queue: int, choice: int, waits: Sequence[int], call: str) -> None:
        """ERR-8: the wait or the signal of a free cannot be appended; the memory is in use."""
        self.failure = Failure(call)
        self.free(queue, choice, waits, signal=True)

    def free_some(self, choice: int, count: int, recorded: bool) -> None:
        """On the queue that used it last, as most programs do."""
        for _ in range(min(count, len(self.live))):
            last = self.live[choice % len(self.live)].last
            queue = self.queues.index(last) if last in self.queues else choice % QUEUES
            self.free(queue, choice, recorded=recorded)

    # What programs do most comes most often: each of these names is a rule with its own chance.
    _allocating = rule(queue=queues, pool=pools, nbytes=sizes, count=counts)
    allocating_1 = _allocating(allocate_some)
    allocating_2 = _allocating(allocate_some)
    allocating_3 = _allocating(allocate_some)
    allocating_4 = _allocating(allocate_some)
    _freeing = rule(choice=choices, count=counts, recorded=st.booleans())
    freeing_1 = _freeing(free_some)
    freeing_2 = _freeing(free_some)
    freeing_3 = _freeing(free_some)
    freeing_4 = _freeing(free_some)

    @rule(queue=queues, other=queues, choice=choices, signal=st.booleans())
    def free_behind_event(self, queue: int, other: int, choice: int, signal: bool) -> None:
        """Another queue waits for all but the free, and asks for as much."""
        if self.live:
            held = self.live[choice % len(self.live)]
            source = self.pools.index(held.pool) if held.pool in self.pools else 0
            self.free(queue, choice, signal=signal, recorded=True)
            latest = 1 if signal else 0
            self.allocate(other, source, held.kind, held.requested, [latest])

    @rule(queue=queues, choice=choices)
    def hand_over(self, queue: int, choice: int) -> None:
        if self.live:
            held = self.live[choice % len(self.live)]
            self.world.hand_over(self.queues[queue], held)
            held.last = self.queues[queue]
            self.world.begin(self.queues[queue], held)

    # -- order -------------------------------------------------------------------------------------

    @rule(queue=queues)
    def record(self, queue: int) -> None:
        event = None
        with self.attempt():
            event = self.world.record(self.queues[queue])
        self.keep(event)

    @rule(choice=choices)
    def release(self, choice: int) -> None:
        """The event stays in the list for a while: waits for it are refused."""
        if self.events:
            event = self.events[-1 - choice % len(self.events)]
            if not event.released:
                self.world.release(event)

    @rule(queue=queues, waits=events)
    def wait(self, queue: int, waits: Sequence[int]) -> None:
        chosen = self.chosen(waits)
        with self.attempt(chosen):
            self.world.wait(self.queues[queue], chosen)

    @rule(queue=queues, others=st.lists(queues, min_size=1, max_size=3))
    def join(self, queue: int, others: Sequence[int]) -> None:
        """Make a queue run after others, with events that nobody keeps."""
        latest = [self.world.record(self.queues[other]) for other in others]
        self.world.wait(self.queues[queue], latest)
        for event in latest:
            self.world.release(event)

    # -- time --------------------------------------------------------------------------------------

    def let_run(self, queue: int, quarters: int) -> None:
        self.world.run(self.queues[queue], quarters)

    _running = rule(queue=queues, quarters=st.integers(0, 4))
    running_1 = _running(let_run)
    running_2 = _running(let_run)

    @rule(queue=queues)
    def finish(self, queue: int) -> None:
        with self.attempt():
            self.world.finish(self.queues[queue])

    @rule(choice=choices, wait=st.booleans())
    def look(self, choice: int, wait: bool) -> None:
        if self.events:
            event = self.events[-1 - choice % len(self.events)]
            if not event.released:
                with self.attempt():
                    self.world.look(event, wait=wait)

    @rule(queue=queues)
    def replace_queue(self, queue: int) -> None:
        closed = False
        with self.attempt():
            self.world.close_queue(self.queues[queue])
            closed = True
        if closed:
            self.queues[queue] = self.world.create_queue()

    # -- pools -------------------------------------------------------------------------------------

    @rule(pool=pools, keep=st.integers(0, 20 * MIB))
    def trim(self, pool: int, keep: int) -> None:
        trimmed = self.pools[pool]
        before = trimmed.statistics()
        with self.attempt():
            trimmed.trim_to(keep)
        after = trimmed.statistics()
        assert after.reserved >= min(keep, before.reserved)
        assert after.used == before.used

    @rule(pool=pools, threshold=st.sampled_from([0, 4 * MIB, 1 << 62]))
    def set_threshold(self, pool: int, threshold: int) -> None:
        self.pools[pool].release_threshold = threshold

    @rule(pool=pools)
    def replace_pool(self, pool: int) -> None:
        """LIFE-5: what was allocated stays valid, and nothing more is."""
        closing = self.pools[pool]
        with self.attempt():
            self.world.close_pool(closing)
        try:
            self.world.allocate(self.queues[0], closing, UsmType.DEVICE, 256, (), signal=False)
        except InvalidValueError:
            pass
        else:
            raise AssertionError("a closed pool gave memory")
        self.closed_pools.append(closing)
        self.pools[pool] = self.world.create_pool(self.how[pool])

    # -- failures ----------------------------------------------------------------------------------

    @rule(failure=failures)
    def plan_failure(self, failure: Failure) -> None:
        """The next step that calls the product has a driver that fails once."""
        self.failure = failure

    @contextmanager
    def attempt(self, waits: Sequence[E] = ()) -> Iterator[None]:
        """One call of the product; goes on after the failures that it must have."""
        failure, self.failure = self.failure, None
        try:
            if failure is None:
                yield
            else:
                yield from self._attempt_failing(failure)
        except InvalidEventWaitListError:
            assert any(event.released for event in waits)
        else:
            assert not any(event.released for event in waits), "a released event was accepted"

    def _attempt_failing(self, failure: Failure) -> Iterator[None]:
        with self.world.failing(failure) as has_failed:
            try:
                yield
            except InvalidEventWaitListError:
                raise
            except UrError:
                if not has_failed():
                    raise

    # -- what holds after every step ---------------------------------------------------------------

    @invariant()
    def numbers_hold(self) -> None:
        for pool in (*self.pools, *self.closed_pools):
            held = [each for each in self.live if each.pool is pool]
            numbers = pool.statistics()
            assert numbers.used == sum(each.size for each in held)
            assert numbers.requested == sum(each.requested for each in held)
            assert numbers.used + numbers.pending + numbers.idle == numbers.reserved
            assert numbers.used <= numbers.used_high <= numbers.reserved_high
            assert numbers.reserved <= numbers.reserved_high
            assert not pool.maximum_size or numbers.reserved <= pool.maximum_size
            self.world.core(pool).check()
        reserved = sum(core.statistics().reserved for core in self.world.registry.pools())
        assert reserved == self.world.held_bytes()

    @invariant()
    def order_holds(self) -> None:
        self.world.check()
        for event in self.events:
            mark = event.mark
            if mark.is_complete():
                for free in event.known:
                    assert self.world.oracle.is_complete(free), f"{event} is not complete"
            for queue in self.queues:
                if queue.order.clock.get(mark.order, 0) >= mark.number:
                    for free in event.known - queue.known:
                        assert self.world.oracle.is_complete(free), f"{queue} is not after {event}"

    # -- the end -----------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not hasattr(self, "failure"):
            return
        if sys.exc_info()[0] is not None:
            self.show_failure()
            self.world.end(clean=False)  # what went wrong matters more than what is left
            return
        try:
            self.clear()
        except BaseException:
            self.show_failure()
            self.world.end(clean=False)
            raise
        self.world.end(clean=True)

    def show_failure(self) -> None:
        """Print the first failure. Hypothesis forgets it when the program passes the next time."""
        if not type(self).has_failed:
            type(self).has_failed = True
            traceback.print_exc()

    def clear(self) -> None:
        """Free everything, let it complete and give it back."""
        self.failure = None
        while self.live:
            self.free(0, 0)
        for event in self.events:
            if not event.released:
                self.world.release(event)
        for queue in self.queues:
            self.world.finish(queue)
        self.world.settle()
        for pool in self.pools:
            pool.trim_to(0)
        for pool in (*self.pools, *self.closed_pools):
            numbers = pool.statistics()
            assert (numbers.used, numbers.pending, numbers.reserved) == (0, 0, 0)
        self.events.clear()
        self.numbers_hold()
        for queue in self.queues:
            self.world.close_queue(queue)

    # -- helpers -----------------------------------------------------------------------------------

    def chosen(self, positions: Sequence[int]) -> list[E]:
        """The events of a wait list: 0 is the latest."""
        return [self.events[-1 - each % len(self.events)] for each in positions if self.events]

    def keep(self, event: E | None) -> None:
        """Keep an event for wait lists to come, and only so many."""
        if event is not None:
            self.events.append(event)
        if len(self.events) > _EVENTS_AT_MOST:
            oldest = self.events.pop(0)
            if not oldest.released:
                self.world.release(oldest)


def machine_settings(examples: int, steps: int, *, searching: int = 0) -> settings:
    """Always the same programs; or, ``searching``, so many times as many random ones."""
    return settings(
        max_examples=examples * max(searching, 1),
        stateful_step_count=steps,
        derandomize=not searching,
        database=None,
        deadline=None,
        print_blob=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
