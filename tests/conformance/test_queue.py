# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The life of queues and contexts."""

from collections.abc import Callable

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import TIMEOUT_NS, alloc, finish, pool_of, read, repeat_until
from urasync_l0 import Context, InvalidMemObjectError, InvalidValueError, Queue, UsmType
from urasync_l0.enums import Command
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.result import (
    InvalidContextError,
    InvalidDeviceError,
    InvalidOperationError,
    InvalidQueueError,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.transfer import Fill


def test_ids_are_never_used_again(context: Context) -> None:
    seen = set()
    for _ in range(20):
        with context.create_queue() as queue:
            assert queue.id not in seen
            seen.add(queue.id)


def test_a_closed_queue_refuses_work(context: Context, queue: Queue) -> None:
    allocation = queue.alloc_device(64)
    assert queue.close()
    assert queue.close()
    assert queue.is_closed
    for call in (
        lambda: queue.alloc_device(64),
        lambda: queue.free(allocation),
        lambda: queue.fill(allocation, b"\x01"),
        lambda: queue.memcpy(bytearray(64), allocation),
        lambda: queue.wait(()),
        queue.record,
        queue.finish,
    ):
        with LevelZeroCalls() as calls, pytest.raises(InvalidQueueError):
            call()
        assert calls.total == 0
    assert "closed" in repr(queue)
    with context.create_queue() as other:
        other.free(allocation)


def test_close_completes_what_is_pending(queue: Queue, kind: UsmType) -> None:
    """LIFE-2: what the queue freed becomes idle, and other queues get it."""
    context = queue.context
    pool = pool_of(queue, kind)
    pool.release_threshold = 2**40
    allocation = alloc(queue, kind, 4096)
    queue.fill(allocation, b"\x01")
    allocation.free()
    assert pool.statistics().pending > 0
    queue.close()
    assert pool.statistics().pending == 0
    other = context.create_queue()
    with LevelZeroCalls() as calls:
        again = alloc(other, kind, 4096)
    assert again.ptr == allocation.ptr
    assert calls.total == 0
    again.free()


def test_close_waits_for_held_work(controls: Controls, queue: Queue) -> None:
    target = bytearray(16)
    with hold(controls, queue) as held:
        queue.memcpy(target, b"0123456789abcdef")
        assert not queue.close(timeout_ns=1_000_000)
        assert not queue.is_closed
        queue.record().release()  # still works
        held.release()
        assert queue.close(TIMEOUT_NS)
    assert bytes(target) == b"0123456789abcdef"


class _Kept:
    """Something that a command needs, and that the driver has a part of."""


class _Noted(Finalizer):
    __slots__ = ("is_done",)
    is_done: bool

    def run(self, context: NativeContext) -> None:
        self.is_done = context.unwatch(self)


def test_what_commands_kept_goes_with_the_queue(controls: Controls, queue: Queue) -> None:
    """Such as a kernel: whoever shares its module may destroy that then."""
    kept = _Kept()
    page = queue.alloc_device(4096)
    noted = _Noted(kept, queue.native.attention.append)
    noted.is_done = False
    queue.native.watch(noted)
    with hold(controls, queue):
        event = queue.enqueue((Fill(page.ptr, b"x", 1),), (kept,), (), True, Command.USM_FILL)
        del kept
        queue.native.run_finalizers()
        assert not noted.is_done
    assert event is not None
    event.release()
    assert queue.close(TIMEOUT_NS)
    assert noted.is_done


@pytest.mark.needs_execution("data is read back")
def test_many_queues_with_frees_pending(context: Context, kind: UsmType) -> None:
    """LIFE-2."""
    for _ in range(100):
        with context.create_queue() as queue:
            alloc(queue, kind, 10_000).free()
    queue = context.create_queue()
    with alloc(queue, kind, 10_000) as allocation:
        queue.fill(allocation, b"\x77")
        assert read(queue, allocation) == b"\x77" * 10_000


@pytest.mark.needs_execution("data is read back")
def test_allocations_outlive_their_queue(context: Context, queue: Queue, kind: UsmType) -> None:
    """LIFE-3."""
    allocation = alloc(queue, kind, 1000)
    queue.fill(allocation, b"\x12")
    queue.close()
    other = context.create_queue()
    assert read(other, allocation) == b"\x12" * 1000
    other.free(allocation)
    with alloc(other, kind, 1000) as again:
        assert again.ptr == allocation.ptr


def test_a_closed_queue_s_allocations_are_freed_at_once(
    context: Context, queue: Queue, kind: UsmType
) -> None:
    pool = pool_of(queue, kind)
    with alloc(queue, kind, 1000) as allocation:
        queue.close()
    assert allocation.is_freed
    assert (pool.used_bytes, pool.statistics().pending) == (0, 0)


def test_a_dropped_queue_is_closed(controls: Controls, context: Context) -> None:
    lists = controls.live_objects()["command_list"]
    queue = context.create_queue()
    allocation = queue.alloc_device(64)
    queue.fill(allocation, b"\x01")
    finish(queue)
    del allocation, queue
    other = context.create_queue()
    repeat_until(
        lambda: controls.live_objects()["command_list"] == lists + 1, lambda: finish(other)
    )


def test_a_dropped_queue_that_is_busy_is_closed_later(controls: Controls, context: Context) -> None:
    lists = controls.live_objects()["command_list"]
    queue = context.create_queue()
    target = bytearray(4)
    with hold(controls, queue) as held:
        queue.memcpy(target, b"abcd")
        event = queue.record()
        del queue, event
        other = context.create_queue()
        finish(other)
        assert controls.live_objects()["command_list"] == lists + 2
        assert bytes(target) == bytes(4)
        held.release()
        repeat_until(
            lambda: controls.live_objects()["command_list"] == lists + 1, lambda: finish(other)
        )
    assert bytes(target) == b"abcd"


def test_closing_a_context_frees_everything(
    make_context: Callable[..., Context], kind: UsmType
) -> None:
    context = make_context()
    queue = context.create_queue()
    allocations = [alloc(queue, kind, 5000) for _ in range(10)]
    event = queue.record()
    pool = context.create_pool()
    kept = alloc(queue, kind, 100, pool=pool)
    assert context.close(TIMEOUT_NS)
    assert context.close(TIMEOUT_NS)
    assert context.is_closed
    assert event.is_complete()
    for call in (context.create_queue, context.create_pool, lambda: pool.trim_to(0)):
        with LevelZeroCalls() as calls, pytest.raises(InvalidContextError):
            call()
        assert calls.total == 0
    with pytest.raises((InvalidQueueError, InvalidContextError)):
        queue.free(kept)
    assert "closed" in repr(context)
    del allocations, event, kept


def test_a_context_that_is_busy_closes_later(
    controls: Controls, make_context: Callable[..., Context]
) -> None:
    context = make_context()
    queue = context.create_queue()
    with hold(controls, queue) as held:
        queue.record()
        assert not context.close(timeout_ns=1_000_000)
        assert not context.is_closed
        held.release()
        assert context.close(TIMEOUT_NS)


def test_contexts_are_separate(make_context: Callable[..., Context], kind: UsmType) -> None:
    one, two = make_context().create_queue(), make_context().create_queue()
    allocation = alloc(one, kind, 100)
    with LevelZeroCalls() as calls, pytest.raises(InvalidMemObjectError):
        two.free(allocation)
    with pytest.raises(InvalidMemObjectError):
        two.free(allocation.ptr)
    with pytest.raises(InvalidValueError):
        alloc(two, kind, 100, pool=one.context.create_pool())
    assert calls.total == 0
    allocation.free()


def test_unknown_names(make_context: Callable[..., Context]) -> None:
    with pytest.raises(InvalidValueError, match="'legacy' or 'v2'"):
        Context("v3")
    with pytest.raises(InvalidValueError, match="expanding_segments"):
        make_context(expanding_segments="perhaps")


def test_one_driver_a_process(driver: str, make_context: Callable[..., Context]) -> None:
    make_context()
    other = "system" if driver == "software" else "software"
    with pytest.raises(InvalidOperationError, match="only once"):
        Context(driver=other)  # type: ignore[arg-type]


def test_unknown_devices(make_context: Callable[..., Context], context: Context) -> None:
    for device in (-1, len(context.devices), 1000):
        with pytest.raises(InvalidDeviceError):
            context.create_queue(device)
    for device in (-1, len(context.platform.devices), 1000):
        with pytest.raises(InvalidDeviceError):
            make_context(devices=[device])
    with pytest.raises(InvalidValueError):
        make_context(devices=[])


def test_what_a_device_says(context: Context) -> None:
    device = context.devices[0]
    assert device.name
    assert len(device.uuid) == 16
    assert device.max_allocation > 0
    assert device.total_memory > 0
    assert device.supports_async_alloc
    assert device.name in repr(device)
    assert device in context.platform.devices
    assert context.platform.api_version >= (1, 0)


@pytest.mark.parametrize("expanding", ["on", "off", "auto"])
def test_expanding_segments(
    controls: Controls, make_context: Callable[..., Context], expanding: str
) -> None:
    context = make_context(expanding_segments=expanding)
    queue = context.create_queue()
    if expanding != "auto":
        assert context.has_expanding_segments() == (expanding == "on")
    with queue.alloc_device(5 << 20) as allocation:
        mapped = controls.live_objects()["physical_memory"]
        assert (mapped > 0) == context.has_expanding_segments()
        queue.fill(allocation, b"xyz", (5 << 20) // 3 * 3)
        assert read(queue, allocation, 9) == b"xyzxyzxyz"


@pytest.mark.parametrize(
    "entry",
    [
        "zeVirtualMemQueryPageSize",
        "zeVirtualMemReserve",
        "zePhysicalMemCreate",
        "zeVirtualMemMap",
        "zeMemGetAllocProperties",
    ],
)
def test_a_driver_that_cannot_map(
    controls: Controls, make_context: Callable[..., Context], entry: str
) -> None:
    """The probe fails, leaves nothing behind, and pools use separate allocations."""
    controls.fail(entry, 1, 0x78000003, times=0)
    context = make_context(expanding_segments="on")
    assert not context.has_expanding_segments()
    assert controls.live_objects()["physical_memory"] == 0
    with context.create_queue() as queue:
        queue.alloc_device(100).free()


def test_the_setting_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, make_context: Callable[..., Context]
) -> None:
    monkeypatch.setenv("URASYNC_L0_EXPANDING_SEGMENTS", "off")
    assert not make_context().has_expanding_segments()
    monkeypatch.setenv("URASYNC_L0_EXPANDING_SEGMENTS", "sometimes")
    with pytest.raises(InvalidValueError, match="URASYNC_L0_EXPANDING_SEGMENTS"):
        make_context()
