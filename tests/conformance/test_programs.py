# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and kernels. The software driver compiles none, so most of this needs another one."""

import struct
from collections.abc import Iterator

import pytest

from tests.helpers.spirv import fill_program
from urasync_l0 import Context, LocalMemory, Program, UrError, UrResult
from urasync_l0.launch import argument
from urasync_l0.result import UnsupportedFeatureError


@pytest.fixture
def program(context: Context) -> Iterator[Program]:
    """A program that is built."""
    try:
        built = context.create_program(fill_program())
    except UnsupportedFeatureError as error:
        pytest.skip(f"the driver compiles no programs: {error.message}")
    yield built
    built.close()


def test_the_software_driver_says_that_it_has_no_compiler(context: Context) -> None:
    if context.platform.devices[0].name != "urasync software device 0":
        pytest.skip("another driver than the software driver")
    program = Program(context, fill_program())
    with pytest.raises(UnsupportedFeatureError, match="zeModuleCreate"):
        program.build()
    assert not program.is_built
    with pytest.raises(UrError, match="must be built first"):
        program.kernel("fill")


def test_arguments_are_bytes() -> None:
    assert argument(struct.pack("i", 7)).value == b"\7\0\0\0"
    local = argument(LocalMemory(64))
    assert (local.size, local.value) == (64, None)
    with pytest.raises(TypeError, match="needs bytes"):
        argument(7)


def test_launch_in_order_with_an_allocation_and_its_free(
    context: Context, program: Program
) -> None:
    queue = context.create_queue()
    kernel = program.kernel("fill")
    assert program.kernel_names() == ["fill"]
    assert kernel.argument_count == 2
    memory = queue.alloc_device(256)
    launched = queue.launch(kernel, (64,), [memory, struct.pack("I", 7)], event=True)
    assert launched is not None
    assert launched.command.name == "KERNEL_LAUNCH"
    kernel.close()  # the launch under way keeps what it needs
    queue.free(memory)
    queue.finish()


def test_what_cannot_be_launched(context: Context, program: Program) -> None:
    queue = context.create_queue()
    kernel = program.kernel("fill")
    memory = queue.alloc_device(256)
    arguments = [memory, b"1234"]
    for wrong, code in (
        (lambda: program.kernel("none"), UrResult.INVALID_KERNEL_NAME),
        (lambda: queue.launch(kernel, (64,), [memory]), UrResult.INVALID_KERNEL_ARGS),
        (lambda: queue.launch(kernel, (), arguments), UrResult.INVALID_WORK_DIMENSION),
        (lambda: queue.launch(kernel, (0,), arguments), UrResult.INVALID_WORK_ITEM_SIZE),
        (
            lambda: queue.launch(kernel, (64,), arguments, local_size=(7,)),
            UrResult.INVALID_WORK_GROUP_SIZE,
        ),
        (lambda: program.build(), UrResult.INVALID_OPERATION),
    ):
        with pytest.raises(UrError) as caught:
            wrong()
        assert caught.value.code is code
    kernel.close()
    with pytest.raises(UrError, match="cannot be used any more"):
        queue.launch(kernel, (64,), arguments)
    queue.free(memory)
