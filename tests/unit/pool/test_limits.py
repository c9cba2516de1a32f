# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens when there is no more: limits, the ladder, and its error."""

from __future__ import annotations

import pickle

import pytest

from tests.helpers.pool_fakes import (
    DEVICE,
    HOST,
    INFINITE,
    MIB,
    SHARED,
    FakeDriver,
    FakeEvent,
    FakeQueue,
    Program,
    World,
)
from urasync_l0.pool import HeapKey, HeapSource, Pool, PoolRegistry, ReusePolicy
from urasync_l0.result import (
    DeviceLostError,
    InvalidArgumentError,
    InvalidUsmSizeError,
    OutOfHostMemoryError,
    OutOfMemoryError,
    UrResult,
)

NO_WAITS = ReusePolicy(by_waiting=False, wait_when_exhausted=False)
HOST_WAITS = ReusePolicy(by_waiting=False)


@pytest.fixture(params=[True, False], ids=["pages", "segments"])
def virtual(request: pytest.FixtureRequest) -> bool:
    """Whether device memory comes in pages."""
    return bool(request.param)


def freed(program: Program, pool: Pool, queue: FakeQueue, size: int, key: HeapKey = DEVICE) -> int:
    """Allocate and free on one queue; return the address."""
    block = program.alloc(pool, queue, size, key=key)
    address = block.address
    program.free(queue, block)
    return address


# -- sizes that are refused at once ----------------------------------------------------------------


@pytest.mark.parametrize("key", [DEVICE, SHARED, HOST], ids=["device", "shared", "host"])
@pytest.mark.parametrize("size", [0, (1 << 36) + 1, 1 << 63, (1 << 64) - 511, (1 << 64) - 1])
def test_impossible_sizes_are_refused_without_a_call(
    virtual: bool, key: HeapKey, size: int
) -> None:
    """ERR-3, ERR-4, ERR-5: no ladder, no rounding that wraps around, and the pool works on."""
    program = Program(virtual=virtual)
    pool, queue = program.pool(), program.queue()
    freed(program, pool, queue, 4096, key)
    before, calls = pool.statistics(), program.calls.total
    with pytest.raises(InvalidUsmSizeError, match=f"{size} bytes.* 1 to {1 << 36} bytes") as caught:
        pool.allocate(queue.order, key, size)
    assert caught.value.code is UrResult.INVALID_USM_SIZE
    assert pool.statistics() == before
    assert program.calls.total == calls
    program.alloc(pool, queue, 4096, key=key)
    pool.check()


def test_negative_size_is_refused() -> None:
    """No caller of the interface can pass one, and none gets memory for it."""
    program = Program()
    with pytest.raises(InvalidUsmSizeError):
        program.pool().allocate(program.queue().order, DEVICE, -1)
    assert program.calls.total == 0


@pytest.mark.parametrize("size", [1, 7, 8, 64, 255, 256, 257])
def test_tiny_sizes_work(virtual: bool, size: int) -> None:
    """ERR-3, STAT-2: every size from one byte on works; used counts what was handed out, requested
    what was asked for."""
    program = Program(virtual=virtual)
    pool, queue = program.pool(), program.queue()
    program.alloc(pool, queue, size)
    numbers = pool.statistics()
    assert numbers.requested == size
    assert numbers.used == (256 if size <= 256 else 512)


def test_largest_size_is_possible(virtual: bool) -> None:
    """The limit itself is no breach of it."""
    program = Program(virtual=virtual)
    pool, queue = program.pool(), program.queue()
    program.driver.maximum_allocation = 16 * MIB
    assert program.alloc(pool, queue, 16 * MIB).size == 16 * MIB
    with pytest.raises(InvalidUsmSizeError):
        program.alloc(pool, queue, 16 * MIB + 1)


