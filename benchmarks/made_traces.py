# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traces of several queues, made with a seed: ``python -m benchmarks.made_traces FOLDER``.

They put the pool core to tests that the bundled traces do not: many queues that know nothing of
each other, queues that pass memory on by events, and queues that take turns in bursts.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

MIB = 1 << 20
_LARGEST = 16 * MIB


class TraceWriter:
    """Collects the lines of a trace."""

    def __init__(self) -> None:
        self.lines = ["op,id,bytes,queue,event"]
        self._ids = 0
        self._events = 0

    def allocate(self, nbytes: int, queue: int) -> int:
        """Allocate; returns the id."""
        self.lines.append(f"A,{self._ids},{nbytes},{queue},")
        self._ids += 1
        return self._ids - 1

    def free(self, allocation: int, queue: int) -> None:
        """Free on a queue."""
        self.lines.append(f"F,{allocation},,{queue},")

    def order(self, before: int, after: int) -> None:
        """Let queue ``after`` wait for what queue ``before`` was given so far."""
        self.lines.append(f"R,,,{before},{self._events}")
        self.lines.append(f"W,,,{after},{self._events}")
        self._events += 1

    def text(self) -> str:
        """The file's content."""
        return "\n".join(self.lines) + "\n"


def _size(draw: random.Random) -> int:
    return min(_LARGEST, int(draw.lognormvariate(11.5, 2)) + 1)


def crossing(queues: int, steps: int, seed: int, *, events: bool) -> str:
    """Allocations of random size and life on random queues, 40 to 200 at a time.

    With ``events``, queues now and then wait for each other, and a third of the frees happen on
    another queue, which waits for the allocating one first.
    """
    draw = random.Random(seed)
    trace = TraceWriter()
    live: list[tuple[int, int]] = []
    for _ in range(steps):
        queue = draw.randrange(queues)
        if len(live) < 40 or (len(live) < 200 and draw.random() < 0.5):
            live.append((trace.allocate(_size(draw), queue), queue))
        else:
            allocation, owner = live.pop(draw.randrange(len(live)))
            if events and owner != queue and draw.random() < 0.3:
                trace.order(owner, queue)
                owner = queue
            trace.free(allocation, owner)
        if events and draw.random() < 0.05:
            trace.order(*draw.sample(range(queues), 2))
    return trace.text()


def bursts(queues: int, phases: int, seed: int) -> str:
    """Queues take turns: each allocates sixty blocks of up to 2 MiB and frees them all."""
    draw = random.Random(seed)
    trace = TraceWriter()
    for phase in range(phases):
        queue = phase % queues
        burst = [trace.allocate(draw.randrange(1, 2 * MIB), queue) for _ in range(60)]
        draw.shuffle(burst)
        for allocation in burst:
            trace.free(allocation, queue)
    return trace.text()


def growing(count: int) -> str:
    """Two queues in turn; each allocation is larger than all before, and the one before last goes.

    No freed block ever fits, so only stretches of both queues' blocks can serve.
    """
    trace = TraceWriter()
    held: list[int] = []
    for n in range(1, count + 1):
        held.append(trace.allocate(20_000 * n, n % 2))
        if len(held) > 2:
            trace.free(held.pop(0), n % 2)
    return trace.text()


MADE: dict[str, Callable[[], str]] = {
    "crossing_2": lambda: crossing(2, 6000, 2, events=False),
    "crossing_8": lambda: crossing(8, 6000, 8, events=False),
    "crossing_3_events": lambda: crossing(3, 6000, 3, events=True),
    "crossing_16_events": lambda: crossing(16, 6000, 16, events=True),
    "bursts_2": lambda: bursts(2, 40, 2),
    "bursts_4": lambda: bursts(4, 40, 4),
    "growing_2": lambda: growing(600),
}


def write(folder: Path, names: Iterable[str] = tuple(MADE)) -> list[Path]:
    """Write traces into a folder, which is made; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names:
        paths.append(folder / f"{name}.csv")
        paths[-1].write_text(MADE[name](), encoding="utf-8")
    return paths


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args(arguments).folder)


if __name__ == "__main__":
    main()
