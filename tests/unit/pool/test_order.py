# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of queues: clocks, completion and the life of markers."""

from __future__ import annotations

import pytest

from tests.helpers.pool_fakes import FailingCalls, FakeEvent, FakeQueue, World
from urasync_l0.pool.order import EVERYTHING, NOTHING, Mark, MarkerEvent, joined
from urasync_l0.result import UrError


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def calls() -> FailingCalls:
    return FailingCalls()


def queues(world: World, calls: FailingCalls, count: int) -> list[FakeQueue]:
    return [FakeQueue(world, calls) for _ in range(count)]


def fake(marker: MarkerEvent) -> FakeEvent:
    assert isinstance(marker, FakeEvent)
    return marker


# -- clocks ----------------------------------------------------------------------------------------


def test_clock_takes_the_later_number_of_each_queue(world: World, calls: FailingCalls) -> None:
    """Joining keeps, for each queue, the furthest place that any of the waits covers."""
    a, b, c, d = (queue.order for queue in queues(world, calls, 4))
    clock = {a: 5, b: 2}
    mark = Mark(b, 7, {a: 3, c: 4})
    assert joined(clock, (mark,), d) == {a: 5, b: 7, c: 4}
    assert clock == {a: 5, b: 2}
    assert joined(clock, (Mark(c, 1, NOTHING), Mark(c, 3, NOTHING), Mark(c, 2, NOTHING)), d)[c] == 3


def test_clock_that_learns_nothing_is_the_same_object(world: World, calls: FailingCalls) -> None:
    """A view compares clocks by identity, so a wait that adds nothing costs nothing."""
    a, b = (queue.order for queue in queues(world, calls, 2))
    clock = {a: 5}
    assert joined(clock, (Mark(a, 5, NOTHING),), b) is clock
    assert joined(clock, (Mark(b, 9, {a: 4}),), b) is clock
    assert joined(clock, (), b) is clock


def test_clock_has_no_entry_for_its_own_queue_nor_for_what_is_complete(
    world: World, calls: FailingCalls
) -> None:
    """Own order needs no clock, and clocks stay small because finished queues leave them."""
    a, b, c = (queue.order for queue in queues(world, calls, 3))
    world.domain.complete(Mark(a, 4, NOTHING))
    assert joined({}, (Mark(b, 3, {a: 4, c: 9}),), c) == {b: 3}
    assert joined({a: 4}, (Mark(b, 3, NOTHING),), c) == {b: 3}
    assert joined({}, (Mark(a, 5, NOTHING),), c) == {a: 5}


def test_event_keeps_the_clock_of_its_moment(world: World, calls: FailingCalls) -> None:
    """What a queue waits for after a signal is not ordered before the signal."""
    a, b, c = queues(world, calls, 3)
    early = b.append_marker()
    b.append_wait(a.append_marker())
    c.append_wait(early)
    assert a.order not in c.order.clock
    c.append_wait(b.append_marker())
    assert c.order.clock[a.order] == 1


def test_order_is_transitive(world: World, calls: FailingCalls) -> None:
    """A before B before C: C's clock covers A without any wait of its own for A (ORD-5b)."""
    a, b, c = queues(world, calls, 3)
    b.append_wait(a.append_marker())
    c.append_wait(b.append_marker())
    assert c.order.clock == {a.order: 1, b.order: 2}
    assert b.order.clock == {a.order: 1}
    assert a.order.clock == NOTHING


# -- completion ------------------------------------------------------------------------------------


def test_completion_goes_through_clocks(world: World, calls: FailingCalls) -> None:
    """What a complete mark was ordered after is complete too, and nothing else is."""
    a, b, c = queues(world, calls, 3)
    first = a.append_marker()
    later = a.append_marker()
    b.append_wait(first)
    c.append_wait(b.append_marker())
    world.domain.complete(c.synchronise())
    assert a.order.completed == first.mark.number == 1
    assert not later.mark.is_complete()
    assert b.order.completed == 2
    assert first.mark.is_complete()


def test_completion_never_goes_back(world: World, calls: FailingCalls) -> None:
    """An old event that is looked at late changes nothing, and pools need not look again."""
    (a,) = queues(world, calls, 1)
    world.domain.complete(Mark(a.order, 9, NOTHING))
    epoch = world.domain.epoch
    world.domain.complete(Mark(a.order, 8, NOTHING))
    world.domain.complete(Mark(a.order, 9, NOTHING))
    assert a.order.completed == 9
    assert world.domain.epoch == epoch
    world.domain.complete(Mark(a.order, 10, NOTHING))
    assert world.domain.epoch > epoch


