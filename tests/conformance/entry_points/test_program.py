# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``urProgram…``, ``urKernel…`` and the launch."""

import struct
from typing import Any

import pytest

from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.spirv import add_program, fill_program, special_program
from urasync_l0 import Context, Kernel, Program, UrError, UrResult, UsmType
from urasync_l0.buffer import Buffer
from urasync_l0.descriptors import KernelArg, SpecializationConstant
from urasync_l0.entry_points.kernel import _arguments
from urasync_l0.enums import (
    KernelArgType,
    KernelExecInfo,
    KernelGroupInfo,
    KernelInfo,
    KernelSubGroupInfo,
    ProgramInfo,
)
from urasync_l0.out import Out
from urasync_l0.result import InvalidKernelArgumentsError, UnsupportedFeatureError


def test_arguments_of_the_entry_stand_by_their_index() -> None:
    kernel = object.__new__(Kernel)
    kernel.name, kernel._is_closed = "made up", False
    given = [
        KernelArg(KernelArgType.POINTER, 1, value=0x1000),
        KernelArg(KernelArgType.VALUE, 0, 4, b"1234"),
        KernelArg(KernelArgType.LOCAL, 2, 32),
    ]
    made = _arguments(kernel, given)
    assert [(each.size, each.value) for each in made] == [
        (4, b"1234"),
        (8, (0x1000).to_bytes(8, "little")),
        (32, None),
    ]
    with pytest.raises(InvalidKernelArgumentsError, match="once"):
        _arguments(kernel, [given[0], given[2]])
    with pytest.raises(UnsupportedFeatureError, match="sampler"):
        _arguments(kernel, [KernelArg(KernelArgType.SAMPLER, 0)])


def test_a_buffer_is_an_argument_by_its_address(client: Client, context: Context) -> None:
    made: Out[Buffer] = Out()
    client.adapter.urMemBufferCreate(context, 0, 64, None, made)
    kernel = object.__new__(Kernel)
    buffer = written(made)
    null, given = _arguments(
        kernel,
        [KernelArg(KernelArgType.MEM_OBJ, 0), KernelArg(KernelArgType.MEM_OBJ, 1, value=buffer)],
    )
    assert (null.size, null.value) == (8, bytes(8))
    assert (given.size, given.value) == (8, buffer.address.to_bytes(8, "little"))
    client.adapter.urMemRelease(buffer)
    with refused(UrResult.INVALID_MEM_OBJECT):
        _arguments(kernel, [KernelArg(KernelArgType.MEM_OBJ, 0, value=buffer)])


def test_entries(client: Client, context: Context) -> None:
    adapter = client.adapter
    made: Out[Program] = Out()
    il = fill_program()
    adapter.urProgramCreateWithIL(context, il, len(il), None, made)
    program = written(made)
    other = Context(client.adapter.name)
    with refused(UrResult.INVALID_CONTEXT):
        adapter.urProgramBuild(other, program, None)
    other.close()
    try:
        adapter.urProgramBuild(context, program, "")
    except UrError as error:
        adapter.urProgramRelease(program)
        if error.code is not UrResult.COMPILER_NOT_AVAILABLE:
            raise
        pytest.skip(error.message)
    kernel: Out[Kernel] = Out()
    adapter.urKernelCreate(program, "fill", kernel)
    answer: Out[Any] = Out()
    adapter.urKernelGetInfo(written(kernel), KernelInfo.PROGRAM, 8, answer, None)
    assert written(answer) is program
    adapter.urProgramGetInfo(program, ProgramInfo.KERNEL_NAMES, 64, answer, None)
    assert answer.value == "fill"
    queue = client.create_queue(context, context.devices[0])
    mem, allocated = client.alloc(queue, UsmType.DEVICE, 256)
    arguments = [
        KernelArg(KernelArgType.POINTER, 0, 8, mem),
        KernelArg(KernelArgType.VALUE, 1, 4, b"1234"),
    ]
    event: Out[Any] = Out()
    launch = adapter.urEnqueueKernelLaunchWithArgsExp
    listed = waits([allocated])
    launch(queue, kernel.value, 1, None, (64,), (1,), 2, arguments, None, *listed, event)
    client.release(allocated, written(event))
    client.free_only(queue, mem)
    adapter.urKernelRelease(kernel.value)
    adapter.urProgramRelease(program)
    adapter.urQueueRelease(queue)
    with refused(UrResult.INVALID_PROGRAM):
        adapter.urKernelCreate(program, "fill", Out())


