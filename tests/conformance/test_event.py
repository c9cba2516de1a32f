# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events: status, waits with time-outs, command types, life and recycling."""

import gc
import itertools
from contextlib import suppress

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.failures import UNKNOWN
from tests.helpers.gates import hold
from tests.helpers.signals import append_each
from tests.helpers.usm import TIMEOUT_NS, alloc, finish
from urasync_l0 import Command, Context, Event, InvalidEventError, Queue, UrError, UsmType
from urasync_l0.event import PoolEvent, PoolEvents
from urasync_l0.event_source import NativeEvent
from urasync_l0.foreign_event import ForeignEvent
from urasync_l0.software_driver.controls import Controls

ALLOC_COMMANDS = {
    UsmType.DEVICE: Command.ENQUEUE_USM_DEVICE_ALLOC_EXP,
    UsmType.SHARED: Command.ENQUEUE_USM_SHARED_ALLOC_EXP,
    UsmType.HOST: Command.ENQUEUE_USM_HOST_ALLOC_EXP,
}


def test_command_types(queue: Queue, kind: UsmType) -> None:
    allocation = alloc(queue, kind, 64, event=True)
    assert allocation.event is not None
    events = [
        (allocation.event, ALLOC_COMMANDS[kind]),
        (queue.fill(allocation, b"\x01", event=True), Command.USM_FILL),
        (queue.memcpy(bytearray(64), allocation, event=True), Command.USM_MEMCPY),
        (queue.record(), Command.EVENTS_WAIT),
        (queue.free(allocation, event=True), Command.ENQUEUE_USM_FREE_EXP),
    ]
    for event, command in events:
        assert event is not None
        assert event.command is command
        assert event.queue is queue
        assert command.name in repr(event)
        assert event.wait(TIMEOUT_NS)
        assert event.is_complete()


def test_no_event_unless_asked_for(queue: Queue, kind: UsmType) -> None:
    allocation = alloc(queue, kind, 64)
    assert allocation.event is None
    assert queue.fill(allocation, b"\x01") is None
    assert queue.memcpy(bytearray(64), allocation) is None
    assert queue.free(allocation) is None


def test_not_complete_while_held(controls: Controls, queue: Queue, kind: UsmType) -> None:
    with hold(controls, queue) as held:
        allocation = alloc(queue, kind, 64, event=True)
        event = allocation.event
        assert event is not None
        assert not event.is_complete()
        for timeout in (0, 1, 1_000_000):
            assert not event.wait(timeout)
        held.release()
        assert event.wait(TIMEOUT_NS)
        assert event.is_complete()
    allocation.free()


def test_events_complete_in_order(controls: Controls, queue: Queue) -> None:
    with hold(controls, queue) as held:
        events = [queue.record() for _ in range(10)]
        assert not any(event.is_complete() for event in events)
        held.release()
        assert events[-1].wait(TIMEOUT_NS)
    with LevelZeroCalls() as calls:
        assert all(event.is_complete() for event in events)
    assert calls.total == 0  # the last one tells of all before it


def test_a_released_event(queue: Queue) -> None:
    event = queue.record()
    event.release()
    event.release()
    assert event.is_released
    for use in (event.is_complete, lambda: event.wait(0)):
        with pytest.raises(InvalidEventError):
            use()


def test_with_block_releases(queue: Queue) -> None:
    with queue.record() as event:
        assert event.wait(TIMEOUT_NS)
    assert event.is_released


def test_events_outlive_their_queue(context: Context, queue: Queue) -> None:
    event = queue.record()
    queue.close()
    assert event.is_complete()
    assert event.wait(0)
    other = context.create_queue()
    other.wait((event,))
    finish(other)


@pytest.mark.parametrize("drop", ["release", "collect"])
def test_events_are_recycled(controls: Controls, queue: Queue, drop: str) -> None:
    """MEM-5, and PERF-1: after a while no native event is made any more."""

    def run(rounds: int) -> None:
        for _ in range(rounds):
            event = queue.record()
            assert event.wait(TIMEOUT_NS)
            if drop == "release":
                event.release()

    append_each(queue)
    run(400)
    before = controls.live_objects()
    run(500)
    assert controls.live_objects() == before
    assert before["event"] < 100


def test_pool_events_are_reset_in_batches(
    monkeypatch: pytest.MonkeyPatch, queue: Queue, adapter: str
) -> None:
    """PERF: with too few of them, every signal or two would have to look for one."""
    if adapter != "legacy":
        pytest.skip("counter-based events are not reset")
    recycle, batches = PoolEvents.recycle, 0

    def counted(source: PoolEvents) -> None:
        nonlocal batches
        batches += 1
        recycle(source)

    append_each(queue)
    monkeypatch.setattr(PoolEvents, "recycle", counted)
    for number in range(800):
        if number == 400:
            batches = 0
        event = queue.record()
        assert event.wait(TIMEOUT_NS)
        event.release()
    assert 0 < batches <= 400 / 12


