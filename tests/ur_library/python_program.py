# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a Python program in which a UR client calls a library: its own interpreter serves it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.ur_library.client_process import FOREIGN
from urasync_l0.ur_library import library_path

CLIENT = """
import ctypes, sys
from ctypes import POINTER, byref, c_char, c_size_t, c_uint32, c_void_p

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


def run_python_client(
    flavour: str, more: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run more lines behind those that make a queue, ``made``, with an event, ``event``."""
    path = library_path(flavour)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return subprocess.run(
        [
            *(sys.executable, "-X", "faulthandler", "-c", CLIENT + more + "print('passed')"),
            *(str(path), str(path.with_name("function_tables.txt"))),
        ],
        env=inherited
        | {"URASYNC_L0_DRIVER": "software", "UR_LOG_LEVEL_ZERO": "level:info"}
        | environment,
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
