# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inner structure of the pools in C against the one in Python, step by step.

One random program runs on two fake drivers, and after every step each block, run, stamp and number
must be the same. The rest of the unit tests runs with either (``make test``).
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.pool_builds import PLAIN, compiled, pool_type
from tests.helpers.pool_fakes import (
    DEVICE,
    INFINITE,
    MIB,
    SHARED,
    FakeEvent,
    FakeQueue,
    Program,
)
from urasync_l0.pool import HeapKey, QueueOrder, ReusePolicy, structure
from urasync_l0.pool import block as plain_block
from urasync_l0.pool import heap_blocks as plain_heap
from urasync_l0.pool.block import Block, BlockState
from urasync_l0.pool.heap import Heap
from urasync_l0.result import OutOfMemoryError, UrError

SOURCES = Path(structure.__file__).parent / "compiled"


class Side:
    """One of the two programs. Blocks, queues and events are known by numbers on both sides."""

    def __init__(self, module: Any, settings: Settings) -> None:
        self.program = Program(limit=settings.limit, virtual=settings.virtual, range_size=64 * MIB)
        self.pools = [
            pool_type(module)(
                self.program.registry,
                self.program.sources,
                release_threshold=threshold,
                maximum_size=settings.maximum,
                maximum_pooled=settings.maximum_pooled,
                policy=settings.policy,
            )
            for threshold in (1 << 62, 4 * MIB)
        ]
        self.queues: list[FakeQueue] = []
        self.orders: dict[QueueOrder, int] = {}
        self.blocks: dict[int, Block] = {}
        self.events: list[FakeEvent] = []
        self.at_once = 0

    def step(self, name: str, *arguments: int) -> object:
        """Do one step; tell what it gave or raised, in words that both sides share."""
        try:
            return getattr(self, name)(*arguments)
        except OutOfMemoryError as error:
            return "out of memory", error.used, error.pending, error.idle, error.reserved
        except UrError as error:
            return type(error).__name__, error.code

    def create(self) -> None:
        self.queues.append(self.program.queue())
        self.orders[self.queues[-1].order] = len(self.queues) - 1

    def allocate(
        self, number: int, pool: int, queue: int, size: int, event: int, flags: int
    ) -> object:
        """Allocate behind an event, if any; ``flags``: shared memory, its own, undone at once."""
        key: HeapKey = SHARED if flags & 1 else DEVICE
        chosen = self.queues[queue]
        waits = () if event < 0 else (self.events[event],)
        core = self.pools[pool]
        block = None
        if not (waits or flags & 6):
            block = core.take_at_once(chosen.order, key, size)
            self.at_once += block is not None
        if block is None:
            marks = tuple(each.mark for each in waits)
            undoable, own = bool(waits or flags & 4), bool(flags & 2)
            block = core.allocate(chosen.order, key, size, marks, undoable=undoable, own=own)
        found = self.place(block)
        if flags & 4:
            self.pools[pool].give_back(block)
            return found
        for each in waits:
            chosen.append_wait(each)
        self.blocks[number] = block
        return found

    def free(self, number: int, queue: int) -> None:
        block = self.blocks.pop(number)
        self.program.free(self.queues[queue], block)

    def record(self, queue: int) -> None:
        self.events.append(self.queues[queue].append_marker())

    def reach(self, queue: int, number: int) -> None:
        self.queues[queue].reach(number)

    def finish(self, queue: int) -> None:
        self.program.finish(self.queues[queue])

    def complete(self, event: int) -> None:
        """Wait for an event, and let the pools know what is complete by that."""
        self.events[event].wait(INFINITE)
        self.program.registry.completed(self.events[event].mark)
        for pool in self.pools:
            with pool.lock:
                pool.note_completion()

    def close(self, queue: int) -> None:
        self.program.close(self.queues[queue])
        self.queues[queue] = self.program.queue()
        self.orders[self.queues[queue].order] = len(self.orders)

    def trim(self, pool: int, keep: int) -> None:
        self.pools[pool].trim_to(keep)

    def place(self, block: Block) -> object:
        """A block in words that both sides share."""
        order = None if block.order is None else self.orders[block.order]
        return (
            *(block.address, block.size, block.state, block.requested, order, block.stamp),
            *(block.age if block.state is BlockState.PENDING else 0, block.born),
            [self.orders[view.order] for view in block.views],
        )

    def picture(self) -> object:
        """Everything that the heaps know."""
        return [
            (
                pool.statistics(),
                pool.tally.births,
                [self.heap_picture(heap) for heap in pool.sources],
            )
            for pool in self.pools
        ]

    def heap_picture(self, heap: Heap) -> object:
        blocks = [
            [self.place(block) for block in region.blocks()]
            for segment in heap.segments
            for region in segment.regions
        ]
        views = [
            (
                self.orders[order],
                view.runs(),
                [block.address for block in view.pending],
                {self.orders[other]: number for other, number in view.clock.items()},
                (view.newest_stamp, view.unmarked_frees, view.unmarked_bytes),
                (view.sizes.count, view.sizes.known_sizes),
            )
            for order, view in heap.views.items()
        ]
        numbers = (heap.used_bytes, heap.pending_bytes, heap.idle_bytes, heap.frees, heap.crowded)
        idle = sorted(block.address for block in heap.idle.at_least(1))
        return blocks, views, numbers, idle, heap.last_reuse, heap.idle.known_sizes


