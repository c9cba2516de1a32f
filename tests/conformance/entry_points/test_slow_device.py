# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A slow driver and a slow device, at every point of every entry: nobody else waits for them.

Each Level Zero call that an entry makes is held in the driver, one after another; and the queues
that it uses stand still before each of its commands. Meanwhile somebody else allocates, frees,
fills, records and finishes on a queue in the same context, and asks for the numbers of every pool,
which a lock that is held around a call would stop. Then the entry does what it always does.
"""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.conformance.entry_points.test_device_loss import OPERATIONS, Operation, Scene, attempt
from tests.conformance.entry_points.test_every_failure import AT_MOST, closed, works_on
from tests.helpers.calls import SIGNAL, LevelZeroCalls
from tests.helpers.entries import Client
from tests.helpers.snapshot_sums import assert_consistent
from tests.helpers.threads import InThread
from tests.helpers.usm import KINDS, TIMEOUT_NS, alloc, finish, repeat_until
from urasync_l0 import KEEP_EVERYTHING, Device, InvalidValueError, UrError, take_snapshot
from urasync_l0.platform import default_platform
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.handles import handle_value

MOMENT_NS = 1_000_000

SLOW_NS = {SIGNAL: 5_000_000}
"""How long, in nanoseconds, what is appended in C is held at most, as usual signals are: it keeps
Python's lock meanwhile, so all threads wait for it."""

WAITING = {
    "urContextRelease",
    "urQueueRelease",
    "urQueueFinish",
    "urEventGetProfilingInfo",
    "urEventWait",
    "urEventRelease",
    "urEnqueueTimestampRecordingExp",
    "urEnqueueUSMMemcpy",
    "urEnqueueUSMMemcpy2D",
    "urMemRelease",
    "urUSMFree",
    "urEnqueueMemBufferRead",
    "urEnqueueMemBufferWrite",
    "urEnqueueMemBufferReadRect",
    "urEnqueueMemBufferWriteRect",
    "urEnqueueMemBufferMap",
    "urEnqueueMemUnmap",
}
"""Operations that wait for a queue, by an entry or because they are blocking."""

NEEDS_COMPILER = {"urProgramBuild", "urProgramBuildExp"}
"""They fail where the software driver finds no compiler."""


class Bystander:
    """A queue and a pool in the context of a scene, which need no new memory and no new event."""

    def __init__(self, scene: Scene) -> None:
        self.context = scene.context
        self.queue = self.context.create_queue(scene.device)
        self.pool = self.context.create_pool(release_threshold=KEEP_EVERYTHING)
        self.work()

    def work(self) -> None:
        """What must not have to wait for anybody."""
        for kind in KINDS:
            memory = alloc(self.queue, kind, 4096, pool=self.pool)
            event = self.queue.fill(memory, b"\x17", event=True)
            assert event.wait(TIMEOUT_NS)
            event.release()
            memory.free()
        finish(self.queue)
        for pool in self.context.native.registry.pools():  # also one that is just growing
            pool.statistics()
        for shown in take_snapshot().pools:
            assert_consistent(shown)


def outcome(thread: InThread) -> UrError | None:
    """The error of an operation that has come to its end."""
    try:
        thread.result()
    except UrError as error:
        return error
    return None


def each_call(client: Client, device: Device, operation: Operation) -> Iterator[tuple[str, int]]:
    """The calls that an operation makes beside a bystander."""
    scene = Scene(client, device)
    bystander = Bystander(scene)
    with LevelZeroCalls() as calls:
        attempt(operation, scene)
    assert scene.context.close(TIMEOUT_NS)
    del bystander
    for entry, count in calls.counts.items():
        for nth in range(1, min(count, AT_MOST) + 1):
            yield entry, nth


def slow_call(controls: Controls, scene: Scene, name: str, entry: str, nth: int) -> bool:
    """Run an operation with one slow call; tells whether it was made, and others went on."""
    bystander = Bystander(scene)
    controls.slow_down(entry, nth, SLOW_NS.get(entry, TIMEOUT_NS))
    thread = InThread(lambda: OPERATIONS[name](scene))
    repeat_until(lambda: controls.wait_slow(MOMENT_NS) or not thread.is_alive(), lambda: None)
    # Which calls are made may depend on how far the queues are.
    made = controls.wait_slow(0) and entry not in SLOW_NS
    if made:
        bystander.work()
        assert controls.wait_slow(0), "others had to wait"
    controls.hurry()
    assert outcome(thread) is None or name in NEEDS_COMPILER
    return made


