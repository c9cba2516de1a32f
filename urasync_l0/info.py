# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers of the GetInfo entry points.

Every property has a C type, from which its size follows. A cell gets the Python value; whoever has
to fill C memory encodes it by the same type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar

from urasync_l0.out import Out
from urasync_l0.result import (
    InvalidNullPointerError,
    InvalidSizeError,
    UnsupportedEnumerationError,
)

H = TypeVar("H")


@dataclass(frozen=True)
class InfoType:
    """The C type of a property.

    Attributes
    ----------
    name
        The type in C; for a sequence that of an element.
    size
        Bytes of a value, or of an element of a sequence.
    is_sequence
        Whether the value is a tuple, bytes or a string of any length.
    """

    name: str
    size: int
    is_sequence: bool = False

    def size_of(self, value: Any) -> int:
        """Bytes that a value needs."""
        if not self.is_sequence:
            return self.size
        if isinstance(value, str):
            return len(value.encode()) + 1
        return self.size * len(value)


BOOL = InfoType("ur_bool_t", 1)
UINT32 = InfoType("uint32_t", 4)
UINT64 = InfoType("uint64_t", 8)
SIZE = InfoType("size_t", 8)
ENUMERATION = InfoType("int", 4)
FLAGS = InfoType("uint32_t", 4)
POINTER = InfoType("void *", 8)
HANDLE = InfoType("handle", 8)
HANDLES = InfoType("handle", 8, is_sequence=True)
SIZES = InfoType("size_t", 8, is_sequence=True)
ENUMERATIONS = InfoType("int", 4, is_sequence=True)
STRING = InfoType("char", 1, is_sequence=True)
BYTES = InfoType("uint8_t", 1, is_sequence=True)


class InfoOut(Out[Any]):
    """An out-pointer that learns the C type of its value, too."""

    __slots__ = ("type",)
    type: InfoType


@dataclass(frozen=True)
class Property(Generic[H]):
    """One property: its C type, and how to read it from what the entry was asked about."""

    type: InfoType
    read: Callable[[H], Any]


class InfoTable(Generic[H]):
    """The properties of one kind of handle.

    Parameters
    ----------
    properties
        By their enumerator.
    live
        Raises if the handle cannot be asked any more.
    """

    def __init__(
        self,
        properties: Mapping[IntEnum, Property[H]],
        live: Callable[[H], object] | None = None,
    ) -> None:
        self._properties: dict[int, Property[H]] = {int(k): v for k, v in properties.items()}
        self._live = live

    def property(self, prop_name: int) -> Property[H]:
        """The property of an enumerator.

        Raises
        ------
        UnsupportedEnumerationError
            If there is none.
        """
        try:
            return self._properties[prop_name]
        except KeyError:
            raise UnsupportedEnumerationError(
                f"There is no answer to the property {prop_name:#x}."
            ) from None

    def answer(
        self,
        handle: H,
        prop_name: int,
        prop_size: int | None,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """Answer one property; ``prop_size`` is the room for it in bytes, None for enough.

        Raises
        ------
        InvalidNullPointerError
            If there is nowhere to put the answer.
        UnsupportedEnumerationError
            If the property is unknown, or the handle has no answer to it.
        InvalidSizeError
            If the room is less than the value needs.
        """
        if prop_value is None and (prop_size_ret is None or prop_size):
            raise InvalidNullPointerError(
                f"There is no place for the value of the property {prop_name:#x}, with room for "
                f"{prop_size or 0} bytes."
            )
        found = self.property(prop_name)
        if self._live is not None:
            self._live(handle)
        value = found.read(handle)
        size = found.type.size_of(value)
        if prop_value is not None:
            if prop_size is not None and prop_size < size:
                raise InvalidSizeError(
                    f"The property {prop_name:#x} needs {size} bytes; there is room for "
                    f"{prop_size}."
                )
            prop_value.value = value
            if isinstance(prop_value, InfoOut):
                prop_value.type = found.type
        if prop_size_ret is not None:
            prop_size_ret.value = size
