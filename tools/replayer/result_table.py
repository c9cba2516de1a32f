# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results as text: a table where it fits, one block of lines a result where it does not."""

from __future__ import annotations

from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from urasync_l0.tools.layout import binary_size, plain_table
from urasync_l0.tools.replayer.result import ReplayResult

_COLUMNS = (
    # heading, right-aligned
    ("trace", False),
    ("adapter", False),
    ("driver", False),
    ("lines", True),
    ("time\na line", True),
    ("live\npeak", True),
    ("reserved\npeak", True),
    ("ratio", True),
    ("reuse", True),
    ("Level Zero\ncalls", True),
    ("verified", False),
)


class ResultTable:
    """Renders results in the order given.

    A console too narrow for the table gets the same words below each other.
    """

    def __init__(self, results: Sequence[ReplayResult]) -> None:
        self._results = results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = self._table()
        if Measurement.get(console, options.update(width=10_000), table).maximum <= (
            options.max_width
        ):
            yield table
        else:
            yield self._blocks()

    def _table(self) -> Table:
        table = plain_table()
        for heading, right in _COLUMNS:
            table.add_column(heading, justify="right" if right else "left", no_wrap=True)
        for result in self._results:
            table.add_row(*_cells(result))
        return table

    def _blocks(self) -> Group:
        blocks: list[RenderableType] = []
        for result in self._results:
            cells = _cells(result)
            blocks.append(Text.assemble(cells[0], ", ", cells[1], ", ", cells[2], ": ", cells[-1]))
            named = [
                Text.assemble(heading.replace("\n", " "), " ", cell)
                for (heading, _), cell in zip(_COLUMNS[3:-1], cells[3:-1], strict=True)
            ]
            blocks.append(Padding(Columns(named, padding=(0, 2)), (0, 0, 0, 2)))
        return Group(*blocks)


def _cells(result: ReplayResult) -> list[Text]:
    time = "held back" if result.us_per_op is None else f"{result.us_per_op:.2f} µs"
    return [
        Text(result.trace),
        Text(result.adapter),
        Text(result.driver),
        Text(f"{result.ops:,}"),
        Text(time),
        Text(binary_size(result.live_peak)),
        Text(binary_size(result.reserved_high)),
        Text(f"{result.memory_ratio:.3f}"),
        Text(f"{result.reuse_rate:.1%}"),
        Text(f"{result.level_zero_calls:,}"),
        _verified(result),
    ]


def _verified(result: ReplayResult) -> Text:
    if result.verified is None:
        return Text("not read")
    return Text("true", style="green") if result.verified else Text("FALSE", style="bold red")
