# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done at once in C, against the methods in Python that it stands for.

One random program runs on two queues over fake drivers. What each call gives or raises, every
number of the pools, and what dropped objects leave must be the same; in C most calls must not have
entered the method in Python. Without the interpreter's lock, all must.
"""

from __future__ import annotations

import gc
import inspect
import operator
import random
import threading
import weakref
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from tests.helpers.pool_builds import DOES_AT_ONCE, PLAIN, at_once, compiled, pool_type
from tests.helpers.pool_fakes import DEVICE, HOST, MIB, SHARED, Program
from urasync_l0.enums import UsmType
from urasync_l0.result import InvalidMemObjectError, UrError


class Facade:
    """A pool as queues see it."""

    def __init__(self, core: Any, *, prepares: bool = False) -> None:
        self.core = core
        self.prepares = prepares
        self.is_foreign = False

    def require(self, context: object, key: object, device: object) -> Any:
        if self.is_foreign:
            raise UrError("of another context")
        return self.core


def queue_type(module: Any) -> type:
    """A queue and what it hands out, on the classes of a module."""

    class Current(module.CurrentFields):  # type: ignore[misc]
        """Names the pool that serves who names none."""

        def __init__(self, pool: Facade) -> None:
            self.pool = pool

    class Left(module.DroppedBlock):  # type: ignore[misc]
        """What a dropped allocation leaves."""

    class Memory(module.HeldBlock):  # type: ignore[misc]
        """An allocation."""

        __slots__ = ("__weakref__",)
        dropped_type = Left

        @at_once(module, "free_own")
        def free(self, wait: object = ()) -> None:
            self.queue.free(self)

    class Desk(module.QueueFront):  # type: ignore[misc]
        """A queue; counts the calls that come to it in Python."""

        def __init__(self, program: Program, fake: Any, pools: list[Facade]) -> None:
            self.program = program
            self.context = self.device = self
            self.long_ways = 0
            dropped: deque[Any] = deque()
            self._attention = self._dropped = dropped
            self._notes: dict[int, int] = {}
            self._held_type = Memory
            self._registry = program.registry
            self.order = fake.order
            self.current = Current(pools[0])
            keys = (DEVICE, SHARED, HOST)
            self._routes = {key[0]: module.Route(key[0], key, self.current, None) for key in keys}

        @at_once(module, "alloc_device")
        def alloc_device(self, nbytes: int, pool: Facade | None = None, **events: Any) -> Any:
            return self._alloc(UsmType.DEVICE, nbytes, pool)

        @at_once(module, "alloc_shared")
        def alloc_shared(self, nbytes: int, pool: Facade | None = None, **events: Any) -> Any:
            """Shared memory."""
            return self._alloc(UsmType.SHARED, nbytes, pool)

        @at_once(module, "alloc_host")
        def alloc_host(self, nbytes: int, pool: Facade | None = None, **events: Any) -> Any:
            return self._alloc(UsmType.HOST, nbytes, pool)

        @at_once(module, "alloc_address")
        def alloc_address(self, kind: UsmType, nbytes: int, pool: Facade | None = None) -> Any:
            return self._take(self._routes[kind], nbytes, pool).address, None

        def _alloc(self, kind: UsmType, nbytes: int, pool: Facade | None) -> Any:
            route = self._routes[kind]
            block = self._take(route, nbytes, pool)
            served = pool or self.current.pool
            size = block.requested
            return Memory(block, self._dropped, self.order, size, self, kind, served, None)

        def _take(self, route: Any, nbytes: int, pool: Facade | None) -> Any:
            self.long_ways += 1
            self._attend()
            nbytes = operator.index(nbytes)
            core = self.current.pool.core if pool is None else pool.require(self, route.key, self)
            block = core.take_at_once(self.order, route.key, nbytes)
            return block or core.allocate(self.order, route.key, nbytes, undoable=False)

        def _attend(self) -> None:
            while self._dropped:
                left = self._dropped.popleft()
                if self._registry.claim_if(left.block, left.born):
                    left.block.heap.pool.free(left.block, left.order, left.order.sequence + 1)

        @at_once(module, "free")
        def free(self, target: Any, wait: object = ()) -> None:
            self.long_ways += 1
            self._attend()
            address = target.ptr if isinstance(target, Memory) else target
            if isinstance(target, Memory) and target.is_freed:
                raise InvalidMemObjectError("freed already")
            block = self._registry.claim(address)
            if isinstance(target, Memory):
                target.note_freed()
            block.heap.pool.free(block, self.order, self.order.sequence + 1)

    return Desk


class Side:
    """One of the two programs."""

    def __init__(self, module: Any) -> None:
        self.program = Program(range_size=64 * MIB)
        kind = pool_type(module)
        cores = [
            kind(self.program.registry, self.program.sources, release_threshold=1 << 62)
            for _ in range(3)
        ]
        self.pools = [Facade(cores[0]), Facade(cores[1]), Facade(cores[2], prepares=True)]
        self.fakes = [self.program.queue() for _ in range(2)]
        make = queue_type(module)
        self.queues = [make(self.program, fake, self.pools) for fake in self.fakes]
        self.held: dict[int, Any] = {}

    def step(self, name: str, *arguments: Any) -> object:
        try:
            return getattr(self, name)(*arguments)
        except (UrError, TypeError, OverflowError) as error:
            return type(error).__name__

    def alloc(self, number: int, queue: int, kind: str, size: Any, pool: int, way: int) -> object:
        method = getattr(self.queues[queue], "alloc_" + kind)
        if pool < 0:
            made = method(size)
        elif way == 1:
            made = method(size, pool=self.pools[pool], event=False, wait=())
        elif way == 2:
            made = method(size, pool=self.pools[pool], event=True)
        else:
            made = method(size, self.pools[pool])
        self.held[number] = made
        told = made.ptr, made.nbytes, made.kind, made.is_freed, made.event, made.block.born
        return *told, self.pools.index(made.pool), made.queue is self.queues[queue]

    def alloc_address(self, number: int, queue: int, kind: UsmType, size: int) -> object:
        made = self.queues[queue].alloc_address(kind, size)
        self.held[number] = made[0]
        return made

    def free(self, number: int, queue: int, way: int) -> object:
        target = self.held[number]
        if way == 0 or isinstance(target, int):
            return self.queues[queue].free(target)
        if way == 1:
            return target.free()
        if way == 2:
            return target.free(wait=())
        self.queues[queue].free(target.ptr)
        return target.is_freed

    def drop(self, number: int) -> object:
        del self.held[number]
        return [len(queue._dropped) for queue in self.queues]

    def note(self, queue: int, count: int) -> None:
        self.queues[queue]._notes = {each: each for each in range(count)}

    def current(self, queue: int, pool: int) -> None:
        self.queues[queue].current.pool = self.pools[pool]

    def foreign(self, pool: int, is_foreign: bool) -> None:
        """Only before the pool was named: what it belongs to never changes."""
        self.pools[pool].is_foreign = is_foreign

    def finish(self, queue: int) -> None:
        self.program.finish(self.fakes[queue])

    def limit(self, pool: int, size: int) -> None:
        self.pools[pool].core.maximum_size = size

    def close(self, pool: int) -> None:
        self.pools[pool].core.close()

    def picture(self) -> object:
        states = [each.is_freed for each in self.held.values() if not isinstance(each, int)]
        return states, [pool.core.statistics() for pool in self.pools]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_done_at_once_is_what_the_method_does(seed: int) -> None:
    chance = random.Random(seed)
    sides = [Side(PLAIN), Side(compiled())]
    numbers: list[int] = []

    def step(name: str, *arguments: Any) -> object:
        results = [side.step(name, *arguments) for side in sides]
        assert results[0] == results[1], (name, arguments)
        return results[0]

    step("foreign", 2, True)
    sizes = [256, 4096, 5000, 70_000, 0, -1, 1 << 65, "none", True, 2.5, MIB]
    for number in range(900):
        action = chance.random()
        queue = chance.randrange(2)
        if action < 0.42:
            size = chance.choice(sizes[:4] * 6 + sizes)
            if chance.random() < 0.2 and isinstance(size, int):
                step("alloc_address", number, queue, chance.choice(list(UsmType)[1:4]), size)
            else:
                kind = chance.choice(["device", "device", "shared", "host"])
                pool = chance.choice([-1, -1, -1, 0, 1, 2])
                step("alloc", number, queue, kind, size, pool, chance.randrange(3))
            if number in sides[0].held:
                numbers.append(number)
        elif action < 0.82 and numbers:
            picked = chance.choice(numbers)
            step("free", picked, queue, chance.randrange(4))
            if chance.random() < 0.8:
                numbers.remove(picked)
                step("drop", picked)
        elif action < 0.86 and numbers:
            picked = numbers.pop(chance.randrange(len(numbers)))
            step("drop", picked)
        elif action < 0.88:
            step("note", queue, chance.choice([0, 0, 0, 1]))
        elif action < 0.92:
            step("current", queue, chance.randrange(2))
        elif action < 0.94:
            step("limit", chance.randrange(2), chance.choice([0, 4 * MIB, 32 * MIB]))
        elif action < 0.99:
            step("finish", queue)
        elif chance.random() < 0.1:
            step("close", 1)
        pictures = [side.picture() for side in sides]
        assert pictures[0] == pictures[1], number
    ways = [sum(queue.long_ways for queue in side.queues) for side in sides]
    assert ways[1] < 0.85 * ways[0] if DOES_AT_ONCE else ways[1] == ways[0]


def test_a_marked_method_still_looks_like_itself() -> None:
    module = compiled()
    desk: Any = queue_type(module)
    method = inspect.getattr_static(desk, "alloc_shared")
    assert type(method) is module.AtOnce
    assert method.__name__ == "alloc_shared"
    assert desk.alloc_shared.__doc__ == "Shared memory."
    assert list(inspect.signature(desk.alloc_shared).parameters) == [
        "self",
        "nbytes",
        "pool",
        "events",
    ]
    with pytest.raises(ValueError, match="nothing called fly"):
        module.AtOnce(print, "fly")


def test_the_route_keeps_no_pool_alive() -> None:
    """LIFE: which pool served a call last is remembered, but it can be dropped."""
    side = Side(compiled())
    queue = side.queues[0]
    pool = Facade(side.pools[1].core)
    queue.alloc_device(4096, pool).free()
    before = queue.long_ways
    queue.alloc_device(4096, pool).free()
    assert (queue.long_ways == before) is DOES_AT_ONCE
    gone = weakref.ref(pool)
    del pool
    assert gone() is None


def test_collection_sees_what_is_current() -> None:
    """LIFE: a circle through it keeps nobody alive."""

    class Current(compiled().CurrentFields):  # type: ignore[misc]
        __slots__ = ("__weakref__",)

    current = Current()
    current.pool = current
    gone = weakref.ref(current)
    del current
    gc.collect()
    assert gone() is None


def test_whoever_names_the_pool_is_asked() -> None:
    """Also one that is no `CurrentFields`, for which the attribute is looked up."""
    module = compiled()
    queue = Side(module).queues[0]
    queue.alloc_device(4096).free()
    queue.current = SimpleNamespace(pool=queue.current.pool)
    queue._routes = {
        UsmType.DEVICE: module.Route(UsmType.DEVICE, DEVICE, queue.current, None),
    }
    before = queue.long_ways
    queue.alloc_device(4096).free()
    assert (queue.long_ways == before) is DOES_AT_ONCE
    del queue.current.pool
    with pytest.raises(AttributeError):
        queue.alloc_device(4096)


def test_a_call_waits_for_the_lock() -> None:
    side = Side(compiled())
    queue = side.queues[0]
    queue.alloc_device(4096).free()
    lock = side.pools[0].core.lock
    with lock:
        assert lock.locked()
        thread = threading.Thread(target=lambda: queue.alloc_device(4096).free())
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        assert side.pools[0].core.tally.allocations == 1
    thread.join(60)
    assert not thread.is_alive()
    assert not lock.locked()
    assert side.pools[0].core.tally.allocations == 2
    with pytest.raises(RuntimeError, match="unlocked"):
        lock.release()


def test_wrong_arguments_are_refused_not_believed() -> None:
    module = compiled()
    side = Side(module)
    queue = side.queues[0]
    core = side.pools[0].core
    kept = queue.alloc_device(4096)
    block = kept.block
    for wrong in ((object(), queue.order, 1), (block, queue.order), (block, queue.order, "1")):
        with pytest.raises(TypeError):
            core.free(*wrong)
    with pytest.raises(TypeError):
        core.take_at_once(queue.order, DEVICE, "1")
    assert core.take_at_once(queue.order, DEVICE, 1 << 70) is None
    assert core.take_at_once(queue.order, ("no", "key"), 256) is None
    for name in ("lock", "tally", "usual"):
        with pytest.raises(TypeError, match="set once"):
            setattr(core, name, None)
    with pytest.raises(AttributeError, match="not made"):
        module.PoolFront().take_at_once(queue.order, DEVICE, 256)
    with pytest.raises(TypeError):
        module.HeldBlock(None, deque())
    with pytest.raises(TypeError, match="holds a block already"):
        kept.__init__(block, deque())
    with pytest.raises(ValueError, match="holds no block"):
        module.HeldBlock.__new__(module.HeldBlock).leave()
    with pytest.raises(TypeError):
        queue._held_type = int
    with pytest.raises(TypeError):
        queue._routes = []
    with pytest.raises(TypeError):
        module.DroppedBlock(None, 1, None)
    for method in (type(queue).alloc_device, type(queue).free):
        with pytest.raises((TypeError, AttributeError)):
            method(object(), 4096)
        with pytest.raises(TypeError):
            method()
    kept.free()
