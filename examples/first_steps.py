# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""First steps: memory that is allocated, used and freed in the order of a queue."""

import urasync_l0

MIB = 1 << 20

with urasync_l0.Context() as context:
    queue = context.create_queue()

    # None of these calls waits for the device: each takes its place in the queue's order.
    squares = queue.alloc_device(MIB)
    queue.fill(squares, bytes([0, 1, 4, 9]))
    result = queue.alloc_host(MIB)
    queue.memcpy(result, squares)
    queue.free(squares)

    # The fill and the copy may not have run yet, and their memory serves again all the same:
    # whatever is done with it comes later in the same order.
    zeros = queue.alloc_device(MIB)
    print("the same memory again:", zeros.ptr == squares.ptr)
    queue.fill(zeros, b"\0")

    queue.finish()  # the only wait of the host
    print("the first bytes:", *result.memoryview()[:8])

    numbers = context.default_pool().statistics()
    print(f"allocations: {numbers.allocations}, calls for driver memory: {numbers.driver_allocs}")
