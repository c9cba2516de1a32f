# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in SPIR-V for tests, put together from their instructions.

``fill(global uint *to, uint value)``
    ``to[i] = value``
``add(global uint *to, global uint *from, uint value)``
    ``to[i] = from[i] + value``
``mirror(global uint *data, local uint *scratch)``
    Reverses the part of its group, by way of local memory.
``follow(global ulong *cell, uint value)``
    ``((global uint *)*cell)[i] = value``: by a pointer that it finds in memory.
``special(global uint *to)``
    ``to[i]`` is the sum of the specialisation constants 7, a ``uint`` that is 5 if nobody sets it,
    and 8, a ``ulong`` that is 60; in a program of its own.
``grouped(global uint *to)``
    ``to[i] = 7``, in groups of 8 x 4 x 1 work-items and no others; in a program of its own.
"""

import struct
from collections.abc import Callable

# Instructions, by the names and numbers of the specification of SPIR-V.
_MEMORY_MODEL, _ENTRY_POINT, _EXECUTION_MODE, _CAPABILITY, _DECORATE = 14, 15, 16, 17, 71
_TYPE_VOID, _TYPE_INT, _TYPE_VECTOR, _TYPE_POINTER, _TYPE_FUNCTION = 19, 21, 23, 32, 33
_CONSTANT, _FUNCTION, _PARAMETER, _FUNCTION_END, _VARIABLE = 43, 54, 55, 56, 59
_LOAD, _STORE, _POINTER_CHAIN, _EXTRACT, _TO_POINTER = 61, 62, 70, 81, 120
_ADD, _SUBTRACT, _BARRIER, _LABEL, _RETURN = 128, 130, 224, 248, 253
_SPEC_CONSTANT, _CONVERT = 50, 113

_ADDRESSES, _KERNEL, _INT64 = 4, 6, 11  # capabilities
_INPUT, _WORKGROUP, _CROSS_WORKGROUP = 1, 4, 5  # storage classes
_WORKGROUP_SIZE, _LOCAL_ID, _GLOBAL_ID = 25, 27, 28  # what is built in
_ACQUIRE_AND_RELEASE, _WORKGROUP_MEMORY = 0x8, 0x100  # of a barrier
_ALIGNED = 2
_SPEC_ID = 1  # a decoration
_LOCAL_SIZE = 17  # an execution mode

_VOID, _UINT, _ULONG, _VECTOR, _TO_VECTOR, _TO_UINT, _TO_ULONG, _TO_LOCAL = range(1, 9)
_ID_OF_GLOBAL, _ID_OF_LOCAL, _ID_OF_SIZE, _ONE, _TWO, _SEMANTICS = range(9, 15)
_FIRST_FREE = 15


def _text(text: str) -> list[int]:
    content = text.encode() + b"\0"
    content += b"\0" * (-len(content) % 4)
    return list(struct.unpack(f"<{len(content) // 4}I", content))


class _Module:
    """Collects the instructions of kernels."""

    def __init__(self) -> None:
        self.entry_points: list[list[int]] = []
        self.modes: list[list[int]] = []
        self.decorations: list[list[int]] = []
        self.types: list[list[int]] = []
        self.body: list[list[int]] = []
        self._next = _FIRST_FREE

    def new_id(self) -> int:
        self._next += 1
        return self._next - 1

    def add(self, operation: int, *operands: int) -> None:
        self.body.append([operation, *operands])

    def make(self, operation: int, type_: int, *operands: int) -> int:
        """An instruction with a result."""
        result = self.new_id()
        self.add(operation, type_, result, *operands)
        return result

    def built_in(self, variable: int) -> int:
        """The first dimension of an index or a size."""
        loaded = self.make(_LOAD, _VECTOR, variable, _ALIGNED, 32)
        return self.make(_EXTRACT, _ULONG, loaded, 0)

    def load(self, type_: int, pointer: int, size: int = 4) -> int:
        return self.make(_LOAD, type_, pointer, _ALIGNED, size)

    def store(self, pointer: int, value: int) -> None:
        self.add(_STORE, pointer, value, _ALIGNED, 4)

    def constant(self, number: int, type_: int, *value: int) -> int:
        """A specialisation constant."""
        result = self.new_id()
        self.decorations.append([_DECORATE, result, _SPEC_ID, number])
        self.types.append([_SPEC_CONSTANT, type_, result, *value])
        return result

    def kernel(
        self,
        name: str,
        types: list[int],
        body: Callable[..., None],
        group: tuple[int, int, int] | None = None,
    ) -> None:
        """A kernel of parameters of these types; ``body`` gets their ids."""
        function, type_of_function = self.new_id(), self.new_id()
        used = [_ID_OF_GLOBAL, _ID_OF_LOCAL, _ID_OF_SIZE]
        self.entry_points.append([_ENTRY_POINT, 6, function, *_text(name), *used])
        if group is not None:
            self.modes.append([_EXECUTION_MODE, function, _LOCAL_SIZE, *group])
        self.types.append([_TYPE_FUNCTION, type_of_function, _VOID, *types])
        self.add(_FUNCTION, _VOID, function, 0, type_of_function)
        parameters = [self.make(_PARAMETER, type_) for type_ in types]
        self.add(_LABEL, self.new_id())
        body(*parameters)
        self.add(_RETURN)
        self.add(_FUNCTION_END)

    def program(self) -> bytes:
        variables = (
            (_ID_OF_GLOBAL, _GLOBAL_ID),
            (_ID_OF_LOCAL, _LOCAL_ID),
            (_ID_OF_SIZE, _WORKGROUP_SIZE),
        )
        instructions: list[list[int]] = [
            *([_CAPABILITY, each] for each in (_ADDRESSES, _KERNEL, _INT64)),
            [_MEMORY_MODEL, 2, 2],  # 64-bit addresses, OpenCL
            *self.entry_points,
            *self.modes,
            *([_DECORATE, variable, 11, which] for variable, which in variables),
            *self.decorations,
            [_TYPE_VOID, _VOID],
            [_TYPE_INT, _UINT, 32, 0],
            [_TYPE_INT, _ULONG, 64, 0],
            [_TYPE_VECTOR, _VECTOR, _ULONG, 3],
            [_TYPE_POINTER, _TO_VECTOR, _INPUT, _VECTOR],
            [_TYPE_POINTER, _TO_UINT, _CROSS_WORKGROUP, _UINT],
            [_TYPE_POINTER, _TO_ULONG, _CROSS_WORKGROUP, _ULONG],
            [_TYPE_POINTER, _TO_LOCAL, _WORKGROUP, _UINT],
            [_CONSTANT, _ULONG, _ONE, 1, 0],
            [_CONSTANT, _UINT, _TWO, 2],  # the scope of a group
            [_CONSTANT, _UINT, _SEMANTICS, _ACQUIRE_AND_RELEASE | _WORKGROUP_MEMORY],
            *self.types,
            *([_VARIABLE, _TO_VECTOR, variable, _INPUT] for variable, _ in variables),
            *self.body,
        ]
        words = [0x07230203, 0x00010000, 0, self._next, 0]
        for operation, *operands in instructions:
            words += [(len(operands) + 1) << 16 | operation, *operands]
        return struct.pack(f"<{len(words)}I", *words)


def _add_fill(module: _Module) -> None:
    def body(to: int, value: int) -> None:
        place = module.make(_POINTER_CHAIN, _TO_UINT, to, module.built_in(_ID_OF_GLOBAL))
        module.store(place, value)

    module.kernel("fill", [_TO_UINT, _UINT], body)


def _add_add(module: _Module) -> None:
    def body(to: int, source: int, value: int) -> None:
        index = module.built_in(_ID_OF_GLOBAL)
        read = module.load(_UINT, module.make(_POINTER_CHAIN, _TO_UINT, source, index))
        total = module.make(_ADD, _UINT, read, value)
        module.store(module.make(_POINTER_CHAIN, _TO_UINT, to, index), total)

    module.kernel("add", [_TO_UINT, _TO_UINT, _UINT], body)


def _add_mirror(module: _Module) -> None:
    def body(data: int, scratch: int) -> None:
        local = module.built_in(_ID_OF_LOCAL)
        last = module.make(_SUBTRACT, _ULONG, module.built_in(_ID_OF_SIZE), _ONE)
        opposite = module.make(_SUBTRACT, _ULONG, last, local)
        index = module.built_in(_ID_OF_GLOBAL)
        place = module.make(_POINTER_CHAIN, _TO_UINT, data, index)
        kept = module.make(_POINTER_CHAIN, _TO_LOCAL, scratch, local)
        module.store(kept, module.load(_UINT, place))
        module.add(_BARRIER, _TWO, _TWO, _SEMANTICS)
        other = module.make(_POINTER_CHAIN, _TO_LOCAL, scratch, opposite)
        module.store(place, module.load(_UINT, other))

    module.kernel("mirror", [_TO_UINT, _TO_LOCAL], body)


def _add_follow(module: _Module) -> None:
    def body(cell: int, value: int) -> None:
        address = module.load(_ULONG, cell, 8)
        to = module.make(_TO_POINTER, _TO_UINT, address)
        place = module.make(_POINTER_CHAIN, _TO_UINT, to, module.built_in(_ID_OF_GLOBAL))
        module.store(place, value)

    module.kernel("follow", [_TO_ULONG, _UINT], body)


def fill_program() -> bytes:
    """A program with the kernel ``fill`` alone."""
    module = _Module()
    _add_fill(module)
    return module.program()


def add_program() -> bytes:
    """A program with the kernel ``add`` alone."""
    module = _Module()
    _add_add(module)
    return module.program()


def whole_program() -> bytes:
    """A program with all four kernels."""
    module = _Module()
    for add in (_add_fill, _add_add, _add_mirror, _add_follow):
        add(module)
    return module.program()


def special_program() -> bytes:
    """A program with the kernel ``special`` alone."""
    module = _Module()
    narrow, wide = module.constant(7, _UINT, 5), module.constant(8, _ULONG, 60, 0)

    def body(to: int) -> None:
        place = module.make(_POINTER_CHAIN, _TO_UINT, to, module.built_in(_ID_OF_GLOBAL))
        other = module.make(_CONVERT, _UINT, wide)
        module.store(place, module.make(_ADD, _UINT, narrow, other))

    module.kernel("special", [_TO_UINT], body)
    return module.program()


def grouped_program() -> bytes:
    """A program with the kernel ``grouped`` alone."""
    module = _Module()
    seven = module.constant(7, _UINT, 7)

    def body(to: int) -> None:
        place = module.make(_POINTER_CHAIN, _TO_UINT, to, module.built_in(_ID_OF_GLOBAL))
        module.store(place, seven)

    module.kernel("grouped", [_TO_UINT], body, group=(8, 4, 1))
    return module.program()