@pytest.mark.parametrize("name", OPERATIONS)
def test_one_call_is_slow(client: Client, controls: Controls, device_index: int, name: str) -> None:
    """MT-1: no lock that others need is held around a call of the driver."""
    device = default_platform().devices[device_index]
    nothing = controls.live_objects()
    made = 0
    for entry, nth in each_call(client, device, OPERATIONS[name]):
        scene = Scene(client, device)
        made += slow_call(controls, scene, name, entry, nth)
        works_on(scene)
        assert closed(scene), f"call {nth} of {entry}"
        del scene
        assert controls.live_objects() == nothing, f"call {nth} of {entry} left something"
    assert made > 0


class HeldScene(Scene):
    """A scene whose queues stand still, with new events that are still to happen."""

    def __init__(self, client: Client, device: Device, controls: Controls) -> None:
        super().__init__(client, device)
        self.controls = controls
        self.handles = [handle_value(queue.handle) for queue in (self.queue, self.timed)]
        for queue in (self.queue, self.timed):
            finish(queue)
        self.begun = self.appended()
        self.let_run((0, 0))
        client.release(self.event, self.timed_event)
        self.timed_event = client.fill(self.timed, self.mem, b"\x01", 64)
        self.event = self.record()

    def appended(self) -> list[int]:
        """How many commands each queue was given; 0 of one that is closed."""
        counts = [0, 0]
        for place, handle in enumerate(self.handles):
            with suppress(InvalidValueError):
                counts[place] = self.controls.list_progress(handle).appended
        return counts

    def let_run(self, numbers: tuple[int, int] | None) -> None:
        """Let each queue run so many new commands, or all."""
        for place, handle in enumerate(self.handles):
            limit = None if numbers is None else self.begun[place] + numbers[place]
            with suppress(InvalidValueError):  # it is closed
                self.controls.limit_gate(handle, limit)

    def stands(self) -> bool:
        """Whether a queue stands before a command that it may not run."""
        for handle in self.handles:
            with suppress(InvalidValueError):
                if self.controls.gate(handle).wait_reached(MOMENT_NS):
                    return True
        return False


def each_point(
    client: Client, device: Device, controls: Controls, operation: Operation
) -> Iterator[tuple[int, int]]:
    """How many of the new commands each queue may run at first, those that are waited for too."""
    scene = HeldScene(client, device, controls)
    scene.let_run(None)
    attempt(operation, scene)
    counts = [
        max(0, number - begun) for number, begun in zip(scene.appended(), scene.begun, strict=True)
    ]
    assert scene.context.close(TIMEOUT_NS)
    # While the other queue stands still there is one wait more.
    for step in range(counts[1] + 1):
        yield 0, step
    for step in range(counts[0] + 2):
        yield step, counts[1] + 1


def slow_queues(scene: HeldScene, name: str, numbers: tuple[int, int], *, waits: bool) -> None:
    """Run an operation while the queues stand still behind so many commands, then let them go."""
    bystander = Bystander(scene)
    scene.let_run(numbers)
    thread = InThread(lambda: OPERATIONS[name](scene))
    if name in WAITING:
        repeat_until(lambda: scene.stands() or not thread.is_alive(), lambda: None)
    else:
        thread.join(TIMEOUT_NS / 1e9)
        assert not thread.is_alive(), "it waits for a queue"
    bystander.work()
    assert thread.is_alive() or not waits, "it should have waited"
    scene.let_run(None)
    assert outcome(thread) is None or name in NEEDS_COMPILER


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_queues_are_slow(
    client: Client, controls: Controls, device_index: int, name: str
) -> None:
    """An entry that need not wait does not, and one that waits stops nobody else."""
    device = default_platform().devices[device_index]
    nothing = controls.live_objects()
    points = list(each_point(client, device, controls, OPERATIONS[name]))
    assert len(points) > 1
    for numbers in points:
        scene = HeldScene(client, device, controls)
        slow_queues(scene, name, numbers, waits=name in WAITING and numbers == points[0])
        works_on(scene)
        assert closed(scene), numbers
        del scene
        assert controls.live_objects() == nothing, f"{numbers} left something"
