# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Snapshots that a process writes itself: now, on a signal, or at its exit.

A signal may come while the main thread holds a lock of a pool, so its handler only wakes a thread,
which takes the snapshot.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any

from urasync_l0 import loggers
from urasync_l0.inspection import snapshot_json_parts
from urasync_l0.result import InvalidValueError

_PathLike = str | os.PathLike[str]


def write_snapshot(path: _PathLike, *, blocks: bool = True) -> Path:
    """Write a snapshot of this process to a file; returns its path. Any thread may call.

    The file appears as a whole, readable by the user alone; one that is there is replaced.
    ``{pid}`` in the path becomes the number of the process.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    place = Path(_checked_path(path).replace("{pid}", str(os.getpid())))
    new = place.with_name(f".{place.name}.{os.getpid()}-{threading.get_native_id()}")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "w", encoding="utf-8") as opened:
            opened.writelines(snapshot_json_parts(blocks=blocks))
            opened.write("\n")
        new.replace(place)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    loggers.SNAPSHOT.info("Wrote a snapshot to %s", place)
    return place


def write_snapshot_at_exit(path: _PathLike) -> None:
    """Write a snapshot when the interpreter exits, before the pools are given back.

    So it shows what the program never freed. A problem is printed and does not change the exit.
    """
    atexit.register(_write_or_complain, _checked_path(path), os.getpid())


def write_snapshot_on_signal(
    path: _PathLike, number: signal.Signals | int = signal.SIGUSR2
) -> None:
    """Write a snapshot whenever a signal comes. A handler that was there is called as well.

    Call it from the main thread. Starts a daemon thread.

    Raises
    ------
    InvalidValueError
        If this is not the main thread, or the signal cannot be handled.
    """
    place = _checked_path(path)
    requests: SimpleQueue[None] = SimpleQueue()
    try:
        earlier = signal.getsignal(number)
        signal.signal(number, _handler(requests, earlier))
    except (ValueError, OSError) as error:
        raise InvalidValueError(f"Signal {number} cannot be handled here: {error}.") from error
    threading.Thread(
        target=_write_on_request,
        args=(requests, place),
        name="urasync_l0 snapshot writer",
        daemon=True,
    ).start()


def _checked_path(path: _PathLike) -> str:
    """The path as text; what is none is a TypeError now, not when a program ends."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"path must be text, not {text!r}.")
    return text


def _handler(requests: SimpleQueue[None], earlier: Any) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        requests.put(None)
        if callable(earlier):
            earlier(number, frame)

    return handle


def _write_on_request(requests: SimpleQueue[None], path: _PathLike) -> None:
    while True:
        requests.get()
        _write_or_complain(path, os.getpid())


def _write_or_complain(path: _PathLike, process: int) -> None:
    """Write a snapshot, unless this is a forked child, which has no pools: the file is its
    parent's. The child has no thread that a signal could wake either."""
    if os.getpid() != process:
        return
    try:
        write_snapshot(path)
    except OSError as error:
        reason = error.strerror or str(error)
        sys.stderr.write(f"urasync_l0: no snapshot, {path} cannot be written: {reason}\n")
