# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that are measured in turns, and what their rounds come to (`benchmarks.rounds`)."""

import gc
from functools import partial

import pytest

from benchmarks.rounds import Case, Figure, SharedMeasurement, measure_in_turns, three_digits

pytestmark = pytest.mark.usefixtures("frozen")


def test_cases_take_turns_as_often_as_each_says() -> None:
    turns: list[str] = []

    def measure(name: str) -> float:
        assert not gc.isenabled()
        turns.append(name)
        return len(turns)

    cases = [
        Case("group", name, "v2", "µs", partial(measure, name), rounds)
        for name, rounds in (("often", 100), ("once", 1), ("twice", 2))
    ]
    often, once, twice = measure_in_turns(cases, 3)
    assert turns == ["often", "once", "twice", "often", "twice", "often"]
    assert often == Figure("group", "often", "v2", "µs", 4, (1, 6), (1, 6), 3)
    assert once == Figure("group", "once", "v2", "µs", 2, (2, 2), (2, 2), 1)
    assert twice == Figure("group", "twice", "v2", "µs", 4, (3, 5), (3, 5), 2)
    assert gc.isenabled()


def test_quartiles_of_many_rounds() -> None:
    values = iter([5.0, 1.0, 4.0, 2.0, 30.0])
    (figure,) = measure_in_turns([Case("pair", "x", "v2", "µs", lambda: next(values))], 5)
    assert (figure.median, figure.quartiles, figure.extremes) == (4, (2, 5), (1, 30))


def test_the_collector_is_on_again_after_a_failure() -> None:
    def fail() -> float:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        measure_in_turns([Case("pair", "x", "v2", "µs", fail)], 1)
    assert gc.isenabled()


def test_a_shared_measurement_is_made_once_for_all_of_its_values() -> None:
    made: list[tuple[float, float]] = []

    def measure() -> tuple[float, float]:
        made.append((len(made), len(made) + 0.5))
        return made[-1]

    shared = SharedMeasurement(measure)
    cases = [Case("call", str(place), "v2", "µs", partial(shared.value, place)) for place in (0, 1)]
    first, second = measure_in_turns(cases, 3)
    assert len(made) == 3
    assert (first.extremes, second.extremes) == ((0, 2), (0.5, 2.5))
    assert measure_in_turns(cases[1:], 2)[0].extremes == (3.5, 4.5)  # one of them alone


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.04567, "0.0457"),
        (0.5, "0.500"),
        (99.9, "99.9"),
        (99.96, "100"),
        (123.4, "123"),
        (6942.0, "6,940"),
        (218_345.0, "218,000"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert three_digits(value) == text


def test_a_figure_is_told_with_its_spread() -> None:
    figure = Figure("pair", "x", "v2", "µs", 2.0, (1.9, 2.1), (1.5, 3.5), 5)
    assert str(figure) == "2.00 ±50%"
    assert str(Figure("pair", "x", "v2", "µs", 7.0, (7.0, 7.0), (7.0, 7.0), 1)) == "7.00"
