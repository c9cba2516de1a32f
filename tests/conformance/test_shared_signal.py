# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events at one place of a queue are one signal, and the usual ones are appended in C."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.helpers.calls import SIGNAL, LevelZeroCalls
from tests.helpers.failures import UNKNOWN
from tests.helpers.gates import HeldQueue
from tests.helpers.usm import TIMEOUT_NS, alloc, finish
from urasync_l0 import Allocation, Context, Event, Queue, QueueFlag, UrError, UsmType
from urasync_l0.command_list import CommandList
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.software_driver.controls import Controls
from urasync_l0.usm_queue import UsmQueue
from urasync_l0.ze.handles import handle_value

compiled = pytest.mark.skipif(not IS_COMPILED, reason="in Python nothing is done at once")


@contextmanager
def held(controls: Controls, queue: Queue) -> Iterator[Callable[[], None]]:
    """As `hold` of the gates, without taking the queue's handle: nobody else appends."""
    gate = HeldQueue(controls.gate(handle_value(queue.command_list.handle)))
    try:
        yield gate.release
    finally:
        gate.release()


def append_command(queue: Queue) -> None:
    """Anything that is no signal. A fill of the host's own memory is refused by Intel's driver."""
    queue.memcpy(bytearray(8), bytes(8))


def pair(queue: Queue, kind: UsmType = UsmType.DEVICE) -> tuple[Event, Event]:
    """The events of an allocation and of its free."""
    memory = alloc(queue, kind, 4096, event=True)
    freed = queue.free(memory, event=True)
    assert memory.event is not None
    return memory.event, freed


def test_a_pair_has_one_signal(queue: Queue, kind: UsmType) -> None:
    """ORD-11: nothing lies between the two."""
    alloc(queue, kind, 4096).free()
    append_command(queue)
    with LevelZeroCalls() as calls:
        allocated, freed = pair(queue, kind)
    assert calls.of(SIGNAL) == 1
    assert allocated.handle == freed.handle
    assert allocated.mark.number == freed.mark.number == queue.order.sequence
    assert allocated.command is not freed.command
    with LevelZeroCalls() as calls:
        pair(queue, kind)
        queue.record()
        queue.barrier(event=True)
    assert calls.of(SIGNAL) == 0
    assert freed.wait(TIMEOUT_NS)


def test_a_command_between_them_makes_two(controls: Controls, queue: Queue) -> None:
    """ORD-11: a later event must not be complete before the command is."""
    first = queue.record()
    assert first.wait(TIMEOUT_NS)
    with held(controls, queue) as let_go:
        append_command(queue)
        second = queue.record()
        assert second.mark.number > first.mark.number
        assert second.handle != first.handle
        assert first.is_complete()
        assert not second.is_complete()
        let_go()
        assert second.wait(TIMEOUT_NS)


def test_who_has_the_native_list_may_have_appended(queue: Queue, other_queue: Queue) -> None:
    """ORD-11: then the last signal proves nothing, whoever asks."""
    for each in (queue, other_queue):
        each.record()
    assert queue.handle
    with LevelZeroCalls() as calls:
        pair(queue)
    assert calls.of(SIGNAL) == 2
    queue.record()
    with LevelZeroCalls() as calls:
        queue.order.marker_covering(queue.order.sequence).release()
    assert calls.of(SIGNAL) == 1


