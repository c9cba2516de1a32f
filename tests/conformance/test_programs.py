# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and kernels: what they do to memory, and in which order."""

import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.helpers.gates import hold
from tests.helpers.kernels import build, kernel_touching
from tests.helpers.readback import as_copied
from tests.helpers.spirv import add_program, fill_program, grouped_program, special_program
from tests.helpers.usm import KINDS, alloc, finish, read
from urasync_l0 import Context, Kernel, LocalMemory, Program, Queue, UrError, UrResult, UsmType
from urasync_l0.enums import QueueFlag
from urasync_l0.launch import argument
from urasync_l0.ze import module as ze_module

if TYPE_CHECKING:
    from urasync_l0.allocation import Allocation
    from urasync_l0.software_driver.controls import Controls

ITEMS = 64
SIZE = 4 * ITEMS

MakeKernel = Callable[..., Kernel]

READS_DATA = pytest.mark.needs_execution("data is read back")


@pytest.fixture
def program(context: Context) -> Iterator[Program]:
    """A program that is built, with the kernels of `tests.helpers.spirv`."""
    built = build(context)
    yield built
    built.close()


@pytest.fixture
def make_kernel(program: Program, _session_controls: "Controls | None") -> MakeKernel:
    """Makes a kernel that uses so many bytes of each argument that is a pointer."""
    return lambda name, *sizes: kernel_touching(program, name, sizes, _session_controls)


def number(value: int) -> bytes:
    return struct.pack("I", value)


def numbers(queue: Queue, memory: "Allocation") -> list[int]:
    """What is there when the queue has come that far."""
    content = read(queue, memory)
    return list(struct.unpack(f"{len(content) // 4}I", content))


# The driver that has no compiler

WITHOUT_RUNTIME = """
import sys
sys.path[:] = {path!r}
from urasync_l0 import Context, Program, UrError
from tests.helpers.spirv import fill_program

context = Context({adapter!r}, "software")
program = Program(context, fill_program())
try:
    program.build()
except UrError as error:
    print(error.code.name)
    print(error.message)
    assert program.log == error.message, program.log
assert not program.is_built
with context.create_queue() as queue:
    with queue.alloc_device(4096):
        pass
    queue.finish()
print("goes on")
"""


def test_without_a_runtime_the_message_says_what_to_do(adapter: str) -> None:
    settings = {
        "URASYNC_L0_OPENCL": "/nowhere/libruntime.so",
        "OCL_ICD_FILENAMES": "/nowhere/libother.so",
        "OCL_ICD_VENDORS": "/nowhere",
    }
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_RUNTIME.format(path=sys.path, adapter=adapter)],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    code, *message, last = run.stdout.splitlines()
    assert (code, last) == ("COMPILER_NOT_AVAILABLE", "goes on")
    text = "\n".join(message)
    at = 0
    for part in (  # in this order, in which they are tried
        "URASYNC_L0_OPENCL is '/nowhere/libruntime.so'.",
        "/nowhere/libother.so cannot be loaded",
        "libOpenCL.so.1",
        "pip install 'urasync-l0[kernels]'",
    ):
        assert part in text[at:], text
        at = text.index(part, at)


# Arguments


def test_arguments_are_bytes() -> None:
    assert argument(struct.pack("i", 7)).value == b"\7\0\0\0"
    local = argument(LocalMemory(64))
    assert (local.size, local.value) == (64, None)
    with pytest.raises(TypeError, match="needs bytes"):
        argument(7)


@pytest.mark.parametrize("nbytes", [0, -1, 1 << 64])
def test_local_memory_has_bytes(nbytes: int) -> None:
    with pytest.raises(UrError, match=rf"nbytes={nbytes}\); it must be") as caught:
        argument(LocalMemory(nbytes))
    assert caught.value.code is UrResult.INVALID_KERNEL_ARGUMENT_SIZE


def test_a_zero_byte_ends_no_name(context: Context, program: Program) -> None:
    with pytest.raises(UrError, match="no name has a zero byte") as caught:
        program.kernel("fill\0er")
    assert caught.value.code is UrResult.INVALID_KERNEL_NAME
    with pytest.raises(TypeError, match="name must be a str, not 7"):
        program.kernel(7)  # type: ignore[arg-type]
    with pytest.raises(UrError, match="have a zero byte"):
        context.create_program(fill_program(), "-g\0-bogus")


def test_what_is_closed_tells_no_properties(context: Context, program: Program) -> None:
    kernel = program.kernel("fill")
    assert kernel.properties(context.devices[0]).argument_count == 2
    kernel.close()
    for ask in (
        lambda: kernel.properties(context.devices[0]),
        lambda: kernel.set_indirect_access(False),
    ):
        with pytest.raises(UrError, match="cannot be used any more") as caught:
            ask()
        assert caught.value.code is UrResult.INVALID_KERNEL


