# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of random operations: a seed makes the same program wherever it is run.

They keep to the rules of Unified Runtime: what touches memory is ordered after what touched it
before, a property that changes while commands run is asked for when they are complete, and what is
read back has defined contents.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.intel.programs import BARRIERS, LAST, NONE, Program
from urasync_l0.argument import KINDS
from urasync_l0.enums import EventInfo, QueueFlag, UsmAllocInfo, UsmPoolInfo, UsmType


@dataclass
class Memory:
    """Memory of a random program: what was done last with it, and what is in it."""

    slot: int
    kind: UsmType
    size: int
    enqueued: bool
    queue: int
    event: int | None
    """That of the last operation; None when it gave none, NONE when the host has waited for it."""
    byte: int | None = None


DEFAULT_POOL = 200
"""The slot of the device's default pool."""


class RandomProgram:
    """Makes a program of random operations."""

    QUEUES = 3
    EVENTS = 100
    POINTERS = 120
    SIZES = (1, 4, 64, 100, 512, 1000, 4096, 10_000, 1 << 16, 100_000, 1 << 20, (1 << 21) + 1)

    def __init__(self, seed: int, steps: int) -> None:
        self.random = Random(seed)
        self.program = Program(f"random {seed}")
        self.live: list[Memory] = []
        self.pointers = list(range(self.POINTERS))
        self.free_events = list(range(self.EVENTS))
        self.events: dict[int, bool] = {}  # whether the host knows it complete
        self.pools: list[int] = [NONE]
        flags = self.random.choice(
            (QueueFlag(0), QueueFlag.SUBMISSION_BATCHED, QueueFlag.SUBMISSION_IMMEDIATE)
        )
        for queue in range(self.QUEUES):
            self.program.create_queue(queue, flags)
        for way in ("context", "device"):
            if self.random.random() < 0.5:
                self.program.create_pool(way, len(self.pools) - 1)
                self.program.keep_everything(len(self.pools) - 1)
                self.pools.append(len(self.pools) - 1)
        self.program.create_pool("default", DEFAULT_POOL)
        self.program.keep_everything(DEFAULT_POOL)
        weights = {
            self._alloc: 30,
            self._free: 18,
            self._fill: 12,
            self._copy: 8,
            self._read: 8,
            self._barrier: 6,
            self._wait: 5,
            self._finish: 3,
            self._ask: 12,
            self._usm: 5,
            self._release: 8,
            self._bytes: 2,
        }
        choices = self.random.choices(list(weights), list(weights.values()), k=steps)
        for step in choices:
            step()
        self._end()

    def _event(self) -> int:
        """A slot for an event, or none."""
        if not self.free_events or self.random.random() < 0.5:
            return NONE
        event = self.free_events.pop(0)
        self.events[event] = False
        return event

    def _waits(self, *needed: int) -> tuple[int, ...]:
        """A wait list: some events at random, and what is needed."""
        some = self.random.sample(
            sorted(self.events), min(len(self.events), self.random.choice((0, 0, 1, 3)))
        )
        return tuple(dict.fromkeys((*needed, *some)))

    def _use(self, memory: Memory) -> tuple[int, tuple[int, ...]]:
        """A queue that may use memory, and what it must wait for."""
        if memory.event is None:
            return memory.queue, ()
        queue = self.random.randrange(self.QUEUES)
        if memory.event == NONE or queue == memory.queue:
            return queue, ()
        return queue, (memory.event,)

    def _used(self, memory: Memory, queue: int, event: int) -> None:
        memory.queue = queue
        memory.event = None if event == NONE else event

    def _pointer(self) -> int:
        return self.pointers.pop(0)

    def _alloc(self) -> None:
        if len(self.live) > 60:
            return
        kind = self.random.choice(KINDS)
        queue = self.random.randrange(self.QUEUES)
        size = self.random.choice(self.SIZES)
        pool = self.random.choice(self.pools)
        if kind is UsmType.HOST and pool != NONE:
            pool = NONE
        waits = self._waits()
        event = self._event()
        memory = Memory(self._pointer(), kind, size, True, queue, event if event != NONE else None)
        self.program.alloc(kind, queue, size, memory.slot, pool=pool, event=event, waits=waits)
        self.live.append(memory)

    def _free(self) -> None:
        enqueued = [memory for memory in self.live if memory.enqueued]
        if not enqueued:
            return
        memory = self.random.choice(enqueued)
        queue, needed = self._use(memory)
        waits = self._waits(*needed)
        self.program.free(queue, memory.slot, event=self._event(), waits=waits)
        self.live.remove(memory)
        self.pointers.append(memory.slot)

    def _fill(self) -> None:
        if not self.live:
            return
        memory = self.random.choice(self.live)
        queue, needed = self._use(memory)
        size = min(memory.size, 1 << 16)
        pattern = self.random.choice([each for each in (1, 2, 4, 8, 16) if size % each == 0])
        memory.byte = self.random.randrange(256)
        waits = self._waits(*needed)
        event = self._event()
        self.program.add(
            "fill", queue, memory.slot, 0, pattern, memory.byte, size, event, len(waits), *waits
        )
        self._used(memory, queue, event)

    def _copy(self) -> None:
        known = [memory for memory in self.live if memory.byte is not None]
        if not known:
            return
        source = self.random.choice(known)
        fitting = [each for each in self.live if each.size <= source.size and each is not source]
        if not fitting:
            return
        target = self.random.choice(fitting)
        queue, needed = self._use(source)
        if target.queue != queue and target.event != NONE:
            if target.event is None:
                return
            needed = (*needed, target.event)
        waits = self._waits(*needed)
        event = self._event()
        size = min(target.size, 1 << 16)
        slots = (target.slot, 0, source.slot, 0)
        self.program.add("copy", queue, 0, *slots, size, event, len(waits), *waits)
        target.byte = source.byte
        self._used(target, queue, event)
        self._used(source, queue, event)

    def _read(self) -> None:
        known = [memory for memory in self.live if memory.byte is not None]
        if not known:
            return
        memory = self.random.choice(known)
        if memory.event not in (None, NONE):
            self.program.add("event-wait", 1, memory.event)
            self.events[memory.event] = True
            queue = self.random.randrange(self.QUEUES)
        else:
            queue = memory.queue
        self.program.add("read", queue, memory.slot, 0, min(memory.size, 1 << 16))

    def _barrier(self) -> None:
        kind = self.random.randrange(len(BARRIERS))
        waits = self._waits()
        queue = self.random.randrange(self.QUEUES)
        event = self._event()
        if BARRIERS[kind] == "timestamp" and event == NONE:
            return
        self.program.add("barrier", kind, queue, event, len(waits), *waits, note=BARRIERS[kind])

    def _wait(self) -> None:
        if not self.events:
            return
        waits = self.random.sample(
            sorted(self.events), self.random.randint(1, min(4, len(self.events)))
        )
        self.program.add("event-wait", len(waits), *waits)
        for event in waits:
            self.events[event] = True

    def _finish(self) -> None:
        self.program.finish(*range(self.QUEUES))
        for event in self.events:
            self.events[event] = True
        for memory in self.live:
            memory.event = NONE

    def _ask(self) -> None:
        known = [event for event, complete in self.events.items() if complete]
        if self.random.random() < 0.5 and self.events:
            asked = (EventInfo.COMMAND_TYPE, EventInfo.COMMAND_QUEUE, EventInfo.CONTEXT,
                     EventInfo.REFERENCE_COUNT)  # fmt: skip
            event, prop = self.random.choice(sorted(self.events)), self.random.choice(asked)
            self.program.info("event", prop, event, note=prop.name)
        elif known:
            prop = EventInfo.COMMAND_EXECUTION_STATUS
            self.program.info("event", prop, self.random.choice(known), note=prop.name)
        if self.live:
            memory, asked_prop = (
                self.random.choice(self.live),
                self.random.choice(list(UsmAllocInfo)),
            )
            way = "enqueued" if memory.enqueued else "not enqueued"
            self.program.info("memory", asked_prop, memory.slot, 0, note=f"{asked_prop.name} {way}")

    def _usm(self) -> None:
        own = [memory for memory in self.live if not memory.enqueued]
        if own and self.random.random() < 0.4:
            self._finish()
            memory = self.random.choice(own)
            self.program.add("usm-free", memory.slot, 0)
            self.live.remove(memory)
            self.pointers.append(memory.slot)
            return
        kind, size = self.random.choice(KINDS), self.random.choice(self.SIZES)
        alignment = self.random.choice((0, 0, 64, 4096))
        memory = Memory(self._pointer(), kind, size, False, 0, NONE)
        self.program.add(
            "usm-alloc", kind, NONE, size, alignment, memory.slot, note=kind.name.lower()
        )
        self.live.append(memory)

    def _release(self) -> None:
        used = {memory.event for memory in self.live}
        unused = [event for event in self.events if event not in used]
        if not unused:
            return
        event = self.random.choice(unused)
        if self.random.random() < 0.2:
            self.program.add("event-retain", event)
            self.program.add("event-release", event, 0)
        self.program.release_event(event)
        del self.events[event]
        self.free_events.append(event)

    def _bytes(self) -> None:
        if len(self.pools) > 1:
            return  # what is in use is not told apart by pools
        self._finish()
        for prop in (UsmPoolInfo.RESERVED_CURRENT_EXP, UsmPoolInfo.USED_CURRENT_EXP):
            self.program.pool_bytes(DEFAULT_POOL, prop)

    def _end(self) -> None:
        self._finish()
        for memory in list(self.live):
            if memory.enqueued:
                self.program.free(memory.queue, memory.slot)
            else:
                self.program.add("usm-free", memory.slot, 0)
        self.program.finish(*range(self.QUEUES))
        for event in list(self.events):
            self.program.release_event(event)
        for pool in self.pools[1:]:
            self.program.call_pool("release", pool, LAST)
        self.program.end(self.QUEUES)


def random_programs(first_seed: int, count: int, steps: int = 150) -> Iterator[Program]:
    """Programs of random operations."""
    for seed in range(first_seed, first_seed + count):
        yield RandomProgram(seed, steps).program
