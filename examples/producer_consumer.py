# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two queues: one makes blocks of data, the other uses them up and frees them.

An event orders each use after the making. The frees need none: they stand in the consumer's
order, and the pool finds out when the producer may have the memory again.
"""

import urasync_l0

MIB = 1 << 20
BLOCKS = 200

with urasync_l0.Context() as context:
    producer, consumer = context.create_queue(), context.create_queue()
    results = context.alloc_host(BLOCKS)

    for number in range(BLOCKS):
        block = producer.alloc_device(MIB)
        producer.fill(block, bytes([number]))
        made = producer.record()

        consumer.memcpy(results, block, 1, destination_offset=number, wait=[made])
        consumer.free(block)

    consumer.finish()
    print("every block arrived:", bytes(results.memoryview()) == bytes(range(BLOCKS)))

    numbers = context.default_pool().statistics()
    print(f"{BLOCKS} MiB went through a pool of {numbers.reserved_high // MIB} MiB")
