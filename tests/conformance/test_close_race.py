# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A queue or a context is closed while another thread is inside the driver with what belongs to it.

Whoever destroys waits for the other thread, and for no longer than its time-out.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.threads import InThread, Pause
from tests.helpers.usm import MIB, TIMEOUT_NS, finish
from urasync_l0 import (
    Context,
    DeviceLostError,
    InvalidValueError,
    Queue,
)
from urasync_l0.device_loss import DeviceLoss
from urasync_l0.enums import QueueFlag
from urasync_l0.event_source import NativeEvent, observe
from urasync_l0.result import InvalidContextError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import event as ze_event
from urasync_l0.ze import host_wait, loader
from urasync_l0.ze import memory as ze_memory
from urasync_l0.ze import virtual_memory as ze_virtual
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult

SECONDS = TIMEOUT_NS / 1e9


def complete(controls: Controls, queue: Queue) -> None:
    """Wait for the queue past the package, which does not know then that it is complete."""
    handle = handle_value(queue.handle)
    appended = controls.list_progress(handle).appended
    assert controls.wait_completed(handle, appended, TIMEOUT_NS)


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long wait looks often whether it is over otherwise."""
    monkeypatch.setattr(host_wait, "SLICE_NS", 5_000_000)


ASKS: dict[str, tuple[Any, str, Callable[[Queue], Callable[[], object]]]] = {
    "query": (ze_event, "query_status", lambda queue: queue.record().is_complete),
    "wait": (ze_event, "host_synchronize", lambda queue: partial(queue.record().wait, TIMEOUT_NS)),
    "marker": (
        *(ze_event, "query_status"),
        lambda queue: lambda: queue.order.poll_markers(1),
    ),
    "observe": (
        *(ze_event, "host_synchronize"),
        lambda queue: lambda: observe(queue.order, 1, TIMEOUT_NS),
    ),
    "finish": (ze_list, "host_synchronize", lambda queue: partial(queue.finish, TIMEOUT_NS)),
}


@pytest.mark.parametrize("end", ["queue", "context"])
@pytest.mark.parametrize("name", ASKS)
def test_nothing_is_destroyed_under_a_call(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, context: Context, end: str, name: str
) -> None:
    """MT-3: the driver may just be writing to the list, or about to read the event."""
    if name == "finish" and not loader.has("zeCommandListHostSynchronize"):
        pytest.skip("the loader has no zeCommandListHostSynchronize")
    queue = context.create_queue()
    module, entry, make = ASKS[name]
    queue.record()
    ask = make(queue)
    if name == "marker":
        queue.order.marker_covering(queue.order.sequence).release()
    complete(controls, queue)
    pause = Pause(monkeypatch, module, entry)
    thread = InThread(ask)
    assert pause.reached.wait(SECONDS)
    close: Callable[[int], bool] = queue.close if end == "queue" else context.close
    before = controls.live_objects()
    assert not close(20_000_000)
    after = controls.live_objects()
    assert [after[kind] for kind in ("command_list", "context")] == [
        before[kind] for kind in ("command_list", "context")
    ]
    assert after["event"] >= before["event"]
    assert not context.is_closed
    # Others are answered meanwhile, though not by the driver.
    assert queue.record().wait(TIMEOUT_NS)
    pause.release()
    assert thread.result() is True
    assert close(TIMEOUT_NS)


@pytest.mark.parametrize("end", ["queue", "context"])
def test_a_close_goes_on_when_the_call_is_back(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, context: Context, end: str
) -> None:
    """It is woken, and need not be called again."""
    queue = context.create_queue()
    event = queue.record()
    complete(controls, queue)
    pause = Pause(monkeypatch, ze_event, "query_status")
    asking = InThread(event.is_complete)
    assert pause.reached.wait(SECONDS)
    close: Callable[[int], bool] = queue.close if end == "queue" else context.close
    closing = InThread(partial(close, TIMEOUT_NS))
    pause.release()
    assert closing.result() is True
    assert asking.result() is True


def test_nobody_asks_about_a_list_that_is_gone(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, queue: Queue
) -> None:
    """Who looked before the end, and asks after it, is answered without the driver."""
    event = queue.record()
    complete(controls, queue)
    pause = Pause(monkeypatch, NativeEvent, "hold")
    thread = InThread(event.is_complete)
    assert pause.reached.wait(SECONDS)
    assert queue.close(TIMEOUT_NS)
    with LevelZeroCalls() as calls:
        pause.release()
        assert thread.result() is True
    assert calls.total == 0


@pytest.mark.parametrize("end", ["queue", "context"])
def test_times_of_an_event(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, context: Context, end: str
) -> None:
    """The native event, and the list that signalled it, are there until its stamps are read."""
    queue = context.create_queue(flags=QueueFlag.PROFILING_ENABLE)
    event = queue.record()
    finish(queue)
    pause = Pause(monkeypatch, ze_event, "query_kernel_timestamp")
    thread = InThread(event.profile)
    assert pause.reached.wait(SECONDS)
    close: Callable[[int], bool] = queue.close if end == "queue" else context.close
    events = controls.live_objects()["event"]
    assert not close(20_000_000)
    assert controls.live_objects()["event"] >= events
    pause.release()
    thread.result()
    assert context.close(TIMEOUT_NS)
    with pytest.raises(InvalidContextError):
        event.profile()


class Theirs:
    """Somebody else's event, which nobody ever signals."""

    def __init__(self, context: Context) -> None:
        handles = [device.handle for device in context.devices]
        self._pool = ze_event.create_pool(context.native.handle, handles, 1)
        self.handle = ze_event.create(self._pool, 0)
        self._is_destroyed = False

    def destroy(self, *, event: bool) -> None:
        if not self._is_destroyed:
            self._is_destroyed = True
            if event:
                ze_event.destroy(self.handle)
            ze_event.destroy_pool(self._pool)


