# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a Python program pays that calls a UR adapter through cffi and libur_loader by itself.

``python -m benchmarks.cffi_client FOLDER`` builds a module in API mode over the loader in the
folder, as a user would who has none of ours, and answers the requests ``pairs COUNT`` and
``event_pairs COUNT`` of ``ur_client/measure.c`` with microseconds a pair by the clock on the wall.
The environment chooses the adapter.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import cffi

from benchmarks.call_costs import NBYTES
from benchmarks.requests import answer
from benchmarks.ur_client import LIBRARY
from urasync_l0 import KEEP_EVERYTHING
from urasync_l0.enums import DeviceType, UsmPoolInfo

WARM_UP = 200
"""Pairs that fill the pool, as many whatever is asked for."""

DECLARATIONS = """
typedef uint32_t ur_result_t;
ur_result_t urLoaderInit(uint32_t, void *);
ur_result_t urAdapterGet(uint32_t, void *adapters, uint32_t *);
ur_result_t urPlatformGet(void *, uint32_t, void *platforms, uint32_t *);
ur_result_t urDeviceGet(void *, uint32_t type, uint32_t, void *devices, uint32_t *);
ur_result_t urContextCreate(uint32_t, const void *devices, const void *, void *context);
ur_result_t urContextRelease(void *);
ur_result_t urQueueCreate(void *, void *, const void *, void *queue);
ur_result_t urQueueFinish(void *);
ur_result_t urQueueRelease(void *);
ur_result_t urUSMPoolGetDefaultDevicePoolExp(void *, void *, void *pool);
ur_result_t urUSMPoolSetInfoExp(void *, uint32_t, void *, size_t);
ur_result_t urEnqueueUSMDeviceAllocExp(void *, void *, size_t, const void *, uint32_t, const void *,
                                       void **memory, void *event);
ur_result_t urEnqueueUSMFreeExp(void *, void *, void *, uint32_t, const void *, void *event);
ur_result_t urEventRelease(void *);
"""

SOURCE = """
#include "unified_runtime.h"
ur_result_t urLoaderInit(uint32_t, void *);
"""


def build(folder: Path, place: Path) -> Any:
    """Build the module over the libur_loader in `folder`, and import it."""
    builder = cffi.FFI()
    builder.cdef(DECLARATIONS)
    builder.set_source(
        "ur_through_cffi",
        SOURCE,
        include_dirs=[str(LIBRARY / "include")],
        library_dirs=[str(folder)],
        libraries=["ur_loader"],
        extra_compile_args=["-O2"],
    )
    spec = spec_from_file_location("ur_through_cffi", builder.compile(str(place)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def succeed(code: int) -> None:
    """End the process with a message unless a call went well."""
    if code:
        sys.exit(f"a call of the adapter gave {code}")


class Client:
    """A device of the adapter, through the module."""

    def __init__(self, module: Any) -> None:
        self.ffi, self.lib = module.ffi, module.lib
        succeed(self.lib.urLoaderInit(0, self.ffi.NULL))
        adapter = self._got(lambda out: self.lib.urAdapterGet(1, out, self.ffi.NULL))
        platform = self._got(lambda out: self.lib.urPlatformGet(adapter, 1, out, self.ffi.NULL))
        self.device = self._got(
            lambda out: self.lib.urDeviceGet(platform, DeviceType.ALL, 1, out, self.ffi.NULL)
        )

    def _got(self, call: Callable[[Any], int]) -> Any:
        out = self.ffi.new("void **")
        succeed(call(out))
        return out[0]

    def measure(self, count: int, pairs: Callable[[Any, int], None]) -> float:
        """Microseconds a pair, on a context of its own whose pool keeps what it has."""
        ffi, lib = self.ffi, self.lib
        devices = ffi.new("void *[]", [self.device])
        context = self._got(lambda out: lib.urContextCreate(1, devices, ffi.NULL, out))
        queue = self._got(lambda out: lib.urQueueCreate(context, self.device, ffi.NULL, out))
        pool = self._got(
            lambda out: lib.urUSMPoolGetDefaultDevicePoolExp(context, self.device, out)
        )
        everything = ffi.new("size_t *", KEEP_EVERYTHING)
        succeed(lib.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, everything, 8))
        pairs(queue, WARM_UP)
        succeed(lib.urQueueFinish(queue))
        start = time.perf_counter()
        pairs(queue, count)
        took = (time.perf_counter() - start) * 1e6 / count
        succeed(lib.urQueueFinish(queue))
        succeed(lib.urQueueRelease(queue))
        succeed(lib.urContextRelease(context))
        return took

    def pairs(self, queue: Any, count: int) -> None:
        """Allocate and free, with one place for the address."""
        allocate, free = self.lib.urEnqueueUSMDeviceAllocExp, self.lib.urEnqueueUSMFreeExp
        null = self.ffi.NULL
        memory = self.ffi.new("void **")
        for _ in range(count):
            if allocate(queue, null, NBYTES, null, 0, null, memory, null):
                sys.exit("an allocation failed")
            if free(queue, null, memory[0], 0, null, null):
                sys.exit("a free failed")

    def event_pairs(self, queue: Any, count: int) -> None:
        """The same with an event for both calls, released at once."""
        allocate, free = self.lib.urEnqueueUSMDeviceAllocExp, self.lib.urEnqueueUSMFreeExp
        release, null = self.lib.urEventRelease, self.ffi.NULL
        memory, first, second = (self.ffi.new("void **") for _ in range(3))
        for _ in range(count):
            if allocate(queue, null, NBYTES, null, 0, null, memory, first):
                sys.exit("an allocation failed")
            if free(queue, null, memory[0], 0, null, second):
                sys.exit("a free failed")
            if release(first[0]) or release(second[0]):
                sys.exit("the release of an event failed")


def main() -> None:
    """Answer requests until there are none."""
    with tempfile.TemporaryDirectory() as place:
        client = Client(build(Path(sys.argv[1]), Path(place)))
        answer(
            {
                "pairs": lambda count: client.measure(count, client.pairs),
                "event_pairs": lambda count: client.measure(count, client.event_pairs),
            }
        )


if __name__ == "__main__":
    main()
