# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The verification finds wrong memory and nothing else, on a model of queues and memory."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.deferred_queue import (
    DeferredAllocation,
    DeferredQueue,
    Memory,
    ReusingMemory,
    SharingMemory,
)
from urasync_l0.tools.replayer import staging
from urasync_l0.tools.replayer.fill_pattern import END_BYTES, SAMPLE_BYTES, WHOLE_BYTES, places
from urasync_l0.tools.replayer.lag import EvenLag, HeldList, Lag, UnevenLag
from urasync_l0.tools.replayer.passes import run_lines
from urasync_l0.tools.replayer.staging import HungError
from urasync_l0.tools.replayer.trace import HEADER, Trace, parse_trace
from urasync_l0.tools.replayer.trace_order import unordered_frees
from urasync_l0.tools.replayer.verification import OverlapError, Verification, WrongByteError

if TYPE_CHECKING:
    from urasync_l0 import Allocation, Queue

SIZES = st.one_of(
    st.integers(1, 64), st.integers(WHOLE_BYTES - 20, WHOLE_BYTES + 20), st.integers(1, 1 << 47)
)


def trace_of(*lines: str) -> Trace:
    text = "".join(f"{line}\n" for line in (HEADER, *lines))
    return parse_trace(text.encode(), "some.csv")


def model(trace: Trace, memory: Memory) -> dict[int, DeferredQueue]:
    return {number: DeferredQueue(memory) for number in trace.queues}


def replay(
    trace: Trace, memory: Memory, hold: Callable[[list[HeldList]], Lag] | None = None
) -> None:
    """What the checked pass does, on the model."""
    queues = model(trace, memory)
    real = cast("dict[int, Queue]", queues)
    held = hold(list(queues.values())) if hold is not None else None
    check = Verification(trace, next(iter(real.values())), held.open if held else lambda: None)
    if held is not None:
        held.hold()
    run_lines(trace, real, "device", check, held)
    if held is not None:
        held.open()
    check.finish()


# --- where an allocation is filled -----------------------------------------------------------


@given(SIZES, st.integers(0, 2**90))
def test_places_are_inside_apart_and_cover_both_ends(nbytes: int, seed: int) -> None:
    found = places(nbytes, seed)

    assert found[0].offset == 0
    assert found[-1].offset + found[-1].nbytes == nbytes
    for place, following in itertools.pairwise(found):
        assert place.offset + place.nbytes <= following.offset
    assert len({place.pattern for place in found}) == len(found)
    assert found == places(nbytes, seed)


@given(st.integers(1, WHOLE_BYTES), st.integers(0, 2**90))
def test_a_small_allocation_is_filled_whole(nbytes: int, seed: int) -> None:
    assert [(place.offset, place.nbytes) for place in places(nbytes, seed)] == [(0, nbytes)]


@pytest.mark.parametrize(
    ("nbytes", "samples"), [(WHOLE_BYTES + 1, 2), (32 * 1024, 3), (1 << 20, 8), (3 << 30, 19)]
)
def test_samples_grow_with_the_logarithm_of_the_size(nbytes: int, samples: int) -> None:
    found = places(nbytes, 5)

    assert [place.nbytes for place in found[1:-1]] == [SAMPLE_BYTES] * samples
    assert found[0].nbytes == END_BYTES
    assert END_BYTES <= found[-1].nbytes < END_BYTES + 16


