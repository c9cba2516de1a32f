# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool for what one block of a program allocates."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context

import pytest

from tests.helpers.usm import MIB, alloc, pool_of
from urasync_l0 import (
    Context,
    InvalidValueError,
    Pool,
    Queue,
    UsmPoolFlag,
    UsmType,
    use_pool,
)
from urasync_l0.result import InvalidArgumentError, InvalidDeviceError


def served_by(queue: Queue, kind: UsmType = UsmType.DEVICE) -> Pool:
    """The pool that an allocation without a name gets."""
    with alloc(queue, kind, 4096) as allocation:
        return allocation.pool


@pytest.mark.parametrize("kind", [UsmType.DEVICE, UsmType.SHARED], ids=["device", "shared"])
def test_a_block_uses_its_pool(context: Context, queue: Queue, kind: UsmType) -> None:
    default = pool_of(queue, kind)
    with use_pool(context.create_pool(0)) as pool:
        assert context.current_pool() is pool
        assert served_by(queue, kind) is pool
        assert served_by(context.create_queue(), kind) is pool
        with context.alloc_shared(64) as unqueued:
            assert unqueued.pool is pool
        named = alloc(queue, kind, 64, pool=default)
        assert named.pool is default
        named.free()
    assert served_by(queue, kind) is default
    assert not pool.core.is_closed


def test_addresses_come_from_it_too(context: Context, queue: Queue) -> None:
    with use_pool(context.create_pool(0)) as pool:
        address, _ = queue.enqueue_alloc(UsmType.DEVICE, 4096)
        assert pool.used_bytes == 4096
    queue.free(address, pool)


def test_blocks_nest_and_an_error_ends_them(context: Context, queue: Queue) -> None:
    outer, inner, for_all = (context.create_pool(0) for _ in range(3))
    with use_pool(outer):
        with suppress(ZeroDivisionError), use_pool(inner):
            assert served_by(queue) is inner
            raise ZeroDivisionError
        assert served_by(queue) is outer
        context.set_current_pool(for_all)
        assert served_by(queue) is outer
    assert served_by(queue) is for_all


def test_a_closed_pool_gives_way(context: Context, queue: Queue) -> None:
    outer, inner = context.create_pool(0), context.create_pool(0)
    with use_pool(outer), use_pool(inner):
        inner.close()
        assert served_by(queue) is outer
        outer.close()
        assert served_by(queue) is context.default_pool()
    assert served_by(queue) is context.default_pool()


def test_a_pool_that_prepares_does_so(context: Context, queue: Queue) -> None:
    with use_pool(context.create_pool(flags=UsmPoolFlag.ZERO_INITIALIZE_BLOCK)) as pool:
        assert served_by(queue) is pool


def test_host_memory_stays_with_the_context(context: Context, queue: Queue) -> None:
    with use_pool(context.create_pool()):
        assert served_by(queue, UsmType.HOST) is context.host_pool


def test_other_threads_keep_their_pool(context: Context, queue: Queue) -> None:
    """Threads that are in blocks at the same time leave them in any order."""
    pools = [context.create_pool(0) for _ in range(3)]
    both_are_in, first_is_out = threading.Barrier(3), threading.Event()
    found: dict[str, Pool] = {}

    def first() -> None:
        with use_pool(pools[0]):
            both_are_in.wait(30)
            found["first"] = served_by(queue)
        first_is_out.set()

    def second() -> None:
        with use_pool(pools[1]):
            both_are_in.wait(30)
            assert first_is_out.wait(30)
            found["second"] = served_by(queue)

    with use_pool(pools[2]):
        threads = [threading.Thread(target=each) for each in (first, second)]
        for thread in threads:
            thread.start()
        both_are_in.wait(30)
        found["starter"] = served_by(queue)
        for thread in threads:
            thread.join(30)
    assert found == {"first": pools[0], "second": pools[1], "starter": pools[2]}
    assert served_by(queue) is context.default_pool()


