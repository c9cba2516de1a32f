# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocations, frees and events that enter no function in Python, against those that do."""

from pathlib import Path

import pytest

from tests.ur_library.client_process import ADAPTERS, must_pass, run_client
from tests.ur_library.python_program import run_python_client
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.ur_library import library_path

needs_compiled = pytest.mark.skipif(
    not IS_COMPILED, reason="without the pool core in C every call enters Python"
)


@needs_compiled
@pytest.mark.parametrize("flavour", ADAPTERS)
def test_both_ways_give_the_same(client: Path, flavour: str) -> None:
    """Addresses, sizes, numbers and results, of right calls and of wrong ones."""
    runs = [
        run_client(client, "usual_calls", [library_path(flavour)], URASYNC_L0_POOL=pool)
        for pool in ("python", "compiled")
    ]
    for run in runs:
        must_pass(run)
        assert run.stderr == ""
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count("\n") > 300


# The queue's object, and calls by ctypes, which lets go of Python's lock or keeps it.
PAIRS = """
import gc, sys
from urasync_l0 import last_error, reference_count
from urasync_l0.entry_points import usm_enqueue
from urasync_l0.pool.observer import observe_registries
from urasync_l0.queue import Queue
from urasync_l0.ur_library.handle_table import HandleTable

queue = next(table[made.value] for table in gc.get_objects()
             if isinstance(table, HandleTable) and table.kind == "queue")
pool = queue.context.default_pool(queue.device)
mem = c_void_p()

def pair(name="urEnqueueUSMDeviceAllocExp", size=4096):
    allocated = call(name, made, None, size, None, 0, None, byref(mem), None)
    return allocated, call("urEnqueueUSMFreeExp", made, None, mem, 0, None, None)

entered = []

def counting(function):
    def counted(*arguments):
        entered.append(function)
        return function(*arguments)
    return counted

usm_enqueue._allocate = counting(usm_enqueue._allocate)
for name in ("free", "wait", "barrier"):
    setattr(Queue, name, counting(getattr(Queue, name)))
reference_count.release = counting(reference_count.release)

def pair_with_events():
    events = [c_void_p() for _ in range(4)]
    codes = [call("urEnqueueUSMDeviceAllocExp", made, None, 4096, None, 0, None, byref(mem),
                  byref(events[0]))]
    before = byref(events[0])
    codes.append(call("urEnqueueUSMFreeExp", made, None, mem, 1, before, byref(events[1])))
    codes.append(call("urEnqueueEventsWait", made, 1, before, byref(events[2])))
    codes.append(call("urEnqueueEventsWaitWithBarrier", made, 0, None, byref(events[3])))
    codes.append(call("urEnqueueEventsWaitWithBarrier", made, 1, before, None))
    return codes + [call("urEventRelease", event) for event in events]
"""

FEW_ENTER_PYTHON = """
names = ["urEnqueueUSMDeviceAllocExp", "urEnqueueUSMSharedAllocExp", "urEnqueueUSMHostAllocExp"]
for name in names:
    assert pair(name) == (0, 0)  # the pool grows
assert len(entered) == 3, entered
for _ in range(50):
    for name in names:
        assert pair(name) == (0, 0)
assert len(entered) == 3, entered
assert pool.used_bytes == 0
# Whoever keeps Python's lock is served as well.
keeping = [ctypes.PYFUNCTYPE(c_uint32, *types)(table[places.index(name)]) for name, types in (
    (names[0], [c_void_p, c_void_p, c_size_t, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    ("urEnqueueUSMFreeExp", [c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]))]
for _ in range(50):
    assert keeping[0](made, None, 4096, None, 0, None, byref(mem), None) == 0
    assert keeping[1](made, None, mem, 0, None, None) == 0
assert len(entered) == 3, entered
pair_with_events()  # the first event is made
del entered[:]
for _ in range(50):
    assert pair_with_events() == [0] * 9
assert not entered, entered
"""

