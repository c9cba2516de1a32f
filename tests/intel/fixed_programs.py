# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that ask for one thing after another: properties, wrong calls, pools, reuse."""

from collections.abc import Iterator
from enum import IntEnum

from tests.intel.programs import BARRIERS, LAST, NONE, UNKNOWN, Program
from urasync_l0.argument import KINDS
from urasync_l0.enums import (
    AdapterInfo,
    ContextInfo,
    DeviceInfo,
    EventInfo,
    PlatformInfo,
    ProfilingInfo,
    QueueFlag,
    QueueInfo,
    UsmAllocInfo,
    UsmPoolFlag,
    UsmPoolInfo,
    UsmType,
)


def information() -> Program:
    """Every property, with room, with too little, and an unknown one."""
    program = Program("information")
    program.create_queue(0)
    program.create_queue(1, QueueFlag.PROFILING_ENABLE)
    program.create_pool("context", 0)
    program.create_pool("default", 1)
    program.create_pool("current", 2)
    for number, kind in enumerate(KINDS):
        program.alloc(kind, 0, 4096, number, event=number)
        program.add("usm-alloc", kind, NONE, 4096, 0, 3 + number, note=kind.name.lower())
    program.alloc(UsmType.DEVICE, 1, 4096, 6, event=3)
    program.free(1, 6, event=4)
    for number in range(len(BARRIERS)):
        program.add("barrier", number, 1, 5 + number, 0, note=BARRIERS[number])
    program.finish(0, 1)
    subjects: list[tuple[str, type[IntEnum], tuple[tuple[int, ...], ...]]] = [
        ("adapter", AdapterInfo, ((),)),
        ("platform", PlatformInfo, ((),)),
        ("device", DeviceInfo, ((),)),
        ("context", ContextInfo, ((),)),
        ("queue", QueueInfo, ((0,), (1,))),
        ("event", EventInfo, tuple((number,) for number in range(9))),
        ("profiling", ProfilingInfo, ((0,), (3,), (6,), (8,))),
        ("memory", UsmAllocInfo, (*((number, 0) for number in range(6)), (0, 64), (NONE, 4096))),
        ("pool", UsmPoolInfo, ((0,), (1,))),
    ]
    for subject, properties, slots in subjects:
        for slot in slots:
            for prop in properties:
                program.info(subject, prop, *slot, note=prop.name)
        program.info(subject, min(properties), *slots[0], more=-1, note="first property")
        program.info(subject, UNKNOWN, *slots[0], note="unknown property")
    for prop in UsmPoolInfo:
        program.pool_bytes(1, prop)
    for number in range(3):
        program.free(0, number)
        program.add("usm-free", 3 + number, 0)
    program.finish(0, 1)
    for number in range(9):
        program.release_event(number)
    program.call_pool("release", 0, LAST)
    program.end(2)
    return program


def wrong_calls() -> Iterator[Program]:
    """Calls that an adapter refuses, or should; each in a program of its own."""
    calls: list[tuple[str, tuple[int, ...], str]] = []
    for kind in KINDS:
        name = kind.name.lower()
        for size, note in ((0, f"{name} size 0"), (1 << 50, f"{name} size 2^50")):
            calls.append(("enqueue-alloc", (kind, 0, NONE, size, 2, NONE, 0), note))
            calls.append(("usm-alloc", (kind, NONE, size, 0, 2), note))
        calls.append(("usm-alloc", (kind, NONE, 64, 3, 2), f"{name} alignment 3"))
    for pattern, size, note in (
        (3, 3, "pattern of 3 bytes"),
        (4, 6, "size no multiple of the pattern"),
        (1, 0, "size 0"),
        (0, 64, "pattern of 0 bytes"),
        (1, 1 << 20, "beyond the allocation"),
    ):
        calls.append(("fill", (0, 0, 0, pattern, 7, size, NONE, 0), note))
    calls += [
        ("copy", (0, 1, 0, 0, 0, 2048, 0, NONE, 0), "size 0"),
        ("event-wait", (0,), "no events"),
        ("barrier", (BARRIERS.index("timestamp"), 0, NONE, 0), "timestamp without an event"),
        ("enqueue-free", (0, NONE, 0, 64, NONE, 0), "interior"),
        ("enqueue-free", (0, NONE, NONE, 0x1000, NONE, 0), "unknown pointer"),
        ("enqueue-free", (0, NONE, 1, 0, NONE, 0), "not enqueued"),
        ("usm-free", (1, 64), "interior"),
        ("usm-free", (NONE, 0x1000), "unknown pointer"),
        ("usm-free", (0, 0), "enqueued"),
    ]
    for call, arguments, note in calls:
        program = _begin(f"{call} {note}")
        program.add(call, *arguments, note=note)
        program.end(1)
        yield program
    program = _begin("enqueue-free twice")
    program.free(0, 0)
    program.finish(0)
    program.free(0, 0, note="twice")
    program.end(1)
    yield program


