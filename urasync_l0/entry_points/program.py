# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from urasync_l0 import reference_count
from urasync_l0.entry_points._handles import (
    close_unused,
    flags,
    handle,
    live_context,
    pointer,
)
from urasync_l0.enums import (
    ProgramBinaryType,
    ProgramBuildInfo,
    ProgramBuildStatus,
    ProgramInfo,
)
from urasync_l0.info import (
    BYTES,
    ENUMERATION,
    HANDLE,
    HANDLES,
    SIZE,
    STRING,
    UINT32,
    InfoTable,
    Property,
)
from urasync_l0.program import Program
from urasync_l0.result import (
    InvalidContextError,
    InvalidProgramError,
    InvalidSizeError,
    InvalidValueError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urasync_l0.context import Context
    from urasync_l0.descriptors import (
        NativeHandleProperties,
        ProgramProperties,
        SpecializationConstant,
    )
    from urasync_l0.device import Device
    from urasync_l0.out import Out


def live_program(program: Program) -> Program:
    """The program, which must not be closed."""
    if program.is_closed:
        raise InvalidProgramError(f"{program!r} cannot be used any more.")
    return program


def live_program_of(context: Context, program: Program) -> Program:
    """The program, which must not be closed, and belong to the context."""
    if live_program(program).context is not context:
        raise InvalidContextError(f"{program!r} belongs to another context than {context!r}.")
    return program


_INFO: InfoTable[Program] = InfoTable(
    {
        ProgramInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        ProgramInfo.CONTEXT: Property(HANDLE, lambda program: program.context),
        ProgramInfo.NUM_DEVICES: Property(UINT32, lambda program: len(program.context.devices)),
        ProgramInfo.DEVICES: Property(HANDLES, lambda program: tuple(program.context.devices)),
        ProgramInfo.IL: Property(BYTES, lambda program: program.spirv),
        ProgramInfo.NUM_KERNELS: Property(SIZE, lambda program: len(program.kernel_names())),
        ProgramInfo.KERNEL_NAMES: Property(
            STRING, lambda program: ";".join(program.kernel_names())
        ),
    },
    live=live_program,
)


class _Build(NamedTuple):
    program: Program

    def status(self) -> ProgramBuildStatus:
        if self.program.is_built:
            return ProgramBuildStatus.SUCCESS
        return ProgramBuildStatus.ERROR if self.program.log else ProgramBuildStatus.NONE

    def binary_type(self) -> ProgramBinaryType:
        built = self.program.is_built
        return ProgramBinaryType.EXECUTABLE if built else ProgramBinaryType.NONE


_BUILD_INFO: InfoTable[_Build] = InfoTable(
    {
        ProgramBuildInfo.STATUS: Property(ENUMERATION, _Build.status),
        ProgramBuildInfo.OPTIONS: Property(STRING, lambda build: build.program.options),
        ProgramBuildInfo.LOG: Property(STRING, lambda build: build.program.log),
        ProgramBuildInfo.BINARY_TYPE: Property(ENUMERATION, _Build.binary_type),
    },
    live=lambda build: live_program(build.program),
)


def _check_devices(
    context: Context, count: int, devices: Sequence[Device | None] | None, flags: int
) -> None:
    named = pointer(devices, "devices")
    _check_flags(flags, 0, "The flags of a build")
    if count != len(named):
        raise InvalidSizeError(f"{len(named)} devices are given; {count} are counted.")
    for device in named:
        context.member(handle(device, "device"))


def _link(
    context: Context,
    count: int,
    programs: Sequence[Program | None] | None,
    options: str | None,
    linked: Out[Program] | None,
) -> None:
    named = [handle(each, "program") for each in pointer(programs, "programs")]
    linked = pointer(linked, "linked program")
    live_context(context)
    if not count or count != len(named):
        raise InvalidSizeError(f"{len(named)} programs are given; {count} are counted.")
    if any(live_program(each).context is not context for each in named):
        raise InvalidContextError(f"A program belongs to another context than {context!r}.")
    linked.value = Program.link(named, options or "")


def _value(constant: SpecializationConstant) -> bytes:
    if constant.value is None or len(constant.value) != constant.size:
        there = "no" if constant.value is None else len(constant.value)
        raise InvalidValueError(
            f"The value of the specialisation constant {constant.id} is said to have "
            f"{constant.size} bytes; there are {there}."
        )
    return constant.value


class ProgramEntryPoints:
    """``urProgram…``."""

    def urProgramCreateWithIL(
        self,
        context: Context | None,
        il: bytes | None,
        length: int,
        properties: ProgramProperties | None,
        program: Out[Program] | None,
    ) -> None:
        """A program in SPIR-V, which must be built before it has kernels."""
        context = handle(context, "context")
        il = pointer(il, "il")
        program = pointer(program, "program")
        live_context(context)
        if not 0 < length <= len(il):
            raise InvalidSizeError(f"The program is said to have {length} bytes, of {len(il)}.")
        program.value = Program(context, il[:length])

    def urProgramCreateWithNativeHandle(
        self,
        native_program: int,
        context: Context | None,
        properties: NativeHandleProperties | None,
        program: Out[Program] | None,
    ) -> None:
        """A program over a module of Level Zero, which counts as built for all devices."""
        handle(native_program or None, "native program")
        context = handle(context, "context")
        program = pointer(program, "program")
        live_context(context)
        is_owned = properties is not None and properties.is_native_handle_owned
        program.value = Program.with_native_handle(context, native_program, is_owned)

    def urProgramSetSpecializationConstants(
        self,
        program: Program | None,
        count: int,
        constants: Sequence[SpecializationConstant] | None,
    ) -> None:
        """Values for specialisation constants of a program in SPIR-V, for later builds and
        compilations."""
        program = live_program(handle(program, "program"))
        given = pointer(constants, "constants")
        if not count or count != len(given):
            raise InvalidSizeError(f"{len(given)} constants are given; {count} are counted.")
        program.set_constants({each.id: _value(each) for each in given})

    def urProgramBuild(
        self, context: Context | None, program: Program | None, options: str | None
    ) -> None:
        """Compile a program for all devices of its context."""
        context = handle(context, "context")
        program = handle(program, "program")
        live_context(context)
        live_program_of(context, program).build(options or "")

    def urProgramBuildExp(
        self,
        program: Program | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        options: str | None,
    ) -> None:
        """Compile a program for devices, which must be among those of its context; in fact, for all
        of them."""
        program = live_program(handle(program, "program"))
        _check_devices(program.context, num_devices, devices, flags)
        program.build(options or "")

    def urProgramCompile(
        self, context: Context | None, program: Program | None, options: str | None
    ) -> None:
        """Note the options of a program that is to be linked: compiling comes with that."""
        context = handle(context, "context")
        program = handle(program, "program")
        live_context(context)
        live_program_of(context, program).compile(options or "")

    def urProgramCompileExp(
        self,
        program: Program | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        options: str | None,
    ) -> None:
        """As `urProgramCompile`; the devices must be among those of the program's context."""
        program = live_program(handle(program, "program"))
        _check_devices(program.context, num_devices, devices, flags)
        program.compile(options or "")

    def urProgramLink(
        self,
        context: Context | None,
        count: int,
        programs: Sequence[Program | None] | None,
        options: str | None,
        program: Out[Program] | None,
    ) -> None:
        """One program of several that were compiled, built for all devices of the context."""
        _link(handle(context, "context"), count, programs, options, program)

    def urProgramLinkExp(
        self,
        context: Context | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        count: int,
        programs: Sequence[Program | None] | None,
        options: str | None,
        program: Out[Program] | None,
    ) -> None:
        """As `urProgramLink`; the devices must be among those of the context."""
        context = handle(context, "context")
        pointer(devices, "devices")
        pointer(programs, "programs")
        pointer(program, "program")
        live_context(context)
        _check_devices(context, num_devices, devices, flags)
        _link(context, count, programs, options, program)

    def urProgramGetNativeHandle(
        self, program: Program | None, native_program: Out[int] | None
    ) -> None:
        """The module of a program that is built, for its context's first device."""
        program = handle(program, "program")
        native_program = pointer(native_program, "native_program")
        native_program.value = live_program(program).native_handle

    def urProgramRetain(self, program: Program | None) -> None:
        """Add a reference."""
        reference_count.retain(live_program(handle(program, "program")))

    def urProgramRelease(self, program: Program | None) -> None:
        """Give a reference back. After the last one the program is closed; its kernels stay."""
        released = live_program(handle(program, "program"))
        reference_count.release(released, released.close)
        close_unused(released.context)

    def urProgramGetInfo(
        self,
        program: Program | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ProgramInfo`."""
        _INFO.answer(handle(program, "program"), prop_name, prop_size, prop_value, prop_size_ret)

    def urProgramGetBuildInfo(
        self,
        program: Program | None,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ProgramBuildInfo`."""
        asked = _Build(handle(program, "program"))
        handle(device, "device")
        _BUILD_INFO.answer(asked, prop_name, prop_size, prop_value, prop_size_ret)


_check_flags = flags  # the entries' arguments have the name of the function
