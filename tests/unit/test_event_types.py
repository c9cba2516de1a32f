# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What type checkers know of commands.

One that is asked for an event answers with one, which can be waited for as it stands, and one that
was not asked does not. The ends of a transfer are memory.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.type_checker import check_marked_errors

PROGRAM = """
from urasync_l0 import Allocation, Event, Kernel, Queue, UsmType

def asked(queue: Queue, memory: Allocation, kernel: Kernel) -> list[Event]:
    address, made = queue.enqueue_alloc(UsmType.DEVICE, 64, event=True)
    return [
        made,
        queue.fill(memory, b"a", event=True),
        queue.memcpy(memory, bytes(64), event=True),
        queue.fill_2d(memory, 8, b"a", 4, 8, event=True),
        queue.memcpy_2d(memory, 8, bytes(64), 8, 4, 8, event=True),
        queue.launch(kernel, (1,), event=True),
        queue.wait((), event=True),
        queue.barrier(event=True),
        queue.record(),
        queue.free(address, wait=[queue.fill(memory, b"b", event=True)], event=True),
        memory.free(queue, event=True),
    ]

def perhaps(queue: Queue, memory: Allocation, event: bool) -> Event | None:
    return queue.fill(memory, b"a", event=event)

def unasked(queue: Queue, memory: Allocation, kernel: Kernel) -> None:
    queue.wait([queue.fill(memory, b"a")])  # error
    queue.wait([queue.memcpy(memory, bytes(64))])  # error
    queue.wait([queue.fill_2d(memory, 8, b"a", 4, 8)])  # error
    queue.wait([queue.memcpy_2d(memory, 8, bytes(64), 8, 4, 8)])  # error
    queue.wait([queue.launch(kernel, (1,))])  # error
    queue.wait([queue.wait(())])  # error
    queue.wait([queue.barrier()])  # error
    queue.wait([queue.enqueue_alloc(UsmType.DEVICE, 64)[1]])  # error
    queue.wait([queue.free(1, event=False)])  # error
    queue.wait([memory.free()])  # error
"""

ENDS = """
import array, ctypes
import numpy
from urasync_l0 import Context, Event, Queue

def ends(queue: Queue, array_of_numpy: numpy.ndarray) -> None:
    memory = queue.alloc_host(64)
    queue.memcpy(memory, memory.ptr, 64)
    queue.memcpy(bytearray(64), numpy.int64(memory.ptr), 64)
    queue.memcpy(memory, bytes(64))
    queue.memcpy(array_of_numpy, memoryview(b"abc"))
    queue.memcpy((ctypes.c_int * 4)(), array.array("d", [1.0]))
    queue.fill(array_of_numpy, b"a")
    queue.fill_2d(memory, 8, b"a", 4, 8)

def no_ends(queue: Queue, event: Event, context: Context) -> None:
    queue.memcpy("text", bytes(64))  # error
    queue.memcpy(bytearray(64), event)  # error
    queue.fill(context, b"a")  # error
    queue.fill(None, b"a")  # error
    queue.fill_2d(1.5, 8, b"a", 4, 8)  # error
    queue.memcpy_2d([1], 8, bytes(64), 8, 4, 8)  # error
"""


@pytest.mark.slow
def test_who_asks_for_an_event_has_one(tmp_path: Path) -> None:
    check_marked_errors(PROGRAM, tmp_path)


@pytest.mark.slow
def test_the_ends_of_a_transfer_have_types(tmp_path: Path) -> None:
    if find_spec("numpy") is None:
        pytest.skip("NumPy, whose arrays are ends too, is not installed")
    check_marked_errors(ENDS, tmp_path)
