# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A failed call changes nothing: every Level Zero call that an operation makes fails once."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.failures import UNKNOWN, attempt, digest, fail_each_call
from tests.helpers.usm import MIB, TIMEOUT_NS, alloc, finish, pool_of, read
from urasync_l0 import (
    Allocation,
    Context,
    DeviceLostError,
    Event,
    OutOfMemoryError,
    Queue,
    UrError,
    UsmType,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import loader
from urasync_l0.ze.result import ZeResult

LOST = int(ZeResult.ERROR_DEVICE_LOST)


SIZE = 3 * MIB


@dataclass
class Scene:
    """What an operation works on: memory in use, and the event of another queue."""

    context: Context
    queue: Queue
    kind: UsmType
    allocation: Allocation
    event: Event


def make_scene(context: Context, kind: UsmType) -> Scene:
    queue, other = context.create_queue(), context.create_queue()
    return Scene(context, queue, kind, alloc(queue, kind, SIZE), other.record())


Operation = Callable[[Scene], object]

OPERATIONS: dict[str, Operation] = {
    "alloc": lambda s: alloc(s.queue, s.kind, SIZE),
    "alloc-wait": lambda s: alloc(s.queue, s.kind, SIZE, wait=(s.event,)),
    "alloc-event": lambda s: alloc(s.queue, s.kind, SIZE, event=True),
    "alloc-wait-event": lambda s: alloc(s.queue, s.kind, SIZE, wait=(s.event,), event=True),
    "record": lambda s: s.queue.record(),
    "wait": lambda s: s.queue.wait((s.event,)),
}


@pytest.mark.parametrize("pooled", [False, True], ids=["fresh", "pooled"])
@pytest.mark.parametrize("expanding", ["on", "off"], ids=["mapped", "separate"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_placing(
    controls: Controls,
    make_context: Callable[..., Context],
    kind: UsmType,
    name: str,
    expanding: str,
    pooled: bool,
) -> None:
    """ERR-1, ERR-8: memory and numbers are as before, and the next call works."""

    def make() -> Scene:
        scene = make_scene(make_context(expanding_segments=expanding), kind)
        if pooled:
            alloc(scene.queue, kind, SIZE).free()
        return scene

    calls = fail_each_call(controls, make, OPERATIONS[name])
    assert (calls == 0) == (pooled and name == "alloc")


FREES: dict[str, Operation] = {
    "wait": lambda s: s.queue.free(s.allocation, wait=(s.event,)),
    "event": lambda s: s.queue.free(s.allocation, event=True),
    "wait-event": lambda s: s.queue.free(s.allocation, wait=(s.event,), event=True),
}


@pytest.mark.parametrize("name", FREES)
def test_free(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType, name: str
) -> None:
    """ERR-8: the block is still in use, and the next free works."""

    def free(scene: Scene) -> object:
        result = FREES[name](scene)
        assert scene.allocation.is_freed
        return result

    assert fail_each_call(controls, lambda: make_scene(make_context(), kind), free) > 0


@pytest.mark.parametrize("pattern", [b"\x01", b"abc"], ids=["fill", "copies"])
@pytest.mark.parametrize("event", [False, True], ids=["plain", "event"])
def test_fill(
    controls: Controls,
    make_context: Callable[..., Context],
    kind: UsmType,
    pattern: bytes,
    event: bool,
) -> None:
    def fill(scene: Scene) -> object:
        return scene.queue.fill(scene.allocation, pattern, wait=(scene.event,), event=event)

    def verify(scene: Scene) -> None:
        assert read(scene.queue, scene.allocation) == pattern * (SIZE // len(pattern))

    assert fail_each_call(controls, lambda: make_scene(make_context(), kind), fill, verify) > 0


@pytest.mark.parametrize("event", [False, True], ids=["plain", "event"])
def test_memcpy(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType, event: bool
) -> None:
    def copy(scene: Scene) -> object:
        return scene.queue.memcpy(
            scene.allocation, b"\x02" * SIZE, wait=(scene.event,), event=event
        )

    def verify(scene: Scene) -> None:
        assert read(scene.queue, scene.allocation) == b"\x02" * SIZE

    assert fail_each_call(controls, lambda: make_scene(make_context(), kind), copy, verify) > 0


def test_finish(controls: Controls, make_context: Callable[..., Context], kind: UsmType) -> None:
    """Whichever call of a finish fails, the next finish does all of it."""
    probe = make_context().create_queue()
    alloc(probe, kind, 4096).free()
    with LevelZeroCalls() as calls:
        finish(probe)
    assert calls.total > 0
    for entry, count in calls.counts.items():
        for nth in range(1, count + 1):
            context = make_context()
            queue = context.create_queue()
            allocation = alloc(queue, kind, 4096)
            queue.fill(allocation, b"\x01")
            allocation.free()
            controls.fail(entry, nth, UNKNOWN)
            with pytest.raises(UrError):
                queue.finish(TIMEOUT_NS)
            controls.clear_failures()
            finish(queue)
            numbers = pool_of(queue, kind).statistics()
            assert (numbers.used, numbers.pending, numbers.reserved) == (0, 0, 0)


def test_out_of_memory(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType
) -> None:
    """PY-5: a driver without memory: a MemoryError with its numbers, and nothing changed."""
    context = make_context()
    queue = context.create_queue()
    first = alloc(queue, kind, 3 * MIB)
    before = digest(pool_of(queue, kind).statistics())
    code = int(
        ZeResult.ERROR_OUT_OF_HOST_MEMORY
        if kind is UsmType.HOST
        else ZeResult.ERROR_OUT_OF_DEVICE_MEMORY
    )
    for entry in ("zeMemAllocDevice", "zeMemAllocShared", "zeMemAllocHost", "zePhysicalMemCreate"):
        controls.fail(entry, 1, code, times=0)
    with pytest.raises(OutOfMemoryError) as caught:
        alloc(queue, kind, 50 * MIB, event=True)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.requested == 50 * MIB
    assert caught.value.used == 3 * MIB
    again = pickle.loads(pickle.dumps(caught.value))
    for name in ("requested", "used", "pending", "idle", "reserved", "limit", "device"):
        assert getattr(again, name) == getattr(caught.value, name)
    assert str(again) == str(caught.value)
    assert digest(pool_of(queue, kind).statistics()) == before
    controls.clear_failures()
    alloc(queue, kind, 50 * MIB).free()
    first.free()


def test_a_lost_device_poisons_the_context(
    controls: Controls, make_context: Callable[..., Context]
) -> None:
    context = make_context()
    queue, other = context.create_queue(), context.create_queue()
    allocation = queue.alloc_device(4096)
    event = other.record()
    assert event.wait(TIMEOUT_NS)
    controls.fail("zeCommandListAppendSignalEvent", 1, LOST)
    with pytest.raises(DeviceLostError):
        queue.record()
    controls.clear_failures()
    for call in (
        queue.record,
        other.record,
        queue.finish,
        lambda: queue.alloc_device(64),
        lambda: queue.free(allocation),
        lambda: queue.fill(allocation, b"\x01"),
        context.create_queue,
        context.create_pool,
    ):
        with LevelZeroCalls() as calls, pytest.raises(DeviceLostError):
            call()
        assert calls.total == 0
    with LevelZeroCalls() as calls:
        assert context.close(TIMEOUT_NS)
    waits = ("zeCommandListHostSynchronize", "zeEventHostSynchronize")
    assert sum(calls.of(entry) for entry in waits) == 0


@pytest.mark.parametrize("what", ["context", "event pool", "event", "list"])
def test_making_things(
    controls: Controls, make_context: Callable[..., Context], adapter: str, what: str
) -> None:
    """What cannot be made leaves nothing behind."""
    poolless = adapter == "v2" and loader.has("zeEventCounterBasedCreate")
    entry = {
        "context": "zeContextCreateEx",
        "event pool": "zeEventCounterBasedCreate" if poolless else "zeEventPoolCreate",
        "event": "zeEventCounterBasedCreate" if poolless else "zeEventCreate",
        "list": "zeCommandListCreateImmediate",
    }[what]
    made = []

    def make_all() -> None:
        context = make_context()
        made.append(context)
        context.create_queue().record()

    before = controls.live_objects()
    controls.fail(entry, 1, UNKNOWN)
    with pytest.raises(UrError) as caught:
        make_all()
    assert caught.value.function == entry
    controls.clear_failures()
    for context in made:
        assert context.close(TIMEOUT_NS)
    assert controls.live_objects() == before
    make_all()


@pytest.mark.parametrize(
    ("entry", "operation"),
    [
        ("zeCommandListAppendSignalEvent", lambda s: s.queue.record()),
        (
            "zeCommandListAppendMemoryFill",
            lambda s: s.queue.fill(s.allocation, b"\x01", event=True),
        ),
    ],
    ids=["signal", "fill"],
)
def test_failed_appends_keep_no_event(
    controls: Controls, context: Context, entry: str, operation: Operation
) -> None:
    """MEM-5: the event of a call that failed serves the next one."""
    scene = make_scene(context, UsmType.DEVICE)
    controls.fail(entry, 1, UNKNOWN, times=0)
    attempt(operation, scene)
    events = controls.live_objects()["event"]
    for _ in range(100):
        assert attempt(operation, scene)[1] is not None
    assert controls.live_objects()["event"] == events
    controls.clear_failures()


def test_failed_markers_keep_no_event(controls: Controls, context: Context) -> None:
    """MEM-5: the same for the signals that the pool core asks for."""
    queue = context.create_queue()
    controls.fail("zeCommandListAppendSignalEvent", 1, UNKNOWN, times=0)
    with pytest.raises(UrError):
        queue.command_list.append_marker()
    events = controls.live_objects()["event"]
    for _ in range(100):
        with pytest.raises(UrError):
            queue.command_list.append_marker()
    assert controls.live_objects()["event"] == events
    controls.clear_failures()
