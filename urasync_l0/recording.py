# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recording what a process allocates: since when, from where, and as a trace to replay.

While a recording is on, every allocation and free costs some microseconds more, and each traceback
a few more for each frame; otherwise nothing does. A recording writes no file while a pool's lock is
held: a thread of its own does that, from a queue of bounded length. When the disk cannot keep up,
or is full, the trace ends there, and says so; the program goes on.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple, Self

from urasync_l0 import argument, loggers
from urasync_l0.enums import UsmType
from urasync_l0.not_copied import not_copied
from urasync_l0.numbering import number_of
from urasync_l0.pool import Block, HeapKey, Mark, QueueOrder
from urasync_l0.pool.observer import observe_registries
from urasync_l0.result import InvalidOperationError, InvalidValueError
from urasync_l0.trace_writer import ALLOCATE, FREE, SIGNAL, SYNCHRONISE, WAIT, TraceWriter
from urasync_l0.wording import counted

KINDS = {kind.name.lower(): kind for kind in argument.KINDS}
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TOOLS = os.path.join(_OURS, "tools", "")  # their demonstration is a program like any other
_STARTERS = (
    threading.__file__,
    os.path.join(os.path.dirname(threading.__file__), "concurrent", "futures", "thread.py"),
    "<frozen runpy>",
)
"""Code that starts threads or scripts: at the outer end of every traceback, and of no use there."""


class Origin(NamedTuple):
    """Where a block in use comes from. ``born`` is the number of its allocation in its pool."""

    born: int
    nanoseconds: int
    frames: tuple[tuple[str, int, str], ...]


class Seen(NamedTuple):
    """One allocation or free that a recording saw."""

    nanoseconds: int
    op: Literal["allocate", "free"]
    pool: int
    key: HeapKey
    address: int
    size: int
    queue: int
    frames: tuple[tuple[str, int, str], ...]


class Recording:
    """What is recorded from here to `stop`. Made by `record_allocations`; any thread may use it.

    Attributes
    ----------
    origins
        Of every block in use that was allocated since: when, and by whom.
    history
        The last allocations and frees, oldest first.
    """

    def __init__(
        self, writer: TraceWriter | None, kind: UsmType | None, tracebacks: int, history: int
    ) -> None:
        self.origins: dict[int, Origin] = {}
        self.history: deque[Seen] = deque(maxlen=history)
        self.began = time.monotonic_ns()
        self._writer = writer
        self._kind = kind
        self._depth = tracebacks

    __reduce_ex__ = not_copied("Send its trace.")

    def __repr__(self) -> str:
        trace = "" if self._writer is None else f", trace {self._writer.path}"
        state = "on" if self.is_on else "stopped"
        return f"Recording({state}, {counted(len(self.origins), 'block')}{trace})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stop()

    @property
    def is_on(self) -> bool:
        """Whether it still records."""
        return _current is self

    @property
    def problem(self) -> str | None:
        """Why the trace ends before the recording does; None when it does not."""
        return self._writer.problem if self._writer is not None else None

    def stop(self) -> None:
        """End the recording; the trace is complete when this returns. Idempotent."""
        global _current
        with _lock:
            if _current is not self:
                return
            observe_registries(None)
            _current = None
        if self._writer is not None:
            self._writer.close()
        loggers.RECORDING.info("%r ended", self)

    # -- what the pools tell; see `Observer` -------------------------------------------------------

    def allocated(self, block: Block, order: QueueOrder) -> None:
        """A block was handed out."""
        now = time.monotonic_ns() - self.began
        frames = _frames(sys._getframe(1), self._depth) if self._depth else ()
        address = block.address
        self.origins[address] = Origin(block.born, now, frames)
        heap = block.heap
        pool = number_of(heap.pool)
        size = block.size
        self.history.append(Seen(now, "allocate", pool, heap.key, address, size, order.id, frames))
        if self._traces(block):
            self._put((ALLOCATE, address, block.requested, order.id))

    def undone(self, block: Block) -> None:
        """A hand-out was undone."""
        origin = self.origins.pop(block.address, None)
        if origin is not None:
            self._released(block, 0)

    def freed(self, block: Block, order: QueueOrder) -> None:
        """A block was freed."""
        self.origins.pop(block.address, None)
        self._released(block, order.id)

    def _released(self, block: Block, queue: int) -> None:
        now = time.monotonic_ns() - self.began
        heap = block.heap
        pool = number_of(heap.pool)
        self.history.append(Seen(now, "free", pool, heap.key, block.address, block.size, queue, ()))
        if self._traces(block):
            self._put((FREE, block.address, 0, queue))

    def signalled(self, mark: Mark) -> None:
        """The program got an event."""
        self._put((SIGNAL, mark.number, 0, mark.order.id))

    def waits(self, order: QueueOrder, mark: Mark) -> None:
        """A queue waits for an event."""
        self._put((WAIT, mark.number, mark.order.id, order.id))

    def synchronised(self, order: QueueOrder) -> None:
        """The host has waited for a queue."""
        self._put((SYNCHRONISE, 0, 0, order.id))

    def _traces(self, block: Block) -> bool:
        return self._kind is None or block.heap.key[0] is self._kind

    def _put(self, entry: tuple[int, int, int, int]) -> None:
        if self._writer is not None:
            self._writer.put(entry)


