# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of what was measured beside Intel's adapters: on a console, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console

from benchmarks.comparison import Measurements
from benchmarks.rounds import three_digits
from urasync_l0.tools.layout import plain_table

Cells = Mapping[tuple[str, str], str]
"""Texts by row and column."""

ALONE = "no adapter takes part"
"""Heading of the figures of the machine and of Python, which are no adapter's."""


def print_tables(measured: Measurements, console: Console) -> None:
    """Memory, times with a table for each group of cases, ratios, and what is missing."""
    adapters = measured.adapters()
    reserved = {(each.trace, each.adapter): f"{each.ratio:.3f}" for each in measured.memory}
    _print_table("Highest reserved bytes over highest live bytes", reserved, adapters, console)
    of_adapters = [each for each in measured.figures if each.adapter]
    for group in dict.fromkeys(each.group for each in of_adapters):
        figures = [each for each in of_adapters if each.group == group]
        times = {(f"{each.name}, {each.unit}", each.adapter): str(each) for each in figures}
        _print_table(group, times, adapters, console)
    alone = {
        (f"{each.group}: {each.name}, {each.unit}", ALONE): str(each)
        for each in measured.figures
        if not each.adapter
    }
    _print_table("", alone, [ALONE], console)
    quotients = {
        (each.trace, each.adapter): f"{each.memory:.2f}"
        + ("" if each.time is None else f", {each.time:.1f}")
        for each in measured.trace_ratios()
    }
    _print_table(
        "Ours over Intel's of the same flavour: memory, time", quotients, adapters, console
    )
    targets = {
        (f"{each.case} / {each.over}", each.adapter): f"{each.time:.2f}"
        for each in measured.target_ratios()
    }
    _print_table("Times over what is aimed at: 1 or less is reached", targets, adapters, console)
    console.print("Medians, ± half of what lies between the least and the most of the rounds.")
    for note in measured.notes:
        console.print(note)


def markdown(measured: Measurements) -> str:
    """All medians: a table with a column for each adapter, and one of what is no adapter's."""
    cells = {
        (f"{each.group}: {each.name}, {each.unit}", each.adapter or ALONE): three_digits(
            each.median
        )
        for each in measured.figures
    }
    alone = {place: text for place, text in cells.items() if place[1] == ALONE}
    others = {place: text for place, text in cells.items() if place not in alone}
    tables = [_markdown_table(others, measured.adapters()), _markdown_table(alone, [ALONE])]
    return "\n".join(table for table in tables if table)


def _markdown_table(cells: Cells, columns: Sequence[str]) -> str:
    if not cells:
        return ""
    rows = [
        ["", *map(_heading, columns)],
        ["---"] * (len(columns) + 1),
        *([row, *(cells.get((row, each), "") for each in columns)] for row in _rows(cells)),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _heading(column: str) -> str:
    """Whose adapter it is, and what it is called from."""
    return column if column.startswith("Intel") or column == ALONE else f"ours, {column}"


def _rows(cells: Cells) -> Iterable[str]:
    return dict.fromkeys(row for row, _ in cells)


def _print_table(title: str, cells: Cells, columns: Sequence[str], console: Console) -> None:
    """Print those of the columns that have a cell, if any has."""
    if not cells:
        return
    table = plain_table()
    table.add_column(title, min_width=24)
    filled = [each for each in columns if any(each == column for _, column in cells)]
    for column in filled:
        table.add_column(_heading(column).replace(", ", "\n"), justify="right", no_wrap=True)
    for row in _rows(cells):
        table.add_row(row, *(cells.get((row, column), "") for column in filled))
    console.print(table)
    console.print()