def test_kind_that_a_pool_does_not_serve_is_refused() -> None:
    """ERR-11: one fixed code, and the message says what the pool has."""
    program = Program()
    del program.sources[HOST]
    pool, queue = program.pool(), program.queue()
    with pytest.raises(InvalidArgumentError, match=r"no HOST memory .*DEVICE on device 0, SHARED"):
        pool.allocate(queue.order, HOST, 1)
    assert program.calls.total == 0


# -- the limit of a pool ---------------------------------------------------------------------------


def test_limit_counts_all_kinds_and_reclaims_before_it_refuses(virtual: bool) -> None:
    """MEM-10: 512 MiB idle under a limit of 1 GiB do not stand in the way of 800 MiB; reserved
    bytes never pass the limit; what does not fit changes nothing."""
    program = Program(virtual=virtual, range_size=1 << 32)
    pool, queue = program.pool(maximum_size=1024 * MIB), program.queue()
    for key in (SHARED, DEVICE):
        freed(program, pool, queue, 256 * MIB, key)
    program.finish(queue)
    block = program.alloc(pool, queue, 800 * MIB)
    assert pool.statistics().reserved == program.driver.held <= 1024 * MIB
    before = pool.statistics()
    for key in (DEVICE, SHARED, HOST):
        with pytest.raises(OutOfMemoryError):
            program.alloc(pool, queue, 300 * MIB, key=key)
    after = pool.statistics()
    assert after.out_of_memory == before.out_of_memory + 3
    assert (after.used, after.used_high) == (before.used, before.used_high)
    assert after.requested == before.requested
    assert after.reserved_high <= 1024 * MIB
    program.free(queue, block)
    program.alloc(pool, queue, 1000 * MIB, key=SHARED)
    assert program.driver.held <= 1024 * MIB
    pool.check()


def test_limit_need_not_be_a_multiple_of_the_step() -> None:
    """Separate allocations round up to the step only as far as the limit allows."""
    program = Program(virtual=False)
    pool, queue = program.pool(maximum_size=3 * MIB + 100), program.queue()
    program.alloc(pool, queue, 5 * MIB // 2)
    assert pool.statistics().reserved == 3 * MIB
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, queue, 1 * MIB)
    program.alloc(pool, queue, MIB // 2)
    pool.check()


def test_limit_that_is_lowered_below_what_is_held() -> None:
    """Nothing is taken away; pages may still move, since that holds no more than before."""
    program = Program()
    pool, queue = program.pool(), program.queue()
    blocks = [program.alloc(pool, queue, 2 * MIB) for _ in range(5)]
    program.free(queue, blocks[1])
    program.free(queue, blocks[3])
    program.finish(queue)
    pool.maximum_size = 4 * MIB
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, queue, 6 * MIB)
    program.alloc(pool, queue, 4 * MIB)
    numbers = pool.statistics()
    assert (numbers.reserved, numbers.pages_moved) == (10 * MIB, 2)
    pool.check()


def test_limit_releases_only_what_is_missing() -> None:
    """The ladder stops as soon as enough is free: 3 of 8 idle segments make room."""
    program = Program()
    pool, queue = program.pool(maximum_size=20 * MIB), program.queue()
    blocks = [program.alloc(pool, queue, 2 * MIB, key=SHARED) for _ in range(8)]
    for block in blocks:
        program.free(queue, block)
    program.finish(queue)
    program.alloc(pool, queue, 10 * MIB)
    assert program.calls.counts["free"] == 3
    numbers = pool.statistics()
    assert (numbers.reserved, numbers.ladder_releases, numbers.ladder_waits) == (20 * MIB, 1, 0)
    assert program.calls.counts["wait"] == 0


