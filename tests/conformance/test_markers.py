# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Markers that usual allocations place, query and retire in C, against the methods in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from tests.helpers.calls import SIGNAL, LevelZeroCalls
from tests.helpers.failures import UNKNOWN
from tests.helpers.threads import InThread
from tests.helpers.usm import TIMEOUT_NS, finish, repeat_until
from urasync_l0 import Allocation, Context, Event, Pool, Queue, ReusePolicy
from urasync_l0.event_source import NativeEvent
from urasync_l0.pool.search import Search
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.result import DeviceLostError, InvalidContextError, InvalidUsmSizeError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult

QUERY = "zeEventQueryStatus"
CROWDING = 64 << 10
"""Bytes of which one free is enough for a marker, where two queues use a small heap."""

compiled = pytest.mark.skipif(not IS_COMPILED, reason="in Python there is only the one way")


class Size(int):
    """Bytes that no call in C takes for a usual size: the method in Python does it all."""


ways = pytest.mark.parametrize(
    "size_type", [pytest.param(int, marks=compiled, id="in-c"), pytest.param(Size, id="in-python")]
)


@pytest.fixture(autouse=True)
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Search]:
    """The searches whose markers the method in Python sees to."""
    searched: list[Search] = []
    mark = Search.mark

    def counted(search: Search) -> None:
        searched.append(search)
        mark(search)

    monkeypatch.setattr(Search, "mark", counted)
    return searched


class Program:
    """A random program of a few queues, none of which runs further than it is let."""

    def __init__(
        self, context: Context, controls: Controls, seed: int, size_type: type[int]
    ) -> None:
        chance = self._chance = random.Random(seed)
        self._controls = controls
        self._size_type = size_type
        policy = ReusePolicy(by_clock=chance.random() < 0.7, by_polling=chance.random() < 0.8)
        self.pools: list[Pool] = [
            context.create_pool(release_threshold=1 << 40, policy=policy) for _ in range(2)
        ]
        self._queues: list[Queue] = [
            context.create_queue() for _ in range(chance.choice([2, 3, 5]))
        ]
        for queue in self._queues:
            finish(queue)
            self._let_run(queue, self._appended(queue))
        self._live: list[Allocation] = []
        self._waiting: set[Queue] = set()
        self._last_event: Event | None = None

    def step(self) -> None:
        """Do something."""
        chance = self._chance
        queue = chance.choice(self._queues)
        action = chance.random()
        if action < 0.42:
            size = self._size_type(chance.choice([256, 4096, 20_000, CROWDING, 3 * CROWDING]))
            event, pool = chance.random() < 0.2, chance.choice(self.pools)
            self._live.append(queue.alloc_device(size, pool=pool, event=event))
        elif action < 0.80 and self._live:
            queue.free(self._live.pop(chance.randrange(len(self._live))))
        elif action < 0.87:
            if chance.random() < 0.6:  # else it may be the signal before the last free
                queue.memcpy(bytearray(8), bytes(8))
            self._last_event = queue.record()
        elif action < 0.90 and self._last_event is not None:
            queue.wait([self._last_event])
            self._waiting.add(queue)
        elif action < 0.97:
            if queue not in self._waiting:  # or it might wait for one that may not run
                self._let_run(queue, chance.randint(0, self._appended(queue)))
        else:
            self.let_all_run()

    def _list(self, queue: Queue) -> int:
        return handle_value(queue.command_list.handle)

    def _appended(self, queue: Queue) -> int:
        return self._controls.list_progress(self._list(queue)).appended

    def _let_run(self, queue: Queue, number: int) -> None:
        number = max(number, self._controls.list_progress(self._list(queue)).completed)
        self._controls.limit_gate(self._list(queue), number)
        assert self._controls.wait_completed(self._list(queue), number, TIMEOUT_NS)

    def let_all_run(self) -> None:
        """Let every queue run as far as it was filled."""
        reached = [(queue, self._appended(queue)) for queue in self._queues]
        for queue, number in reached:
            self._controls.limit_gate(self._list(queue), number)
        for queue, number in reached:
            assert self._controls.wait_completed(self._list(queue), number, TIMEOUT_NS)
        self._waiting.clear()

    def picture(self) -> object:
        """How far the queues are known to be, their markers, and the numbers of the pool."""
        orders = [queue.order for queue in self._queues]
        return (
            [
                (each.sequence, each.completed, [m.mark.number for m in each.markers])
                for each in orders
            ],
            [pool.statistics() for pool in self.pools],
        )

    def end(self) -> None:
        """Let everything run to its end."""
        for queue in self._queues:
            self._controls.limit_gate(self._list(queue), None)
        for queue in self._queues:
            finish(queue)


