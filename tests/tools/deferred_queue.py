# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of queues and memory for tests of the verification: commands run when the test says.

Nothing runs when it is appended. A host wait runs its queue, and what that queue waits for; a held
queue runs what it is allowed to. So a test decides how queues overtake each other. The allocator is
a policy that a test may replace by a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Memory:
    """Device memory as one array; hands out fresh bytes and takes nothing back."""

    FIRST_ADDRESS = 1 << 20

    def __init__(self, nbytes: int = 1 << 22) -> None:
        self.array = bytearray(nbytes)
        self._next = 0

    def take(self, nbytes: int, queue: DeferredQueue) -> int:
        start = self._next
        self._next += -(-nbytes // 256) * 256
        assert self._next <= len(self.array), "the model has too little memory for this test"
        return start + self.FIRST_ADDRESS

    def give(self, address: int, nbytes: int, queue: DeferredQueue) -> None:
        pass

    def view(self, address: int, nbytes: int) -> memoryview:
        start = address - self.FIRST_ADDRESS
        return memoryview(self.array)[start : start + nbytes]


class ReusingMemory(Memory):
    """Gives freed memory to the next request of that size, on the same queue or on any.

    The second is wrong: it hands memory out while commands of another queue may still use it.
    """

    def __init__(self, *, on_any_queue: bool) -> None:
        super().__init__()
        self._on_any_queue = on_any_queue
        self._freed: list[tuple[int, int, DeferredQueue]] = []

    def take(self, nbytes: int, queue: DeferredQueue) -> int:
        for entry in self._freed:
            if entry[1] == nbytes and (self._on_any_queue or entry[2] is queue):
                self._freed.remove(entry)
                return entry[0]
        return super().take(nbytes, queue)

    def give(self, address: int, nbytes: int, queue: DeferredQueue) -> None:
        self._freed.append((address, nbytes, queue))


class SharingMemory(Memory):
    """Wrong: the second of two live allocations begins in the middle of the first."""

    def take(self, nbytes: int, queue: DeferredQueue) -> int:
        if self._next:
            return self.FIRST_ADDRESS + self._next - 256
        return super().take(nbytes, queue)


class DeferredAllocation:
    def __init__(self, ptr: int, view: memoryview) -> None:
        self.ptr = ptr
        self.nbytes = len(view)
        self.bytes = view

    def memoryview(self) -> memoryview:
        return self.bytes[:]


class DeferredEvent:
    def __init__(self, queue: DeferredQueue, number: int) -> None:
        self.queue = queue
        self.number = number

    def is_complete(self) -> bool:
        return self.queue.completed >= self.number

    def wait(self, timeout_ns: int) -> bool:
        self.queue.advance()
        return self.is_complete()


class DeferredQueue:
    """Has what the replay uses of a queue and, as a `HeldList`, of a held one."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.completed = 0
        self._commands: list[Callable[[], bool]] = []
        self._limit: int | None = None

    # the queue

    def alloc_device(self, nbytes: int) -> DeferredAllocation:
        address = self.memory.take(nbytes, self)
        return DeferredAllocation(address, self.memory.view(address, nbytes))

    def alloc_host(self, nbytes: int) -> DeferredAllocation:
        return DeferredAllocation(0, memoryview(bytearray(nbytes)))

    def free(self, allocation: DeferredAllocation) -> None:
        if allocation.ptr:
            self.memory.give(allocation.ptr, allocation.nbytes, self)

    def fill(
        self, target: DeferredAllocation, pattern: bytes, nbytes: int, offset: int = 0
    ) -> None:
        assert nbytes % len(pattern) == 0

        def run() -> bool:
            target.bytes[offset : offset + nbytes] = pattern * (nbytes // len(pattern))
            return True

        self._commands.append(run)

    def memcpy(
        self,
        destination: DeferredAllocation,
        source: DeferredAllocation,
        nbytes: int,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
    ) -> None:
        def run() -> bool:
            found = source.bytes[source_offset : source_offset + nbytes]
            destination.bytes[destination_offset : destination_offset + nbytes] = found
            return True

        self._commands.append(run)

    def record(self) -> DeferredEvent:
        self._commands.append(lambda: True)
        return DeferredEvent(self, len(self._commands))

    def wait(self, events: Sequence[DeferredEvent]) -> None:
        self._commands.append(lambda: all(event.wait(0) for event in events))

    def finish(self, timeout_ns: int = 0) -> bool:
        self.advance()
        return self.completed == len(self._commands)

    # the held list

    def appended(self) -> int:
        return len(self._commands)

    def allow(self, number: int | None) -> None:
        self._limit = number
        if number is not None:
            self.advance()

    def wait_completed(self, number: int) -> None:
        self.advance()
        assert self.completed >= number, "a held queue waits for one that is held further back"

    def advance(self) -> None:
        """Run what is appended and allowed, as far as its waits let it."""
        appended = len(self._commands)
        allowed = appended if self._limit is None else min(self._limit, appended)
        while self.completed < allowed and self._commands[self.completed]():
            self.completed += 1
