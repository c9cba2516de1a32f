# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trace format: what is read, and what each kind of wrong line is answered."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.bundled_traces import bundled_traces
from urasync_l0.tools.replayer.trace import (
    HEADER,
    Op,
    Trace,
    TraceError,
    TraceLine,
    line_number,
    parse_trace,
    read_trace,
)


def parse(*lines: str, queues: int = 64) -> Trace:
    text = "".join(f"{line}\n" for line in (HEADER, *lines))
    return parse_trace(text.encode(), "some.csv", queues=queues)


def test_every_operation_is_read() -> None:
    trace = parse("A,7,100,0,", "R,,,0,3", "W,,,2,3", "F,7,,2,", "S,,,2,")

    assert trace.lines == (
        TraceLine(Op.ALLOCATE, 0, 100, 0, 7),
        TraceLine(Op.RECORD, 0, 0, 0, 3),
        TraceLine(Op.WAIT, 0, 0, 2, 3),
        TraceLine(Op.FREE, 0, 100, 2, 7),
        TraceLine(Op.SYNCHRONISE, -1, 0, 2, -1),
    )
    assert (trace.name, trace.path, trace.queues) == ("some", "some.csv", (0, 2))
    assert (trace.allocation_slots, trace.event_slots, trace.live_peak) == (1, 1, 100)


def test_live_peak_is_the_highest_sum_of_requested_bytes() -> None:
    trace = parse("A,0,5,0,", "A,1,6,0,", "F,0,,0,", "A,2,4,0,", "F,1,,0,", "A,3,1,0,")

    assert trace.live_peak == 11


def test_allocations_may_outlive_the_trace_and_ids_may_return() -> None:
    trace = parse("A,0,5,0,", "F,0,,0,", "A,0,6,0,")

    assert [line.slot for line in trace.lines] == [0, 0, 0]
    assert [line.nbytes for line in trace.lines] == [5, 5, 6]


def test_slots_of_freed_allocations_serve_again() -> None:
    trace = parse("A,10,1,0,", "A,11,1,0,", "F,10,,0,", "A,12,1,0,", "A,13,1,0,")

    assert [line.slot for line in trace.lines] == [0, 1, 0, 0, 2]
    assert trace.allocation_slots == 3


def test_an_event_keeps_its_slot_until_its_last_wait() -> None:
    trace = parse("R,,,0,5", "R,,,0,6", "W,,,1,5", "R,,,0,7", "W,,,1,6", "W,,,1,7", "W,,,2,6")

    assert [line.slot for line in trace.lines] == [0, 1, 0, 0, 1, 0, 1]
    assert trace.event_slots == 2


def test_recording_an_event_again_replaces_it() -> None:
    trace = parse("R,,,0,5", "W,,,1,5", "R,,,1,5", "R,,,0,6", "W,,,0,5")

    assert [line.slot for line in trace.lines] == [0, 0, 0, 1, 0]


def test_line_ends_may_be_those_of_rfc_4180() -> None:
    data = f"{HEADER}\r\nA,0,5,0,\r\n".encode()

    assert len(parse_trace(data, "some.csv").lines) == 1


def test_queue_numbers_may_have_gaps() -> None:
    assert parse("S,,,63,", "S,,,0,").queues == (0, 63)


