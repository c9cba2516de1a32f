# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of the wrong kind: said at once and by name, where Python would fail far inside."""

from __future__ import annotations

from typing import Any, TypeVar

from urasync_l0.enums import UsmType
from urasync_l0.result import InvalidArgumentError

T = TypeVar("T")

KINDS = (UsmType.DEVICE, UsmType.SHARED, UsmType.HOST)
"""Those of the memory that can be allocated."""


def checked_instance(name: str, value: Any, kind: type[T]) -> T:
    """Return a value; raise TypeError if it is not of its kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, not {value!r}.")
    return value


def checked_kind(kind: Any) -> UsmType:
    """Return a kind of memory that can be allocated; raise InvalidArgumentError if it is none."""
    if not isinstance(kind, UsmType) or kind not in KINDS:
        raise InvalidArgumentError(
            f"kind is {kind!r}; there is memory of the kinds DEVICE, SHARED and HOST."
        )
    return kind


def checked_bytes(name: str, value: Any) -> bytes:
    """Return the bytes of anything with the buffer protocol.

    An int is refused with a TypeError: ``bytes`` takes it for a number of zeros.
    """
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).tobytes()
    except (TypeError, BufferError):
        raise TypeError(f"{name} must be bytes or a buffer, not {value!r}.") from None
