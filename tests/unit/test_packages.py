# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wheel holds every package: an editable installation would not show that one is missing."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_package_is_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    setuptools = settings["tool"]["setuptools"]
    elsewhere = {folder: name for name, folder in setuptools["package-dir"].items()}
    found = set()
    for top in ("urasync_l0", *elsewhere):
        for path in (ROOT / top).rglob("__init__.py"):
            name = ".".join(path.parent.relative_to(ROOT).parts)
            found.add(elsewhere.get(top, top) + name.removeprefix(top))
    assert set(setuptools["packages"]) == found
