# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel from SPIR-V, launched in a queue's order with the allocation and the free around it.

The program is scale.spv, which a compiler made of scale.cl beside it: any that writes SPIR-V for
OpenCL does, such as clang with llvm-spirv (packaging/spirv.sh has the commands). On the software
driver it needs an OpenCL runtime: pip install 'urasync-l0[kernels]'.
"""

import struct
from pathlib import Path

import urasync_l0

COUNT = 1024

with urasync_l0.Context() as context:
    program = context.create_program(Path(__file__).with_name("scale.spv").read_bytes())
    scale = program.kernel("scale")
    print("kernels:", ", ".join(program.kernel_names()))

    queue = context.create_queue()
    data = queue.alloc_device(4 * COUNT)
    place = data.ptr
    queue.fill(data, struct.pack("f", 1.5))
    queue.launch(scale, (COUNT,), [data, struct.pack("f", 4.0)])  # an address, then four bytes
    result = context.alloc_host(4 * COUNT)
    queue.memcpy(result, data)
    queue.free(data)  # behind the launch, without a wait

    again = queue.alloc_device(4 * COUNT)  # in the same memory, behind the launch as well
    print("the same memory:", again.ptr == place)
    queue.fill(again, struct.pack("f", -1.0))
    queue.free(again)

    queue.finish()  # the only wait of the host
    print("scaled:", set(struct.unpack(f"{COUNT}f", result.memoryview())))
