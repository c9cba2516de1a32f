# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an event tells without waiting, and functions that are called when it has happened."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import TIMEOUT_NS, finish
from urasync_l0 import Context, DeviceLostError, Event, InvalidEventError, Queue
from urasync_l0.enums import EventStatus, ExecutionInfo
from urasync_l0.result import UnsupportedEnumerationError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult

LOST = int(ZeResult.ERROR_DEVICE_LOST)
WAITS = ("zeEventHostSynchronize", "zeCommandListHostSynchronize")


def test_status(controls: Controls, queue: Queue) -> None:
    """One query while it is open, none once it is known."""
    with hold(controls, queue) as held:
        event = queue.record()
        for _ in range(3):
            with LevelZeroCalls() as calls:
                assert event.status is EventStatus.SUBMITTED
            assert (calls.total, calls.of("zeEventQueryStatus")) == (1, 1)
        held.release()
        assert event.wait(TIMEOUT_NS)
    with LevelZeroCalls() as calls:
        assert event.status is EventStatus.COMPLETE
    assert calls.total == 0
    event.release()
    with pytest.raises(InvalidEventError):
        _ = event.status


def test_status_learns_of_completion(queue: Queue) -> None:
    """What a status query sees is known of everything before it."""
    earlier, event = queue.record(), queue.record()
    finish(queue)
    assert event.status is EventStatus.COMPLETE
    with LevelZeroCalls() as calls:
        assert earlier.status is EventStatus.COMPLETE
    assert calls.total == 0


def test_status_after_the_end(context: Context, queue: Queue) -> None:
    event, other = queue.record(), queue.record()
    queue.close()
    assert event.status is EventStatus.COMPLETE
    context.close(TIMEOUT_NS)
    with LevelZeroCalls() as calls:
        assert other.status is EventStatus.COMPLETE
    assert calls.total == 0


@pytest.mark.parametrize("where", ["query", "elsewhere"])
def test_status_of_a_lost_device(
    controls: Controls, context: Context, queue: Queue, other_queue: Queue, where: str
) -> None:
    """Known before the loss: complete. Not known: an error, now and after the context's end."""
    known = queue.record()
    assert known.wait(TIMEOUT_NS)
    with hold(controls, queue) as held:
        unknown = queue.record()
        if where == "query":
            controls.fail("zeEventQueryStatus", 1, LOST)
        else:
            controls.fail("zeCommandListAppendSignalEvent", 1, LOST)
            with pytest.raises(DeviceLostError):
                other_queue.record()
        assert unknown.status is EventStatus.ERROR
        controls.clear_failures()
        with LevelZeroCalls() as calls:
            assert known.status is EventStatus.COMPLETE
            assert unknown.status is EventStatus.ERROR
        assert calls.total == 0
        held.release()
    context.close(TIMEOUT_NS)
    assert unknown.status is EventStatus.ERROR


class Told:
    """A callback that notes what it was told, and on which thread."""

    def __init__(self) -> None:
        self.calls: list[tuple[Event, int, Any]] = []
        self.threads: list[threading.Thread] = []
        self._called = threading.Semaphore(0)

    def __call__(self, event: Event, status: int, user_data: Any) -> None:
        self.calls.append((event, status, user_data))
        self.threads.append(threading.current_thread())
        self._called.release()

    def wait(self) -> None:
        assert self._called.acquire(timeout=TIMEOUT_NS / 1e9), "nobody calls"


@pytest.mark.parametrize("status", [ExecutionInfo.COMPLETE, ExecutionInfo.RUNNING])
def test_callback_after_the_end(controls: Controls, queue: Queue, status: ExecutionInfo) -> None:
    told, submitted = Told(), Told()
    with hold(controls, queue) as held:
        event = queue.record()
        event.set_callback(told, status, "data")
        event.set_callback(submitted, ExecutionInfo.SUBMITTED)
        submitted.wait()
        assert told.calls == []
        held.release()
        told.wait()
    assert told.calls == [(event, EventStatus(status), "data")]
    assert submitted.calls == [(event, EventStatus.SUBMITTED, None)]
    assert told.threads[0] is not threading.current_thread()
    assert event.mark.is_complete()