def with_il(client: Client, context: Context, il: bytes) -> Program:
    made: Out[Program] = Out()
    client.adapter.urProgramCreateWithIL(context, il, len(il), None, made)
    return written(made)


def built(client: Client, context: Context, il: bytes) -> Program:
    """A program that is built; skips the test where there is no compiler."""
    program = with_il(client, context, il)
    try:
        client.adapter.urProgramBuildExp(program, 1, context.devices[:1], 0, None)
    except UrError as error:
        client.adapter.urProgramRelease(program)
        if error.code is not UrResult.COMPILER_NOT_AVAILABLE:
            raise
        pytest.skip(error.message)
    return program


def test_programs_are_compiled_and_linked(client: Client, context: Context) -> None:
    adapter = client.adapter
    adapter.urProgramRelease(built(client, context, fill_program()))
    parts = [with_il(client, context, il) for il in (fill_program(), add_program())]
    linked: Out[Program] = Out()
    with refused(UrResult.INVALID_PROGRAM):
        adapter.urProgramLink(context, 2, parts, None, linked)  # not compiled yet
    adapter.urProgramCompile(context, parts[0], "")
    adapter.urProgramCompileExp(parts[1], 1, context.devices[:1], 0, None)
    with refused(UrResult.INVALID_SIZE):
        adapter.urProgramLink(context, 1, parts, None, linked)
    adapter.urProgramLinkExp(context, 1, context.devices[:1], 0, 2, parts, None, linked)
    program = written(linked)
    answer: Out[Any] = Out()
    adapter.urProgramGetInfo(program, ProgramInfo.KERNEL_NAMES, 64, answer, None)
    assert answer.value == "fill;add"
    with refused(UrResult.INVALID_OPERATION):
        adapter.urProgramCompile(context, program, None)
    for each in (*parts, program):
        adapter.urProgramRelease(each)


def test_constants_are_checked_before_they_are_set(client: Client, context: Context) -> None:
    adapter = client.adapter
    program = with_il(client, context, special_program())
    set_constants = adapter.urProgramSetSpecializationConstants
    right = SpecializationConstant(7, 4, struct.pack("I", 70))
    for count, given, code in (
        (0, [], UrResult.INVALID_SIZE),
        (2, [right], UrResult.INVALID_SIZE),
        (1, [SpecializationConstant(7, 4, None)], UrResult.INVALID_VALUE),
        (1, [SpecializationConstant(7, 8, bytes(8))], UrResult.INVALID_VALUE),
        (1, [SpecializationConstant(7, 4, bytes(3))], UrResult.INVALID_VALUE),
        (2, [right, SpecializationConstant(8, 4, bytes(4))], UrResult.INVALID_VALUE),
        (2, [right, SpecializationConstant(9, 4, bytes(4))], UrResult.INVALID_SPEC_ID),
    ):
        with refused(code):
            set_constants(program, count, given)
    assert program.constants == {}
    set_constants(program, 1, [right])
    assert program.constants == {7: struct.pack("I", 70)}
    adapter.urProgramRelease(program)
    with refused(UrResult.INVALID_PROGRAM):
        set_constants(program, 1, [right])


@pytest.mark.needs_execution("data is read back")
def test_constants_apply_to_the_next_build_or_compilation(client: Client, context: Context) -> None:
    adapter = client.adapter
    built(client, context, fill_program()).close()  # there is a compiler
    queue = client.create_queue(context, context.devices[0])
    mem, allocated = client.alloc(queue, UsmType.SHARED, 256)
    adapter.urEventWait(1, [allocated])
    client.release(allocated)

    def run(program: Program) -> int:
        kernel: Out[Kernel] = Out()
        adapter.urKernelCreate(program, "special", kernel)
        launch = adapter.urEnqueueKernelLaunchWithArgsExp
        argument = KernelArg(KernelArgType.POINTER, 0, 8, mem)
        launch(
            queue, kernel.value, 1, None, (64,), None, 1, [argument], None, 0, None, None
        )  # fmt: skip
        adapter.urQueueFinish(queue)
        adapter.urKernelRelease(kernel.value)
        adapter.urProgramRelease(program)
        first, *others = struct.unpack("64I", client.read(queue, mem, 256))
        assert set(others) == {first}
        return int(first)

    def constant(number: int, value: bytes) -> list[SpecializationConstant]:
        return [SpecializationConstant(number, len(value), value)]

    assert run(built(client, context, special_program())) == 65
    program = with_il(client, context, special_program())
    adapter.urProgramSetSpecializationConstants(program, 1, constant(7, struct.pack("I", 7)))
    adapter.urProgramSetSpecializationConstants(program, 1, constant(8, struct.pack("Q", 400)))
    adapter.urProgramBuild(context, program, None)
    with refused(UrResult.INVALID_OPERATION):
        adapter.urProgramSetSpecializationConstants(program, 1, constant(7, bytes(4)))
    assert run(program) == 407
    # Each of two programs has its own; what comes after its compilation is too late.
    parts = [with_il(client, context, il) for il in (fill_program(), special_program())]
    adapter.urProgramSetSpecializationConstants(parts[1], 1, constant(7, struct.pack("I", 9)))
    for each in parts:
        adapter.urProgramCompile(context, each, None)
    adapter.urProgramSetSpecializationConstants(parts[1], 1, constant(7, struct.pack("I", 8)))
    linked: Out[Program] = Out()
    adapter.urProgramLink(context, 2, parts, None, linked)
    for each in parts:
        adapter.urProgramRelease(each)
    assert run(written(linked)) == 69
    client.free_only(queue, mem)
    adapter.urQueueRelease(queue)