def test_own_limit_leaves_other_pools_alone(virtual: bool) -> None:
    """The idle memory of another pool is no help against the limit of this one, whatever the
    request rounds up to."""
    program = Program(virtual=virtual)
    queue = program.queue()
    other, pool = program.pool(name="other"), program.pool(maximum_size=4 * MIB, policy=HOST_WAITS)
    freed(program, other, queue, 8 * MIB)
    program.finish(queue)
    pending = program.alloc(other, queue, 2 * MIB, key=HOST)
    program.free(queue, pending)
    program.alloc(pool, queue, 2 * MIB)
    for size in (5 * MIB // 2, 4 * MIB, 5 * MIB):
        with pytest.raises(OutOfMemoryError):
            program.alloc(pool, queue, size)
    numbers = other.statistics()
    assert (numbers.reserved, numbers.pending) == (10 * MIB, 2 * MIB)
    assert program.calls.counts["wait"] == 0


# -- the driver says no ----------------------------------------------------------------------------


def test_pending_memory_serves_a_larger_request(virtual: bool) -> None:
    """MEM-1: nearly all of the device is pending in small blocks, and a larger request succeeds."""
    program = Program(limit=100 * MIB, virtual=virtual)
    pool, queue = program.pool(), program.queue()
    blocks = [program.alloc(pool, queue, 8 * MIB) for _ in range(10)]
    for block in blocks:
        program.free(queue, block)
    program.alloc(pool, queue, 50 * MIB)
    assert program.driver.held <= 100 * MIB
    pool.check()


def test_ladder_takes_its_steps_in_order() -> None:
    """MEM-1: markers and queries, the driver, a wait of the queue, dropped allocations, idle memory
    back to the driver, a host wait for the oldest free; after each it searches again."""
    program = Program(limit=8 * MIB, virtual=False)
    pool = program.pool()
    a, b = program.queue(), program.queue()
    for size in (2 * MIB, 2 * MIB):
        program.alloc(pool, b, size, key=SHARED)
    first = program.alloc(pool, a, 2 * MIB)
    second = program.alloc(pool, b, 2 * MIB)
    program.free(a, first)
    program.free(b, second)

    def reclaim() -> bool:
        program.calls.call("reclaim")
        return False

    program.registry.reclaimers.append(reclaim)
    start = len(program.calls.log)
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, a, 6 * MIB)
    steps = program.calls.log[start:]
    assert sorted(steps[:2]) == ["append_signal", "append_signal"], "a marker on each queue"
    driver = steps.index("allocate")
    assert set(steps[2:driver]) == {"query"}, "asked, and with a moment's patience asked again"
    assert steps[driver:] == [
        "allocate",
        "reclaim",
        "wait",  # the own queue's free first
        "query",
        "free",
        "allocate",
        "wait",
        "query",
        "free",
        "allocate",
    ]
    numbers = pool.statistics()
    assert (numbers.ladder_waits, numbers.ladder_releases) == (2, 2)
    assert numbers.out_of_memory == 1
    assert program.driver.held == pool.statistics().reserved == 4 * MIB
    pool.check()


def test_ladder_tries_the_driver_before_a_wait_of_the_queue() -> None:
    """PERF-2: one queue waits for another only when the driver has no more."""
    program = Program(limit=4 * MIB)
    pool, a, b = program.pool(), program.queue(), program.queue()
    first = freed(program, pool, a, 2 * MIB)
    assert program.alloc(pool, b, 2 * MIB).address != first
    assert program.calls.counts["append_wait"] == 0
    assert program.alloc(pool, b, 2 * MIB).address == first
    assert program.calls.counts["append_wait"] == 1
    assert program.calls.counts["wait"] == 0


def test_ladder_waits_for_one_free_at_a_time(virtual: bool) -> None:
    """It stops as soon as there is enough: the later frees stay pending."""
    program = Program(limit=6 * MIB, virtual=virtual)
    pool, queue, other = program.pool(policy=HOST_WAITS), program.queue(), program.queue()
    blocks = [program.alloc(pool, queue, 2 * MIB) for _ in range(3)]
    for block in blocks:
        program.free(queue, block)
        queue.order.marker_covering(queue.order.sequence + 1).release()
    program.alloc(pool, other, 2 * MIB)
    numbers = pool.statistics()
    assert (numbers.ladder_waits, numbers.pending) == (1, 4 * MIB)
    pool.check()


