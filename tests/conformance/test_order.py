# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work happens in the order of the queues; proved by holding queues, never by sleeping."""

import threading

import pytest

from tests.helpers.gates import hold
from tests.helpers.usm import TIMEOUT_NS, alloc, finish, pool_of, read
from urasync_l0 import KEEP_EVERYTHING, Queue, UsmType
from urasync_l0.software_driver.controls import Controls

NBYTES = 4096


def test_the_last_owner_s_data_wins(controls: Controls, queue: Queue, kind: UsmType) -> None:
    """ORD-3: the memory goes to the next owner while the first one's work still waits."""
    with hold(controls, queue) as held:
        first = alloc(queue, kind, NBYTES)
        queue.fill(first, b"\x01")
        first.free()
        second = alloc(queue, kind, NBYTES)
        assert second.ptr == first.ptr
        queue.fill(second, b"\x02")
        target = bytearray(NBYTES)
        queue.memcpy(target, second)
        assert bytes(target) == bytes(NBYTES)
        held.release()
        finish(queue)
    assert bytes(target) == b"\x02" * NBYTES
    second.free()


def test_a_wait_list_holds_another_queue(
    controls: Controls, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    target = bytearray(NBYTES)
    allocation = alloc(queue, kind, NBYTES)
    with hold(controls, queue) as held:
        written = queue.fill(allocation, b"\x07", event=True)
        copied = other_queue.memcpy(target, allocation, wait=(written,), event=True)
        assert not copied.is_complete()
        assert not other_queue.finish(timeout_ns=0)
        assert bytes(target) == bytes(NBYTES)
        held.release()
        assert copied.wait(TIMEOUT_NS)
    assert bytes(target) == b"\x07" * NBYTES
    allocation.free(wait=(copied,))


def test_an_allocation_waits_for_its_wait_list(
    controls: Controls, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    """Memory freed on a held queue goes to another one that waits for the free's event."""
    first = alloc(queue, kind, NBYTES)
    with hold(controls, queue) as held:
        queue.fill(first, b"\x01")
        freed = queue.free(first, event=True)
        second = alloc(other_queue, kind, NBYTES, wait=(freed,))
        assert second.ptr == first.ptr
        other_queue.fill(second, b"\x02")
        assert not other_queue.finish(timeout_ns=0)
        held.release()
        assert read(other_queue, second) == b"\x02" * NBYTES
    second.free()


def test_order_is_transitive(controls: Controls, queue: Queue, other_queue: Queue) -> None:
    """A before B before C: what A freed is C's without a further wait."""
    third = queue.context.create_queue()
    first = queue.alloc_device(NBYTES)
    with hold(controls, queue) as held:
        queue.fill(first, b"\x01")
        queue.free(first)
        a = queue.record()
        other_queue.wait((a,))
        b = other_queue.record()
        third.wait((b,))
        second = third.alloc_device(NBYTES)
        assert second.ptr == first.ptr
        third.fill(second, b"\x03")
        held.release()
        assert read(third, second) == b"\x03" * NBYTES
    second.free()


def test_a_free_waits_for_side_queues(
    controls: Controls, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    """ORD-6: the free's wait list orders the next owner after another queue's reader."""
    first = alloc(queue, kind, NBYTES)
    queue.fill(first, b"\x05")
    filled = queue.record()
    target = bytearray(NBYTES)
    with hold(controls, other_queue) as held:
        copied = other_queue.memcpy(target, first, wait=(filled,), event=True)
        queue.free(first, wait=(copied,))
        second = alloc(queue, kind, NBYTES)
        assert second.ptr == first.ptr
        queue.fill(second, b"\x06")
        assert not queue.finish(timeout_ns=0)
        held.release()
        finish(queue)
    assert bytes(target) == b"\x05" * NBYTES
    assert read(queue, second) == b"\x06" * NBYTES
    second.free()


def test_memory_is_not_shared_without_order(
    controls: Controls, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    with hold(controls, queue):
        first = alloc(queue, kind, NBYTES)
        queue.fill(first, b"\x01")
        first.free()
        second = alloc(other_queue, kind, NBYTES)
        assert second.ptr != first.ptr
        other_queue.fill(second, b"\x02")
        assert read(other_queue, second) == b"\x02" * NBYTES
    second.free()


def test_nothing_pending_reaches_the_driver(
    controls: Controls, queue: Queue, kind: UsmType
) -> None:
    """ORD-1: finish gives memory back only after its wait."""
    pool = pool_of(queue, kind)
    with hold(controls, queue) as held:
        allocation = alloc(queue, kind, NBYTES)
        queue.fill(allocation, b"\x01")
        allocation.free()
        reserved = pool.reserved_bytes
        thread = threading.Thread(target=finish, args=(queue,))
        thread.start()
        assert not queue.finish(timeout_ns=1_000_000)
        pool.trim_to(0)
        assert pool.reserved_bytes == reserved
        held.release()
        thread.join(TIMEOUT_NS / 1e9)
        assert not thread.is_alive()
    assert pool.reserved_bytes == 0


def test_frees_after_a_finish_began_stay_pending(controls: Controls, queue: Queue) -> None:
    """What is freed while another thread finishes is not covered by that finish."""
    pool = queue.context.default_pool()
    pool.release_threshold = KEEP_EVERYTHING
    early = queue.alloc_device(NBYTES)
    late = queue.alloc_device(NBYTES)
    with hold(controls, queue) as held:
        queue.fill(early, b"\x01")
        early.free()
        thread = threading.Thread(target=finish, args=(queue,))
        before = queue.order.sequence
        thread.start()
        while queue.order.sequence == before:  # until the finish has taken its place
            pass
        queue.fill(late, b"\x02")
        late.free()
        assert pool.statistics().pending > 0
        held.release()
        thread.join(TIMEOUT_NS / 1e9)
    finish(queue)
    assert pool.statistics().pending == 0


def test_finish_returns_after_the_work(controls: Controls, queue: Queue) -> None:
    target = bytearray(NBYTES)
    source = b"\x09" * NBYTES
    with hold(controls, queue) as held:
        queue.memcpy(target, source)
        for timeout in (0, 1, 1_000_000):
            assert not queue.finish(timeout)
        held.release()
        finish(queue)
    assert bytes(target) == source


def test_a_buffer_lives_until_its_copy_is_complete(controls: Controls, queue: Queue) -> None:
    """PY-7: the source is dropped while the copy still waits."""
    target = bytearray(NBYTES)
    with hold(controls, queue) as held:
        for value in range(20):
            queue.memcpy(target, bytes([value]) * NBYTES)
        held.release()
        finish(queue)
    assert bytes(target) == b"\x13" * NBYTES


@pytest.mark.needs_execution("an event must be seen complete")
def test_kept_buffers_stay_few_without_synchronisation(queue: Queue) -> None:
    """MEM-4, for what Python keeps."""
    target = bytearray(64)
    for value in range(5000):
        queue.memcpy(target, bytes([value % 251]) * 64)
    assert len(queue.command_list._kept) <= 1024
    finish(queue)
    assert not queue.command_list._kept
    assert bytes(target) == bytes([4999 % 251]) * 64
