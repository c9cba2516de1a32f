# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No call of Level Zero goes unchecked, and each check names the entry that was called."""

import ast
import re
from pathlib import Path

import pytest

from urasync_l0.ze import entry_table

FOLDER = Path(entry_table.__file__).parent
MODULES = sorted(FOLDER.glob("*.py"))

# Asking for the loader's version is part of explaining failures, so it must not fail itself.
UNCHECKED = {("entry_table.py", "loader_version")}


def entry_of(node: ast.expr, aliases: dict[str, str]) -> str | None:
    """The entry that an expression stands for: lib.zeX, or a module's own name for it."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "lib":
        return node.attr if node.attr in entry_table.entries() else None
    return aliases.get(node.id) if isinstance(node, ast.Name) else None


def find_aliases(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and (entry := entry_of(node.value, {})):
            assert isinstance(node.targets[0], ast.Name)
            found[node.targets[0].id] = entry
    return found


def named_in_checks(function: ast.FunctionDef) -> set[str]:
    """Entries that the function's checks name, directly or through a variable or a helper."""
    return set(re.findall(r"['\"](zel?[A-Z]\w*)['\"]", ast.unparse(function)))


def problems(function: ast.FunctionDef, aliases: dict[str, str]) -> list[str]:
    found = []
    checked = {
        id(argument)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check"
        for argument in node.args
    }
    kept = {
        id(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code"
    }
    raising = re.search(r"\b(check|_address)\((\w+, )?code\b", ast.unparse(function))
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        entry = entry_of(node.func, aliases)
        if entry is None:
            continue
        if id(node) not in checked and not (id(node) in kept and raising):
            found.append(f"{function.name} does not check {entry}")
        if entry not in named_in_checks(function):
            found.append(f"{function.name} does not name {entry}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_every_call_is_checked(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    aliases = find_aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (path.name, node.name) not in UNCHECKED:
            assert problems(node, aliases) == []


def test_every_entry_is_used() -> None:
    used = set()
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used |= {
            entry
            for node in ast.walk(tree)
            if isinstance(node, ast.expr) and (entry := entry_of(node, {}))
        }
    assert used == set(entry_table.entries())


def test_the_rule_finds_an_unchecked_call() -> None:
    tree = ast.parse("def wrong(event):\n    lib.zeEventDestroy(event)\n")
    assert isinstance(tree.body[0], ast.FunctionDef)
    assert problems(tree.body[0], {}) == [
        "wrong does not check zeEventDestroy",
        "wrong does not name zeEventDestroy",
    ]
