# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What threads get done together, each on a queue and a pool of its own: ``-m benchmarks.threads``.

Every thread allocates 4 KiB and frees them, again and again. Prints for each number of threads the
pairs that all of them did in a second, the most of several rounds in turns; their ratio to one
thread; and, the least of the rounds, how often a thread went to sleep in a thousand pairs and the
microseconds of processor time that a pair took. With Python's lock threads sleep for that and the
ratio is 1 at best. Without it, it is the number of processors at best; the loop in Python that
shares nothing, beside it, tells how many the machine had to give.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import urasync_l0

NBYTES = 4096
THREADS = (1, 2, 4, 8)
PAIRS = 20_000
ROUNDS = 9
TIMEOUT_S = 600

Work = Callable[[int], object]
"""Does so many pairs."""


@dataclass(frozen=True, slots=True)
class Took:
    """What pairs took that several threads did at the same time, over all of them.

    Attributes
    ----------
    pairs : how many.
    seconds : from the first thread's start to the last one's end.
    sleeps : how often a thread waited for something, by the kernel's count.
    busy_seconds : processor time of the threads.
    """

    pairs: int
    seconds: float
    sleeps: int
    busy_seconds: float


def together(works: Iterable[Work], pairs: int) -> Took:
    """Do so many pairs of each work, all at once in threads."""
    works = list(works)
    ready = threading.Barrier(len(works))
    begun: list[int] = []
    ended: list[tuple[int, int, int]] = []

    def run(work: Work) -> None:
        try:
            work(1)  # what only the first pair needs
        except BaseException:
            ready.abort()
            raise
        ready.wait(TIMEOUT_S)
        sleeps = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        busy = time.thread_time_ns()
        begun.append(time.perf_counter_ns())
        work(pairs)
        end = time.perf_counter_ns()
        busy = time.thread_time_ns() - busy
        ended.append((end, resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - sleeps, busy))

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(ended) < len(works):
        raise RuntimeError("a thread failed; what it raised is printed above")
    return Took(
        pairs * len(works),
        (max(end for end, _, _ in ended) - min(begun)) / 1e9,
        sum(sleeps for _, sleeps, _ in ended),
        sum(busy for _, _, busy in ended) / 1e9,
    )


def on_pools(contexts: Sequence[urasync_l0.Context], pairs: int, event: bool = False) -> Took:
    """Pairs of a thread for each of the contexts, with a queue and a pool of its own."""
    with ExitStack() as stack:
        works: list[Work] = []
        for context in contexts:
            pool = context.create_pool(release_threshold=urasync_l0.KEEP_EVERYTHING)
            stack.callback(pool.close)
            queue = stack.enter_context(context.create_queue())
            works.append(partial(_pairs, queue, pool, event))
        return together(works, pairs)


def microseconds_a_pair(context: urasync_l0.Context, threads: int) -> float:
    """Time by the clock on the wall, over all pairs of so many threads."""
    took = on_pools([context] * threads, PAIRS // threads)
    return took.seconds * 1e6 / took.pairs


def _pairs(queue: urasync_l0.Queue, pool: urasync_l0.Pool, event: bool, pairs: int) -> None:
    allocate, free = queue.alloc_device, queue.free
    if event:
        for _ in range(pairs):
            free(allocate(NBYTES, pool, event=True), event=True)
    else:
        for _ in range(pairs):
            free(allocate(NBYTES, pool))


def _loops(pairs: int) -> None:
    value = 0.0
    for _ in range(10 * pairs):
        value = value * 0.5 + 1.5


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one JSON object for each way."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--adapter", choices=urasync_l0.adapter_names(), default="v2")
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of each thread; %(default)s")
    chosen = parser.parse_args(arguments)
    rounds = measure(chosen.adapter, chosen.threads, chosen.rounds, chosen.pairs)
    for name, took in rounds.items():
        rates = {
            count: max(each.pairs / each.seconds for each in row) for count, row in took.items()
        }
        result = {
            "benchmark": "threads",
            "adapter": chosen.adapter,
            "python_lock": getattr(sys, "_is_gil_enabled", lambda: True)(),
            "way": name,
            "pairs_a_second": {str(count): round(rate) for count, rate in rates.items()},
            "ratio": {
                str(count): round(rate / rates[chosen.threads[0]], 2)
                for count, rate in rates.items()
            },
            "sleeps_a_thousand": {
                str(count): round(min(each.sleeps * 1000 / each.pairs for each in row), 2)
                for count, row in took.items()
            },
            "busy_us_a_pair": {
                str(count): round(min(each.busy_seconds * 1e6 / each.pairs for each in row), 2)
                for count, row in took.items()
            },
        }
        print(json.dumps(result), flush=True)


def measure(
    adapter: str, threads: Sequence[int], rounds: int, pairs: int
) -> dict[str, dict[int, list[Took]]]:
    """What the rounds took, by what was done and the number of threads."""
    with ExitStack() as stack:
        contexts = [
            stack.enter_context(urasync_l0.Context(adapter=adapter, driver="software"))
            for _ in range(max(threads))
        ]
        few = max(pairs // 20, 1)
        ways: dict[str, Callable[[int], Took]] = {
            "a loop in Python": lambda count: together([_loops] * count, pairs),
            "one context": lambda count: on_pools(contexts[:1] * count, pairs),
            "contexts of their own": lambda count: on_pools(contexts[:count], pairs),
            "one context, with events": lambda count: on_pools(contexts[:1] * count, few, True),
            "contexts of their own, with events": lambda count: on_pools(
                contexts[:count], few, True
            ),
        }
        took: dict[str, dict[int, list[Took]]] = {
            name: {count: [] for count in threads} for name in ways
        }
        for _ in range(rounds):
            for name, run in ways.items():
                for count in threads:
                    gc.collect()
                    gc.disable()
                    try:
                        took[name][count].append(run(count))
                    finally:
                        gc.enable()
        return took


if __name__ == "__main__":
    main()
