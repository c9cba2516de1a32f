# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A libur_loader that writes down the calls of a measuring program (``ur_loader/loader.c``)."""

import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import ze_build
from benchmarks.measuring_process import Program
from benchmarks.ur_client import LIBRARY

NONE = "(nil)"
"""A handle that is not there."""


@dataclass(frozen=True)
class Call:
    """A call of the loader: what was done, and handles and sizes as they were written."""

    name: str
    values: tuple[str, ...]


def build_loader(folder: Path) -> Path:
    """Build it as the libur_loader of a folder."""
    loader = folder / "libur_loader.so"
    source = str(Path(__file__).with_name("ur_loader") / "loader.c")
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{LIBRARY / 'include'}"]
    command = [*ze_build.compiler(), *flags, source, "-o", str(loader)]
    subprocess.run(command, check=True, timeout=60)
    return loader


class WrittenCalls:
    """A program that measures the loader until the stack is left, and the calls it makes."""

    def __init__(self, program: Program, folder: Path, stack: ExitStack) -> None:
        self.program = program
        self._file = folder / f"{program.name}.calls"
        self._process = program.start(stack, settings={"WRITTEN_CALLS": str(self._file)})
        self._read = 0

    def ask(self, request: str) -> tuple[list[float], list[Call]]:
        """What the program answers, and the calls since the last request."""
        answer = self._process.ask(request)
        with self._file.open(encoding="utf-8") as file:
            file.seek(self._read)
            lines = [line.split() for line in file.read().splitlines()]
            self._read = file.tell()
        return answer, [Call(name, tuple(values)) for name, *values in lines]