def test_a_program_names_its_kernels(program: Program) -> None:
    assert sorted(program.kernel_names()) == ["add", "fill", "follow", "mirror"]
    counts = {name: program.kernel(name).argument_count for name in program.kernel_names()}
    assert counts == {"fill": 2, "add": 3, "mirror": 2, "follow": 2}


def test_what_is_no_program_is_not_built(context: Context, program: Program) -> None:
    with pytest.raises(UrError) as caught:
        context.create_program(b"not a program at all")
    assert caught.value.code is UrResult.PROGRAM_BUILD_FAILURE
    assert len(str(caught.value)) > len("zeModuleCreate: ")


# Specialisation constants


@READS_DATA
def test_a_program_is_built_with_constants(context: Context, program: Program) -> None:
    """``program`` is here to skip where there is no compiler."""
    queue = context.create_queue()
    memory = queue.alloc_device(SIZE)
    both = {7: struct.pack("I", 30), 8: struct.pack("Q", 12)}
    for constants, expected in ((None, 65), ({8: both[8]}, 17), (both, 42)):
        special = context.create_program(special_program(), constants=constants)
        kernel = special.kernel("special")
        queue.launch(kernel, (ITEMS,), [memory])
        assert numbers(queue, memory) == [expected] * ITEMS
        special.close()
    queue.free(memory)


def test_constants_that_the_program_has_not(context: Context) -> None:
    program = Program(context, special_program())
    for values, code, said in (
        (
            {9: b"1234"},
            UrResult.INVALID_SPEC_ID,
            r"no specialisation constant of the number 9.*7, 8",
        ),
        ({8: b"1234"}, UrResult.INVALID_VALUE, r"constant 8 has 8 bytes; its value has 4"),
    ):
        with pytest.raises(UrError, match=said) as caught:
            program.set_constants({7: b"abcd", **values})
        assert caught.value.code is code
    with pytest.raises(TypeError, match="constant 7 must be bytes or a buffer, not 7"):
        program.set_constants({7: 7})
    assert program.constants == {}
    program.set_constants({7: b"abcd"})
    program.set_constants({8: bytes(8)})
    assert program.constants == {7: b"abcd", 8: bytes(8)}
    program.close()
    with pytest.raises(UrError, match="cannot be used any more"):
        program.set_constants({7: b"abcd"})


def test_a_link_has_options_of_its_own(context: Context, program: Program, driver: str) -> None:
    """``program`` is here to skip where there is no compiler."""
    parts = [Program(context, each) for each in (fill_program(), add_program())]
    for part in parts:
        part.compile("-g")
    linked = Program.link(parts)
    assert sorted(linked.kernel_names()) == ["add", "fill"]
    linked.close()
    if driver == "software":  # others take options that they do not know
        with pytest.raises(UrError, match="Unrecognized build options: -bogus") as caught:
            Program.link(parts, "-bogus")
        assert caught.value.code is UrResult.PROGRAM_BUILD_FAILURE
    for part in parts:
        part.close()


@READS_DATA
@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_writes_memory_of_each_kind(
    context: Context, make_kernel: MakeKernel, kind: UsmType
) -> None:
    queue = context.create_queue()
    kernel = make_kernel("fill", SIZE, 0)
    memory = alloc(queue, kind, SIZE)
    queue.launch(kernel, (ITEMS,), [memory, number(7)])
    assert numbers(queue, memory) == [7] * ITEMS
    queue.free(memory)