LEAVES_NOTHING_BEHIND = """
def all_kept():
    gc.collect()
    return sys.getrefcount(queue), sys.getrefcount(pool), sys.getallocatedblocks()

def calls():
    for _ in range(1000):
        assert pair() == (0, 0)
        assert pair(size=0) == (64, 11)
        assert pair_with_events() == [0] * 9

calls()
before = all_kept()
calls()
after = all_kept()
assert after[:2] == before[:2], (before, after)
# One object a round would be a thousand; native events are made where the queue is slow.
assert abs(after[2] - before[2]) < 500, (before, after)
"""

ENDS_ITS_CONTEXT = """
context_of_event = queue.context
assert call("urQueueRelease", made) == 0
assert call("urContextRelease", context) == 0
assert not context_of_event.is_closed
assert call("urEventRelease", event) == 0
assert context_of_event.is_closed
"""

WAITS_FOR_ANOTHER_QUEUE = """
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value

second, first_done, second_done = c_void_p(), c_void_p(), c_void_p()
assert call("urQueueCreate", context, device, None, byref(second)) == 0
wait = "urEnqueueEventsWaitWithBarrier"
assert call(wait, second, 0, None, byref(second_done)) == 0  # from now on its events are made in C
with Controls().gate(handle_value(queue.handle)):
    assert call(wait, made, 0, None, byref(first_done)) == 0
    assert call(wait, second, 1, byref(first_done), byref(second_done)) == 0
    events = next(table for table in gc.get_objects()
                  if isinstance(table, HandleTable) and table.kind == "event")
    waiting = events[second_done.value]
    assert not waiting.wait(20_000_000)
    # By now it is behind it: nothing more is appended.
    del entered[:]
    assert call(wait, second, 1, byref(first_done), None) == 0
    assert not entered
assert call("urEventWait", 1, byref(second_done)) == 0
"""

IS_RECORDED = """
class Observer:
    def __init__(self):
        self.seen = []
    def allocated(self, block, order):
        self.seen.append(("allocated", block.address, block.requested, order is queue.order))
    def freed(self, block, order):
        self.seen.append(("freed", block.address, block.requested, order is queue.order))

pair()
del entered[:]
observer = Observer()
observe_registries(observer)
for size in range(1, 101):
    assert pair(size=size) == (0, 0)
    assert observer.seen == [(what, mem.value, size, True) for what in ("allocated", "freed")]
    del observer.seen[:]
assert not entered
"""

AN_ERROR_IS_REPORTED = """
class Refusing:
    def allocated(self, block, order):
        raise error
    def freed(self, block, order):
        raise error

pair()
del entered[:]
for error, code in ((ValueError("of ours"), 0x7FFFFFFE), (MemoryError("of ours"), 38)):
    assert call("urEnqueueUSMDeviceAllocExp", made, None, 64, None, 0, None, byref(mem), None) == 0
    observe_registries(Refusing())
    before = mem.value
    assert pair() == (code, code), pair()
    assert mem.value == before
    assert "of ours" in str(last_error.last())
    observe_registries(None)
    assert pair() == (0, 0)
assert not entered
"""


@needs_compiled
@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize(
    "more",
    [
        *(FEW_ENTER_PYTHON, LEAVES_NOTHING_BEHIND, ENDS_ITS_CONTEXT, WAITS_FOR_ANOTHER_QUEUE),
        *(IS_RECORDED, AN_ERROR_IS_REPORTED),
    ],
    ids=["few", "nothing left", "end of a context", "another queue", "recorded", "error"],
)
def test_in_a_python_program(flavour: str, more: str) -> None:
    run = run_python_client(flavour, PAIRS + more)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "passed\n"
    logged = "[ERROR]: urEnqueueUSMDeviceAllocExp: ValueError in Python: Traceback" in run.stderr
    assert logged == (more is AN_ERROR_IS_REPORTED), run.stderr
