# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handles of C clients, and the objects that they stand for.

A handle is the address of a cell whose only word points to the library's function table: a loader
with several adapters calls through it. Everything else is looked up here, so a stale or wrong
handle is an error of the call rather than a crash. Cells are used again in turn, as late as
possible.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from urasync_l0.result import UrError, UrResult

_CELLS_AT_ONCE = 1024


class Cells:
    """Memory for handles. Any thread may use it.

    Parameters
    ----------
    allocate
        Gives cells: the address of the first, and what keeps them alive.
    """

    def __init__(self, allocate: Callable[[int], tuple[int, object]]) -> None:
        self._allocate = allocate
        self._kept: list[object] = []
        self.free: deque[int] = deque()

    def take(self) -> int:
        """A cell for a new handle."""
        try:
            return self.free.popleft()
        except IndexError:
            first, kept = self._allocate(_CELLS_AT_ONCE)
            self._kept.append(kept)
            self.free.extend(first + 8 * i for i in range(1, _CELLS_AT_ONCE))
            return first


class HandleTable(dict[int, Any]):
    """The objects of one kind by their handles; the null handle is None.

    Parameters
    ----------
    kind
        What the objects are, for messages.
    code
        The result of a call with a handle that is not here.
    is_over
        Whether nothing can be done with an object any more; never, if objects last for good.
    """

    def __init__(
        self,
        kind: str,
        code: UrResult,
        cells: Cells,
        is_over: Callable[[Any], bool] = lambda item: False,
    ) -> None:
        super().__init__({0: None})
        self.is_over = is_over
        self.kind = kind
        self.code = code
        self._cells = cells
        self.handles: dict[Any, int] = {}
        self._lock = threading.Lock()

    @property
    def cells(self) -> deque[int]:
        """The cells that are free."""
        return self._cells.free

    def __missing__(self, handle: int) -> Any:
        raise UrError(
            f"{handle:#x} is the handle of no {self.kind}, or that {self.kind} was released.",
            code=self.code,
        )

    def add(self, item: Any) -> int:
        """A handle for a new object that nothing will ask the handle of, such as an event."""
        handle = self._cells.take()
        self[handle] = item
        return handle

    def handle(self, item: Any) -> int:
        """The handle of an object, made when it is first wanted."""
        found = self.handles.get(item)
        if found is None:
            with self._lock:
                found = self.handles.get(item)
                if found is None:
                    found = self.handles[item] = self.add(item)
        return found

    def forget_if_over(self, handle: int) -> bool:
        """Forget a handle whose object is over; tell whether it is forgotten."""
        item = self.get(handle)
        if item is not None and not self.is_over(item):
            return False
        self.forget(handle)
        return True

    def forget(self, handle: int) -> None:
        """Let a handle stand for nothing any more."""
        item = self.pop(handle, None)
        if item is not None:
            self.handles.pop(item, None)
            self._cells.free.append(handle)
