# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``queues``: how far each queue has come, what it waits for, and what memory hangs on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from urasync_l0.snapshot import IN_USE, ContextSnapshot, Snapshot
from urasync_l0.tools.layout import FittingTable, Layout
from urasync_l0.tools.pool_findings import blocks_of
from urasync_l0.tools.show_view import describe, heading


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue with its memory, in bytes, over all pools. ``used`` is what it allocated."""

    context: int
    queue: int
    device: int | None
    sequence: int
    completed: int
    markers: tuple[int, ...]
    used_blocks: int
    used: int
    pending_blocks: int
    pending: int
    clock: tuple[tuple[int, int], ...]


class QueuesView:
    """Renders the queues of a snapshot, and makes plain data of them."""

    def __init__(self, snapshot: Snapshot, layout: Layout) -> None:
        self._snapshot = snapshot
        self._layout = layout

    def rows(self, context: ContextSnapshot) -> list[QueueRow]:
        """The queues of a context."""
        used: dict[int | None, tuple[int, int]] = {}
        pending: dict[int, tuple[int, int]] = {}
        for pool in context.pools:
            for _, block in blocks_of(pool):
                if block.state == IN_USE:
                    count, size = used.get(block.queue, (0, 0))
                    used[block.queue] = count + 1, size + block.size
            for each in pool.pending:
                count, size = pending.get(each.queue, (0, 0))
                pending[each.queue] = count + each.blocks, size + each.size
        return [
            QueueRow(
                context.id,
                queue.id,
                queue.device,
                queue.sequence,
                queue.completed,
                queue.markers,
                *used.get(queue.id, (0, 0)),
                *pending.get(queue.id, (0, 0)),
                queue.clock,
            )
            for queue in context.queues
        ]

    def to_data(self) -> dict[str, Any]:
        """What the view shows, as plain data; sizes in bytes."""
        contexts = self._snapshot.contexts
        return {
            "pid": self._snapshot.pid,
            "queues": [asdict(row) for context in contexts for row in self.rows(context)],
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        layout = self._layout
        yield heading(self._snapshot, options.max_width)
        for context in self._snapshot.contexts:
            yield Text(describe(context))
            rows = self.rows(context)
            if not rows:
                yield Text("  no open queue")
                continue
            table = FittingTable(
                ("queue", "device", "given", "complete", "allocated", "pending", "runs after"),
                subject=6,
                title=0,
            )
            for row in rows:
                table.add_row(
                    str(row.queue),
                    "?" if row.device is None else str(row.device),
                    f"{row.sequence:,}",
                    f"{row.completed:,}",
                    layout.size(row.used) if row.used else "-",
                    layout.size(row.pending) if row.pending else "-",
                    _clock(row.clock),
                )
            yield table


def _clock(clock: tuple[tuple[int, int], ...]) -> str:
    shown = ", ".join(f"{queue} to {number:,}" for queue, number in clock[:8])
    return f"{shown} and {len(clock) - 8} more" if len(clock) > 8 else shown or "itself only"
