# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``top``: the largest or oldest allocations, or the places in the program that made most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from urasync_l0.snapshot import IN_USE, BlockSnapshot, Snapshot
from urasync_l0.tools.layout import STYLES, UNMAPPED, FittingTable, Layout
from urasync_l0.tools.pool_findings import blocks_of
from urasync_l0.tools.show_view import heading
from urasync_l0.wording import counted

ORDERS = ("size", "age", "site")
_WIDE = 120


@dataclass(frozen=True, slots=True)
class TopRow:
    """An allocation with where it lies. Sizes are bytes."""

    pool: int
    pool_name: str
    kind: str
    device: int | None
    block: BlockSnapshot


@dataclass(frozen=True, slots=True)
class SiteRow:
    """All live allocations that one place in the program made."""

    traceback: tuple[str, ...]
    count: int
    size: int
    requested: int


class TopView:
    """Renders the first ``count`` rows by size, age or site, and makes plain data of them."""

    def __init__(self, snapshot: Snapshot, layout: Layout, *, by: str, count: int) -> None:
        self._snapshot = snapshot
        self._layout = layout
        self._by = by
        self._count = count

    def rows(self) -> list[TopRow]:
        """The allocations to show, the first at the top."""
        found = [
            TopRow(pool.id, pool.name, segment.kind, segment.device, block)
            for pool in self._snapshot.pools
            for segment, block in blocks_of(pool)
            if block.state == IN_USE
        ]
        if self._by == "age":
            found.sort(key=lambda row: (-(row.block.age or 0), -row.block.size))
        else:
            found.sort(key=lambda row: (-row.block.size, -(row.block.age or 0)))
        return found[: self._count]

    def sites(self) -> list[SiteRow]:
        """The places in the program to show, the largest at the top."""
        sums: dict[tuple[str, ...], list[int]] = {}
        for pool in self._snapshot.pools:
            for _, block in blocks_of(pool):
                if block.state == IN_USE:
                    total = sums.setdefault(block.traceback, [0, 0, 0])
                    for at, number in enumerate((1, block.size, block.requested)):
                        total[at] += number
        found = [SiteRow(traceback, *total) for traceback, total in sums.items()]
        found.sort(key=lambda row: -row.size)
        return found[: self._count]

    def to_data(self) -> dict[str, Any]:
        """What the view shows, as plain data; sizes in bytes."""
        rows: Iterable[TopRow | SiteRow] = self.sites() if self._by == "site" else self.rows()
        return {"pid": self._snapshot.pid, "by": self._by, "rows": [asdict(row) for row in rows]}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield heading(self._snapshot, options.max_width)
        rows: list[Any] = self.sites() if self._by == "site" else self.rows()
        if not rows:
            yield Text("Nothing is allocated.")
            return
        yield self._sites() if self._by == "site" else self._table(options.max_width)
        if not any(getattr(row, "block", row).traceback for row in rows):
            yield Text(
                "To see where allocations come from, record them: URASYNC_L0_RECORD_TRACEBACKS=8, "
                "or urasync_l0.record_allocations(tracebacks=8).",
                style=STYLES[UNMAPPED],
            )

    def _table(self, width: int) -> FittingTable:
        layout = self._layout
        wide = width >= _WIDE
        columns = ["size", "asked for", "age", "queue"]
        if wide:
            columns.append("address")
        columns.append("pool, kind" + (", allocated by" if self._has_tracebacks() else ""))
        table = FittingTable(columns, subject=len(columns) - 1)
        for row in self.rows():
            block = row.block
            place = row.kind if row.device is None else f"{row.kind} {row.device}"
            where = Text(f"{row.pool_name}, {place}")
            for frame in block.traceback:
                where.append(f"\n{frame}", style=STYLES[UNMAPPED])
            cells: list[str | Text] = [
                layout.size(block.size),
                layout.size(block.requested),
                age(block),
                "none" if block.queue is None else str(block.queue),
            ]
            if wide:
                cells.append(f"{block.address:#x}")
            table.add_row(*cells, where)
        return table

    def _sites(self) -> FittingTable:
        layout = self._layout
        table = FittingTable(("size", "allocations", "allocated by"), subject=2)
        for row in self.sites():
            where = Text("\n").join([Text(frame) for frame in row.traceback])
            table.add_row(layout.size(row.size), f"{row.count:,}", where or Text("not recorded"))
        return table

    def _has_tracebacks(self) -> bool:
        return any(row.block.traceback for row in self.rows())


def age(block: BlockSnapshot) -> str:
    """How old an allocation is: in seconds if that is known, else in allocations of its pool."""
    if block.seconds is not None:
        return seconds_text(block.seconds)
    return counted(block.age or 0, "alloc")


def seconds_text(seconds: float) -> str:
    """A time span in three digits or so."""
    for limit, unit, factor in ((1.0, "ms", 1e3), (120.0, "s", 1.0), (7200.0, "min", 1 / 60)):
        if seconds < limit:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds / 3600:.1f} h"
