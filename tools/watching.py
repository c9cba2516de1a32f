# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loop of ``watch``: look, show, and wait for the next turn."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable

from rich.console import Console
from rich.live import Live

from urasync_l0.snapshot import Snapshot
from urasync_l0.tools.attachment import Source
from urasync_l0.tools.failure import ToolError
from urasync_l0.tools.layout import Layout
from urasync_l0.tools.pool_rates import RateMeter
from urasync_l0.tools.watch_view import WatchView


def watch(
    source: Source,
    console: Console,
    layout: Layout,
    *,
    seconds: float,
    count: int | None,
    as_json: bool,
) -> None:
    """Show a process again and again, until it ends, or ``count`` times.

    In place on a terminal; otherwise a line for each pool, or one JSON object, each time.

    Raises
    ------
    ToolError
        The first look fails. When a later one does, the process is taken to have ended.
    """
    first = source(False)
    if as_json or not console.is_terminal:
        _loop(first, source, layout, seconds, count, _printer(console, as_json=as_json))
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        _loop(first, source, layout, seconds, count, lambda view: live.update(view, refresh=True))


def _loop(
    snapshot: Snapshot,
    source: Source,
    layout: Layout,
    seconds: float,
    count: int | None,
    show: Callable[[WatchView], None],
) -> None:
    meter = RateMeter()
    never = threading.Event()
    due = time.monotonic()
    shown = 0
    while True:
        show(WatchView(snapshot, meter.add(snapshot), meter.curves, layout))
        shown += 1
        if count is not None and shown >= count:
            return
        due = max(due + seconds, time.monotonic())
        never.wait(due - time.monotonic())
        try:
            snapshot = source(False)
        except ToolError:
            return


def _printer(console: Console, *, as_json: bool) -> Callable[[WatchView], None]:
    def show(view: WatchView) -> None:
        lines = [json.dumps(view.to_data())] if as_json else view.log_lines()
        for line in lines:
            print(line, file=console.file, flush=True)

    return show
