# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy on host and shared memory, without a copy."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from tests.helpers.usm import alloc, finish, pool_of
from urasync_l0 import (
    InvalidMemObjectError,
    InvalidValueError,
    Queue,
    UnsupportedFeatureError,
    UsmType,
)

numpy: Any = pytest.importorskip("numpy", reason="NumPy is not installed")

VIEWS = {
    "array interface": numpy.asarray,
    "buffer": lambda allocation: numpy.frombuffer(allocation.memoryview(), numpy.uint8),
    "DLPack": lambda allocation: numpy.from_dlpack(allocation, device="cpu", copy=False),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("kind", [UsmType.SHARED, UsmType.HOST], ids=["shared", "host"])
@pytest.mark.needs_execution("data is read back")
def test_an_array_is_the_memory(queue: Queue, kind: UsmType, view: Any) -> None:
    allocation = alloc(queue, kind, 4096)
    array = view(allocation)
    assert (array.shape, array.dtype, array.ctypes.data) == ((4096,), numpy.uint8, allocation.ptr)
    assert array.flags.writeable
    queue.fill(allocation, b"\1\2\3\4")
    finish(queue)
    numbers = array.view("<u4")
    assert (numbers == 0x04030201).all()
    numbers[:] = numpy.arange(1024)
    target = bytearray(4096)
    queue.memcpy(target, allocation)
    finish(queue)
    assert bytes(target) == numpy.arange(1024, dtype="<u4").tobytes()
    allocation.free()


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_an_array_keeps_the_memory(queue: Queue, view: Any) -> None:
    array = view(queue.alloc_host(4096))
    part = array[100:200].reshape(10, 10)
    del array
    gc.collect()
    queue.record().release()
    assert pool_of(queue, UsmType.HOST).used_bytes == 4096
    part[:] = 7
    del part
    gc.collect()
    queue.record().release()
    assert pool_of(queue, UsmType.HOST).used_bytes == 0


@pytest.mark.needs_execution("data is read back")
def test_an_array_is_an_end_of_a_copy(queue: Queue) -> None:
    source, target = numpy.arange(1024, dtype="<u4"), numpy.zeros((2, 512), dtype="<u4")
    with queue.alloc_device(4096) as device:
        queue.memcpy(numpy.uint64(device.ptr), source)
        queue.memcpy(target, device)
        queue.fill(target[1], b"\7", 16)
        finish(queue)
    assert (target[0] == source[:512]).all()
    assert (target[1, :4] == 0x07070707).all()
    assert (target[1, 4:] == source[516:]).all()


def test_an_array_that_does_not_hang_together_is_refused(queue: Queue) -> None:
    with queue.alloc_device(4096) as device, pytest.raises(InvalidValueError):
        queue.memcpy(device, numpy.zeros((32, 32), numpy.uint8)[:, :16])


def test_device_memory_is_no_array(queue: Queue) -> None:
    with queue.alloc_device(64) as device:
        with pytest.raises(BufferError):
            numpy.from_dlpack(device, device="cpu")
        assert not hasattr(device, "__array_interface__")
        for make in (numpy.asarray, numpy.array, numpy.uint8, lambda it: numpy.zeros(64) + it):
            with pytest.raises(UnsupportedFeatureError, match=r"cannot read .*Queue\.memcpy"):
                make(device)
    with pytest.raises(InvalidMemObjectError, match="freed"):
        numpy.asarray(device)