def test_ladder_waits_for_the_oldest_free_of_others(virtual: bool) -> None:
    """The own queue has freed nothing; of two others, the one that freed first is waited for."""
    program = Program(limit=4 * MIB, virtual=virtual)
    pool = program.pool(policy=HOST_WAITS)
    a, b, c = program.queue(), program.queue(), program.queue()
    first, second = program.alloc(pool, a, 2 * MIB), program.alloc(pool, b, 2 * MIB)
    program.free(b, second)
    program.free(a, first)
    assert program.alloc(pool, c, 2 * MIB).address == second.address
    assert b.reached > 0
    assert a.reached == 0


def test_without_host_waits_the_call_does_not_block(virtual: bool) -> None:
    """The fourth switch: the last step is an error, and pending memory stays pending."""
    program = Program(limit=4 * MIB, virtual=virtual)
    pool, queue, other = program.pool(policy=NO_WAITS), program.queue(), program.queue()
    freed(program, pool, queue, 4 * MIB)
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, other, 4 * MIB)
    assert program.calls.counts["wait"] == 0
    assert pool.statistics().pending == 4 * MIB
    program.alloc(pool, queue, 4 * MIB)
    pool.check()


def test_idle_memory_of_other_pools_goes_back_when_the_driver_is_out(virtual: bool) -> None:
    """The device is full of another pool's idle memory, and no more of it goes than is needed."""
    program = Program(limit=12 * MIB, virtual=virtual)
    queue = program.queue()
    other, pool = program.pool(name="other"), program.pool(policy=NO_WAITS)
    blocks = [program.alloc(other, queue, 2 * MIB) for _ in range(6)]
    for block in blocks[1:]:
        program.free(queue, block)
    program.finish(queue)
    program.alloc(pool, queue, 4 * MIB)
    assert other.statistics().reserved == 8 * MIB
    assert other.statistics().ladder_releases == 1
    assert program.driver.held == 12 * MIB
    for each in (other, pool):
        each.check()


def test_pending_memory_of_other_pools_is_waited_for(virtual: bool) -> None:
    """The device is full of what another pool has pending; it is complete before it goes back."""
    program = Program(limit=4 * MIB, virtual=virtual)
    a, b = program.queue(), program.queue()
    other, pool = program.pool(name="other"), program.pool()
    freed(program, other, a, 4 * MIB)
    program.alloc(pool, b, 4 * MIB)
    log = program.calls.log
    last_free = max(log.index(name) for name in ("free", "unmap") if name in log)
    assert log.index("wait") < last_free
    assert a.reached > 0
    assert other.statistics().reserved == 0


def test_dropped_allocations_are_freed_before_an_error() -> None:
    """MEM-1: what Python holds no more, but has not yet freed, is freed on demand."""
    program = Program(limit=4 * MIB)
    pool, queue = program.pool(policy=NO_WAITS), program.queue()
    dropped = program.alloc(pool, queue, 4 * MIB)

    def reclaim() -> bool:
        program.free(queue, dropped)
        return True

    program.registry.reclaimers.append(reclaim)
    assert program.alloc(pool, queue, 4 * MIB).address == dropped.address


# -- the error -------------------------------------------------------------------------------------


def test_error_has_the_numbers(virtual: bool) -> None:
    """PY-5: the message and the attributes say what the pool holds; the error can be pickled and
    caught as `MemoryError`."""
    program = Program(virtual=virtual)
    pool = program.pool(name="mine", maximum_size=8 * MIB, policy=NO_WAITS)
    queue, other = program.queue(), program.queue()
    program.alloc(pool, queue, 2 * MIB)
    freed(program, pool, queue, 2 * MIB)
    freed(program, pool, other, 1 * MIB, SHARED)
    program.finish(other)
    with pytest.raises(MemoryError) as caught:
        program.alloc(pool, other, 7 * MIB + 1)
    error = caught.value
    assert isinstance(error, OutOfMemoryError)
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert each.code is UrResult.OUT_OF_DEVICE_MEMORY
        assert each.requested == 7 * MIB + 1
        assert (each.used, each.pending, each.idle) == (2 * MIB, 2 * MIB, 0)
        assert (each.reserved, each.limit, each.device) == (4 * MIB, 8 * MIB, "device 0")
        for number in (7 * MIB + 1, 2 * MIB, 4 * MIB, 8 * MIB):
            assert str(number) in str(each)
        assert "'mine'" in str(each)


