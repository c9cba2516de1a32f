# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that a handler of signals ends, at every place in turn, on the software driver.

For a process of its own, which they leave many objects in: what a call was just making may stay.
"""

import gc
import sys
from collections.abc import Callable
from contextlib import suppress

from tests.helpers.gates import hold
from tests.helpers.interruption import interrupt
from tests.helpers.usm import TIMEOUT_NS
from urasync_l0 import Context
from urasync_l0.result import HandleObjectInUseError, UrError
from urasync_l0.software_driver.controls import Controls


class Scene:
    """Two queues with work: the second is held, and waits for the first in some of the calls."""

    def __init__(self, adapter: str) -> None:
        self.context = Context(adapter, "software")
        self.queue = self.context.create_queue()
        self.other = self.context.create_queue()
        self.memory = self.queue.alloc_device(1000)
        self.more = self.queue.alloc_device(1000)
        self.queue.fill(self.memory, b"x")

    def with_event(self) -> "Scene":
        """Let there be an event of the first queue, and one that can be signalled."""
        self.event = self.queue.record()
        self.queue.fill(self.more, b"y", event=True)
        assert self.queue.finish(TIMEOUT_NS)
        self.queue.fill(self.more, b"z")
        for allocate in (self.queue.alloc_device, self.queue.alloc_host):
            allocate(LARGE).free()
        return self

    def goes_on(self) -> None:
        """All works as if nothing had been: events serve again, also those that were waited for."""
        if hasattr(self, "event"):
            self.event.release()
        for _ in range(3):
            with self.queue.record() as event:
                assert event.wait(TIMEOUT_NS)
            assert self.queue.finish(TIMEOUT_NS)


LARGE = 4 << 20
"""Bytes that no pool has at first, and that go back to the driver when a queue is finished."""

FEW = 10
"""More places than this are in each call."""

Call = Callable[[Scene], object]

AT_FIRST: dict[str, Call] = {
    "finish": lambda scene: scene.queue.finish(TIMEOUT_NS),
    "record": lambda scene: scene.queue.record(),
    "fill": lambda scene: scene.queue.fill(scene.memory, b"abc", 999, event=True),
}
"""Calls when there is no event yet: they make what they signal."""

LATER: dict[str, Call] = {
    "finish again": lambda scene: scene.queue.finish(TIMEOUT_NS),
    "event": lambda scene: scene.queue.record().wait(TIMEOUT_NS),
    "wait": lambda scene: scene.other.wait([scene.event], event=True),
    "copy": lambda scene: scene.other.memcpy(
        bytearray(9), scene.memory, 9, wait=[scene.event], event=True
    ),
    "allocate": lambda scene: scene.other.alloc_device(5000, wait=[scene.event], event=True),
    "free": lambda scene: scene.memory.free(scene.other, wait=[scene.event], event=True),
    "grow": lambda scene: scene.queue.alloc_device(3 * LARGE),
    "grow apart": lambda scene: scene.queue.alloc_shared(LARGE),
    "create": lambda scene: scene.context.create_queue(),
}
"""Calls when there are events that serve again, and one to wait for."""

ENDS: dict[str, Call] = {
    "close a queue": lambda scene: scene.queue.close(TIMEOUT_NS),
    "close": lambda scene: scene.context.close(TIMEOUT_NS),
}
"""Calls after which the queue does not go on."""


def _end(context: Context) -> None:
    with suppress(HandleObjectInUseError):  # what was just being made is nobody's
        assert context.close(TIMEOUT_NS), "the context does not close"


def _attempt(controls: Controls, adapter: str, name: str, place: int) -> str | None:
    """Interrupt a call at one place, and tell where; what goes wrong after that is printed."""
    scene = Scene(adapter)
    if name not in AT_FIRST:
        scene.with_event()
    call = (AT_FIRST | LATER | ENDS)[name]
    where = None
    try:
        if name in ENDS:
            where = interrupt(lambda: call(scene), place)
        else:
            with hold(controls, scene.other):
                where = interrupt(lambda: call(scene), place)
                scene.goes_on()
        _end(scene.context)
    except (UrError, AssertionError, LookupError) as error:
        print(f"{name}, {where}: {error!r}")
    for report in controls.take_reports():
        print(f"{name}, {where}: {report}")
    return where


def run(adapter: str) -> None:
    """Interrupt each call at each of its places; prints what went wrong."""
    gc.disable()  # what collection finds is no place of the call's
    sys.unraisablehook = lambda unraisable: None  # in a generator that is closed
    Context(adapter, "software").close()
    controls = Controls()
    for name in AT_FIRST | LATER | ENDS:
        place = 0
        while _attempt(controls, adapter, name, place) is not None:
            place += 1
        assert place > FEW, f"{name} has {place} places only"