def record_allocations(
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str | None = "device",
    max_bytes: int = 64 << 20,
    files: int = 2,
    tracebacks: int = 0,
    history: int = 0,
) -> Recording:
    """Record what the process allocates and frees from now on, in every context.

    Parameters
    ----------
    path
        Where to write a trace that ``urasync-pools replay`` can replay; None for no trace.
        ``{pid}`` in it becomes the number of the process.
    kind
        Of which memory the trace is: "device", "shared", "host", or None for all together.
    max_bytes
        How large a file may grow. A new one begins then, with what is allocated at that moment;
        the one before is renamed from ``name.csv`` to ``name.1.csv``, that to ``name.2.csv``, and
        so on.
    files
        How many files are kept, at least 1.
    tracebacks
        How many frames of the program to keep of each allocation; 0 for none.
    history
        How many of the latest allocations and frees snapshots show.

    Raises
    ------
    InvalidOperationError
        If a recording is on already.
    InvalidValueError
        If an argument is out of its bounds.
    OSError
        If the file cannot be made.
    """
    global _current
    if kind is not None and kind not in KINDS:
        raise InvalidValueError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}, or None.")
    for name, value, least in (
        ("max_bytes", max_bytes, 1 << 16),
        ("files", files, 1),
        ("tracebacks", tracebacks, 0),
        ("history", history, 0),
    ):
        if not least <= value < 1 << 48:
            raise InvalidValueError(f"{name} is {value}; it must be at least {least}.")
    with _lock:
        if _current is not None:
            raise InvalidOperationError(
                "A recording is on already; stop it first, a process has one at a time."
            )
        writer = None
        if path is not None:
            place = Path(os.fspath(path).replace("{pid}", str(os.getpid())))
            writer = TraceWriter(place, max_bytes=max_bytes, files=files)
        recording = Recording(writer, None if kind is None else KINDS[kind], tracebacks, history)
        _current = recording
        observe_registries(recording)
    loggers.RECORDING.info("%r begins", recording)
    return recording


def current_recording() -> Recording | None:
    """The recording that is on, if one is."""
    return _current


def as_text(frames: Iterable[tuple[str, int, str]]) -> tuple[str, ...]:
    """Frames as a snapshot shows them."""
    return tuple(f"{name} at {file}:{line}" for file, line, name in frames)


def _frames(frame: FrameType | None, depth: int) -> tuple[tuple[str, int, str], ...]:
    """The innermost frames of the program itself, without ours."""
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < depth:
        code = frame.f_code
        file = code.co_filename
        if file not in _STARTERS and (not file.startswith(_OURS) or file.startswith(_TOOLS)):
            found.append((file, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(found)


_lock = threading.Lock()
_current: Recording | None = None


def _stop_at_exit() -> None:
    recording = _current
    if recording is not None:
        recording.stop()


def _forget_in_child() -> None:
    """In a forked child the recording, its thread and its file stay with the parent."""
    global _current, _lock
    _lock = threading.Lock()
    _current = None
    observe_registries(None)


atexit.register(_stop_at_exit)
os.register_at_fork(after_in_child=_forget_in_child)
