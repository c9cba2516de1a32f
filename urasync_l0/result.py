# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of Unified Runtime and the exceptions that carry them.

Every error of this package is a `UrError`. Those that a caller is likely to tell apart have a class
of their own, which also derives from the matching builtin exception where there is one.
"""

from enum import IntEnum


class UrResult(IntEnum):
    """All values of ``ur_result_t``, without their prefix."""

    SUCCESS = 0
    INVALID_OPERATION = 1
    INVALID_QUEUE_PROPERTIES = 2
    INVALID_QUEUE = 3
    INVALID_VALUE = 4
    INVALID_CONTEXT = 5
    INVALID_PLATFORM = 6
    INVALID_BINARY = 7
    INVALID_PROGRAM = 8
    INVALID_SAMPLER = 9
    INVALID_BUFFER_SIZE = 10
    INVALID_MEM_OBJECT = 11
    INVALID_EVENT = 12
    INVALID_EVENT_WAIT_LIST = 13
    MISALIGNED_SUB_BUFFER_OFFSET = 14
    INVALID_WORK_GROUP_SIZE = 15
    COMPILER_NOT_AVAILABLE = 16
    PROFILING_INFO_NOT_AVAILABLE = 17
    DEVICE_NOT_FOUND = 18
    INVALID_DEVICE = 19
    DEVICE_LOST = 20
    DEVICE_REQUIRES_RESET = 21
    DEVICE_IN_LOW_POWER_STATE = 22
    DEVICE_PARTITION_FAILED = 23
    INVALID_DEVICE_PARTITION_COUNT = 24
    INVALID_WORK_ITEM_SIZE = 25
    INVALID_WORK_DIMENSION = 26
    INVALID_KERNEL_ARGS = 27
    INVALID_KERNEL = 28
    INVALID_KERNEL_NAME = 29
    INVALID_KERNEL_ARGUMENT_INDEX = 30
    INVALID_KERNEL_ARGUMENT_SIZE = 31
    INVALID_KERNEL_ATTRIBUTE_VALUE = 32
    INVALID_IMAGE_SIZE = 33
    INVALID_IMAGE_FORMAT_DESCRIPTOR = 34
    MEM_OBJECT_ALLOCATION_FAILURE = 35
    INVALID_PROGRAM_EXECUTABLE = 36
    UNINITIALIZED = 37
    OUT_OF_HOST_MEMORY = 38
    OUT_OF_DEVICE_MEMORY = 39
    OUT_OF_RESOURCES = 40
    PROGRAM_BUILD_FAILURE = 41
    PROGRAM_LINK_FAILURE = 42
    UNSUPPORTED_VERSION = 43
    UNSUPPORTED_FEATURE = 44
    INVALID_ARGUMENT = 45
    INVALID_NULL_HANDLE = 46
    HANDLE_OBJECT_IN_USE = 47
    INVALID_NULL_POINTER = 48
    INVALID_SIZE = 49
    UNSUPPORTED_SIZE = 50
    UNSUPPORTED_ALIGNMENT = 51
    INVALID_SYNCHRONIZATION_OBJECT = 52
    INVALID_ENUMERATION = 53
    UNSUPPORTED_ENUMERATION = 54
    UNSUPPORTED_IMAGE_FORMAT = 55
    INVALID_NATIVE_BINARY = 56
    INVALID_GLOBAL_NAME = 57
    FUNCTION_ADDRESS_NOT_AVAILABLE = 58
    INVALID_GROUP_SIZE_DIMENSION = 59
    INVALID_GLOBAL_WIDTH_DIMENSION = 60
    PROGRAM_UNLINKED = 61
    OVERLAPPING_REGIONS = 62
    INVALID_HOST_PTR = 63
    INVALID_USM_SIZE = 64
    OBJECT_ALLOCATION_FAILURE = 65
    ADAPTER_SPECIFIC = 66
    LAYER_NOT_PRESENT = 67
    IN_EVENT_LIST_EXEC_STATUS = 68
    DEVICE_NOT_AVAILABLE = 69
    INVALID_SPEC_ID = 70
    INVALID_GRAPH = 71
    GRAPH_CAPTURE_UNSUPPORTED = 72
    GRAPH_CAPTURE_INVALIDATED = 73
    GRAPH_CAPTURE_MERGE_ATTEMPT = 74
    COMMAND_LIST_NOT_CAPTURING = 75
    GRAPH_UNJOINED_FORKS = 76
    GRAPH_INTERNAL_EVENT = 77
    INVALID_COMMAND_BUFFER_EXP = 0x1000
    INVALID_COMMAND_BUFFER_SYNC_POINT_EXP = 0x1001
    INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP = 0x1002
    INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP = 0x1003
    UNKNOWN = 0x7FFFFFFE


class UrError(Exception):
    """A call failed; nothing was changed by it.

    Parameters
    ----------
    message
        What happened, to which object, with which numbers, and what to do about it.
    code
        The result that a UR caller gets. Each class has its own default.
    function
        The entry point or driver call that failed, or an empty string.
    """

    default_code: UrResult = UrResult.UNKNOWN

    # Everything beyond the message stays in the instance's dictionary, which makes it picklable.
    def __init__(self, message: str, *, code: UrResult | None = None, function: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = self.default_code if code is None else code
        self.function = function

    def __str__(self) -> str:
        origin = f"{self.function}: " if self.function else ""
        return f"{origin}{self.message} [{self.code.name}]"


class InvalidOperationError(UrError):
    """The object is in a state that does not allow the call."""

    default_code = UrResult.INVALID_OPERATION


class InvalidValueError(UrError, ValueError):
    """An argument has a value that the call cannot use."""

    default_code = UrResult.INVALID_VALUE


class InvalidArgumentError(UrError, ValueError):
    """An argument does not fit the object it is used with."""

    default_code = UrResult.INVALID_ARGUMENT


class InvalidNullHandleError(UrError, ValueError):
    """A handle that the call needs is null."""

    default_code = UrResult.INVALID_NULL_HANDLE


class InvalidNullPointerError(UrError, ValueError):
    """A pointer that the call needs is null."""

    default_code = UrResult.INVALID_NULL_POINTER


class InvalidSizeError(UrError, ValueError):
    """A size is zero, too small or too large for the call."""

    default_code = UrResult.INVALID_SIZE


class InvalidUsmSizeError(UrError, ValueError):
    """An allocation of 0 bytes, or above the device's largest allocation."""

    default_code = UrResult.INVALID_USM_SIZE


