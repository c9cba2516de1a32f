# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level Zero's result codes: what each means, and the one function that checks them."""

from dataclasses import dataclass
from enum import IntEnum

from urasync_l0.result import UrError, UrResult, error_class
from urasync_l0.ze import entry_table
from urasync_l0.ze._extension import lib


class ZeResult(IntEnum):
    """All values of ``ze_result_t`` up to specification 1.17, without their prefix."""

    SUCCESS = 0
    NOT_READY = 1
    ERROR_DEVICE_LOST = 0x70000001
    ERROR_OUT_OF_HOST_MEMORY = 0x70000002
    ERROR_OUT_OF_DEVICE_MEMORY = 0x70000003
    ERROR_MODULE_BUILD_FAILURE = 0x70000004
    ERROR_MODULE_LINK_FAILURE = 0x70000005
    ERROR_DEVICE_REQUIRES_RESET = 0x70000006
    ERROR_DEVICE_IN_LOW_POWER_STATE = 0x70000007
    EXP_ERROR_DEVICE_IS_NOT_VERTEX = 0x7FF00001
    EXP_ERROR_VERTEX_IS_NOT_DEVICE = 0x7FF00002
    EXP_ERROR_REMOTE_DEVICE = 0x7FF00003
    EXP_ERROR_OPERANDS_INCOMPATIBLE = 0x7FF00004
    EXP_RTAS_BUILD_RETRY = 0x7FF00005
    EXP_RTAS_BUILD_DEFERRED = 0x7FF00006
    ERROR_INSUFFICIENT_PERMISSIONS = 0x70010000
    ERROR_NOT_AVAILABLE = 0x70010001
    ERROR_DEPENDENCY_UNAVAILABLE = 0x70020000
    WARNING_DROPPED_DATA = 0x70020001
    ERROR_UNINITIALIZED = 0x78000001
    ERROR_UNSUPPORTED_VERSION = 0x78000002
    ERROR_UNSUPPORTED_FEATURE = 0x78000003
    ERROR_INVALID_ARGUMENT = 0x78000004
    ERROR_INVALID_NULL_HANDLE = 0x78000005
    ERROR_HANDLE_OBJECT_IN_USE = 0x78000006
    ERROR_INVALID_NULL_POINTER = 0x78000007
    ERROR_INVALID_SIZE = 0x78000008
    ERROR_UNSUPPORTED_SIZE = 0x78000009
    ERROR_UNSUPPORTED_ALIGNMENT = 0x7800000A
    ERROR_INVALID_SYNCHRONIZATION_OBJECT = 0x7800000B
    ERROR_INVALID_ENUMERATION = 0x7800000C
    ERROR_UNSUPPORTED_ENUMERATION = 0x7800000D
    ERROR_UNSUPPORTED_IMAGE_FORMAT = 0x7800000E
    ERROR_INVALID_NATIVE_BINARY = 0x7800000F
    ERROR_INVALID_GLOBAL_NAME = 0x78000010
    ERROR_INVALID_KERNEL_NAME = 0x78000011
    ERROR_INVALID_FUNCTION_NAME = 0x78000012
    ERROR_INVALID_GROUP_SIZE_DIMENSION = 0x78000013
    ERROR_INVALID_GLOBAL_WIDTH_DIMENSION = 0x78000014
    ERROR_INVALID_KERNEL_ARGUMENT_INDEX = 0x78000015
    ERROR_INVALID_KERNEL_ARGUMENT_SIZE = 0x78000016
    ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE = 0x78000017
    ERROR_INVALID_MODULE_UNLINKED = 0x78000018
    ERROR_INVALID_COMMAND_LIST_TYPE = 0x78000019
    ERROR_OVERLAPPING_REGIONS = 0x7800001A
    WARNING_ACTION_REQUIRED = 0x7800001B
    ERROR_INVALID_KERNEL_HANDLE = 0x7800001C
    EXT_RTAS_BUILD_RETRY = 0x7800001D
    EXT_RTAS_BUILD_DEFERRED = 0x7800001E
    EXT_ERROR_OPERANDS_INCOMPATIBLE = 0x7800001F
    ERROR_SURVIVABILITY_MODE_DETECTED = 0x78000020
    ERROR_ADDRESS_NOT_FOUND = 0x78000021
    QUERY_TRUE = 0x78000022
    QUERY_FALSE = 0x78000023
    ERROR_INVALID_GRAPH = 0x78000024
    ERROR_GRAPH_CAPTURE_UNSUPPORTED = 0x78000025
    ERROR_GRAPH_CAPTURE_INVALIDATED = 0x78000026
    ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT = 0x78000027
    ERROR_COMMAND_LIST_NOT_CAPTURING = 0x78000028
    ERROR_GRAPH_UNJOINED_FORKS = 0x78000029
    ERROR_GRAPH_INTERNAL_EVENT = 0x7800002A
    ERROR_UNKNOWN = 0x7FFFFFFE


