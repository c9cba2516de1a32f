# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every trace through Intel's adapters and ours in one run, and `make bench-intel`.

Memory is judged: ours may take no more than Intel's adapter of the same flavour. Times are
printed, and left as JSON in `FIGURES`; they hang on the machine.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import intel
from benchmarks.bundled_traces import bundled_traces
from benchmarks.comparison import Measurements
from benchmarks.comparison_tables import print_tables
from benchmarks.ur_client import STACK_LIBRARIES, ur_adapters
from tests.intel.pytest_run import Outcome
from urasync_l0.tools.layout import output_console

ROUNDS = 3

FIGURES = Path("build")
"""Where ``packaging/intel-stack.sh`` finds what is to be kept of a run."""


def judged(name: str, measured: Measurements) -> Outcome:
    """How the memory of the traces is, and what was not measured."""
    outcome = Outcome(name)
    outcome.skipped.update(measured.notes)
    for ratio in measured.trace_ratios():
        is_good = ratio.memory <= 1
        outcome.passed += is_good
        outcome.failed += not is_good
        if not is_good:
            outcome.text += f"\n{ratio.trace}: {ratio.adapter} takes more memory: {ratio}"
    return outcome


def _run(name: str, file: str, rounds: int, groups: Sequence[str] | None) -> Outcome:
    measured = intel.measure(ur_adapters(STACK_LIBRARIES), bundled_traces(), rounds, groups)
    print_tables(measured, output_console())
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / file).write_text(f"{measured.to_json()}\n", encoding="utf-8")
    return judged(name, measured)


def run(workers: int) -> Iterator[Outcome]:
    """The traces."""
    yield _run("traces, Intel's adapters and ours", "traces-intel.json", ROUNDS, ["trace"])


def bench(workers: int) -> Iterator[Outcome]:
    """Everything that is measured beside Intel's adapters."""
    yield _run("times, Intel's adapters and ours", "bench-intel.json", intel.ROUNDS, None)
