# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block in the hands of a user's object, and what is left to do when that object is dropped.

Collection calls no driver and takes no lock: it only puts a `DroppedBlock` where the next call
finds it. The classes in C of the same names do the same; ``structure`` chooses.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.order import QueueOrder


class DroppedBlock:
    """A use of a block, by its number, that nobody holds any more; ``order`` is that of the queue
    that allocated it, None without one."""

    __slots__ = ("block", "born", "order")

    def __init__(self, block: Block, born: int, order: QueueOrder | None) -> None:
        self.block = block
        self.born = born
        self.order = order


class HeldBlock:
    """A block in use that is freed at the latest when this object is dropped.

    ``queue``, ``kind``, ``pool`` and ``event`` are the user's: here they are only kept. ``dropped``
    gets a ``dropped_type`` when the object goes before its block was freed.
    """

    __slots__ = (
        *("_born", "_is_noted", "block", "dropped", "event", "kind"),
        *("nbytes", "order", "pool", "ptr", "queue"),
    )
    dropped_type: ClassVar[type[DroppedBlock]] = DroppedBlock

    def __init__(
        self,
        block: Block,
        dropped: deque[Any],
        order: QueueOrder | None = None,
        nbytes: int = 0,
        queue: Any = None,
        kind: Any = None,
        pool: Any = None,
        event: Any = None,
    ) -> None:
        self._is_noted = True
        self.block = block
        self._born = block.born
        self.dropped = dropped
        self.order = order
        self.ptr = block.address
        self.nbytes = nbytes
        self.queue = queue
        self.kind = kind
        self.pool = pool
        self.event = event
        self._is_noted = False

    @property
    def is_freed(self) -> bool:
        """Whether it was freed, or its block or its address serves another use by now."""
        if self._is_noted:
            return True
        block = self.block
        found = block.heap.pool.registry.live.get(self.ptr)
        return found is not block or block.born != self._born

    def note_freed(self) -> None:
        """Have nothing left to do when this object is dropped."""
        self._is_noted = True

    def leave(self) -> DroppedBlock:
        """What is left to do, for the caller to do it at once."""
        self._is_noted = True
        return self.dropped_type(self.block, self._born, self.order)

    def __del__(self) -> None:
        if not self._is_noted:
            self.dropped.append(self.leave())
