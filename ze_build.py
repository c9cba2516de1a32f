# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds what the package needs in C, without importing the package.

Six things are built, all by ``pip install .`` through setup.py:

- ``urasync_l0.ze._level_zero``, the cffi API-mode bindings to the Level Zero loader;
- ``urasync_l0.dlpack._capsule``, which puts memory into DLPack capsules;
- ``urasync_l0.pool._structure``, the inner structure of the pool core; the package works without;
- ``libze_urasync_software.so``, the software driver;
- ``urasync_l0.software_driver._controls_ffi``, the driver's test controls (cffi ABI mode);
- ``libur_adapter_urasync_legacy.so`` and ``…_v2.so``, the UR adapter libraries (cffi embedding), of
  which `ur_library_build.py` makes the sources.

Headers come from the system, or from the folder named by ``URASYNC_L0_INCLUDE`` (the one that holds
``level_zero/``). What an older header lacks is taken from ``newer_level_zero.h``: the system header
is preprocessed, and for each identifier that it does not have, ``-DURASYNC_DECLARE_<identifier>``
switches our declaration on. ``python ze_build.py --print-compile-flags`` prints these flags.
"""

import argparse
import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cffi
from setuptools import Extension

import ur_library_build

ROOT = Path(__file__).resolve().parent
DECLARATIONS = ROOT / "urasync_l0" / "ze" / "declarations"
INCLUDE = ROOT / "urasync_l0" / "ze" / "include"
POOL_STRUCTURE = ROOT / "urasync_l0" / "pool" / "compiled"
SOFTWARE_DRIVER = ROOT / "urasync_l0" / "software_driver"
DRIVER_LIBRARY = "libze_urasync_software.so"
UR_LIBRARY_SOURCES = ROOT / "urasync_l0" / "ur_library"
ADAPTERS = ("legacy", "v2")
UR_LIBRARY = "libur_adapter_urasync_{}.so"
RUN_PATH = "-Wl,-rpath,"
CONTROLS_MODULE = "_controls_ffi.py"

# In the order in which the C declarations depend on each other.
FRAGMENTS = (
    "handles.h",
    "init_driver_device.h",
    "device_properties.h",
    "context_memory.h",
    "virtual_memory.h",
    "command_list.h",
    "event.h",
    "module.h",
    "loader.h",
)

# Entries that the oldest supported loader (1.8) lacks. Every other declared entry is required.
OPTIONAL_ENTRIES = frozenset(
    {
        "zeInitDrivers",
        "zeDeviceGetRootDevice",
        "zeCommandListGetDeviceHandle",
        "zeCommandListHostSynchronize",
        "zeCommandListIsImmediate",
        "zeEventCounterBasedCreate",
        "zelLoaderGetVersions",
    }
)

# What has all that the build takes from a Debian system.
PACKAGES = ("gcc", "libc6-dev", "libze-dev", "python3-dev")

SYSTEM_HEADERS = ("level_zero/ze_api.h", "level_zero/loader/ze_loader.h")

# Warnings are errors in tests/driver/Makefile only: a newer compiler must not stop an installation.
DRIVER_FLAGS = (
    *("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra"),
    *("-fPIC", "-fvisibility=hidden", "-pthread"),
)


class BuildError(SystemExit):
    """The build cannot go on; the text says what is missing and which package has it."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"urasync-l0 cannot be built: {problem}\n{remedy}")


def on_debian(package: str) -> str:
    """How to install what is missing. Only the first is found, so all that may be are named."""
    return f"On Debian: apt-get install {package} (the whole build needs {' '.join(PACKAGES)})"


def compiler() -> list[str]:
    """The C compiler: the variable CC, else cc or gcc."""
    chosen = shlex.split(os.environ.get("CC", ""))
    for command in [chosen] if chosen else [["cc"], ["gcc"]]:
        if shutil.which(command[0]):
            return command
    name = f"the C compiler {chosen[0]!r} (variable CC)" if chosen else "a C compiler"
    raise BuildError(f"{name} was not found.", on_debian("gcc"))


def include_folders() -> list[str]:
    """Our own include folder, and the one that URASYNC_L0_INCLUDE names."""
    override = os.environ.get("URASYNC_L0_INCLUDE")
    return [str(INCLUDE), *([override] if override else [])]


