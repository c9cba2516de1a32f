# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch of an empty kernel costs on the software driver, and what of that is OpenCL's.

``python -m benchmarks.kernel_launches`` needs an OpenCL runtime, which ``URASYNC_L0_OPENCL`` or
``OCL_ICD_FILENAMES`` names or the extra ``kernels`` brings. It runs the kernel by OpenCL alone and
by a queue, and a fill, a command like it without OpenCL; each with a wait, a thousand times, in
turns. The least time of each is the one that nothing disturbed. ``--json`` prints the figures
alone.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import cffi

import urasync_l0

LAUNCHES = 1000
ROUNDS = 9

# An empty kernel named "none", by the instructions of SPIR-V.
WORDS = (
    *(0x07230203, 0x00010000, 0, 8, 0),
    *(2 << 16 | 17, 4, 2 << 16 | 17, 6, 3 << 16 | 14, 2, 2),
    *(5 << 16 | 15, 6, 3, 0x656E6F6E, 0),
    *(2 << 16 | 19, 1, 3 << 16 | 33, 2, 1, 5 << 16 | 54, 1, 3, 0, 2),
    *(2 << 16 | 248, 4, 1 << 16 | 253, 1 << 16 | 56),
)
PROGRAM = struct.pack(f"<{len(WORDS)}I", *WORDS)

OPENCL = """
int clGetPlatformIDs(unsigned, void **, unsigned *);
int clGetDeviceIDs(void *, uint64_t, unsigned, void **, unsigned *);
void *clCreateContext(void *, unsigned, void **, void *, void *, int *);
void *clCreateCommandQueueWithProperties(void *, void *, void *, int *);
void *clCreateProgramWithIL(void *, const char *, size_t, int *);
int clBuildProgram(void *, unsigned, void **, const char *, void *, void *);
void *clCreateKernel(void *, const char *, int *);
int clEnqueueNDRangeKernel(void *, void *, unsigned, void *, size_t *, size_t *, unsigned, void *,
                           void **);
int clWaitForEvents(unsigned, void **);
int clReleaseEvent(void *);
"""


def runtime() -> str | None:
    """The file of the runtime that the driver takes, if a variable names it."""
    files = (os.environ.get(name, "") for name in ("URASYNC_L0_OPENCL", "OCL_ICD_FILENAMES"))
    return next((each for file in files for each in file.split(":") if each), None)


def opencl_alone(file: str) -> Callable[[], None]:
    """A launch by OpenCL, and the wait for its event."""
    ffi = cffi.FFI()
    ffi.cdef(OPENCL)
    cl: Any = ffi.dlopen(file)
    code = ffi.new("int *")
    platform, device, event = (ffi.new("void **") for _ in range(3))
    count = ffi.new("unsigned *")
    assert cl.clGetPlatformIDs(1, platform, count) == 0
    assert cl.clGetDeviceIDs(platform[0], 2, 1, device, count) == 0
    context = cl.clCreateContext(ffi.NULL, 1, device, ffi.NULL, ffi.NULL, code)
    queue = cl.clCreateCommandQueueWithProperties(context, device[0], ffi.NULL, code)
    program = cl.clCreateProgramWithIL(context, PROGRAM, len(PROGRAM), code)
    assert cl.clBuildProgram(program, 1, device, b"", ffi.NULL, ffi.NULL) == 0
    kernel = cl.clCreateKernel(program, b"none", code)
    assert code[0] == 0
    size = ffi.new("size_t[1]", [1])

    def launch() -> None:
        cl.clEnqueueNDRangeKernel(queue, kernel, 1, ffi.NULL, size, size, 0, ffi.NULL, event)
        cl.clWaitForEvents(1, event)
        cl.clReleaseEvent(event[0])

    return launch


def microseconds(launch: Callable[[], None]) -> float:
    """Of one launch, over many."""
    begin = time.perf_counter_ns()
    for _ in range(LAUNCHES):
        launch()
    return (time.perf_counter_ns() - begin) / LAUNCHES / 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 3 if there is no OpenCL runtime."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel_launches")
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args(arguments).json
    with urasync_l0.Context("v2", "software") as context:
        try:
            program = context.create_program(PROGRAM)
        except urasync_l0.UrError as error:
            print(error, file=sys.stderr)
            return 3
        file = runtime()
        if file is None:
            said = "The system's runtime was found; name its file in URASYNC_L0_OPENCL."
            print(said, file=sys.stderr)
            return 3
        queue = context.create_queue()
        kernel = program.kernel("none")
        memory = queue.alloc_device(4)

        def fill() -> None:
            queue.fill(memory, b"\0")
            queue.finish()

        def launch() -> None:
            queue.launch(kernel, (1,), local_size=(1,))
            queue.finish()

        ways = {
            "OpenCL alone": opencl_alone(file),
            "queue.fill of 4 bytes, and finish": fill,
            "queue.launch, and finish": launch,
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                times[name].append(microseconds(way))
        memory.free()
        queue.finish()
        kernel.close()
        program.close()
    least = {name: round(min(each), 2) for name, each in times.items()}
    if as_json:
        print(json.dumps(least))
    else:
        for name, each in least.items():
            print(f"{each:8.2f} µs  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
