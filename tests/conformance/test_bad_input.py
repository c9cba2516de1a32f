# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of any kind: a clear error, and nothing changed.

A number that Hypothesis chooses stands for a method of an object and its arguments, right ones and
all kinds of wrong ones.
What is no `UrError` and no TypeError that names the argument would be a failure somewhere inside.
Native handles are left out: whoever passes one that is none is beyond help.
"""

import inspect
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.helpers.usm import TIMEOUT_NS, finish
from urasync_l0 import Allocation, Context, Event, Pool, Queue, UrError, UsmType
from urasync_l0.result import UrResult
from urasync_l0.software_driver.controls import Controls

PUBLIC = {
    Context: (
        "alloc_device", "alloc_host", "alloc_shared", "can_access_peer", "create_pool",
        "create_pool_in", "create_program", "create_queue", "current_pool", "default_pool",
        "disable_peer_access", "enable_peer_access", "find_allocation", "has_expanding_segments",
        "has_peer_access", "position", "set_current_pool", "usm_alloc",
    ),
    Queue: (
        "alloc_device", "alloc_host", "alloc_shared", "barrier", "enqueue_alloc", "fill",
        "fill_2d", "finish", "free", "launch", "memcpy", "memcpy_2d", "record", "wait",
    ),
    Event: ("set_callback", "wait"),
    Pool: ("trim_to",),
}  # fmt: skip

ADDRESSES = {"target", "source", "destination", "buffer", "allocation"}
"""A number that is no address cannot be told from one that is."""

INSIDE = (
    *("object has no attribute", "unsupported operand", "has no len()", "not subscriptable"),
    *("not supported between", "from_buffer", "unhashable", "a bytes-like object"),
)
"""Errors of Python's that say nothing of the argument."""


def _nothing(*arguments: object) -> None:
    """What can be called with anything."""


class Scene:
    """Two contexts with objects that are right, dead, or of the other one."""

    def __init__(self, make_context: Callable[..., Context]) -> None:
        self.contexts = [make_context(), make_context()]
        context, other = self.contexts
        self.queue, self.foreign_queue = context.create_queue(), other.create_queue()
        self.pool, closed_pool = context.create_pool(), context.create_pool()
        closed_pool.close()
        closed_queue = context.create_queue()
        closed_queue.close()
        self.event, released = self.queue.record(), self.queue.record()
        released.release()
        self.memory = self.queue.alloc_host(4096)
        freed = self.queue.alloc_device(100)
        freed.free()
        self.foreign = self.foreign_queue.alloc_device(4096)
        foreign_event = self.foreign_queue.record()
        self.objects: list[Any] = [context, self.queue, self.event, self.pool]
        self.wrong: list[Any] = [
            None, True, 0, 1, -1, 7, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, 2**200, -(2**63),
            1.5, float("nan"), "", "x", b"", b"ab", (), [], {}, object(), range(3),
            memoryview(b"abc"), _nothing, context, other, self.queue, self.foreign_queue,
            closed_queue, self.pool, closed_pool, self.event, released, foreign_event, [self.event],
            [foreign_event], [released], [None], (self.event, self.event), freed, self.foreign,
            UsmType.DEVICE, UsmType.UNKNOWN, context.devices[0], UrResult.SUCCESS,
        ]  # fmt: skip
        self.right: dict[str, list[Any]] = {
            "nbytes": [1, 256, 4096], "pattern": [b"a", b"ab"], "target": [self.memory],
            "source": [self.memory, bytes(64)], "wait": [[], [self.event]], "pool": [self.pool],
        }  # fmt: skip

    def argument(self, choices: random.Random, name: str) -> Any:
        """Something for a parameter, right or wrong."""
        if name in self.right and choices.random() < 0.5:
            return choices.choice(self.right[name])
        if name == "timeout_ns":
            return choices.choice([0, -1, 2**64, 1.5, "x", self.event])
        wrong = choices.choice(self.wrong)
        if name in ADDRESSES and isinstance(wrong, int):
            return 0
        return wrong

    def call(self, seed: int) -> None:
        """One call with arguments of any kind."""
        choices = random.Random(seed)
        target = choices.choice(self.objects)
        (names,) = [names for kind, names in PUBLIC.items() if isinstance(target, kind)]
        method = getattr(target, choices.choice(names))
        parameters = inspect.signature(method).parameters.values()
        # Few at a time, or the check of the first wrong one hides those of the others.
        share = choices.choice([0.5, 1 / len(parameters)]) if parameters else 0
        arguments = {
            parameter.name: self.argument(choices, parameter.name)
            for parameter in parameters
            if parameter.default is parameter.empty or choices.random() < share
        }
        message = ""
        try:
            give_back(method(**arguments))
        except (UrError, TypeError) as error:
            message = str(error) or repr(error)
        assert not any(part in message for part in INSIDE), (method, arguments, message)

    def check(self) -> None:
        """Everything still works, and every number is right."""
        for queue in (self.queue, self.foreign_queue):
            finish(queue)
            queue.alloc_device(1000, event=True).free()
            finish(queue)
        for context in self.contexts:
            for pool in context.native.registry.pools():
                pool.check()


def give_back(made: object) -> None:
    """What a call happened to make."""
    if isinstance(made, Allocation) and not made.is_freed:
        made.free()
    elif isinstance(made, Queue):
        assert made.close(TIMEOUT_NS)
    elif isinstance(made, Event):
        made.release()


@pytest.mark.parametrize("part", range(4))
def test_arguments_of_any_kind(
    controls: Controls, make_context: Callable[..., Context], part: int
) -> None:
    scene = Scene(make_context)

    @seed(part)
    @settings(
        max_examples=400,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**64 - 1))
    def one_call(choices: int) -> None:
        scene.call(choices)

    one_call()
    scene.check()


def test_an_int_is_no_pattern(queue: Queue) -> None:
    """Python's ``bytes`` would take it for a number of zeros."""
    memory = queue.alloc_host(16)
    with pytest.raises(TypeError, match=r"^pattern must be bytes or a buffer, not 5\.$"):
        queue.fill(memory, 5)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"^spirv must be bytes or a buffer, not 64\.$"):
        queue.context.create_program(64)  # type: ignore[arg-type]


def test_a_callback_that_cannot_be_called_is_refused(queue: Queue) -> None:
    """Else the thread that calls them would end, and nobody's callback would ever come."""
    event = queue.record()
    with pytest.raises(TypeError, match="callback must be callable"):
        event.set_callback(5)  # type: ignore[arg-type]
    with pytest.raises(UrError) as caught:
        event.set_callback(print, status="complete")  # type: ignore[arg-type]
    assert caught.value.code is UrResult.INVALID_ENUMERATION


@pytest.mark.parametrize("devices", ["0", [None], [1.5], [[0]], [UsmType.DEVICE]])
def test_devices_that_are_none(make_context: Callable[..., Context], devices: Any) -> None:
    make_context()
    with pytest.raises((UrError, TypeError), match="device"):
        Context(devices=devices)


@pytest.mark.parametrize("kind", [7, "device", None, UsmType.UNKNOWN])
def test_memory_of_no_kind(queue: Queue, kind: Any) -> None:
    with pytest.raises(UrError, match="there is memory of the kinds DEVICE, SHARED and HOST"):
        queue.enqueue_alloc(kind, 100)
