# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program in SPIR-V for tests, put together from its instructions.

Its one kernel, ``fill(global uint *to, uint value)``, writes the value at its work-item's index.
"""

import struct

# Instructions, by the names and numbers of the specification of SPIR-V.
_CAPABILITY, _MEMORY_MODEL, _ENTRY_POINT, _DECORATE = 17, 14, 15, 71
_TYPE_VOID, _TYPE_INT, _TYPE_VECTOR, _TYPE_POINTER, _TYPE_FUNCTION = 19, 21, 23, 32, 33
_VARIABLE, _FUNCTION, _PARAMETER, _FUNCTION_END = 59, 54, 55, 56
_LABEL, _LOAD, _STORE, _EXTRACT, _POINTER_CHAIN, _RETURN = 248, 61, 62, 81, 70, 253
_ADDRESSES, _KERNEL, _INT64 = 4, 6, 11  # capabilities
_INPUT, _CROSS_WORKGROUP = 1, 5  # storage classes


def _text(text: str) -> list[int]:
    content = text.encode() + b"\0"
    content += b"\0" * (-len(content) % 4)
    return list(struct.unpack(f"<{len(content) // 4}I", content))


def fill_program() -> bytes:
    """The program."""
    void, uint, ulong, vector, to_vector, to_uint, kernel_type = range(1, 8)
    index, kernel, to, value, label, loaded, x, place = range(8, 16)
    instructions: list[list[int]] = [
        [_CAPABILITY, _ADDRESSES],
        [_CAPABILITY, _KERNEL],
        [_CAPABILITY, _INT64],
        [_MEMORY_MODEL, 2, 2],  # 64-bit addresses, OpenCL
        [_ENTRY_POINT, 6, kernel, *_text("fill"), index],
        [_DECORATE, index, 11, 28],  # built in: the global index of a work-item
        [_TYPE_VOID, void],
        [_TYPE_INT, uint, 32, 0],
        [_TYPE_INT, ulong, 64, 0],
        [_TYPE_VECTOR, vector, ulong, 3],
        [_TYPE_POINTER, to_vector, _INPUT, vector],
        [_TYPE_POINTER, to_uint, _CROSS_WORKGROUP, uint],
        [_TYPE_FUNCTION, kernel_type, void, to_uint, uint],
        [_VARIABLE, to_vector, index, _INPUT],
        [_FUNCTION, void, kernel, 0, kernel_type],
        [_PARAMETER, to_uint, to],
        [_PARAMETER, uint, value],
        [_LABEL, label],
        [_LOAD, vector, loaded, index, 2, 32],  # aligned to 32 bytes
        [_EXTRACT, ulong, x, loaded, 0],
        [_POINTER_CHAIN, to_uint, place, to, x],
        [_STORE, place, value, 2, 4],
        [_RETURN],
        [_FUNCTION_END],
    ]
    words = [0x07230203, 0x00010000, 0, 16, 0]
    for operation, *operands in instructions:
        words += [(len(operands) + 1) << 16 | operation, *operands]
    return struct.pack(f"<{len(words)}I", *words)
