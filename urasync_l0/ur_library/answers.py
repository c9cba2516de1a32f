# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of properties, as bytes that a C client reads."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from urasync_l0.info import InfoType

_FORMATS = {
    "ur_bool_t": "B",
    "uint8_t": "B",
    "uint32_t": "I",
    "uint64_t": "Q",
    "size_t": "Q",
    "int": "i",
    "void *": "Q",
    "handle": "Q",
}


def encode(type_: InfoType, value: Any, handle: Callable[[Any], int]) -> bytes:
    """The bytes of a value; ``handle`` gives the handle of an object, 0 for None."""
    if isinstance(value, str):
        return value.encode() + b"\0"
    if isinstance(value, bytes):
        return value
    items = value if type_.is_sequence else (value,)
    if type_.name == "handle":
        items = [handle(item) for item in items]
    elif type_.name == "ur_device_partition_property_t":
        return b"".join(struct.pack("iI", way.type, way.value) for way in items)
    return struct.pack(f"{len(items)}{_FORMATS[type_.name]}", *items)
