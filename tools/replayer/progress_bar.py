# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The progress bar of the commands: on a terminal only, and gone when they end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn


class ReplayProgress:
    """A bar over `total` lines. A console that is no terminal shows nothing."""

    def __init__(self, console: Console, total: int) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def describe(self, trace: str, adapter: str) -> None:
        """Say what is being replayed."""
        self._bar.update(self._task, description=f"{adapter}: {trace}")

    def advance(self, lines: int) -> None:
        """Count lines that are done."""
        self._bar.advance(self._task, lines)
