# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several threads on the entry points: who waits for whom, and what never happens."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NoReturn

import pytest

from tests.helpers.entries import Client
from tests.helpers.gates import hold
from tests.helpers.threads import switching_often
from tests.helpers.usm import MIB, TIMEOUT_NS
from urasync_l0 import Context, Device, Pool, Queue, UrError, UrResult, UsmType, reference_count
from urasync_l0.enums import UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls

SECONDS = TIMEOUT_NS / 1e9


@contextmanager
def running(*works: Callable[[], object]) -> Iterator[Sequence[threading.Thread]]:
    """Threads that begin together; at the end each must be through, without a failure."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(works) + 1)

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait(SECONDS)
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    start.wait(SECONDS)
    yield threads
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if failures:
        raise failures[0]


def test_a_queue_that_is_waited_for_holds_up_no_other(
    client: Client,
    context: Context,
    queue: Queue,
    other_queue: Queue,
    controls: Controls,
    kind: UsmType,
) -> None:
    """While a thread finishes a held queue, others use its pools, and enqueue on it as well."""
    mem, filled = client.alloc(queue, kind, MIB)
    client.release(filled)
    with hold(controls, queue) as held:
        filled = client.fill(queue, mem, b"\x01", MIB)
        with running(lambda: client.adapter.urQueueFinish(queue)) as (thread,):
            for each in (other_queue, queue):
                other = client.alloc_only(each, kind, MIB)
                client.free_only(each, other)
            client.adapter.urQueueFinish(other_queue)
            pool = client.create_pool(context)
            client.adapter.urUSMPoolRelease(pool)
            assert not filled.is_complete()
            assert thread.is_alive()
            held.release()
    client.release(filled)
    client.free_only(queue, mem)


def test_one_free_of_two_wins(client: Client, queue: Queue, other_queue: Queue) -> None:
    """ERR-9, with threads that free the same pointer at the same time."""
    outcomes: list[UrResult] = []

    def free(on: Queue, pointers: list[int], meet: threading.Barrier) -> None:
        for pointer in pointers:
            meet.wait(SECONDS)
            try:
                client.free_only(on, pointer)
            except UrError as error:
                outcomes.append(error.code)

    # Kept in use side by side, so that no address comes twice.
    pointers = [client.alloc_only(queue, UsmType.DEVICE, 1000) for _ in range(200)]
    meet = threading.Barrier(2)
    with (
        switching_often(),
        running(lambda: free(queue, pointers, meet), lambda: free(other_queue, pointers, meet)),
    ):
        pass
    assert outcomes == [UrResult.INVALID_MEM_OBJECT] * len(pointers)


def test_the_current_pool_changes_under_who_names_none(
    client: Client, context: Context, device: Device, make_queue: Callable[[], Queue]
) -> None:
    """MT-6 and LIFE-5: a pool is set, destroyed and replaced; no allocation ever fails."""
    queues = [make_queue() for _ in range(3)]
    done = threading.Event()

    def allocate(queue: Queue) -> None:
        while not done.is_set():
            client.free_only(queue, client.alloc_only(queue, UsmType.DEVICE, 1000))

    def change() -> None:
        try:
            for _ in range(200):
                pool = client.create_pool(context, device)
                client.adapter.urUSMPoolSetDevicePoolExp(context, device, pool)
                client.adapter.urUSMPoolDestroyExp(context, device, pool)
        finally:
            done.set()

    works = [partial(allocate, queue) for queue in queues]
    with switching_often(), running(change, *works):
        pass


def test_a_pool_is_destroyed_under_who_names_it(
    client: Client, context: Context, device: Device, make_queue: Callable[[], Queue], kind: UsmType
) -> None:
    """LIFE-5: an allocation works or says INVALID_VALUE; the memory goes in every case."""
    queues = [make_queue() for _ in range(3)]

    def use(queue: Queue, pool: Pool) -> NoReturn:
        mem: Out[int] = Out()
        while True:
            client.enqueue_alloc(queue, kind, 1000, mem, pool=pool)
            client.free_only(queue, mem.value)

    def use_until_it_is_gone(queue: Queue, pool: Pool) -> None:
        with pytest.raises(UrError) as caught:
            use(queue, pool)
        assert caught.value.code is UrResult.INVALID_VALUE

    for _ in range(30):
        pool = client.create_pool(context)
        works = [partial(use_until_it_is_gone, queue, pool) for queue in queues]
        destroy = partial(client.adapter.urUSMPoolDestroyExp, context, device, pool)
        with switching_often(), running(destroy, *works):
            pass
        for queue in queues:
            client.adapter.urQueueFinish(queue)
        assert pool.reserved_bytes == 0


def test_references_are_counted_exactly(client: Client, device: Device) -> None:
    """Retained and released from many threads; the last release, and no other, closes."""
    context = client.create_context([device])
    for _ in range(400):
        client.adapter.urContextRetain(context)

    def let_go() -> None:
        for _ in range(100):
            client.adapter.urContextRetain(context)
            client.adapter.urContextRelease(context)
            client.adapter.urContextRelease(context)

    with switching_often(), running(*[let_go] * 4):
        pass
    assert reference_count.count(context) == 1
    assert not context.is_closed
    client.adapter.urContextRelease(context)
    assert context.native.is_closed


def test_numbers_hold_at_every_moment(
    client: Client, context: Context, make_queue: Callable[[], Queue]
) -> None:
    """STAT-1: 0 <= used <= reserved <= high, whoever looks whenever."""
    pool = client.create_pool(context)
    queues = [make_queue() for _ in range(3)]
    done = threading.Event()

    def use(queue: Queue) -> None:
        try:
            for round_ in range(150):
                size = 1000 << (round_ % 12)
                mem = client.alloc_only(queue, UsmType.DEVICE, size, pool=pool)
                client.free_only(queue, mem)
                if round_ % 16 == 0:
                    client.adapter.urQueueFinish(queue)
        finally:
            done.set()

    def look() -> None:
        while not done.is_set():
            numbers = pool.statistics()
            assert 0 <= numbers.used <= numbers.reserved <= numbers.reserved_high
            assert numbers.used <= numbers.used_high <= numbers.reserved_high
            assert client.pool_info(pool, UsmPoolInfo.USED_HIGH_EXP) >= numbers.used_high

    works = [partial(use, queue) for queue in queues]
    with switching_often(), running(look, *works):
        pass
    assert pool.used_bytes == 0
    client.adapter.urUSMPoolRelease(pool)
