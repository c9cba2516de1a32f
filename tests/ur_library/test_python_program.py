# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Python program in which a UR client calls the libraries: its own interpreter serves them."""

import pytest

from tests.ur_library.client_process import ADAPTERS
from tests.ur_library.python_program import run_python_client

USES_THE_PACKAGE = """
import urasync_l0
with urasync_l0.Context(adapter="v2") as own:
    queue = own.create_queue()
    queue.free(queue.alloc_device(64))
    queue.finish()
    assert call("urQueueFinish", made) == 0
"""

HOLDS_THE_LOCK = """
# A caller that does not let go of Python's lock, while others want it.
import threading
holding = ctypes.PYFUNCTYPE(c_uint32, c_void_p)(table[places.index("urQueueFinish")])
threads = [threading.Thread(target=lambda: [holding(made) for _ in range(50)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert holding(made) == 0
"""

FORKS = """
import os
child = os.fork()
if not child:
    os._exit(7 if call("urQueueFinish", made) == 37 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert call("urQueueFinish", made) == 0
"""

CALLS_AFTER_PYTHON = """
# What C++ programs do in destructors: a call when Python is gone already. on_exit gives the status
# and the argument, which is what each takes; of the first all is done already.
libc = ctypes.CDLL(None)
for name in ("urEventWait", "urEventSetCallback"):
    assert libc.on_exit(c_void_p(table[places.index(name)]), byref(event)) == 0
"""

WAITS_AFTER_THE_END = """
# What dpctl does: it asks for the status, and waits if that is not "complete".
import atexit
def ask():
    atexit._run_exitfuncs()
    status, size, complete = ctypes.c_int(7), c_size_t(), 3
    assert call("urEventGetInfo", event, complete, 4, byref(status), byref(size)) == 0
    assert (status.value, size.value) == (0, 4)
    assert call("urEventGetInfo", event, complete, 3, byref(status), None) == 49
    assert call("urEventGetInfo", event, 1, 8, byref(status), None) == 37
    assert call("urEventWait", 1, byref(event)) == 0
ask()
"""

COLLECTION_IN_A_CALL = """
# Objects of the client that collection ends while a call of the library runs and has its locks.
import faulthandler, gc
faulthandler.dump_traceback_later(60, exit=True)
ended = []

class Memory:
    def __init__(self):
        self.address, self.event, self.itself = c_void_p(), c_void_p(), self
        assert call("urUSMDeviceAlloc", context, device, None, None, 4096,
                    byref(self.address)) == 0
        assert call("urEnqueueUSMFill", made, self.address, 1, byref(c_char(b"a")), 4096, 0, None,
                    byref(self.event)) == 0

    def __del__(self):
        ended.append(call("urEventRelease", self.event))
        ended.append(call("urUSMFree", context, self.address))

ends = [c_void_p(), c_void_p()]
for end in ends:
    assert call("urUSMDeviceAlloc", context, device, None, None, 4096, byref(end)) == 0
for threshold in range(1, 60):
    for _ in range(4):
        Memory()  # garbage at once
    gc.set_threshold(threshold)
    for _ in range(8):
        done = c_void_p()
        assert call("urEnqueueUSMMemcpy", made, 0, *ends, 64, 0, None, byref(done)) == 0
        assert call("urEventRelease", done) == 0
    gc.set_threshold(700)
gc.collect()
assert ended == [0] * 2 * 4 * 59, ended
assert call("urQueueFinish", made) == 0
from urasync_l0.ur_library.handle_table import HandleTable
[queue] = (table[made.value] for table in gc.get_objects()
           if isinstance(table, HandleTable) and table.kind == "queue")
assert queue.context.default_pool(queue.device).used_bytes == 2 * 4096
faulthandler.cancel_dump_traceback_later()
"""


@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize(
    "more",
    [
        USES_THE_PACKAGE,
        HOLDS_THE_LOCK,
        FORKS,
        CALLS_AFTER_PYTHON,
        WAITS_AFTER_THE_END,
        COLLECTION_IN_A_CALL,
    ],
    ids=["package", "lock", "fork", "end", "wait", "collection"],
)
def test_the_interpreter_is_used(flavour: str, more: str) -> None:
    run = run_python_client(flavour, more)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "passed\n"
    assert "started" not in run.stderr
    expected = "urEventSetCallback is refused: the process is ending" in run.stderr
    assert expected == (more is CALLS_AFTER_PYTHON), run.stderr
    assert ("urEventGetInfo is refused" in run.stderr) == (more is WAITS_AFTER_THE_END)
    assert "urEventWait is refused" not in run.stderr