def test_mark_is_complete_when_its_own_number_is_reached(world: World, calls: FailingCalls) -> None:
    """The number of a mark is that of a command: having run it is enough, having run all before
    it is not."""
    (a,) = queues(world, calls, 1)
    mark = Mark(a.order, 3, NOTHING)
    world.domain.complete(Mark(a.order, 2, NOTHING))
    assert not mark.is_complete()
    world.domain.complete(Mark(a.order, 3, NOTHING))
    assert mark.is_complete()


def test_closed_queue_is_complete_for_ever(world: World, calls: FailingCalls) -> None:
    """Nothing is ever ordered after a closed queue that is not complete (LIFE-2)."""
    a, b = queues(world, calls, 2)
    mark = a.append_marker().mark
    assert world.domain.queues() == [a.order, b.order]
    a.order.close()
    assert not a.order.is_open
    assert a.order.completed == EVERYTHING
    assert mark.is_complete()
    assert world.domain.queues() == [b.order]
    assert joined({}, (mark,), b.order) == {}
    a.order.close()
    world.domain.complete(mark)
    assert a.order.completed == EVERYTHING


def test_ids_are_never_used_again(world: World, calls: FailingCalls) -> None:
    """A stamp or clock of a queue that is gone can never mean a later queue, in any context."""
    seen = set()
    for _ in range(50):
        queue = FakeQueue(world, calls)
        seen.add(queue.order.id)
        queue.order.close()
    seen.update(FakeQueue(World(), calls).order.id for _ in range(50))
    assert len(seen) == 100


# -- markers ---------------------------------------------------------------------------------------


def test_marker_is_appended_only_when_none_covers(world: World, calls: FailingCalls) -> None:
    """Who needs to know gets the oldest marker that is late enough, and at most one signal."""
    (a,) = queues(world, calls, 1)
    first = a.order.marker_covering(1)
    assert a.order.marker_covering(1) is first
    assert calls.counts["append_signal"] == 1
    second = a.order.marker_covering(2)
    assert second is not first
    assert second.mark.number == 2
    assert a.order.marker_covering(1) is first
    assert a.order.marker_covering(2) is second
    assert calls.counts["append_signal"] == 2
    assert list(a.order.markers) == [first, second]


def test_marker_that_cannot_be_appended_leaves_nothing(world: World, calls: FailingCalls) -> None:
    """ERR-1 for markers: the error goes to who asked, and no marker is left behind."""
    (a,) = queues(world, calls, 1)
    calls.fail_after = 0
    with pytest.raises(UrError):
        a.order.marker_covering(1)
    assert not a.order.markers
    assert a.order.sequence == 0
    assert world.live_events == 0


def test_held_marker_outlives_the_list(world: World, calls: FailingCalls) -> None:
    """An event is recycled only when nobody looks at it any more (ORD-10)."""
    (a,) = queues(world, calls, 1)
    marker = a.order.marker_covering(1)
    also = a.order.marker_covering(1)
    assert also is marker
    a.reach(1)
    a.order.retire(marker)
    assert not a.order.markers
    assert world.live_events == 1
    marker.release()
    assert world.live_events == 1
    marker.release()
    assert world.live_events == 0
    assert fake(marker).released


def test_marker_in_the_list_survives_those_who_held_it(world: World, calls: FailingCalls) -> None:
    """The list itself holds a marker, so that the next who needs it finds it."""
    (a,) = queues(world, calls, 1)
    marker = a.order.marker_covering(1)
    marker.release()
    assert not fake(marker).released
    a.order.close()
    assert fake(marker).released


def test_retired_marker_takes_those_before_it_along(world: World, calls: FailingCalls) -> None:
    """A queue runs in order: what stands before a reached marker is reached, and goes with it."""
    (a,) = queues(world, calls, 1)
    markers = [a.order.marker_covering(number) for number in (1, 2, 3)]
    for marker in markers:
        marker.release()
    world.domain.complete(Mark(a.order, 2, NOTHING))
    a.order.retire(markers[1])
    assert [fake(marker).released for marker in markers] == [True, True, False]
    assert list(a.order.markers) == [markers[2]]
    a.order.retire(markers[1])
    assert list(a.order.markers) == [markers[2]]


