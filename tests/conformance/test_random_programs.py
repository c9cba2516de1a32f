# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of several queues on the real loader, with every byte checked.

The queues are held and let go at random, so that commands run late and in another order than they
were given. Each allocation is filled with a pattern of its own and copied out before it is freed;
a byte of another pattern means that memory was handed out while somebody still used it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.helpers.gates import HeldQueue
from tests.helpers.usm import KINDS, MIB, TIMEOUT_NS, alloc
from urasync_l0 import Allocation, Context, Event, OutOfMemoryError
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from urasync_l0.software_driver.controls import Controls

QUEUES = 3
_SAMPLE = 64

_STEPS = 400
_SIZES = (300, 5000, 70_000, MIB, 2 * MIB)
_WEIGHTS = {
    "alloc": 40,
    "free": 34,
    "record": 4,
    "wait": 4,
    "hold": 8,
    "let go": 8,
    "finish": 1,
    "trim": 1,
}


def random_program(seed: int) -> list[tuple[object, ...]]:
    """Steps drawn with a seed: holds that last, sizes that recur, mostly device memory."""
    draw = random.Random(seed)
    program: list[tuple[object, ...]] = []
    for name in draw.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=_STEPS):
        arguments: tuple[object, ...] = () if name == "trim" else (draw.randrange(QUEUES),)
        if name == "alloc":
            kind = draw.choices(KINDS, (8, 1, 1))[0]
            arguments += (draw.choice(_SIZES) - draw.randrange(256), kind)
        elif name in ("free", "wait"):
            arguments += (draw.randrange(100),)
        program.append((name, *arguments))
    return program


class Program:
    """One random program on one context."""

    def __init__(self, context: Context, controls: Controls) -> None:
        self.pool = context.create_pool(release_threshold=8 * MIB, maximum_size=64 * MIB)
        self.queues = [context.create_queue() for _ in range(QUEUES)]
        self.held: dict[int, HeldQueue] = {}
        self.controls = controls
        self.live: list[tuple[Allocation, int, int]] = []
        self.events: list[Event] = []
        self.checks: list[tuple[Allocation, bytes]] = []
        self.made = 0

    def run(self, program: list[tuple[object, ...]]) -> None:
        """Run the steps, then let everything complete and look at every byte read back."""
        try:
            for name, *arguments in program:
                getattr(self, str(name).replace(" ", "_"))(*arguments)
        finally:
            for held in self.held.values():
                held.release()
        while self.live:
            self.free(0, 0)
        for queue in self.queues:
            assert queue.finish(TIMEOUT_NS)
        for copy, expected in self.checks:
            assert bytes(copy.memoryview()) == expected
            copy.free()
        numbers = self.pool.statistics()
        assert numbers.used == 0 == numbers.pending
        assert 0 <= numbers.reserved <= numbers.reserved_high <= 64 * MIB
        self.pool.core.check()

    def alloc(self, position: int, nbytes: int, kind: object) -> None:
        queue = self.queues[position]
        # What the host would wait for must be able to run.
        self.let_go_all()
        try:
            allocation = alloc(queue, kind, nbytes, pool=self.pool)  # type: ignore[arg-type]
        except OutOfMemoryError:
            return
        self.made += 1
        queue.fill(allocation, bytes([self.made % 251 + 1]))
        self.live.append((allocation, position, self.made % 251 + 1))

    def let_go_all(self) -> None:
        """Let all queues go when the pool is nearly full: the next step may wait for them."""
        if self.pool.reserved_bytes > 40 * MIB:
            for position in list(self.held):
                self.let_go(position)

    def free(self, position: int, choice: int) -> None:
        if not self.live:
            return
        allocation, owner, byte = self.live.pop(choice % len(self.live))
        queue = self.queues[position]
        if position != owner:
            queue.wait([self.queues[owner].record()])
        length = min(allocation.nbytes, _SAMPLE)
        copy = queue.alloc_host(2 * length)
        queue.memcpy(copy, allocation, length)
        queue.memcpy(
            copy,
            allocation,
            length,
            destination_offset=length,
            source_offset=allocation.nbytes - length,
        )
        self.checks.append((copy, bytes([byte]) * (2 * length)))
        queue.free(allocation)

    def record(self, position: int) -> None:
        self.events.append(self.queues[position].record())

    def wait(self, position: int, choice: int) -> None:
        if self.events:
            self.queues[position].wait([self.events[choice % len(self.events)]])

    def hold(self, position: int) -> None:
        if position not in self.held:
            gate = self.controls.gate(handle_value(self.queues[position].handle))
            self.held[position] = HeldQueue(gate)

    def let_go(self, position: int) -> None:
        held = self.held.pop(position, None)
        if held is not None:
            held.release()

    def finish(self, position: int) -> None:
        for each in list(self.held):
            self.let_go(each)
        assert self.queues[position].finish(TIMEOUT_NS)

    def trim(self) -> None:
        self.pool.trim_to(4 * MIB)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("expanding", ["on", "off"])
def test_nobody_sees_bytes_of_another(
    make_context: Callable[..., Context], controls: Controls, expanding: str, seed: int
) -> None:
    """ORD-7 and the whole of the order: two ways of growing, three kinds, held queues."""
    case = Program(make_context(expanding_segments=expanding), controls)
    case.run(random_program(seed))
