# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that are measured in turns, so that what else the machine does meanwhile hits all alike."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress


@dataclass(frozen=True, slots=True)
class Case:
    """Something to measure.

    Attributes
    ----------
    group, name, adapter : what it is; the adapter is empty where none takes part.
    unit : of what `measure` returns, for example "µs a pair".
    measure : does it once and returns the value; gets what it needs ready by itself.
    rounds : how often at most; expensive ones take few.
    """

    group: str
    name: str
    adapter: str
    unit: str
    measure: Callable[[], float]
    rounds: int = 100


class SharedMeasurement:
    """A measurement that gives several values, each a case's: it is made once for all of them."""

    def __init__(self, measure: Callable[[], Sequence[float]]) -> None:
        self._measure = measure
        self._untold: dict[int, float] = {}

    def value(self, place: int) -> float:
        """One of the values; measured anew if this one of the last measurement is told already."""
        if place not in self._untold:
            self._untold = dict(enumerate(self._measure()))
        return self._untold.pop(place)


@dataclass(frozen=True, slots=True)
class Figure:
    """What the rounds of a case gave: the median, the quartiles around it, and the extremes."""

    group: str
    name: str
    adapter: str
    unit: str
    median: float
    quartiles: tuple[float, float]
    extremes: tuple[float, float]
    rounds: int

    def __str__(self) -> str:
        """The median, and half of what lies between the extremes in per cent of it."""
        if self.rounds == 1:
            return three_digits(self.median)
        spread = (self.extremes[1] - self.extremes[0]) / 2 / self.median
        return f"{three_digits(self.median)} ±{spread:.0%}"


def three_digits(value: float) -> str:
    """A number as tables show it: 0.500, 12.3, 6,940."""
    return f"{value:#.3g}" if value < 99.95 else f"{float(f'{value:.3g}'):,.0f}"


def measure_in_turns(cases: Sequence[Case], rounds: int) -> list[Figure]:
    """Measure every case once a round, with the cyclic garbage collector off while it runs.

    Where the standard error is a terminal it shows how far it is.
    """
    values: dict[Case, list[float]] = {case: [] for case in cases}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        total = sum(min(rounds, case.rounds) for case in cases)
        task = progress.add_task("measuring", total=total)
        for number in range(rounds):
            for case in cases:
                if number < case.rounds:
                    values[case].append(_measured(case))
                    progress.advance(task)
    return [figure_of(case, values[case]) for case in cases]


def _measured(case: Case) -> float:
    gc.collect()
    gc.disable()
    try:
        return case.measure()
    finally:
        gc.enable()


def figure_of(case: Case, values: Sequence[float]) -> Figure:
    """What these values of a case come to."""
    first, last = min(values), max(values)
    quartiles = (first, last)
    if len(values) > 3:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        quartiles = (low, high)
    return Figure(
        case.group,
        case.name,
        case.adapter,
        case.unit,
        statistics.median(values),
        quartiles,
        (first, last),
        len(values),
    )
