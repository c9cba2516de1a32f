# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host memory as Level Zero sees it: addresses of Python buffers, and Python views of addresses."""

from dataclasses import dataclass
from typing import Any

from urasync_l0.ze._extension import CData, ffi


@dataclass(frozen=True, slots=True)
class PinnedBuffer:
    """A Python buffer that keeps its place while this object lives. ``nbytes`` in bytes."""

    address: int
    nbytes: int
    _pin: CData


def pin(buffer: Any, *, writable: bool) -> PinnedBuffer:
    """Hold a contiguous buffer in its place and find its address.

    Raises
    ------
    BufferError, TypeError, ValueError
        If the object has no contiguous buffer, or no writable one where that is asked for.
    """
    array = ffi.from_buffer("char[]", buffer, require_writable=writable)
    return PinnedBuffer(int(ffi.cast("uintptr_t", array)), len(array), array)


def view(address: int, nbytes: int, owner: object) -> memoryview:
    """The bytes at an address as a writable view, which keeps ``owner`` alive."""

    def let_go(_pointer: CData, _owner: object = owner) -> None:
        """Called when the last view is gone; the owner goes with this function."""

    pointer = ffi.gc(ffi.cast("char *", address), let_go)
    return memoryview(ffi.buffer(pointer, nbytes))
