# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of parameters that many entries have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from urasync_l0.recorded_event import Event

EventList: TypeAlias = "Sequence[Event | None] | None"
"""A wait list; None is the null pointer, which goes with a count of 0."""

HostMemory: TypeAlias = int | bytes | bytearray | memoryview
"""An address, or a Python buffer, which is kept until the copy from or to it is done."""

RectOffset: TypeAlias = tuple[int, int, int]
"""The bytes into a row, the rows and the slices at which a region begins."""

RectRegion: TypeAlias = tuple[int, int, int]
"""The bytes of each row, the rows and the slices of a region."""
