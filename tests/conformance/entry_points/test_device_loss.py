# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A device is lost in any Level Zero call of any entry: the context is poisoned.

Every call that an entry makes reports the loss once, each in a context of its own. The entry may
fail, or the call may have been of no consequence to it; either way later calls fail at once.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.entry_points.test_arguments import ENTRIES, PARAMETERS
from tests.helpers.calls import LevelZeroCalls
from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.spirv import fill_program
from tests.helpers.usm import KINDS, MIB, TIMEOUT_NS
from urasync_l0 import KEEP_EVERYTHING, Context, Device, Event, UrError, UrResult, UsmType
from urasync_l0.descriptors import NativeHandleProperties, QueueProperties, UsmPoolDesc
from urasync_l0.enums import (
    EventInfo,
    ProfilingInfo,
    QueueFlag,
    QueueInfo,
    UsmAdviceFlag,
    UsmPoolFlag,
)
from urasync_l0.out import Out
from urasync_l0.platform import default_platform
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import memory as ze_memory
from urasync_l0.ze.handles import CommandListHandle, handle_value
from urasync_l0.ze.result import ZeResult

LOST = int(ZeResult.ERROR_DEVICE_LOST)
SIZE = 3 * MIB
BYTES = 4096


class Scene:
    """A context with one of everything, and idle memory of each kind in a pool."""

    def __init__(self, client: Client, device: Device) -> None:
        self.client = client
        self.adapter = client.adapter
        self.device = device
        self.context: Context = client.create_context([device])
        self.queue = client.create_queue(self.context, device)
        self.timed = client.create_queue(self.context, device, QueueFlag.PROFILING_ENABLE)
        self.pool = client.create_pool(self.context)
        self.pool.release_threshold = KEEP_EVERYTHING
        self.zeros = client.create_pool(
            self.context, desc=UsmPoolDesc(UsmPoolFlag.ZERO_INITIALIZE_BLOCK)
        )
        for kind in KINDS:
            client.free_only(self.queue, client.alloc_only(self.queue, kind, SIZE, pool=self.pool))
        self.adapter.urQueueFinish(self.queue)
        self.mem, event = client.alloc(self.queue, UsmType.SHARED, BYTES)
        client.release(event)
        self.large = client.alloc_only(self.queue, UsmType.SHARED, SIZE, pool=self.zeros)
        self.timed_event = client.fill(self.timed, self.mem, b"\x01", BYTES)
        self.event = self.record()
        self.buffer = self.make(self.adapter.urMemBufferCreate, self.context, 0, BYTES, None)
        il = fill_program()
        self.program = self.make(
            self.adapter.urProgramCreateWithIL, self.context, il, len(il), None
        )

    def make(self, entry: Callable[..., None], *arguments: Any) -> Any:
        """What an entry hands out."""
        out: Out[Any] = Out()
        entry(*arguments, out)
        return written(out)

    def record(self) -> Event:
        """An event of the timed queue, for others to wait for."""
        event: Event = self.make(self.adapter.urEnqueueEventsWait, self.timed, 0, None)
        return event

    @property
    def awaited(self) -> tuple[Any, ...]:
        """A wait list, and a place for an event."""
        return *waits([self.event]), Out()


Operation = Callable[[Scene], object]


def in_two_steps(first: Operation, second: Operation) -> Operation:
    """One after the other."""
    return lambda scene: (first(scene), second(scene))


def recycle(s: Scene) -> None:
    """Events come and go until native ones serve again."""
    for _ in range(8):
        event = s.make(s.adapter.urEnqueueEventsWait, s.queue, 0, None)
        s.adapter.urQueueFinish(s.queue)
        s.adapter.urEventRelease(event)


def release_all(s: Scene) -> None:
    """Give everything back, the context first: it closes with the last."""
    s.adapter.urContextRelease(s.context)
    s.client.free_only(s.timed, s.mem)
    s.client.free_only(s.queue, s.large)
    s.client.release(s.event, s.timed_event)
    s.adapter.urMemRelease(s.buffer)
    s.adapter.urProgramRelease(s.program)
    for pool in (s.pool, s.zeros):
        s.adapter.urUSMPoolRelease(pool)
    for queue in (s.queue, s.timed):
        s.adapter.urQueueRelease(queue)


def fill_2d(s: Scene) -> None:
    s.adapter.urEnqueueUSMFill2D(s.queue, s.mem, 64, 1, b"\x01", 8, 8, *s.awaited)


def copy_2d(s: Scene) -> None:
    s.adapter.urEnqueueUSMMemcpy2D(s.queue, True, s.mem, 64, s.mem + 2048, 64, 8, 8, *s.awaited)


