# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make the README's pictures of the pool-state tool: ``python packaging/pictures.py [FOLDER]``.

They show the tool's demonstration, on the software driver, as rich draws a terminal, dark and
light.
"""

from __future__ import annotations

import io
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console, RenderableType
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME

from urasync_l0.tools.demonstration import demonstration
from urasync_l0.tools.layout import Layout
from urasync_l0.tools.map_view import MapView
from urasync_l0.tools.pool_rates import RateMeter
from urasync_l0.tools.watch_view import WatchView

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH = 100
LOOKS = 90
SECONDS_BETWEEN = 0.05
THEMES = {"dark": SVG_EXPORT_THEME, "light": DEFAULT_TERMINAL_THEME}

# The reader's own monospaced font will do; nothing is fetched to look at a picture.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def draw(view: RenderableType, name: str, title: str, folder: Path) -> None:
    """Write one picture in each theme."""
    for theme_name, theme in THEMES.items():
        console = Console(
            record=True,
            width=WIDTH,
            file=io.StringIO(),
            force_terminal=True,
            color_system="256",
            highlight=False,
        )
        console.print(view)
        svg = console.export_svg(
            title=title, theme=theme, code_format=FORMAT, unique_id=f"urasync-{name}"
        )
        path = folder / f"{name}-{theme_name}.svg"
        path.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", "utf-8")


def main(folder: Path) -> None:
    """Watch the demonstration for some seconds, and draw it."""
    folder.mkdir(exist_ok=True)
    layout = Layout()
    meter = RateMeter()
    with demonstration(running=True) as source:
        for _ in range(LOOKS):
            snapshot = replace(source(False), name="demonstration", is_recording=False)
            rates = meter.add(snapshot)
            time.sleep(SECONDS_BETWEEN)
        whole = replace(source(True), name="demonstration", is_recording=False)
    watched = WatchView(snapshot, rates, meter.curves, layout)
    draw(watched, "watch", "urasync-pools watch --demo", folder)
    first = frozenset({whole.pools[0].id})
    draw(MapView(whole, layout, pools=first, rows=10), "map", "urasync-pools map --demo", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
