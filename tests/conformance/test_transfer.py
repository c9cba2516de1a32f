# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fill and memcpy: patterns of any length, every kind of operand, and what is refused."""

import array

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.usm import MIB, alloc, finish, read
from urasync_l0 import InvalidMemObjectError, InvalidValueError, Queue, UrResult, UsmType
from urasync_l0.result import InvalidNullPointerError, InvalidSizeError

COPY = "zeCommandListAppendMemoryCopy"
FILL = "zeCommandListAppendMemoryFill"


def pattern_of(length: int) -> bytes:
    return bytes((7 * n + 1) % 256 for n in range(length))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 128, 129, 256, 1000])
@pytest.mark.parametrize("repeats", [1, 2, 3, 77])
@pytest.mark.needs_execution("data is read back")
def test_patterns(queue: Queue, kind: UsmType, length: int, repeats: int) -> None:
    pattern = pattern_of(length)
    guard = 64
    with alloc(queue, kind, length * repeats + 2 * guard) as allocation:
        queue.fill(allocation, b"\xee")
        queue.fill(allocation, pattern, length * repeats, offset=guard)
        assert read(queue, allocation) == b"\xee" * guard + pattern * repeats + b"\xee" * guard


@pytest.mark.parametrize("length", [3, 96, 255, 70_000])
@pytest.mark.needs_execution("data is read back")
def test_large_fills_of_odd_patterns_take_few_commands(queue: Queue, length: int) -> None:
    pattern = pattern_of(length)
    repeats = 4 * MIB // length
    with queue.alloc_device(length * repeats) as allocation:
        with LevelZeroCalls() as calls:
            queue.fill(allocation, pattern)
        assert calls.of(COPY) < 12
        assert read(queue, allocation) == pattern * repeats


def test_a_power_of_two_is_one_fill(queue: Queue) -> None:
    with queue.alloc_device(4096) as allocation:
        for length in (1, 2, 4, 8, 16, 32, 64, 128):
            assert length <= queue.device.max_fill_pattern
            with LevelZeroCalls() as calls:
                queue.fill(allocation, pattern_of(length))
            assert (calls.of(FILL), calls.of(COPY)) == (1, 0)


@pytest.mark.needs_execution("data is read back")
def test_an_event_covers_all_of_a_fill(queue: Queue) -> None:
    with queue.alloc_host(3 * MIB) as allocation:
        event = queue.fill(allocation, b"abc", event=True)
        assert event.wait(30_000_000_000)
        assert bytes(allocation.memoryview()) == b"abc" * MIB


@pytest.mark.needs_execution("data is read back")
def test_copies_between_kinds(queue: Queue, kind: UsmType) -> None:
    data = pattern_of(5000)
    source = alloc(queue, kind, 5000)
    queue.memcpy(source, data)
    for other in (UsmType.DEVICE, UsmType.SHARED, UsmType.HOST):
        with alloc(queue, other, 5000) as target:
            queue.memcpy(target, source)
            assert read(queue, target) == data
    source.free()


@pytest.mark.needs_execution("data is read back")
def test_offsets(queue: Queue) -> None:
    with queue.alloc_device(100) as allocation:
        queue.fill(allocation, b"\x00")
        queue.memcpy(allocation, b"0123456789", 4, destination_offset=50, source_offset=3)
        assert read(queue, allocation) == bytes(50) + b"3456" + bytes(46)


@pytest.mark.needs_execution("data is read back")
def test_buffers_of_other_item_sizes(queue: Queue) -> None:
    numbers = array.array("d", [1.5, 2.5])
    target = array.array("d", [0, 0])
    with queue.alloc_shared(16) as allocation:
        queue.memcpy(allocation, numbers)
        queue.memcpy(target, allocation)
        finish(queue)
    assert target == numbers


@pytest.mark.needs_execution("data is read back")
def test_plain_pointers(queue: Queue) -> None:
    with queue.alloc_device(64) as a, queue.alloc_device(64) as b:
        queue.fill(a.ptr, b"\x33", 64)
        queue.memcpy(b.ptr, a.ptr, 64)
        assert read(queue, b) == b"\x33" * 64


@pytest.mark.needs_execution("data is read back")
def test_the_size_of_the_source_counts(queue: Queue) -> None:
    with queue.alloc_device(64) as allocation:
        queue.fill(allocation, b"\x00")
        queue.memcpy(allocation, b"abc")
        assert read(queue, allocation)[:4] == b"abc\x00"


@pytest.mark.parametrize(
    ("size", "offset", "pattern"),
    [
        (0, 0, b"\x01"),
        (-1, 0, b"\x01"),
        (65, 0, b"\x01"),
        (64, 1, b"\x01"),
        (None, 65, b"\x01"),
        (None, -1, b"\x01"),
        (64, 0, b"abc"),
        (2, 0, b"abcd"),
        (64, 0, b""),
    ],
)
def test_bad_fills(queue: Queue, size: int | None, offset: int, pattern: bytes) -> None:
    with queue.alloc_device(64) as allocation:
        with LevelZeroCalls() as calls, pytest.raises(InvalidSizeError) as caught:
            queue.fill(allocation, pattern, size, offset, event=True)
        assert caught.value.code is UrResult.INVALID_SIZE
        assert calls.total == 0


def test_bad_copies(queue: Queue) -> None:
    with queue.alloc_device(64) as allocation, LevelZeroCalls() as calls:
        for arguments in (
            (allocation, b""),
            (allocation, bytes(65)),
            (allocation, bytes(64), 65),
            (bytearray(10), allocation),
            (1234, 5678),
        ):
            with pytest.raises(InvalidSizeError):
                queue.memcpy(*arguments)
        with pytest.raises(InvalidValueError):
            queue.memcpy(b"read-only", allocation, 5)
        with pytest.raises(InvalidValueError):
            queue.memcpy(memoryview(bytearray(20))[::2], allocation, 5)
        with pytest.raises(InvalidNullPointerError):
            queue.memcpy(allocation, 0, 5)
        with pytest.raises(TypeError):
            queue.memcpy(allocation, "text", 4)  # type: ignore[call-overload]
    assert calls.total == 0


def test_freed_memory_is_refused(queue: Queue, kind: UsmType) -> None:
    allocation = alloc(queue, kind, 64)
    allocation.free()
    with LevelZeroCalls() as calls:
        with pytest.raises(InvalidMemObjectError):
            queue.fill(allocation, b"\x01")
        with pytest.raises(InvalidMemObjectError):
            queue.memcpy(bytearray(64), allocation)
    assert calls.total == 0


@pytest.mark.parametrize("pointer", [-1, 2**64, 2**64 + 4096], ids=["negative", "null", "beyond"])
def test_what_is_no_address_is_refused(queue: Queue, pointer: int) -> None:
    """No arithmetic modulo 2**64, and no call that would crash."""
    with LevelZeroCalls() as calls, pytest.raises(InvalidValueError, match="no address"):
        queue.fill(pointer, b"\x01", 4)
    assert calls.total == 0
