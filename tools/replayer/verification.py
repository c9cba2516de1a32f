# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proof that an allocation's bytes are its own from its allocation to its free, in queue order.

Every allocation is filled by its queue with a pattern of its own (`fill_pattern`). Before its free,
the freeing queue looks at the filled places (`looking`); both stand in queue order, so memory that
is handed out while a command before the free may still use it shows as wrong bytes, in the old
owner's or in the new owner's. Addresses are compared as well: no two live allocations
may share a byte.

When the freeing queue is not the allocation's and the trace itself does not order the two, the
verification adds an event and a wait: its own fills, not the trace, need that order.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urasync_l0.tools.replayer.fill_pattern import Place, places
from urasync_l0.tools.replayer.looking import HostLook, KernelLook, Look
from urasync_l0.tools.replayer.staging import Staging
from urasync_l0.tools.replayer.trace import Trace, line_number
from urasync_l0.tools.replayer.trace_order import unordered_frees

if TYPE_CHECKING:
    from urasync_l0 import Allocation, Kernel, Queue


class VerificationError(Exception):
    """Memory was not what the allocator promised: the base of the two cases below."""


class WrongByteError(VerificationError):
    """A byte that is read back is not the one that was filled in."""

    def __init__(
        self, trace: str, subject: int, born: int, freed: int | None, offset: int, expected: int,
        found: int,
    ) -> None:  # fmt: skip
        super().__init__(trace, subject, born, freed, offset, expected, found)
        self.trace = trace
        self.subject = subject
        self.born = born
        self.freed = freed
        self.offset = offset
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        end = "at the end of the trace" if self.freed is None else f"freed on line {self.freed}"
        return (
            f"{self.trace}: allocation {self.subject} of line {self.born}, {end}: byte at offset "
            f"{self.offset} is {self.found:#04x}; expected {self.expected:#04x}"
        )


class OverlapError(VerificationError):
    """An allocation got bytes that a live one owns. Lines are those of the two allocations."""

    def __init__(
        self, trace: str, subject: int, line: int, address: int, other: int, other_line: int
    ) -> None:
        super().__init__(trace, subject, line, address, other, other_line)
        self.trace = trace
        self.subject = subject
        self.line = line
        self.address = address
        self.other = other
        self.other_line = other_line

    def __str__(self) -> str:
        return (
            f"{self.trace}: allocation {self.subject} of line {self.line} at address "
            f"{self.address:#x} shares bytes with the live allocation {self.other} of line "
            f"{self.other_line}"
        )


@dataclass(frozen=True, slots=True)
class _Owner:
    """An allocation of the trace while it lives."""

    subject: int
    line: int
    queue: Queue
    allocation: Allocation
    address: int
    nbytes: int
    places: list[Place]


class Verification:
    """The checks of one replay; call it with every allocation and before every free.

    Parameters
    ----------
    queue : makes the host memory for what is read back.
    before_wait : called before the host waits for a queue.
    kernel : compares the bytes; without it the host does.
    """

    def __init__(
        self,
        trace: Trace,
        queue: Queue,
        before_wait: Callable[[], None] = lambda: None,
        kernel: Kernel | None = None,
    ) -> None:
        self._trace = trace
        self._staging = Staging(queue, before_wait)
        self._look: Look = (
            HostLook(self._staging) if kernel is None else KernelLook(self._staging, kernel)
        )
        self._unordered = unordered_frees(trace)
        self._owners: list[_Owner | None] = [None] * trace.allocation_slots
        self._addresses = _Addresses(trace.name)

    def allocated(self, index: int, queue: Queue, allocation: Allocation) -> None:
        """Fill what line `index` allocated.

        Raises
        ------
        OverlapError
            The address range touches that of a live allocation.
        """
        line = self._trace.lines[index]
        # The line makes the seed unique where a trace uses an id again.
        seed = line.subject << 32 | index
        owner = _Owner(
            subject=line.subject,
            line=line_number(index),
            queue=queue,
            allocation=allocation,
            address=allocation.ptr,
            nbytes=line.nbytes,
            places=places(line.nbytes, seed),
        )
        self._addresses.add(owner)
        self._owners[line.slot] = owner
        for place in owner.places:
            for fill in place.fills():
                queue.fill(allocation, fill.pattern, fill.nbytes, fill.offset)

    def freeing(self, index: int, queue: Queue) -> None:
        """Read back, on the queue that will free it, what line `index` frees.

        Raises
        ------
        WrongByteError
            For any allocation that was read back earlier.
        """
        line = self._trace.lines[index]
        owner = self._owners[line.slot]
        assert owner is not None, "the trace was checked when it was read"
        self._owners[line.slot] = None
        if index in self._unordered:
            queue.wait([owner.queue.record()])
        self._read(owner, queue, line_number(index))
        self._addresses.remove(owner)

    def finish(self) -> None:
        """Read back what is still live, wait for all of it and look at it.

        Raises
        ------
        WrongByteError
            For any allocation whose bytes were not looked at yet.
        """
        for owner in self._owners:
            if owner is not None:
                self._read(owner, owner.queue, None)
        self._staging.finish()

    def _read(self, owner: _Owner, queue: Queue, freed: int | None) -> None:
        def report(offset: int, expected: int, found: int) -> None:
            raise WrongByteError(
                self._trace.name, owner.subject, owner.line, freed, offset, expected, found
            )

        self._look.look(queue, owner.allocation, owner.places, report)


class _Addresses:
    """The address ranges of the live allocations, in rising order."""

    def __init__(self, trace: str) -> None:
        self._trace = trace
        self._starts: list[int] = []
        self._owners: list[_Owner] = []

    def add(self, owner: _Owner) -> None:
        at = bisect.bisect_right(self._starts, owner.address)
        for other in self._owners[max(at - 1, 0) : at + 1]:
            if (
                other.address < owner.address + owner.nbytes
                and owner.address < other.address + other.nbytes
            ):
                raise OverlapError(
                    self._trace, owner.subject, owner.line, owner.address, other.subject,
                    other.line,
                )  # fmt: skip
        self._starts.insert(at, owner.address)
        self._owners.insert(at, owner)

    def remove(self, owner: _Owner) -> None:
        at = bisect.bisect_left(self._starts, owner.address)
        del self._starts[at]
        del self._owners[at]