@READS_DATA
def test_groups_have_local_memory(context: Context, make_kernel: MakeKernel) -> None:
    queue = context.create_queue()
    kernel = make_kernel("mirror", SIZE, 0)
    memory = queue.alloc_device(SIZE)
    queue.memcpy(memory, struct.pack(f"{ITEMS}I", *range(ITEMS)))
    queue.launch(kernel, (ITEMS,), [memory, LocalMemory(64)], local_size=(16,))
    expected = [16 * (i // 16) + 15 - i % 16 for i in range(ITEMS)]
    assert numbers(queue, memory) == expected
    queue.free(memory)


@READS_DATA
def test_a_kernel_reaches_what_its_memory_points_to(
    context: Context, make_kernel: MakeKernel
) -> None:
    queue = context.create_queue()
    kernel = make_kernel("follow", 8, 0)
    memory, cell = queue.alloc_device(SIZE), queue.alloc_shared(8)
    queue.memcpy(cell, struct.pack("Q", memory.ptr))
    queue.launch(kernel, (ITEMS,), [cell, number(9)])
    assert numbers(queue, memory) == [9] * ITEMS
    queue.free(memory)
    queue.free(cell)


@READS_DATA
def test_a_suggestion_is_made_to_fit(
    context: Context, make_kernel: MakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = context.create_queue()
    kernel = make_kernel("fill", SIZE, 0)
    memory = queue.alloc_device(SIZE)
    monkeypatch.setattr(ze_module, "suggest_group_size", lambda kernel, sizes: (48, 1, 1))
    queue.launch(kernel, (ITEMS,), [memory, number(7)])  # in groups of 16
    assert numbers(queue, memory) == [7] * ITEMS
    queue.free(memory)


@READS_DATA
def test_a_kernel_may_require_its_groups(context: Context, program: Program) -> None:
    """``program`` is here to skip where there is no compiler."""
    queue = context.create_queue()
    grouped = context.create_program(grouped_program())
    kernel = grouped.kernel("grouped")
    assert kernel.properties(context.devices[0]).required_group_size == (8, 4, 1)
    memory = queue.alloc_device(4 * 16)
    queue.launch(kernel, (16, 8), [memory])
    assert numbers(queue, memory) == [7] * 16
    with pytest.raises(UrError, match=r"\(8, 1, 1\).*requires \(8, 4, 1\)"):
        queue.launch(kernel, (16,), [memory])
    queue.free(memory)
    grouped.close()


# Order


@READS_DATA
def test_threads_launch_one_kernel_with_their_own_arguments(
    context: Context, make_kernel: MakeKernel
) -> None:
    kernel = make_kernel("fill", SIZE, 0)
    rounds, wrong = 100, []

    def work(value: int) -> None:
        queue = context.create_queue()
        for turn in range(rounds):
            memory = queue.alloc_device(SIZE)
            queue.launch(kernel, (ITEMS,), [memory, number(rounds * value + turn)])
            if numbers(queue, memory) != [rounds * value + turn] * ITEMS:
                wrong.append((value, turn))
            queue.free(memory)
        finish(queue)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert wrong == []


@READS_DATA
@pytest.mark.parametrize("allowed", [True, False])
def test_indirect_access_may_be_given_up(
    context: Context, program: Program, controls: "Controls", allowed: bool
) -> None:
    """With it, a launch may be in conflict over memory that it was not given."""
    ahead, beside = context.create_queue(), context.create_queue()
    kernel = program.kernel("fill")
    kernel.set_indirect_access(allowed)
    memory, other = ahead.alloc_device(SIZE), beside.alloc_host(SIZE)
    ahead.launch(kernel, (ITEMS,), [memory, number(1)])
    beside.fill(other, b"\2")
    finish(ahead)
    finish(beside)
    reports = controls.take_reports()
    assert any("zeCommandListAppendLaunchKernel" in each for each in reports) == allowed
    ahead.free(memory)
    beside.free(other)


@READS_DATA
def test_memory_that_is_freed_behind_a_kernel_serves_the_next(
    context: Context, make_kernel: MakeKernel, controls: "Controls"
) -> None:
    queue = context.create_queue()
    kernel = make_kernel("fill", SIZE, 0)
    first_seen, second_seen = bytearray(SIZE), bytearray(SIZE)
    with hold(controls, queue):
        first = queue.alloc_device(SIZE)
        queue.launch(kernel, (ITEMS,), [first, number(1)])
        queue.memcpy(first_seen, first)
        place = first.ptr
        queue.free(first)
        second = queue.alloc_device(SIZE)
        assert second.ptr == place  # in the queue's order, though nothing has run yet
        queue.launch(kernel, (ITEMS,), [second, number(2)])
        queue.memcpy(second_seen, second)
        queue.free(second)
        assert bytes(first_seen) == bytes(SIZE)
    finish(queue)
    assert as_copied(first_seen) == number(1) * ITEMS
    assert as_copied(second_seen) == number(2) * ITEMS


@READS_DATA
def test_a_kernel_waits_for_a_kernel_of_another_queue(
    context: Context, make_kernel: MakeKernel, controls: "Controls"
) -> None:
    ahead, behind = context.create_queue(), context.create_queue()
    fill = make_kernel("fill", SIZE, 0)
    add = make_kernel("add", SIZE, SIZE, 0)
    source, target = ahead.alloc_device(SIZE), behind.alloc_device(SIZE)
    with hold(controls, ahead) as held:
        filled = ahead.launch(fill, (ITEMS,), [source, number(40)], event=True)
        added = behind.launch(add, (ITEMS,), [target, source, number(2)], wait=[filled], event=True)
        behind.free(source)
        assert not added.is_complete()
        held.release()
        assert numbers(behind, target) == [42] * ITEMS
    behind.free(target)
    finish(ahead)


@READS_DATA
def test_memory_of_a_kernel_that_has_not_run_goes_to_no_other_queue(
    context: Context, make_kernel: MakeKernel, controls: "Controls"
) -> None:
    slow, quick = context.create_queue(), context.create_queue()
    kernel = make_kernel("fill", SIZE, 0)
    seen = bytearray(SIZE)
    with hold(controls, slow):
        memory = slow.alloc_device(SIZE)
        slow.launch(kernel, (ITEMS,), [memory, number(1)])
        slow.memcpy(seen, memory)
        place = memory.ptr
        slow.free(memory)
        other = quick.alloc_device(SIZE)
        assert other.ptr != place
        quick.launch(kernel, (ITEMS,), [other, number(2)])
        assert numbers(quick, other) == [2] * ITEMS  # nothing waits for the queue that is held
    finish(slow)
    assert as_copied(seen) == number(1) * ITEMS
    quick.free(other)


@READS_DATA
def test_a_chain_of_kernels_over_memory_that_comes_and_goes(
    context: Context, make_kernel: MakeKernel, controls: "Controls"
) -> None:
    queues = [context.create_queue() for _ in range(3)]
    add = make_kernel("add", SIZE, SIZE, 0)
    source = queues[0].alloc_device(SIZE)
    last = queues[0].fill(source, number(0), event=True)
    for step in range(30):
        queue = queues[step % 3]
        assert last is not None
        target = queue.alloc_device(SIZE, wait=[last])
        last = queue.launch(add, (ITEMS,), [target, source, number(1)], event=True)
        queue.free(source)
        source = target
    assert numbers(queues[2], source) == [30] * ITEMS
    queues[2].free(source)
    for queue in queues:
        finish(queue)


def test_a_kernel_may_be_closed_while_it_runs(
    context: Context, program: Program, make_kernel: MakeKernel, controls: "Controls"
) -> None:
    queue = context.create_queue()
    kernel = make_kernel("fill", SIZE, 0)
    memory = queue.alloc_device(SIZE)
    with hold(controls, queue):
        launched = queue.launch(kernel, (ITEMS,), [memory, number(7)], event=True)
        kernel.close()  # the launch under way keeps what it needs
        program.close()
    assert launched is not None
    assert launched.command.name == "KERNEL_LAUNCH"
    assert numbers(queue, memory) == [7] * ITEMS
    queue.free(memory)


@pytest.mark.needs_execution("an event's times are read", strict=False)
def test_a_launch_has_times(context: Context, make_kernel: MakeKernel) -> None:
    queue = context.create_queue(flags=QueueFlag.PROFILING_ENABLE)
    kernel = make_kernel("fill", SIZE, 0)
    memory = queue.alloc_device(SIZE)
    launched = queue.launch(kernel, (ITEMS,), [memory, number(7)], event=True)
    finish(queue)
    assert launched is not None
    profile = launched.profile()
    assert profile.queued <= profile.start <= profile.end
    queue.free(memory)


def test_what_cannot_be_launched(
    context: Context, program: Program, make_kernel: MakeKernel, driver: str
) -> None:
    queue = context.create_queue()
    kernel = make_kernel("fill", SIZE, 0)
    memory = queue.alloc_device(SIZE)
    arguments = [memory, b"1234"]
    for wrong, code in (
        (lambda: program.kernel("none"), UrResult.INVALID_KERNEL_NAME),
        (lambda: queue.launch(kernel, (64,), [memory]), UrResult.INVALID_KERNEL_ARGS),
        (
            lambda: queue.launch(kernel, (64,), [memory, b"12"]),
            UrResult.INVALID_KERNEL_ARGUMENT_SIZE,
        ),
        (lambda: queue.launch(kernel, (), arguments), UrResult.INVALID_WORK_DIMENSION),
        (lambda: queue.launch(kernel, (0,), arguments), UrResult.INVALID_WORK_ITEM_SIZE),
        (
            lambda: queue.launch(kernel, (64,), arguments, local_size=(7,)),
            UrResult.INVALID_WORK_GROUP_SIZE,
        ),
        (lambda: program.build(), UrResult.INVALID_OPERATION),
    ):
        if driver != "software" and code is UrResult.INVALID_KERNEL_ARGUMENT_SIZE:
            continue  # Intel's driver takes a value of any size
        with pytest.raises(UrError) as caught:
            wrong()
        assert caught.value.code is code
    kernel.close()
    with pytest.raises(UrError, match="cannot be used any more"):
        queue.launch(kernel, (64,), arguments)
    queue.free(memory)
