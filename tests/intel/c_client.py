# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C client of the UR libraries (`tests/ur_library`) under Intel's libur_loader.

On the software driver all of it, and Intel's adapters and ours at once under one loader. On Intel's
driver without a device, where nothing is executed, each call's result.
"""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.ur_client import STACK_LIBRARIES, software_settings, ur_adapters
from tests.intel.no_hardware import PRODUCTS, driver_settings
from tests.intel.pytest_run import Outcome, run_pytest
from tests.ur_library.client_process import (
    ADAPTERS,
    SCENARIOS,
    compile_client,
    run_client,
    scenario_settings,
)
from tests.ur_library.loader_modes import MODES, WITHOUT_LOADER, settings_of
from urasync_l0.ur_library import library_path

LOADER = STACK_LIBRARIES / "libur_loader.so"

NEEDS_EXECUTION = {"callbacks", "exit_in_callback"}
"""What waits for an event to be complete."""


def run(workers: int) -> Iterator[Outcome]:
    """The outcomes on the software driver, with all adapters, and on Intel's driver."""
    yield run_pytest(
        "C client under libur_loader, software driver",
        ["tests/ur_library"],
        {"URASYNC_L0_UR_LOADER": str(LOADER)},
        workers=workers,
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        client = compile_client(folder)
        yield _all_adapters(client)
        for product in PRODUCTS:
            yield _on_intels_driver(client, product, folder, workers)


def _note(outcome: Outcome, what: str, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode == 0 and done.stdout.endswith("passed\n"):
        outcome.passed += 1
    else:
        outcome.failed += 1
        outcome.text += f"\n{what}: {done.returncode}\n{done.stdout}{done.stderr}"


def _all_adapters(client: Path) -> Outcome:
    outcome = Outcome("C client, Intel's adapters and ours at once, software driver")
    libraries = [adapter.library for adapter in ur_adapters(STACK_LIBRARIES)]
    for mode in MODES:
        settings = settings_of(LOADER, mode, *libraries) | software_settings()
        settings["ADAPTERS"] = str(len(libraries))
        done = run_client(client, "each_adapter", [LOADER], mode="loader", **settings)
        _note(outcome, mode, done)
    return outcome


def _on_intels_driver(client: Path, product: str, folder: Path, workers: int) -> Outcome:
    outcome = Outcome(f"C client, Intel's driver as {product}")
    scenarios = [each for each in SCENARIOS if each not in NEEDS_EXECUTION]
    jobs: list[tuple[str, str, Sequence[Path], dict[str, str]]] = []
    for scenario in scenarios:
        settings = scenario_settings(scenario, folder) | driver_settings(
            product, 2 if scenario == "peers" else 1
        )
        settings |= {
            "URASYNC_L0_DRIVER": "system",
            "URASYNC_L0_EXPANDING_SEGMENTS": "off",
            "EXECUTES_NOTHING": "1",
        }
        for flavour in ADAPTERS:
            jobs.append((scenario, "direct", [library_path(flavour)], settings))
            if scenario not in WITHOUT_LOADER:
                under = settings_of(LOADER, "intercept and validation", library_path(flavour))
                jobs.append((scenario, "loader", [LOADER], settings | under))

    def run_job(
        job: tuple[str, str, Sequence[Path], dict[str, str]],
    ) -> subprocess.CompletedProcess[str]:
        scenario, mode, libraries, settings = job
        return run_client(client, scenario, libraries, mode=mode, **settings)

    with ThreadPoolExecutor(workers) as executor:
        for job, done in zip(jobs, executor.map(run_job, jobs), strict=True):
            _note(outcome, f"{job[0]}, {job[1]}, {job[2][0].name}", done)
    return outcome
