# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's memory snapshot, a pickle: what its caching allocator was asked for, in order.

The allocator records an entry for each allocation and for each free that the program asked for, if
``torch.cuda.memory._record_memory_history()`` (or that of ``torch.xpu``) was called. Those two are
what a program does in queue order; what the allocator then does with its own segments is not
replayed, for that is what another allocator does differently.
"""

from __future__ import annotations

from typing import Any

from urasync_l0.tools.replayer.foreign_trace import ForeignTrace
from urasync_l0.tools.replayer.plain_pickle import load_plain_pickle
from urasync_l0.tools.replayer.trace import TraceError


def is_pickle(data: bytes) -> bool:
    """Whether the file is a pickle of protocol 2 or later."""
    return len(data) > 1 and data[0] == 0x80 and 2 <= data[1] <= 5


def read_torch_history(
    data: bytes, path: str, queues: int, device: int | None = None
) -> ForeignTrace:
    """Read the bytes of a snapshot; ``device`` None takes the device with most entries.

    Raises
    ------
    TraceError
        It is no snapshot with a history, or not plain data.
    """
    try:
        snapshot = load_plain_pickle(data)
    except ValueError as error:
        raise TraceError(path, 0, str(error)) from None
    if not isinstance(snapshot, dict) or not isinstance(snapshot.get("device_traces"), list):
        raise TraceError(path, 0, "a pickle, but not a memory snapshot: it has no device_traces")
    histories: list[Any] = snapshot["device_traces"]
    counts = [len(history) if isinstance(history, list) else 0 for history in histories]
    if not any(counts):
        raise TraceError(
            path,
            0,
            "the snapshot has no history; call torch.cuda.memory._record_memory_history() before "
            "the work that it should show",
        )
    if device is None:
        device = counts.index(max(counts))
    elif not 0 <= device < len(histories):
        raise TraceError(path, 0, f"no device {device}; it has 0 to {len(histories) - 1}")
    trace = ForeignTrace(path, queues)
    others = [str(number) for number, count in enumerate(counts) if count and number != device]
    if others:
        trace.note(f"device {device} is replayed; there is a history of {', '.join(others)}, too")
    if not counts[device]:
        raise TraceError(path, 0, f"no history of device {device}")
    for position, entry in enumerate(histories[device]):
        _add(trace, path, position, entry)
    return trace


def _add(trace: ForeignTrace, path: str, position: int, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise _error(path, position, "is no dictionary")
    action = entry.get("action")
    if action not in ("alloc", "free_requested"):
        return
    numbers = [entry.get(name) for name in ("addr", "size", "stream")]
    for name, number in zip(("addr", "size", "stream"), numbers, strict=True):
        if type(number) is not int:
            raise _error(path, position, f"has no number as its {name}, but {number!r}"[:100])
    address, size, stream = numbers
    assert isinstance(address, int)
    assert isinstance(size, int)
    try:
        if action == "alloc":
            trace.allocate(0, address, size, stream)
        else:
            trace.free(0, address, stream)
    except TraceError as error:
        raise _error(path, position, f"cannot be replayed: {error.problem}") from None


def _error(path: str, position: int, problem: str) -> TraceError:
    return TraceError(path, 0, f"entry {position} of the history {problem}")