def map_and_unmap(s: Scene) -> None:
    address = Out[int]()
    s.adapter.urEnqueueMemBufferMap(
        s.queue, s.buffer, True, 3, 0, BYTES, *waits([s.event]), None, address
    )
    s.adapter.urEnqueueMemUnmap(s.queue, s.buffer, address.value, *s.awaited)


def rows(name: str) -> Operation:
    """A copy of some rows of a buffer."""
    zero, region = (0, 0, 0), (8, 8, 1)

    def call(s: Scene) -> None:
        entry = getattr(s.adapter, name)
        target = bytearray(1024)
        entry(s.queue, s.buffer, True, zero, zero, region, 64, 0, 64, 0, target, *s.awaited)

    return call


OPERATIONS: dict[str, Operation] = {
    "urContextRelease": release_all,
    "urQueueCreate": lambda s: s.make(
        s.adapter.urQueueCreate, s.context, s.device, QueueProperties(QueueFlag.PROFILING_ENABLE)
    ),
    "urQueueRelease": lambda s: s.adapter.urQueueRelease(s.queue),
    "urQueueFinish": lambda s: s.adapter.urQueueFinish(s.queue),
    "urQueueGetInfo": lambda s: s.adapter.urQueueGetInfo(s.timed, QueueInfo.EMPTY, 1, Out(), None),
    "urEventGetInfo": lambda s: s.adapter.urEventGetInfo(
        s.event, EventInfo.COMMAND_EXECUTION_STATUS, 4, Out(), None
    ),
    "urEventGetProfilingInfo": in_two_steps(
        lambda s: s.adapter.urEventWait(1, [s.timed_event]),
        lambda s: s.adapter.urEventGetProfilingInfo(
            s.timed_event, ProfilingInfo.COMMAND_END, 8, Out(), None
        ),
    ),
    "urEventWait": lambda s: s.adapter.urEventWait(1, [s.event]),
    "urEventRelease": recycle,
    "urEnqueueEventsWait": lambda s: s.adapter.urEnqueueEventsWait(s.queue, *s.awaited),
    "urEnqueueEventsWaitWithBarrier": lambda s: s.adapter.urEnqueueEventsWaitWithBarrier(
        s.timed, *s.awaited
    ),
    "urEnqueueEventsWaitWithBarrierExt": lambda s: s.adapter.urEnqueueEventsWaitWithBarrierExt(
        s.timed, None, *s.awaited
    ),
    "urEnqueueTimestampRecordingExp": lambda s: s.adapter.urEnqueueTimestampRecordingExp(
        s.queue, True, *s.awaited
    ),
    "urEnqueueUSMFill": lambda s: s.adapter.urEnqueueUSMFill(
        s.timed, s.mem, 3, b"abc", 30, *s.awaited
    ),
    "urEnqueueUSMMemcpy": lambda s: s.adapter.urEnqueueUSMMemcpy(
        s.queue, True, s.mem, s.mem + 2048, 8, *s.awaited
    ),
    "urEnqueueUSMFill2D": fill_2d,
    "urEnqueueUSMMemcpy2D": copy_2d,
    "urEnqueueUSMPrefetch": lambda s: s.adapter.urEnqueueUSMPrefetch(
        s.queue, s.mem, BYTES, 0, *s.awaited
    ),
    "urEnqueueUSMAdvise": lambda s: s.adapter.urEnqueueUSMAdvise(
        s.queue, s.mem, BYTES, UsmAdviceFlag.SET_READ_MOSTLY, Out()
    ),
    "urEnqueueUSMDeviceAllocExp": lambda s: s.client.enqueue_alloc(
        s.queue, UsmType.DEVICE, 9 * MIB, Out(), Out(), pool=s.zeros, wait=[s.event]
    ),
    "urEnqueueUSMSharedAllocExp": lambda s: s.client.enqueue_alloc(
        s.queue, UsmType.SHARED, 9 * MIB, Out(), Out(), wait=[s.event]
    ),
    "urEnqueueUSMHostAllocExp": lambda s: s.client.enqueue_alloc(
        s.queue, UsmType.HOST, 9 * MIB, Out(), Out(), wait=[s.event]
    ),
    "urEnqueueUSMFreeExp": lambda s: s.adapter.urEnqueueUSMFreeExp(
        s.queue, None, s.mem, *s.awaited
    ),
    "urUSMHostAlloc": lambda s: s.client.usm_alloc(
        s.context, UsmType.HOST, None, SIZE, Out(), pool=s.zeros
    ),
    "urUSMDeviceAlloc": lambda s: s.client.usm_alloc(
        s.context, UsmType.DEVICE, s.device, SIZE, Out()
    ),
    "urUSMSharedAlloc": lambda s: s.client.usm_alloc(
        s.context, UsmType.SHARED, s.device, SIZE, Out()
    ),
    "urUSMFree": lambda s: s.adapter.urUSMFree(s.context, s.mem),
    "urUSMPoolRelease": lambda s: s.adapter.urUSMPoolRelease(s.pool),
    "urUSMPoolDestroyExp": lambda s: s.adapter.urUSMPoolDestroyExp(s.context, s.device, s.pool),
    "urUSMPoolTrimToExp": lambda s: s.adapter.urUSMPoolTrimToExp(s.context, s.device, s.pool, 0),
    "urMemBufferCreate": lambda s: s.make(s.adapter.urMemBufferCreate, s.context, 0, 9 * MIB, None),
    "urMemRelease": in_two_steps(
        lambda s: s.adapter.urMemRelease(s.buffer), lambda s: s.adapter.urQueueFinish(s.queue)
    ),
    "urEnqueueMemBufferRead": lambda s: s.adapter.urEnqueueMemBufferRead(
        s.queue, s.buffer, True, 0, 8, bytearray(8), *s.awaited
    ),
    "urEnqueueMemBufferWrite": lambda s: s.adapter.urEnqueueMemBufferWrite(
        s.queue, s.buffer, True, 0, 8, b"12345678", *s.awaited
    ),
    "urEnqueueMemBufferReadRect": rows("urEnqueueMemBufferReadRect"),
    "urEnqueueMemBufferWriteRect": rows("urEnqueueMemBufferWriteRect"),
    "urEnqueueMemBufferCopy": lambda s: s.adapter.urEnqueueMemBufferCopy(
        s.queue, s.buffer, s.buffer, 0, 64, 64, *s.awaited
    ),
    "urEnqueueMemBufferCopyRect": lambda s: s.adapter.urEnqueueMemBufferCopyRect(
        s.queue, s.buffer, s.buffer, (0, 0, 0), (0, 16, 0), (8, 8, 1), 64, 0, 64, 0, *s.awaited
    ),
    "urEnqueueMemBufferFill": lambda s: s.adapter.urEnqueueMemBufferFill(
        s.queue, s.buffer, b"\x01", 1, 0, 64, *s.awaited
    ),
    "urEnqueueMemBufferMap": map_and_unmap,
    "urEnqueueMemUnmap": map_and_unmap,
    "urProgramBuild": lambda s: s.adapter.urProgramBuild(s.context, s.program, ""),
    "urProgramBuildExp": lambda s: s.adapter.urProgramBuildExp(s.program, 1, [s.device], 0, ""),
}

