# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A library that allocates inside an application's pool, without knowing of it."""

import urasync_l0

MIB = 1 << 20


# -- the library: it names no pool, so its users decide --------------------------------------------


def doubled(queue: urasync_l0.Queue, source: urasync_l0.Allocation) -> urasync_l0.Allocation:
    """Two copies of the source, one behind the other, in the order of the queue."""
    target = queue.alloc_device(2 * source.nbytes)
    for copy in range(2):
        queue.memcpy(target, source, destination_offset=copy * source.nbytes)
    return target


# -- the application -------------------------------------------------------------------------------

with urasync_l0.Context() as context:
    queue = context.create_queue()
    source = queue.alloc_device(MIB)
    queue.fill(source, b"ab")

    # At most 16 MiB for the library, kept from one call to the next.
    pool = context.create_pool(maximum_size=16 * MIB, release_threshold=urasync_l0.KEEP_EVERYTHING)
    with urasync_l0.use_pool(pool):
        twice = doubled(queue, source)
        print(f"{pool.used_bytes // MIB} MiB of the pool are in use")

        try:
            doubled(queue, queue.alloc_device(12 * MIB))
        except urasync_l0.OutOfMemoryError:
            print(f"the library wanted more than {pool.maximum_size // MIB} MiB")

    queue.finish()
    print(f"the pool keeps {pool.reserved_bytes // MIB} MiB for the next call")
    pool.trim_to(0)
    print(f"trimmed, it has {pool.reserved_bytes // MIB} MiB, all in use")