def test_a_thread_begins_without(context: Context, queue: Queue) -> None:
    """Unless this Python hands the context on to threads."""
    found: list[Pool] = []
    with use_pool(context.create_pool(0)) as pool:
        thread = threading.Thread(target=lambda: found.append(served_by(queue)))
        thread.start()
        thread.join(30)
    is_handed_on = getattr(sys.flags, "thread_inherit_context", False)
    assert found == [pool if is_handed_on else context.default_pool()]


def steps(queue: Queue, pool: Pool) -> Generator[Pool]:
    """Says in each step which pool serves, from within a block."""
    with use_pool(pool):
        while True:
            yield served_by(queue)


def test_generators_leave_their_blocks_in_any_order(context: Context, queue: Queue) -> None:
    pools = [context.create_pool(0) for _ in range(3)]
    running = [steps(queue, pool) for pool in pools]
    assert [next(each) for each in running] == pools
    running.pop(0).close()
    assert served_by(queue) is pools[2]
    running.pop().close()
    assert served_by(queue) is pools[1]
    assert next(running[0]) is pools[1]
    running.pop().close()
    assert served_by(queue) is context.default_pool()


def end_in_a_thread(end: Callable[[], None]) -> None:
    with ThreadPoolExecutor(1) as executor:
        executor.submit(end).result(30)


@pytest.mark.parametrize(
    "elsewhere",
    [lambda end: copy_context().run(end), end_in_a_thread],
    ids=["another context", "another thread"],
)
def test_a_block_may_end_elsewhere(
    context: Context, queue: Queue, elsewhere: Callable[[Callable[[], None]], None]
) -> None:
    """As where a generator is closed by whoever drops it. Nobody takes the long way afterwards."""
    default, pool = context.default_pool(), context.create_pool(0)
    running = steps(queue, pool)
    assert next(running) is pool
    elsewhere(running.close)
    assert served_by(queue) is default
    assert context.current_of(queue.device).pool is default
    kept = weakref.ref(pool)
    del pool, running
    gc.collect()
    queue.record().release()
    assert kept() is None


def test_tasks_have_it_until_the_block_ends(context: Context, queue: Queue) -> None:
    async def program() -> None:
        is_over = asyncio.Event()

        async def task() -> tuple[Pool, Pool]:
            during = served_by(queue)
            with use_pool(another):
                assert served_by(queue) is another
                await asyncio.sleep(0)
                assert served_by(queue) is another
            await is_over.wait()
            return during, served_by(queue)

        with use_pool(pool):
            running = asyncio.create_task(task())
            await asyncio.sleep(0)
            assert served_by(queue) is pool
        is_over.set()
        with use_pool(another):  # so that somebody is in a block when the task looks again
            during, afterwards = await running
        assert during is pool
        assert afterwards is context.default_pool()

    pool, another = context.create_pool(0), context.create_pool(0)
    asyncio.run(program())


def test_one_device_of_several(make_context: Callable[..., Context], queue: Queue) -> None:
    context = make_context(devices=None)
    pool = context.create_pool()
    with use_pool(pool, 0):
        assert context.current_pool(0) is pool
        for device in context.devices[1:]:
            assert context.current_pool(device) is context.default_pool(device)
    with use_pool(pool):
        assert all(context.current_pool(device) is pool for device in context.devices)
        assert served_by(queue) is not pool  # of another context


def test_which_pools_serve_a_block(context: Context, queue: Queue) -> None:
    closed = context.create_pool(0)
    closed.close()
    inside = context.create_pool_in(queue.alloc_device(MIB))
    for bad in (closed, inside, context.host_pool):
        with pytest.raises((InvalidValueError, InvalidArgumentError)), use_pool(bad):
            raise AssertionError("it was used")
    with pytest.raises(InvalidDeviceError), use_pool(context.create_pool(), 99):
        raise AssertionError("it was used")
    with pytest.raises(TypeError, match="pool must be a Pool"), use_pool(None):  # type: ignore[arg-type]
        raise AssertionError("it was used")
    assert served_by(queue) is context.default_pool()
    inside.close()
