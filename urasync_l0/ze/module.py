# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules, which are programs for one device, and their kernels.

A kernel's arguments and group size belong to its handle until the launch is appended: one thread at
a time may set them and launch.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from urasync_l0.result import DeviceLostError, UrError, UrResult
from urasync_l0.ze import loader
from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.command_list import EventArray
from urasync_l0.ze.handles import (
    CommandListHandle,
    ContextHandle,
    DeviceHandle,
    EventHandle,
    KernelHandle,
    ModuleHandle,
)
from urasync_l0.ze.result import ZeResult, check


@dataclass(frozen=True, slots=True)
class Input:
    """A program in SPIR-V, with the options and the specialisation constants to compile it with."""

    spirv: bytes
    options: str
    constants: Mapping[int, bytes] = field(default_factory=dict)


_MAGIC_NUMBERS = ((0x07230203).to_bytes(4, "little"), (0x07230203).to_bytes(4, "big"))

_BUILD_FAILED = (ZeResult.ERROR_MODULE_BUILD_FAILURE, ZeResult.ERROR_MODULE_LINK_FAILURE)


def create(
    context: ContextHandle, device: DeviceHandle, inputs: Sequence[Input]
) -> tuple[ModuleHandle, str]:
    """Compile programs in SPIR-V for a device, and link them.

    Returns the module, and what the compiler said.

    Raises
    ------
    UrError
        With PROGRAM_BUILD_FAILURE if the program does not compile; what the compiler said is in the
        message. With COMPILER_NOT_AVAILABLE if the driver lacks what it compiles with: the message
        says what was looked for.
    """
    for each in inputs:
        # Some compilers end the process over what is none.
        if not each.spirv.startswith(_MAGIC_NUMBERS):
            raise UrError(
                f"A program of {len(each.spirv)} bytes could not be built: it is no SPIR-V, which "
                "begins with the number 0x07230203.",
                code=UrResult.PROGRAM_BUILD_FAILURE,
                function="zeModuleCreate",
            )
    description = ffi.new("ze_module_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_MODULE_DESC
    description.format = lib.ZE_MODULE_FORMAT_IL_SPIRV
    contents = [ffi.from_buffer("uint8_t[]", each.spirv) for each in inputs]
    flags = [ffi.new("char[]", each.options.encode()) for each in inputs]
    description.inputSize = len(inputs[0].spirv)
    description.pInputModule = contents[0]
    description.pBuildFlags = flags[0]
    constants = [_constants(each.constants) for each in inputs]
    description.pConstants = constants[0].structure
    if len(inputs) > 1:
        several = ffi.new("ze_module_program_exp_desc_t *")
        several.stype = lib.ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC
        sizes = ffi.new("size_t[]", [len(each.spirv) for each in inputs])
        places = ffi.new("const uint8_t *[]", contents)
        flag_places = ffi.new("const char *[]", flags)
        several.count = len(inputs)
        several.inputSizes, several.pInputModules = sizes, places
        several.pBuildFlags = flag_places
        constant_places = ffi.new(
            "const ze_module_constants_t *[]", [each.structure for each in constants]
        )
        several.pConstants = constant_places
        description.pNext = several
    length = sum(len(each.spirv) for each in inputs)
    options = " | ".join(each.options for each in inputs)
    module = ffi.new("ze_module_handle_t *")
    log = ffi.new("ze_module_build_log_handle_t *")
    code = lib.zeModuleCreate(context, device, description, module, log)
    said = ""
    if log[0] != ffi.NULL and (code == 0 or _converts_nothing()):
        try:
            said = _log(log[0])
        except DeviceLostError:
            if code == 0:
                with suppress(UrError):  # the loss matters more
                    destroy(ModuleHandle(module[0]))
            raise
    if code in _BUILD_FAILED:
        raise UrError(
            f"A program of {length} bytes could not be built with the options {options!r}: "
            f"{said or 'the compiler gives no reason'}",
            code=UrResult.PROGRAM_BUILD_FAILURE,
            function="zeModuleCreate",
        )
    if code == ZeResult.ERROR_DEPENDENCY_UNAVAILABLE:
        raise UrError(
            f"A program of {length} bytes could not be built: "
            f"{said or 'the driver lacks what it compiles with'}",
            code=UrResult.COMPILER_NOT_AVAILABLE,
            function="zeModuleCreate",
        )
    check(code, "zeModuleCreate", f"The program has {length} bytes. {said}".rstrip(" ."))
    return ModuleHandle(module[0]), said


class _Constants(NamedTuple):
    """A structure, and what it points to."""

    structure: Any
    kept: tuple[Any, ...] = ()


def _constants(values: Mapping[int, bytes]) -> _Constants:
    if not values:
        return _Constants(ffi.NULL)
    structure = ffi.new("ze_module_constants_t *")
    numbers = ffi.new("uint32_t[]", list(values))
    contents = [ffi.from_buffer(value) for value in values.values()]
    places = ffi.new("const void *[]", contents)
    structure.numConstants = len(values)
    structure.pConstantIds, structure.pConstantValues = numbers, places
    return _Constants(structure, (numbers, contents, places))


def _converts_nothing() -> bool:
    """Whether the loader gives the driver's own handles.

    Where it converts them, between several drivers or when told to, the log of a failed build is
    left as it was (loader 1.32), and a call with it ends the process.
    """
    return len(loader.drivers()) == 1 and os.environ.get("ZE_ENABLE_LOADER_INTERCEPT", "0") == "0"


def _log(log: object) -> str:
    """What a log says, which is destroyed; nothing if the driver does not tell.

    A module is no worse for it, so the only error is DeviceLostError.
    """
    said = ""
    try:
        said = _text(log)
    except DeviceLostError:
        raise
    except UrError:
        pass
    finally:
        _destroy_log(log)
    return said


def _destroy_log(log: object) -> None:
    """Destroy a log; nobody keeps one that the driver does not take, hence a second attempt."""
    for _ in range(2):
        code = lib.zeModuleBuildLogDestroy(log)
        if code == ZeResult.ERROR_DEVICE_LOST:
            check(code, "zeModuleBuildLogDestroy")
        if code == 0:
            break


def _text(log: object) -> str:
    entry = "zeModuleBuildLogGetString"
    size = ffi.new("size_t *")
    check(lib.zeModuleBuildLogGetString(log, size, ffi.NULL), entry)
    room = ffi.new("char[]", int(size[0]) + 1)
    check(lib.zeModuleBuildLogGetString(log, size, room), entry)
    return str(ffi.string(room).decode(errors="replace")).strip()


def destroy(module: ModuleHandle) -> None:
    """Give a module back; its kernels must be gone."""
    check(lib.zeModuleDestroy(module), "zeModuleDestroy")


def kernel_names(module: ModuleHandle) -> list[str]:
    """The names of a module's kernels."""
    count = ffi.new("uint32_t *")
    check(lib.zeModuleGetKernelNames(module, count, ffi.NULL), "zeModuleGetKernelNames")
    names = ffi.new("char *[]", int(count[0]))
    found = ffi.cast("const char **", names)
    check(lib.zeModuleGetKernelNames(module, count, found), "zeModuleGetKernelNames")
    return [ffi.string(names[i]).decode() for i in range(count[0])]


def create_kernel(module: ModuleHandle, name: str) -> KernelHandle:
    """A kernel of a module, which may reach all USM through the pointers that it finds.

    Raises
    ------
    UrError
        With INVALID_KERNEL_NAME if the module has none of that name.
    """
    description = ffi.new("ze_kernel_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_KERNEL_DESC
    text = ffi.new("char[]", name.encode())
    description.pKernelName = text
    kernel = ffi.new("ze_kernel_handle_t *")
    detail = f"The kernel is {name!r}"
    check(lib.zeKernelCreate(module, description, kernel), "zeKernelCreate", detail)
    made = KernelHandle(kernel[0])
    try:
        set_indirect_access(made, True)
    except UrError:
        destroy_kernel(made)
        raise
    return made


def destroy_kernel(kernel: KernelHandle) -> None:
    """Give a kernel back; no launch of it may be under way."""
    check(lib.zeKernelDestroy(kernel), "zeKernelDestroy")


def set_indirect_access(kernel: KernelHandle, allowed: bool) -> None:
    """Whether a kernel may reach all USM through the pointers that it finds, or none."""
    everything = (
        lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST
        | lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE
        | lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED
    )
    code = lib.zeKernelSetIndirectAccess(kernel, everything if allowed else 0)
    check(code, "zeKernelSetIndirectAccess")


def kernel_name(kernel: KernelHandle) -> str:
    """The name of a kernel."""
    entry = "zeKernelGetName"
    size = ffi.new("size_t *")
    check(lib.zeKernelGetName(kernel, size, ffi.NULL), entry)
    room = ffi.new("char[]", int(size[0]) + 1)
    check(lib.zeKernelGetName(kernel, size, room), entry)
    return str(ffi.string(room).decode())


@dataclass(frozen=True, slots=True)
class KernelProperties:
    """What a kernel is like on its device; sizes of memory are bytes.

    Attributes
    ----------
    argument_count
        Its arguments.
    required_group_size
        Work-items of a group in each dimension; zeros if it takes any.
    required_sub_groups, required_sub_group_size
        Sub-groups of a group and their size; 0 if it takes any.
    max_sub_group_size, max_sub_groups
        The largest of these.
    local_memory, private_memory
        Of a group, and of a work-item.
    """

    argument_count: int
    required_group_size: tuple[int, int, int]
    required_sub_groups: int
    required_sub_group_size: int
    max_sub_group_size: int
    max_sub_groups: int
    local_memory: int
    private_memory: int


def kernel_properties(kernel: KernelHandle) -> KernelProperties:
    """The properties of a kernel."""
    found = ffi.new("ze_kernel_properties_t *")
    found.stype = lib.ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES
    check(lib.zeKernelGetProperties(kernel, found), "zeKernelGetProperties")
    return KernelProperties(
        argument_count=found.numKernelArgs,
        required_group_size=(
            found.requiredGroupSizeX,
            found.requiredGroupSizeY,
            found.requiredGroupSizeZ,
        ),
        required_sub_groups=found.requiredNumSubGroups,
        required_sub_group_size=found.requiredSubgroupSize,
        max_sub_group_size=found.maxSubgroupSize,
        max_sub_groups=found.maxNumSubgroups,
        local_memory=found.localMemSize,
        private_memory=found.privateMemSize,
    )


def set_argument(kernel: KernelHandle, index: int, size: int, value: bytes | None) -> None:
    """Set an argument of ``size`` bytes; without a value it is local memory."""
    pointer = ffi.NULL if value is None else ffi.from_buffer(value)
    code = lib.zeKernelSetArgumentValue(kernel, index, size, pointer)
    if code:
        check(code, "zeKernelSetArgumentValue", f"Argument {index} has {size} bytes")


def set_group_size(kernel: KernelHandle, sizes: tuple[int, int, int]) -> None:
    """Set the work-items of a group in each dimension."""
    code = lib.zeKernelSetGroupSize(kernel, *sizes)
    if code:
        check(code, "zeKernelSetGroupSize", f"The sizes are {sizes}{_requirement(kernel)}")


def _requirement(kernel: KernelHandle) -> str:
    """Which group size a kernel requires, as the end of a sentence; nothing if it takes any."""
    with suppress(UrError):
        required = kernel_properties(kernel).required_group_size
        if any(required):
            return f"; the kernel requires {required}"
    return ""


def suggest_group_size(kernel: KernelHandle, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """The group size that the driver suggests for so many work-items."""
    x, y, z = (ffi.new("uint32_t *") for _ in range(3))
    check(lib.zeKernelSuggestGroupSize(kernel, *sizes, x, y, z), "zeKernelSuggestGroupSize")
    return int(x[0]), int(y[0]), int(z[0])


def append_launch(
    command_list: CommandListHandle,
    kernel: KernelHandle,
    groups: tuple[int, int, int],
    signal: EventHandle | None = None,
    waits: EventArray | None = None,
) -> None:
    """Run a kernel with the arguments and group size that it has now."""
    code = lib.zeCommandListAppendLaunchKernel(
        command_list,
        kernel,
        ffi.new("ze_group_count_t *", groups),
        ffi.NULL if signal is None else signal,
        0 if waits is None else len(waits),
        ffi.NULL if waits is None else waits,
    )
    if code:
        check(code, "zeCommandListAppendLaunchKernel", f"There are {groups} groups")
