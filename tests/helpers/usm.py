# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocate, read and wait in tests: every host wait has a time-out."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from tests.helpers.readback import as_copied
from urasync_l0 import Allocation, Event, Pool, Queue, UsmType
from urasync_l0.argument import KINDS as KINDS  # what tests are parametrised by

TIMEOUT_NS = 30_000_000_000
"""How long a test waits, in nanoseconds, before the driver is taken to hang."""

MIB = 1 << 20


def alloc(
    queue: Queue,
    kind: UsmType,
    nbytes: int,
    *,
    pool: Pool | None = None,
    wait: Iterable[Event] = (),
    event: bool = False,
) -> Allocation:
    """Allocate memory of a kind given as a value."""
    method = {
        UsmType.DEVICE: queue.alloc_device,
        UsmType.SHARED: queue.alloc_shared,
        UsmType.HOST: queue.alloc_host,
    }[kind]
    return method(nbytes, pool=pool, wait=wait, event=event)


def pool_of(queue: Queue, kind: UsmType) -> Pool:
    """The pool that serves allocations of a kind which name none."""
    if kind is UsmType.HOST:
        return queue.context.host_pool
    return queue.context.default_pool(queue.device)


def finish(queue: Queue) -> None:
    """Finish a queue, or fail the test."""
    assert queue.finish(TIMEOUT_NS), f"{queue!r} does not finish"


def repeat_until(condition: Callable[[], bool], action: Callable[[], object]) -> None:
    """Do something again and again until a condition holds; fail when it does not in time."""
    deadline = time.monotonic() + TIMEOUT_NS / 1e9
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        action()


def read(queue: Queue, source: Any, nbytes: int | None = None) -> bytes:
    """Copy memory to the host in the queue's order, and finish the queue."""
    target = bytearray(source.nbytes if nbytes is None else nbytes)
    queue.memcpy(target, source, len(target))
    finish(queue)
    return as_copied(target)