def test_host_memory_has_its_own_code() -> None:
    """Host memory that runs out is ``OUT_OF_HOST_MEMORY`` and names no device."""
    program = Program(limit=4 * MIB)
    pool, queue = program.pool(), program.queue()
    with pytest.raises(OutOfHostMemoryError, match="limit none") as caught:
        program.alloc(pool, queue, 5 * MIB, key=HOST)
    assert caught.value.code is UrResult.OUT_OF_HOST_MEMORY
    assert caught.value.device is None
    assert caught.value.limit is None


@pytest.mark.parametrize("broken", ["create", "map", "unmap", "append_wait", "wait"])
def test_lost_device_is_not_retried(broken: str) -> None:
    """An error that is not about memory ends the search at once: the call that met it is the last
    driver call but for those that undo."""
    program = Program(limit=8 * MIB)
    policy = HOST_WAITS if broken == "wait" else None
    pool, queue, other = program.pool(policy=policy), program.queue(), program.queue()
    blocks = [program.alloc(pool, queue, 2 * MIB) for _ in range(3)]
    program.free(queue, blocks[1])
    if broken not in ("append_wait", "wait"):
        program.finish(queue)
    else:
        program.driver.limit = 6 * MIB
    before = pool.statistics()
    program.calls.code = UrResult.DEVICE_LOST
    program.calls.broken = {broken}
    program.calls.fail_after = None
    size = 2 * MIB if broken in ("append_wait", "wait") else 4 * MIB
    start = len(program.calls.log)
    with pytest.raises(DeviceLostError):
        program.alloc(pool, other, size)
    after = program.calls.log[start:]
    rest = after[after.index(broken) + 1 :]
    assert set(rest) <= {"unmap", "map", "destroy"}
    assert pool.statistics().used == before.used
    assert pool.statistics().out_of_memory == 0
    pool.check()


def test_memory_the_driver_denies_under_another_name_is_out_of_memory(virtual: bool) -> None:
    """OUT_OF_RESOURCES and OUT_OF_HOST_MEMORY from the driver start the ladder as well."""
    for code in (UrResult.OUT_OF_RESOURCES, UrResult.OUT_OF_HOST_MEMORY):
        program = Program(virtual=virtual)
        pool, queue = program.pool(), program.queue()
        program.calls.code = code
        program.calls.broken = {"allocate", "create"}
        with pytest.raises(OutOfMemoryError, match="0 used, 0 pending, 0 idle, 0 reserved"):
            program.alloc(pool, queue, 1)


# -- what is not pooled ----------------------------------------------------------------------------


def test_large_allocations_beyond_the_pooled_size_have_memory_of_their_own() -> None:
    """They neither take from the pooled heap nor stay when they are complete, whatever the
    threshold."""
    program = Program()
    pool, queue = program.pool(maximum_pooled=1 * MIB), program.queue()
    program.alloc(pool, queue, 1 * MIB)
    large = program.alloc(pool, queue, 1 * MIB + 1)
    assert program.driver.allocations == {large.address: large.size}
    program.free(queue, large)
    assert pool.statistics().pending == large.size
    assert program.driver.allocations
    program.finish(queue)
    assert not program.driver.allocations
    assert pool.statistics().reserved == 2 * MIB
    pool.check()