def test_a_reset_that_fails_loses_no_event(controls: Controls, queue: Queue, adapter: str) -> None:
    """ERR-1, MEM-5: it is tried again, and no other event takes its place."""
    if adapter != "legacy":
        pytest.skip("counter-based events are not reset")

    def use() -> None:
        with queue.record() as event:
            assert event.wait(TIMEOUT_NS)

    append_each(queue)
    for _ in range(400):
        use()
    before = controls.live_objects()
    for _ in range(40):
        failures = controls.failures_delivered()
        controls.fail("zeEventHostReset", 1, UNKNOWN)
        while controls.failures_delivered() == failures:
            with suppress(UrError):
                use()
    for _ in range(100):
        use()
    assert controls.live_objects() == before


def test_events_stay_few_without_synchronisation(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """MEM-4: two queues that wait for each other, and a host that waits for nobody."""
    for _ in range(3000):
        other_queue.wait((queue.record(),))
        queue.wait((other_queue.record(),))
        # A little completion is all that the host ever sees.
        other_queue.record().is_complete()
    gc.collect()
    events = controls.live_objects()["event"]
    finish(queue)
    finish(other_queue)
    assert events < 1500


def test_markers_stay_few_without_synchronisation(
    controls: Controls, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    """MEM-4: nobody asks for an event, yet frees have to be noticed."""
    for n in range(2000):
        alloc(queue, kind, 100 + 300 * (n % 7)).free(queue=other_queue)
        alloc(other_queue, kind, 100 + 200 * (n % 11)).free()
    events = controls.live_objects()["event"]
    finish(queue)
    finish(other_queue)
    assert events < 300


def test_recycled_events_are_not_waited_on_by_mistake(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """ORD-10: a wait keeps its meaning while the event serves many other signals."""
    third = append_each(queue.context.create_queue())
    target = bytearray(64)
    allocation = queue.alloc_device(64)
    with hold(controls, queue) as held:
        queue.fill(allocation, b"\x42")
        written = queue.record()
        other_queue.wait((written,))
        written.release()
        for _ in range(1000):
            event = third.record()
            assert event.wait(TIMEOUT_NS)
            event.release()
        other_queue.memcpy(target, allocation)
        assert not other_queue.finish(timeout_ns=0)
        held.release()
        finish(other_queue)
    assert bytes(target) == b"\x42" * 64
    allocation.free()


def test_waiting_queue_held_while_events_recycle(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """ORD-10: the waiter is slow; its event is not reset under its feet."""
    append_each(queue)
    with hold(controls, other_queue) as held:
        for _ in range(200):
            event = queue.record()
            other_queue.wait((event,))
            assert event.wait(TIMEOUT_NS)
            event.release()
        last = other_queue.record()
        assert not last.is_complete()
        held.release()
        assert last.wait(TIMEOUT_NS)
    finish(other_queue)


def test_many_events_at_once(queue: Queue) -> None:
    """More than one native pool's worth."""
    append_each(queue)
    events: list[Event] = [queue.record() for _ in range(300)]
    assert len({int(event.mark.number) for event in events}) == 300
    assert events[-1].wait(TIMEOUT_NS)
    for earlier, later in itertools.pairwise(events):
        assert earlier.mark.number < later.mark.number


def test_a_finish_makes_events_ready_again(controls: Controls, adapter: str, queue: Queue) -> None:
    """ORD-10, MEM-5: pool events are reset, at the latest when one is asked for; counter-based ones
    need nothing."""
    with hold(controls, queue):  # else one may be ready again before the next is asked for
        for _ in range(40):  # as many as make a batch
            queue.record().release()
    with LevelZeroCalls() as finishing:
        finish(queue)
    with LevelZeroCalls() as calls:
        for _ in range(3):
            queue.record().release()
    resets = finishing.of("zeEventHostReset") + calls.of("zeEventHostReset")
    assert resets >= 3 if adapter == "legacy" else not resets
    assert calls.of("zeEventCreate") + calls.of("zeEventCounterBasedCreate") == 0


def test_the_last_wait_of_a_queue_counts(
    adapter: str, controls: Controls, context: Context, queue: Queue, other_queue: Queue
) -> None:
    """ORD-10: two threads may append a wait each for the same event on the same queue."""
    events = [context.create_event_with_native_handle(0).native]
    if adapter == "legacy":
        events.append(queue.record().native)
    other_queue.barrier(event=True)
    finish(other_queue)
    order = other_queue.order
    passed = order.completed
    with hold(controls, other_queue) as held:
        last = other_queue.record().mark.number
        for event in events:
            for number in (passed, last, passed):
                event.source.waited(event, order, number)
            assert not has_passed(event)
        held.release()
        finish(other_queue)
    assert all(has_passed(event) for event in events)


def has_passed(event: NativeEvent) -> bool:
    """Whether every queue that waits for an event has passed the wait."""
    assert isinstance(event, PoolEvent | ForeignEvent)
    return all(number <= order.completed for order, number in event.waiters.items())
