# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every trace through Intel's adapters and ours in one run, and `make bench-intel`.

Memory is judged: ours may take no more than Intel's adapter of the same flavour. Times are
printed; they hang on the machine.
"""

from collections.abc import Iterator, Sequence

from benchmarks import intel
from benchmarks.bundled_traces import bundled_traces
from benchmarks.ur_client import STACK_LIBRARIES
from tests.intel.pytest_run import Outcome
from urasync_l0.tools.layout import output_console

ROUNDS = 3


def _run(name: str, rounds: int, groups: Sequence[str] | None) -> Outcome:
    outcome = Outcome(name)
    memory, figures = intel.measure(STACK_LIBRARIES, bundled_traces(), rounds, groups)
    intel.print_tables(memory, figures, output_console())
    print(intel.to_json(memory, figures))
    for row in intel.ratios(memory, figures):
        is_good = float(str(row["memory"])) <= 1
        outcome.passed += is_good
        outcome.failed += not is_good
        if not is_good:
            outcome.text += f"\n{row['trace']}: {row['adapter']} takes more memory: {row}"
    return outcome


def run(workers: int) -> Iterator[Outcome]:
    """The traces."""
    yield _run("traces, Intel's adapters and ours", ROUNDS, ["trace"])


def bench(workers: int) -> Iterator[Outcome]:
    """Everything that is measured beside Intel's adapters."""
    yield _run("times, Intel's adapters and ours", intel.ROUNDS, None)
