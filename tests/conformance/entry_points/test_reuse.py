# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What UR's own suite asks of enqueued allocations, on one device, and what it skips."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise

import pytest

from tests.helpers.calls import WAIT, LevelZeroCalls
from tests.helpers.entries import Client
from tests.helpers.gates import hold
from tests.helpers.threads import switching_often
from tests.helpers.usm import KINDS, TIMEOUT_NS
from urasync_l0 import Context, Event, Queue, UsmType
from urasync_l0.enums import UsmPoolInfo
from urasync_l0.software_driver.controls import Controls

QUEUES = 8
ROUNDS = 256


def test_the_same_queue_gets_the_same_memory(client: Client, queue: Queue, kind: UsmType) -> None:
    """ORD-3, with a chain of events and no host wait between."""
    first, allocated = client.alloc(queue, kind, 4)
    freed = client.free(queue, first, wait=[allocated])
    second, again = client.alloc(queue, kind, 4, wait=[freed])
    assert second == first
    client.free_only(queue, second)
    client.release(allocated, freed, again)


def test_a_free_finds_the_pool_of_the_pointer(
    client: Client, context: Context, queue: Queue, kind: UsmType
) -> None:
    pool = client.create_pool(context)
    mem, allocated = client.alloc(queue, kind, 4, pool=pool)
    filled = client.fill(queue, mem, b"\0\0\0\1", 4, wait=[allocated])
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 256
    freed = client.free(queue, mem)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 0
    client.release(allocated, filled, freed)
    client.adapter.urUSMPoolRelease(pool)


@pytest.mark.needs_execution("data is read back")
def test_work_between_alloc_and_free_of_the_same_memory(
    client: Client, queue: Queue, kind: UsmType
) -> None:
    """Twice, without an event: each use sees its own bytes only."""
    for value in (b"\x01", b"\x02"):
        mem = client.alloc_only(queue, kind, 64)
        client.release(client.fill(queue, mem, value, 64))
        assert client.read(queue, mem, 64) == value * 64
        client.free_only(queue, mem)


@pytest.mark.parametrize("held", [False, True], ids=["running", "held"])
def test_other_queues_get_the_memory_that_they_wait_for(
    client: Client,
    make_queue: Callable[[], Queue],
    request: pytest.FixtureRequest,
    kind: UsmType,
    held: bool,
) -> None:
    """ORD-5 (b), which UR's suite skips since Intel's adapters fail it.

    Allocated, filled and freed on one queue; then each further queue, waiting for the free of the
    one before, gets the same pointer. Held queues prove that no completion helped.
    """
    queues = [make_queue() for _ in range(QUEUES)]
    events: list[Event] = []
    with ExitStack() as gates:
        if held:
            controls: Controls = request.getfixturevalue("controls")
            for queue in queues:
                gates.enter_context(hold(controls, queue))
        first, allocated = client.alloc(queues[0], kind, 1024)
        filled = client.fill(queues[0], first, b"\x55", 1024, wait=[allocated])
        freed = client.free(queues[0], first, wait=[filled])
        events += [allocated, filled, freed]
        for queue in queues[1:]:
            with LevelZeroCalls() as calls:
                mem, allocated = client.alloc(queue, kind, 1024, wait=[freed])
            assert mem == first
            # The caller's own wait orders it; the pool adds none.
            assert calls.of(WAIT) <= 1
            freed = client.free(queue, mem, wait=[allocated])
            events += [allocated, freed]
    for queue in queues:
        client.adapter.urQueueFinish(queue)
    client.release(*events)


def test_a_queue_that_waits_for_nothing_gets_other_memory(
    client: Client, queue: Queue, other_queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """ORD-5: the memory of a held queue is not handed out to one that is not ordered after it."""
    with hold(controls, queue):
        first = client.alloc_only(queue, kind, 1024)
        client.release(client.fill(queue, first, b"\x55", 1024))
        client.free_only(queue, first)
        second = client.alloc_only(other_queue, kind, 1024)
        assert second != first
        client.free_only(other_queue, second)


def in_threads(work: Callable[[Queue], None], queues: list[Queue]) -> None:
    """Do the work on all queues at the same time, each in a thread of its own."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(queues))

    def run(queue: Queue) -> None:
        try:
            start.wait(TIMEOUT_NS / 1e9)
            work(queue)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(queue,)) for queue in queues]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(4 * TIMEOUT_NS / 1e9)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if failures:
        raise failures[0]


@pytest.mark.slow
@pytest.mark.needs_execution("data is read back")
def test_many_live_allocations_on_queues_of_their_own(
    client: Client, make_queue: Callable[[], Queue], kind: UsmType
) -> None:
    """MT-1: all are live at the same time, none overlaps another, each keeps its bytes."""
    queues = [make_queue() for _ in range(QUEUES)]
    given: dict[Queue, list[int]] = {}
    everywhere = threading.Barrier(QUEUES)

    def work(queue: Queue) -> None:
        mine = given[queue] = [client.alloc_only(queue, kind, 1024) for _ in range(ROUNDS)]
        client.adapter.urQueueFinish(queue)
        everywhere.wait(TIMEOUT_NS / 1e9)
        for place, mem in enumerate(mine):
            client.adapter.urEnqueueUSMFill(
                queue, mem, 2, bytes([queues.index(queue), place]), 1024, 0, None, None
            )
        client.adapter.urQueueFinish(queue)
        everywhere.wait(TIMEOUT_NS / 1e9)
        for place, mem in enumerate(mine):
            if place % 32 == 0:
                expected = bytes([queues.index(queue), place]) * 512
                assert client.read(queue, mem, 1024) == expected
            client.free_only(queue, mem)
        client.adapter.urQueueFinish(queue)

    in_threads(work, queues)
    addresses = sorted(mem for mine in given.values() for mem in mine)
    assert len(addresses) == QUEUES * ROUNDS
    assert all(b - a >= 1024 for a, b in pairwise(addresses))


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True], ids=["own_queue", "one_queue"])
def test_chains_of_events_in_threads(
    client: Client, make_queue: Callable[[], Queue], kind: UsmType, shared: bool
) -> None:
    """MT-1: every step waits for the one before it; all events live until the end."""
    queues = [make_queue()] * QUEUES if shared else [make_queue() for _ in range(QUEUES)]

    def work(queue: Queue) -> None:
        events: list[Event] = []
        for _ in range(ROUNDS):
            mem, allocated = client.alloc(queue, kind, 1024, wait=events[-1:])
            filled = client.fill(queue, mem, b"\xaf", 1024, wait=[allocated])
            events += [allocated, filled, client.free(queue, mem, wait=[filled])]
        client.adapter.urQueueFinish(queue)
        client.release(*events)

    in_threads(work, queues)


def test_kinds_do_not_get_each_others_memory(client: Client, queue: Queue) -> None:
    given = {kind: client.alloc_only(queue, kind, 1024) for kind in KINDS}
    for mem in given.values():
        client.free_only(queue, mem)
    for kind in reversed(KINDS):
        mem = client.alloc_only(queue, kind, 1024)
        assert mem == given[kind]
        client.free_only(queue, mem)
