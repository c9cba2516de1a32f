# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the flags of a queue ask for, and which native queue it gets."""

import itertools
from typing import Any

import pytest

from tests.helpers.calls import SIGNAL, WAIT, LevelZeroCalls
from tests.helpers.usm import TIMEOUT_NS, finish, read
from urasync_l0 import Context, InvalidValueError
from urasync_l0.enums import QueueFlag
from urasync_l0.result import InvalidEnumerationError, InvalidQueuePropertiesError
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze.command_list import Priority

ACCEPTED = [
    QueueFlag.OUT_OF_ORDER_EXEC_MODE_ENABLE,
    QueueFlag.PROFILING_ENABLE,
    QueueFlag.DISCARD_EVENTS,
    QueueFlag.PRIORITY_LOW,
    QueueFlag.PRIORITY_HIGH,
    QueueFlag.SUBMISSION_BATCHED,
    QueueFlag.SUBMISSION_IMMEDIATE,
    QueueFlag.USE_DEFAULT_STREAM,
    QueueFlag.SYNC_WITH_DEFAULT_STREAM,
    QueueFlag.LOW_POWER_EVENTS_SUPPORT_EXP,
]


@pytest.mark.parametrize("flag", ACCEPTED, ids=lambda flag: flag.name.lower())
@pytest.mark.needs_execution("data is read back")
def test_accepted(context: Context, flag: QueueFlag) -> None:
    queue = context.create_queue(flags=flag)
    assert queue.flags == flag
    with queue.alloc_device(1000, event=True) as allocation:
        queue.fill(allocation, b"\x17")
        assert read(queue, allocation) == b"\x17" * 1000
    assert allocation.event is not None
    assert allocation.event.wait(TIMEOUT_NS)


def test_no_flags(context: Context) -> None:
    assert context.create_queue().flags == QueueFlag(0)


@pytest.mark.parametrize(
    "flags",
    [
        QueueFlag.ON_DEVICE,
        QueueFlag.ON_DEVICE | QueueFlag.ON_DEVICE_DEFAULT,
        QueueFlag.PRIORITY_LOW | QueueFlag.PRIORITY_HIGH,
        QueueFlag.SUBMISSION_BATCHED | QueueFlag.SUBMISSION_IMMEDIATE,
    ],
    ids=["on-device", "device-default", "priorities", "submissions"],
)
def test_refused(context: Context, flags: QueueFlag) -> None:
    with LevelZeroCalls() as calls, pytest.raises(InvalidQueuePropertiesError):
        context.create_queue(flags=flags)
    assert calls.total == 0


@pytest.mark.parametrize("flags", [1 << 12, 1 << 31, 0x3 | 1 << 20, -1])
def test_unknown_flags(context: Context, flags: int) -> None:
    with LevelZeroCalls() as calls, pytest.raises(InvalidEnumerationError):
        context.create_queue(flags=flags)
    assert calls.total == 0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each native list is asked for."""
    asked: list[dict[str, Any]] = []
    create = ze_list.create_immediate

    def create_immediate(*handles: Any, **arguments: Any) -> Any:
        asked.append(arguments)
        return create(*handles, **arguments)

    monkeypatch.setattr(ze_list, "create_immediate", create_immediate)
    return asked


@pytest.mark.parametrize(
    ("flags", "priority"),
    [
        (QueueFlag(0), Priority.NORMAL),
        (QueueFlag.PRIORITY_LOW, Priority.LOW),
        (QueueFlag.PRIORITY_HIGH, Priority.HIGH),
    ],
    ids=["normal", "low", "high"],
)
def test_priority(
    context: Context, made: list[dict[str, Any]], flags: QueueFlag, priority: Priority
) -> None:
    context.create_queue(flags=flags)
    assert [arguments["priority"] for arguments in made] == [priority]


def test_index(context: Context, made: list[dict[str, Any]]) -> None:
    count = context.devices[0].compute_queues
    queues = [context.create_queue(index=index) for index in range(count)]
    assert [arguments["index"] for arguments in made] == list(range(count))
    for index in (-1, count, 2**31):
        with LevelZeroCalls() as calls, pytest.raises(InvalidValueError, match=str(index)):
            context.create_queue(index=index)
        assert calls.total == 0
    del queues


def test_queues_take_turns(context: Context, made: list[dict[str, Any]]) -> None:
    count = context.devices[0].compute_queues
    for _ in range(2 * count):
        context.create_queue()
    taken = [arguments["index"] for arguments in made]
    assert sorted(taken) == sorted(itertools.chain(range(count), range(count)))


def test_out_of_order_runs_in_order(context: Context) -> None:
    """ORD-3: reuse on such a queue is as safe as on any other, with no wait appended."""
    queue = context.create_queue(flags=QueueFlag.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    first = queue.alloc_device(4096)
    first.free()
    with LevelZeroCalls() as calls:
        second = queue.alloc_device(4096)
    assert second.ptr == first.ptr
    assert calls.of(WAIT) == calls.of(SIGNAL) == 0
    second.free()
    finish(queue)
