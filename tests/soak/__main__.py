# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operations of many threads on many queues, under the software driver's checker.

``python -m tests.soak --seconds 3600`` runs for an hour, half of it on each adapter, and prints
what is held. Exit status 1 when a byte was wrong, the checker reported something, a bound was
broken or something was left in the end.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence

CHECK = "URASYNC_L0_SOFTWARE_CHECK"
SEED = "URASYNC_L0_SOFTWARE_SEED"

ADAPTERS = ("legacy", "v2")
LIMITS = (128 << 20, 32 << 20)
"""Bytes that the pools may hold."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--queues", type=int, default=8, help="that all threads share")
    parser.add_argument("--adapter", choices=(*ADAPTERS, "all"), default="all")
    parser.add_argument("--every", type=float, default=10.0, metavar="S", help="seconds of a line")
    parser.add_argument(
        "--seed", type=int, default=None, help="of operations and schedules; default: at random"
    )
    parsed = parser.parse_args(arguments)
    seed: int = random.SystemRandom().randrange(1, 10**9) if parsed.seed is None else parsed.seed
    os.environ[CHECK], os.environ[SEED] = "1", str(seed)  # before the driver begins
    adapters = ADAPTERS if parsed.adapter == "all" else (parsed.adapter,)
    failed = False
    for adapter in adapters:
        print(f"{adapter}, {parsed.threads} threads, {parsed.queues} queues, --seed {seed}")
        problems = soak(adapter, parsed, seed, parsed.seconds / len(adapters))
        for problem in problems:
            print(f"FAILED: {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


def soak(adapter: str, options: argparse.Namespace, seed: int, seconds: float) -> list[str]:
    """Load one adapter; what went wrong, in words."""
    from tests.helpers.usm import TIMEOUT_NS
    from tests.soak.watch import faults, left, sample
    from tests.soak.work import Worker
    from urasync_l0 import KEEP_EVERYTHING, Context
    from urasync_l0.software_driver.controls import Controls

    context = Context(adapter, "software")
    controls = Controls()
    before = controls.live_objects() | {"context": 0}
    pools = [
        context.create_pool(maximum_size=LIMITS[0]),
        context.create_pool(maximum_size=LIMITS[1], release_threshold=KEEP_EVERYTHING),
    ]
    queues = [context.create_queue() for _ in range(options.queues)]
    stop = threading.Event()
    workers = [
        Worker(context, queues, pools, random.Random(f"{seed} {number}"), stop)
        for number in range(options.threads)
    ]
    problems: list[str] = []

    def run(worker: Worker) -> None:
        try:
            worker.run()
        except BaseException as error:
            problems.append(f"{type(error).__name__}: {error}")
            stop.set()

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in workers]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    samples = [sample(0.0, controls)]
    shown = 0.0
    while not stop.wait(min(1.0, seconds / 20)):
        samples.append(sample(time.monotonic() - began, controls))
        if samples[-1].seconds >= shown + options.every:
            shown = samples[-1].seconds
            print(samples[-1].line(), flush=True)
        if samples[-1].seconds >= seconds:
            break
    stop.set()
    for thread in threads:
        thread.join(TIMEOUT_NS / 1e9)
    if any(thread.is_alive() for thread in threads):
        return [*problems, "a thread does not come to its end"]
    counts = sum((worker.counts for worker in workers), Counter())
    print(", ".join(f"{number:,} {name}" for name, number in counts.most_common()))
    samples.append(sample(time.monotonic() - began, controls))
    problems += faults(samples, len(queues), pools)
    del workers, queues, pools
    context.close(TIMEOUT_NS)
    problems += left(context, controls, before)
    problems += [f"the checker: {report}" for report in controls.take_reports()]
    return problems


if __name__ == "__main__":
    sys.exit(main())
