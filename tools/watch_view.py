# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``watch``: the pools as they change, with rates; in place on a terminal, by lines in a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from urasync_l0.snapshot import IDLE, IN_USE, PENDING, Snapshot
from urasync_l0.tools.layout import STYLES, FittingTable, Layout
from urasync_l0.tools.pool_rates import PoolCurves, PoolRates
from urasync_l0.tools.show_view import describe, heading


class WatchView:
    """Renders a moment of a process that is watched."""

    def __init__(
        self,
        snapshot: Snapshot,
        rates: Sequence[PoolRates],
        curves: Mapping[int, PoolCurves],
        layout: Layout,
    ) -> None:
        self._snapshot = snapshot
        self._rates = [each for each in rates if each.pool.statistics.reserved_high]
        self._all = rates
        self._curves = curves
        self._layout = layout

    def to_data(self) -> dict[str, Any]:
        """What the view shows, as plain data; sizes in bytes, rates per second."""
        return {
            "pid": self._snapshot.pid,
            "seconds": self._snapshot.seconds,
            "pools": [
                {
                    "id": each.pool.id,
                    "name": each.pool.name,
                    "statistics": asdict(each.pool.statistics),
                    "rates": {
                        name: getattr(each, name)
                        for name in (
                            "allocations",
                            "frees",
                            "growths",
                            "pages_moved",
                            "inserted_waits",
                            "driver_calls",
                            "reuse",
                        )
                    },
                }
                for each in self._all
            ],
        }

    def log_lines(self) -> list[str]:
        """A line for each pool that ever held memory, for a log."""
        layout = self._layout
        time = datetime.fromtimestamp(self._snapshot.seconds).strftime("%H:%M:%S")
        lines: list[str] = []
        for each in self._rates:
            numbers = each.pool.statistics
            lines.append(
                f"{time} {each.pool.name} ({each.pool.id}): in use {layout.size(numbers.used)}, "
                f"pending {layout.size(numbers.pending)}, idle {layout.size(numbers.idle)}, "
                f"reserved {layout.size(numbers.reserved)}, "
                f"{_per_second(each.allocations)} allocations/s, {_share(each.reuse)} reused, "
                f"{_per_second(each.growths)} growths/s, "
                f"{_per_second(each.inserted_waits)} waits/s"
            )
        return lines or [f"{time} no pool has held memory yet"]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield heading(self._snapshot, width)
        for context in self._snapshot.contexts:
            yield Text(describe(context))
        if not self._rates:
            yield Text("No pool has held memory yet.")
            return
        yield Text()
        table = self._table(wide=True)
        yield table if table.needed() <= width else self._table(wide=False)
        for each in self._rates:
            yield Text()
            yield from self._curve(each, width)

    def _table(self, *, wide: bool) -> FittingTable:
        layout = self._layout
        states = [
            Text(f"{layout.sign(state)} {state}", STYLES[state])
            for state in (IN_USE, PENDING, IDLE)
        ]
        columns: list[str | Text] = ["pool", *states, "reserved", "allocs/s", "reused"]
        if wide:
            columns.extend(("peak", "frees/s", "growths/s", "moved/s", "waits/s"))
        table = FittingTable(columns, subject=0)
        for each in self._rates:
            numbers = each.pool.statistics
            cells = [
                f"{each.pool.name} ({each.pool.id})",
                layout.size(numbers.used),
                layout.size(numbers.pending),
                layout.size(numbers.idle),
                layout.size(numbers.reserved),
                _per_second(each.allocations),
                _share(each.reuse),
            ]
            if wide:
                cells.append(layout.size(numbers.reserved_high))
                cells.extend(
                    _per_second(value)
                    for value in (
                        each.frees,
                        each.growths,
                        each.pages_moved,
                        each.inserted_waits,
                    )
                )
            table.add_row(*cells)
        return table

    def _curve(self, each: PoolRates, width: int) -> RenderResult:
        layout = self._layout
        numbers = each.pool.statistics
        curves = self._curves[each.pool.id]
        most = max(curves.reserved)
        across = max(8, width - 11)
        yield Text(f"{each.pool.name} ({each.pool.id})", "bold")
        parts = [(IN_USE, numbers.used), (PENDING, numbers.pending), (IDLE, numbers.idle)]
        yield Text.assemble("now        ", layout.bar(parts, across))
        for name, values, style in (
            ("in use", curves.used, STYLES[IN_USE]),
            ("reserved", curves.reserved, ""),
        ):
            curve = layout.curve(list(values), across, most)
            yield Text.assemble(name.ljust(11), (curve.rjust(across), style))


def _per_second(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.1f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