MALFORMED = {
    "unknown op": (["B,0,5,0,"], 2, "unknown op 'B'; expected one of A, F, R, W, S"),
    "lower case": (["a,0,5,0,"], 2, "unknown op 'a'; expected one of A, F, R, W, S"),
    "empty line": (["A,0,5,0,", "", "F,0,,0,"], 3, "the line is empty"),
    "too few fields": (["A,0,5,0"], 2, f"4 fields; expected 5 ({HEADER})"),
    "too many fields": (["A,0,5,0,,"], 2, f"6 fields; expected 5 ({HEADER})"),
    "missing id": (["A,,5,0,"], 2, "A needs id, but it is missing"),
    "missing bytes": (["A,0,,0,"], 2, "A needs bytes, but it is missing"),
    "missing queue": (["S,,,,"], 2, "S needs queue, but it is missing"),
    "missing event": (["R,,,0,"], 2, "R needs event, but it is missing"),
    "field too many on a free": (
        ["A,0,5,0,", "F,0,5,0,"],
        3,
        "F takes no bytes, but it is '5'",
    ),
    "event on an allocation": (["A,0,5,0,1"], 2, "A takes no event, but it is '1'"),
    "id on a record": (["R,1,,0,1"], 2, "R takes no id, but it is '1'"),
    "zero bytes": (["A,0,0,0,"], 2, "an allocation of 0 bytes; expected at least 1"),
    "negative bytes": (["A,0,-5,0,"], 2, "bytes is -5; expected no negative number"),
    "huge bytes": (
        ["A,0,140737488355329,0,"],
        2,
        "an allocation of 140737488355329 bytes; expected at most 140737488355328",
    ),
    "fraction": (["A,0,5.0,0,"], 2, "bytes is '5.0'; expected a whole number"),
    "space": (["A,0, 5,0,"], 2, "bytes is ' 5'; expected a whole number"),
    "hexadecimal": (["A,0x1,5,0,"], 2, "id is '0x1'; expected a whole number"),
    "underscore": (["A,1_0,5,0,"], 2, "id is '1_0'; expected a whole number"),
    "foreign digits": (["A,٣,5,0,"], 2, "id is '٣'; expected a whole number"),
    "plus sign": (["A,+3,5,0,"], 2, "id is '+3'; expected a whole number"),
    "enormous id": (
        [f"A,{'9' * 5000},5,0,"],
        2,
        f"id is '{'9' * 37}...'; expected at most 9223372036854775807",
    ),
    "id of 64 bits": (
        ["A,9223372036854775808,5,0,"],
        2,
        "id is '9223372036854775808'; expected at most 9223372036854775807",
    ),
    "negative id": (["A,-1,5,0,"], 2, "id is -1; expected no negative number"),
    "negative queue": (["S,,,-1,"], 2, "queue is -1; expected no negative number"),
    "unknown queue": (["S,,,64,"], 2, "unknown queue 64: the queues are 0 to 63"),
    "unknown allocation": (
        ["A,0,5,0,", "F,1,,0,"],
        3,
        "unknown allocation 1: no line before allocates it",
    ),
    "double free": (
        ["A,0,5,0,", "F,0,,0,", "S,,,0,", "F,0,,0,"],
        5,
        "allocation 0 was freed already, on line 3",
    ),
    "double allocation": (
        ["S,,,0,", "A,4,5,0,", "A,4,5,0,"],
        4,
        "allocation 4 is live already, since line 3",
    ),
    "event not recorded": (
        ["W,,,0,1", "R,,,0,1"],
        2,
        "event 1 is waited for before it was recorded",
    ),
}


