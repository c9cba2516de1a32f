# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wait lists: what is appended for them, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.calls import SIGNAL, WAIT, LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import TIMEOUT_NS, alloc, finish, pool_of
from urasync_l0 import (
    Context,
    Event,
    InvalidEventWaitListError,
    Queue,
    UrResult,
    UsmType,
)
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.result import InvalidQueueError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.wait_list import resolve

COMBINATIONS = pytest.mark.parametrize(
    ("waits", "event"),
    [(False, False), (False, True), (True, False), (True, True)],
    ids=["plain", "event", "wait", "wait-event"],
)


@COMBINATIONS
def test_appends_of_an_allocation(
    controls: Controls,
    queue: Queue,
    other_queue: Queue,
    kind: UsmType,
    waits: bool,
    event: bool,
) -> None:
    """ORD-11: waits 0/0/1/1, signals 0/1/0/1, whatever else is in the list."""
    alloc(queue, kind, 64).free()
    with hold(controls, other_queue):
        others = (other_queue.record(), other_queue.record()) if waits else ()
        with LevelZeroCalls() as calls:
            allocation = alloc(queue, kind, 64, wait=others, event=event)
        assert (calls.of(WAIT), calls.of(SIGNAL)) == (int(waits), int(event))
    allocation.free()


@COMBINATIONS
def test_appends_of_a_free(
    controls: Controls,
    queue: Queue,
    other_queue: Queue,
    kind: UsmType,
    waits: bool,
    event: bool,
) -> None:
    """ORD-11."""
    allocation = alloc(queue, kind, 64)
    with hold(controls, other_queue):
        others = (other_queue.record(), other_queue.record()) if waits else ()
        with LevelZeroCalls() as calls:
            queue.free(allocation, wait=others, event=event)
        assert (calls.of(WAIT), calls.of(SIGNAL)) == (int(waits), int(event))


@COMBINATIONS
def test_a_fill_is_one_append(
    controls: Controls, queue: Queue, other_queue: Queue, waits: bool, event: bool
) -> None:
    queue.record().release()  # from now on an event is ready
    finish(queue)
    with queue.alloc_device(64) as allocation, hold(controls, other_queue):
        others = (other_queue.record(),) if waits else ()
        with LevelZeroCalls() as calls:
            queue.fill(allocation, b"\x01", wait=others, event=event)
        assert calls.of("zeCommandListAppendMemoryFill") == 1
        assert calls.of(WAIT) == calls.of(SIGNAL) == 0


def test_own_events_need_no_wait(controls: Controls, queue: Queue, kind: UsmType) -> None:
    with hold(controls, queue):
        event = queue.record()
        with LevelZeroCalls() as calls:
            queue.wait((event,))
            allocation = alloc(queue, kind, 64, wait=(event,))
            allocation.free(wait=(event,))
        assert calls.of(WAIT) == 0


def test_complete_events_need_no_wait(queue: Queue, other_queue: Queue) -> None:
    event = other_queue.record()
    assert event.wait(TIMEOUT_NS)
    with LevelZeroCalls() as calls:
        queue.wait((event,))
    assert calls.total == 0


def test_a_second_wait_for_the_same_is_not_appended(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    with hold(controls, other_queue):
        early, late = other_queue.record(), other_queue.record()
        with LevelZeroCalls() as calls:
            queue.wait((late,))
            queue.wait((late, early))
        assert calls.of(WAIT) == 1


def test_an_empty_list_appends_nothing(queue: Queue) -> None:
    with LevelZeroCalls() as calls:
        queue.wait(())
        queue.wait([])
    assert calls.total == 0


def test_one_event_for_a_list(controls: Controls, queue: Queue, other_queue: Queue) -> None:
    with hold(controls, other_queue) as held:
        queue.wait(other_queue.record())
        assert not queue.finish(timeout_ns=0)
        held.release()
        finish(queue)


def released_event(queue: Queue) -> Event:
    event = queue.record()
    event.release()
    return event


BAD_ENTRIES: dict[str, Callable[[Queue], Any]] = {
    "released": released_event,
    "none": lambda queue: None,
    "number": lambda queue: 1234,
}


@pytest.mark.parametrize("entry", BAD_ENTRIES)
@pytest.mark.parametrize("command", ["alloc", "free", "fill", "memcpy", "wait"])
def test_bad_entries_change_nothing(queue: Queue, entry: str, command: str) -> None:
    allocation = queue.alloc_device(64)
    good = queue.record()
    bad = BAD_ENTRIES[entry](queue)
    commands: dict[str, Callable[[Any], Any]] = {
        "alloc": lambda wait: queue.alloc_device(64, wait=wait, event=True),
        "free": lambda wait: queue.free(allocation, wait=wait, event=True),
        "fill": lambda wait: queue.fill(allocation, b"\x01", wait=wait, event=True),
        "memcpy": lambda wait: queue.memcpy(bytearray(64), allocation, wait=wait, event=True),
        "wait": queue.wait,
    }
    before = pool_of(queue, UsmType.DEVICE).statistics()
    with LevelZeroCalls() as calls, pytest.raises(InvalidEventWaitListError) as caught:
        commands[command]((good, bad))
    assert caught.value.code is UrResult.INVALID_EVENT_WAIT_LIST
    assert calls.total == 0
    assert pool_of(queue, UsmType.DEVICE).statistics() == before
    allocation.free()


def test_events_of_another_context(
    make_context: Callable[..., Context], queue: Queue, other_queue: Queue
) -> None:
    foreign = make_context().create_queue().record()
    with LevelZeroCalls() as calls, pytest.raises(InvalidEventWaitListError, match="another"):
        queue.wait((foreign,))
    assert calls.total == 0


def test_events_of_a_generator_live_until_the_wait_is_appended(
    queue: Queue, other_queue: Queue
) -> None:
    """ORD-10: nobody else holds them, and a recycled event must never be waited for."""
    waits = resolve(queue, (other_queue.record() for _ in range(2)))
    assert len(waits.events) == 2
    assert not any(event.is_released for event in waits.events)


@pytest.mark.skipif(not IS_COMPILED, reason="in Python nothing is done at once")
def test_a_wait_that_appends_nothing_enters_no_python(
    monkeypatch: pytest.MonkeyPatch,
    controls: Controls,
    make_context: Callable[[], Context],
    context: Context,
    queue: Queue,
    other_queue: Queue,
) -> None:
    """PERF-1 and ORD-11; what is wrong is left to the method."""
    entered: list[object] = []
    place = Queue.place

    def counted(of: Queue, wait: Any, *arguments: Any, **named: Any) -> Event | None:
        entered.append(wait)
        return place(of, wait, *arguments, **named)

    monkeypatch.setattr(Queue, "place", counted)
    own = queue.record()
    complete = other_queue.record()
    assert complete.wait(TIMEOUT_NS)
    with hold(controls, other_queue):
        covered = other_queue.record()
        queue.wait(covered)
        del entered[:]
        with LevelZeroCalls() as calls:
            for events in ((), [], own, (own,), [complete, own], (covered, complete), [covered]):
                assert queue.wait(events) is None
        assert calls.total == 0
        assert entered == []
    released = queue.record()
    released.release()
    foreign = make_context().create_queue().record()
    for wrong in (released, foreign, object(), None):
        with pytest.raises(InvalidEventWaitListError):
            queue.wait([own, wrong])  # type: ignore[list-item]
    queue.close()
    for events in ((), [own]):
        with pytest.raises(InvalidQueueError):
            queue.wait(events)
