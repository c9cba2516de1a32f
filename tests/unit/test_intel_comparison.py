# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compares Intel's adapters with ours, as far as it needs neither (`tests/intel`)."""

from pathlib import Path

import pytest

from benchmarks.ur_client import UrAdapter
from tests.intel.comparison import Difference, Facts, Run, differences
from tests.intel.deliberate import Row, read_rows
from tests.intel.fixed_programs import fixed_programs
from tests.intel.programs import Program
from tests.intel.pytest_run import Outcome
from tests.intel.random_programs import random_programs
from urasync_l0 import UsmType

ADAPTER = UrAdapter("some", Path("library"), Path("loader"))


def row(pattern: str) -> Row:
    (found,) = read_rows(f"| D-01 | what | Intel's | here | `{pattern}` |")
    return found


def program() -> Program:
    made = Program("two operations")
    made.alloc(UsmType.DEVICE, 0, 64, 0)
    made.finish(0)
    return made


def compared(
    intel: list[Facts], ours: list[Facts], our_ends: dict[int, str] | None = None
) -> list[Difference]:
    one, other = Run(ADAPTER, intel), Run(ADAPTER, ours, our_ends or {})
    return list(differences(program(), "v2", one, other))


def test_the_table_of_deliberate_differences_can_be_read() -> None:
    rows = read_rows()
    assert [row.id for row in rows] == [f"D-{number:02d}" for number in range(1, len(rows) + 1)]


def test_a_row_covers_its_differences_alone() -> None:
    found = row("v2 *-alloc * size 0: result * -> INVALID_USM_SIZE")
    meant = Difference("v2", "usm-alloc host size 0", "result", "SUCCESS", "INVALID_USM_SIZE")
    assert found.covers(meant)
    for other in (
        Difference("legacy", meant.operation, meant.fact, meant.intel, meant.here),
        Difference("v2", "usm-alloc host", meant.fact, meant.intel, meant.here),
        Difference("v2", meant.operation, "place", meant.intel, meant.here),
        Difference("v2", meant.operation, meant.fact, meant.intel, "SUCCESS"),
    ):
        assert not found.covers(other)


def test_no_row_covers_a_missed_reuse_or_wrong_data() -> None:
    for operation, fact, intel, here in (
        ("reuse device", "place", "again", "none"),
        ("enqueue-alloc device", "in-use", "0", "1"),
        ("read", "byte", "7", "0"),
        ("queue-call finish", "process", "goes on", "SIGSEGV"),
    ):
        difference = Difference("v2", operation, fact, intel, here)
        assert not any(row.covers(difference) for row in read_rows())


@pytest.mark.parametrize("text", ["", "| D-01 | a | b | c | `no pattern` |"])
def test_a_table_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"D-0\d"):
        read_rows(text)


def test_a_seed_makes_the_same_program_again() -> None:
    once, again = (list(random_programs(7, 3)) for _ in range(2))
    assert [each.text() for each in once] == [each.text() for each in again]
    assert once[0].text() != once[1].text()
    assert len({each.name for each in (*fixed_programs(), *once)}) == len(
        [*fixed_programs(), *once]
    )


def test_each_fact_is_compared() -> None:
    one: list[Facts] = [{"result": "SUCCESS", "in-use": "0"}, {"result": "SUCCESS"}]
    other: list[Facts] = [{"result": "SUCCESS", "in-use": "1"}, {"result": "UNKNOWN"}]
    assert compared(one, one) == []
    assert [str(each) for each in compared(one, other)] == [
        "v2 enqueue-alloc device: in-use 0 -> 1",
        "v2 queue-call finish: result SUCCESS -> UNKNOWN",
    ]


def test_the_end_of_a_process_is_told_of_its_operation_or_of_the_exit() -> None:
    facts: list[Facts] = [{"result": "SUCCESS"}, {"result": "SUCCESS"}]
    for place, label in ((1, "queue-call finish"), (2, "exit")):
        (found,) = compared(facts, facts, {place: "SIGSEGV"})
        assert str(found) == f"v2 {label}: process goes on -> SIGSEGV"


def test_what_was_left_out_with_one_of_them_is_not_compared() -> None:
    assert compared([{}, {"left-out": ""}], [{}, {"result": "SUCCESS"}]) == []


PRINTED = """\
.F.F
=================================== FAILURES ===================================
__________________________ test_one[legacy-SIGQUIT] ___________________________
>       assert status == expected
E       AssertionError: assert 0 == -3
E        +  where -3 = get
E           more
E           left out
_________________________________ Kind.test_two ________________________________
E       ValueError: of the second
____________________ ERROR at teardown of test_three[a - b] ____________________
E       Failed: native objects are left
=========================== short test summary info ============================
SKIPPED [1] tests/test_it.py:20: NumPy is not installed
FAILED tests/test_it.py::test_one[legacy-SIGQUIT] - AssertionError: assert 0 ...
FAILED tests/test_it.py::Kind::test_two - ValueError: of the second
ERROR tests/test_it.py::test_three[a - b] - Failed: [native] objects
2 failed, 2 passed, 1 skipped, 1 error in 0.02s"""


def test_what_failed_is_named_with_its_first_lines() -> None:
    assert Outcome("some part", failed=3, text=PRINTED).failures() == [
        "failed in some part:",
        "    tests/test_it.py::test_one[legacy-SIGQUIT]",
        "        AssertionError: assert 0 == -3",
        "        +  where -3 = get",
        "        more",
        "    tests/test_it.py::Kind::test_two",
        "        ValueError: of the second",
        "    tests/test_it.py::test_three[a - b]",
        "        Failed: native objects are left",
    ]


def test_a_part_that_names_no_test_says_its_last_lines() -> None:
    text = "\n".join(str(number) for number in range(30))
    named, *lines = Outcome("replay", failed=1, text=text).failures()
    assert named == "failed in replay:"
    assert lines == [f"    {number}" for number in range(20, 30)]


def test_a_part_that_went_well_says_nothing_at_the_end() -> None:
    assert Outcome("some part", passed=2, text=PRINTED).failures() == []
