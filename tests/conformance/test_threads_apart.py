# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads on different queues and pools share no lock of ours, as long as the pools have memory.

Every lock of the package that there is before a thread gets its queue and its pool is held while
that thread works: those of other queues and pools, of the context and its tables, and those of the
modules. Only its own are free. What needs an event, or the driver, needs the context's tables too.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.helpers.usm import TIMEOUT_NS, alloc, finish
from urasync_l0 import KEEP_EVERYTHING, Context, Pool, Queue, UsmType
from urasync_l0.pool.structure import Lock

PAIRS = 300
PACKAGE = "urasync_l0"
LOCK_TYPES = (type(threading.Lock()), type(Lock()))


def locks() -> dict[int, Any]:
    """Every lock that a module or an object of the package holds, by its identity."""
    holders: list[Any] = [
        vars(module) for name, module in list(sys.modules.items()) if _is_ours(name)
    ]
    holders += [each for each in gc.get_objects() if _is_ours(type(each).__module__)]
    found: dict[int, Any] = {}
    for holder in holders:
        for each in gc.get_referents(holder):
            # What an object has in its __dict__ may be one step further.
            inner = gc.get_referents(each) if isinstance(each, dict) else [each]
            found |= {id(lock): lock for lock in inner if isinstance(lock, LOCK_TYPES)}
    return found


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == PACKAGE


@contextmanager
def held(some: dict[int, Any]) -> Iterator[None]:
    """Hold locks that nobody has."""
    with ExitStack() as stack:
        for lock in some.values():
            stack.enter_context(lock)
        yield


class Worker:
    """A queue and a pool, and what a thread does with them."""

    def __init__(self, context: Context, kind: UsmType) -> None:
        self.kind = kind
        self.queue: Queue = context.create_queue()
        self.pool: Pool = context.create_pool(release_threshold=KEEP_EVERYTHING)
        self.work()  # gets the memory from the driver

    def work(self) -> int:
        """Pairs, by object and by address, with a few in use and pending at a time."""
        row = []
        for number in range(PAIRS):
            row.append(alloc(self.queue, self.kind, 4096, pool=self.pool))
            if len(row) > 5:
                row.pop(number % 5).free()
            address, _ = self.queue.enqueue_alloc(self.kind, 256, self.pool)
            self.queue.free(address)
        for allocation in row:
            self.queue.free(allocation)
        return self.pool.statistics().frees

    def own_locks(self) -> set[int]:
        return {id(self.queue.order.lock), id(self.pool.core.lock)}


def done_beside(some: dict[int, Any], work: Callable[[], int]) -> int | None:
    """What the work gives in a thread of its own while the locks are held; None if it waits."""
    with ThreadPoolExecutor(1) as threads, held(some):
        result = threads.submit(work)
        try:
            return result.result(TIMEOUT_NS / 1e9)
        except TimeoutError:
            return None


def test_no_lock_is_shared(context: Context, kind: UsmType) -> None:
    """MT-1: beside threads that stand still with every lock that others could want."""
    other = Worker(context, kind)
    kept = alloc(other.queue, kind, 4096, pool=other.pool)
    before = locks()
    assert other.own_locks() <= set(before), "this test finds the locks"
    worker = Worker(context, kind)
    frees = worker.pool.statistics().frees
    made = set(locks()) - set(before)
    assert worker.own_locks() <= made
    assert done_beside(before, worker.work) == 2 * frees
    other.queue.free(kept)
    finish(other.queue)
    finish(worker.queue)


@pytest.mark.parametrize("whose", ["the pool's", "a shared"])
def test_a_lock_that_is_shared_is_noticed(
    context: Context, kind: UsmType, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the test above rests on: a thread that needs one of the locks does not end."""
    worker = Worker(context, kind)
    monkeypatch.setattr("tests.conformance.test_threads_apart.TIMEOUT_NS", 200_000_000)
    if whose == "the pool's":
        some = {id(worker.pool.core.lock): worker.pool.core.lock}
        assert done_beside(some, worker.work) is None
    else:
        some = {id(context.native.registry._lock): context.native.registry._lock}
        assert done_beside(some, lambda: len(context.native.registry.pools())) is None
    finish(worker.queue)