def test_each_allocation_beyond_the_pooled_size_is_one_of_the_driver() -> None:
    """Small ones too: nothing else shares their memory, and what is complete goes back."""
    program = Program()
    pool, queue = program.pool(maximum_pooled=0), program.queue()
    blocks = [program.alloc(pool, queue, size) for size in (1, 300, 300, 70_000)]
    assert program.driver.allocations == {block.address: block.size for block in blocks}
    program.free(queue, blocks[1])
    program.finish(queue)
    assert sorted(program.driver.allocations.values()) == [256, 512, 70_144]
    assert pool.statistics().reserved == 256 + 512 + 70_144
    pool.check()


@pytest.mark.parametrize("more", [-257, -256, 0, 1])
def test_memory_of_its_own_serves_only_the_same_size(more: int) -> None:
    """Reused in queue order for the same rounded size, and never cut."""
    program = Program()
    pool, queue = program.pool(maximum_pooled=0), program.queue()
    first = program.alloc(pool, queue, 1 * MIB)
    address = first.address
    program.free(queue, first)
    second = program.alloc(pool, queue, 1 * MIB + more)
    assert (second.address == address) == (more == 0)
    assert pool.statistics().used == second.size
    pool.check()


@pytest.mark.parametrize("size", [1 * MIB, 1 * MIB - 256], ids=["same", "smaller"])
def test_memory_of_its_own_is_waited_for_only_when_it_helps(size: int) -> None:
    """At the limit another queue's free is waited for, if it is of the size that is asked for."""
    program = Program()
    policy = ReusePolicy(by_polling=False, wait_when_exhausted=False)
    pool = program.pool(maximum_pooled=0, maximum_size=1 * MIB, policy=policy)
    one, other = program.queue(), program.queue()
    program.free(one, program.alloc(pool, one, 1 * MIB))
    if size == 1 * MIB:
        program.alloc(pool, other, size)
        assert pool.statistics().inserted_waits == 1
    else:
        with pytest.raises(OutOfMemoryError):
            program.alloc(pool, other, size)
        assert pool.statistics().inserted_waits == 0
    pool.check()


def test_own_memory_on_request(virtual: bool) -> None:
    """Also below the pooled size, and given back when the call that asked for it fails."""
    program = Program(virtual=virtual)
    pool, queue = program.pool(), program.queue()
    before = program.driver.objects()
    block = pool.allocate(queue.order, DEVICE, 1000, own=True)
    assert program.driver.allocations == {block.address: 1024}
    pool.give_back(block)
    assert program.driver.objects() == before
    assert (pool.statistics().reserved, pool.statistics().reserved_high) == (0, 0)
    pool.check()


# -- what the ladder may touch ---------------------------------------------------------------------


def test_a_full_device_is_not_helped_by_host_memory() -> None:
    """Idle host memory stays, however much there is; idle segments of the device go."""
    device, host = FakeDriver(limit=8 * MIB), FakeDriver()
    host.calls = device.calls
    host.start_at(1 << 40)
    world = World()
    registry = PoolRegistry(world.domain)
    sources = {HOST: HeapSource(host), DEVICE: HeapSource(device)}
    pool = Pool(registry, sources, release_threshold=1 << 60)
    queue = FakeQueue(world, device.calls)
    blocks = [pool.allocate(queue.order, HOST, 16 * MIB)]
    blocks += [pool.allocate(queue.order, DEVICE, 4 * MIB) for _ in range(2)]
    for block in blocks:
        pool.free(registry.claim(block.address), queue.order, queue.order.sequence + 1)
    registry.synchronised(queue.synchronise())
    pool.allocate(queue.order, DEVICE, 8 * MIB)
    assert host.held == 16 * MIB
    assert device.held == 8 * MIB
    pool.check()


def test_more_than_the_limit_is_refused_before_anything_is_given_back(virtual: bool) -> None:
    """No search could help, so the pool keeps what it has and nobody waits."""
    program = Program(virtual=virtual)
    pool, queue = program.pool(maximum_size=8 * MIB), program.queue()
    freed(program, pool, queue, 4 * MIB)
    program.finish(queue)
    reserved, calls = pool.statistics().reserved, program.calls.total
    with pytest.raises(OutOfMemoryError) as caught:
        pool.allocate(queue.order, DEVICE, 8 * MIB + 1)
    assert caught.value.limit == 8 * MIB
    assert pool.statistics().reserved == reserved
    assert program.calls.total == calls