@pytest.mark.parametrize("is_owned", [False, True], ids=["theirs", "owned"])
def test_a_wait_without_end(
    controls: Controls,
    monkeypatch: pytest.MonkeyPatch,
    make_context: Callable[..., Context],
    short_slices: None,
    is_owned: bool,
) -> None:
    """The context closes, and who waits for an event that never happens is told so."""
    context, other = make_context(), make_context()
    theirs = Theirs(other)
    event = context.create_event_with_native_handle(handle_value(theirs.handle), is_owned=is_owned)
    real = ze_event.host_synchronize
    inside = Pause(monkeypatch, ze_event, "host_synchronize")
    inside.release()
    waiting = InThread(event.wait)
    assert inside.reached.wait(SECONDS)
    assert ze_event.host_synchronize is not real
    assert context.close(TIMEOUT_NS)
    with pytest.raises(InvalidContextError, match="closed"):
        waiting.result()
    theirs.destroy(event=not is_owned)


def test_a_lost_device_ends_waits(
    controls: Controls, context: Context, queue: Queue, other_queue: Queue, short_slices: None
) -> None:
    """LIFE-6: also where the driver does not end them; the context closes behind them."""
    with ExitStack() as stack:
        stack.enter_context(hold(controls, queue))
        event = queue.record()
        waits = [InThread(call) for call in (event.wait, queue.finish)]
        controls.fail("zeCommandListAppendSignalEvent", 1, int(ZeResult.ERROR_DEVICE_LOST))
        with pytest.raises(DeviceLostError):
            other_queue.record()
        controls.clear_failures()
        for wait in waits:
            with pytest.raises(DeviceLostError):
                wait.result()
    assert context.close(TIMEOUT_NS)


GROWTHS: list[tuple[str, Any, str]] = [
    ("on", ze_virtual, "create_physical"),
    ("on", ze_virtual, "map_memory"),
    ("off", ze_memory, "alloc_device"),
]


@pytest.mark.parametrize(("expanding", "module", "entry"), GROWTHS)
def test_memory_that_comes_while_the_context_ends(
    controls: Controls,
    monkeypatch: pytest.MonkeyPatch,
    make_context: Callable[..., Context],
    expanding: str,
    module: Any,
    entry: str,
) -> None:
    """MEM-5: it goes back with the rest."""
    context = make_context(expanding_segments=expanding)
    queue = context.create_queue()
    queue.alloc_device(MIB)
    pause = Pause(monkeypatch, module, entry)
    thread = InThread(partial(queue.alloc_device, 40 * MIB))
    assert pause.reached.wait(SECONDS)
    contexts = controls.live_objects()["context"]
    assert not context.close(20_000_000)
    assert controls.live_objects()["context"] == contexts
    pause.release()
    ended(thread)
    assert context.close(TIMEOUT_NS)


@pytest.mark.parametrize(("expanding", "entry"), [("on", "unmap"), ("off", "free")])
def test_memory_that_goes_while_the_context_ends(
    controls: Controls,
    monkeypatch: pytest.MonkeyPatch,
    make_context: Callable[..., Context],
    expanding: str,
    entry: str,
) -> None:
    context = make_context(expanding_segments=expanding)
    queue = context.create_queue()
    pool = context.create_pool(release_threshold=100 * MIB)
    blocks = [queue.alloc_device(8 * MIB, pool=pool) for _ in range(3)]
    for block in blocks[::2]:
        block.free()
    finish(queue)
    pause = Pause(monkeypatch, ze_virtual if expanding == "on" else ze_memory, entry)
    thread = InThread(partial(pool.trim_to, 0))
    assert pause.reached.wait(SECONDS)
    assert not context.close(20_000_000)
    pause.release()
    assert thread.result() is None
    assert context.close(TIMEOUT_NS)


def test_a_queue_that_is_made_while_the_context_ends(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, context: Context
) -> None:
    """Its list is destroyed with the context."""
    pause = Pause(monkeypatch, ze_list, "create_immediate")
    thread = InThread(context.create_queue)
    assert pause.reached.wait(SECONDS)
    assert not context.close(20_000_000)
    pause.release()
    ended(thread)
    assert context.close(TIMEOUT_NS)
    with pytest.raises(InvalidContextError):
        context.create_queue()


def test_a_queue_that_a_close_finds_late(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, context: Context
) -> None:
    """One close is enough: it waits for the call that makes the queue."""
    pause = Pause(monkeypatch, ze_list, "create_immediate")
    making = InThread(context.create_queue)
    assert pause.reached.wait(SECONDS)
    waits = threading.Event()
    end_calls = DeviceLoss.end_calls

    def noted(loss: DeviceLoss, timeout_ns: int) -> bool:
        waits.set()
        return end_calls(loss, timeout_ns)

    monkeypatch.setattr(DeviceLoss, "end_calls", noted)
    closing = InThread(partial(context.close, TIMEOUT_NS))
    assert waits.wait(SECONDS)
    pause.release()
    ended(making)
    assert closing.result() is True


def ended(thread: InThread) -> None:
    """The call is over, whether it came in time or was refused."""
    with suppress(InvalidContextError, InvalidValueError):
        thread.result()


def test_two_threads_close_one_context(
    controls: Controls, monkeypatch: pytest.MonkeyPatch, context: Context, queue: Queue
) -> None:
    """The second waits for the first, and finds nothing left to do."""
    queue.record()
    pause = Pause(monkeypatch, ze_event, "destroy")
    first = InThread(partial(context.close, TIMEOUT_NS))
    assert pause.reached.wait(SECONDS)
    assert not context.close(20_000_000)
    pause.release()
    assert first.result() is True
    assert context.close(0)
