# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same programs of operations through Intel's C++ adapters and through ours.

On the software driver, where commands are executed and data is looked at, and on Intel's driver
without a device. What differs must be in the table of deliberate differences; ours must never end
the process.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.ur_client import (
    OURS,
    STACK_LIBRARIES,
    UrAdapter,
    compile_program,
    software_settings,
    ur_adapters,
)
from tests.intel.comparison import Difference, Run, differences, run_program
from tests.intel.deliberate import Row, read_rows
from tests.intel.fixed_programs import fixed_programs
from tests.intel.no_hardware import PRODUCTS, compile_residency, driver_settings
from tests.intel.programs import Program
from tests.intel.pytest_run import Outcome
from tests.intel.random_programs import random_programs

SOURCES = Path(__file__).with_name("client")
SEED = 1
PROGRAMS = 40
PROGRAMS_WITHOUT_EXECUTION = 10


def compare(
    name: str,
    client: Path,
    programs: Sequence[Program],
    settings: Mapping[str, str],
    workers: int,
    rows: Sequence[Row],
    met: Counter[str],
) -> Outcome:
    """Compare the adapters on one driver; counts in `met` how often each row was met."""
    adapters = {adapter.name: adapter for adapter in ur_adapters(STACK_LIBRARIES)}
    outcome = Outcome(name)
    unlisted: Counter[Difference] = Counter()
    where: dict[Difference, str] = {}
    with ThreadPoolExecutor(workers) as executor:

        def run(job: tuple[Program, UrAdapter]) -> Run:
            return run_program(client, job[0], job[1], settings)

        jobs = [(program, adapter) for program in programs for adapter in adapters.values()]
        runs = dict(zip([(p.name, a.name) for p, a in jobs], executor.map(run, jobs), strict=True))
    for program in programs:
        for flavour in OURS:
            ours = runs[program.name, flavour]
            intel = runs[program.name, f"Intel {flavour}"]
            good = not ours.ends
            if ours.ends:
                outcome.text += f"\n{program.name}, {flavour}: {ours.ends} {ours.messages}"
            for difference in differences(program, flavour, intel, ours):
                row = next((row.id for row in rows if row.covers(difference)), None)
                if row is not None:
                    met[row] += 1
                    continue
                good = False
                unlisted[difference] += 1
                where.setdefault(difference, program.name)
            outcome.passed += good
            outcome.failed += not good
    lines = [f"{number} x {each}   (first in: {where[each]})" for each, number in unlisted.items()]
    outcome.text += "\n".join(["", "No row of ARCHITECTURE.md has:", *lines] if lines else [])
    return outcome


def run(workers: int) -> Iterator[Outcome]:
    """Each driver's outcome; prints which rows were never met."""
    rows = read_rows()
    met: Counter[str] = Counter()
    fixed = list(fixed_programs())
    with tempfile.TemporaryDirectory() as folder:
        client = Path(folder, "operations")
        compile_program(sorted(SOURCES.glob("*.c")), client)
        residency = Path(folder, "residency.so")
        compile_residency(residency)
        programs = [*fixed, *random_programs(SEED, PROGRAMS)]
        name = "programs of operations, Intel's adapters and ours"
        yield compare(
            f"{name}, software driver", client, programs, software_settings(), workers, rows, met
        )
        for product in PRODUCTS:
            programs = [program.without_execution() for program in fixed]
            if product == PRODUCTS[0]:
                more = random_programs(SEED + PROGRAMS, PROGRAMS_WITHOUT_EXECUTION)
                programs += [program.without_execution() for program in more]
            settings = driver_settings(product) | {
                "LD_PRELOAD": str(residency),
                "URASYNC_L0_DRIVER": "system",
            }
            label = f"{name}, Intel's driver as {product}"
            yield compare(label, client, programs, settings, workers, rows, met)
    print(f"deliberate differences met: {sum(met.values())}, of {len(met)} rows of {len(rows)}")
    never = [row.id for row in rows if row.patterns and not met[row.id]]
    if never:
        print(f"    never met, though they have patterns: {', '.join(never)}")