@pytest.mark.parametrize(("lines", "number", "problem"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_wrong_line_is_named(lines: list[str], number: int, problem: str) -> None:
    with pytest.raises(TraceError) as caught:
        parse(*lines)

    assert (caught.value.path, caught.value.line) == ("some.csv", number)
    assert str(caught.value) == f"some.csv, line {number}: {problem}"


CUT = {
    "empty": (b"", 0, f"the file is empty; expected the header {HEADER}"),
    "header only": (f"{HEADER}\n".encode(), 0, "no operation follows the header"),
    "cut header": (b"op,id,by", 1, f"wrong header 'op,id,by'; expected {HEADER}"),
    "header without end": (HEADER.encode(), 1, "the line has no end: the file was cut"),
    "other header": (
        b"op,id,size,queue,event\nS,,,0,\n",
        1,
        f"wrong header 'op,id,size,queue,event'; expected {HEADER}",
    ),
    "no header": (b"A,0,5,0,\n", 1, f"wrong header 'A,0,5,0,'; expected {HEADER}"),
    "byte order mark": (
        f"\ufeff{HEADER}\nS,,,0,\n".encode(),
        1,
        f"wrong header '\\ufeff{HEADER}'; expected {HEADER}",
    ),
    "cut last line": (
        f"{HEADER}\nA,0,5,0,\nA,1,5".encode(),
        3,
        "the line has no end: the file was cut",
    ),
    "cut before the last end": (
        f"{HEADER}\nR,,,0,12".encode(),
        2,
        "the line has no end: the file was cut",
    ),
    "not UTF-8": (
        f"{HEADER}\nS,,,0,\n".encode() + b"S,,\xff,0,\n",
        3,
        "not UTF-8: byte 0xff cannot stand here",
    ),
    "nothing but zero bytes": (b"\0" * 8, 1, f"wrong header {chr(0) * 8!r}; expected {HEADER}"),
}


@pytest.mark.parametrize(("data", "number", "problem"), CUT.values(), ids=CUT.keys())
def test_a_wrong_file_is_named(data: bytes, number: int, problem: str) -> None:
    with pytest.raises(TraceError) as caught:
        parse_trace(data, "some.csv")

    where = f"some.csv, line {number}" if number else "some.csv"
    assert str(caught.value) == f"{where}: {problem}"


def test_the_number_of_queues_can_be_limited() -> None:
    assert parse("S,,,1,", queues=2).queues == (1,)
    with pytest.raises(TraceError, match=r"line 2: unknown queue 2: the queues are 0 to 1"):
        parse("S,,,2,", queues=2)


@pytest.mark.parametrize("queues", [0, 65])
def test_no_trace_has_that_many_queues(queues: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 64 queues, not {queues}"):
        parse("S,,,0,", queues=queues)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.csv"

    with pytest.raises(TraceError) as caught:
        read_trace(missing)

    assert str(caught.value) == f"{missing}: cannot be read: No such file or directory"


def test_a_cut_of_a_trace_is_an_error_or_whole_lines() -> None:
    data = f"{HEADER}\nA,10,500,1,\nR,,,1,12\nW,,,2,12\nF,10,,2,\nS,,,1,\n".encode()
    for length in range(len(data)):
        cut = data[:length]
        if cut.endswith(b"\n") and cut.count(b"\n") > 1:
            assert len(parse_trace(cut, "some.csv").lines) == cut.count(b"\n") - 1
        else:
            with pytest.raises(TraceError):
                parse_trace(cut, "some.csv")


@given(st.binary(max_size=200))
@example(HEADER.encode())
def test_random_bytes_give_nothing_but_a_trace_error(data: bytes) -> None:
    with pytest.raises(TraceError):
        parse_trace(data, "some.csv")


@given(st.binary(max_size=200))
def test_random_bytes_after_the_header_give_nothing_but_a_trace_error(data: bytes) -> None:
    outcome_of(f"{HEADER}\n".encode() + data)


FIELD = st.sampled_from(["", "0", "1", "2", "63", "64", "-1", "7x", "9" * 30, " ", "\x00", "é"])
LINE = st.tuples(st.sampled_from(["A", "F", "R", "W", "S", "X", ""]), FIELD, FIELD, FIELD, FIELD)


@given(st.lists(LINE, min_size=1, max_size=12))
def test_random_lines_give_nothing_but_a_trace_error(lines: list[tuple[str, ...]]) -> None:
    text = "".join(",".join(line) + "\n" for line in lines)
    outcome_of(f"{HEADER}\n{text}".encode())


def outcome_of(data: bytes) -> None:
    """Whatever is read obeys the rules; whatever is refused is refused with a line of the file."""
    try:
        trace = parse_trace(data, "some.csv")
    except TraceError as error:
        refusal = error
    else:
        assert len(trace.lines) == data.count(b"\n") - 1
        assert all(0 <= queue < 64 for queue in trace.queues)
        return
    assert 0 <= refusal.line <= data.count(b"\n") + 1
    assert "\n" not in str(refusal)


def test_the_bundled_traces_are_what_their_readme_says() -> None:
    traces = [read_trace(path) for path in bundled_traces()]

    text = (Path(bundled_traces()[0]).parent / "README.md").read_text("utf-8")
    rows = text.splitlines()
    for trace in traces:
        row = next(row for row in rows if row.startswith(f"| `{trace.name}` |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[2:] == [
            str(len(trace.queues)),
            f"{len(trace.lines):,}",
            f"{trace.live_peak:,}",
        ]
    assert len(traces) == 7


def test_line_numbers_count_the_header() -> None:
    trace = parse("S,,,0,", "S,,,1,")

    numbers = [line_number(index) for index, _ in enumerate(trace.lines)]
    assert numbers == list(itertools.islice(itertools.count(2), 2))
