# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all views share: consoles, sizes, and the signs and colours of memory's states."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from urasync_l0.snapshot import IDLE, IN_USE, PENDING

LOG_WIDTH = 160
"""Columns of a file or a pipe, which have no width of their own."""

UNMAPPED = "unmapped"
PARTLY = "partly in use"
"""Of a cell of the map: some bytes are in use, others are not."""

# Of the 256 colours those that can be read on a dark and on a light ground.
STYLES = {
    IN_USE: "color(33)",
    PARTLY: "color(33)",
    PENDING: "color(172)",
    IDLE: "color(71)",
    UNMAPPED: "color(244)",
}
OTHER_SHADE = "color(27)"

_SIGNS = {IN_USE: "█", PARTLY: "▄", PENDING: "▒", IDLE: "░", UNMAPPED: "·"}
_PLAIN_SIGNS = {IN_USE: "#", PARTLY: "+", PENDING: "=", IDLE: "-", UNMAPPED: "."}
_LEVELS = " ▁▂▃▄▅▆▇█"
_PLAIN_LEVELS = " .-=+*#@@"

_SUBJECT_WIDTH = 21
"""So wide is the column of a `FittingTable` at least that may take several lines."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def output_console() -> Console:
    """Standard output: as wide as the terminal or ``COLUMNS`` says, or wide enough for a table."""
    console = Console(highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=LOG_WIDTH, highlight=False)


def binary_size(nbytes: int) -> str:
    """`nbytes` in binary units, with four digits at most: 1 GiB is 1024 MiB."""
    value = float(nbytes)
    unit = 0
    while abs(value) >= 1000 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    if unit == 0:
        return f"{nbytes} B"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f} {_UNITS[unit]}"


@dataclass(frozen=True, slots=True)
class Layout:
    """How sizes are written, and which signs the output can show."""

    exact: bool = False
    plain: bool = False

    def size(self, nbytes: int) -> str:
        """A size in binary units, or exactly."""
        return f"{nbytes:,}" if self.exact else binary_size(nbytes)

    def change(self, nbytes: int) -> str:
        """A difference of sizes, with its sign."""
        return f"{'+' if nbytes > 0 else ''}{self.size(nbytes)}"

    def sign(self, state: str) -> str:
        """One cell of memory in a state."""
        return (_PLAIN_SIGNS if self.plain else _SIGNS)[state]

    def cell(self, state: str, count: int = 1, *, shade: int = 0) -> Text:
        """Some cells, coloured; memory in use has two shades, to tell neighbours apart."""
        style = OTHER_SHADE if shade and state == IN_USE else STYLES[state]
        return Text(self.sign(state) * count, style=style)

    def bar(self, parts: Sequence[tuple[str, int]], width: int) -> Text:
        """A bar of cells, for each state in proportion to its bytes; what is there shows."""
        total = sum(nbytes for _, nbytes in parts)
        if not total:
            return Text("")
        counts = [max(1, nbytes * width // total) if nbytes else 0 for _, nbytes in parts]
        largest = counts.index(max(counts))
        counts[largest] = max(1, counts[largest] + width - sum(counts))
        text = Text()
        for (state, _), count in zip(parts, counts, strict=True):
            text.append_text(self.cell(state, count))
        return text

    def curve(self, values: Sequence[int], width: int, most: int) -> str:
        """The last values as columns of different height."""
        levels = _PLAIN_LEVELS if self.plain else _LEVELS
        shown = values[-width:]
        steps = len(levels) - 1
        return "".join(
            levels[min(steps, -(-value * steps // most))] if most else levels[0] for value in shown
        )


def layout_of(console: Console, *, exact: bool) -> Layout:
    """The layout that fits a console."""
    return Layout(exact=exact, plain=not console.encoding.lower().startswith("utf"))


def plain_table() -> Table:
    """A table without lines but the one below its heading."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)


class FittingTable:
    """A table; where its columns do not fit, each row as a block of lines instead.

    The cells of the column ``subject`` may take several lines, and head the blocks; unless there is
    a column ``title`` that does so with its heading, which leaves the subject to their last lines.
    """

    def __init__(
        self, columns: Sequence[str | Text], *, subject: int, title: int | None = None
    ) -> None:
        self._columns = [Text(each) if isinstance(each, str) else each for each in columns]
        self._subject = subject
        self._title = title
        self._rows: list[list[Text]] = []

    def add_row(self, *cells: str | Text) -> None:
        """Add a row; a cell for each column."""
        self._rows.append([Text(each) if isinstance(each, str) else each for each in cells])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = plain_table()
        for number, heading in enumerate(self._columns):
            if number == self._subject:
                table.add_column(heading, overflow="fold")
            else:
                table.add_column(heading, justify="right", no_wrap=True)
        for row in self._rows:
            table.add_row(*row)
        if self.needed() <= options.max_width:
            yield table
            return
        for row in self._rows:
            named = [
                Text.assemble(heading, " ", cell)
                for heading, cell in zip(self._columns, row, strict=True)
            ]
            yield row[self._subject] if self._title is None else named[self._title]
            others = [
                each
                for number, each in enumerate(named)
                if number not in (self._subject, self._title)
            ]
            yield Padding(Columns(others, padding=(0, 2)), (0, 0, 0, 2))
            if self._title is not None:
                yield Padding(named[self._subject], (0, 0, 0, 2))

    def needed(self) -> int:
        """Columns of the output that the table needs, the subject in lines of some words."""
        widths = [
            max(max(map(cell_len, each.plain.split("\n"))) for each in column)
            for column in zip(self._columns, *self._rows, strict=True)
        ]
        widths[self._subject] = min(widths[self._subject], _SUBJECT_WIDTH)
        return sum(widths) + 2 * (len(widths) - 1)