@given(SIZES, st.integers(0, 2**90))
def test_the_fills_of_a_place_write_what_is_expected(nbytes: int, seed: int) -> None:
    for place in places(nbytes, seed):
        written = bytearray(place.nbytes)
        for fill in place.fills():
            assert len(fill.pattern) in (1, 2, 4, 8, 16)
            assert fill.nbytes % len(fill.pattern) == 0
            assert fill.offset % len(fill.pattern) == 0
            start = fill.offset - place.offset
            assert not any(written[start : start + fill.nbytes])
            written[start : start + fill.nbytes] = fill.pattern * (fill.nbytes // len(fill.pattern))
        assert written == place.expected()


def test_no_two_allocations_have_the_same_pattern() -> None:
    patterns = {place.pattern for seed in range(500) for place in places(1 << 20, seed)}

    assert len(patterns) == 500 * len(places(1 << 20, 0))


# --- what a trace orders ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "unordered"),
    [
        (["A,0,5,0,", "F,0,,0,"], set()),
        (["A,0,5,0,", "F,0,,1,"], {1}),
        (["A,0,5,0,", "R,,,0,9", "W,,,1,9", "F,0,,1,"], set()),
        (["R,,,0,9", "A,0,5,0,", "W,,,1,9", "F,0,,1,"], {3}),
        (["A,0,5,0,", "R,,,0,1", "W,,,1,1", "R,,,1,2", "W,,,2,2", "F,0,,2,"], set()),
        (["A,0,5,0,", "R,,,0,1", "R,,,1,2", "W,,,1,1", "W,,,2,2", "F,0,,2,"], {5}),
        (["A,0,5,0,", "S,,,0,", "F,0,,1,"], set()),
        (["S,,,0,", "A,0,5,0,", "F,0,,1,"], {2}),
        (["A,0,5,0,", "R,,,0,1", "W,,,2,1", "S,,,2,", "F,0,,1,"], set()),
        (["A,0,5,0,", "R,,,0,1", "R,,,1,1", "W,,,2,1", "F,0,,2,"], {4}),
    ],
    ids=[
        "same queue",
        "no event",
        "event",
        "event recorded too early",
        "event of an event",
        "second event recorded before the first wait",
        "host wait",
        "host wait too early",
        "host wait for a queue that waited",
        "event recorded again elsewhere",
    ],
)
def test_frees_that_the_trace_does_not_order(lines: list[str], unordered: set[int]) -> None:
    assert unordered_frees(trace_of(*lines)) == unordered


# --- right memory passes ---------------------------------------------------------------------

ONE_QUEUE = [
    "A,0,1,0,",
    "A,1,4097,0,",
    "A,2,70001,0,",
    "F,1,,0,",
    "A,1,4097,0,",
    "F,0,,0,",
    "S,,,0,",
    "F,2,,0,",
]
"""Ends with an allocation that stays live."""


def rounds(count: int) -> list[str]:
    """Two queues that take turns: what one frees, the other is offered next."""
    lines = []
    for number in range(count):
        queue = number % 2
        lines += [f"A,{number},512,{queue},", f"F,{number},,{queue},"]
        if number % 16 == 15:
            lines.append(f"S,,,{queue},")
    return lines


HOLDS: dict[str, Callable[[list[HeldList]], Lag] | None] = {
    "running": None,
    "lag 0": lambda lists: EvenLag(lists, 0),
    "lag 7": lambda lists: EvenLag(lists, 7),
    "uneven": lambda lists: UnevenLag(lists, 9),
}


@pytest.mark.parametrize("lines", [ONE_QUEUE, rounds(100)], ids=["one queue", "two queues"])
@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS.keys())
def test_right_memory_passes(
    lines: list[str], hold: Callable[[list[HeldList]], Lag] | None
) -> None:
    replay(trace_of(*lines), ReusingMemory(on_any_queue=False), hold)


def test_a_free_on_another_queue_is_read_after_the_fill() -> None:
    """Without the added event, the second queue would read before the first one fills."""
    trace = trace_of("A,0,512,0,", "F,0,,1,", "S,,,1,", "S,,,0,")

    replay(trace, Memory())


def test_staging_is_bounded_however_long_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK_BYTES", WHOLE_BYTES)
    monkeypatch.setattr(staging, "CHUNKS", 2)
    waits = 0

    def count() -> None:
        nonlocal waits
        waits += 1

    lines = [line for n in range(9) for line in (f"A,{n},{WHOLE_BYTES},0,", f"F,{n},,0,")]
    trace = trace_of(*lines)
    queues = cast("dict[int, Queue]", model(trace, Memory()))
    check = Verification(trace, queues[0], count)
    run_lines(trace, queues, "device", check, None)
    check.finish()

    assert waits > 4


