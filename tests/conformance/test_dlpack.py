# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocations as DLPack tensors: what the capsules say, who keeps what, and the order."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.dlpack_reader import TakenTensor, Tensor
from tests.helpers.gates import hold
from tests.helpers.strict_process import run_strictly
from tests.helpers.usm import TIMEOUT_NS, alloc, pool_of
from urasync_l0 import Allocation, Context, Event, InvalidMemObjectError, Queue, UsmType
from urasync_l0.software_driver.controls import Controls

HOST = 1, 0
ONE_API = 14


def taken(capsule: Any) -> Tensor:
    """What a capsule says; the memory is given back at once."""
    tensor = TakenTensor(capsule)
    answer = tensor.read()
    tensor.let_go()
    return answer


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3)])
def test_what_a_capsule_says(
    queue: Queue, kind: UsmType, max_version: tuple[int, int] | None
) -> None:
    with alloc(queue, kind, 100) as allocation:
        on_host = kind is UsmType.HOST
        device = HOST if on_host else (ONE_API, queue.device.index)
        assert allocation.__dlpack_device__() == device
        assert taken(allocation.__dlpack__(max_version=max_version)) == Tensor(
            version=(1, 0) if max_version and max_version[0] else None,
            flags=0,
            address=allocation.ptr,
            device=device,
            dtype=(1, 8, 1),
            shape=(100,),
            strides=(1,),
            byte_offset=0,
        )


def test_memory_of_a_context(context: Context, queue: Queue) -> None:
    with context.alloc_device(64) as device, context.alloc_host(64) as host:
        assert device.__dlpack_device__() == (ONE_API, queue.device.index)
        assert host.__dlpack_device__() == HOST
        taken(device.__dlpack__(stream=queue))


def test_where_memory_is_wanted(queue: Queue) -> None:
    own = ONE_API, queue.device.index
    with queue.alloc_shared(64) as shared, queue.alloc_device(64) as device:
        for wanted in (HOST, own, None):
            assert taken(shared.__dlpack__(dl_device=wanted)).device == (wanted or own)
        assert taken(device.__dlpack__(dl_device=own)).device == own
        for wrong in (HOST, (ONE_API, own[1] + 1), (2, 0)):
            with pytest.raises(BufferError, match="is not on DLPack's device"):
                device.__dlpack__(dl_device=wrong)
    with queue.alloc_host(64) as host:
        assert taken(host.__dlpack__(dl_device=HOST, copy=False)).device == HOST


def test_what_is_refused(queue: Queue, make_context: Callable[..., Context]) -> None:
    stranger = make_context().create_queue()
    with queue.alloc_shared(64) as shared:
        with pytest.raises(BufferError, match=r"Queue\.memcpy"):
            shared.__dlpack__(copy=True)
        for stream in (0, 7, stranger, "a queue"):
            with pytest.raises(BufferError, match="stream is"):
                shared.__dlpack__(stream=stream)  # type: ignore[arg-type]
        with pytest.raises(BufferError, match="stream is"):
            shared.__dlpack__(stream=queue, dl_device=HOST)
    with pytest.raises(InvalidMemObjectError):
        shared.__dlpack__()


def test_parts_of_devices_have_no_number(make_context: Callable[..., Context]) -> None:
    context = make_context()
    device = context.devices[0]
    parts = device.sub_devices or device.compute_slices
    if not parts:
        pytest.skip(f"{device!r} has no parts")
    queue = context.create_queue(parts[0])
    with queue.alloc_device(64) as allocation:
        with pytest.raises(BufferError, match="no number for such a part"):
            allocation.__dlpack_device__()
        with pytest.raises(BufferError):
            allocation.__dlpack__()
        assert not hasattr(allocation, "__sycl_usm_array_interface__")
    with queue.alloc_host(64) as allocation:
        assert allocation.__dlpack_device__() == HOST


# -- who keeps what --------------------------------------------------------------------------------


def used(queue: Queue, kind: UsmType) -> int:
    """Bytes in use, once what was dropped is noticed."""
    queue.record().release()
    return pool_of(queue, kind).used_bytes


def test_a_capsule_keeps_the_allocation(queue: Queue, kind: UsmType) -> None:
    for max_version in (None, (1, 0)):
        allocation: Allocation | None = alloc(queue, kind, 100)
        assert allocation is not None
        capsule = allocation.__dlpack__(max_version=max_version)
        allocation = None
        gc.collect()
        assert used(queue, kind) == 256
        del capsule  # nobody took the memory
        gc.collect()
        assert used(queue, kind) == 0


def test_whoever_takes_it_keeps_the_allocation(queue: Queue, kind: UsmType) -> None:
    for max_version in (None, (1, 0)):
        tensor = TakenTensor(alloc(queue, kind, 100).__dlpack__(max_version=max_version))
        gc.collect()
        assert used(queue, kind) == 256
        thread = threading.Thread(target=tensor.let_go)
        thread.start()
        thread.join(30)
        gc.collect()
        assert used(queue, kind) == 0


def test_a_capsule_that_outlives_everything(adapter: str) -> None:
    run_strictly(
        f"""
        import sys
        import urasync_l0
        context = urasync_l0.Context("{adapter}")
        sys.kept = context.create_queue().alloc_host(64).__dlpack__()
        """
    )


# -- order -----------------------------------------------------------------------------------------


def test_without_a_stream_everything_before_is_complete(queue: Queue, other_queue: Queue) -> None:
    with queue.alloc_shared(64) as shared:
        filled = other_queue.fill(shared, b"\1", wait=[queue.record()], event=True)
        taken(shared.__dlpack__())
        assert filled.mark.is_complete()
        queue.wait([filled])


def test_a_queue_comes_after_what_the_allocating_queue_was_given(
    queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    with queue.alloc_shared(64) as shared, hold(controls, queue) as held:
        queue.fill(shared, b"\1")
        taken(shared.__dlpack__(stream=other_queue))
        behind = other_queue.record()
        assert not behind.wait(timeout_ns=1_000_000)
        held.release()
        assert behind.wait(TIMEOUT_NS)


def test_memory_of_no_queue_is_complete_first(
    context: Context, queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    """Any queue may have used it, so the host waits for all, whichever the stream is."""
    with context.alloc_shared(64) as shared:
        seen: list[bool] = []

        def take(filled: Event) -> None:
            capsule = shared.__dlpack__(stream=other_queue)
            seen.append(filled.mark.is_complete())
            taken(capsule)

        with hold(controls, queue) as held:
            filled = queue.fill(shared, b"\1", event=True)
            taker = threading.Thread(target=take, args=(filled,), daemon=True)
            taker.start()
            taker.join(0.2)
            assert seen == []
            held.release()
        taker.join(TIMEOUT_NS / 1e9)
        assert seen == [True]


def test_no_order_waits_for_nothing(queue: Queue, controls: Controls) -> None:
    with queue.alloc_shared(64) as shared, hold(controls, queue):
        queue.fill(shared, b"\1")
        taken(shared.__dlpack__(stream=-1))
        taken(shared.__dlpack__(stream=queue))
