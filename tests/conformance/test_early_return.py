# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver that says "not ready" too early: nobody takes it for the end of the time or the work.

Each call of an operation that the driver may answer so is answered so, one after another and twice
in a row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import MIB, TIMEOUT_NS, finish, read
from urasync_l0 import KEEP_EVERYTHING, Allocation, Context, Event, Pool, Queue
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.result import ZeResult

MAY_BE_EARLY = ("zeEventHostSynchronize", "zeEventQueryStatus", "zeCommandListHostSynchronize")


@dataclass
class Scene:
    """Two queues with work that hands memory from one to the other, and a pool with a limit."""

    context: Context
    queue: Queue
    other: Queue
    pool: Pool
    memory: Allocation
    written: Event
    target: bytearray


def make_scene(make_context: Callable[..., Context]) -> Scene:
    context = make_context()
    queue, other = context.create_queue(), context.create_queue()
    pool = context.create_pool(maximum_size=8 * MIB, release_threshold=KEEP_EVERYTHING)
    memory = queue.alloc_device(6 * MIB, pool=pool)
    written = queue.fill(memory, b"\x5a", event=True)
    assert isinstance(written, Event)
    target = bytearray(64)
    other.memcpy(target, memory, 64, wait=[written])
    return Scene(context, queue, other, pool, memory, written, target)


def finish_both(scene: Scene, timeout_ns: int | None) -> None:
    assert scene.queue.finish(timeout_ns)
    assert scene.other.finish(timeout_ns)
    assert scene.target == b"\x5a" * 64


def wait_for_an_event(scene: Scene, timeout_ns: int | None) -> None:
    event = scene.other.record()
    assert event.wait(timeout_ns)
    assert scene.target == b"\x5a" * 64
    assert event.is_complete()


def close_a_queue(scene: Scene, timeout_ns: int | None) -> None:
    assert scene.other.close(timeout_ns)
    assert scene.target == b"\x5a" * 64


def close_the_context(scene: Scene, timeout_ns: int | None) -> None:
    assert scene.context.close(timeout_ns)
    assert scene.target == b"\x5a" * 64


def free_without_a_queue(scene: Scene, timeout_ns: int | None) -> None:
    scene.context.free(scene.memory)
    assert scene.target == b"\x5a" * 64
    assert scene.pool.used_bytes == 0


def memory_of_another_queue(scene: Scene, timeout_ns: int | None) -> None:
    """There is no room but where the other queue's free is."""
    finish(scene.other)
    scene.memory.free()
    again = scene.other.alloc_device(6 * MIB, pool=scene.pool)
    scene.other.fill(again, b"\x33")
    assert read(scene.other, again, 64) == b"\x33" * 64
    again.free()


def trim_after_work(scene: Scene, timeout_ns: int | None) -> None:
    scene.memory.free(scene.other)
    assert scene.other.finish(timeout_ns)
    scene.pool.trim_to(0)
    assert scene.pool.reserved_bytes == 0


def events_that_serve_again(scene: Scene, timeout_ns: int | None) -> None:
    for _ in range(80):
        scene.queue.record().release()
    assert scene.queue.finish(timeout_ns)


OPERATIONS = [
    finish_both,
    wait_for_an_event,
    close_a_queue,
    close_the_context,
    free_without_a_queue,
    memory_of_another_queue,
    trim_after_work,
    events_that_serve_again,
]


@pytest.mark.parametrize("timeout_ns", [None, TIMEOUT_NS], ids=["for ever", "limited"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_early_returns(
    controls: Controls,
    make_context: Callable[..., Context],
    operation: Callable[[Scene, int | None], None],
    timeout_ns: int | None,
) -> None:
    scene = make_scene(make_context)
    with LevelZeroCalls() as calls:
        operation(scene, timeout_ns)
    assert scene.context.close(TIMEOUT_NS)
    delivered = controls.failures_delivered()
    tries = 0
    for entry in MAY_BE_EARLY:
        for nth in range(1, min(calls.of(entry), 12) + 1):
            scene = make_scene(make_context)
            controls.fail(entry, nth, ZeResult.NOT_READY, times=2)
            operation(scene, timeout_ns)
            controls.clear_failures()
            scene.context.default_pool().core.check()
            assert scene.context.close(TIMEOUT_NS)
            tries += 1
    assert tries > 0
    assert controls.failures_delivered() > delivered


def test_a_time_that_is_over(controls: Controls, queue: Queue) -> None:
    """Early or not, a limited wait ends."""
    with hold(controls, queue):
        event = queue.record()
        controls.fail("zeEventHostSynchronize", 1, ZeResult.NOT_READY)
        assert not event.wait(20_000_000)
        assert not event.wait(0)
        assert not queue.finish(1_000_000)
    finish(queue)


@pytest.mark.parametrize("ask", [lambda event: event.wait(0), lambda event: event.is_complete()])
def test_a_look_is_one_call(controls: Controls, queue: Queue, ask: Callable[[Event], Any]) -> None:
    with hold(controls, queue):
        event = queue.record()
        with LevelZeroCalls() as calls:
            assert not ask(event)
        assert calls.total == 1
    finish(queue)
