# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long native events live: failed calls leave none, and users keep theirs from being reused."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.signals import append_each
from tests.helpers.threads import InThread, Pause
from tests.helpers.usm import MIB, TIMEOUT_NS, alloc, finish
from urasync_l0 import Context, Event, InvalidValueError, Queue, UrError, UsmType
from urasync_l0.event_source import SLOTS, NativeEvent
from urasync_l0.result import InvalidEventError, InvalidEventWaitListError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.result import ZeResult

UNKNOWN = int(ZeResult.ERROR_UNKNOWN)

Operation = Callable[[Queue, Event], object]

OPERATIONS: dict[str, Operation] = {
    "record": lambda queue, other: queue.record(),
    "alloc": lambda queue, other: queue.alloc_device(MIB, event=True),
    "alloc-wait": lambda queue, other: queue.alloc_device(MIB, wait=(other,), event=True),
    "fill": lambda queue, other: queue.fill(bytearray(48), b"abc", wait=(other,), event=True),
    "copy": lambda queue, other: queue.memcpy(bytearray(8), b"12345678", event=True),
}


def tries_of(
    controls: Controls, make_context: Callable[..., Context], operation: Operation, used: int
) -> list[tuple[str, int]]:
    """The calls that an operation makes when a context has ``used`` events in use."""
    context = make_context()
    queue, other, events = scene(context, used)
    with LevelZeroCalls() as calls:
        result = operation(queue, other)
    del result, events
    assert context.close(TIMEOUT_NS)
    return [(entry, nth) for entry, count in calls.counts.items() for nth in range(1, count + 1)]


def scene(context: Context, used: int) -> tuple[Queue, Event, list[Event]]:
    queue, other = context.create_queue(), append_each(context.create_queue())
    events = [other.record() for _ in range(used)]
    return queue, events[-1], events


