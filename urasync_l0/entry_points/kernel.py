# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of kernels and their launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from urasync_l0 import reference_count
from urasync_l0.buffer import Buffer
from urasync_l0.entry_points._handles import (
    close_unused,
    handle,
    live_buffer,
    live_context,
    live_queue,
    pointer,
    wait_list,
    write_event,
)
from urasync_l0.entry_points.program import live_program, live_program_of
from urasync_l0.enums import (
    KernelArgType,
    KernelExecInfo,
    KernelGroupInfo,
    KernelInfo,
    KernelSubGroupInfo,
)
from urasync_l0.info import HANDLE, SIZE, SIZES, STRING, UINT32, InfoTable, Property
from urasync_l0.launch import Argument, plan_launch
from urasync_l0.program import Kernel, Program
from urasync_l0.result import (
    InvalidKernelArgumentsError,
    InvalidKernelError,
    InvalidSizeError,
    UnsupportedEnumerationError,
    UnsupportedFeatureError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urasync_l0.context import Context
    from urasync_l0.descriptors import (
        KernelArg,
        KernelLaunchExtProperties,
        NativeHandleProperties,
    )
    from urasync_l0.device import Device
    from urasync_l0.entry_points.parameters import EventList
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.ze.module import KernelProperties


def _live_kernel(kernel: Kernel) -> Kernel:
    if kernel.is_closed:
        raise InvalidKernelError(f"{kernel!r} cannot be used any more.")
    return kernel


_KERNEL_INFO: InfoTable[Kernel] = InfoTable(
    {
        KernelInfo.FUNCTION_NAME: Property(STRING, lambda kernel: kernel.name),
        KernelInfo.NUM_ARGS: Property(UINT32, lambda kernel: kernel.argument_count),
        KernelInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        KernelInfo.CONTEXT: Property(HANDLE, lambda kernel: kernel.program.context),
        KernelInfo.PROGRAM: Property(HANDLE, lambda kernel: kernel.program),
    },
    live=_live_kernel,
)


class _OnDevice(NamedTuple):
    kernel: Kernel
    device: Device

    @property
    def properties(self) -> KernelProperties:
        return self.kernel.properties(self.device)

    def group_size(self) -> int:
        return self.device.compute.max_total_group_size


_GROUP_INFO: InfoTable[_OnDevice] = InfoTable(
    {
        KernelGroupInfo.WORK_GROUP_SIZE: Property(SIZE, _OnDevice.group_size),
        KernelGroupInfo.COMPILE_WORK_GROUP_SIZE: Property(
            SIZES, lambda asked: asked.properties.required_group_size
        ),
        KernelGroupInfo.LOCAL_MEM_SIZE: Property(SIZE, lambda asked: asked.properties.local_memory),
        KernelGroupInfo.PREFERRED_WORK_GROUP_SIZE_MULTIPLE: Property(
            SIZE, lambda asked: max(asked.properties.max_sub_group_size, 1)
        ),
        KernelGroupInfo.PRIVATE_MEM_SIZE: Property(
            SIZE, lambda asked: asked.properties.private_memory
        ),
    }
)

_SUB_GROUP_INFO: InfoTable[_OnDevice] = InfoTable(
    {
        KernelSubGroupInfo.MAX_SUB_GROUP_SIZE: Property(
            UINT32, lambda asked: asked.properties.max_sub_group_size
        ),
        KernelSubGroupInfo.MAX_NUM_SUB_GROUPS: Property(
            UINT32, lambda asked: asked.properties.max_sub_groups
        ),
        KernelSubGroupInfo.COMPILE_NUM_SUB_GROUPS: Property(
            UINT32, lambda asked: asked.properties.required_sub_groups
        ),
        KernelSubGroupInfo.SUB_GROUP_SIZE_INTEL: Property(
            UINT32, lambda asked: asked.properties.required_sub_group_size
        ),
    }
)


class KernelEntryPoints:
    """``urKernel…`` and the launch."""

    def urKernelCreate(
        self, program: Program | None, kernel_name: str | None, kernel: Out[Kernel] | None
    ) -> None:
        """A kernel of a program that is built."""
        program = handle(program, "program")
        name = pointer(kernel_name, "kernel_name")
        kernel = pointer(kernel, "kernel")
        kernel.value = live_program(program).kernel(name)

    def urKernelCreateWithNativeHandle(
        self,
        native_kernel: int,
        context: Context | None,
        program: Program | None,
        properties: NativeHandleProperties | None,
        kernel: Out[Kernel] | None,
    ) -> None:
        """A kernel over one of Level Zero, which belongs to the program's module."""
        handle(native_kernel or None, "native kernel")
        context = handle(context, "context")
        program = handle(program, "program")
        kernel = pointer(kernel, "kernel")
        live_context(context)
        live_program_of(context, program)
        is_owned = properties is not None and properties.is_native_handle_owned
        kernel.value = program.kernel_with_native_handle(native_kernel, is_owned)

    def urKernelGetNativeHandle(
        self, kernel: Kernel | None, native_kernel: Out[int] | None
    ) -> None:
        """The kernel of Level Zero, for the context's first device."""
        kernel = handle(kernel, "kernel")
        native_kernel = pointer(native_kernel, "native_kernel")
        native_kernel.value = _live_kernel(kernel).native_handle

    def urKernelRetain(self, kernel: Kernel | None) -> None:
        """Add a reference."""
        reference_count.retain(_live_kernel(handle(kernel, "kernel")))

    def urKernelRelease(self, kernel: Kernel | None) -> None:
        """Give a reference back. After the last one the kernel is closed; launches go on."""
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
        """A `KernelInfo`."""
        _KERNEL_INFO.answer(
            handle(kernel, "kernel"), prop_name, prop_size, prop_value, prop_size_ret
        )

    def urKernelGetGroupInfo(
        self,
        kernel: Kernel | None,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `KernelGroupInfo`."""
        asked = _on_device(kernel, device)
        _GROUP_INFO.answer(asked, prop_name, prop_size, prop_value, prop_size_ret)

    def urKernelGetSubGroupInfo(
        self,
        kernel: Kernel | None,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `KernelSubGroupInfo`."""
        asked = _on_device(kernel, device)
        _SUB_GROUP_INFO.answer(asked, prop_name, prop_size, prop_value, prop_size_ret)

    def urKernelSetExecInfo(
        self,
        kernel: Kernel | None,
        prop_name: int,
        prop_size: int,
        properties: Any,
        prop_value: int | None,
    ) -> None:
        """Say what later launches do: a `KernelExecInfo`. Pointers in a list are not looked at: the
        kernel may then reach all memory."""
        kernel = handle(kernel, "kernel")
        value = pointer(prop_value, "prop_value")
        _live_kernel(kernel)
        if prop_name == KernelExecInfo.USM_INDIRECT_ACCESS:
            kernel.set_indirect_access(bool(value & 1))
        elif prop_name == KernelExecInfo.USM_PTRS:
            kernel.set_indirect_access(True)  # Level Zero cannot be told which pointers
        else:
            raise UnsupportedEnumerationError(f"There is no property {prop_name:#x} to be set.")

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
        """Run a kernel with all its arguments."""
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


def _on_device(kernel: Kernel | None, device: Device | None) -> _OnDevice:
    found = _live_kernel(handle(kernel, "kernel"))
    return _OnDevice(found, found.program.context.member(handle(device, "device")))


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
