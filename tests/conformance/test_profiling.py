# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of commands: of queues that take them, and of time stamps on any queue."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import MIB, TIMEOUT_NS, alloc, finish
from urasync_l0 import Command, Context, Event, Queue, ReusePolicy, UrError, UsmType
from urasync_l0.enums import QueueFlag, UsmPoolFlag
from urasync_l0.event_profile import EventProfile
from urasync_l0.result import ProfilingInfoNotAvailableError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult

CLOCK = "zeDeviceGetGlobalTimestamps"

Operation = Callable[[Queue], Event | None]


@pytest.fixture
def profiled(context: Context) -> Queue:
    """A queue that takes the times of its commands."""
    return context.create_queue(flags=QueueFlag.PROFILING_ENABLE)


def zeroed(queue: Queue, flags: UsmPoolFlag) -> Event | None:
    pool = queue.context.create_pool(flags=flags)
    allocation = alloc(queue, UsmType.SHARED, MIB, pool=pool, event=True)
    queue.free(allocation)
    return allocation.event


def waiting(queue: Queue) -> Event:
    return queue.context.create_queue().record()


OPERATIONS: dict[str, Operation] = {
    "alloc": lambda q: alloc(q, UsmType.DEVICE, 64, event=True).event,
    "alloc-wait": lambda q: alloc(q, UsmType.HOST, 64, wait=(waiting(q),), event=True).event,
    "free": lambda q: q.free(q.alloc_device(64), event=True),
    "free-wait": lambda q: q.free(q.alloc_device(64), wait=(waiting(q),), event=True),
    "record": lambda q: q.record(),
    "wait": lambda q: q.wait((waiting(q),), event=True),
    "barrier": lambda q: q.barrier(event=True),
    "fill": lambda q: q.fill(q.alloc_device(MIB), b"\x01", event=True),
    "fill-of-many-steps": lambda q: q.fill(q.alloc_device(3 * MIB), b"abc", event=True),
    "copy": lambda q: q.memcpy(q.alloc_device(8), b"01234567", event=True),
    "zeroed": lambda q: zeroed(q, UsmPoolFlag.ZERO_INITIALIZE_BLOCK),
    "read-only": lambda q: zeroed(q, UsmPoolFlag.READ_ONLY_EXP),
    "read-only-zeroed": lambda q: zeroed(
        q, UsmPoolFlag.READ_ONLY_EXP | UsmPoolFlag.ZERO_INITIALIZE_BLOCK
    ),
}


def now(queue: Queue) -> int:
    """The device's time in nanoseconds."""
    clock = queue.device.clock
    return clock.nanoseconds(clock.ticks())


def check(profile: EventProfile, after: int, before: int) -> None:
    times = (profile.queued, profile.submit, profile.start, profile.end, profile.complete)
    assert list(times) == sorted(times)
    assert after <= profile.queued
    assert profile.complete <= before
    assert profile.submit == profile.queued
    assert profile.complete == profile.end


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.needs_execution("only execution writes time stamps", run=False)
def test_times(profiled: Queue, name: str) -> None:
    before = now(profiled)
    event = OPERATIONS[name](profiled)
    assert event is not None
    assert event.wait(TIMEOUT_NS)
    check(event.profile(), before, now(profiled))


@pytest.mark.parametrize("name", OPERATIONS)
def test_times_of_a_held_queue(controls: Controls, profiled: Queue, name: str) -> None:
    """The start is when the device begins, not when the host enqueues; until then there is none."""
    with hold(controls, profiled) as held:
        event = OPERATIONS[name](profiled)
        assert event is not None
        with pytest.raises(ProfilingInfoNotAvailableError, match="yet"):
            event.profile()
        opened = now(profiled)
        held.release()
        assert event.wait(TIMEOUT_NS)
    profile = event.profile()
    assert profile.queued <= opened <= profile.start


@pytest.mark.parametrize("pattern", [b"\x01", b"abc"], ids=["one-step", "many-steps"])
def test_start_is_that_of_the_first_step(
    controls: Controls, profiled: Queue, pattern: bytes
) -> None:
    """A fill lies between the times of the commands before and after it, all of it."""
    allocation = profiled.alloc_device(3 * MIB)
    before = profiled.record()
    fill = profiled.fill(allocation, pattern, event=True)
    after = profiled.record()
    assert fill is not None
    assert after.wait(TIMEOUT_NS)
    times = fill.profile()
    assert before.profile().end <= times.start < times.end <= after.profile().start


