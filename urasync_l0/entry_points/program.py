# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of programs and kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from urasync_l0 import reference_count
from urasync_l0.buffer import Buffer
from urasync_l0.entry_points._handles import (
    close_unused,
    flags,
    handle,
    live_buffer,
    live_context,
    live_queue,
    pointer,
    wait_list,
    write_event,
)
from urasync_l0.enums import (
    KernelArgType,
    KernelInfo,
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
from urasync_l0.launch import Argument, plan_launch
from urasync_l0.program import Kernel, Program
from urasync_l0.result import (
    InvalidContextError,
    InvalidKernelArgumentsError,
    InvalidKernelError,
    InvalidProgramError,
    InvalidSizeError,
    UnsupportedFeatureError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urasync_l0.adapter import EventList
    from urasync_l0.context import Context
    from urasync_l0.descriptors import KernelArg, KernelLaunchExtProperties, ProgramProperties
    from urasync_l0.device import Device
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event


def _live_program(program: Program) -> Program:
    if program.is_closed:
        raise InvalidProgramError(f"{program!r} cannot be used any more.")
    return program


def _live_kernel(kernel: Kernel) -> Kernel:
    if kernel.is_closed:
        raise InvalidKernelError(f"{kernel!r} cannot be used any more.")
    return kernel


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
    live=_live_program,
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
    live=lambda build: _live_program(build.program),
)

_KERNEL_INFO: InfoTable[Kernel] = InfoTable(
    {
        KernelInfo.FUNCTION_NAME: Property(STRING, lambda kernel: kernel.name),
        KernelInfo.NUM_ARGS: Property(SIZE, lambda kernel: kernel.argument_count),
        KernelInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        KernelInfo.CONTEXT: Property(HANDLE, lambda kernel: kernel.program.context),
        KernelInfo.PROGRAM: Property(HANDLE, lambda kernel: kernel.program),
    },
    live=_live_kernel,
)


class ProgramEntryPoints:
    """``urProgram…``, ``urKernel…`` and the launch."""

    def urProgramCreateWithIL(
        self,
        context: Context | None,
        il: bytes | None,
        length: int,
        properties: ProgramProperties | None,
        program: Out[Program] | None,
    ) -> None:
        """See `Adapter`."""
        context = handle(context, "context")
        il = pointer(il, "il")
        program = pointer(program, "program")
        live_context(context)
        if not 0 < length <= len(il):
            raise InvalidSizeError(f"The program is said to have {length} bytes, of {len(il)}.")
        program.value = Program(context, il[:length])

    def urProgramBuild(
        self, context: Context | None, program: Program | None, options: str | None
    ) -> None:
        """See `Adapter`."""
        context = handle(context, "context")
        program = handle(program, "program")
        live_context(context)
        if _live_program(program).context is not context:
            raise InvalidContextError(f"{program!r} belongs to another context than {context!r}.")
        program.build(options or "")

    def urProgramBuildExp(
        self,
        program: Program | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        options: str | None,
    ) -> None:
        """See `Adapter`."""
        program = handle(program, "program")
        named = pointer(devices, "devices")
        _check_flags(flags, 0, "The flags of a build")
        if num_devices != len(named):
            raise InvalidSizeError(f"{len(named)} devices are given; {num_devices} are counted.")
        for device in named:
            _live_program(program).context.member(handle(device, "device"))
        program.build(options or "")

    def urProgramRetain(self, program: Program | None) -> None:
        """See `Adapter`."""
        reference_count.retain(_live_program(handle(program, "program")))

    def urProgramRelease(self, program: Program | None) -> None:
        """See `Adapter`."""
        released = _live_program(handle(program, "program"))
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
        """See `Adapter`."""
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
        """See `Adapter`."""
        asked = _Build(handle(program, "program"))
        handle(device, "device")
        _BUILD_INFO.answer(asked, prop_name, prop_size, prop_value, prop_size_ret)

    def urKernelCreate(
        self, program: Program | None, kernel_name: str | None, kernel: Out[Kernel] | None
    ) -> None:
        """See `Adapter`."""
        program = handle(program, "program")
        name = pointer(kernel_name, "kernel_name")
        kernel = pointer(kernel, "kernel")
        kernel.value = _live_program(program).kernel(name)

    def urKernelRetain(self, kernel: Kernel | None) -> None:
        """See `Adapter`."""
        reference_count.retain(_live_kernel(handle(kernel, "kernel")))

    def urKernelRelease(self, kernel: Kernel | None) -> None:
        """See `Adapter`."""
        released = _live_kernel(handle(kernel, "kernel"))
        reference_count.release(released, released.close)
        close_unused(released.program.context)

    def urKernelGetInfo(
        self,
        kernel: Kernel | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """See `Adapter`."""
        _KERNEL_INFO.answer(
            handle(kernel, "kernel"), prop_name, prop_size, prop_value, prop_size_ret
        )

    def urEnqueueKernelLaunchWithArgsExp(
        self,
        queue: Queue | None,
        kernel: Kernel | None,
        work_dim: int,
        global_work_offset: Sequence[int] | None,
        global_work_size: Sequence[int] | None,
        local_work_size: Sequence[int] | None,
        num_args: int,
        args: Sequence[KernelArg] | None,
        launch_prop_list: KernelLaunchExtProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """See `Adapter`."""
        queue = handle(queue, "queue")
        kernel = handle(kernel, "kernel")
        sizes = pointer(global_work_size, "global_work_size")
        if num_args:
            pointer(args, "args")
        live_queue(queue)
        _live_kernel(kernel)
        if num_args != len(args or ()):
            raise InvalidSizeError(
                f"{len(args or ())} arguments are given; {num_args} are counted."
            )
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        if launch_prop_list is not None and launch_prop_list.flags:
            raise UnsupportedFeatureError(
                f"{kernel!r} cannot be launched with the flags {launch_prop_list.flags:#x}."
            )
        if global_work_offset is not None and any(global_work_offset):
            raise UnsupportedFeatureError(
                f"{kernel!r} cannot be launched with the offset {tuple(global_work_offset)}."
            )
        step = plan_launch(queue, kernel, sizes, _arguments(kernel, args or ()), local_work_size)
        write_event(event, queue.run(step, waits, event is not None))


def _arguments(kernel: Kernel, given: Sequence[KernelArg]) -> list[Argument]:
    """The arguments in their order; each must be there once."""
    indexes = sorted(each.index for each in given)
    if indexes != list(range(len(given))):
        raise InvalidKernelArgumentsError(
            f"{kernel!r} is launched with the arguments {indexes}; each must be there once."
        )
    return [_argument(each) for each in sorted(given, key=lambda each: each.index)]


def _argument(given: KernelArg) -> Argument:
    if given.type == KernelArgType.VALUE and isinstance(given.value, bytes):
        return Argument(given.size, given.value[: given.size])
    if given.type == KernelArgType.POINTER and not isinstance(given.value, bytes | Buffer):
        # A null pointer is an argument like any other.
        return Argument(8, (given.value or 0).to_bytes(8, "little"))
    if given.type == KernelArgType.LOCAL:
        return Argument(given.size, None)
    if given.type == KernelArgType.MEM_OBJ and not isinstance(given.value, bytes):
        found = given.value
        place = live_buffer(found).address if isinstance(found, Buffer) else found or 0
        return Argument(8, place.to_bytes(8, "little"))
    if given.type == KernelArgType.SAMPLER:
        raise UnsupportedFeatureError(
            f"Argument {given.index} is a sampler; kernels take values, pointers, buffers and "
            "local memory."
        )
    raise InvalidKernelArgumentsError(f"Argument {given.index} has no value of type {given.type}.")


_check_flags = flags  # the entries' arguments have the name of the function
