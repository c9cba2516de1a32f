# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's pictures have the form of what the pool-state tool draws now."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = ("watch", "map")
CHANGES = re.compile(r"0x[0-9a-f]+|[\d.,:-]+|\b(?:[KMG]i)?B\b|[▁▂▃▄▅▆▇█▒░·]+|\b(?:piece|block)s?\b")
"""Numbers, units, bars and cells: the demonstration is another one each time."""


def words(picture: Path) -> list[str]:
    """The words of a picture, in the order of their places, each once."""
    pieces = re.findall(r">([^<>]+)</text>", picture.read_text("utf-8"))
    text = " ".join(unescape(each).replace("\xa0", " ") for each in pieces)
    return list(dict.fromkeys(CHANGES.sub(" ", text).split()))


@pytest.mark.slow
def test_the_pictures_are_like_new_ones(tmp_path: Path) -> None:
    program = ROOT / "packaging" / "pictures.py"
    subprocess.run([sys.executable, str(program), str(tmp_path)], check=True, timeout=240)
    names = [f"{name}-{theme}.svg" for name in PICTURES for theme in ("dark", "light")]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    for name in names:
        assert len(words(DOCS / name)) > 10
        assert words(DOCS / name) == words(tmp_path / name), name


def test_each_theme_shows_the_same() -> None:
    for name in PICTURES:
        dark, light = (
            re.findall(r">([^<>]+)</text>", (DOCS / f"{name}-{theme}.svg").read_text("utf-8"))
            for theme in ("dark", "light")
        )
        assert dark == light
        assert dark
