# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The open contexts of the process, and what becomes of them when it ends."""

from __future__ import annotations

import atexit
from contextlib import suppress
from typing import TYPE_CHECKING

from urasync_l0.result import UrError

if TYPE_CHECKING:
    from urasync_l0.native_context import NativeContext

EXIT_TIMEOUT_NS = 10_000_000_000
"""How long, in nanoseconds, the interpreter's exit waits for each queue that is still busy."""

_open: set[NativeContext] = set()


def open_contexts() -> list[NativeContext]:
    """What the open contexts of the process own, those that nobody holds any more too."""
    return list(_open)


def note_open(native: NativeContext) -> None:
    """Count a context among those of the process until `note_closed`."""
    _open.add(native)


def note_closed(native: NativeContext) -> None:
    """The context owns nothing any more."""
    _open.discard(native)


def _close_all() -> None:
    """At exit, while the loader is still there: complete and release everything."""
    for native in open_contexts():
        with suppress(UrError):
            native.close(EXIT_TIMEOUT_NS)
        native.watcher.close()  # also when a queue is still busy
        note_closed(native)


# Whoever looks at contexts when the process ends registers later, and so comes earlier.
atexit.register(_close_all)
