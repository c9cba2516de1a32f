# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was measured beside Intel's adapters, as values and as JSON, and what the ratios are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.rounds import Figure


@dataclass(frozen=True, slots=True)
class MemoryFigure:
    """How much an adapter takes for a trace.

    Attributes
    ----------
    reserved : highest number of bytes that the driver gave out, or that the pool held, for Python.
    said : the highest number of bytes that the pool says it held; 0 where it does not.
    ratio : `reserved` over the highest sum of the live allocations' requested bytes.
    """

    trace: str
    adapter: str
    reserved: int
    said: int
    ratio: float


@dataclass(frozen=True, slots=True)
class TraceRatio:
    """Memory and median time of a trace, over those of Intel's adapter of the same flavour.

    Attributes
    ----------
    over : Intel's adapter.
    time : None where no time was measured.
    """

    trace: str
    adapter: str
    over: str
    memory: float
    time: float | None


@dataclass(frozen=True, slots=True)
class TargetRatio:
    """A median time over what is aimed at; 1 or less is reached.

    Attributes
    ----------
    case : group and name.
    adapter : whose time.
    over : what is aimed at.
    """

    case: str
    adapter: str
    over: str
    time: float


@dataclass(frozen=True, slots=True)
class Measurements:
    """What one run measured, on what machine, and why anything is not there."""

    machine: dict[str, str]
    memory: Sequence[MemoryFigure]
    figures: Sequence[Figure]
    notes: Sequence[str] = ()

    def adapters(self) -> list[str]:
        """All that have a figure, in the order of the first ones."""
        told = [*(each.adapter for each in self.memory), *(each.adapter for each in self.figures)]
        return [adapter for adapter in dict.fromkeys(told) if adapter]

    def trace_ratios(self) -> list[TraceRatio]:
        """Of each trace with each of our adapters."""
        reserved = {(each.trace, each.adapter): each.reserved for each in self.memory}
        medians = self._medians()
        ratios = []
        for trace, adapter in reserved:
            intel = f"Intel {adapter.partition(',')[0]}, C"
            if (trace, intel) not in reserved:  # it is Intel's own, or Intel's were not measured
                continue
            mine = medians.get(("trace", trace, adapter))
            memory = reserved[trace, adapter] / reserved[trace, intel]
            time = None if mine is None else mine / medians["trace", trace, intel]
            ratios.append(TraceRatio(trace, adapter, intel, memory, time))
        return ratios

    def target_ratios(self) -> list[TargetRatio]:
        """Of ours from Python, where what is aimed at was measured.

        A trace is to take no longer than with Intel's legacy adapter from C, a pair without events
        no longer than what Python pays to call Intel's v2 through cffi, and one with events no
        longer than two with Intel's v2 from C.
        """
        medians = self._medians()
        ratios = []
        for group, name, adapter in medians:
            if group == "trace":
                times, other = 1, "Intel legacy, C"
            elif (group, name) == ("pair", "no events"):
                times, other = 1, "Intel v2, cffi"
            elif (group, name) == ("pair", "an event for both calls"):
                times, other = 2, "Intel v2, C"
            else:
                continue
            aim = medians.get((group, name, other))
            if aim is not None and adapter.endswith(", Python"):
                over = other if times == 1 else f"{times} x {other}"
                ratio = medians[group, name, adapter] / (times * aim)
                ratios.append(TargetRatio(f"{group}: {name}", adapter, over, ratio))
        return ratios

    def _medians(self) -> dict[tuple[str, str, str], float]:
        return {(each.group, each.name, each.adapter): each.median for each in self.figures}

    def to_json(self) -> str:
        """Everything, with the ratios; those are for people, `from_json` does without them."""
        ratios = {
            "trace_ratios": [asdict(each) for each in self.trace_ratios()],
            "target_ratios": [asdict(each) for each in self.target_ratios()],
        }
        return json.dumps(asdict(self) | ratios, indent=1, ensure_ascii=False)


def from_json(text: str) -> Measurements:
    """What `Measurements.to_json` wrote."""
    told = json.loads(text)
    figures = [
        Figure(**(each | {name: tuple(each[name]) for name in ("quartiles", "extremes")}))
        for each in told["figures"]
    ]
    memory = [MemoryFigure(**each) for each in told["memory"]]
    return Measurements(told["machine"], memory, figures, told["notes"])
