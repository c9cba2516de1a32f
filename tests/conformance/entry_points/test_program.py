# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``urProgram…``, ``urKernel…`` and the launch."""

from typing import Any

import pytest

from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.spirv import fill_program
from urasync_l0 import Context, Kernel, Program, UrError, UrResult, UsmType
from urasync_l0.buffer import Buffer
from urasync_l0.descriptors import KernelArg
from urasync_l0.entry_points.program import _arguments
from urasync_l0.enums import KernelArgType, KernelInfo, ProgramInfo
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
