# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``map``: the addresses of segments as cells: in use, pending, idle, unmapped.

A cell stands for the same number of bytes everywhere in a segment. One byte in use makes the cell
in use, or partly so, as one small allocation keeps the memory around it; otherwise one pending byte
makes it pending, and one idle byte idle. Long unmapped stretches are left out, and said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from urasync_l0.snapshot import IDLE, IN_USE, PENDING, PoolSnapshot, SegmentSnapshot, Snapshot
from urasync_l0.tools.layout import PARTLY, STYLES, UNMAPPED, Layout
from urasync_l0.tools.show_view import heading, spread
from urasync_l0.wording import counted

MOST_ROWS = 16
"""Rows of cells for each segment, unless asked for more."""

_ADDRESS_WIDTH = 15
_SMALLEST_CELL = 256

Cell = tuple[str, int]
"""The state of a cell, and its shade."""


class MapView:
    """Renders the segments of a snapshot, and makes plain data of them.

    ``pools`` names the pools to show, by id; None for all. ``rows`` is how many rows of cells a
    segment may have.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        layout: Layout,
        *,
        pools: frozenset[int] | None = None,
        rows: int = MOST_ROWS,
    ) -> None:
        self._snapshot = snapshot
        self._layout = layout
        self._rows = rows
        self._pools = [pool for pool in snapshot.pools if pools is None or pool.id in pools]

    def to_data(self) -> dict[str, Any]:
        """The mapped stretches and blocks of each segment, as plain data; sizes in bytes."""
        return {
            "pid": self._snapshot.pid,
            "pools": [
                {
                    "id": pool.id,
                    "name": pool.name,
                    "segments": [asdict(segment) for segment in pool.segments],
                }
                for pool in self._pools
            ],
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield heading(self._snapshot, width)
        yield self._legend()
        shown = False
        for pool in self._pools:
            for segment in pool.segments:
                if segment.mapped:
                    shown = True
                    yield Text()
                    yield from self._segment(pool, segment, width)
        if not shown:
            yield Text("No pool holds memory.")

    def _legend(self) -> Text:
        text = Text()
        for state in (IN_USE, PARTLY, PENDING, IDLE, UNMAPPED):
            text.append_text(self._layout.cell(state))
            text.append(f" {state}   ")
        text.rstrip()
        return text

    def _segment(self, pool: PoolSnapshot, segment: SegmentSnapshot, width: int) -> RenderResult:
        layout = self._layout
        across = max(8, width - _ADDRESS_WIDTH)
        cell = cell_size(segment, across * self._rows, least=across)
        kind = segment.kind if segment.device is None else f"{segment.kind} {segment.device}"
        how = "mapped" if segment.page_size else "allocated"
        left = Text.assemble((f"{pool.name} ({pool.id})", "bold"), f", {kind} memory")
        right = Text(f"{layout.size(segment.mapped)} {how}, a cell is {layout.size(cell)}")
        yield spread(left, right, width)
        for address, cells, skipped in rows_of(segment, cell, across):
            line = Text(f"{address:#x}".ljust(_ADDRESS_WIDTH), style=STYLES[UNMAPPED])
            if skipped:
                line.append(f"{layout.size(skipped)} unmapped", style=STYLES[UNMAPPED])
            for (state, shade), count in _same(cells):
                line.append_text(layout.cell(state, count, shade=shade))
            yield line
        free = [block.size for block in segment.blocks if block.state == IDLE]
        yield Text(
            f"{counted(len(segment.blocks), 'block')}; idle in {counted(len(free), 'piece')}, the "
            f"largest {layout.size(max(free, default=0))}"
        )


def cell_size(segment: SegmentSnapshot, most: int, *, least: int = 0) -> int:
    """Bytes of a cell, a power of two, so that what is mapped needs at most so many cells.

    With ``least`` above 0 it is not smaller than it takes to show the smallest block, unless there
    would be fewer cells than that.
    """
    size = _SMALLEST_CELL
    while -(-segment.mapped // size) + 2 * len(segment.regions) > max(most, 3):
        size *= 2
        if size >= segment.size:
            break
    smallest = min((block.size for block in segment.blocks), default=0)
    while least and 4 * size <= smallest and segment.mapped >= 2 * size * least:
        size *= 2
    return size


def cells_of(segment: SegmentSnapshot, start: int, end: int, size: int) -> list[Cell]:
    """Each cell between two addresses: its state, and a shade that changes with every block."""
    count = -(-(end - start) // size)
    amounts: list[dict[str, int]] = [{} for _ in range(count)]
    shades = [0] * count
    for position, block in enumerate(segment.blocks):
        if block.end <= start or block.address >= end:
            continue
        first = max(0, (block.address - start) // size)
        last = min(count - 1, (block.end - 1 - start) // size)
        for number in range(first, last + 1):
            low = start + number * size
            part = min(block.end, low + size) - max(block.address, low)
            amounts[number][block.state] = amounts[number].get(block.state, 0) + part
            if block.state == IN_USE:
                shades[number] = position % 2
    cells: list[Cell] = []
    for number, (amount, shade) in enumerate(zip(amounts, shades, strict=True)):
        whole = min(size, end - start - number * size)
        if amount.get(IN_USE, 0) >= whole:
            cells.append((IN_USE, shade))
        elif amount.get(IN_USE):
            cells.append((PARTLY, 0))
        else:
            cells.append(
                (next((each for each in (PENDING, IDLE) if amount.get(each)), UNMAPPED), 0)
            )
    return cells


def rows_of(
    segment: SegmentSnapshot, size: int, across: int
) -> Iterator[tuple[int, list[Cell], int]]:
    """Yield the rows: address, cells, and 0; or, for a long unmapped stretch, its bytes."""
    row = across * size
    end_of_all = segment.address + segment.size
    at = segment.address
    while at < end_of_all:
        end = min(at + row, end_of_all)
        cells = cells_of(segment, at, end, size)
        if all(state == UNMAPPED for state, _ in cells):
            later = [start for start, _ in segment.regions if start >= end]
            following = min(later, default=end_of_all)
            # Rows stay at multiples of their length, so that addresses can be compared.
            if later:
                following = segment.address + (following - segment.address) // row * row
            yield at, [], following - at
            at = following
        else:
            yield at, cells, 0
            at = end


def _same(cells: list[Cell]) -> Iterator[tuple[Cell, int]]:
    """Yield runs of equal cells."""
    at = 0
    while at < len(cells):
        end = at
        while end < len(cells) and cells[end] == cells[at]:
            end += 1
        yield cells[at], end - at
        at = end
