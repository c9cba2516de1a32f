# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Specialisation constants: values that a program in SPIR-V leaves to whoever builds it.

Level Zero takes their values without sizes and reads as many bytes as the program says, so what is
given is compared with the program before it goes there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from urasync_l0.argument import checked_bytes
from urasync_l0.result import InvalidValueError, UrResult

# Instructions and a decoration of SPIR-V, by their names there.
_TYPE_BOOL, _TYPE_INT, _TYPE_FLOAT = 20, 21, 22
_SPEC_CONSTANTS = (48, 49, 50)  # true, false, a number
_FUNCTION, _DECORATE = 54, 71
_SPEC_ID = 1

_MAGIC_NUMBER = 0x07230203
_HEADER_WORDS = 5


def constant_sizes(spirv: bytes) -> dict[int, int]:
    """The bytes of each specialisation constant of a program, by its number; what is no SPIR-V has
    none."""
    numbers: dict[int, int] = {}  # by the result that they decorate
    widths: dict[int, int] = {}  # of types
    found: dict[int, int] = {}
    for operation, operands in _instructions(spirv):
        if operation == _FUNCTION:
            break  # constants come before
        if operation == _DECORATE and len(operands) == 3 and operands[1] == _SPEC_ID:
            numbers[operands[0]] = operands[2]
        elif operation == _TYPE_BOOL and operands:
            widths[operands[0]] = 1
        elif operation in (_TYPE_INT, _TYPE_FLOAT) and len(operands) > 1:
            widths[operands[0]] = operands[1] // 8
        elif operation in _SPEC_CONSTANTS and len(operands) > 1:
            type_, result = operands[:2]
            if result in numbers and type_ in widths:
                found[numbers[result]] = widths[type_]
    return found


def checked_constants(spirv: bytes, values: Mapping[int, Any]) -> dict[int, bytes]:
    """The bytes of values for specialisation constants of a program.

    Raises
    ------
    InvalidValueError
        With INVALID_SPEC_ID if the program has no constant of a number, with INVALID_VALUE if a
        value has more or fewer bytes than its constant.
    TypeError
        If there is no mapping, or a value is neither bytes nor a buffer.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"constants must be a mapping, as {{7: b'1234'}}, not {values!r}.")
    sizes = constant_sizes(spirv)
    checked = {}
    for number, value in values.items():
        content = checked_bytes(f"The specialisation constant {number!r}", value)
        if number not in sizes:
            raise InvalidValueError(
                f"The program has no specialisation constant of the number {number!r}; it has "
                f"{sorted(sizes) or 'none'}.",
                code=UrResult.INVALID_SPEC_ID,
            )
        if len(content) != sizes[number]:
            raise InvalidValueError(
                f"The specialisation constant {number} has {sizes[number]} bytes; its value has "
                f"{len(content)}."
            )
        checked[number] = content
    return checked


def _instructions(spirv: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each instruction's number and operands, as far as there are whole ones."""
    order = "<" if spirv[:4] == _MAGIC_NUMBER.to_bytes(4, "little") else ">"
    if spirv[:4] != struct.pack(f"{order}I", _MAGIC_NUMBER):
        return
    position, end = _HEADER_WORDS, len(spirv) // 4
    while position < end:
        (first,) = struct.unpack_from(f"{order}I", spirv, 4 * position)
        length = first >> 16
        if not 0 < length <= end - position:
            return
        operands = struct.unpack_from(f"{order}{length - 1}I", spirv, 4 * position + 4)
        yield first & 0xFFFF, operands
        position += length
