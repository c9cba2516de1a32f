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


@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize(
    "more",
    [USES_THE_PACKAGE, HOLDS_THE_LOCK, FORKS, CALLS_AFTER_PYTHON],
    ids=["package", "lock", "fork", "end"],
)
def test_the_interpreter_is_used(flavour: str, more: str) -> None:
    run = run_python_client(flavour, more)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "passed\n"
    assert "started" not in run.stderr
    expected = "urEventSetCallback is refused: the process is ending" in run.stderr
    assert expected == (more is CALLS_AFTER_PYTHON), run.stderr
    assert "urEventWait is refused" not in run.stderr
