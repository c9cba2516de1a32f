# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is installed, and that it is enough: from a folder with no source tree in or above it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import urasync_l0
from urasync_l0 import software_driver, ur_library
from urasync_l0.adapter import adapter_names

PACKAGE = Path(urasync_l0.__file__).parent
COMMANDS = sorted(
    each.name
    for each in metadata.distribution("urasync-l0").entry_points
    if each.group == "console_scripts"
)
IS_FROM_WHEEL = PACKAGE.is_relative_to(sysconfig.get_path("purelib")) or PACKAGE.is_relative_to(
    sysconfig.get_path("platlib")
)
ELSEWHERE = ("PYTHONPATH", "URASYNC_L0_DRIVER", "ZE_ENABLE_ALT_DRIVERS")

CLIENT = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

/* urAdapterGet is the first function of the adapters' table, which has seven. */
int main(int count, char **arguments) {
    (void)count;
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (library == NULL)
        return puts(dlerror()), 1;
    uint32_t (*get_table)(uint32_t, void *) =
        (uint32_t (*)(uint32_t, void *))dlsym(library, "urGetAdapterProcAddrTable");
    uint32_t (*table[7])(uint32_t, void **, uint32_t *);
    uint32_t adapters = 0;
    if (get_table == NULL || get_table(12, table) != 0 || table[0](0, NULL, &adapters) != 0)
        return puts("the library does not answer"), 1;
    return printf("%u adapter\n", adapters) < 0;
}
"""


def run(command: list[str], folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with nothing of the surroundings to import from."""
    inherited = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    return subprocess.run(
        command,
        cwd=folder,
        env=inherited | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "ze/_level_zero.pyi",
        "software_driver/_controls_ffi.pyi",
        "software_driver/include/controls.h",
        "ur_library/function_tables.txt",
        "ur_library/include/entries.h",
    ],
)
def test_what_is_beside_the_modules(name: str) -> None:
    assert (PACKAGE / name).is_file()


def test_the_libraries_are_in_the_package() -> None:
    libraries = [Path(software_driver.library_path())]
    libraries += map(ur_library.library_path, adapter_names())
    assert all(PACKAGE in library.parents for library in libraries)


def test_the_wheel_has_the_package_and_no_more() -> None:
    if not IS_FROM_WHEEL:
        pytest.skip(f"{PACKAGE} was not installed from a wheel")
    files = [Path(str(file)) for file in metadata.files("urasync-l0") or []]
    scripts = {file.name for file in files if file.parts[0] == ".."}
    inside = {file.parts[0] for file in files if file.parts[0] != ".."}
    assert scripts == set(COMMANDS)
    assert inside == {"urasync_l0", next(name for name in inside if name.endswith(".dist-info"))}
    assert {file.suffix for file in files} >= {".py", ".pyi", ".so", ".h"}
    assert not {file for file in files if file.suffix in (".c", ".o", ".partial")}


def test_it_works_with_nothing_around_it(tmp_path: Path) -> None:
    program = """
import urasync_l0
with urasync_l0.Context(driver="software") as context:
    queue = context.create_queue()
    with queue.alloc_host(64) as allocation:
        queue.fill(allocation, b"ab")
        queue.finish()
        print(bytes(allocation.memoryview()[:4]), urasync_l0.__file__)
"""
    done = run([sys.executable, "-W", "error", "-c", program], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("b'abab' ")
    if IS_FROM_WHEEL:
        assert Path(done.stdout.split()[1]).parent == PACKAGE


def test_the_version_is_the_distributions() -> None:
    assert urasync_l0.__version__ == metadata.version("urasync-l0")


def test_there_are_commands() -> None:
    assert COMMANDS == ["urasync-pools"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name(command)
    done = run([str(script), "--help"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {command}")


def test_a_program_in_c_finds_the_package(adapter: str, tmp_path: Path) -> None:
    """The library starts the Python of the environment that it is installed in, or built for."""
    source, program = tmp_path / "client.c", tmp_path / "client"
    source.write_text(CLIENT, encoding="utf-8")
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, str(source), "-ldl", "-o", str(program)], check=True, timeout=60)
    library = str(ur_library.library_path(adapter))
    done = run([str(program), library], tmp_path, URASYNC_L0_DRIVER="software")
    assert (done.returncode, done.stdout) == (0, "1 adapter\n"), done.stderr


def test_programs_are_checked_against_its_types(tmp_path: Path) -> None:
    if not IS_FROM_WHEEL:
        pytest.skip(f"{PACKAGE} was not installed from a wheel, so mypy does not find it by itself")
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(
        "import urasync_l0\n"
        "def good(queue: urasync_l0.Queue) -> int:\n"
        "    return queue.alloc_device(64).ptr\n"
        "def wrong(queue: urasync_l0.Queue) -> str:\n"
        "    return queue.alloc_device(64).ptr\n",
        encoding="utf-8",
    )
    done = run([sys.executable, "-m", "mypy", "--strict", "program.py"], tmp_path)
    assert done.stdout.splitlines() == [
        'program.py:5: error: Incompatible return value type (got "int", expected "str")  '
        "[return-value]",
        "Found 1 error in 1 file (checked 1 source file)",
    ]
