# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several threads, on queues of their own and on one queue."""

import threading
from collections.abc import Callable, Iterator
from random import Random

import pytest

from tests.helpers.threads import switching_often
from tests.helpers.usm import TIMEOUT_NS, alloc, finish, pool_of
from urasync_l0 import (
    Allocation,
    Context,
    Event,
    InvalidMemObjectError,
    InvalidValueError,
    Queue,
    UsmType,
)

THREADS = 6
ROUNDS = 60


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    with switching_often():
        yield


def run(work: Callable[[int], None]) -> None:
    """Run the work in threads at the same time; fail as the first of them fails."""
    errors: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def body(number: int) -> None:
        try:
            start.wait(TIMEOUT_NS / 1e9)
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(n,), daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * TIMEOUT_NS / 1e9)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def churn(queue: Queue, kind: UsmType, seed: int) -> None:
    """Allocate, write, read back and free, with a pattern of its own each time."""
    random = Random(seed)
    for n in range(ROUNDS):
        nbytes = random.randrange(1, 40_000)
        pattern = bytes([seed * 40 % 256, n])
        with alloc(queue, kind, 2 * nbytes) as allocation:
            queue.fill(allocation, pattern)
            target = bytearray(2 * nbytes)
            event = queue.memcpy(target, allocation, event=True)
            assert event.wait(TIMEOUT_NS)
            assert bytes(target) == pattern * nbytes


@pytest.mark.needs_execution("data is read back")
def test_own_queues(context: Context, kind: UsmType) -> None:
    """MT-1."""
    queues = [context.create_queue() for _ in range(THREADS)]
    run(lambda number: churn(queues[number], kind, number))
    for queue in queues:
        finish(queue)
    numbers = pool_of(queues[0], kind).statistics()
    assert (numbers.used, numbers.pending, numbers.requested) == (0, 0, 0)
    assert numbers.allocations == numbers.frees == THREADS * ROUNDS


@pytest.mark.needs_execution("data is read back")
def test_one_queue(queue: Queue, kind: UsmType) -> None:
    """MT-1."""
    run(lambda number: churn(queue, kind, number))
    finish(queue)
    numbers = pool_of(queue, kind).statistics()
    assert (numbers.used, numbers.pending) == (0, 0)


@pytest.mark.needs_execution("data is read back")
def test_finish_beside_work(queue: Queue, kind: UsmType) -> None:
    def work(number: int) -> None:
        if number:
            churn(queue, kind, number)
        else:
            for _ in range(ROUNDS):
                finish(queue)

    run(work)


@pytest.mark.needs_execution("data is read back")
def test_handing_memory_round(context: Context, kind: UsmType) -> None:
    """Each thread frees what its neighbour allocated, ordered by the neighbour's event."""
    queues = [context.create_queue() for _ in range(THREADS)]
    slots: list[list[tuple[int, int, Event]]] = [[] for _ in range(THREADS)]

    def work(number: int) -> None:
        queue = queues[number]
        for n in range(ROUNDS):
            allocation = alloc(queue, kind, 5000)
            event = queue.fill(allocation, bytes([number, n]), event=True)
            address = allocation.ptr
            slots[number].append((address, n, event))
            # The address alone travels; the object is kept alive in the list below.
            kept[number].append(allocation)
            neighbour = (number + 1) % THREADS
            if slots[neighbour]:
                address, m, written = slots[neighbour].pop()
                target = bytearray(5000)
                queue.memcpy(target, address, 5000, wait=(written,))
                queue.free(address)
                finish(queue)
                assert bytes(target) == bytes([neighbour, m]) * 2500

    kept: list[list[object]] = [[] for _ in range(THREADS)]
    run(work)
    for slot in slots:
        for address, _, event in slot:
            queues[0].free(address, wait=(event,))
    finish(queues[0])
    assert pool_of(queues[0], kind).used_bytes == 0


def test_queues_come_and_go(context: Context, kind: UsmType) -> None:
    def work(number: int) -> None:
        for n in range(12):
            with context.create_queue() as queue:
                with alloc(queue, kind, 3000) as allocation:
                    queue.fill(allocation, bytes([number, n, 7]))
                    event = queue.record()
                assert event.wait(TIMEOUT_NS)

    run(work)
    assert len(context.native.lists) == 0


def test_one_free_of_two_wins(context: Context, kind: UsmType) -> None:
    """ERR-9: threads that free the same allocation at the same time."""
    queues = [context.create_queue() for _ in range(THREADS)]
    allocations = [alloc(queues[0], kind, 512) for _ in range(ROUNDS)]
    won: list[int] = []

    def work(number: int) -> None:
        for n, allocation in enumerate(allocations):
            try:
                queues[number].free(allocation)
                won.append(n)
            except InvalidMemObjectError:
                pass

    run(work)
    assert sorted(won) == list(range(ROUNDS))
    assert pool_of(queues[0], kind).used_bytes == 0


@pytest.mark.parametrize("by", ["the queue", "the queue, with an event", "the context"])
def test_a_free_that_lost_frees_nobody_elses_memory(
    context: Context, kind: UsmType, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ERR-9: another thread frees the allocation after the look whether it is live, and gets the
    same block again before this one takes it out of use."""
    queue, other = context.create_queue(), context.create_queue()
    allocation = alloc(queue, kind, 512)
    is_freed = Allocation.is_freed
    others: list[Allocation] = []

    def look(target: Allocation) -> bool:
        seen: bool = is_freed.__get__(target)
        if target is allocation and not others:
            other.free(allocation.ptr)
            others.append(alloc(other, kind, 512))
        return seen

    monkeypatch.setattr(Allocation, "is_freed", property(look))
    try:
        if by == "the context":
            context.free(allocation)
        else:
            queue.free(allocation, event="event" in by)
    except InvalidMemObjectError:
        assert others
    monkeypatch.undo()
    if others:  # C looks, and takes it out of use, at once
        assert others[0].ptr == allocation.ptr
        assert not others[0].is_freed
        assert pool_of(queue, kind).statistics().frees == 1
        others[0].free()
    else:
        assert by != "the context"
    assert allocation.is_freed
    finish(other)
    finish(queue)
    assert pool_of(queue, kind).used_bytes == 0


def test_pools_close_beside_allocations(context: Context) -> None:
    """LIFE-5: an allocation either gets memory that stays, or is told that the pool is closed."""
    queues = [context.create_queue() for _ in range(THREADS)]
    pools = [context.create_pool() for _ in range(ROUNDS)]

    def work(number: int) -> None:
        queue = queues[number]
        for pool in pools:
            if number == 0:
                pool.close()
                continue
            for _ in range(3):
                try:
                    allocation = queue.alloc_device(5000, pool=pool)
                except InvalidValueError:
                    break
                queue.fill(allocation, b"\x01")
                allocation.free()
            if number == 1:
                finish(queue)

    run(work)
    for queue in queues:
        finish(queue)
    assert [pool.reserved_bytes for pool in pools] == [0] * ROUNDS