@dataclass(frozen=True, slots=True)
class ResultRow:
    """What a Level Zero result becomes."""

    ur_result: UrResult
    error: type[UrError]
    explanation: str


def _row(ur_result: UrResult, explanation: str) -> ResultRow:
    return ResultRow(ur_result, error_class(ur_result), explanation)


RESULTS: dict[ZeResult, ResultRow] = {
    ZeResult.SUCCESS: _row(
        UrResult.SUCCESS,
        "The call succeeded.",
    ),
    ZeResult.NOT_READY: _row(
        UrResult.INVALID_OPERATION,
        "The work is not complete yet.",
    ),
    ZeResult.ERROR_DEVICE_LOST: _row(
        UrResult.DEVICE_LOST,
        "The device hangs, was reset or removed, or got another driver; all on it is lost.",
    ),
    ZeResult.ERROR_OUT_OF_HOST_MEMORY: _row(
        UrResult.OUT_OF_HOST_MEMORY,
        "The host has too little memory for the call.",
    ),
    ZeResult.ERROR_OUT_OF_DEVICE_MEMORY: _row(
        UrResult.OUT_OF_DEVICE_MEMORY,
        "The device has too little memory for the call.",
    ),
    ZeResult.ERROR_MODULE_BUILD_FAILURE: _row(
        UrResult.PROGRAM_BUILD_FAILURE,
        "The module did not build; its build log says why.",
    ),
    ZeResult.ERROR_MODULE_LINK_FAILURE: _row(
        UrResult.PROGRAM_LINK_FAILURE,
        "The modules did not link; the build log says why.",
    ),
    ZeResult.ERROR_DEVICE_REQUIRES_RESET: _row(
        UrResult.DEVICE_REQUIRES_RESET,
        "The device works again only after a reset.",
    ),
    ZeResult.ERROR_DEVICE_IN_LOW_POWER_STATE: _row(
        UrResult.DEVICE_IN_LOW_POWER_STATE,
        "The device sleeps to save power and must be woken first.",
    ),
    ZeResult.EXP_ERROR_DEVICE_IS_NOT_VERTEX: _row(
        UrResult.INVALID_DEVICE,
        "The device has no place in the fabric's graph.",
    ),
    ZeResult.EXP_ERROR_VERTEX_IS_NOT_DEVICE: _row(
        UrResult.INVALID_DEVICE,
        "The place in the fabric's graph is not a device.",
    ),
    ZeResult.EXP_ERROR_REMOTE_DEVICE: _row(
        UrResult.INVALID_DEVICE,
        "The place in the fabric's graph is a device of another machine or a part of one.",
    ),
    ZeResult.EXP_ERROR_OPERANDS_INCOMPATIBLE: _row(
        UrResult.INVALID_ARGUMENT,
        "The two things compared do not fit each other (experimental code).",
    ),
    ZeResult.EXP_RTAS_BUILD_RETRY: _row(
        UrResult.OUT_OF_RESOURCES,
        "The ray tracing structure needs a larger buffer (experimental code).",
    ),
    ZeResult.EXP_RTAS_BUILD_DEFERRED: _row(
        UrResult.INVALID_OPERATION,
        "The ray tracing structure is built when its parallel operation is joined (experimental).",
    ),
    ZeResult.ERROR_INSUFFICIENT_PERMISSIONS: _row(
        UrResult.INVALID_OPERATION,
        "This user may not do that; access to /dev/dri often needs membership in the group render.",
    ),
    ZeResult.ERROR_NOT_AVAILABLE: _row(
        UrResult.DEVICE_NOT_AVAILABLE,
        "The resource is taken by someone else or has gone.",
    ),
    ZeResult.ERROR_DEPENDENCY_UNAVAILABLE: _row(
        UrResult.UNINITIALIZED,
        "A library or service that the driver depends on is missing.",
    ),
    ZeResult.WARNING_DROPPED_DATA: _row(
        UrResult.UNKNOWN,
        "The driver may have dropped data that a tool asked for.",
    ),
    ZeResult.ERROR_UNINITIALIZED: _row(
        UrResult.UNINITIALIZED,
        "Level Zero is not initialised.",
    ),
    ZeResult.ERROR_UNSUPPORTED_VERSION: _row(
        UrResult.UNSUPPORTED_VERSION,
        "The version asked for is not supported.",
    ),
    ZeResult.ERROR_UNSUPPORTED_FEATURE: _row(
        UrResult.UNSUPPORTED_FEATURE,
        "The driver does not support this.",
    ),
    ZeResult.ERROR_INVALID_ARGUMENT: _row(
        UrResult.INVALID_ARGUMENT,
        "The driver refuses an argument.",
    ),
    ZeResult.ERROR_INVALID_NULL_HANDLE: _row(
        UrResult.INVALID_NULL_HANDLE,
        "A handle is null.",
    ),
    ZeResult.ERROR_HANDLE_OBJECT_IN_USE: _row(
        UrResult.HANDLE_OBJECT_IN_USE,
        "The device still uses the object.",
    ),
    ZeResult.ERROR_INVALID_NULL_POINTER: _row(
        UrResult.INVALID_NULL_POINTER,
        "A pointer is null.",
    ),
    ZeResult.ERROR_INVALID_SIZE: _row(
        UrResult.INVALID_SIZE,
        "A size is wrong, for example 0.",
    ),
    ZeResult.ERROR_UNSUPPORTED_SIZE: _row(
        UrResult.UNSUPPORTED_SIZE,
        "The device does not support this size; it may be above its largest allocation.",
    ),
    ZeResult.ERROR_UNSUPPORTED_ALIGNMENT: _row(
        UrResult.UNSUPPORTED_ALIGNMENT,
        "The device does not support this alignment.",
    ),
    ZeResult.ERROR_INVALID_SYNCHRONIZATION_OBJECT: _row(
        UrResult.INVALID_SYNCHRONIZATION_OBJECT,
        "The event or fence is in a state that the call cannot use.",
    ),
    ZeResult.ERROR_INVALID_ENUMERATION: _row(
        UrResult.INVALID_ENUMERATION,
        "The enumeration has no such value.",
    ),
    ZeResult.ERROR_UNSUPPORTED_ENUMERATION: _row(
        UrResult.UNSUPPORTED_ENUMERATION,
        "The device does not support this value of the enumeration.",
    ),
    ZeResult.ERROR_UNSUPPORTED_IMAGE_FORMAT: _row(
        UrResult.UNSUPPORTED_IMAGE_FORMAT,
        "The device does not support this image format.",
    ),
    ZeResult.ERROR_INVALID_NATIVE_BINARY: _row(
        UrResult.INVALID_NATIVE_BINARY,
        "The binary was not made for this device.",
    ),
    ZeResult.ERROR_INVALID_GLOBAL_NAME: _row(
        UrResult.INVALID_GLOBAL_NAME,
        "The module has no global variable of that name.",
    ),
    ZeResult.ERROR_INVALID_KERNEL_NAME: _row(
        UrResult.INVALID_KERNEL_NAME,
        "The module has no kernel of that name.",
    ),
    ZeResult.ERROR_INVALID_FUNCTION_NAME: _row(
        UrResult.FUNCTION_ADDRESS_NOT_AVAILABLE,
        "The module has no function of that name.",
    ),
    ZeResult.ERROR_INVALID_GROUP_SIZE_DIMENSION: _row(
        UrResult.INVALID_GROUP_SIZE_DIMENSION,
        "A group size does not suit the kernel or the device.",
    ),
    ZeResult.ERROR_INVALID_GLOBAL_WIDTH_DIMENSION: _row(
        UrResult.INVALID_GLOBAL_WIDTH_DIMENSION,
        "A global size does not suit the kernel or the device.",
    ),
    ZeResult.ERROR_INVALID_KERNEL_ARGUMENT_INDEX: _row(
        UrResult.INVALID_KERNEL_ARGUMENT_INDEX,
        "The kernel has no argument of that number.",
    ),
    ZeResult.ERROR_INVALID_KERNEL_ARGUMENT_SIZE: _row(
        UrResult.INVALID_KERNEL_ARGUMENT_SIZE,
        "The kernel's argument has another size.",
    ),
    ZeResult.ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE: _row(
        UrResult.INVALID_KERNEL_ATTRIBUTE_VALUE,
        "The kernel's attribute cannot have this value.",
    ),
    ZeResult.ERROR_INVALID_MODULE_UNLINKED: _row(
        UrResult.PROGRAM_UNLINKED,
        "The module has imports and must be linked before kernels can be made from it.",
    ),
    ZeResult.ERROR_INVALID_COMMAND_LIST_TYPE: _row(
        UrResult.INVALID_QUEUE,
        "The command list is of another type than its queue.",
    ),
    ZeResult.ERROR_OVERLAPPING_REGIONS: _row(
        UrResult.OVERLAPPING_REGIONS,
        "Source and destination of the copy overlap.",
    ),
    ZeResult.WARNING_ACTION_REQUIRED: _row(
        UrResult.UNKNOWN,
        "The operation is complete only after an action by the administrator.",
    ),
    ZeResult.ERROR_INVALID_KERNEL_HANDLE: _row(
        UrResult.INVALID_KERNEL,
        "The kernel handle cannot be used for this.",
    ),
    ZeResult.EXT_RTAS_BUILD_RETRY: _row(
        UrResult.OUT_OF_RESOURCES,
        "The ray tracing structure needs a larger buffer.",
    ),
    ZeResult.EXT_RTAS_BUILD_DEFERRED: _row(
        UrResult.INVALID_OPERATION,
        "The ray tracing structure is built only when its parallel operation is joined.",
    ),
    ZeResult.EXT_ERROR_OPERANDS_INCOMPATIBLE: _row(
        UrResult.INVALID_ARGUMENT,
        "The two things compared do not fit each other.",
    ),
    ZeResult.ERROR_SURVIVABILITY_MODE_DETECTED: _row(
        UrResult.DEVICE_NOT_AVAILABLE,
        "The device runs only far enough to have its firmware replaced.",
    ),
    ZeResult.ERROR_ADDRESS_NOT_FOUND: _row(
        UrResult.INVALID_MEM_OBJECT,
        "The context does not know this address.",
    ),
    ZeResult.QUERY_TRUE: _row(
        UrResult.UNKNOWN,
        "The query answers yes, where this package expected a plain success.",
    ),
    ZeResult.QUERY_FALSE: _row(
        UrResult.UNKNOWN,
        "The query answers no, where this package expected a plain success.",
    ),
    ZeResult.ERROR_INVALID_GRAPH: _row(
        UrResult.INVALID_GRAPH,
        "The graph cannot be used.",
    ),
    ZeResult.ERROR_GRAPH_CAPTURE_UNSUPPORTED: _row(
        UrResult.GRAPH_CAPTURE_UNSUPPORTED,
        "This cannot be done while a graph is captured.",
    ),
    ZeResult.ERROR_GRAPH_CAPTURE_INVALIDATED: _row(
        UrResult.GRAPH_CAPTURE_INVALIDATED,
        "An earlier failure has spoilt the graph capture.",
    ),
    ZeResult.ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT: _row(
        UrResult.GRAPH_CAPTURE_MERGE_ATTEMPT,
        "The call would join two graph captures.",
    ),
    ZeResult.ERROR_COMMAND_LIST_NOT_CAPTURING: _row(
        UrResult.COMMAND_LIST_NOT_CAPTURING,
        "The command list is not capturing a graph.",
    ),
    ZeResult.ERROR_GRAPH_UNJOINED_FORKS: _row(
        UrResult.GRAPH_UNJOINED_FORKS,
        "A branch of the captured graph was never joined.",
    ),
    ZeResult.ERROR_GRAPH_INTERNAL_EVENT: _row(
        UrResult.GRAPH_INTERNAL_EVENT,
        "An event that belongs to a graph was used outside it.",
    ),
    ZeResult.ERROR_UNKNOWN: _row(
        UrResult.UNKNOWN,
        "The driver failed and does not say why.",
    ),
}