def test_a_callback_waits_for_nothing(controls: Controls, queue: Queue) -> None:
    """PY-7: the thread that asks never blocks in the driver, and makes no call when idle."""
    told = Told()
    with hold(controls, queue) as held:
        event = queue.record()
        with LevelZeroCalls() as calls:
            event.set_callback(told)
            held.release()
            told.wait()
    assert sum(calls.of(entry) for entry in WAITS) == 0
    # Nothing to watch any more: the thread ends, and a later callback starts one again.
    told.threads[0].join(TIMEOUT_NS / 1e9)
    assert not told.threads[0].is_alive()
    event.set_callback(told)
    told.wait()
    assert len(told.calls) == 2


def test_many_callbacks(
    controls: Controls, context: Context, queue: Queue, other_queue: Queue
) -> None:
    """A held queue delays nobody else's; each is called once, though the events are dropped."""
    slow, quick = Told(), Told()
    with hold(controls, queue) as held:
        for n in range(50):
            queue.record().set_callback(slow, user_data=n)
            other_queue.record().set_callback(quick, user_data=n)
        for _ in range(50):
            quick.wait()
        assert slow.calls == []
        held.release()
        for _ in range(50):
            slow.wait()
    for told in (slow, quick):
        assert sorted(data for _, _, data in told.calls) == list(range(50))


def test_callback_of_a_released_event(controls: Controls, queue: Queue) -> None:
    """It is called all the same; only a new one cannot be set."""
    told = Told()
    with hold(controls, queue) as held:
        event = queue.record()
        event.set_callback(told)
        event.release()
        with pytest.raises(InvalidEventError):
            event.set_callback(told)
        held.release()
        told.wait()
    assert told.calls[0][1] is EventStatus.COMPLETE


@pytest.mark.needs_execution("an event must be seen complete", run=False)
def test_an_error_in_a_callback_harms_nobody(monkeypatch: pytest.MonkeyPatch, queue: Queue) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)

    def fail(*arguments: object) -> None:
        raise RuntimeError("from the callback")

    told = Told()
    queue.record().set_callback(fail)
    queue.record().set_callback(told)
    told.wait()
    assert [str(each.exc_value) for each in seen] == ["from the callback"]


def test_queued_is_refused(queue: Queue) -> None:
    with pytest.raises(UnsupportedEnumerationError):
        queue.record().set_callback(Told(), ExecutionInfo.QUEUED)


def test_callbacks_of_a_lost_device(controls: Controls, context: Context, queue: Queue) -> None:
    told = Told()
    with hold(controls, queue) as held:
        event = queue.record()
        controls.fail("zeEventQueryStatus", 1, LOST)
        event.set_callback(told)
        told.wait()
        held.release()
    assert told.calls == [(event, EventStatus.ERROR, None)]


@pytest.mark.parametrize("lost", [False, True], ids=["complete", "lost"])
def test_closing_waits_for_the_question_of_a_callback(
    controls: Controls, make_context: Callable[..., Context], lost: bool
) -> None:
    """No event is destroyed about which the driver is just being asked."""
    context = make_context()
    queue = context.create_queue()
    memory = queue.alloc_device(64)
    told = Told()
    with hold(controls, queue) as held:
        event = queue.record()
        controls.slow_down("zeEventQueryStatus", 1)
        event.set_callback(told)
        assert controls.wait_slow(TIMEOUT_NS)
        if lost:
            controls.fail("zeCommandListAppendMemoryFill", 1, LOST)
            with pytest.raises(DeviceLostError):
                queue.fill(memory, b"a")
        native = handle_value(queue.handle)
        held.release()
        assert controls.wait_completed(native, controls.list_progress(native).appended, TIMEOUT_NS)
    events = controls.live_objects()["event"]
    assert not context.close(10_000_000)
    assert controls.live_objects()["event"] >= events
    controls.hurry()
    assert context.close(TIMEOUT_NS)
    told.wait()
    ((_, status, _),) = told.calls
    assert status is EventStatus.COMPLETE or lost  # of a lost device it depends on the answer


def test_closing_calls_what_is_left(make_context: Callable[..., Context]) -> None:
    """A context that closes completes its queues, so every callback comes; none asks the driver."""
    for _ in range(20):
        context = make_context()
        told = Told()
        for _ in range(10):
            context.create_queue().record().set_callback(told)
        assert context.close(TIMEOUT_NS)
        for _ in range(10):
            told.wait()
        assert {status for _, status, _ in told.calls} == {EventStatus.COMPLETE}
