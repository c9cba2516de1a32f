# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules that hold for every entry: null, dead and mismatched arguments.

The tests walk the entries. What an entry takes follows from its annotations, so a new entry is
tested with no word about it here.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.helpers.entries import Client, refused
from urasync_l0 import Context, Device, Queue, UrResult
from urasync_l0.descriptors import (
    BufferRegion,
    DevicePartitionProperties,
    DevicePartitionProperty,
    SpecializationConstant,
    UsmPoolDesc,
)
from urasync_l0.entry_points import Adapter
from urasync_l0.enums import DevicePartition, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.program import Kernel, Program

HANDLES = (
    "Adapter",
    "Platform",
    "Device",
    "Context",
    "Queue",
    "Event",
    "Pool",
    "Program",
    "Kernel",
    "Buffer",
)
UNKNOWN_PROPERTY = 0x7FFF0000


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry, as far as its annotation tells."""

    entry: str
    name: str
    annotation: str

    @property
    def is_handle(self) -> bool:
        return self.annotation.removesuffix(" | None") in HANDLES

    @property
    def is_out(self) -> bool:
        return self.annotation.startswith("Out[")

    @property
    def is_optional_handle(self) -> bool:
        """A command or an allocation without a pool takes the current one, for example."""
        if self.annotation == "Pool | None":
            return self.entry.startswith("urEnqueue") or self.entry.endswith("Alloc")
        return self.name == "device" and self.entry in (
            "urMemGetNativeHandle",
            "urQueueCreateWithNativeHandle",
        )

    @property
    def is_optional_out(self) -> bool:
        """The event of a command, and either time stamp."""
        if self.annotation == "Out[Event] | None":
            return self.entry.startswith("urEnqueue")
        return self.entry == "urDeviceGetGlobalTimestamps"


ENTRIES = sorted(name for name in dir(Adapter) if name.startswith("ur"))
PARAMETERS = {
    entry: [
        Parameter(entry, each.name, str(each.annotation))
        for each in list(inspect.signature(getattr(Adapter, entry)).parameters.values())[1:]
    ]
    for entry in ENTRIES
}


def entries_with(*names: str) -> list[str]:
    return [
        entry
        for entry in ENTRIES
        if set(names) <= {parameter.name for parameter in PARAMETERS[entry]}
    ]


def answers_in_parts(entry: str) -> bool:
    """Whether an entry has two places for its answer, of which one is enough."""
    return entry in entries_with("prop_value") or any(
        parameter.is_out and parameter.name.startswith("num_") for parameter in PARAMETERS[entry]
    )


NULL_HANDLES = [
    pytest.param(parameter, id=f"{entry}-{parameter.name}")
    for entry in ENTRIES
    for parameter in PARAMETERS[entry]
    if parameter.is_handle and not parameter.is_optional_handle
]
NULL_OUTS = [
    pytest.param(parameter, id=f"{entry}-{parameter.name}")
    for entry in ENTRIES
    for parameter in PARAMETERS[entry]
    if parameter.is_out and not parameter.is_optional_out and not answers_in_parts(entry)
]


class Arguments:
    """Arguments of each entry that would do."""

    def __init__(self, client: Client, context: Context, queue: Queue) -> None:
        self._adapter = client.adapter
        self._context = context
        self._queue = queue
        buffer: Out[Any] = Out()
        client.adapter.urMemBufferCreate(context, 0, 4096, None, buffer)
        self.buffer = buffer.value
        self.pool = client.create_pool(context, context.devices[0])
        event: Out[Any] = Out()
        client.adapter.urEnqueueEventsWait(queue, 0, None, event)
        self.event = event.value

    def of(self, entry: str) -> dict[str, Any]:
        """The arguments of an entry by name; cells are fresh."""
        return {each.name: self._value(each) for each in PARAMETERS[entry]}

    def _value(self, parameter: Parameter) -> Any:
        if parameter.is_out:
            return Out()
        device: Device = self._context.devices[0]
        by_annotation = {
            "Adapter | None": self._adapter,
            "Platform | None": self._context.platform,
            "Device | None": device,
            "Context | None": self._context,
            "Queue | None": self._queue,
            "Event | None": self.event,
            # Kernels need a compiler, and what is tested here comes before they are looked at.
            "Program | None": Program(self._context, b"1234"),
            "Kernel | None": _kernel(self._context),
            "Buffer | None": self.buffer,
            "BufferRegion | None": BufferRegion(0, 1),
            "RectOffset": (0, 0, 0),
            "RectRegion": (1, 1, 1),
            "Sequence[int] | None": (1,),
            "Pool | None": None if parameter.is_optional_handle else self.pool,
            "UsmPoolDesc | None": UsmPoolDesc(),
            "DevicePartitionProperties | None": DevicePartitionProperties(
                (DevicePartitionProperty(DevicePartition.BY_AFFINITY_DOMAIN, 0),)
            ),
            "Sequence[Device | None] | None": [device],
            "Sequence[Program | None] | None": [Program(self._context, b"1234")],
            "Sequence[str] | None": ["spir64"],
            "Sequence[SpecializationConstant] | None": [SpecializationConstant(0, 4, b"1234")],
            "EventList": None,
            "bytes | None": b"1234",
            "str | None": "-option",
            "HostMemory": bytearray(64),
            "bool": False,
        }
        if parameter.annotation in by_annotation:
            return by_annotation[parameter.annotation]
        by_name = {"device_count": 1, "num_devices": 1, "num_events_in_wait_list": 0}
        by_name |= {"prop_name": self._property(parameter.entry), "prop_size": 8, "prop_value": 0}
        by_name |= {"num_args": 0, "pattern_size": 4, "size": 64, "mem": 0x10000, "device_type": 2}
        by_name |= {"native_context": 0x10000, "native_queue": 0x10000, "native_event": 0x10000}
        by_name |= {"native_platform": 0x10000, "native_device": 0x10000, "native_mem": 0x10000}
        by_name |= {"native_program": 0x10000, "native_kernel": 0x10000}
        by_name |= {"mapped_ptr": 0x10000, "offset": 0, "create_type": 0}
        if "Callable" in parameter.annotation:
            return _nothing
        return by_name.get(parameter.name, 1 if parameter.annotation == "int" else None)

    def _property(self, entry: str) -> int:
        return UsmPoolInfo.RELEASE_THRESHOLD_EXP if entry.startswith("urUSMPool") else 0


def _kernel(context: Context) -> Kernel:
    """A kernel as it would be if the software driver could compile."""
    kernel = object.__new__(Kernel)
    kernel.program, kernel.name, kernel.argument_count = Program(context, b"1234"), "made up", 0
    kernel._is_closed, kernel._natives = False, {}
    return kernel


def _nothing(*arguments: Any) -> None:
    """A function to be called back."""


@pytest.fixture
def arguments(client: Client, context: Context) -> Iterator[Arguments]:
    """Arguments of each entry that would do."""
    queue = client.create_queue(context, context.devices[0])
    made = Arguments(client, context, queue)
    yield made
    if not made.event.is_released:
        client.release(made.event)
    if not made.buffer.is_closed:
        client.adapter.urMemRelease(made.buffer)
    if not made.pool.core.is_closed:
        client.adapter.urUSMPoolRelease(made.pool)
    if not queue.is_closed:
        client.adapter.urQueueRelease(queue)


def outs_of(arguments: dict[str, Any]) -> list[Out[Any]]:
    return [each for each in arguments.values() if isinstance(each, Out)]


@pytest.fixture
def call(client: Client) -> Callable[[str, dict[str, Any]], None]:
    """Calls an entry with arguments by position, as they stand in Unified Runtime."""

    def call(entry: str, arguments: dict[str, Any]) -> None:
        getattr(client.adapter, entry)(*arguments.values())

    return call


Call = Callable[[str, dict[str, Any]], None]


@pytest.mark.parametrize("parameter", NULL_HANDLES)
def test_null_handle(arguments: Arguments, call: Call, parameter: Parameter) -> None:
    """ERR-3, and before all else: also when every out-pointer is null and a property unknown."""
    given = arguments.of(parameter.entry)
    given[parameter.name] = None
    with refused(UrResult.INVALID_NULL_HANDLE, *outs_of(given)):
        call(parameter.entry, given)
    for name, value in given.items():
        if isinstance(value, Out):
            given[name] = None
    if "prop_name" in given:
        given["prop_name"] = UNKNOWN_PROPERTY
    with refused(UrResult.INVALID_NULL_HANDLE):
        call(parameter.entry, given)


@pytest.mark.parametrize("parameter", NULL_OUTS)
def test_null_out_pointer(arguments: Arguments, call: Call, parameter: Parameter) -> None:
    """ERR-3."""
    given = arguments.of(parameter.entry)
    given[parameter.name] = None
    with refused(UrResult.INVALID_NULL_POINTER, *outs_of(given)):
        call(parameter.entry, given)


POINTERS = [
    *(
        (entry, each.name)
        for entry in ENTRIES
        for each in PARAMETERS[entry]
        if (each.name, each.annotation) == ("mem", "int")
    ),
    *((entry, "pool_desc") for entry in entries_with("pool_desc")),
    ("urContextCreate", "devices"),
    ("urContextSetExtendedDeleter", "deleter"),
    ("urDevicePartition", "properties"),
    *((entry, "pattern") for entry in entries_with("pattern")),
    *((entry, "dst") for entry in entries_with("dst")),
    *((entry, "src") for entry in entries_with("src")),
    ("urEnqueueMemUnmap", "mapped_ptr"),
    ("urMemBufferCreateWithNativeHandle", "native_mem"),
    ("urMemBufferPartition", "region"),
    ("urEventSetCallback", "notify"),
    ("urPlatformGetBackendOption", "frontend_option"),
    ("urProgramSetSpecializationConstants", "constants"),
    ("urUSMPoolSetInfoExp", "prop_value"),
]


@pytest.mark.parametrize(
    ("entry", "name"), [pytest.param(*each, id="-".join(each)) for each in POINTERS]
)
def test_null_pointer(arguments: Arguments, call: Call, entry: str, name: str) -> None:
    """ERR-3: pointers to what an entry reads."""
    given = arguments.of(entry)
    addresses = ("mem", "dst", "src", "mapped_ptr", "native_mem")
    given[name] = 0 if name in addresses else None
    with refused(UrResult.INVALID_NULL_POINTER, *outs_of(given)):
        call(entry, given)


@pytest.mark.parametrize("case", ["no_list", "no_count", "too_many", "null", "released"])
@pytest.mark.parametrize("entry", entries_with("num_events_in_wait_list"))
def test_wait_list(client: Client, arguments: Arguments, call: Call, entry: str, case: str) -> None:
    """ERR-3: count and list that disagree, and entries that are no live events."""
    given = arguments.of(entry)
    event = arguments.event
    count, events = {
        "no_list": (1, None),
        "no_count": (0, [event]),
        "too_many": (2, [event]),
        "null": (2, [event, None]),
        "released": (1, [event]),
    }[case]
    if case == "released":
        client.release(event)
    given["num_events_in_wait_list"] = count
    given["event_wait_list"] = events
    with refused(UrResult.INVALID_EVENT_WAIT_LIST, *outs_of(given)):
        call(entry, given)


INFO_ENTRIES = entries_with("prop_name", "prop_size_ret")


@pytest.mark.parametrize("entry", entries_with("prop_name"))
def test_unknown_property(arguments: Arguments, call: Call, entry: str) -> None:
    """STAT-5; for peers the text of UR knows INVALID_ENUMERATION alone."""
    given = arguments.of(entry)
    given["prop_name"] = UNKNOWN_PROPERTY
    code = UrResult.UNSUPPORTED_ENUMERATION
    if entry == "urUsmP2PPeerAccessGetInfoExp":
        code = UrResult.INVALID_ENUMERATION
    with refused(code, *outs_of(given)):
        call(entry, given)


@pytest.mark.parametrize("entry", INFO_ENTRIES)
def test_nowhere_to_put_a_property(arguments: Arguments, call: Call, entry: str) -> None:
    """STAT-5: both cells null, or room but no place."""
    given = arguments.of(entry)
    given["prop_value"] = given["prop_size_ret"] = None
    code = UrResult.INVALID_NULL_POINTER
    if entry == "urEventGetProfilingInfo":  # asks whether there are times
        code = UrResult.PROFILING_INFO_NOT_AVAILABLE
    with refused(code):
        call(entry, given)
    if "prop_size" in given:
        given["prop_size"] = 0
        with refused(code):
            call(entry, given)
        given |= {"prop_size": 8, "prop_size_ret": Out()}
        with refused(UrResult.INVALID_NULL_POINTER, given["prop_size_ret"]):
            call(entry, given)


# Known and never refused: each has more bytes than one.
PROPERTIES = {
    "urAdapterGetInfo": 1,
    "urContextGetInfo": 0,
    "urDeviceGetInfo": 0,
    "urEventGetInfo": 2,
    "urMemGetInfo": 0,
    "urPlatformGetInfo": 1,
    "urQueueGetInfo": 0,
    "urUSMPoolGetInfo": 0x2050,
}


@pytest.mark.parametrize("entry", sorted(PROPERTIES))
def test_property_that_does_not_fit(arguments: Arguments, call: Call, entry: str) -> None:
    """STAT-5: too little room is an error, the size alone and room enough are not."""
    given = arguments.of(entry)
    given["prop_name"] = PROPERTIES[entry]
    for room in (0, 1):
        given |= {"prop_size": room, "prop_value": Out(), "prop_size_ret": Out()}
        with refused(UrResult.INVALID_SIZE, *outs_of(given)):
            call(entry, given)
    given |= {"prop_size": 0, "prop_value": None, "prop_size_ret": Out()}
    call(entry, given)
    size = given["prop_size_ret"].value
    assert size > 1
    given |= {"prop_size": size, "prop_value": Out(), "prop_size_ret": None}
    call(entry, given)
    assert given["prop_value"].is_set
    given |= {"prop_size": size - 1, "prop_value": Out()}
    with refused(UrResult.INVALID_SIZE, given["prop_value"]):
        call(entry, given)


DEAD = {
    "Queue | None": UrResult.INVALID_QUEUE,
    "Event | None": UrResult.INVALID_EVENT,
    "Context | None": UrResult.INVALID_CONTEXT,
    "Pool | None": UrResult.INVALID_VALUE,
    "Buffer | None": UrResult.INVALID_MEM_OBJECT,
}


def first_of(entry: str, annotation: str) -> str | None:
    return next((p.name for p in PARAMETERS[entry] if p.annotation == annotation), None)


DEAD_HANDLES = [
    pytest.param(entry, annotation, id=f"{entry}-{annotation.split()[0].lower()}")
    for annotation in DEAD
    for entry in ENTRIES
    if first_of(entry, annotation)
    # Which pool gave the memory is known without the pool.
    and (annotation != "Pool | None" or entry != "urEnqueueUSMFreeExp")
]


@pytest.mark.parametrize(("entry", "annotation"), DEAD_HANDLES)
def test_dead_handle(
    client: Client, arguments: Arguments, call: Call, entry: str, annotation: str
) -> None:
    """After the last release every use of a handle is an error, and that is its noun's."""
    given = arguments.of(entry)
    name = first_of(entry, annotation)
    assert name is not None
    if annotation == "Queue | None":
        queue = given[name]
        client.adapter.urQueueRelease(queue)
    elif annotation == "Event | None":
        client.adapter.urEventRelease(given[name])
    elif annotation == "Buffer | None":
        client.adapter.urMemRelease(given[name])
    elif annotation == "Pool | None":
        given[name] = arguments.pool
        client.adapter.urUSMPoolRelease(arguments.pool)
    else:
        other = client.create_context(given[name].devices)
        client.adapter.urContextRelease(other)
        given[name] = other
    with refused(DEAD[annotation], *outs_of(given)):
        call(entry, given)
