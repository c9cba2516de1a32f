# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When a Level Zero call within an entry fails: the error comes out, and no cell is written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.helpers.entries import Client, waits
from tests.helpers.failures import fail_each_call
from tests.helpers.gates import hold
from tests.helpers.usm import MIB
from urasync_l0 import (
    Context,
    Device,
    DeviceLostError,
    Event,
    Pool,
    Queue,
    UrError,
    UrResult,
    UsmType,
)
from urasync_l0.descriptors import UsmPoolDesc
from urasync_l0.enums import NO_POOL_FLAGS, UsmPoolFlag
from urasync_l0.out import Out
from urasync_l0.platform import default_platform
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import loader
from urasync_l0.ze.result import ZeResult

SIZE = 3 * MIB


@pytest.mark.parametrize("name", ["copy", "time stamp"])
def test_a_blocking_call_whose_wait_fails_writes_no_event(
    client: Client, queue: Queue, controls: Controls, name: str
) -> None:
    """ERR-1: the cell is written when the call is over."""
    mem = client.alloc_only(queue, UsmType.DEVICE, 4096)
    out: Out[Event] = Out()
    adapter = client.adapter
    target = bytearray(8)
    calls: dict[str, Callable[[], None]] = {
        "copy": lambda: adapter.urEnqueueUSMMemcpy(queue, True, target, mem, 8, 0, None, out),
        "time stamp": lambda: adapter.urEnqueueTimestampRecordingExp(queue, True, 0, None, out),
    }
    controls.fail("zeEventHostSynchronize", 1, int(ZeResult.ERROR_UNKNOWN), times=0)
    with hold(controls, queue), pytest.raises(UrError):
        calls[name]()
    controls.clear_failures()
    assert not out.is_set
    client.free_only(queue, mem)


@dataclass
class Scene:
    """What an entry works on: a queue, a pool, and the event of another queue."""

    client: Client
    context: Context
    device: Device
    kind: UsmType
    queue: Queue
    pool: Pool
    event: Event
    mem: int
    outs: list[Out[Any]] = field(default_factory=list)

    def out(self) -> Out[Any]:
        """A cell, which must stay as it is if the call fails."""
        self.outs.append(Out())
        return self.outs[-1]


Operation = Callable[[Scene], None]

OPERATIONS: dict[str, Operation] = {
    "enqueue_alloc": lambda s: s.client.enqueue_alloc(
        s.queue, s.kind, SIZE, s.out(), s.out(), pool=s.pool, wait=[s.event]
    ),
    "enqueue_free": lambda s: s.client.adapter.urEnqueueUSMFreeExp(
        s.queue, s.pool, s.mem, *waits([s.event]), s.out()
    ),
    "fill": lambda s: s.client.adapter.urEnqueueUSMFill(
        s.queue, s.mem, 1, b"\x01", SIZE, *waits([s.event]), s.out()
    ),
    "memcpy": lambda s: s.client.adapter.urEnqueueUSMMemcpy(
        s.queue, False, s.mem, s.mem + MIB, MIB, *waits([s.event]), s.out()
    ),
    "alloc": lambda s: s.client.usm_alloc(s.context, s.kind, s.device, SIZE, s.out(), pool=s.pool),
    "events_wait": lambda s: s.client.adapter.urEnqueueEventsWait(
        s.queue, *waits([s.event]), s.out()
    ),
}


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        *(pytest.param(name, NO_POOL_FLAGS, id=name) for name in OPERATIONS),
        pytest.param("enqueue_alloc", UsmPoolFlag.ZERO_INITIALIZE_BLOCK, id="enqueue_alloc_zeros"),
    ],
)
def test_cells_stay_as_they_are(
    client: Client, controls: Controls, device_index: int, kind: UsmType, flags: int, name: str
) -> None:
    """ERR-1: and numbers, memory and native objects are as before, and the next call works."""

    def make() -> Scene:
        device = default_platform().devices[device_index]
        context = client.create_context([device])
        queue = client.create_queue(context, device)
        other = client.create_queue(context, device)
        pool = client.create_pool(context, desc=UsmPoolDesc(flags))
        mem = client.alloc_only(queue, kind, SIZE, pool=pool)
        event: Out[Event] = Out()
        client.adapter.urEnqueueEventsWait(other, 0, None, event)
        return Scene(client, context, device, kind, queue, pool, event.value, mem)

    def operate(scene: Scene) -> None:
        scene.outs.clear()
        try:
            OPERATIONS[name](scene)
        except UrError:
            assert not any(out.is_set for out in scene.outs), scene.outs
            raise
        assert all(out.is_set for out in scene.outs)

    assert fail_each_call(controls, make, operate) > 0


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_lost_device_is_told_at_once_ever_after(
    client: Client, controls: Controls, device_index: int, kind: UsmType, name: str
) -> None:
    """DEVICE_LOST, without another try: afterwards each entry fails with no Level Zero call.

    Queues, events and pools can still be given back; memory goes with the context, which closes.
    """
    nothing = controls.live_objects()
    device = default_platform().devices[device_index]
    context = client.create_context([device])
    queue = client.create_queue(context, device)
    other = client.create_queue(context, device)
    pool = client.create_pool(context)
    mem = client.alloc_only(queue, kind, SIZE, pool=pool)
    event: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(other, 0, None, event)
    scene = Scene(client, context, device, kind, queue, pool, event.value, mem)
    controls.fail("zeCommandListAppendSignalEvent", 1, int(ZeResult.ERROR_DEVICE_LOST))
    with pytest.raises(DeviceLostError):
        client.adapter.urEnqueueEventsWait(queue, 0, None, scene.out())
    controls.clear_failures()
    before = dict(loader.call_counts())
    with pytest.raises(UrError) as caught:
        OPERATIONS[name](scene)
    assert caught.value.code is UrResult.DEVICE_LOST
    assert dict(loader.call_counts()) == before
    assert not any(out.is_set for out in scene.outs)
    client.release(scene.event)
    client.adapter.urUSMPoolRelease(pool)
    assert pool.core.is_closed
    for each in (queue, other):
        client.adapter.urQueueRelease(each)
    client.adapter.urContextRelease(context)
    assert context.is_closed
    assert controls.live_objects() == nothing
