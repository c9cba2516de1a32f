# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The walls around the tool: views read snapshots alone, and nothing imports the tool."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = sorted((ROOT / "tools").glob("*.py"))
VIEWS = [path for path in TOOLS if path.stem.endswith(("_view", "_findings", "_rates", "_form"))]
VIEWS += [ROOT / "tools" / name for name in ("timeline.py", "layout.py")]

MAY_READ = {"urasync_l0.snapshot", "urasync_l0.wording"}
MAY_READ_TOO = {"doctor_view": {"urasync_l0.diagnosis", "urasync_l0.driver_report"}}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module or "")
    return {name for name in found if name.split(".")[0] in ("urasync_l0", "tools", "benchmarks")}


def test_there_are_views() -> None:
    assert {"show_view", "watch_view", "map_view", "timeline"} <= {path.stem for path in VIEWS}


@pytest.mark.parametrize("path", VIEWS, ids=lambda path: path.stem)
def test_a_view_reads_snapshots_only(path: Path) -> None:
    others = {name for name in imports(path) if not name.startswith("urasync_l0.tools.")}

    assert others <= MAY_READ | MAY_READ_TOO.get(path.stem, set())


@pytest.mark.parametrize("path", sorted((ROOT / "tools").rglob("*.py")), ids=lambda path: path.stem)
def test_the_tool_has_one_name_and_needs_no_checkout(path: Path) -> None:
    assert all(name.split(".")[0] == "urasync_l0" for name in imports(path))


def test_the_package_does_not_know_the_tool() -> None:
    for path in (ROOT / "urasync_l0").rglob("*.py"):
        # The door from the command line stands before both.
        if path.relative_to(ROOT / "urasync_l0").parts[0] not in ("tools", "__main__.py"):
            assert not any(name.startswith("urasync_l0.tools") for name in imports(path)), path