def test_a_wait_in_between_is_a_command(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """ORD-6: the event after a wait comes after what was waited for."""
    first = queue.record()
    with held(controls, other_queue) as let_go:
        queue.wait((other_queue.record(),))
        second = queue.record()
        assert first.wait(TIMEOUT_NS)
        assert not second.is_complete()
        let_go()
        assert second.wait(TIMEOUT_NS)


def test_queues_wait_for_a_shared_signal(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """ORD-6: an event that appended nothing holds another queue back like any."""
    memory = alloc(queue, UsmType.HOST, 64)
    finish(queue)
    target = bytearray(64)
    with held(controls, queue) as let_go:
        queue.fill(memory, b"\x42")
        queue.record().release()
        second = queue.record()
        other_queue.memcpy(target, memory, wait=(second,))
        assert not other_queue.finish(timeout_ns=0)
        let_go()
        finish(other_queue)
    assert bytes(target) == b"\x42" * 64
    finish(queue)


def test_one_of_two_keeps_the_native_event(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """ORD-10: no other signal gets it while the second event, or the queue, still needs it."""
    first = queue.record()
    second = queue.record()
    native = second.handle
    assert native == first.handle
    first.release()
    append_command(queue)
    assert queue.record().wait(TIMEOUT_NS)  # so the queue does not keep the one before
    with held(controls, other_queue) as let_go:
        others = []
        for _ in range(80):
            append_command(other_queue)
            others.append(other_queue.record())
        assert native not in [each.handle for each in others]
        assert second.is_complete()
        let_go()
        finish(other_queue)


def test_memory_freed_after_the_signal_is_not_covered(
    controls: Controls, context: Context, queue: Queue, other_queue: Queue
) -> None:
    """ORD-2: what lies between the last signal and a free is still to come."""
    memory = alloc(queue, UsmType.DEVICE, 4096)
    early = queue.record()
    assert early.wait(TIMEOUT_NS)
    with held(controls, queue) as let_go:
        queue.fill(memory, b"\x01")
        address = memory.ptr
        freed = queue.free(memory, event=True)
        assert freed.mark.number > early.mark.number
        assert not freed.is_complete()
        others = [alloc(other_queue, UsmType.DEVICE, 4096) for _ in range(4)]
        assert address not in [each.ptr for each in others]
        let_go()
        finish(queue)
    assert freed.is_complete()
    finish(other_queue)


def test_a_marker_is_the_last_signal(queue: Queue) -> None:
    """ORD-5: the pools append none where the program's own signal covers what they want to know."""
    append_command(queue)
    event = queue.record()
    order = queue.order
    with LevelZeroCalls() as calls:
        marker = order.marker_covering(event.mark.number)
        assert marker.mark is event.mark
        marker.release()
    assert calls.of(SIGNAL) == 0
    with LevelZeroCalls() as calls:
        marker = order.marker_covering(event.mark.number + 1)  # a free since then
        assert marker.mark.number == event.mark.number + 1
        marker.release()
    assert calls.of(SIGNAL) == 1
    assert event.wait(TIMEOUT_NS)


@pytest.mark.needs_execution("only execution writes time stamps", run=False)
def test_times_are_taken_for_each(context: Context) -> None:
    """EVT: each event of a queue that takes times has its own."""
    queue = context.create_queue(flags=QueueFlag.PROFILING_ENABLE)
    allocated, freed = pair(queue)
    assert allocated.handle != freed.handle
    finish(queue)
    assert allocated.profile().end <= freed.profile().end


def test_a_closed_queue_keeps_no_signal(context: Context) -> None:
    """MEM-5: nor does its event ask anybody."""
    queue = context.create_queue()
    event = queue.record()
    queue.close()
    assert queue.command_list.last is None
    assert event.is_complete()


ASKING: dict[str, Callable[[Queue, Allocation], Event | None]] = {
    "record": lambda queue, memory: queue.record(),
    "alloc": lambda queue, memory: queue.alloc_device(4096, event=True).event,
    "address": lambda queue, memory: queue.enqueue_alloc(UsmType.DEVICE, 4096, event=True)[1],
    "free": lambda queue, memory: queue.free(memory, event=True),
    "own-free": lambda queue, memory: memory.free(event=True),
}


def warm(queue: Queue, ready: int = 4) -> Allocation:
    """Memory in use, with as much idle, and events that are ready."""
    memory, idle = (queue.alloc_device(4096) for _ in range(2))
    queue.free(idle)
    events = []
    for _ in range(ready):
        append_command(queue)
        events.append(queue.record())
    del events
    finish(queue)
    queue.context.native.recycle_events(queue.device)
    append_command(queue)
    return memory


@compiled
@pytest.mark.parametrize("name", ASKING)
def test_usual_events_enter_no_method(
    monkeypatch: pytest.MonkeyPatch, queue: Queue, name: str
) -> None:
    """PERF-1: the signal is appended in C, with one call of Level Zero."""
    memory = warm(queue)
    number = queue.order.sequence

    def place(*_: object, **__: object) -> None:
        raise AssertionError("the call came to Python")

    monkeypatch.setattr(CommandList, "place", place)
    with LevelZeroCalls() as calls:
        event = ASKING[name](queue, memory)
    assert isinstance(event, Event)
    assert calls.counts == {SIGNAL: 1}
    assert event.mark.number == queue.order.sequence == number + 1
    assert queue.command_list.last is event.native
    assert event.queue is queue
    assert event.wait(TIMEOUT_NS)


@compiled
@pytest.mark.parametrize("name", ASKING)
def test_a_signal_that_is_refused_in_c_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, controls: Controls, queue: Queue, name: str
) -> None:
    """ERR-1: the error is the driver's, and memory, numbers and events are as before."""
    memory = warm(queue)
    pool = queue.context.default_pool(queue.device)
    monkeypatch.setattr(CommandList, "place", None)
    before = pool.statistics(), queue.order.sequence, controls.live_objects()["event"]
    ready = len(queue.command_list.ready or ())
    last = queue.command_list.last
    controls.fail(SIGNAL, 1, UNKNOWN)
    with pytest.raises(UrError) as failure:
        ASKING[name](queue, memory)
    assert failure.value.function == SIGNAL
    assert (pool.statistics(), queue.order.sequence, controls.live_objects()["event"]) == before
    assert len(queue.command_list.ready or ()) == ready
    assert queue.command_list.last is last
    assert not memory.is_freed
    pool.core.check()
    assert ASKING[name](queue, memory) is not None
    finish(queue)


def pair_by_object(queue: Queue, kind: UsmType) -> None:
    queue.free(alloc(queue, kind, 4096))


def pair_by_method(queue: Queue, kind: UsmType) -> None:
    alloc(queue, kind, 4096).free()


def pair_by_address(queue: Queue, kind: UsmType) -> None:
    queue.free(queue.enqueue_alloc(kind, 4096)[0])


PAIRS = [pair_by_object, pair_by_method, pair_by_address]


@compiled
@pytest.mark.parametrize("pair", PAIRS)
def test_usual_pairs_enter_no_method(
    monkeypatch: pytest.MonkeyPatch,
    queue: Queue,
    kind: UsmType,
    pair: Callable[[Queue, UsmType], None],
) -> None:
    """PERF-3: of all kinds of memory, with no event and from a warm pool."""
    pair(queue, kind)

    def enter(*_: object, **__: object) -> None:
        raise AssertionError("the call came to Python")

    monkeypatch.setattr(UsmQueue, "_search", enter)
    # The first thing that a free in Python asks for.
    monkeypatch.setattr("urasync_l0.usm_queue.isinstance", enter, raising=False)
    with LevelZeroCalls() as calls:
        pair(queue, kind)
    assert calls.total == 0


@compiled
def test_a_usual_pair_makes_no_more_objects_than_it_gives(queue: Queue, kind: UsmType) -> None:
    """PERF-3: the allocation and the number that is its address, not even for a moment more."""
    allocate = getattr(queue, f"alloc_{kind.name.lower()}")
    free = queue.free
    with allocate(4096) as allocation:
        given = sys.getsizeof(allocation) + sys.getsizeof(allocation.ptr)
    gc.collect()
    tracemalloc.start()
    try:
        # What Python makes once for code that it runs is not the pair's, so the least counts.
        peak = min(peak_of(lambda: free(allocate(4096))) for _ in range(20))
        nothing = min(peak_of(lambda: None) for _ in range(20))
    finally:
        tracemalloc.stop()
    assert peak - nothing <= given


def peak_of(work: Callable[[], object]) -> int:
    """By how many bytes Python's memory grows at most meanwhile."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    work()
    return tracemalloc.get_traced_memory()[1] - before


@compiled
def test_no_memory_at_hand_appends_no_signal(queue: Queue) -> None:
    """ERR-1: memory that has to be looked for comes before its event's signal."""
    warm(queue)
    pool = queue.context.create_pool(maximum_size=1 << 20)
    with LevelZeroCalls() as calls, pytest.raises(UrError):
        queue.alloc_device(4 << 20, pool, event=True)
    assert calls.of(SIGNAL) == 0