class UnsupportedAlignmentError(UrError, ValueError):
    """An alignment that is not a power of two, or that the device cannot give."""

    default_code = UrResult.UNSUPPORTED_ALIGNMENT


class InvalidEnumerationError(UrError, ValueError):
    """A value that its enumeration does not have."""

    default_code = UrResult.INVALID_ENUMERATION


class UnsupportedEnumerationError(UrError, ValueError):
    """A value of an enumeration that this object does not support."""

    default_code = UrResult.UNSUPPORTED_ENUMERATION


class InvalidBinaryError(UrError, ValueError):
    """A program in a form that the device does not take."""

    default_code = UrResult.INVALID_BINARY


class InvalidProgramError(UrError, ValueError):
    """A program that is closed, or not built yet."""

    default_code = UrResult.INVALID_PROGRAM


class InvalidKernelError(UrError, ValueError):
    """A kernel that is closed."""

    default_code = UrResult.INVALID_KERNEL


class InvalidKernelArgumentsError(UrError, ValueError):
    """Arguments that are not those that a kernel takes."""

    default_code = UrResult.INVALID_KERNEL_ARGS


class InvalidWorkSizeError(UrError, ValueError):
    """Numbers of work-items that cannot be launched."""

    default_code = UrResult.INVALID_WORK_ITEM_SIZE


class InvalidMemObjectError(UrError, ValueError):
    """A pointer that no pool gave out, or that was freed already."""

    default_code = UrResult.INVALID_MEM_OBJECT


class InvalidEventError(UrError, ValueError):
    """An event that is released, or that cannot be used in this way."""

    default_code = UrResult.INVALID_EVENT


class InvalidEventWaitListError(UrError, ValueError):
    """A wait list whose count and pointer disagree, or that holds a dead event."""

    default_code = UrResult.INVALID_EVENT_WAIT_LIST


class InvalidQueueError(UrError, ValueError):
    """A queue that is released, or that belongs to another context."""

    default_code = UrResult.INVALID_QUEUE


class InvalidQueuePropertiesError(UrError, ValueError):
    """Queue flags that exclude each other or do not exist."""

    default_code = UrResult.INVALID_QUEUE_PROPERTIES


class InvalidContextError(UrError, ValueError):
    """A context that is closed, or another one than the object's."""

    default_code = UrResult.INVALID_CONTEXT


class InvalidDeviceError(UrError, ValueError):
    """A device that does not belong to the context or platform."""

    default_code = UrResult.INVALID_DEVICE


class HandleObjectInUseError(UrError):
    """An object cannot go because something still uses it."""

    default_code = UrResult.HANDLE_OBJECT_IN_USE


class InvalidSynchronizationObjectError(UrError, ValueError):
    """An event or fence in a state that the call cannot use."""

    default_code = UrResult.INVALID_SYNCHRONIZATION_OBJECT


class ProfilingInfoNotAvailableError(UrError):
    """The event has no time stamps, or none yet."""

    default_code = UrResult.PROFILING_INFO_NOT_AVAILABLE


class UninitializedError(UrError):
    """The driver is not initialised, or cannot be used from this process."""

    default_code = UrResult.UNINITIALIZED


class UnsupportedVersionError(UrError):
    """A version of the loader, driver or interface that cannot be served."""

    default_code = UrResult.UNSUPPORTED_VERSION


class UnsupportedFeatureError(UrError):
    """The loader, driver or device lacks what the call needs."""

    default_code = UrResult.UNSUPPORTED_FEATURE


class DeviceLostError(UrError):
    """The device hangs, was reset or removed; its context can no longer be used."""

    default_code = UrResult.DEVICE_LOST


