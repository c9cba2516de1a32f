# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the fuzzer of the entries of the UR libraries and lets it run, for each adapter in turn:
``python -m tests.ur_library.fuzz``; see CONTRIBUTING.md.

Inputs that led to something new are kept beside the fuzzer, and so is one that failed.
"""

import argparse
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import ur_library_build
import ze_build
from tests.ur_library.fuzz.cases import write_cases

HERE = Path(__file__).resolve().parent
FOLDER = ze_build.ROOT / "build" / "ur-library-fuzz"

# Which pool core: lines of the one in Python count as coverage.
POOL = "URASYNC_L0_POOL"

ENVIRONMENT = {
    "URASYNC_L0_DRIVER": "software",
    "URASYNC_L0_SOFTWARE_CHECK": "1",
    "URASYNC_L0_SOFTWARE_DEVICES": "2",
    "URASYNC_L0_SOFTWARE_SUB_DEVICES": "2",
    "URASYNC_L0_SOFTWARE_MEMORY": "64M",
    "URASYNC_L0_SOFTWARE_MAX_ALLOCATION": "32M",
    # Python keeps some memory at exit; what cannot be allocated is a result, not an end.
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def build(compiler: str, adapter: str, folder: Path) -> Path:
    """Compile the library of an adapter and the fuzzer into one program."""
    folder.mkdir(parents=True, exist_ok=True)
    write_cases(folder)
    glue = folder / "glue.c"
    ur_library_build.write_glue(ze_build.UR_LIBRARY_SOURCES, adapter, glue)
    driver = ze_build.SOFTWARE_DRIVER
    library = ze_build.UR_LIBRARY_SOURCES
    flags = [
        *("-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter", "-pthread"),
        *("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"),
        # Clang's own assembler does not know symbols that are unique in a process.
        "-fno-integrated-as",
        *(f"-I{each}" for each in (folder, HERE, library / "include", library / "src")),
        *(f"-I{each}" for each in (driver / "include", ze_build.POOL_STRUCTURE)),
        f"-I{sysconfig.get_path('include')}",
        *ze_build.preprocessor_flags(),
        f'-DURASYNC_BUILT_BY="{sys.executable}"',
        f'-DSOFTWARE_DRIVER="{driver / ze_build.DRIVER_LIBRARY}"',
    ]
    sources = [glue, folder / "cases.c", *HERE.glob("*.c"), *library.glob("src/*.c")]
    program = folder / "fuzzer"
    links = ["-ldl", *ze_build.python_library()]
    subprocess.run(
        [*shlex.split(compiler), *flags, *map(str, sources), *links, "-o", str(program)], check=True
    )
    return program


def run(program: Path, arguments: list[str]) -> int:
    """Let the fuzzer run; 0 if it found nothing."""
    foreign = ("URASYNC_L0_", "UR_", "ZE_")
    environment = {k: v for k, v in os.environ.items() if k == POOL or not k.startswith(foreign)}
    environment |= ENVIRONMENT | {"PYTHONPATH": str(ze_build.ROOT)}
    command = [
        str(program),
        "-close_fd_mask=2",
        "-max_len=768",
        "-len_control=0",
        "-timeout=60",
        *arguments,
    ]
    return subprocess.run(command, cwd=program.parent, env=environment, check=False).returncode


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.ur_library.fuzz", description=__doc__)
    parser.add_argument("--compiler", default="clang-14", help="a clang with libFuzzer")
    parser.add_argument("--seconds", type=int, default=30, help="for each adapter")
    parser.add_argument("--adapter", choices=ze_build.ADAPTERS, help="only this one")
    parser.add_argument("--repeat", metavar="FILE", type=Path, help="run one input, and no other")
    options = parser.parse_args()
    for adapter in [options.adapter] if options.adapter else ze_build.ADAPTERS:
        program = build(options.compiler, adapter, FOLDER / adapter)
        if options.repeat:
            os.environ["FUZZ_TELLS_CALLS"] = "1"
            status = run(program, ["-close_fd_mask=0", str(options.repeat.resolve())])
        else:
            inputs = program.with_name("inputs")
            inputs.mkdir(exist_ok=True)
            status = run(program, [f"-max_total_time={options.seconds}", str(inputs)])
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
