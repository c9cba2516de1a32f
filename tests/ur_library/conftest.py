# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C client, compiled for this run."""

import subprocess
from pathlib import Path

import pytest

import ur_library_build
import ze_build

SOURCES = Path(__file__).with_name("client")
LIBRARY = ze_build.UR_LIBRARY_SOURCES


def write_function_names(target: Path) -> None:
    """Write the order of the functions as the client includes it."""
    text = (LIBRARY / "function_tables.txt").read_text(encoding="utf-8")
    rows = [
        f'    {{"{table}", "{name}"}},'
        for table, names in ur_library_build.function_tables(text).items()
        for name in names
    ]
    lines = ["static const struct {", "    const char *table, *name;", "} function_names[] = {"]
    target.write_text("\n".join([*lines, *rows, "};", ""]), encoding="utf-8")


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's program."""
    folder = tmp_path_factory.mktemp("client")
    write_function_names(folder / "function_names.h")
    program = folder / "client"
    flags = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    includes = [f"-I{folder}", f"-I{LIBRARY / 'include'}"]
    sources = map(str, sorted(SOURCES.glob("*.c")))
    subprocess.run(
        [*ze_build.compiler(), *flags, *includes, *sources, "-ldl", "-o", str(program)], check=True
    )
    return program
