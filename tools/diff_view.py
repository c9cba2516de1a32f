# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``diff``: what changed between two snapshots, and which allocations came or went.

Within one process an allocation is known by its pool and its number there, so the same address
given out twice is two. Between two processes there is no such thing; allocations are then compared
by their size and their place in the program.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from urasync_l0.snapshot import IN_USE, PoolSnapshot, PoolStatistics, Snapshot
from urasync_l0.tools.layout import FittingTable, Layout
from urasync_l0.tools.pool_findings import blocks_of
from urasync_l0.tools.show_view import heading
from urasync_l0.wording import counted

_NOTHING = PoolStatistics(
    used=0, used_high=0, requested=0, pending=0, idle=0, reserved=0, reserved_high=0
)
_SIZES = ("used", "pending", "idle", "reserved")


@dataclass(frozen=True, slots=True)
class PoolChange:
    """The differences of a pool's numbers; ``is_new`` and ``is_gone`` say that it was in one."""

    name: str
    is_new: bool
    is_gone: bool
    numbers: dict[str, int]


@dataclass(frozen=True, slots=True)
class AllocationChange:
    """Allocations that are alike: how many came, or went if below 0. ``size`` is of all of them."""

    pool: str
    queue: int | None
    each: int
    count: int
    size: int
    traceback: tuple[str, ...]


_Group = tuple[str, int | None, int, tuple[str, ...]]


class DiffView:
    """Renders the differences of two snapshots, and makes plain data of them."""

    def __init__(self, before: Snapshot, after: Snapshot, layout: Layout, *, count: int) -> None:
        self._before = before
        self._after = after
        self._layout = layout
        self._count = count
        self._is_same = before.pid == after.pid and before.name == after.name

    def pools(self) -> list[PoolChange]:
        """The pools whose numbers changed."""
        before, after = self._by_key(self._before), self._by_key(self._after)
        changes: list[PoolChange] = []
        for key in {**before, **after}:
            old, new = before.get(key), after.get(key)
            old_numbers = asdict(old.statistics if old is not None else _NOTHING)
            new_numbers = asdict(new.statistics if new is not None else _NOTHING)
            numbers = {
                name: new_numbers[name] - old_numbers[name]
                for name in new_numbers
                if new_numbers[name] != old_numbers[name]
            }
            known = new or old
            assert known is not None
            if numbers:
                changes.append(PoolChange(known.name, old is None, new is None, numbers))
        return changes

    def allocations(self) -> list[AllocationChange]:
        """Groups of allocations that came or went, those of most bytes first."""
        sums: Counter[_Group] = Counter()
        sizes: Counter[_Group] = Counter()
        if self._is_same:
            old, new = self._identified(self._before), self._identified(self._after)
            for sign, found in (
                (-1, [group for key, group in old.items() if key not in new]),
                (1, [group for key, group in new.items() if key not in old]),
            ):
                for group, size in found:
                    # What came and what went is told apart, also where it is alike.
                    sums[(*group[:2], sign * group[2], group[3])] += sign
                    sizes[(*group[:2], sign * group[2], group[3])] += sign * size
        else:
            for sign, snapshot in ((-1, self._before), (1, self._after)):
                for group, size in self._identified(snapshot).values():
                    alike = (group[0], None, group[2], group[3])
                    sums[alike] += sign
                    sizes[alike] += sign * size
        changes = [
            AllocationChange(group[0], group[1], abs(group[2]), count, sizes[group], group[3])
            for group, count in sums.items()
            if count
        ]
        changes.sort(key=lambda change: (-abs(change.size), -change.size, change.pool))
        return changes

    def to_data(self) -> dict[str, Any]:
        """What the view shows, as plain data; sizes in bytes."""
        return {
            "before": {"pid": self._before.pid, "seconds": self._before.seconds},
            "after": {"pid": self._after.pid, "seconds": self._after.seconds},
            "pools": [asdict(change) for change in self.pools()],
            "allocations": [asdict(change) for change in self.allocations()],
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        layout = self._layout
        yield heading(self._before, options.max_width)
        yield heading(self._after, options.max_width)
        pools = self.pools()
        if not pools:
            yield Text("No pool has changed.")
            return
        table = FittingTable(
            ("pool", "in use", "pending", "idle", "reserved", "allocations", "frees"), subject=0
        )
        for change in pools:
            state = ", new" if change.is_new else ", gone" if change.is_gone else ""
            table.add_row(
                change.name + state,
                *(layout.change(change.numbers.get(name, 0)) for name in _SIZES),
                f"{change.numbers.get('allocations', 0):+,}",
                f"{change.numbers.get('frees', 0):+,}",
            )
        yield table
        yield from self._allocations()

    def _allocations(self) -> RenderResult:
        if not (self._before.has_blocks and self._after.has_blocks):
            yield Text("One of the snapshots has no blocks, so allocations are not compared.")
            return
        layout = self._layout
        changes = self.allocations()
        if not changes:
            yield Text("The same allocations are live.")
            return
        yield Text()
        table = FittingTable(("allocations", "of", "in all", "queue", "pool"), subject=4)
        for change in changes[: self._count]:
            where = Text(change.pool)
            for frame in change.traceback:
                where.append(f"\n{frame}")
            table.add_row(
                f"{change.count:+,}",
                layout.size(change.each),
                layout.change(change.size),
                "" if change.queue is None else str(change.queue),
                where,
            )
        yield table
        rest = len(changes) - self._count
        if rest > 0:
            yield Text(f"and {counted(rest, 'other kind')} of allocations")

    def _by_key(self, snapshot: Snapshot) -> dict[object, PoolSnapshot]:
        """Pools by what names them in both snapshots: their id, or their name and which of it."""
        if self._is_same:
            return {pool.id: pool for pool in snapshot.pools}
        seen: Counter[str] = Counter()
        found: dict[object, PoolSnapshot] = {}
        for pool in snapshot.pools:
            found[pool.name, seen[pool.name]] = pool
            seen[pool.name] += 1
        return found

    def _identified(self, snapshot: Snapshot) -> dict[tuple[int, int, int], tuple[_Group, int]]:
        """Each allocation by its identity, with what makes it like others, and its size."""
        return {
            (pool.id, block.address, pool.allocation - (block.age or 0)): (
                (pool.name, block.queue, block.size, block.traceback),
                block.size,
            )
            for pool in snapshot.pools
            for _, block in blocks_of(pool)
            if block.state == IN_USE
        }
