# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the environment asks for: to serve the pools, to write snapshots, to record.

Looked at once, when the package is imported, so a program need not be changed. A setting that
cannot be followed is a warning, and the program goes on.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TypeVar

from urasync_l0.caller_warning import warn_caller
from urasync_l0.pool_service import serve_pools
from urasync_l0.recording import record_allocations
from urasync_l0.snapshot_writer import write_snapshot_at_exit, write_snapshot_on_signal

SERVE = "URASYNC_L0_POOL_SOCKET"
AT_EXIT = "URASYNC_L0_SNAPSHOT_AT_EXIT"
ON_SIGNAL = "URASYNC_L0_SNAPSHOT_ON_SIGNAL"
RECORD = "URASYNC_L0_RECORD"
TRACEBACKS = "URASYNC_L0_RECORD_TRACEBACKS"
HISTORY = "URASYNC_L0_RECORD_HISTORY"

WATCHING = (SERVE, AT_EXIT, ON_SIGNAL, RECORD, TRACEBACKS, HISTORY)
"""What is meant for a program, and not for what looks at it or at the machine."""

_COMMAND = "urasync-pools"
_MODULES = ("urasync_l0", "urasync_l0.tools.command", "urasync_l0.driver_report")


def follow(environment: Mapping[str, str]) -> None:
    """Start what the variables ask for."""
    for name, start in (
        (SERVE, _serve),
        (AT_EXIT, write_snapshot_at_exit),
        (ON_SIGNAL, _on_signal),
    ):
        value = environment.get(name, "")
        if value not in ("", "0"):
            _attempt(name, value, start)
    path = environment.get(RECORD, "")
    path = "" if path == "0" else path
    tracebacks, history = _number(environment, TRACEBACKS), _number(environment, HISTORY)
    settings = ((RECORD, path), (TRACEBACKS, tracebacks), (HISTORY, history))
    asked = next((name for name, value in settings if value), None)
    if asked is not None:
        _attempt(
            asked,
            environment[asked],
            lambda _: record_allocations(path or None, tracebacks=tracebacks, history=history),
        )


T = TypeVar("T")


def _attempt(name: str, value: str, start: Callable[[str], T]) -> T | None:
    try:
        return start(value)
    except (OSError, ValueError) as error:
        warn_caller(f"{name}={value} cannot be followed: {error}")
        return None


def _serve(value: str) -> None:
    serve_pools(None if value == "1" else value)


def _on_signal(value: str) -> None:
    """``USR2:pools-{pid}.json``: the signal, a colon, and the path."""
    name, colon, path = value.partition(":")
    if not colon or not path:
        raise ValueError("expected a signal, a colon and a path, for example USR2:pools.json")
    try:
        number = signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    except KeyError:
        raise ValueError(f"there is no signal {name!r}") from None
    write_snapshot_on_signal(path, number)


def _number(environment: Mapping[str, str], name: str) -> int:
    """A whole number, 0 if there is none; one that cannot be followed is a warning."""
    return _attempt(name, environment.get(name, ""), lambda text: _whole(text or "0")) or 0


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"{text!r} is no whole number of at most nine digits")
    return int(text)


def _is_the_tool() -> bool:
    """Whether this process is a command of this package itself, which has nothing to show."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name == _COMMAND or any(
        option == "-m" and module in _MODULES for option, module in pairwise(sys.orig_argv)
    )


if not _is_the_tool():
    follow(os.environ)
