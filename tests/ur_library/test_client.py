# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A C program that loads the libraries itself: every entry, wrong calls, threads, and the end."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.helpers.spirv import fill_program, whole_program
from tests.ur_library.client_process import ADAPTERS, must_pass, run_client
from urasync_l0.ur_library import library_path

NO_COMPILER = "the driver has no compiler\n"
OPENCL = {name: text for name, text in os.environ.items() if name == "URASYNC_L0_OPENCL"}

SCENARIOS = (
    "tables",
    "information",
    "native_handles",
    "memory",
    "rows",
    "buffers",
    "pools",
    "events",
    "callbacks",
    "wrong_arguments",
    "stale_handles",
    "table_in_handles",
    "last_error",
    "logger",
    "threads",
    "first_calls",
    "fork_after_use",
    "no_release",
    "exit_during_calls",
    "exit_in_callback",
)


@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(client: Path, flavour: str, scenario: str) -> None:
    run = run_client(client, scenario, [library_path(flavour)])
    must_pass(run)
    assert run.stderr == ""  # nothing is logged that nobody asked for


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_programs(client: Path, flavour: str, tmp_path: Path) -> None:
    """As far as the software driver goes, which needs an OpenCL runtime to compile one."""
    program = tmp_path / "fill.spv"
    program.write_bytes(fill_program())
    run = run_client(client, "programs", [library_path(flavour)], PROGRAM=str(program), **OPENCL)
    must_pass(run)
    assert run.stdout.removesuffix("passed\n") in ("", NO_COMPILER)


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_kernels_on_memory_in_queue_order(client: Path, flavour: str, tmp_path: Path) -> None:
    """What Unified Runtime's own tests do with kernels, with the data looked at."""
    program = tmp_path / "whole.spv"
    program.write_bytes(whole_program())
    run = run_client(client, "kernels", [library_path(flavour)], PROGRAM=str(program), **OPENCL)
    must_pass(run)
    if run.stdout.startswith(NO_COMPILER):
        pytest.skip("the software driver found no OpenCL runtime (make test-kernels)")


def test_two_adapters_in_one_process(client: Path) -> None:
    must_pass(run_client(client, "two_adapters", [library_path(name) for name in ADAPTERS]))


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_errors_are_logged_on_request(client: Path, flavour: str) -> None:
    run = run_client(
        client,
        "stale_handles",
        [library_path(flavour)],
        UR_LOG_LEVEL_ZERO="level:error;output:stderr",
    )
    must_pass(run)
    assert "<LEVEL_ZERO>[ERROR]: urEventRelease: " in run.stderr
    assert "[INVALID_EVENT]" in run.stderr


def test_the_log_goes_to_a_file(client: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    setting = f"level:warning;flush:error;output:file,{log}"
    run = run_client(client, "tables", [library_path("v2")], UR_LOG_LEVEL_ZERO=setting)
    must_pass(run)
    assert run.stderr == ""
    assert "<LEVEL_ZERO>[WARNING]: urSamplerCreate is not offered" in log.read_text()


def test_python_is_found_without_settings(client: Path, tmp_path: Path) -> None:
    """The client's folder, search path and user have nothing to do with it."""
    run = run_client(
        client,
        "memory",
        [library_path("legacy")],
        PATH="/nonexistent",
        HOME=str(tmp_path),
        UR_LOG_LEVEL_ZERO="level:info",
    )
    must_pass(run)
    assert f"[INFO]: started {sys.prefix}/bin/python" in run.stderr


def test_an_environment_without_the_package(client: Path, tmp_path: Path) -> None:
    """A library that was copied to where Python is, but not the package: the reason is logged."""
    place = tmp_path / "lib" / "python3" / "site-packages" / "urasync_l0" / "ur_library"
    place.mkdir(parents=True)
    binary = tmp_path / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    binary.parent.mkdir()
    binary.symlink_to(Path(sys.executable).resolve())
    library = Path(shutil.copy(library_path("v2"), place))
    run = run_client(client, "not_started", [library], UR_LOG_LEVEL_ZERO="level:error")
    must_pass(run)
    assert "Python could not be started" in run.stderr
    quiet = run_client(client, "not_started", [library])
    must_pass(quiet)


def test_no_driver_is_a_result(client: Path) -> None:
    """The call fails with a code and a logged reason when Level Zero is not there."""
    run = run_client(
        client,
        "memory",
        [library_path("v2")],
        URASYNC_L0_LOADER="/nonexistent/libze_loader.so.1",
        UR_LOG_LEVEL_ZERO="level:error",
    )
    assert run.returncode == 1
    assert "37 instead of 0" in run.stderr
    assert "urPlatformGet: " in run.stderr
    assert "/nonexistent/libze_loader.so.1" in run.stderr
