# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of operations for the C client (``client/operations.c``), which every adapter runs.

``fixed_programs`` and ``random_programs`` make them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag

from urasync_l0.enums import EventInfo, QueueFlag, UsmPoolFlag, UsmPoolInfo, UsmType

NONE = -1
OBJECTS = (
    "adapter",
    "platform",
    "device",
    "context",
    "queue",
    "event",
    "profiling",
    "memory",
    "pool",
)
BARRIERS = ("events", "barrier", "extended barrier", "timestamp")
QUEUE_CALLS = ("finish", "flush", "retain", "release", "release")
POOL_CALLS = ("retain", "set current", "trim", "release", "destroy")
POOL_WAYS = ("context", "device", "default", "current")
LAST = 1
UNKNOWN = 0x7FFF0000


def flag_names(kind: type[IntFlag], flags: int) -> str:
    """Names of flags, or their value in hexadecimal if one has none."""
    names = kind(flags).name if flags in range(sum(kind) + 1) else None
    return (names or hex(flags)) if flags else ""


@dataclass(frozen=True)
class Operation:
    """One operation: what the client calls it, its arguments, and what the tables call it."""

    name: str
    arguments: tuple[int, ...]
    note: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """By what the table of deliberate differences knows it."""
        return f"{self.title or self.name} {self.note}".rstrip()

    def line(self) -> str:
        """As the client reads it."""
        return " ".join((self.name, *map(str, self.arguments)))


@dataclass
class Program:
    """A sequence of operations, made step by step; slots are numbered by whoever asks for one."""

    name: str
    operations: list[Operation] = field(default_factory=list)

    def add(self, name: str, *arguments: int, note: str = "", title: str = "") -> None:
        """Append an operation; `title` replaces its name in reports."""
        self.operations.append(Operation(name, arguments, note, title))

    def text(self, skipped: Sequence[int] = ()) -> str:
        """As the client reads it, without some operations."""
        lines = (
            "skip" if number in skipped else operation.line()
            for number, operation in enumerate(self.operations)
        )
        return "".join(f"{line}\n" for line in lines)

    def without_execution(self) -> "Program":
        """The same for a driver that executes nothing: without what needs it."""
        needs = ("read", "info profiling", f"info event {EventInfo.COMMAND_EXECUTION_STATUS.name}")
        kept = [each for each in self.operations if not each.label.startswith(needs)]
        return Program(self.name, kept)

    def alloc(
        self,
        kind: UsmType,
        queue: int,
        size: int,
        pointer: int,
        *,
        pool: int = NONE,
        event: int = NONE,
        waits: Sequence[int] = (),
        note: str = "",
        title: str = "",
    ) -> None:
        """Enqueue an allocation."""
        note = f"{kind.name.lower()} {note}"
        arguments = (kind, queue, pool, size, pointer, event, len(waits), *waits)
        self.add("enqueue-alloc", *arguments, note=note, title=title)

    def free(
        self,
        queue: int,
        pointer: int,
        *,
        offset: int = 0,
        pool: int = NONE,
        event: int = NONE,
        waits: Sequence[int] = (),
        note: str = "",
    ) -> None:
        """Enqueue a free."""
        arguments = (queue, pool, pointer, offset, event, len(waits), *waits)
        self.add("enqueue-free", *arguments, note=note)

    def finish(self, *queues: int) -> None:
        """Wait for queues."""
        for queue in queues:
            self.add("queue-call", 0, queue, note="finish")

    def info(self, kind: str, prop: int, *subject: int, more: int = 0, note: str = "") -> None:
        """Ask for a property."""
        note = f"{kind} {note or hex(prop)}{' too small' if more < 0 else ''}"
        self.add("info", OBJECTS.index(kind), prop, more, *subject, note=note)

    def create_queue(self, queue: int, flags: int = 0) -> None:
        """Make a queue."""
        self.add("queue-create", queue, flags, note=flag_names(QueueFlag, flags))

    def create_pool(self, way: str, pool: int, flags: int = 0, poolable: int = 0) -> None:
        """Make or get a pool."""
        note = f"{way} {flag_names(UsmPoolFlag, flags)}"
        self.add("pool-create", POOL_WAYS.index(way), pool, flags, poolable, note=note)

    def keep_everything(self, pool: int) -> None:
        """Let a pool give nothing back by itself."""
        prop = UsmPoolInfo.RELEASE_THRESHOLD_EXP
        self.add("pool-set", pool, prop, (1 << 63) - 1, 8, note=prop.name)

    def pool_bytes(self, pool: int, prop: UsmPoolInfo, note: str = "") -> None:
        """Ask for a number of bytes, seen beside the device and shared memory in use."""
        kinds = 1 << UsmType.DEVICE | 1 << UsmType.SHARED
        self.add("pool-bytes", pool, prop, kinds, note=f"{prop.name} {note}")

    def call_pool(self, call: str, pool: int, number: int = 0) -> None:
        """Do something with a pool; the number is that of bytes, or says whether the pool ends."""
        self.add("pool-call", POOL_CALLS.index(call), pool, number, note=call)

    def release_event(self, event: int) -> None:
        """Release an event for the last time."""
        self.add("event-release", event, LAST)

    def end(self, queues: int) -> None:
        """Release what every program has."""
        self.finish(*range(queues))
        for queue in range(queues):
            self.add("queue-call", 4, queue, note="release")
        self.add("context-call", 2, note="release")
