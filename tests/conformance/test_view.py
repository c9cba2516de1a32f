# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What other libraries see of an allocation."""

import ctypes
import gc
import sys

import pytest

from tests.helpers.usm import alloc, finish, pool_of
from urasync_l0 import InvalidMemObjectError, Queue, UnsupportedFeatureError, UsmType

HOST_KINDS = pytest.mark.parametrize("kind", [UsmType.SHARED, UsmType.HOST])


@HOST_KINDS
@pytest.mark.needs_execution("data is read back")
def test_a_view_is_the_memory(queue: Queue, kind: UsmType) -> None:
    with alloc(queue, kind, 100) as allocation:
        view = allocation.memoryview()
        assert (view.nbytes, view.readonly, view.itemsize) == (100, False, 1)
        queue.fill(allocation, b"\x31")
        finish(queue)
        assert bytes(view) == b"\x31" * 100
        view[5:8] = b"abc"
        target = bytearray(3)
        queue.memcpy(target, allocation, 3, source_offset=5)
        finish(queue)
        assert bytes(target) == b"abc"


@HOST_KINDS
def test_a_view_keeps_the_allocation(queue: Queue, kind: UsmType) -> None:
    allocation = alloc(queue, kind, 100)
    view = allocation.memoryview()
    del allocation
    gc.collect()
    queue.record().release()
    assert pool_of(queue, kind).used_bytes == 256
    view[0:1] = b"\x01"
    del view
    gc.collect()
    queue.record().release()
    assert pool_of(queue, kind).used_bytes == 0


@HOST_KINDS
@pytest.mark.needs_execution("data is read back")
def test_array_interface(queue: Queue, kind: UsmType) -> None:
    with alloc(queue, kind, 64) as allocation:
        interface = allocation.__array_interface__
        assert interface == {
            "version": 3,
            "shape": (64,),
            "typestr": "|u1",
            "data": (allocation.ptr, False),
        }
        queue.fill(allocation, b"\x44")
        finish(queue)
        assert ctypes.string_at(interface["data"][0], interface["shape"][0]) == b"\x44" * 64


@HOST_KINDS
@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes offer buffers from Python 3.12 on")
def test_buffer_protocol(queue: Queue, kind: UsmType) -> None:
    with alloc(queue, kind, 64) as allocation:
        assert memoryview(allocation).nbytes == 64


def test_device_memory_has_no_host_view(queue: Queue) -> None:
    with queue.alloc_device(64) as allocation:
        with pytest.raises(UnsupportedFeatureError, match="memcpy"):
            allocation.memoryview()
        assert not hasattr(allocation, "__array_interface__")
        with pytest.raises(BufferError):
            allocation.__buffer__(0)


def test_sycl_interface(queue: Queue, kind: UsmType) -> None:
    """PY-8."""
    with alloc(queue, kind, 64) as allocation:
        interface = allocation.__sycl_usm_array_interface__
        assert interface["data"] == (allocation.ptr, False)
        assert interface["shape"] == (64,)
        assert interface["typestr"] == "|u1"
        assert interface["version"] == 1
        assert interface["syclobj"] == f"level_zero:gpu:{queue.device.index}"


def test_freed_memory_has_no_views(queue: Queue) -> None:
    allocation = queue.alloc_host(64)
    allocation.free()
    for look in (
        allocation.memoryview,
        lambda: allocation.__array_interface__,
        lambda: allocation.__sycl_usm_array_interface__,
    ):
        with pytest.raises(InvalidMemObjectError):
            look()