class Settings:
    """What the driver and the pools of a program are like, by its seed."""

    def __init__(self, chance: random.Random) -> None:
        self.limit = chance.choice([1 << 40, 24 * MIB])
        self.virtual = chance.random() < 0.7
        self.maximum = chance.choice([0, 0, 16 * MIB])
        self.maximum_pooled = chance.choice([None, None, MIB])
        switches = [chance.random() < 0.8 for _ in range(4)]
        self.policy = ReusePolicy(*switches)


def size(chance: random.Random) -> int:
    return chance.choice(
        [4096, 256 * chance.randint(1, 40), chance.randint(1, 5000), chance.randint(1, 3 * MIB)]
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_both_do_the_same_at_every_step(seed: int) -> None:
    chance = random.Random(seed)
    settings = Settings(chance)
    sides = [Side(PLAIN, settings), Side(compiled(), settings)]
    queues = chance.choice([1, 2, 3, 8])
    live: dict[int, None] = {}
    events = 0

    def step(name: str, *arguments: int) -> object:
        results = [side.step(name, *arguments) for side in sides]
        assert results[0] == results[1], (name, arguments)
        return results[0]

    for _ in range(queues):
        step("create")
    for number in range(600):
        action = chance.random()
        queue = chance.randrange(queues)
        if action < 0.42 and len(live) < 120:
            event = chance.randrange(events) if events and chance.random() < 0.2 else -1
            flags = chance.choice([0, 0, 0, 0, 0, 0, 1, 2, 4, 5])
            before = len(sides[0].blocks)
            step("allocate", number, chance.randrange(2), queue, size(chance), event, flags)
            if len(sides[0].blocks) > before:
                live[number] = None
        elif action < 0.82 and live:
            freed = chance.choice(list(live))
            del live[freed]
            step("free", freed, queue)
        elif action < 0.88:
            step("record", queue)
            events += 1
        elif action < 0.93:
            step("reach", queue, chance.randrange(sides[0].queues[queue].order.sequence + 1))
        elif action < 0.97:
            step("finish", queue)
        elif action < 0.985:
            step("trim", chance.randrange(2), chance.randrange(16 * MIB))
        else:
            step("close", queue)
        pictures = [side.picture() for side in sides]
        assert pictures[0] == pictures[1], number
        if number % 20 == 0:
            for side in sides:
                for pool in side.pools:
                    pool.check()
    assert sum(pool.statistics().allocations for pool in sides[1].pools) > 100
    assert sides[0].at_once == sides[1].at_once > 10


class Stretches:
    """Counts what is special about the stretches of blocks that become idle together."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.met: Counter[str] = Counter()
        original = plain_heap.HeapBlocks._complete_stretch

        def look_first(heap: Heap, first: Block, cut: dict[Any, int]) -> None:
            self._look(first)
            original(heap, first, cut)

        monkeypatch.setattr(plain_heap.HeapBlocks, "_complete_stretch", look_first)

    def _look(self, first: Block) -> None:
        stretch = [first]
        is_complete = plain_heap._is_complete
        while is_complete(stretch[-1].next) or stretch[-1].next.state is BlockState.IDLE:
            stretch.append(stretch[-1].next)
        before, last, after = first.previous, stretch[-1], stretch[-1].next
        views = [set(each.views) for each in stretch if each.state is BlockState.PENDING]
        shared = set.intersection(*views)
        self.met += Counter(
            {
                "long": len(views) > 20,
                "alone": len(stretch) == 1,
                "of several queues": len({each.views[0] for each in stretch if each.views}) > 1,
                "seen by several queues": len(set.union(*views)) > 1,
                "seen in parts": len(views) > 1 and shared != set.union(*views),
                "idle before": before.state is BlockState.IDLE,
                "idle between": any(each.state is BlockState.IDLE for each in stretch[1:-1]),
                "idle after": last.state is BlockState.IDLE,
                "only the idle block before is in a run": before.state is BlockState.IDLE
                and not views[0].issuperset(before.previous.views),
                "only the idle block after is in a run": last.state is BlockState.IDLE
                and not views[-1].issuperset(after.views),
                "cut off the front": bool(shared.intersection(after.views)),
                "cut off the back": bool(shared.intersection(before.views)),
                "cut out of the middle": bool(shared.intersection(before.views, after.views)),
            }
        )


@pytest.mark.slow
def test_both_complete_stretches_of_blocks_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small blocks, freed side by side, become idle together: whichever queues freed them,
    whichever see them as free, and whatever lies between."""
    stretches = Stretches(monkeypatch)
    for seed in range(12):
        run_stretches(random.Random(seed))
    assert len(stretches.met) == 13
    assert min(stretches.met.values()) > 30, stretches.met


def run_stretches(chance: random.Random) -> None:
    """Allocate a row of blocks, free it in some order and on some queues, and complete a part."""
    settings = Settings(chance)
    settings.maximum_pooled = None
    sides = [Side(PLAIN, settings), Side(compiled(), settings)]
    queues, events, numbers = 3, 0, count()
    live: list[int] = []

    def step(name: str, *arguments: int) -> None:
        assert sides[0].step(name, *arguments) == sides[1].step(name, *arguments), arguments

    def compare() -> None:
        assert sides[0].picture() == sides[1].picture()
        for side in sides:
            side.pools[0].check()

    for _ in range(queues):
        step("create")
    for _ in range(8):
        usual = chance.randrange(queues)
        share = chance.choice([0, 0.1, 1])  # of the others
        for number in islice(numbers, 60):
            step("allocate", number, 0, usual, 256 * chance.randint(1, 4), -1, 0)
            live.append(number)
        chance.choice(ORDERS)(chance, live)
        kept = len(live) * chance.choice([0, 0, 1]) // 10
        while len(live) > kept:
            queue = chance.randrange(queues) if chance.random() < share else usual
            step("free", live.pop(), queue)
            if chance.random() < 0.1:
                step("record", queue)
                events += 1
            if events and chance.random() < 0.05:
                newest = events - 1 - chance.randrange(min(events, 5))
                live.insert(0, next(numbers))
                step("allocate", live[0], 0, chance.randrange(queues), 256, newest, 0)
        compare()
        for _ in range(3):
            action = chance.random()
            if action < 0.5 and events:
                step("complete", events - 1 - chance.randrange(min(events, 5)))
            elif action < 0.9:
                step("finish", chance.randrange(queues))
            else:
                step("close", chance.randrange(queues))
            compare()


def alternate(_: random.Random, row: list[int]) -> None:
    """Every second first, so that neighbours meet late."""
    row[:] = row[::2] + row[1::2]


ORDERS: list[Callable[[random.Random, list[int]], None]] = [
    random.Random.shuffle,
    alternate,
    lambda _, row: row.sort(),
]


@pytest.mark.parametrize("base", ["python", "compiled"])
def test_blocks_that_became_one_are_gone_at_once(base: str) -> None:
    """LIFE: nothing that is left of them waits for the collector, and idle ones between neither."""
    module: Any = PLAIN if base == "python" else compiled()
    kind = plain_block.Block if base == "python" else module.Block
    side = Side(module, Settings(random.Random(1)))
    for _ in range(2):
        side.create()
    gc.collect()
    gc.disable()
    try:
        before = sum(type(each) is kind for each in gc.get_objects())
        for number in range(200):
            side.allocate(number, 0, 0, 256, -1, 0)
        held = side.blocks[100]
        for number in range(200):
            side.free(number, number % 2)
        for queue in range(2):
            side.finish(queue)
        # One idle block, the edges, and what is held.
        assert sum(type(each) is kind for each in gc.get_objects()) <= before + 4
        assert held.state is BlockState.IDLE
    finally:
        gc.enable()


@pytest.mark.parametrize("base", ["python", "compiled"])
def test_blocks_of_segments_that_touch_stay_apart(base: str) -> None:
    """Driver allocations may lie side by side: what is complete in them is idle in each."""
    settings = Settings(random.Random(1))
    settings.virtual = False
    side = Side(PLAIN if base == "python" else compiled(), settings)
    side.create()
    for number in range(3):
        side.allocate(number, 0, 0, 2 * MIB, -1, 0)
    assert side.blocks[1].address == side.blocks[0].end
    assert side.blocks[1].previous.state is BlockState.EDGE
    for number in range(3):
        side.free(number, 0)
    side.finish(0)
    side.pools[0].check()
    assert side.pools[0].statistics().idle == 6 * MIB


@pytest.mark.parametrize("base", ["python", "compiled"])
def test_a_dropped_pool_is_collected(base: str) -> None:
    """LIFE: blocks, runs and heaps refer to each other in circles; none keeps them alive."""
    module: Any = PLAIN if base == "python" else compiled()
    kind = plain_block.Block if base == "python" else module.Block

    def blocks() -> list[Any]:
        gc.collect()
        return [each for each in gc.get_objects() if type(each) is kind]

    # Kept, for what other tests dropped may go at any time, and its addresses be used again.
    others = {id(each): each for each in blocks()}

    def count() -> int:
        return sum(id(each) not in others for each in blocks())

    side = Side(module, Settings(random.Random(1)))
    side.create()
    for number in range(300):
        side.allocate(number, 0, 0, 256 + number, -1, 0)
    for number in range(0, 300, 3):
        side.free(number, 0)
    assert count() > 300
    del side
    assert count() == 0


def test_wrong_arguments_are_refused_not_believed() -> None:
    """What is no block, or is linked nowhere, is told so in every method that takes one."""
    module = compiled()
    heap = module.HeapBlocks(None, DEVICE, one_range=True)
    order = Program().queue().order
    view = heap.view(order)
    lonely = heap.new_block(1 << 20, 4096, BlockState.IN_USE)
    assert lonely.previous is lonely is lonely.next
    for wrong, error in ((object(), TypeError), (lonely, ValueError)):
        for method in (heap.set_idle, heap._offer, heap._withdraw, heap._remove_pending):
            with pytest.raises(error):
                method(wrong)
        with pytest.raises(error):
            heap.free(wrong, order, 1)
        with pytest.raises(error):
            heap._set_pending(wrong, view, 1)
    for method in (view.add, view.remove, view.enter, view.leave, lonely.insert_before):
        with pytest.raises(TypeError):
            method(lonely)
    with pytest.raises(ValueError, match="not linked"):
        lonely.unlink()
    with pytest.raises(TypeError):
        lonely.views = [view]
    with pytest.raises(TypeError):
        lonely.state = 7
    with pytest.raises(TypeError):
        lonely.next = None
    with pytest.raises(TypeError):
        view.pending = []
    with pytest.raises(TypeError):
        heap.take(object(), 256, None)
    with pytest.raises(TypeError):
        heap.take(view, 256)
    with pytest.raises(OverflowError):
        heap.take(view, -1, None)
    assert heap.take(view, 1 << 63, None) is None
    tally = module.Tally()
    for given in ((lonely, 1), (order, order, 1), (order, order, 1, object())):
        with pytest.raises(TypeError):
            heap.hand_out(*given)
    with pytest.raises(AttributeError):
        heap.hand_out(object(), {}, 1, tally)
    with pytest.raises(ValueError, match="not linked"):
        heap.take_back(lonely, order, 1, tally)
    with pytest.raises(TypeError):
        tally.taken_back(object())
    with pytest.raises(TypeError):
        tally.handed_out(object(), 1)
    with pytest.raises(KeyError):
        heap.idle.remove(256, 1 << 20)
    with pytest.raises(ValueError, match="larger than any memory"):
        heap.idle.add(1 << 63, 1 << 20, lonely)
    assert heap.idle.count == 0
    twin = plain_heap.HeapBlocks(None, DEVICE).new_block(1 << 20, 4096, BlockState.IN_USE)  # type: ignore[arg-type]
    for order_of_both in (None, order):
        lonely.order = twin.order = order_of_both
        assert repr(lonely) == repr(twin)


def run_python(program: str, choice: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, structure.VARIABLE: choice},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_variable_chooses() -> None:
    program = "from urasync_l0.pool import structure; print(structure.IS_COMPILED)"
    assert run_python(program, "python").stdout.strip() == "False"
    wrong = run_python(program, "fast")
    assert wrong.returncode != 0
    assert "URASYNC_L0_POOL is 'fast'; it must be 'python', 'compiled' or unset" in wrong.stderr
    compiled()
    assert run_python(program, "compiled").stdout.strip() == "True"
    assert run_python(program, "").stdout.strip() == "True"


def test_without_the_module_in_c_the_python_one_serves() -> None:
    hidden = "import sys; sys.modules['urasync_l0.pool._structure'] = None; "
    program = hidden + "from urasync_l0.pool import structure; print(structure.IS_COMPILED)"
    assert run_python(program, "").stdout.strip() == "False"
    insisted = run_python(program, "compiled")
    assert insisted.returncode != 0
    assert "asks for the compiled pool core, which is not there" in insisted.stderr


def test_the_sources_compile_without_a_warning(tmp_path: Path) -> None:
    """The installation lets warnings pass, for compilers to come; here they are errors."""
    sources = sorted(SOURCES.glob("*.c"))
    assert sources
    run = subprocess.run(
        [
            *("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"),
            f"-I{sysconfig.get_path('include')}",
            *map(str, sources),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
