# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries under libur_loader: its direct and intercept modes, its validation layer."""

import os
from pathlib import Path

import pytest

from tests.ur_library.client_process import ADAPTERS, must_pass, run_client
from urasync_l0.ur_library import library_path

SCENARIOS = (
    "information",
    "native_handles",
    "memory",
    "rows",
    "buffers",
    "pools",
    "events",
    "callbacks",
    "last_error",
    "threads",
    "no_release",
    "exit_during_calls",
)

MODES: dict[str, dict[str, str]] = {
    "direct": {},
    "intercept": {"UR_ENABLE_LOADER_INTERCEPT": "1"},
    "validation": {"UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION"},
}


@pytest.fixture
def loader() -> Path:
    path = os.environ.get("URASYNC_L0_UR_LOADER")
    if path is None:
        pytest.skip("URASYNC_L0_UR_LOADER does not name a libur_loader.so (make test-ur-loader)")
    return Path(path)


@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(client: Path, loader: Path, flavour: str, mode: str, scenario: str) -> None:
    settings = MODES[mode] | {
        "UR_ADAPTERS_FORCE_LOAD": str(library_path(flavour)),
        "LD_LIBRARY_PATH": str(loader.parent),  # the loader brings libraries of its own
    }
    must_pass(run_client(client, scenario, [loader], mode="loader", **settings))


@pytest.mark.parametrize("scenario", ["memory", "threads"])
def test_a_call_that_the_loader_checks_reaches_the_right_adapter(
    client: Path, loader: Path, scenario: str
) -> None:
    """Intercept mode with validation: each call goes through the table in its handle."""
    settings = MODES["intercept"] | MODES["validation"]
    settings |= {
        "UR_ADAPTERS_FORCE_LOAD": str(library_path("v2")),
        "LD_LIBRARY_PATH": str(loader.parent),
        "UR_LOG_VALIDATION": "level:warning;output:stderr",
    }
    run = run_client(client, scenario, [loader], mode="loader", **settings)
    must_pass(run)
    assert "leak" not in run.stderr.lower(), run.stderr
