# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the bytes of an allocation are looked at in a queue's order: by a kernel, or on the host.

The kernel stands in the queue like any command: it reads the memory where it is, and writes to host
memory what it saw of each place. Where the driver cannot compile it, the queue copies the places to
host memory instead, and the host compares them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

from urasync_l0.result import UrError, UrResult
from urasync_l0.tools.replayer.fill_pattern import PATTERN_BYTES, Place

if TYPE_CHECKING:
    from urasync_l0 import Allocation, Context, Kernel, Program, Queue
    from urasync_l0.tools.replayer.staging import Staging

Report = Callable[[int, int, int], None]
"""Gets the offset of a wrong byte in the allocation, the byte that was expected, and the found."""

KERNEL = "compare_places"

_ENTRY = struct.Struct(f"=QQ{PATTERN_BYTES}sQQ")  # `struct place` of compare_places.cl
_RIGHT = 1
_WRONG = 2  # and the offset


class NotRunError(RuntimeError):
    """The kernel left no word of a place, so it did not run."""


class Look(Protocol):
    """Looks at places of allocations."""

    def look(
        self, queue: Queue, allocation: Allocation, places: Sequence[Place], report: Report
    ) -> None:
        """Have `queue`, in its order, look at `places`; `report` is called later, in
        `Staging.reserve` or `Staging.finish`, for the first wrong byte of each."""


class HostLook:
    """The queue copies, the host compares."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def look(
        self, queue: Queue, allocation: Allocation, places: Sequence[Place], report: Report
    ) -> None:
        for place in places:

            def check(found: bytes, place: Place = place) -> None:
                expected = place.expected()
                if found != expected:
                    at = next(i for i in range(place.nbytes) if found[i] != expected[i])
                    report(place.offset + at, expected[at], found[at])

            position = self._staging.reserve(queue, place.nbytes, check)
            queue.memcpy(
                self._staging.memory,
                allocation,
                place.nbytes,
                destination_offset=position,
                source_offset=place.offset,
            )


class KernelLook:
    """A kernel compares, one work-item a place."""

    def __init__(self, staging: Staging, kernel: Kernel) -> None:
        self._staging = staging
        self._kernel = kernel

    def look(
        self, queue: Queue, allocation: Allocation, places: Sequence[Place], report: Report
    ) -> None:
        def check(table: bytes) -> None:
            for place, entry in zip(places, _ENTRY.iter_unpack(table), strict=True):
                seen, found = entry[3:]
                if seen >= _WRONG:
                    at = seen - _WRONG
                    report(place.offset + at, place.pattern[at % PATTERN_BYTES], found)
                elif seen != _RIGHT:
                    raise NotRunError("The kernel that compares an allocation's bytes did not run.")

        size = len(places) * _ENTRY.size
        position = self._staging.reserve(queue, size, check)
        self._staging.view[position : position + size] = b"".join(
            _ENTRY.pack(place.offset, place.nbytes, place.pattern, 0, 0) for place in places
        )
        queue.launch(
            self._kernel,
            (len(places),),
            [allocation, self._staging.memory, struct.pack("Q", position)],
            local_size=(len(places),),
        )


def build_comparison(context: Context) -> Program:
    """The program with the kernel that compares, named `KERNEL`."""
    return context.create_program(
        (files("urasync_l0.tools.replayer") / f"{KERNEL}.spv").read_bytes()
    )


def missing_compiler(context: Context) -> str | None:
    """Why the driver cannot compile the kernel; None if it can."""
    try:
        build_comparison(context).close()
    except UrError as error:
        if error.code is not UrResult.COMPILER_NOT_AVAILABLE:
            raise
        return error.message
    return None