@pytest.mark.parametrize("used", [1, SLOTS], ids=["pool-has-room", "pool-is-full"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_failed_calls_leave_no_event(
    controls: Controls, make_context: Callable[..., Context], name: str, used: int
) -> None:
    """ERR-1, MEM-5: every object that a failed call made is gone, events and their pools too."""
    operation = OPERATIONS[name]
    for entry, nth in tries_of(controls, make_context, operation, used):
        context = make_context()
        queue, other, events = scene(context, used)
        before = controls.live_objects()
        controls.fail(entry, nth, UNKNOWN)
        try:
            result = operation(queue, other)
        except UrError:
            assert controls.live_objects() == before, f"call {nth} of {entry} left something"
        controls.clear_failures()
        result = operation(queue, other)
        finish(queue)
        del result, events
        assert context.close(TIMEOUT_NS)


WAITERS: dict[str, tuple[Any, str, Callable[[Queue, Event], object]]] = {
    # A usual list may go another way: test_waits_at_once.py.
    "queue-wait": (
        ze_list,
        "append_wait_on_events",
        lambda queue, event: queue.wait(iter([event])),
    ),
    "alloc": (
        ze_list,
        "append_wait_on_events",
        lambda queue, event: alloc(queue, UsmType.DEVICE, 64, wait=(event,)).free(),
    ),
    "copy": (
        ze_list,
        "append_memory_copy",
        lambda queue, event: queue.memcpy(bytearray(8), b"12345678", wait=(event,)),
    ),
    "host-wait": (ze_event, "host_synchronize", lambda queue, event: event.wait(TIMEOUT_NS)),
    "query": (ze_event, "query_status", lambda queue, event: event.is_complete()),
}


@pytest.mark.parametrize("name", WAITERS)
def test_an_event_in_use_is_not_recycled(
    controls: Controls,
    monkeypatch: pytest.MonkeyPatch,
    context: Context,
    queue: Queue,
    other_queue: Queue,
    name: str,
) -> None:
    """ORD-10: released between the check and the call, it must not stand for another signal."""
    module, entry, use = WAITERS[name]
    held_queue = context.create_queue()
    with ExitStack() as stack:
        held = stack.enter_context(hold(controls, queue))
        event = queue.record()
        native = event.handle
        pause = Pause(monkeypatch, module, entry)
        thread = InThread(lambda: use(other_queue, event))
        assert pause.reached.wait(TIMEOUT_NS / 1e9)
        held.release()
        finish(queue)
        event.release()
        stack.enter_context(hold(controls, held_queue))
        later = [held_queue.record() for _ in range(8)]
        assert native not in [each.handle for each in later]
        pause.release()
        assert thread.result() in (None, True)
        finish(other_queue)
    # Nobody uses it any more, so it serves again.
    finish(held_queue)
    del later
    queues = [append_each(each) for each in (queue, other_queue, held_queue)]
    again = [each.record() for _ in range(64) for each in queues]
    assert native in [each.handle for each in again]


def test_released_before_the_wait_is_appended(
    monkeypatch: pytest.MonkeyPatch, queue: Queue, other_queue: Queue
) -> None:
    """A wait list whose event goes away before it is held is refused, and nothing is changed."""
    event = queue.record()
    pool = other_queue.context.default_pool()
    alloc(other_queue, UsmType.DEVICE, 64).free()

    def released_just_now(mark: object) -> bool:
        event.release()
        return False

    monkeypatch.setattr(type(event.mark), "is_complete", released_just_now)
    with LevelZeroCalls() as calls, pytest.raises(InvalidEventWaitListError):
        other_queue.alloc_device(64, wait=(event,))
    assert calls.total == 0
    assert pool.used_bytes == 0


def test_released_and_taken_again_while_it_is_looked_at(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MT-1: another thread releases the event, and its native event serves the next signal."""
    event = queue.record()
    native = event.native
    real_hold = NativeEvent.hold

    def late_hold(held: NativeEvent) -> bool:
        monkeypatch.undo()
        event.release()
        held.take()
        return real_hold(held)

    monkeypatch.setattr(NativeEvent, "hold", late_hold)
    with pytest.raises(InvalidEventError, match="released"):
        event.is_complete()
    assert native.let_go(), "whoever has it now is the only one who holds it"
    finish(queue)


def test_markers_of_a_closed_queue_go_at_once(context: Context, queue: Queue) -> None:
    """A marker asked of a queue that has finished for good is dropped with its last user."""
    order = queue.order
    queue.record().release()
    queue.close()
    marker = order.marker_covering(order.sequence)
    assert marker.query()
    assert not order.markers
    marker.release()


def test_a_marker_appended_while_the_queue_closes_goes_at_once(
    monkeypatch: pytest.MonkeyPatch, controls: Controls, context: Context, queue: Queue
) -> None:
    """The same for a marker that was appended just before the end."""
    order = queue.order
    append = queue.command_list.append_marker
    appends = iter((True,))

    def append_and_close() -> object:
        event = append()
        if next(appends, False):  # to close may take a marker of its own
            assert queue.close(TIMEOUT_NS)
        return event

    monkeypatch.setattr(queue.command_list, "append_marker", append_and_close)
    marker = order.marker_covering(order.sequence + 1)
    assert not order.markers
    marker.release()
    assert not marker.hold(), "somebody still holds it"


BAD_TIMES = (-1, 2**64, -(2**70), 2**70)


@pytest.mark.parametrize("timeout", BAD_TIMES)
def test_impossible_timeouts(context: Context, queue: Queue, timeout: int) -> None:
    event = queue.record()
    for call in (event.wait, queue.finish, queue.close, context.close):
        with LevelZeroCalls() as calls, pytest.raises(InvalidValueError, match=str(timeout)):
            call(timeout)
        assert calls.total == 0
    assert not queue.is_closed
    assert not context.is_closed


def test_none_waits_for_ever(controls: Controls, queue: Queue) -> None:
    """None is no time-out, for waits, finish and close."""
    with hold(controls, queue) as held:
        event = queue.record()
        waits = [InThread(partial(call, None)) for call in (event.wait, queue.finish)]
        assert not event.is_complete()
        held.release()
        assert [wait.result() for wait in waits] == [True, True]
    assert InThread(lambda: queue.close(None)).result() is True
    assert InThread(lambda: queue.context.close(None)).result() is True
