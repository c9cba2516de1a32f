# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who holds a signal, and what is left of one that is dropped: in Python and in C."""

from __future__ import annotations

import gc
import threading
from collections import deque
from typing import Any

import pytest

from tests.helpers.pool_builds import PLAIN, compiled


@pytest.fixture(params=["python", "compiled"])
def module(request: pytest.FixtureRequest) -> Any:
    """The classes in Python, or those in C."""
    return PLAIN if request.param == "python" else compiled()


class Desk:
    """Signals, where they go, and what is dropped."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.returned: list[Any] = []
        self.dropped: deque[Any] = deque()
        self.domain = module.DomainFields()
        self.domain.held_signals = 0

    def signal(self, value: int = 1) -> Any:
        made = self.module.Signal(value, self.returned)
        made.mark = f"mark of {value}"
        return made

    def event(self, signal: Any) -> Any:
        return self.module.HeldSignal(signal, self.domain, self.dropped, "queue", "context", 7)

    def attend(self) -> None:
        while self.dropped:
            self.dropped.popleft().run(None)


@pytest.fixture
def desk(module: Any) -> Desk:
    return Desk(module)


def test_the_last_one_gives_it_back(desk: Desk) -> None:
    signal = desk.signal()
    assert signal.is_new
    assert not signal.is_unseen
    assert signal.hold()
    signal.release()
    assert desk.returned == []
    signal.release()
    assert desk.returned == [signal]
    assert not signal.hold(), "nobody holds it, so it may serve another signal by now"
    signal.is_unseen = True
    desk.returned.pop().take()
    assert not signal.is_new
    assert not signal.is_unseen
    assert signal.hold()
    assert not signal.let_go()
    assert signal.let_go()
    assert desk.returned == [], "who lets go gives nothing back"


def test_a_signal_of_nobody_goes_nowhere(module: Any) -> None:
    signal = module.Signal(1 << 63, None)
    assert signal.value == 1 << 63
    assert signal.returned is None
    with pytest.raises(AttributeError):
        _ = signal.mark
    signal.release()
    assert not signal.hold()


def test_the_first_step_goes_first(desk: Desk) -> None:
    first, last = desk.signal(1), desk.signal(2)
    last.first = first
    last.hold()
    last.release()
    assert desk.returned == []
    last.release()
    assert desk.returned == [first, last]
    assert last.first is None


def test_an_event_holds_its_signal(desk: Desk) -> None:
    signal = desk.signal()
    event = desk.event(signal)
    assert (event.queue, event.context, event.command) == ("queue", "context", 7)
    assert event.mark == "mark of 1"
    assert event._signal is signal
    assert desk.domain.held_signals == 1
    event.release()
    event.release()
    assert event._signal is None
    assert event.mark == "mark of 1"
    assert desk.domain.held_signals == 0
    assert desk.returned == [signal]


def test_a_dropped_event_gives_its_signal_back(desk: Desk) -> None:
    signal = desk.signal()
    event = desk.event(signal)
    del event
    desk.attend()
    assert desk.returned == [signal]
    assert desk.domain.held_signals == 0


def test_a_collected_event_gives_its_signal_back(desk: Desk) -> None:
    signal = desk.signal()
    knot: list[Any] = []
    event = desk.module.HeldSignal(signal, desk.domain, desk.dropped, knot)
    knot.append(event)
    del event, knot
    gc.collect()
    desk.attend()
    assert desk.returned == [signal]
    assert desk.domain.held_signals == 0


def test_two_events_hold_one_signal(desk: Desk) -> None:
    signal = desk.signal()
    one = desk.event(signal)
    assert signal.hold()
    two = desk.event(signal)
    assert desk.domain.held_signals == 2
    one.release()
    assert desk.returned == []
    two.release()
    assert desk.returned == [signal]


def test_of_many_releases_one_counts(desk: Desk) -> None:
    for number in range(50):
        signal = desk.signal(number)
        assert signal.hold()
        event = desk.event(signal)
        barrier = threading.Barrier(4)

        def release(event: Any = event, barrier: threading.Barrier = barrier) -> None:
            barrier.wait(60)
            event.release()

        threads = [threading.Thread(target=release) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert desk.returned == [], "the other holder is still there"
        assert signal.let_go()
    assert desk.domain.held_signals == 0


def test_the_last_signal_of_a_list(desk: Desk, module: Any) -> None:
    class Place(module.MarkFields):  # type: ignore[misc]
        __slots__ = ()

    def appended(number: int) -> Any:
        signal = desk.signal(number)
        place = Place()
        place.order, place.number, place.clock = None, number, None
        signal.mark = place
        return signal

    front = module.ListFront()
    front.last = None
    front.is_private = True
    assert front.signal_from(0) is None
    first, second = appended(3), appended(5)
    front.note_signal(first)
    first.release()
    assert desk.returned == [], "the list holds it"
    assert front.signal_from(4) is None
    found = front.signal_from(3)
    assert found is first
    front.note_signal(second)
    second.release()
    assert front.last is second
    assert desk.returned == []
    found.release()
    assert desk.returned == [first]
    front.is_private = False
    assert front.signal_from(1) is None
    front.forget_signal()
    assert front.last is None
    assert desk.returned == [first, second]


def test_wrong_arguments_are_refused_not_believed() -> None:
    module = compiled()
    desk = Desk(module)
    signal = desk.signal()
    wrong: tuple[Any, Any]
    for wrong in (("1", []), (1, ()), (-1, []), (1 << 64, [])):
        with pytest.raises((TypeError, OverflowError)):
            module.Signal(*wrong)
    with pytest.raises(TypeError):
        signal.__init__(1, [])
    with pytest.raises(TypeError):
        signal.first = 1
    with pytest.raises(TypeError):
        module.HeldSignal(signal, object(), desk.dropped)
    with pytest.raises(TypeError):
        module.HeldSignal(module.Signal(1, None), desk.domain, desk.dropped)
    event = desk.event(signal)
    with pytest.raises(TypeError):
        event.__init__(signal, desk.domain, desk.dropped)
    front = module.ListFront()
    for name, value in (("last", signal), ("mark_type", int), ("is_private", 1)):
        with pytest.raises(TypeError):
            setattr(front, name, value)
    with pytest.raises(TypeError):
        front.note_signal(1)
    order = module.OrderFields()
    for name in ("lock", "domain"):
        with pytest.raises(TypeError):
            setattr(order, name, object())
        with pytest.raises(AttributeError):
            getattr(order, name)
