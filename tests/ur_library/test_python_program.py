# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Python program in which a UR client calls the libraries: its own interpreter serves them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ur_library.client_process import ADAPTERS, FOREIGN
from urasync_l0.ur_library import library_path

CLIENT = """
import ctypes, sys
from ctypes import POINTER, byref, c_size_t, c_uint32, c_void_p

library = ctypes.CDLL(sys.argv[1])
adapter, queue = (c_void_p * 7)(), (c_void_p * 8)()
assert library.urGetAdapterProcAddrTable(12, adapter) == 0
handle = c_void_p()
get = ctypes.CFUNCTYPE(c_uint32, c_uint32, c_void_p, c_void_p)
assert get(adapter[0])(1, byref(handle), None) == 0
table = ctypes.cast(handle, POINTER(POINTER(c_void_p)))[0]

def entry(index, *types):
    return ctypes.CFUNCTYPE(c_uint32, *types)(table[index])

# Places in the whole table: platforms, contexts, events, queues and devices as declared.
import ur_library_build
places = [name for names in ur_library_build.function_tables(open(sys.argv[2]).read()).values()
          for name in names]

def call(name, *arguments):
    types = [c_void_p if isinstance(each, (c_void_p, type(None))) or hasattr(each, "_obj")
             else c_size_t for each in arguments]
    return entry(places.index(name), *types)(*arguments)

platform, device, context, made, event = (c_void_p() for _ in range(5))
assert call("urPlatformGet", handle, 1, byref(platform), None) == 0
assert call("urDeviceGet", platform, 2, 1, byref(device), None) == 0
assert call("urContextCreate", 1, byref(device), None, byref(context)) == 0
assert call("urQueueCreate", context, device, None, byref(made)) == 0
assert call("urEnqueueEventsWaitWithBarrier", made, 0, None, byref(event)) == 0
assert call("urQueueFinish", made) == 0
"""

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
    path = library_path(flavour)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run(
        [
            *(sys.executable, "-X", "faulthandler", "-c", CLIENT + more + "print('passed')"),
            *(str(path), str(path.with_name("function_tables.txt"))),
        ],
        env=inherited | {"URASYNC_L0_DRIVER": "software", "UR_LOG_LEVEL_ZERO": "level:info"},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "passed\n"
    assert "started" not in run.stderr
    expected = "urEventSetCallback is refused: the process is ending" in run.stderr
    assert expected == (more is CALLS_AFTER_PYTHON), run.stderr
    assert "urEventWait is refused" not in run.stderr
