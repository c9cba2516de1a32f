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
from collections.abc import Callable, Sequence

import urasync_l0

Clock = Callable[[], int]
"""Nanoseconds: of the calling thread's processor time, or of the wall's."""

COUNTS = (100, 1_000, 10_000, 100_000)
PAIRS = 400
ROUNDS = 9


def sizes_of(spread: str, count: int, seed: int) -> list[int]:
    """Sizes in bytes of ``count`` blocks: all alike, or log-uniform from 256 bytes to 64 KiB."""
    if spread == "one size":
        return [4096] * count
    generator = random.Random(seed)
    return [int(2 ** generator.uniform(8, 16)) for _ in range(count)]


def microseconds_a_pair(
    context: urasync_l0.Context, spread: str, count: int, clock: Clock = time.thread_time_ns
) -> float:
    """Least time of an allocation and a free among ``count`` free blocks, in a pool of its own."""
    pool = context.create_pool(release_threshold=urasync_l0.KEEP_EVERYTHING)
    with context.create_queue() as queue:
        row = [queue.alloc_device(size, pool) for size in sizes_of(spread, 2 * count, 1)]
        for allocation in row[::2]:
            queue.free(allocation)
        wanted = sizes_of(spread, PAIRS, 2)
        rounds = []
        gc.disable()
        try:
            for _ in range(ROUNDS):
                queue.finish()
                start = clock()
                for size in wanted:
                    queue.free(queue.alloc_device(size, pool))
                rounds.append((clock() - start) / PAIRS / 1000)
        finally:
            gc.enable()
        for allocation in row[1::2]:
            queue.free(allocation)
        queue.finish()
    pool.close()
    return min(rounds)


def sizes_text(spread: str, count: int) -> str:
    """What `microseconds_a_pair` does, for the C program: three counts, then sizes."""
    blocks, wanted = sizes_of(spread, 2 * count, 1), sizes_of(spread, PAIRS, 2)
    return " ".join(map(str, [len(blocks), len(wanted), ROUNDS, *blocks, *wanted])) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one JSON object for each spread of sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapter", choices=urasync_l0.adapter_names(), default="v2")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    chosen = parser.parse_args(arguments)
    for spread in ("one size", "many sizes"):
        times = {}
        for count in chosen.counts:
            with urasync_l0.Context(adapter=chosen.adapter, driver="software") as context:
                times[count] = microseconds_a_pair(context, spread, count)
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