def _begin(name: str) -> Program:
    """A queue, enqueued memory and memory that was not enqueued, 4096 bytes each."""
    program = Program(name)
    program.create_queue(0)
    program.alloc(UsmType.DEVICE, 0, 4096, 0)
    program.add("usm-alloc", UsmType.DEVICE, NONE, 4096, 0, 1, note="device")
    program.finish(0)
    return program


def wrong_pools() -> Program:
    """Flags and properties of pools that nobody may set."""
    program = Program("wrong pools")
    for way in ("context", "device"):
        for number, bit in enumerate((1 << 3, 1 << 30)):
            program.create_pool(way, number, bit)
    program.create_pool("default", 2)
    for prop in UsmPoolInfo:
        program.add("pool-set", 2, prop, 0, 8, note=prop.name)
        program.add("pool-set", 2, prop, 0, 4, note=f"{prop.name} too small")
    program.add("pool-set", 2, UNKNOWN, 0, 8, note="unknown property")
    program.call_pool("destroy", 2)
    program.end(0)
    return program


def wrong_queues() -> Program:
    """Flags that contradict each other, or mean nothing here."""
    program = Program("wrong queues")
    for number, flags in enumerate((
        QueueFlag.PRIORITY_LOW | QueueFlag.PRIORITY_HIGH,
        QueueFlag.SUBMISSION_BATCHED | QueueFlag.SUBMISSION_IMMEDIATE,
        QueueFlag.ON_DEVICE,
        1 << 30,
    )):  # fmt: skip
        program.create_queue(number, flags)
    program.end(0)
    return program


def pools() -> Program:
    """Pools by both ways of making them, their counts, and the pool of the device."""
    program = Program("pools")
    program.create_queue(0)
    number = 0
    for way in ("context", "device"):
        for flags in range(8):
            program.create_pool(way, number, flags)
            program.keep_everything(number)
            for kind in KINDS:
                program.alloc(kind, 0, 4096, 0, pool=number, note=f"pool of {way}")
                if flags & UsmPoolFlag.ZERO_INITIALIZE_BLOCK:
                    program.add("read", 0, 0, 0, 4096, note="zeroed")
                program.info("memory", UsmAllocInfo.POOL, 0, 0, note="POOL of a pool's memory")
                program.free(0, 0)
            program.finish(0)
            for prop in UsmPoolInfo:
                program.info("pool", prop, number, note=f"{prop.name} of a pool of {way}")
            program.call_pool("retain", number)
            program.info("pool", UsmPoolInfo.REFERENCE_COUNT, number, note="REFERENCE_COUNT")
            program.call_pool("release", number)
            program.call_pool("release" if way == "context" else "destroy", number, LAST)
            number += 1
    program.create_pool("context", number, 0, 1 << 20)
    program.alloc(UsmType.DEVICE, 0, 1 << 16, 0, pool=number, note="pool with limits")
    program.free(0, 0)
    program.finish(0)
    program.call_pool("set current", number)
    program.create_pool("current", number + 1)
    program.call_pool("trim", number, 0)
    program.pool_bytes(number, UsmPoolInfo.RESERVED_CURRENT_EXP, "after trim")
    program.call_pool("release", number, LAST)
    program.end(1)
    return program


def reuse(flags: QueueFlag) -> Program:
    """An allocation after the free of one of the same size, on the same queue, for each kind."""
    program = Program(f"reuse {flags.name or ''}".rstrip())
    program.create_queue(0, flags)
    program.create_pool("default", 0)
    program.keep_everything(0)
    pointer = 0
    for kind in KINDS:
        for size in (4, 512, 4096, 1 << 16, 3 << 20):
            for with_events in (False, True):
                title = "reuse"
                first, freed = (0, 1) if with_events else (NONE, NONE)
                program.alloc(kind, 0, size, pointer, event=first)
                waits = (0,) if with_events else ()
                program.free(0, pointer, event=freed, waits=waits)
                again = (1,) if with_events else ()
                program.alloc(kind, 0, size, pointer + 1, waits=again, title=title)
                program.free(0, pointer + 1)
                program.finish(0)
                if with_events:
                    program.info("event", EventInfo.COMMAND_TYPE, 0, note="COMMAND_TYPE")
                    program.info("event", EventInfo.COMMAND_TYPE, 1, note="COMMAND_TYPE")
                    program.release_event(0)
                    program.release_event(1)
                pointer += 2
    program.end(1)
    return program


def fixed_programs() -> Iterator[Program]:
    """Those that are the same with every seed."""
    yield information()
    yield from wrong_calls()
    yield wrong_pools()
    yield wrong_queues()
    yield pools()
    for flags in (QueueFlag(0), QueueFlag.SUBMISSION_BATCHED, QueueFlag.SUBMISSION_IMMEDIATE,
                  QueueFlag.OUT_OF_ORDER_EXEC_MODE_ENABLE, QueueFlag.PROFILING_ENABLE,
                  QueueFlag.DISCARD_EVENTS):  # fmt: skip
        yield reuse(flags)
