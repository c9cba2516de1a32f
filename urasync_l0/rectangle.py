# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills and copies of rows: parts of matrices and volumes in linear memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from urasync_l0 import transfer
from urasync_l0.result import InvalidSizeError
from urasync_l0.transfer import Copy, Fill
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import host_memory
from urasync_l0.ze.command_list import EventArray
from urasync_l0.ze.handles import CommandListHandle, EventHandle

_LARGEST = 2**32 - 1  # what Level Zero can say in a region or a pitch


class Region(NamedTuple):
    """How much: bytes of a row, rows of a slice, and slices."""

    width: int
    height: int
    depth: int = 1


class Rows(NamedTuple):
    """Where the bytes of a region are.

    Attributes
    ----------
    address
        Of the first.
    pitch, slice_pitch
        Bytes from row to row, and from slice to slice.
    """

    address: int
    pitch: int
    slice_pitch: int = 0

    def extent(self, region: Region) -> int:
        """Bytes from the first of a region to the last."""
        slices = (region.depth - 1) * self.slice_pitch
        return slices + (region.height - 1) * self.pitch + region.width

    def part(self, number: int, region: Region) -> Rows:
        """Where a slice of a region is, or a row of one that has a single slice."""
        step = self.slice_pitch if region.depth > 1 else self.pitch
        return Rows(self.address + number * step, self.pitch)

    def are_dense(self, region: Region) -> bool:
        """Whether no byte lies between those of a region."""
        return self.extent(region) == math.prod(region)


@dataclass(frozen=True, slots=True)
class CopyRegion:
    """Copy the bytes of rows between regions that do not overlap."""

    is_timed: ClassVar = True

    destination: Rows
    source: Rows
    region: Region

    def append(
        self, command_list: CommandListHandle, signal: EventHandle | None, waits: EventArray | None
    ) -> None:
        """Append it to a list."""
        to, source = self.destination, self.source
        ze_list.append_memory_copy_region(
            command_list,
            to.address,
            (to.pitch, to.slice_pitch),
            source.address,
            (source.pitch, source.slice_pitch),
            self.region,
            signal,
            waits,
        )


def check_region(region: Region, *ends: Rows) -> None:
    """Raise InvalidSizeError if a region is empty, or rows or slices overlap at one of the ends."""
    if min(region) <= 0:
        raise InvalidSizeError(f"A region of {tuple(region)} bytes, rows and slices has none.")
    for end in ends:
        if end.pitch < region.width:
            raise InvalidSizeError(
                f"Rows of {region.width} bytes cannot lie {end.pitch} bytes apart at "
                f"{end.address:#x}."
            )
        if region.depth > 1 and end.slice_pitch < region.height * end.pitch:
            raise InvalidSizeError(
                f"Slices of {region.height} rows, {end.pitch} bytes apart, cannot lie "
                f"{end.slice_pitch} bytes apart at {end.address:#x}."
            )


def plan_copy(to: Rows, source: Rows, region: Region) -> Sequence[Copy | CopyRegion]:
    """The commands that copy the bytes of rows: one, unless the numbers are too large for it."""
    if to.are_dense(region) and source.are_dense(region):
        return (Copy(to.address, source.address, math.prod(region)),)
    if max(*region, *to[1:], *source[1:]) <= _LARGEST:
        return (CopyRegion(to, source, region),)
    # Fewer dimensions at a time; a single row is dense.
    width, height, depth = region
    part = Region(width, height) if depth > 1 else Region(width, 1)
    steps: list[Copy | CopyRegion] = []
    for i in range(depth if depth > 1 else height):
        steps += plan_copy(to.part(i, region), source.part(i, region), part)
    return steps


class FillPlan(NamedTuple):
    """The commands of a fill, and what they read on the host."""

    steps: Sequence[Fill | Copy | CopyRegion]
    keep: object


def plan_fill(to: Rows, pattern: bytes, region: Region, longest: int) -> FillPlan:
    """The commands that fill the bytes of rows with a pattern, which goes on from row to row.

    The rows up to where the pattern begins a row again are filled; copies of them then double what
    is filled. ``longest`` as `transfer.plan_fill`; the region has two dimensions.

    Raises
    ------
    InvalidSizeError
        If the pattern is empty, or the bytes of the region are no multiple of it.
    """
    width, height, _ = region
    length = len(pattern)
    if to.are_dense(region) or not length or width * height % length:
        return FillPlan(*transfer.plan_fill(to.address, pattern, width * height, longest))
    done = math.lcm(width, length) // width
    steps: list[Fill | Copy | CopyRegion]
    if done == 1:
        first, keep = transfer.plan_fill(to.address, pattern, width, longest)
        steps = [*first]
    else:
        staged = keep = host_memory.pin(pattern * (done * width // length), writable=False)
        steps = [*plan_copy(to, Rows(staged.address, width), Region(width, done))]
    while done < height:
        more = min(done, height - done)
        rest = Rows(to.address + done * to.pitch, to.pitch)
        steps += plan_copy(rest, to, Region(width, more))
        done += more
    return FillPlan(steps, keep)
