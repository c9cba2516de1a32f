# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each Level Zero call of each entry fails once, with each kind of error.

The entry fails, or finds a way round. Either way the numbers hold together, the context works on,
and its end leaves nothing. `test_device_loss` does the same with a lost device.
"""

from collections.abc import Iterator

import pytest

from tests.conformance.entry_points.test_device_loss import OPERATIONS, Operation, Scene, attempt
from tests.helpers.calls import LevelZeroCalls
from tests.helpers.entries import Client
from tests.helpers.snapshot_sums import assert_consistent
from tests.helpers.usm import KINDS, TIMEOUT_NS, alloc, finish, read
from urasync_l0 import Device, UrError, UrResult, take_snapshot
from urasync_l0.platform import default_platform
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.result import ZeResult

AT_MOST = 12
"""Of how many calls of one Level Zero entry each is tried."""

EARLY = frozenset({"zeEventHostSynchronize", "zeEventQueryStatus", "zeCommandListHostSynchronize"})
"""What may say that it is not ready."""

ERRORS = {
    "unknown": ZeResult.ERROR_UNKNOWN,
    "host memory": ZeResult.ERROR_OUT_OF_HOST_MEMORY,
    "device memory": ZeResult.ERROR_OUT_OF_DEVICE_MEMORY,
    "not ready": ZeResult.NOT_READY,
}


def planned(client: Client, device: Device, operation: Operation) -> Iterator[tuple[str, int]]:
    """The calls that an operation makes."""
    scene = Scene(client, device)
    with LevelZeroCalls() as calls:
        attempt(operation, scene)
    assert scene.context.close(TIMEOUT_NS)
    for entry, count in calls.counts.items():
        for nth in range(1, min(count, AT_MOST) + 1):
            yield entry, nth


def works_on(scene: Scene) -> None:
    """Memory of each kind can be had, written and read, and every number is right.

    But for a context that is just coming to its end.
    """
    context = scene.context
    if context.native.is_closed:
        return
    queue = context.create_queue(scene.device)
    for kind in KINDS:
        memory = alloc(queue, kind, 64)
        queue.fill(memory, b"\x5a")
        assert read(queue, memory, 64) == b"\x5a" * 64
        memory.free()
    finish(queue)
    assert queue.close(TIMEOUT_NS)
    for pool in context.native.registry.pools():
        pool.check()
        numbers = pool.statistics()
        assert numbers.used + numbers.pending + numbers.idle == numbers.reserved
    for shown in take_snapshot().pools:
        assert_consistent(shown)


def closed(scene: Scene) -> bool:
    """Whether the context comes to its end; what a first attempt leaves, a second one takes."""
    try:
        return scene.context.close(TIMEOUT_NS)
    except UrError:
        return scene.context.close(TIMEOUT_NS)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_one_call_fails(
    client: Client, controls: Controls, device_index: int, name: str, error: str
) -> None:
    """ERR-1, ERR-8, MEM-5."""
    device = default_platform().devices[device_index]
    operation = OPERATIONS[name]
    nothing = controls.live_objects()
    code = ERRORS[error]
    for entry, nth in planned(client, device, operation):
        if code is ZeResult.NOT_READY and entry not in EARLY:
            continue
        scene = Scene(client, device)
        controls.fail(entry, nth, int(code))
        failure = attempt(operation, scene)
        controls.clear_failures()
        call = f"call {nth} of {entry}"
        assert scene.context.native.lost is None, call
        if code is ZeResult.NOT_READY:
            assert failure is None or failure.code is UrResult.PROFILING_INFO_NOT_AVAILABLE, call
        works_on(scene)
        assert closed(scene), call
        del scene, failure
        assert controls.live_objects() == nothing, f"{call} left something"
