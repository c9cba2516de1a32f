# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel by which replays are verified: it sees what the host would, and in queue order."""

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.helpers.gates import hold
from tests.helpers.kernels import build
from tests.helpers.usm import finish
from urasync_l0 import Context, Queue
from urasync_l0.tools.replayer.fill_pattern import Place, places
from urasync_l0.tools.replayer.looking import (
    KERNEL,
    HostLook,
    KernelLook,
    Look,
    NotRunError,
    build_comparison,
)
from urasync_l0.tools.replayer.staging import Staging
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from urasync_l0 import Allocation
    from urasync_l0.software_driver.controls import Controls

Found = list[tuple[int, int, int]]

pytestmark = pytest.mark.needs_execution("data is looked at", raises=(NotRunError,))


class Bench:
    """Both ways to look, over one staging memory each."""

    def __init__(self, context: Context, controls: "Controls | None") -> None:
        self.queue = context.create_queue()
        self.program = build_comparison(context)
        self.kernel = self.program.kernel(KERNEL)
        if controls is not None:  # each test's memory is below 64 KiB
            native = self.kernel.native(context.devices[0])
            controls.declare_accesses(handle_value(native.handle), (SIZE, 1 << 20, 0))
        self.staging = [Staging(self.queue, lambda: None) for _ in range(2)]
        self.looks: list[Look] = [
            HostLook(self.staging[0]),
            KernelLook(self.staging[1], self.kernel),
        ]

    def close(self) -> None:
        self.kernel.close()
        self.program.close()


SIZE = 3000


@pytest.fixture
def bench(context: Context, _session_controls: "Controls | None") -> Iterator[Bench]:
    """Skips where there is no compiler."""
    build(context).close()
    made = Bench(context, _session_controls)
    yield made
    made.close()


def fill(queue: Queue, memory: "Allocation", found: list[Place]) -> None:
    for place in found:
        for each in place.fills():
            queue.fill(memory, each.pattern, each.nbytes, each.offset)


@pytest.mark.parametrize("nbytes", [1, 7, 16, 333, SIZE])
def test_it_finds_what_the_host_finds(bench: Bench, nbytes: int) -> None:
    queue = bench.queue
    memory = queue.alloc_device(SIZE)
    whole = places(nbytes, 5)
    parts = [Place(p.offset, p.nbytes, p.pattern) for p in whole]
    found: list[Found] = [[], []]

    def look() -> None:
        for look, seen in zip(bench.looks, found, strict=True):
            look.look(queue, memory, parts, lambda *wrong, seen=seen: seen.append(wrong))

    fill(queue, memory, parts)
    look()
    for at in {0, nbytes // 2, nbytes - 1}:
        fill(queue, memory, parts)
        right = parts[0].expected()[at]
        queue.fill(memory, bytes([right ^ 0x10]), 1, at)
        look()
    for each in bench.staging:
        each.finish()
    assert found[0] == found[1]
    assert {wrong[0] for wrong in found[0]} == {0, nbytes // 2, nbytes - 1}
    assert all(actual == expected ^ 0x10 for _, expected, actual in found[0])
    queue.free(memory)


def test_it_looks_in_the_order_of_its_queue(bench: Bench, controls: "Controls") -> None:
    """Behind the fills before it, and before what the next owner of the memory writes."""
    queue, look = bench.queue, bench.looks[1]
    found: Found = []
    first, second = places(SIZE, 1), places(SIZE, 2)
    with hold(controls, queue):
        for pattern in (first, second):
            memory = queue.alloc_device(SIZE)
            place = memory.ptr
            fill(queue, memory, pattern)
            look.look(queue, memory, pattern, lambda *wrong: found.append(wrong))
            queue.free(memory)
        again = queue.alloc_device(SIZE)
        assert again.ptr == place
        fill(queue, again, first)
    queue.free(again)
    for each in bench.staging:
        each.finish()
    assert found == []


def test_a_kernel_that_did_not_run_is_no_right_byte(bench: Bench) -> None:
    queue, look = bench.queue, bench.looks[1]
    memory = queue.alloc_device(SIZE)
    pattern = places(SIZE, 1)
    fill(queue, memory, pattern)
    look.look(queue, memory, pattern, lambda *wrong: None)
    finish(queue)
    seen = bench.staging[1].view[32:40]
    assert struct.unpack("Q", seen) == (1,)
    bench.staging[1].view[32:40] = bytes(8)
    with pytest.raises(NotRunError, match="did not run"):
        bench.staging[1].finish()
    bench.staging[1].view.release()
    queue.free(bench.staging[1].memory)
    bench.staging[0].finish()
    queue.free(memory)
