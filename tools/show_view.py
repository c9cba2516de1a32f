# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``show``: one look at every pool, and why it holds what it holds."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from urasync_l0.snapshot import IDLE, IN_USE, PENDING, ContextSnapshot, PoolSnapshot, Snapshot
from urasync_l0.tools.layout import STYLES, Layout
from urasync_l0.tools.pool_findings import KEEPS_EVERYTHING, findings
from urasync_l0.wording import counted


class ShowView:
    """Renders a snapshot, and makes plain data of what it shows."""

    def __init__(self, snapshot: Snapshot, layout: Layout, *, everything: bool = False) -> None:
        self._snapshot = snapshot
        self._layout = layout
        self._everything = everything

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        snapshot = self._snapshot
        yield heading(snapshot, options.max_width)
        for context in snapshot.contexts:
            yield Text(describe(context))
            empty: list[str] = []
            for pool in context.pools:
                if pool.statistics.reserved or self._everything:
                    yield Text()
                    yield from self._pool(pool, context, options.max_width)
                else:
                    empty.append(pool.name)
            if empty:
                yield Text()
                yield Text(f"Without memory: {', '.join(empty)}.")

    def to_data(self) -> dict[str, Any]:
        """What the view shows, as plain data; sizes in bytes."""
        snapshot = self._snapshot
        return {
            "pid": snapshot.pid,
            "name": snapshot.name,
            "seconds": snapshot.seconds,
            "contexts": [
                {
                    "id": context.id,
                    "adapter": context.adapter,
                    "driver": context.driver,
                    "devices": [asdict(device) for device in context.devices],
                    "pools": [self._pool_data(pool, context) for pool in context.pools],
                }
                for context in snapshot.contexts
            ],
        }

    def _pool_data(self, pool: PoolSnapshot, context: ContextSnapshot) -> dict[str, Any]:
        found = findings(pool, context, self._layout, has_blocks=self._snapshot.has_blocks)
        return {
            "id": pool.id,
            "name": pool.name,
            "is_closed": pool.is_closed,
            "release_threshold": pool.release_threshold,
            "maximum_size": pool.maximum_size,
            "statistics": asdict(pool.statistics),
            "findings": [asdict(finding) for finding in found],
        }

    def _pool(self, pool: PoolSnapshot, context: ContextSnapshot, width: int) -> RenderResult:
        layout = self._layout
        numbers = pool.statistics
        name = f"{pool.name} ({pool.id}){', closed' if pool.is_closed else ''}"
        reserved = layout.size(numbers.reserved)
        high = layout.size(numbers.reserved_high)
        yield spread(Text(name, "bold"), Text(f"reserved {reserved}, peak {high}"), width)
        parts = [(IN_USE, numbers.used), (PENDING, numbers.pending), (IDLE, numbers.idle)]
        yield Padding(layout.bar(parts, width - 2), (0, 0, 0, 2))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column()
        for each in findings(pool, context, layout, has_blocks=self._snapshot.has_blocks):
            share = each.size / numbers.reserved if numbers.reserved else 0.0
            table.add_row(
                Text(f"{layout.sign(each.state)} {each.state}", STYLES[each.state]),
                layout.size(each.size),
                f"{share:.1%}",
                each.reason,
            )
        yield Padding(table, (0, 0, 0, 2))
        yield Padding(Text(self._settings(pool)), (0, 0, 0, 2))
        yield Padding(Text(activity(pool)), (0, 0, 0, 2))

    def _settings(self, pool: PoolSnapshot) -> str:
        layout = self._layout
        numbers = pool.statistics
        limit = layout.size(pool.maximum_size) if pool.maximum_size else "none"
        keeps = layout.size(pool.release_threshold)
        if pool.release_threshold >= KEEPS_EVERYTHING:
            keeps = "everything"
        return (
            f"asked for {layout.size(numbers.requested)}, peak in use "
            f"{layout.size(numbers.used_high)}, limit {limit}, keeps {keeps}"
        )


def activity(pool: PoolSnapshot) -> str:
    """What a pool has done so far, in a sentence."""
    numbers = pool.statistics
    reused = numbers.reused_own + numbers.reused_clock + numbers.reused_idle
    share = f" ({reused / numbers.allocations:.1%})" if numbers.allocations else ""
    steps = numbers.ladder_releases + numbers.ladder_waits
    words = [
        f"{counted(numbers.allocations, 'allocation')}, {reused:,} reused{share}: "
        f"{numbers.reused_own:,} own, {numbers.reused_clock:,} by clock, "
        f"{numbers.reused_idle:,} idle; {numbers.reused_polled:,} after a query, "
        f"{numbers.reused_waited:,} behind a wait",
        f"{counted(numbers.growths, 'growth')}, {counted(numbers.pages_moved, 'page')} moved, "
        f"{counted(numbers.trims, 'trim')}",
    ]
    if numbers.inserted_waits:
        words.append(f"{counted(numbers.inserted_waits, 'wait')} inserted")
    if steps or numbers.out_of_memory:
        words.append(
            f"{counted(steps, 'step')} to find more, out of memory "
            f"{counted(numbers.out_of_memory, 'time')}"
        )
    return "; ".join(words)


def heading(snapshot: Snapshot, width: int) -> RenderableType:
    """Whose snapshot it is, and when it was taken."""
    taken = datetime.fromtimestamp(snapshot.seconds).strftime("%Y-%m-%d %H:%M:%S")
    recording = ", recording" if snapshot.is_recording else ""
    left = Text(f"{snapshot.name}, process {snapshot.pid}{recording}", "bold")
    return spread(left, Text(taken), width)


def describe(context: ContextSnapshot) -> str:
    """A context in a line."""
    return (
        f"context {context.id}: {context.adapter} on the {context.driver} driver, "
        f"{counted(len(context.devices), 'device')}, {counted(len(context.queues), 'queue')}"
    )


def spread(left: Text, right: Text, width: int) -> Text:
    """Two texts at the two ends of a line, or below each other where that is too short."""
    gap = width - left.cell_len - right.cell_len
    return Text.assemble(left, " " * gap, right) if gap > 1 else Text.assemble(left, "\n", right)