def system_header_text() -> str:
    """The system's Level Zero headers, preprocessed."""
    override = os.environ.get("URASYNC_L0_INCLUDE")
    place = f"in {override} (variable URASYNC_L0_INCLUDE)" if override else "on this system"
    remedy = (
        f"{on_debian('libze-dev')}; elsewhere set URASYNC_L0_INCLUDE to the folder that holds "
        "level_zero/ze_api.h."
    )
    if override and not Path(override, SYSTEM_HEADERS[0]).is_file():
        raise BuildError(f"there is no {SYSTEM_HEADERS[0]} {place}.", remedy)
    text = "".join(f"#include <{header}>\n" for header in SYSTEM_HEADERS)
    folders = [f"-I{override}"] if override else []
    run = subprocess.run(
        [*compiler(), "-E", "-P", *folders, "-x", "c", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        return run.stdout
    missing = re.search(r"fatal error: (\S+): No such file", run.stderr)
    if missing is None:
        said = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr)
        raise BuildError(
            f"the C compiler {shlex.join(compiler())} failed on the Level Zero headers {place} "
            f"(status {run.returncode}): {said.strip() or 'it says nothing'}.",
            f"See that it works, or name another in the variable CC. {remedy}",
        )
    header = missing.group(1)
    if not header.startswith("level_zero/"):
        raise BuildError(
            f"the C library's header {header} was not found.",
            on_debian("libc6-dev"),
        )
    raise BuildError(f"the Level Zero headers were not found {place} ({header}).", remedy)


def declaration_text() -> str:
    """All declaration fragments, joined."""
    return "\n".join((DECLARATIONS / name).read_text(encoding="utf-8") for name in FRAGMENTS)


def declared_entries(declarations: str) -> list[str]:
    """The loader's entries among the declarations, in their order."""
    return re.findall(r"^(?:ze_result_t\s)?(zel?[A-Z]\w*)\(", declarations, re.MULTILINE)


def declared_identifiers(declarations: str) -> set[str]:
    """Every entry, enumerator and structure of Level Zero that the declarations name."""
    text = re.sub(r"//[^\n]*", "", declarations)
    return {
        *declared_entries(declarations),
        *re.findall(r"\bZE_[A-Z0-9_]+", text),
        *re.findall(r"\bzel?_\w+_t\b", text),
    }


@functools.cache
def missing_identifiers() -> tuple[str, ...]:
    """Identifiers of newer_level_zero.h that the system header lacks.

    Raises BuildError when something needed is in neither, that is when the header is too old.
    """
    ours = re.findall(
        r"^#ifdef URASYNC_DECLARE_(\w+)",
        (INCLUDE / "newer_level_zero.h").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    theirs = set(re.findall(r"[A-Za-z_]\w*", system_header_text()))
    lacking = sorted(declared_identifiers(declaration_text()) - theirs - set(ours))
    if lacking:
        raise BuildError(
            "the Level Zero headers are too old; they lack " + ", ".join(lacking) + ".",
            "Version 1.8.12 is the oldest that serves. On Debian 12 or newer: "
            "apt-get install libze-dev",
        )
    return tuple(name for name in ours if name not in theirs)


def preprocessor_flags() -> list[str]:
    """Flags with which newer_level_zero.h completes the system header."""
    return [
        *(f"-I{folder}" for folder in include_folders()),
        *(f"-DURASYNC_DECLARE_{name}" for name in missing_identifiers()),
    ]


def extension_source(declarations: str) -> str:
    """The C text in front of cffi's own: headers, the table of entries, one macro an entry."""
    entries = declared_entries(declarations)
    rows = " ".join(f"ENTRY({name}, {str(name in OPTIONAL_ENTRIES).lower()})" for name in entries)
    return "\n".join(
        [
            *(f"#define URASYNC_DECLARE_{name}" for name in missing_identifiers()),
            "#include <stdbool.h>",  # the loader's header uses bool without saying where from
            *(f"#include <{header}>" for header in SYSTEM_HEADERS),
            '#include "newer_level_zero.h"',
            f"#define URASYNC_FOR_EACH_ENTRY(ENTRY) {rows}",
            '#include "entry_table.h"',
            *(f"#define {name}(...) URASYNC_CALL({name}, __VA_ARGS__)" for name in entries),
        ]
    )


def level_zero() -> cffi.FFI:
    """The builder of urasync_l0.ze._level_zero, for setuptools."""
    python_header = Path(sysconfig.get_path("include"), "Python.h")
    if not python_header.is_file():
        raise BuildError(
            f"Python's own header {python_header} was not found.",
            on_debian("python3-dev"),
        )
    declarations = declaration_text()
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    ffi.set_source(
        "urasync_l0.ze._level_zero",
        extension_source(declarations),
        include_dirs=include_folders(),
        depends=[str(path) for path in sorted(INCLUDE.glob("*.h"))],
        extra_compile_args=["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter"],
    )
    return ffi


def pool_structure() -> Extension:
    """The pool core's part in C, for setuptools. Where it does not compile, Python serves."""
    sources = sorted(POOL_STRUCTURE.glob("*.c"))
    return Extension(
        "urasync_l0.pool._structure",
        [str(path.relative_to(ROOT)) for path in sources],
        depends=[str(path) for path in POOL_STRUCTURE.glob("*.h")],
        extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"],
        optional=True,
    )


def dlpack_capsule() -> Extension:
    """What puts memory into DLPack capsules, for setuptools."""
    return Extension(
        "urasync_l0.dlpack._capsule",
        ["urasync_l0/dlpack/capsule.c"],
        extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"],
    )


def _run_compiler(command: Sequence[str], target: Path, what: str) -> None:
    """Compile into a file; a process that has the old one loaded keeps it intact."""
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    run = subprocess.run([*compiler(), *command, "-o", str(partial)], check=False)
    if run.returncode != 0:
        partial.unlink(missing_ok=True)
        raise BuildError(
            f"{what} did not compile (status {run.returncode}).",
            "The compiler's messages stand above.",
        )
    partial.replace(target)


def build_software_driver(folder: Path) -> Path:
    """Compile the software driver into a folder; does nothing when it is newer than its sources."""
    target = folder / DRIVER_LIBRARY
    sources = sorted((SOFTWARE_DRIVER / "src").glob("*.c"))
    if not sources:
        raise BuildError(
            f"no sources of the software driver in {SOFTWARE_DRIVER / 'src'}.",
            "Build from a complete source tree.",
        )
    flags = [
        *DRIVER_FLAGS,
        f"-I{SOFTWARE_DRIVER / 'include'}",
        f"-I{SOFTWARE_DRIVER / 'src'}",
        *preprocessor_flags(),
    ]
    inputs = [
        Path(__file__),
        *sources,
        *INCLUDE.glob("*.h"),
        *SOFTWARE_DRIVER.glob("include/*.h"),
        *SOFTWARE_DRIVER.glob("src/*.h"),
    ]
    if target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [*flags, "-shared", "-Wl,--no-undefined", *map(str, sources), "-ldl", "-lm"]
    _run_compiler(arguments, target, "the software driver")
    return target


def _run_paths(flags: Sequence[str]) -> list[str]:
    return [flag.removeprefix(RUN_PATH) for flag in flags if flag.startswith(RUN_PATH)]


def _names_all(library: Path, texts: Sequence[str]) -> bool:
    """Whether a library has each of some texts in it, up to its end."""
    content = library.read_bytes()
    return all(text.encode() + b"\0" in content for text in texts)


def build_ur_library(folder: Path, adapter: str) -> Path:
    """Compile the UR adapter library of an adapter; does nothing when it is up to date, and made by
    this very Python: two of one version may share a build folder."""
    target = folder / UR_LIBRARY.format(adapter)
    inputs = [
        *UR_LIBRARY_SOURCES.rglob("*.[cht]*"),
        *ROOT.glob("*_build.py"),
        POOL_STRUCTURE / "usual_calls.h",
    ]
    links_to = python_library()
    if (
        target.exists()
        and target.stat().st_mtime > max(path.stat().st_mtime for path in inputs)
        and _names_all(target, [sys.executable, *_run_paths(links_to)])
    ):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        glue = Path(made, f"{adapter}.c")
        versions = Path(made, "exported.map")
        ur_library_build.write_glue(UR_LIBRARY_SOURCES, adapter, glue)
        versions.write_text(ur_library_build.EXPORTED, encoding="utf-8")
        flags = [
            *("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter"),
            *("-fPIC", "-fvisibility=hidden", "-pthread", "-shared"),
            f"-I{sysconfig.get_path('include')}",
            *(f"-I{UR_LIBRARY_SOURCES / name}" for name in ("include", "src")),
            f"-I{POOL_STRUCTURE}",
            f'-DURASYNC_BUILT_BY="{sys.executable}"',
        ]
        # Python stays once it has started, and so must the library that it calls.
        links = [f"-Wl,--version-script={versions}", "-Wl,-z,nodelete", "-ldl", *links_to]
        sources = [str(glue), *map(str, sorted(UR_LIBRARY_SOURCES.glob("src/*.c")))]
        _run_compiler([*flags, *sources, *links], target, f"the UR adapter library of {adapter}")
    return target


def python_library() -> list[str]:
    """Flags that link to Python. None if it has no shared library; then it must be there already,
    and only Python programs can load what is linked."""
    name, folder = sysconfig.get_config_var("LDLIBRARY"), sysconfig.get_config_var("LIBDIR")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") or not Path(folder, name).exists():
        return []
    return [f"-L{folder}", f"{RUN_PATH}{folder}", f"-l{Path(name).stem.removeprefix('lib')}"]


def build_controls(folder: Path) -> Path:
    """Write the cffi ABI-mode module for the driver's controls into a folder."""
    header = (SOFTWARE_DRIVER / "include" / "controls.h").read_text(encoding="utf-8")
    declarations = re.sub(r"^\s*#.*$", "", header, flags=re.MULTILINE)
    target = folder / CONTROLS_MODULE
    folder.mkdir(parents=True, exist_ok=True)
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    ffi.set_source("urasync_l0.software_driver._controls_ffi", None)
    ffi.emit_python_code(str(target))
    return target


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Build helper of urasync-l0.")
    parser.add_argument(
        "--print-compile-flags",
        action="store_true",
        required=True,
        help="print the C flags that complete an older Level Zero header",
    )
    parser.parse_args(arguments)
    print(shlex.join(preprocessor_flags()))


if __name__ == "__main__":
    main(sys.argv[1:])
