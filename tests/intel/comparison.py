# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs of operations through adapters, each in a process of its own, and compares.

A process that an operation ends is started again without that operation, so that the rest of the
program is compared as well.
"""

import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.ur_client import UrAdapter
from tests.intel.programs import Program
from urasync_l0.result import UrResult

Facts = dict[str, str]

SECONDS = 120
MOST_ENDS = 12
"""So many operations of a program may end the process."""


@dataclass
class Run:
    """What a program gave with one adapter: facts of each operation; how the process ended."""

    adapter: UrAdapter
    facts: list[Facts]
    ends: dict[int, str] = field(default_factory=dict)
    messages: str = ""


@dataclass(frozen=True)
class Difference:
    """A fact of an operation that differs.

    Attributes
    ----------
    flavour : "legacy" or "v2".
    operation : the operation's label.
    fact : what differs, such as "result".
    intel, here : what it is with Intel's adapter and with ours.
    """

    flavour: str
    operation: str
    fact: str
    intel: str
    here: str

    def __str__(self) -> str:
        return f"{self.flavour} {self.operation}: {self.fact} {self.intel} -> {self.here}"


def run_program(
    client: Path, program: Program, adapter: UrAdapter, settings: Mapping[str, str]
) -> Run:
    """Run a program; again without each operation that ends the process."""
    run = Run(adapter, [{} for _ in program.operations])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program")
        for _ in range(MOST_ENDS):
            file.write_text(program.text(list(run.ends)), encoding="utf-8")
            process = subprocess.run(
                [str(client), str(adapter.loader), str(file)],
                env=adapter.environment(settings),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
            )
            lines = process.stdout.splitlines()
            run.messages += process.stderr
            ended = process.returncode != 0 or not lines or lines[-1] != "end"
            if not ended:
                run.facts = [_facts(line) for line in lines[:-1]]
                return run
            # The line of the operation that ended the process is the last, and not complete; after
            # the last operation it was the end of the process itself.
            run.facts[: len(lines)] = [_facts(line) for line in lines if line != "end"]
            if not lines or lines[-1] == "end":
                break
            run.ends[len(lines) - 1] = _end(process.returncode)
    run.ends[len(program.operations)] = _end(process.returncode)
    return run


def _facts(line: str) -> Facts:
    words = line.split()[1:]
    facts = dict(word.partition("=")[::2] for word in words)
    for name in ("result", "value-result"):
        if name in facts:
            facts[name] = UrResult(int(facts[name])).name
    return facts


def _end(status: int) -> str:
    if status == -signal.SIGALRM:
        return "hangs"
    return signal.Signals(-status).name if status < 0 else f"exit {status}"


def differences(program: Program, flavour: str, intel: Run, ours: Run) -> Iterator[Difference]:
    """What differs between two runs of a program."""
    labels = [*(operation.label for operation in program.operations), "exit"]
    for number, label in enumerate(labels):
        ends = intel.ends.get(number, "goes on"), ours.ends.get(number, "goes on")
        if ends[0] != ends[1]:
            yield Difference(flavour, label, "process", *ends)
        if number == len(program.operations) or ends != ("goes on", "goes on"):
            continue
        one, other = intel.facts[number], ours.facts[number]
        if "left-out" in one or "left-out" in other:
            continue  # for an operation that failed with one of them, which was told there
        for fact in dict.fromkeys((*one, *other)):
            values = one.get(fact, "nothing"), other.get(fact, "nothing")
            if values[0] != values[1]:
                yield Difference(flavour, label, fact, *values)
                if fact in ("result", "value-result"):
                    break
