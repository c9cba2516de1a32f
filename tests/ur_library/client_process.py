# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the C client, and runs it in a process of its own."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import ur_library_build
import urasync_l0.ur_library
import ze_build
from tests.helpers.spirv import fill_program, special_program, whole_program

ADAPTERS = ("legacy", "v2")

# Settings of the surrounding run must not reach the client.
FOREIGN = ("URASYNC_L0_", "UR_", "ZE_", "PYTHON", "VIRTUAL_ENV")

# Those that a program of its own goes through with nothing but the libraries.
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
    "peers",
    "programs",
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

NO_COMPILER = "the driver has no compiler\n"
OPENCL = {name: text for name, text in os.environ.items() if name == "URASYNC_L0_OPENCL"}

SOURCES = Path(__file__).with_name("client")
LIBRARY = Path(urasync_l0.ur_library.__file__).parent


def _write_function_names(target: Path) -> None:
    """Write the order of the functions as the client includes it."""
    text = (LIBRARY / "function_tables.txt").read_text(encoding="utf-8")
    rows = [
        f'    {{"{table}", "{name}"}},'
        for table, names in ur_library_build.function_tables(text).items()
        for name in names
    ]
    lines = ["static const struct {", "    const char *table, *name;", "} function_names[] = {"]
    target.write_text("\n".join([*lines, *rows, "};", ""]), encoding="utf-8")


def compile_client(folder: Path) -> Path:
    """The client's program, compiled in a folder."""
    _write_function_names(folder / "function_names.h")
    program = folder / "client"
    flags = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    includes = [f"-I{folder}", f"-I{LIBRARY / 'include'}"]
    sources = map(str, sorted(SOURCES.glob("*.c")))
    command = [*ze_build.compiler(), *flags, *includes, *sources, "-ldl", "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def client_settings(**environment: str) -> dict[str, str]:
    """The environment of a client on the software driver, with more settings."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return inherited | {"URASYNC_L0_DRIVER": "software"} | environment


def scenario_settings(scenario: str, folder: Path) -> dict[str, str]:
    """What a scenario needs beside the libraries; programs are written to a folder."""
    if scenario == "peers":
        return {"URASYNC_L0_SOFTWARE_DEVICES": "2"}
    made = {"PROGRAM": whole_program, "CONSTANTS": special_program}
    if scenario in ("programs", "exit_during_kernels"):
        made["PROGRAM"] = fill_program
    elif scenario != "kernels":
        return {}
    files = {name: folder / f"{name}.spv" for name in made}
    for name, file in files.items():
        file.write_bytes(made[name]())
    return OPENCL | {name: str(file) for name, file in files.items()}


def run_client(
    client: Path,
    scenario: str,
    libraries: Sequence[Path],
    *,
    mode: str = "direct",
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a scenario on the software driver; ``mode`` is direct or loader."""
    return subprocess.run(
        [str(client), scenario, mode, *map(str, libraries)],
        env=client_settings(**environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def must_pass(run: subprocess.CompletedProcess[str]) -> None:
    """Fail with what the client said unless it passed."""
    said = f"status {run.returncode}\n{run.stdout}{run.stderr}"
    assert run.returncode == 0, said
    assert run.stdout.endswith("passed\n"), said
