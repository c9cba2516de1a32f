# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries under libur_loader: its direct and intercept modes, its validation layer."""

import os
import re
from pathlib import Path

import pytest

from tests.ur_library.client_process import (
    ADAPTERS,
    SCENARIOS,
    must_pass,
    run_client,
    scenario_settings,
)
from tests.ur_library.loader_modes import MODES, WITHOUT_LOADER, settings_of
from urasync_l0.ur_library import library_path


@pytest.fixture
def loader() -> Path:
    path = os.environ.get("URASYNC_L0_UR_LOADER")
    if path is None:
        pytest.skip("URASYNC_L0_UR_LOADER does not name a libur_loader.so (make test-ur-loader)")
    return Path(path)


def left(said: str) -> list[str]:
    """What nobody had released, as the validation layer sees it when the adapter is released."""
    return re.findall(r"Retained [1-9]\d* reference.*", said)


@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scenario", [*sorted(set(SCENARIOS) - WITHOUT_LOADER), "kernels"])
def test_scenario(
    client: Path, loader: Path, flavour: str, mode: str, scenario: str, tmp_path: Path
) -> None:
    settings = settings_of(loader, mode, library_path(flavour))
    settings |= scenario_settings(scenario, tmp_path)
    run = run_client(client, scenario, [loader], mode="loader", **settings)
    must_pass(run)
    # Two pools are destroyed by urUSMPoolDestroyExp, which the layer does not take for a release.
    assert len(left(run.stderr)) == 2 * (scenario == "pools" and "validation" in mode), run.stderr


@pytest.mark.parametrize("mode", MODES)
def test_both_adapters_at_once(client: Path, loader: Path, mode: str) -> None:
    """Each call goes through the table in its handle, to the adapter that made it."""
    settings = settings_of(loader, mode, *map(library_path, ADAPTERS))
    run = run_client(client, "each_adapter", [loader], mode="loader", ADAPTERS="2", **settings)
    must_pass(run)
    assert run.stdout == "version 1\nversion 2\npassed\n"
    assert not left(run.stderr)