def test_a_kernel_has_properties_on_a_device(client: Client, context: Context) -> None:
    adapter = client.adapter
    program = built(client, context, fill_program())
    made: Out[Kernel] = Out()
    adapter.urKernelCreate(program, "fill", made)
    kernel = written(made)
    device = context.devices[0]
    answer: Out[Any] = Out()
    found: dict[KernelGroupInfo, Any] = {}
    for group in KernelGroupInfo:
        adapter.urKernelGetGroupInfo(kernel, device, group, 24, answer, None)
        found[group] = answer.value
    for sub_group in KernelSubGroupInfo:
        adapter.urKernelGetSubGroupInfo(kernel, device, sub_group, 4, answer, None)
        assert answer.value >= (sub_group < KernelSubGroupInfo.COMPILE_NUM_SUB_GROUPS)
    assert found[KernelGroupInfo.WORK_GROUP_SIZE] == device.compute.max_total_group_size
    assert found[KernelGroupInfo.COMPILE_WORK_GROUP_SIZE] == (0, 0, 0)
    assert found[KernelGroupInfo.PREFERRED_WORK_GROUP_SIZE_MULTIPLE] >= 1
    with refused(UrResult.UNSUPPORTED_ENUMERATION):
        adapter.urKernelGetGroupInfo(kernel, device, 99, 8, answer, None)
    adapter.urKernelSetExecInfo(kernel, KernelExecInfo.USM_INDIRECT_ACCESS, 1, None, 0)
    adapter.urKernelSetExecInfo(kernel, KernelExecInfo.USM_PTRS, 8, None, 4096)
    with refused(UrResult.UNSUPPORTED_ENUMERATION):
        adapter.urKernelSetExecInfo(kernel, 2, 4, None, 1)
    adapter.urKernelRelease(kernel)
    adapter.urProgramRelease(program)


def test_native_programs_and_kernels_are_shared(client: Client, context: Context) -> None:
    adapter = client.adapter
    program = built(client, context, fill_program())
    kernel: Out[Kernel] = Out()
    adapter.urKernelCreate(program, "fill", kernel)
    native: Out[int] = Out()
    adapter.urProgramGetNativeHandle(program, native)
    theirs: Out[Program] = Out()
    with refused(UrResult.INVALID_NULL_HANDLE):
        adapter.urProgramCreateWithNativeHandle(0, context, None, theirs)
    adapter.urProgramCreateWithNativeHandle(written(native), context, None, theirs)
    adapter.urKernelGetNativeHandle(written(kernel), native)
    second: Out[Kernel] = Out()
    adapter.urKernelCreateWithNativeHandle(written(native), context, theirs.value, None, second)
    assert (written(second).name, written(second).argument_count) == ("fill", 2)
    queue = client.create_queue(context, context.devices[0])
    mem, allocated = client.alloc(queue, UsmType.DEVICE, 256)
    arguments = [
        KernelArg(KernelArgType.POINTER, 0, 8, mem),
        KernelArg(KernelArgType.VALUE, 1, 4, b"1234"),
    ]
    launch = adapter.urEnqueueKernelLaunchWithArgsExp
    launch(queue, second.value, 1, None, (64,), None, 2, arguments, None, *waits([allocated]), None)
    client.release(allocated)
    client.free_only(queue, mem)
    adapter.urQueueFinish(queue)  # nobody but the first owner keeps the native kernel
    for each in (second.value, kernel.value):
        adapter.urKernelRelease(each)
    for one in (theirs.value, program):
        adapter.urProgramRelease(one)
    adapter.urQueueRelease(queue)