def test_end_is_that_of_the_last_step(controls: Controls, profiled: Queue) -> None:
    """Of a fill of many steps that is held after the first."""
    handle = handle_value(profiled.handle)
    allocation = profiled.alloc_device(3 * MIB)
    appended = controls.list_progress(handle).appended
    controls.limit_gate(handle, appended + 2)
    fill = profiled.fill(allocation, b"abc", event=True)
    assert controls.wait_completed(handle, appended + 2, TIMEOUT_NS)
    opened = now(profiled)
    controls.limit_gate(handle, None)
    assert fill.wait(TIMEOUT_NS)
    times = fill.profile()
    assert times.start <= opened <= times.end


def test_waits_of_timed_commands_order_what_comes_later(
    context: Context, profiled: Queue, queue: Queue
) -> None:
    """ORD-5: a barrier that waits brings its queue behind the other, as a plain wait does."""
    pool = context.create_pool(
        policy=ReusePolicy(by_polling=False, by_waiting=False, wait_when_exhausted=False)
    )
    kept = profiled.alloc_device(64, pool=pool, event=True)
    first = queue.alloc_device(3 * MIB, pool=pool)
    address = first.ptr
    freed = queue.free(first, event=True)
    profiled.free(kept, wait=(freed,), event=True)
    again = profiled.alloc_device(3 * MIB, pool=pool)
    assert again.ptr in (address, kept.ptr), "the run of both, or the other queue's block"


def test_waits_come_before_the_start(
    controls: Controls, context: Context, profiled: Queue, queue: Queue
) -> None:
    with hold(controls, queue) as held:
        awaited = queue.record()
        events = [
            profiled.free(profiled.alloc_device(64), wait=(awaited,), event=True),
            profiled.memcpy(bytearray(8), b"01234567", wait=(awaited,), event=True),
        ]
        opened = now(profiled)
        held.release()
        finish(profiled)
    for event in events:
        assert event is not None
        assert event.profile().start >= opened


@pytest.mark.parametrize("name", OPERATIONS)
def test_plain_queues_have_no_times(queue: Queue, name: str) -> None:
    """Nor do they read a clock, or make events that could."""
    with LevelZeroCalls() as calls:
        event = OPERATIONS[name](queue)
    assert event is not None
    assert calls.of(CLOCK) == calls.of("zeCommandListAppendBarrier") == 0
    assert event.wait(TIMEOUT_NS)
    with pytest.raises(ProfilingInfoNotAvailableError, match="PROFILING_ENABLE"):
        event.profile()


def test_commands_without_events_read_no_clock(profiled: Queue) -> None:
    with LevelZeroCalls() as calls:
        allocation = profiled.alloc_device(64)
        profiled.fill(allocation, b"abcd")
        profiled.free(allocation)
    assert calls.of(CLOCK) == 0


@pytest.mark.parametrize("is_profiling", [False, True], ids=["plain", "profiling"])
def test_time_stamps_of_any_queue(
    controls: Controls, context: Context, other_queue: Queue, is_profiling: bool
) -> None:
    flags = QueueFlag.PROFILING_ENABLE if is_profiling else QueueFlag(0)
    queue = context.create_queue(flags=flags)
    with hold(controls, other_queue) as held:
        before = now(queue)
        event = queue.record_timestamp(wait=(other_queue.record(),))
        assert event.command is Command.TIMESTAMP_RECORDING_EXP
        opened = now(queue)
        held.release()
        assert event.wait(TIMEOUT_NS)
    profile = event.profile()
    assert before <= profile.queued <= opened <= profile.start == profile.end


def test_released_and_recycled(controls: Controls, profiled: Queue) -> None:
    """MEM-5: events with times are used again, and tell the times of their last command only."""
    latest = 0
    for _ in range(200):
        with profiled.fill(bytearray(6), b"abc", event=True) as event:
            assert event.wait(TIMEOUT_NS)
            profile = event.profile()
            assert profile.queued >= latest
            latest = profile.end
    assert controls.live_objects()["event"] < 100


@pytest.mark.parametrize("name", OPERATIONS)
def test_failed_calls(controls: Controls, make_context: Callable[..., Context], name: str) -> None:
    """ERR-8: whichever call fails, the next works, and no native object is left."""
    operation = OPERATIONS[name]

    def fresh() -> Queue:
        return make_context().create_queue(flags=QueueFlag.PROFILING_ENABLE)

    queue = fresh()
    with LevelZeroCalls() as calls:
        operation(queue)
    assert calls.of(CLOCK) >= 1
    for entry, count in calls.counts.items():
        for nth in range(1, count + 1):
            queue = fresh()
            controls.fail(entry, nth, int(ZeResult.ERROR_UNKNOWN))
            with suppress(UrError):  # some find a way around the failure
                operation(queue)
            controls.clear_failures()
            event = operation(queue)
            assert event is not None
            assert event.wait(TIMEOUT_NS)
            assert event.profile().end >= event.profile().queued
            del event
            assert queue.context.close(TIMEOUT_NS)
