# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long an allocation takes among many free blocks (PERF-5): ``-m benchmarks.free_blocks``.

Every second of a row of allocations is freed, so that no two free blocks touch, and pairs of an
allocation and a free of various sizes are timed. Prints the processor's microseconds a pair for
each number of free blocks, the least of several rounds, and the ratio to the smallest number: the
search should hardly depend on it.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from collections.abc import Sequence

import urasync_l0

COUNTS = (100, 1_000, 10_000, 100_000)
PAIRS = 400
ROUNDS = 9


def sizes_of(spread: str, count: int, seed: int) -> list[int]:
    """Sizes in bytes of ``count`` blocks: all alike, or log-uniform from 256 bytes to 64 KiB."""
    if spread == "one size":
        return [4096] * count
    generator = random.Random(seed)
    return [int(2 ** generator.uniform(8, 16)) for _ in range(count)]


def microseconds_a_pair(adapter: str, spread: str, count: int) -> float:
    """Least time of an allocation and a free among ``count`` free blocks."""
    with urasync_l0.Context(adapter=adapter, driver="software") as context:
        pool = context.create_pool(release_threshold=urasync_l0.KEEP_EVERYTHING)
        queue = context.create_queue()
        row = [queue.alloc_device(size, pool) for size in sizes_of(spread, 2 * count, 1)]
        for allocation in row[::2]:
            queue.free(allocation)
        queue.finish()
        wanted = sizes_of(spread, PAIRS, 2)
        rounds = []
        gc.disable()
        try:
            for _ in range(ROUNDS):
                start = time.thread_time_ns()
                for size in wanted:
                    queue.free(queue.alloc_device(size, pool))
                rounds.append((time.thread_time_ns() - start) / PAIRS / 1000)
                queue.finish()
        finally:
            gc.enable()
        del row
        return min(rounds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one JSON object for each spread of sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapter", choices=urasync_l0.adapter_names(), default="v2")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    chosen = parser.parse_args(arguments)
    for spread in ("one size", "many sizes"):
        times = {
            count: microseconds_a_pair(chosen.adapter, spread, count) for count in chosen.counts
        }
        first = times[chosen.counts[0]]
        result = {
            "benchmark": "free_blocks",
            "adapter": chosen.adapter,
            "sizes": spread,
            "us_per_pair": {str(count): round(each, 2) for count, each in times.items()},
            "ratio": {str(count): round(each / first, 2) for count, each in times.items()},
        }
        print(json.dumps(result))


if __name__ == "__main__":
    main()
