# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits that are appended in C, against the method in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.helpers.calls import WAIT, LevelZeroCalls
from tests.helpers.failures import UNKNOWN
from tests.helpers.gates import hold
from tests.helpers.threads import InThread
from tests.helpers.usm import TIMEOUT_NS, finish, repeat_until
from urasync_l0 import Context, Event, Queue
from urasync_l0.pool import QueueOrder
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.result import (
    DeviceLostError,
    InvalidEventWaitListError,
    InvalidQueueError,
    UrError,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult

compiled = pytest.mark.skipif(not IS_COMPILED, reason="in Python there is only the one way")


class Events(list[Event]):
    """Events that no call in C takes for a usual list: the method in Python does it all."""


ways = pytest.mark.parametrize(
    "list_type",
    [pytest.param(list, marks=compiled, id="in-c"), pytest.param(Events, id="in-python")],
)


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The wait lists that came to the method in Python."""
    entered: list[Any] = []
    place = Queue.place

    def counted(of: Queue, wait: Any, *arguments: Any, **named: Any) -> Event | None:
        entered.append(wait)
        return place(of, wait, *arguments, **named)

    monkeypatch.setattr(Queue, "place", counted)
    return entered


class Program:
    """A random program of a few queues that wait for each other, and run only when they are let."""

    def __init__(
        self, context: Context, controls: Controls, seed: int, list_type: Callable[..., list[Event]]
    ) -> None:
        self._chance = random.Random(seed)
        self._controls = controls
        self._list_type = list_type
        self._queues = [context.create_queue() for _ in range(self._chance.choice([2, 3, 5]))]
        self._events: list[Event] = []
        for queue in self._queues:
            queue.record().release()
            finish(queue)
        self._hold()

    def _limit(self, number: Callable[[int], int | None]) -> None:
        for queue in self._queues:
            native = handle_value(queue.command_list.handle)
            self._controls.limit_gate(native, number(native))

    def _hold(self) -> None:
        self._limit(lambda native: self._controls.list_progress(native).completed)

    def step(self) -> None:
        """Do something."""
        chance = self._chance
        queue = chance.choice(self._queues)
        action = chance.random()
        if action < 0.35:
            if chance.random() < 0.5:
                queue.memcpy(bytearray(8), bytes(8))
            self._events.append(queue.record())
        elif action < 0.80 and self._events:
            count = chance.choice([1, 1, 1, 2, 3, 7, 20])
            newest = self._events[-chance.choice([3, 40]) :]
            queue.wait(self._list_type(chance.choices(newest, k=count)))
        elif action < 0.97:
            if self._events:
                self._events.pop(chance.randrange(len(self._events))).release()
        else:
            self.let_all_run()
            if chance.random() < 0.3:
                queue.close()
                self._queues.remove(queue)
                self._queues.append(queue.context.create_queue())
            self._hold()

    def let_all_run(self) -> None:
        """Let every queue run as far as it was filled, and wait for some."""
        self._limit(lambda native: None)
        for queue in self._queues:
            native = handle_value(queue.command_list.handle)
            appended = self._controls.list_progress(native).appended
            assert self._controls.wait_completed(native, appended, TIMEOUT_NS)
        for queue in self._queues:
            if self._chance.random() < 0.6:
                finish(queue)

    def picture(self) -> object:
        """What is known of the queues, and who waits for the events."""
        numbers = {queue.order: number for number, queue in enumerate(self._queues)}

        def named(clock: Any) -> list[tuple[int | None, int]]:
            return sorted((numbers.get(order, -1), number) for order, number in clock.items())

        return (
            [
                (order.sequence, order.completed, named(order.clock))
                for order in (queue.order for queue in self._queues)
            ],
            [named(event.native.waiters or {}) for event in self._events],
        )

    def end(self) -> None:
        """Let everything run to its end."""
        self.let_all_run()
        for event in self._events:
            event.release()


@compiled
@pytest.mark.parametrize("seed", range(8))
def test_both_ways_do_the_same_at_every_step(
    make_context: Callable[[], Context], controls: Controls, entered: list[Any], seed: int
) -> None:
    """Every wait, every clock, and everything that events are kept for."""
    runs = []
    for list_type in (list, Events):
        program = Program(make_context(), controls, seed, list_type)
        del entered[:]
        seen: list[object] = []
        waits = 0
        for _ in range(400):
            with LevelZeroCalls() as calls:
                program.step()
            waits += calls.of(WAIT)
            seen.append((calls.of(WAIT), program.picture()))
        appended_by_python = [each for each in entered if each]  # the others record
        program.end()
        runs.append((seen, len(appended_by_python), waits))
    (fast, by_python, waits), (reference, all_waits, _) = runs
    for number, (one, other) in enumerate(zip(fast, reference, strict=True)):
        assert one == other, number
    assert waits > 30
    assert by_python < all_waits / 5  # those for more than a few


@compiled
def test_an_appended_wait_enters_no_python(
    controls: Controls, queue: Queue, other_queue: Queue, entered: list[Any]
) -> None:
    """PERF-1: a list, a tuple or an event alone; long lists are left to the method."""
    with hold(controls, other_queue):
        for shape in (lambda event: event, lambda event: (event,), lambda event: [event, event]):
            events = shape(other_queue.record())
            del entered[:]
            with LevelZeroCalls() as calls:
                assert queue.wait(events) is None
            assert calls.counts == {WAIT: 1}
            assert entered == []
        many = [other_queue.record()] * 9
        queue.wait(many)
        assert many in entered
        assert queue.order.clock == {other_queue.order: many[0].mark.number}


@ways
def test_a_wait_that_the_driver_refuses_changes_nothing(
    controls: Controls, queue: Queue, other_queue: Queue, list_type: type[list[Event]]
) -> None:
    """ERR-1: no number, no clock, nobody who waits; and the event can be waited for again."""
    with hold(controls, other_queue):
        event = other_queue.record()
        before = (queue.order.sequence, dict(queue.order.clock))
        controls.fail(WAIT, 1, UNKNOWN)
        with pytest.raises(UrError, match="The list waits for 2 events") as raised:
            queue.wait(list_type([event, event]))
        assert raised.value.function == WAIT
        assert (queue.order.sequence, dict(queue.order.clock)) == before
        assert not event.native.waiters
        queue.wait(list_type([event]))
        assert queue.order.clock == {other_queue.order: event.mark.number}
        native = event.native
        other_queue.record().release()  # so that the queue itself does not hold it
        event.release()
        assert not native.hold()


@ways
def test_a_lost_device_is_noticed(
    controls: Controls, queue: Queue, other_queue: Queue, list_type: type[list[Event]]
) -> None:
    """ERR-3: the context knows it."""
    with hold(controls, other_queue):
        event = other_queue.record()
        controls.fail(WAIT, 1, int(ZeResult.ERROR_DEVICE_LOST))
        with pytest.raises(DeviceLostError):
            queue.wait(list_type([event]))
    assert queue.context.native.lost


@ways
def test_a_queue_that_closes_meanwhile_appends_no_wait(
    controls: Controls, queue: Queue, other_queue: Queue, list_type: type[list[Event]]
) -> None:
    """MT-3: who came too late is told, and the list is not destroyed under who is inside."""
    with hold(controls, other_queue) as held:
        event = other_queue.record()
        later = other_queue.record()
        assert later.mark.number > event.mark.number
        controls.slow_down(WAIT, 1)
        first = InThread(partial(queue.wait, list_type([event])))
        assert controls.wait_slow(TIMEOUT_NS)
        second = InThread(partial(queue.wait, list_type([later])))
        held.release()
        closing = InThread(partial(queue.close, TIMEOUT_NS))
        repeat_until(lambda: queue.is_closed, lambda: None)
        with LevelZeroCalls() as calls:
            controls.hurry()
            assert first.result() is None
            with pytest.raises(InvalidQueueError):
                second.result()
            assert closing.result() is True
        assert calls.of(WAIT) == 0


@ways
def test_an_event_that_is_released_meanwhile_is_kept(
    controls: Controls, queue: Queue, other_queue: Queue, list_type: type[list[Event]]
) -> None:
    """ORD-10: it serves no other signal under the hands of who appends the wait."""
    with hold(controls, other_queue):
        event = other_queue.record()
        native = event.native
        other_queue.record().release()  # so that the queue itself does not hold it
        other_queue.record().release()
        controls.slow_down(WAIT, 1)
        waiting = InThread(partial(queue.wait, list_type([event])))
        assert controls.wait_slow(TIMEOUT_NS)
        event.release()
        assert native.hold()  # somebody still has it
        native.release()
        controls.hurry()
        assert waiting.result() is None
        assert not native.hold()
        with pytest.raises(InvalidEventWaitListError):
            queue.wait(list_type([event]))


def test_a_clock_that_is_no_dictionary_is_left_to_the_method(
    controls: Controls, context: Context, queue: Queue, other_queue: Queue
) -> None:
    """Whatever mapping a clock is, it is merged."""

    class Mapping(dict[QueueOrder, int]):
        """One of another type."""

    third = context.create_queue()
    with hold(controls, other_queue), hold(controls, third):
        earlier = third.record()
        other_queue.wait(earlier)
        other_queue.order.clock = Mapping(other_queue.order.clock)
        event = other_queue.record()
        queue.wait(event)
        assert queue.order.clock == {
            other_queue.order: event.mark.number,
            third.order: earlier.mark.number,
        }
