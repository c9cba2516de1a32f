# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands for something in the driver is neither pickled nor copied, and says what to do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from urasync_l0 import Context, Program, Queue, record_allocations
from urasync_l0.buffer import Buffer

WAYS = {
    "pickle": pickle.dumps,
    "oldest protocol": partial(pickle.dumps, protocol=0),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "within": lambda thing: copy.deepcopy([thing]),
}

MAKERS: dict[str, tuple[Callable[[Context, Queue], Any], str]] = {
    "context": (lambda context, queue: context, "Make another there"),
    "device": (lambda context, queue: queue.device, "uuid"),
    "platform": (lambda context, queue: context.platform, "finds its own"),
    "queue": (lambda context, queue: queue, "Context.create_queue"),
    "pool": (lambda context, queue: context.create_pool(), r"statistics\(\)"),
    "allocation": (lambda context, queue: queue.alloc_device(64), "Queue.memcpy"),
    "context allocation": (lambda context, queue: context.alloc_host(64), "Queue.memcpy"),
    "event": (lambda context, queue: queue.record(), "Wait for it"),
    "program": (lambda context, queue: Program(context, b"\3\2\x23\7"), "spirv"),
    "buffer": (
        lambda context, queue: Buffer(context, 0, 64, is_host=True, memory=None),
        "to the host",
    ),
    "recording": (lambda context, queue: record_allocations(history=1), "Send its trace"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("make", "instead"), MAKERS.values(), ids=MAKERS)
def test_is_refused_with_a_reason(
    context: Context,
    queue: Queue,
    make: Callable[[Context, Queue], Any],
    instead: str,
    way: Callable[[Any], object],
) -> None:
    thing = make(context, queue)
    with pytest.raises(TypeError, match=f"neither pickled nor copied.*{instead}") as caught:
        way(thing)
    assert str(caught.value).startswith(repr(thing))
    if hasattr(thing, "stop"):
        thing.stop()


def test_what_a_pool_tells_can_be_sent(context: Context) -> None:
    numbers = context.default_pool().statistics()
    assert pickle.loads(pickle.dumps(numbers)) == numbers == copy.copy(numbers)