ELSEWHERE = {
    "urContextCreate": "there is no context yet",
    "urContextCreateWithNativeHandle": "there is no context yet",
    "urQueueCreateWithNativeHandle": "test_over_native_objects",
    "urMemBufferCreateWithNativeHandle": "test_over_native_objects",
    "urProgramGetInfo": "needs a compiler, which the software driver finds on some machines only",
    "urProgramRelease": "as urProgramGetInfo",
    "urKernelCreate": "as urProgramGetInfo",
    "urKernelRelease": "as urProgramGetInfo",
    "urProgramLink": "as urProgramGetInfo",
    "urProgramLinkExp": "as urProgramGetInfo",
    "urKernelCreateWithNativeHandle": "as urProgramGetInfo",
    "urKernelGetGroupInfo": "as urProgramGetInfo",
    "urKernelGetSubGroupInfo": "as urProgramGetInfo",
    "urKernelSetExecInfo": "as urProgramGetInfo",
    "urEnqueueKernelLaunchWithArgsExp": "as urProgramGetInfo",
}

NO_CALLS = {
    entry
    for entry in ENTRIES
    if entry.endswith("Retain")
    or entry.startswith(("urAdapter", "urPlatform", "urDevice", "urUsmP2P"))
} | {
    "urContextGetInfo",
    "urContextGetNativeHandle",
    "urContextSetExtendedDeleter",
    "urEventGetNativeHandle",
    "urEventCreateWithNativeHandle",
    "urEventSetCallback",
    "urMemBufferPartition",
    "urMemGetInfo",
    "urMemGetNativeHandle",
    "urProgramCreateWithIL",
    "urProgramGetBuildInfo",
    "urQueueFlush",
    "urQueueGetNativeHandle",
    "urUSMGetMemAllocInfo",
    "urKernelGetInfo",
    "urKernelGetNativeHandle",
    "urProgramCompile",
    "urProgramCompileExp",
    "urProgramCreateWithNativeHandle",
    "urProgramGetNativeHandle",
    "urProgramSetSpecializationConstants",
    "urQueueIsGraphCaptureEnabledExp",
    "urUSMPoolCreate",
    "urUSMPoolCreateExp",
    "urUSMPoolGetDefaultDevicePoolExp",
    "urUSMPoolGetDevicePoolExp",
    "urUSMPoolGetInfo",
    "urUSMPoolGetInfoExp",
    "urUSMPoolSetDevicePoolExp",
    "urUSMPoolSetInfoExp",
}
"""Those that make no Level Zero call for a context: the device's own calls are about no context."""


