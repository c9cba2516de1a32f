# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs pytest in a process of its own with settings for the loader and the driver."""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.leak_balance import count_balances, take_balance

SECONDS = 900
"""How long a run may take."""

FIRST = 3
"""How many lines of a failed test's error stand at the end of a log."""

LAST = 10
"""How many lines of a failed part stand there that named no test."""

_UNFINISHED = re.compile(r"^XFAIL \S+\[?.*? - (needs execution: .*)$", re.MULTILINE)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::[^\[\n]+?(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)
_SECTION = re.compile(r"^_{3,} (?:ERROR at \w+ of )?(\S.*?) _{3,}$")
_SAID = re.compile(r"^E {3,}(\S.*)$")
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+?(?::\d+)?: (.*)$", re.MULTILINE)


@dataclass
class Outcome:
    """How a part ended: numbers of tests, those that did not pass by reason."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[str] = field(default_factory=Counter)
    text: str = ""

    def report(self) -> str:
        """A few lines; with everything that was printed if something failed."""
        lines = [
            f"{self.name}: {self.passed} passed, {self.failed} failed, "
            f"{self.unfinished.total()} as far as the driver goes, {self.skipped.total()} not run"
        ]
        lines += [f"    {count} so far: {why}" for why, count in self.unfinished.most_common()]
        lines += [f"    {count} not run: {why}" for why, count in self.skipped.most_common()]
        return "\n".join([*([self.text] if self.failed else []), *lines])

    def failures(self) -> list[str]:
        """What failed, so short that it can stand at the end of a log: for each test of pytest its
        name and the first lines of what it said, else the last lines of all that was printed."""
        if not self.failed:
            return []
        lines = [f"failed in {self.name}:"]
        said = self._said()
        for test in _FAILED.findall(self.text):
            name = test.partition("::")[2].replace("::", ".")
            lines += [f"    {test}", *(f"        {each}" for each in said.get(name, ()))]
        if len(lines) == 1:
            lines += [f"    {each}" for each in self.text.splitlines()[-LAST:]]
        return lines

    def _said(self) -> dict[str, list[str]]:
        """The first lines that pytest marks as a failed test's error, by the test's name."""
        said: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in self.text.splitlines():
            if section := _SECTION.match(line):
                lines = said.setdefault(section[1], [])
            elif (error := _SAID.match(line)) and len(lines) < FIRST:
                lines.append(error[1])
        return said


def run_pytest(
    name: str,
    arguments: Sequence[str],
    settings: Mapping[str, str],
    *,
    workers: int,
    balanced: bool = False,
) -> Outcome:
    """Run pytest; with ``balanced``, the leak checker's tables must show that nothing was left."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rsxfE",
        f"-n{workers}",
        "-p",
        "no:cacheprovider",
    ]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("w", encoding="utf-8") as output:
            status = subprocess.run(
                [*command, *arguments],
                env=os.environ | dict(settings),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
            ).returncode
        text = log.read_text(encoding="utf-8", errors="replace")
    outcome = Outcome(name)
    for reason_count, reason in _SKIPPED.findall(text):
        outcome.skipped[reason] += int(reason_count)
    outcome.unfinished.update(_UNFINISHED.findall(text))
    last = text.rstrip().rpartition("\n")[2]
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last)}
    outcome.passed = counts.get("passed", 0)
    outcome.failed = sum(counts.get(word, 0) for word in ("failed", "error", "errors"))
    _, leaks = take_balance(text)
    if counts.get("xfailed", 0) != outcome.unfinished.total():
        outcome.failed += 1
        text += f"\n{counts.get('xfailed')} tests xfailed, but not all with a reason"
    if balanced and leaks:
        outcome.failed += len(leaks)
        text += "\nthe leak checker: " + ", ".join(leaks)
    if balanced and (tables := count_balances(text)) < workers:
        outcome.failed += 1
        text += f"\nthe leak checker spoke in {tables} processes only, of {workers} at least"
    if (status and not outcome.failed) or not outcome.passed:
        outcome.failed += 1
        text += f"\npytest ended with status {status}"
    outcome.text = "\n".join(text.splitlines()[-200:])
    return outcome
