# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The software driver's checker is on in this suite, and sees what an adapter appends."""

from collections.abc import Callable

import pytest

from tests.helpers.gates import hold
from tests.helpers.usm import MIB, TIMEOUT_NS, finish
from urasync_l0 import Allocation, Context, Event, Queue
from urasync_l0.event import PoolEvent
from urasync_l0.native_context import NativeContext
from urasync_l0.pool import QueueOrder
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.handles import handle_value

Work = Callable[[Queue, Queue, Allocation], object]


def test_the_checker_is_on(controls: Controls) -> None:
    assert controls.is_checking


def unordered(first: Queue, second: Queue, memory: Allocation) -> None:
    first.fill(memory, b"a")
    second.fill(memory, b"b")


def ordered_by_an_event(first: Queue, second: Queue, memory: Allocation) -> None:
    event = first.fill(memory, b"a", event=True)
    assert isinstance(event, Event)
    second.fill(memory, b"b", wait=[event])


def ordered_by_the_host(first: Queue, second: Queue, memory: Allocation) -> None:
    first.fill(memory, b"a")
    finish(first)
    second.fill(memory, b"b")


def freed_behind_work_of_another_queue(first: Queue, second: Queue, memory: Allocation) -> None:
    event = first.fill(memory, b"a", event=True)
    assert isinstance(event, Event)
    memory.free(second, wait=[event])
    second.fill(second.alloc_device(memory.nbytes), b"b")


@pytest.mark.parametrize(
    ("work", "faults"),
    [
        (unordered, 1),
        (ordered_by_an_event, 0),
        (ordered_by_the_host, 0),
        (freed_behind_work_of_another_queue, 0),
    ],
)
def test_work_of_two_queues(
    controls: Controls, queue: Queue, other_queue: Queue, work: Work, faults: int
) -> None:
    memory = queue.alloc_device(MIB)
    work(queue, other_queue, memory)
    finish(queue)
    finish(other_queue)
    reports = controls.take_reports()
    assert len(reports) == faults
    for report in reports:
        assert report.startswith("no order between zeCommandListAppendMemoryFill (command ")
        assert "which writes the 1048576 bytes at " in report
    assert controls.take_reports() == []


def test_memory_that_is_given_out_too_early(
    controls: Controls, queue: Queue, other_queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adapter that forgot the order between queues is found, whoever runs first."""
    with hold(controls, queue):
        memory = queue.alloc_device(MIB)
        address = memory.ptr
        queue.fill(memory, b"a")
        memory.free()
        # As if the queue had run up to the free.
        monkeypatch.setattr(QueueOrder, "wait_a_moment", lambda order: False)
        queue.command_list.order.completed = queue.command_list.order.sequence + 1
        queue.command_list.order.domain.epoch += 1
        again = other_queue.alloc_device(MIB)
        assert again.ptr == address
        other_queue.fill(again, b"b")
        finish(other_queue)
    native = handle_value(queue.handle)  # the queue itself takes all for complete, and does not ask
    assert controls.wait_completed(native, controls.list_progress(native).appended, TIMEOUT_NS)
    (report,) = controls.take_reports()
    assert report.startswith("no order between ")


@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
def test_an_event_that_is_reset_too_early(
    controls: Controls,
    queue: Queue,
    other_queue: Queue,
    adapter: str,
    monkeypatch: pytest.MonkeyPatch,
    known: bool,
) -> None:
    """That another queue has waited for an event must be known before it is reset."""
    monkeypatch.setattr(PoolEvent, "is_passed", lambda event: True)
    event = queue.record()
    other_queue.wait([event])
    other = handle_value(other_queue.handle)
    appended = controls.list_progress(other).appended
    assert controls.wait_completed(other, appended, TIMEOUT_NS), "past the wait, but who knows"
    if known:
        finish(other_queue)
    finish(queue)
    event.release()
    for _ in range(4):
        queue.record().release()
        finish(queue)
    reports = controls.take_reports()
    resets = any("zeEventHostReset resets event" in report for report in reports)
    assert resets == (adapter == "legacy" and not known), reports


@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
def test_an_event_that_outlives_its_list(
    controls: Controls, context: Context, adapter: str, monkeypatch: pytest.MonkeyPatch, seen: bool
) -> None:
    """Intel's driver writes to the list that signalled an event when it first sees the signal."""
    if not seen:
        monkeypatch.setattr(NativeContext, "see_signals", lambda *_: True)
    queue = context.create_queue()
    event = queue.record()
    native = event.hold()
    finish(queue)
    queue.close()
    assert event.is_complete()
    assert ze_event.query_status(native.handle), "whoever has the native handle may ask, too"
    native.release()
    event.release()
    reports = controls.take_reports()
    outlived = [report for report in reports if "list that was destroyed" in report]
    assert len(reports) == len(outlived)
    assert bool(outlived) == (not seen)


def test_events_of_a_list_that_is_gone_serve_again(
    controls: Controls, context: Context, queue: Queue
) -> None:
    """They are reset, having been seen; no queue that goes takes its events along."""
    counts = []
    for _ in range(3):
        with context.create_queue() as short_lived:
            events = [short_lived.record() for _ in range(10)]
        for event in events:
            event.release()
        for _ in range(20):
            queue.record().release()
            finish(queue)
        counts.append(controls.live_objects()["event"])
    assert counts[1] == counts[2], counts
    assert controls.take_reports() == []