class DeviceNotAvailableError(UrError):
    """The device exists but cannot be used now."""

    default_code = UrResult.DEVICE_NOT_AVAILABLE


class OutOfResourcesError(UrError):
    """Something other than memory ran out."""

    default_code = UrResult.OUT_OF_RESOURCES


class OutOfMemoryError(UrError, MemoryError):
    """Memory ran out after every way to find some was tried.

    Parameters
    ----------
    requested
        Bytes asked for.
    used, pending, idle, reserved
        Bytes of the pool in use, freed but not known complete, free, and held from the driver; None
        when no pool was involved.
    limit
        The pool's maximum size in bytes; None when it has none.
    device
        The device's name; None for host memory.
    """

    default_code = UrResult.OUT_OF_DEVICE_MEMORY

    def __init__(
        self,
        message: str,
        *,
        code: UrResult | None = None,
        function: str = "",
        requested: int | None = None,
        used: int | None = None,
        pending: int | None = None,
        idle: int | None = None,
        reserved: int | None = None,
        limit: int | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(message, code=code, function=function)
        self.requested = requested
        self.used = used
        self.pending = pending
        self.idle = idle
        self.reserved = reserved
        self.limit = limit
        self.device = device


class OutOfHostMemoryError(OutOfMemoryError):
    """As OutOfMemoryError, for host memory."""

    default_code = UrResult.OUT_OF_HOST_MEMORY


class LoaderNotFoundError(UninitializedError):
    """The Level Zero loader library could not be opened."""


class LoaderTooOldError(UnsupportedVersionError):
    """The Level Zero loader lacks entries that this package needs."""


class DriverNotFoundError(UninitializedError):
    """The loader found no driver that it could initialise."""


class DeviceNotFoundError(UrError):
    """The driver has no device that this package can use."""

    default_code = UrResult.DEVICE_NOT_FOUND


_CLASSES: dict[UrResult, type[UrError]] = {
    UrResult.INVALID_OPERATION: InvalidOperationError,
    UrResult.INVALID_VALUE: InvalidValueError,
    UrResult.INVALID_ARGUMENT: InvalidArgumentError,
    UrResult.INVALID_NULL_HANDLE: InvalidNullHandleError,
    UrResult.INVALID_NULL_POINTER: InvalidNullPointerError,
    UrResult.INVALID_SIZE: InvalidSizeError,
    UrResult.UNSUPPORTED_SIZE: InvalidSizeError,
    UrResult.INVALID_USM_SIZE: InvalidUsmSizeError,
    UrResult.UNSUPPORTED_ALIGNMENT: UnsupportedAlignmentError,
    UrResult.INVALID_ENUMERATION: InvalidEnumerationError,
    UrResult.UNSUPPORTED_ENUMERATION: UnsupportedEnumerationError,
    UrResult.INVALID_BINARY: InvalidBinaryError,
    UrResult.INVALID_PROGRAM: InvalidProgramError,
    UrResult.INVALID_KERNEL: InvalidKernelError,
    UrResult.INVALID_KERNEL_ARGS: InvalidKernelArgumentsError,
    UrResult.INVALID_WORK_ITEM_SIZE: InvalidWorkSizeError,
    UrResult.INVALID_MEM_OBJECT: InvalidMemObjectError,
    UrResult.INVALID_EVENT: InvalidEventError,
    UrResult.INVALID_EVENT_WAIT_LIST: InvalidEventWaitListError,
    UrResult.INVALID_QUEUE: InvalidQueueError,
    UrResult.INVALID_QUEUE_PROPERTIES: InvalidQueuePropertiesError,
    UrResult.INVALID_CONTEXT: InvalidContextError,
    UrResult.INVALID_DEVICE: InvalidDeviceError,
    UrResult.HANDLE_OBJECT_IN_USE: HandleObjectInUseError,
    UrResult.INVALID_SYNCHRONIZATION_OBJECT: InvalidSynchronizationObjectError,
    UrResult.PROFILING_INFO_NOT_AVAILABLE: ProfilingInfoNotAvailableError,
    UrResult.UNINITIALIZED: UninitializedError,
    UrResult.UNSUPPORTED_VERSION: UnsupportedVersionError,
    UrResult.UNSUPPORTED_FEATURE: UnsupportedFeatureError,
    UrResult.DEVICE_LOST: DeviceLostError,
    UrResult.DEVICE_REQUIRES_RESET: DeviceLostError,
    UrResult.DEVICE_NOT_AVAILABLE: DeviceNotAvailableError,
    UrResult.DEVICE_IN_LOW_POWER_STATE: DeviceNotAvailableError,
    UrResult.OUT_OF_RESOURCES: OutOfResourcesError,
    UrResult.OUT_OF_DEVICE_MEMORY: OutOfMemoryError,
    UrResult.OUT_OF_HOST_MEMORY: OutOfHostMemoryError,
    UrResult.DEVICE_NOT_FOUND: DeviceNotFoundError,
}


def error_class(code: UrResult) -> type[UrError]:
    """The exception class for a result; `UrError` itself for those that nobody branches on."""
    return _CLASSES.get(code, UrError)