def test_marker_retired_by_two_threads_is_dropped_once(world: World, calls: FailingCalls) -> None:
    """The fake's event fails when it is released twice."""
    (a,) = queues(world, calls, 1)
    marker = a.order.marker_covering(1)
    a.order.retire(marker)
    a.order.retire(marker)
    a.order.close()
    assert not fake(marker).released
    marker.release()
    assert fake(marker).released


def test_polling_stops_at_the_first_not_reached(world: World, calls: FailingCalls) -> None:
    """Oldest first, and no query beyond the first that the queue has not come to."""
    (a,) = queues(world, calls, 1)
    for number in (1, 2, 3, 4):
        a.order.marker_covering(number).release()
    a.reach(2)
    assert a.order.poll_markers(10)
    assert calls.counts["query"] == 3
    assert a.order.completed == 2
    assert [marker.mark.number for marker in a.order.markers] == [3, 4]
    assert not a.order.poll_markers(10)
    assert calls.counts["query"] == 4
    assert calls.counts["wait"] == 0


def test_polling_is_bounded(world: World, calls: FailingCalls) -> None:
    """Even with all markers reached, one call makes no more queries than it may."""
    (a,) = queues(world, calls, 1)
    for number in range(1, 11):
        a.order.marker_covering(number).release()
    a.reach(10)
    assert a.order.poll_markers(4)
    assert calls.counts["query"] == 4
    assert a.order.completed == 4
    assert a.order.poll_markers(0) is False


def test_polling_asks_no_driver_for_what_is_known(world: World, calls: FailingCalls) -> None:
    """Markers that another queue's completion covers go without a query."""
    a, b = queues(world, calls, 2)
    marker = a.order.marker_covering(1)
    b.append_wait(marker)
    marker.release()
    world.domain.complete(b.synchronise())
    assert a.order.poll_markers(4)
    assert calls.counts["query"] == 0
    assert world.live_events == 0


def test_polling_a_queue_that_fails_loses_no_marker(world: World, calls: FailingCalls) -> None:
    """The marker stays for the next who asks, held by the list alone."""
    (a,) = queues(world, calls, 1)
    marker = a.order.marker_covering(1)
    marker.release()
    calls.fail_after = 0
    with pytest.raises(UrError):
        a.order.poll_markers(4)
    assert list(a.order.markers) == [marker]
    assert fake(marker).holders == 1
    a.reach(1)
    assert a.order.poll_markers(4)
    assert fake(marker).released


def test_moment_is_not_enough_for_a_busy_queue(world: World, calls: FailingCalls) -> None:
    """A wait that ends leaves the marker and its holders as they were."""
    (a,) = queues(world, calls, 1)
    assert not a.order.wait_a_moment()
    for number in (1, 2):
        a.order.marker_covering(number).release()
    assert not a.order.wait_a_moment()
    assert [fake(marker).holders for marker in a.order.markers] == [1, 1]
    a.reach(2)
    assert a.order.wait_a_moment()
    assert a.order.completed == 2
    assert world.live_events == 0


def test_moments_get_shorter_for_a_busy_queue(
    world: World, calls: FailingCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half as long each time in vain, but never nothing; as long as at first once it worked."""
    timeouts: list[int] = []

    def wait(event: FakeEvent, timeout_ns: int) -> bool:
        timeouts.append(timeout_ns)
        return event.query()

    monkeypatch.setattr(FakeEvent, "wait", wait)
    (a,) = queues(world, calls, 1)
    a.order.marker_covering(1).release()
    for _ in range(10):
        assert not a.order.wait_a_moment()
    assert timeouts[:3] == [2_000_000, 1_000_000, 500_000]
    assert timeouts[-2:] == [25_000, 25_000]
    a.reach(1)
    assert a.order.wait_a_moment()
    a.order.marker_covering(2).release()
    assert not a.order.wait_a_moment()
    assert timeouts[-1] == 2_000_000


def test_closed_queue_keeps_no_other_alive() -> None:
    """A chain of queues, each ordered after the one before, must not stay in memory."""
    world, calls = World(), FailingCalls()
    first, second = FakeQueue(world, calls), FakeQueue(world, calls)
    event = first.append_marker()
    second.append_wait(event)
    assert first.order in second.order.clock
    event.release()
    second.synchronise()
    second.order.close()
    assert not second.order.clock