FORKED = (
    "This process was forked from one that had initialised Level Zero, and a driver does not "
    "survive a fork: no call reaches it any more. Start worker processes with the method 'spawn' "
    "or 'forkserver', or fork before the first use of this package."
)


def error(code: int, entry: str, detail: str = "") -> UrError:
    """The exception for a result other than success. Parameters as for `check`."""
    try:
        result = ZeResult(code)
    except ValueError:
        return UrError(
            f"Level Zero answers with the unknown result code 0x{code & 0xFFFFFFFF:08x}."
            f"{_sentence(detail)}",
            function=entry,
        )
    row = RESULTS[result]
    explanation = row.explanation
    if result is ZeResult.ERROR_UNINITIALIZED and lib.urasync_in_forked_child():
        explanation = FORKED
    elif result is ZeResult.ERROR_UNSUPPORTED_FEATURE and _is_missing(entry):
        version = entry_table.loader_version()
        explanation = f"The Level Zero loader{f' {version}' if version else ''} has no such entry."
    return row.error(
        f"{explanation}{_sentence(detail)} (ZE_RESULT_{result.name}, 0x{code:08x})",
        code=row.ur_result,
        function=entry,
    )


def check(code: int, entry: str, detail: str = "") -> None:
    """Return when a Level Zero call succeeded; raise when it did not.

    Parameters
    ----------
    code
        What the call returned.
    entry
        The name of the entry called.
    detail
        The object and the numbers concerned, as a sentence without its full stop.

    Raises
    ------
    UrError
        The class of the code's row in `RESULTS`; `UrError` itself for a code that has no row.
    """
    if code == 0:
        return
    raise error(code, entry, detail)


def _sentence(detail: str) -> str:
    return f" {detail}." if detail else ""


def _is_missing(entry: str) -> bool:
    return entry in entry_table.entries() and not entry_table.has(entry)
