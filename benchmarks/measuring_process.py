# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that are measured in turns: each stays, with what it opened, and answers requests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.ur_client import SOURCES, UrAdapter, compile_program, software_settings

ROOT = Path(__file__).parents[1]


class MeasuringProcess:
    """A program that answers each line with a line of numbers; ends when the stack is left."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], stack: ExitStack
    ) -> None:
        self.name = name
        self._process = stack.enter_context(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )

    def ask(self, request: str) -> list[float]:
        """The numbers that the program answers.

        Raises
        ------
        RuntimeError
            If it has ended instead; it has said why.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{request}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            answer = ""
        else:
            answer = self._process.stdout.readline()
        if not answer:
            status = self._process.wait()
            raise RuntimeError(f"{self.name}: {request} ended the process ({status})")
        return [float(number) for number in answer.split()]


@dataclass(frozen=True, slots=True)
class Program:
    """What a process is started from, as often as it is needed: a command and its environment."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(hash=False)

    def start(
        self,
        stack: ExitStack,
        wrapper: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
    ) -> MeasuringProcess:
        """Start a process, perhaps by another program and with more settings."""
        environment = {**self.environment, **(settings or {})}
        return MeasuringProcess(self.name, [*wrapper, *self.command], environment, stack)


def c_programs(adapters: Sequence[UrAdapter], folder: Path) -> list[Program]:
    """The C program, made in a folder, with each adapter on the software driver."""
    program = folder / "measure"
    compile_program([SOURCES / "measure.c"], program)
    settings = software_settings()
    driver = settings["ZE_ENABLE_ALT_DRIVERS"]
    return [
        Program(
            f"{adapter.name}, C",
            (str(program), str(adapter.loader), driver),
            adapter.environment(settings),
        )
        for adapter in adapters
    ]


def cffi_programs(adapters: Sequence[UrAdapter]) -> list[Program]:
    """The Python program that calls through cffi, with each adapter on the software driver."""
    return [
        Program(
            f"{adapter.name}, cffi",
            (sys.executable, "-m", "benchmarks.cffi_client", str(adapter.loader.parent)),
            adapter.environment(software_settings()),
        )
        for adapter in adapters
    ]
