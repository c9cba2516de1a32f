# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Any file that says what a program allocated, as a trace: our own format, and two others.

Told apart by how they begin, not by their names. Other programs' files are less strict than ours: a
recording often begins while allocations live, and what cannot be replayed is left out and said.
"""

from __future__ import annotations

from pathlib import Path

from urasync_l0.tools.replayer.foreign_trace import ForeignTrace
from urasync_l0.tools.replayer.rmm_log import is_rmm_log, read_rmm_log
from urasync_l0.tools.replayer.torch_history import is_pickle, read_torch_history
from urasync_l0.tools.replayer.trace import MAXIMUM_QUEUES, Trace, TraceError, parse_trace


def read_any_trace(
    path: str | Path, *, queues: int = MAXIMUM_QUEUES, device: int | None = None
) -> tuple[Trace, list[str]]:
    """Read a trace, an RMM log or a PyTorch memory snapshot; returns it, and what was left out.

    Parameters
    ----------
    queues : how many queues there are; a line may name the queues 0 to ``queues - 1``.
    device : of a PyTorch snapshot of several devices, the one to take; None for the busiest.

    Raises
    ------
    TraceError
        The file cannot be read, or is none of the three; the message says what is wrong where.
    """
    path = Path(path)
    name = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TraceError(name, 0, f"cannot be read: {error.strerror or error}") from None
    foreign: ForeignTrace
    if is_rmm_log(data):
        foreign = read_rmm_log(data, name, queues)
    elif is_pickle(data):
        foreign = read_torch_history(data, name, queues, device)
    else:
        return parse_trace(data, name, name=path.stem, queues=queues), []
    return parse_trace(foreign.to_csv(), name, name=path.stem, queues=queues), foreign.notes()