@compiled
@pytest.mark.parametrize("seed", range(8))
def test_both_ways_do_the_same_at_every_step(
    make_context: Callable[[], Context],
    controls: Controls,
    searched: list[Search],
    seed: int,
) -> None:
    """Every call of the driver, every marker, and what is known of the queues."""
    runs = []
    for size_type in (int, Size):
        del searched[:]
        program = Program(make_context(), controls, seed, size_type)
        seen: list[object] = []
        signals = 0
        for _ in range(500):
            with LevelZeroCalls() as calls:
                program.step()
            signals += calls.of(SIGNAL)
            seen.append((calls.counts, program.picture()))
        program.end()
        runs.append((seen, len(searched), signals))
    (fast, entered, signals), (reference, entered_by_reference, _) = runs
    for number, (one, other) in enumerate(zip(fast, reference, strict=True)):
        assert one == other, number
    assert entered_by_reference > 30
    assert entered < entered_by_reference / 5
    assert signals > 25


@pytest.fixture
def pool(context: Context) -> Pool:
    """A pool that keeps its memory."""
    return context.create_pool(release_threshold=1 << 40)


Crowd = Callable[[type[int]], Callable[[], Allocation]]


@pytest.fixture
def crowd(pool: Pool, queue: Queue, other_queue: Queue, searched: list[Search]) -> Crowd:
    """Frees so much on the queue that a marker is due; returns what allocates on the other then.

    In C, it has to be done there.
    """

    def crowd(size_type: type[int]) -> Callable[[], Allocation]:
        kept = [other_queue.alloc_device(size_type(4096), pool=pool) for _ in range(2)]
        for each in (queue, other_queue):
            each.record()  # from now on its signals can be appended in C
            finish(each)
        other_queue.free(kept.pop())  # the heap has both queues' memory
        queue.free(queue.alloc_device(size_type(CROWDING), pool=pool))
        assert not queue.order.markers

        def allocate() -> Allocation:
            del searched[:]
            try:
                return other_queue.alloc_device(size_type(256), pool=pool)
            finally:
                assert kept, "what is dropped lets the next call go another way"
                assert not (searched and size_type is int)

        return allocate

    return crowd


@ways
def test_a_marker_that_the_driver_refuses_fails_nothing(
    controls: Controls, pool: Pool, queue: Queue, crowd: Crowd, size_type: type[int]
) -> None:
    """ERR-1: what ails a queue shows in its own next call; the next free gets a marker again."""
    allocate = crowd(size_type)
    failures = controls.failures_delivered()
    controls.fail(SIGNAL, 1, UNKNOWN)
    allocate().free()
    assert controls.failures_delivered() == failures + 1
    assert not queue.order.markers
    queue.free(queue.alloc_device(size_type(CROWDING), pool=pool))
    with LevelZeroCalls() as calls:
        allocate().free()
    assert calls.of(SIGNAL) == 1


@ways
def test_a_query_that_fails_loses_no_marker(
    controls: Controls, pool: Pool, queue: Queue, crowd: Crowd, size_type: type[int]
) -> None:
    """The marker stays, and the next who asks learns that the queue has passed it."""
    allocate = crowd(size_type)
    controls.fail(QUERY, 1, UNKNOWN)
    completed = queue.order.completed
    allocate().free()
    (marker,) = queue.order.markers
    assert queue.order.completed == completed
    assert marker.wait(TIMEOUT_NS)
    queue.free(queue.alloc_device(size_type(CROWDING), pool=pool))
    number = marker.mark.number
    allocate().free()
    assert queue.order.completed >= number


