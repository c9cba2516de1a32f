# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that are measured in turns, so that what else the machine does meanwhile hits all alike."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


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


def measure_in_turns(
    cases: Sequence[Case], rounds: int, done: Callable[[Case], None] = lambda case: None
) -> list[Figure]:
    """Measure every case once a round, with the cyclic garbage collector off while it runs."""
    values: dict[Case, list[float]] = {case: [] for case in cases}
    for number in range(rounds):
        for case in cases:
            if number >= case.rounds:
                continue
            gc.collect()
            gc.disable()
            try:
                values[case].append(case.measure())
            finally:
                gc.enable()
            done(case)
    return [_figure(case, values[case]) for case in cases]


def _figure(case: Case, values: list[float]) -> Figure:
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