# --- wrong memory does not -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nbytes", "offset"), [(1, 0), (4097, 4096), (70001, 0), (70001, 70000), (70001, 1023)]
)
def test_one_wrong_byte_is_found_and_named(nbytes: int, offset: int) -> None:
    trace = trace_of("S,,,0,", f"A,7,{nbytes},0,", "F,7,,0,")
    memory = Memory()
    queue = DeferredQueue(memory)
    check = Verification(trace, cast("Queue", queue))
    allocation = queue.alloc_device(nbytes)
    check.allocated(1, cast("Queue", queue), cast("Allocation", allocation))
    queue.finish()
    right = allocation.bytes[offset]
    allocation.bytes[offset] ^= 0x20
    check.freeing(2, cast("Queue", queue))

    with pytest.raises(WrongByteError) as caught:
        check.finish()

    assert str(caught.value) == (
        f"some: allocation 7 of line 3, freed on line 4: byte at offset {offset} is "
        f"{right ^ 0x20:#04x}; expected {right:#04x}"
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_what_is_live_at_the_end_is_read_too() -> None:
    trace = trace_of("A,7,512,0,")
    queue = DeferredQueue(Memory())
    check = Verification(trace, cast("Queue", queue))
    allocation = queue.alloc_device(512)
    check.allocated(0, cast("Queue", queue), cast("Allocation", allocation))
    queue.finish()
    allocation.bytes[300] ^= 1

    with pytest.raises(WrongByteError, match="allocation 7 of line 2, at the end of the trace"):
        check.finish()


def test_memory_handed_out_before_its_free_is_found() -> None:
    """Queue 1 gets what queue 0 freed and fills it before queue 0 comes to its own copy."""
    trace = trace_of("A,0,512,0,", "F,0,,0,", "A,1,512,1,", "F,1,,1,")
    memory = ReusingMemory(on_any_queue=True)
    queues = model(trace, memory)
    real = cast("dict[int, Queue]", queues)
    check = Verification(trace, real[0])

    def line(index: int, allocation: DeferredAllocation | None = None) -> DeferredAllocation:
        queue = trace.lines[index].queue
        if allocation is not None:
            check.freeing(index, real[queue])
            queues[queue].free(allocation)
            return allocation
        allocation = queues[queue].alloc_device(512)
        check.allocated(index, real[queue], cast("Allocation", allocation))
        return allocation

    queues[0].allow(1)  # the fill of line 2 runs, its copy does not
    first = line(0)
    line(1, first)
    queues[0].advance()
    second = line(2)
    queues[1].finish()
    assert second.ptr == first.ptr
    line(3, second)
    queues[0].allow(None)

    with pytest.raises(WrongByteError, match="allocation 0 of line 2, freed on line 3"):
        check.finish()


def test_uneven_lag_brings_early_hand_outs_to_light() -> None:
    trace = trace_of(*rounds(200))

    with pytest.raises(WrongByteError, match=r"some: allocation \d+ of line \d+, freed on line"):
        replay(trace, ReusingMemory(on_any_queue=True), lambda lists: UnevenLag(lists, 9))


def test_memory_shared_by_two_live_allocations_is_found() -> None:
    trace = trace_of("A,3,500,0,", "S,,,0,", "A,4,100,0,")

    with pytest.raises(OverlapError) as caught:
        replay(trace, SharingMemory())

    assert str(caught.value) == (
        f"some: allocation 4 of line 4 at address {Memory.FIRST_ADDRESS + 256:#x} shares bytes "
        "with the live allocation 3 of line 2"
    )


def test_a_queue_that_does_not_finish_is_an_error() -> None:
    trace = trace_of("A,0,512,0,", "F,0,,0,")
    queue = DeferredQueue(Memory())
    check = Verification(trace, cast("Queue", queue))
    queue.allow(0)
    run_lines(trace, cast("dict[int, Queue]", {0: queue}), "device", check, None)

    with pytest.raises(HungError, match="1 places were not looked at in 60 s"):
        check.finish()


# --- completion that lags --------------------------------------------------------------------


@pytest.mark.parametrize("lines", [0, 1, 5])
def test_even_lag_completes_a_command_that_many_lines_later(lines: int) -> None:
    queue = DeferredQueue(Memory())
    lag = EvenLag([queue], lines)
    lag.hold()
    completed = []
    for _ in range(10):
        queue.record()
        lag.step()
        completed.append(queue.completed)

    assert completed == [max(0, done - lines) for done in range(1, 11)]


def test_an_open_lag_holds_nothing_until_the_next_line() -> None:
    queue = DeferredQueue(Memory())
    lag = EvenLag([queue], 3)
    lag.hold()
    queue.record()
    lag.step()
    lag.open()
    queue.record()
    assert queue.finish()
    queue.record()
    lag.step()
    assert (queue.appended(), queue.completed) == (3, 2)


def test_uneven_lag_lets_queues_overtake_each_other() -> None:
    queues = [DeferredQueue(Memory()) for _ in range(2)]
    lag = UnevenLag(queues, 6)
    lag.hold()
    ahead = set()
    for _ in range(200):
        for queue in queues:
            queue.record()
        lag.step()
        ahead.add(
            (queues[0].completed > queues[1].completed)
            - (queues[0].completed < queues[1].completed)
        )
        assert all(queue.appended() - queue.completed <= 7 for queue in queues)

    assert ahead >= {-1, 1}
