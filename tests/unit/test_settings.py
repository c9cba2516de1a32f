# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documented settings are those that the code reads, and the loggers those that it has."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from urasync_l0 import loggers
from urasync_l0.caller_warning import warn_caller

ROOT = Path(__file__).resolve().parents[2]
CODE = [
    path
    for folder in (ROOT / "urasync_l0", ROOT / "tools")
    for path in folder.rglob("*.*")
    if path.suffix in (".py", ".c", ".h")
] + [*ROOT.glob("*_build.py")]
TESTS = [
    path
    for path in (*ROOT.glob("tests/**/*.py"), *ROOT.glob("packaging/*.sh"), ROOT / "Makefile")
    if path != Path(__file__)
]

READ = re.compile(
    r'(?:environ(?:\.get\(|\[)|getenv\(|\w*VARIABLE = )"(\w+)"|"(\w+)" in os\.environ'
    r'|"((?:URASYNC_L0|OCL_ICD)_\w*[A-Z])"'
)
OF_THE_SOFTWARE_DRIVER = re.compile(r'(?<!define )PREFIX "(\w+)"')
OF_TESTS = re.compile(r"\b(URASYNC_L0_\w+|PYTHON_FREE_THREADED)\b")
OF_BUILDS = {"CC", "URASYNC_L0_INCLUDE"}
COMMON = {"TMPDIR"}
"""What Python's library reads, and everybody knows."""


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


VARIABLES, OTHERS, LOGGERS = re.split(
    r"^#+ (?:What the project's own tests use|Loggers)$",
    text_of(ROOT / "docs" / "guide" / "settings.md"),
    flags=re.MULTILINE,
)


def rows(part: str) -> list[str]:
    """The names in the first column of the tables in a part of the page."""
    return re.findall(r"^\| `([\w.]+)` \|", part, re.MULTILINE)


def read_by(paths: list[Path]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        text = text_of(path)
        found |= {next(filter(None, match)) for match in READ.findall(text)}
        found |= {f"URASYNC_L0_SOFTWARE_{name}" for name in OF_THE_SOFTWARE_DRIVER.findall(text)}
    return found - COMMON


def test_every_variable_that_is_read_is_documented_and_the_other_way_round() -> None:
    documented = rows(VARIABLES)
    assert len(documented) == len(set(documented))
    assert set(documented) == read_by(CODE)
    assert len(documented) > 25


def test_a_variable_has_a_name_that_is_seen_here() -> None:
    """In place, or by a constant or parameter of which `READ` finds the values."""
    read = re.compile(r"(?:os\.environ(?:\.get\(|\[)|getenv\()\s*([^,)\]]+)")
    names = [name for path in CODE for name in read.findall(text_of(path))]
    assert len(names) > 15
    assert [each for each in names if not re.search(r'"|VARIABLE$|^variable$|^name$', each)] == []


def test_every_variable_is_in_the_account_of_what_it_lets_in() -> None:
    """SECURITY.md has each in its table, by its name or with others by a pattern."""
    _, table = text_of(ROOT / "SECURITY.md").split("## Environment variables")
    told = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([\w*]+)`", row)
    }
    untold = {
        name
        for name in read_by(CODE) - OF_BUILDS
        if not any(fnmatch(name, pattern) for pattern in told)
    }
    assert untold == set()


def test_so_are_those_of_the_tests() -> None:
    documented = rows(VARIABLES)
    named = {name for path in TESTS for name in OF_TESTS.findall(text_of(path))}
    misspelt = {"URASYNC_L0_SOFTWARE_MEMROY", "URASYNC_L0_POOL_SOCK"}  # for tests about that
    own = rows(OTHERS)
    assert set(own) == {
        name
        for name in named - set(documented) - misspelt
        if not name.endswith("_") and name != "URASYNC_L0_SOFTWARE"
    }


def test_the_loggers_are_documented() -> None:
    assert rows(LOGGERS) == [loggers.PACKAGE.name, *(each.name for each in loggers.AREAS)]


def test_every_logger_is_used() -> None:
    used = set(re.findall(r"\bloggers\.([A-Z]+)\.", "".join(map(text_of, CODE))))
    assert {f"urasync_l0.{name.lower()}" for name in used} == {each.name for each in loggers.AREAS}


def test_the_package_prints_nothing_of_its_own() -> None:
    """A library adds one handler, which does nothing, and sets no level."""
    (handler,) = loggers.PACKAGE.handlers
    assert isinstance(handler, logging.NullHandler)
    assert loggers.PACKAGE.propagate
    for each in (loggers.PACKAGE, *loggers.AREAS):
        assert each.level == logging.NOTSET


# -- warnings --------------------------------------------------------------------------------------


def test_a_warning_points_to_the_line_that_imports(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys\n\nimport urasync_l0.trace_writer\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(program)],
        env=os.environ | {"URASYNC_L0_RECORD_HISTORY": "many"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    first, line = run.stderr.splitlines()
    assert first.startswith(f"{program}:3: RuntimeWarning: URASYNC_L0_RECORD_HISTORY=many cannot")
    assert line.strip() == "import urasync_l0.trace_writer"


def test_a_warning_from_deep_inside_points_to_the_caller() -> None:
    """Code that claims to be of the package stands for functions that call each other there."""
    scope: dict[str, object] = {"warn_caller": warn_caller}
    inside = str(Path(loggers.__file__).with_name("made_up.py"))
    text = "def inner():\n    warn_caller('deep')\ndef outer():\n    inner()\n"
    exec(compile(text, inside, "exec"), scope)
    outer = scope["outer"]
    assert callable(outer)
    with pytest.warns(RuntimeWarning, match="deep") as caught:
        outer()
    assert caught[0].filename == __file__