@pytest.mark.parametrize("short", [1, 255, 256])
def test_a_limit_just_below_a_step_is_kept(virtual: bool, short: int) -> None:
    """MEM-10: to the byte, not to the granule."""
    program = Program(virtual=virtual)
    pool, queue = program.pool(maximum_size=4 * MIB - short, policy=NO_WAITS), program.queue()
    program.alloc(pool, queue, 2 * MIB)
    with pytest.raises(OutOfMemoryError):
        pool.allocate(queue.order, DEVICE, 2 * MIB)
    assert pool.statistics().reserved <= 4 * MIB - short


def test_the_ladder_waits_only_for_memory_that_can_help() -> None:
    """Host memory that a queue holds up is no help to a device that is full."""
    device, host = FakeDriver(limit=8 * MIB), FakeDriver()
    host.calls = device.calls
    host.start_at(1 << 40)
    world = World()
    registry = PoolRegistry(world.domain)
    sources = {HOST: HeapSource(host), DEVICE: HeapSource(device)}
    pool = Pool(registry, sources, release_threshold=1 << 60)
    busy, asking = FakeQueue(world, device.calls), FakeQueue(world, device.calls)
    block = pool.allocate(busy.order, HOST, 4 * MIB)
    pool.free(registry.claim(block.address), busy.order, busy.order.sequence + 1)
    pool.allocate(asking.order, DEVICE, 8 * MIB)
    with pytest.raises(OutOfMemoryError):
        pool.allocate(asking.order, DEVICE, 1 * MIB)
    assert device.calls.counts["wait"] == 0
    assert pool.statistics().ladder_waits == 0


def test_a_lost_device_ends_the_search() -> None:
    """What a marker reports of a lost device is the answer, also when other memory is left."""
    program = Program()
    pool, queue, other = program.pool(), program.queue(), program.queue()
    program.free(other, program.alloc(pool, other, 3 * MIB))
    before = pool.statistics()
    program.calls.code = UrResult.DEVICE_LOST
    program.calls.broken = {"query"}
    with pytest.raises(DeviceLostError):
        pool.allocate(queue.order, DEVICE, 3 * MIB)
    program.calls.broken = set()
    assert pool.statistics().used == before.used
    pool.check()


def test_memory_of_its_own_does_not_pile_up() -> None:
    """MEM-4: without any synchronisation, what is complete goes back before more is asked for."""
    program = Program()
    pool, queue = program.pool(maximum_pooled=0), program.queue(eager=True)
    for size in range(1, 3000):
        program.free(queue, program.alloc(pool, queue, size * 256))
    assert pool.statistics().reserved <= 256 * 256 * 3000
    assert len(program.driver.allocations) < 300
    pool.check()


def test_the_queues_own_frees_are_waited_for_first(
    virtual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MEM-1: also when another queue's are older; that queue need not be disturbed."""
    program = Program(virtual=virtual)
    pool = program.pool(maximum_size=8 * MIB, policy=HOST_WAITS)
    own, other = program.queue(), program.queue()
    blocks = [program.alloc(pool, own, 2 * MIB) for _ in range(4)]
    program.free(other, blocks[0])
    program.free(own, blocks[2])
    waited: list[int] = []
    wait = FakeEvent.wait

    def note(event: FakeEvent, timeout_ns: int) -> bool:
        if timeout_ns == INFINITE:
            waited.append(event.queue.order.id)
        return wait(event, timeout_ns)

    monkeypatch.setattr(FakeEvent, "wait", note)
    with pytest.raises(OutOfMemoryError):
        program.alloc(pool, own, 7 * MIB)
    assert waited == [own.order.id, other.order.id]
    pool.check()