def test_every_entry_is_here() -> None:
    assert not set(OPERATIONS) & (NO_CALLS | set(ELSEWHERE))
    assert set(OPERATIONS) | NO_CALLS | set(ELSEWHERE) == set(ENTRIES)
    assert set(PARAMETERS) == set(ENTRIES)


def attempt(operation: Operation, scene: Scene) -> UrError | None:
    """The error of an operation."""
    try:
        operation(scene)
    except UrError as error:
        return error
    return None


def end(scene: Scene) -> None:
    """Close the context, lost or not; what a first attempt meets is not met again."""
    attempt(lambda s: s.context.close(TIMEOUT_NS), scene)
    assert scene.context.close(TIMEOUT_NS)


def each_loss(
    controls: Controls, make: Callable[[], Scene], operation: Operation
) -> Iterator[tuple[str, Scene, UrError | None]]:
    """Run the operation once for each of its calls, which reports the loss."""
    scene = make()
    with LevelZeroCalls() as calls:
        attempt(operation, scene)
    end(scene)
    for entry, count in calls.counts.items():
        for nth in range(1, count + 1):
            scene = make()
            delivered = controls.failures_delivered()
            controls.fail(entry, nth, LOST)
            error = attempt(operation, scene)
            controls.clear_failures()
            # Which calls are made may depend on how far the queues are.
            if controls.failures_delivered() > delivered:
                yield f"call {nth} of {entry}", scene, error
            end(scene)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_context_is_poisoned(
    client: Client, controls: Controls, device_index: int, name: str
) -> None:
    device = default_platform().devices[device_index]
    operation = OPERATIONS[name]
    losses = 0
    for call, scene, error in each_loss(controls, lambda: Scene(client, device), operation):
        losses += 1
        context = scene.context
        assert context.native.lost is not None, f"{call} goes unnoticed"
        assert error is None or error.code is UrResult.DEVICE_LOST, call
        if name == "urContextRelease":  # what is released answers something else
            continue
        with refused(UrResult.DEVICE_LOST):
            client.create_pool(context)
        with refused(UrResult.DEVICE_LOST):
            client.create_queue(context, device)
        with refused(UrResult.DEVICE_LOST):
            client.usm_alloc(context, UsmType.DEVICE, device, 64, Out())
    assert losses > 0, "it makes no call"


def adopt_list(s: Scene, native: CommandListHandle) -> None:
    """A queue over somebody else's list, who gives it back if there is none; released."""
    try:
        queue = s.make(
            s.adapter.urQueueCreateWithNativeHandle,
            *(handle_value(native), s.context, None, NativeHandleProperties(True)),
        )
    except UrError:
        ze_list.destroy(native)
        raise
    s.adapter.urQueueRelease(queue)


def adopt_memory(s: Scene, native: int) -> None:
    """A buffer over somebody else's memory, which it owns if there is one; given back."""
    try:
        buffer = s.make(
            s.adapter.urMemBufferCreateWithNativeHandle,
            *(native, s.context, NativeHandleProperties(True)),
        )
    except UrError:
        ze_memory.free(s.context.native.handle, native)
        raise
    s.adapter.urMemRelease(buffer)
    s.adapter.urQueueFinish(s.queue)


@pytest.mark.parametrize("what", ["list", "memory"])
def test_over_native_objects(
    client: Client, controls: Controls, device_index: int, what: str
) -> None:
    device = default_platform().devices[device_index]
    natives: list[Any] = []

    def make() -> Scene:
        scene = Scene(client, device)
        handle = scene.context.native.handle
        if what == "list":
            natives.append(ze_list.create_immediate(handle, device.handle))
        else:
            natives.append(ze_memory.alloc_device(handle, device.handle, BYTES, 64))
        return scene

    def adopt(scene: Scene) -> None:
        adopt = adopt_list if what == "list" else adopt_memory
        adopt(scene, natives.pop())

    losses = 0
    for call, scene, error in each_loss(controls, make, adopt):
        losses += 1
        assert scene.context.native.lost is not None, f"{call} goes unnoticed"
        assert error is None or error.code is UrResult.DEVICE_LOST, call
    assert losses > 0