@ways
def test_a_request_that_is_refused_places_none(
    pool: Pool, queue: Queue, other_queue: Queue, crowd: Crowd, size_type: type[int]
) -> None:
    """ERR-1: a call that raises has changed nothing."""
    crowd(size_type)
    with LevelZeroCalls() as calls:
        for size in (0, 1 << 60):
            with pytest.raises(InvalidUsmSizeError):
                other_queue.alloc_device(size_type(size), pool=pool)
    assert calls.total == 0
    assert not queue.order.markers


@ways
@pytest.mark.parametrize("entry", [SIGNAL, QUERY])
def test_a_lost_device_ends_the_search(
    controls: Controls,
    queue: Queue,
    crowd: Crowd,
    size_type: type[int],
    entry: str,
) -> None:
    """ERR-3: all is over, and the context knows it."""
    allocate = crowd(size_type)
    controls.fail(entry, 1, int(ZeResult.ERROR_DEVICE_LOST))
    with pytest.raises(DeviceLostError):
        allocate()
    assert queue.context.native.lost


@ways
def test_no_queue_has_more_than_sixteen_markers(
    controls: Controls, pool: Pool, queue: Queue, crowd: Crowd, size_type: type[int]
) -> None:
    """ORD-5: a queue that is held up gets no signal for each of its frees."""
    allocate = crowd(size_type)
    allocate()
    native = handle_value(queue.command_list.handle)
    controls.limit_gate(native, controls.list_progress(native).completed)
    for _ in range(40):
        queue.free(queue.alloc_device(size_type(CROWDING), pool=pool))
        queue.barrier()
        allocate()
        assert len(queue.order.markers) <= 16
    assert len(queue.order.markers) == 16
    controls.limit_gate(native, None)
    finish(queue)


@ways
def test_markers_give_their_events_back(
    controls: Controls,
    pool: Pool,
    queue: Queue,
    other_queue: Queue,
    crowd: Crowd,
    size_type: type[int],
) -> None:
    """ORD-10: a marker that was passed is held by nobody, so that its event serves again."""
    allocate = crowd(size_type)
    for _ in range(200):
        kept = allocate()
        finish(queue)
        other_queue.free(kept)
        finish(other_queue)
        queue.free(queue.alloc_device(size_type(CROWDING), pool=pool))
    assert controls.live_objects()["event"] < 100


@ways
@pytest.mark.parametrize("end", ["queue", "context"])
def test_nothing_is_destroyed_under_a_query(
    controls: Controls,
    context: Context,
    queue: Queue,
    crowd: Crowd,
    size_type: type[int],
    end: str,
) -> None:
    """MT-3: the driver may just be reading the event of a marker."""
    allocate = crowd(size_type)
    controls.slow_down(QUERY, 1)
    thread = InThread(allocate)
    assert controls.wait_slow(TIMEOUT_NS)
    (marker,) = queue.order.markers
    assert isinstance(marker, NativeEvent)
    close: Callable[[int], bool] = queue.close if end == "queue" else context.close
    lists = controls.live_objects()["command_list"]
    assert not close(20_000_000)
    assert controls.live_objects()["command_list"] == lists
    # One that waits longer is woken when the call is back.
    closing = InThread(partial(close, TIMEOUT_NS))
    repeat_until(lambda: marker.asks.waiting > 0, lambda: None)
    controls.hurry()
    with suppress(InvalidContextError):  # where it closes first
        assert isinstance(thread.result(), Allocation)
    assert closing.result() is True


@ways
def test_the_last_signal_is_the_marker(queue: Queue, crowd: Crowd, size_type: type[int]) -> None:
    """ORD-5: none is appended where one of the program's own covers the frees."""
    allocate = crowd(size_type)
    queue.memcpy(bytearray(8), bytes(8))  # or it would be the signal before the free
    event = queue.record()
    with LevelZeroCalls() as calls:
        kept = allocate()
    assert calls.of(SIGNAL) == 0
    kept.free()
    assert event.mark.number <= queue.order.completed or [
        each.mark for each in queue.order.markers
    ] == [event.mark]
