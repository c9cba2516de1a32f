# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of kernels: what they are given, and how they become commands."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from urasync_l0.allocation import Allocation
from urasync_l0.program import Kernel, NativeKernel
from urasync_l0.result import (
    InvalidContextError,
    InvalidKernelArgumentsError,
    InvalidKernelError,
    InvalidWorkSizeError,
    UrResult,
)
from urasync_l0.ze import module as ze_module
from urasync_l0.ze.command_list import EventArray
from urasync_l0.ze.handles import CommandListHandle, EventHandle

if TYPE_CHECKING:
    from urasync_l0.transfer_queue import TransferQueue

Sizes = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """A kernel's argument: so many bytes of memory that a work-group shares."""

    nbytes: int


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as the driver takes it: its bytes, or None and a size for local memory."""

    size: int
    value: bytes | None
    keep: Any = None


def argument(value: Any) -> Argument:
    """An argument from an `Allocation`, whose address is meant, `LocalMemory`, or a value in bytes.

    A value is anything with the buffer protocol: bytes, scalars of NumPy or ctypes.

    Raises
    ------
    InvalidMemObjectError
        If the allocation is freed.
    InvalidKernelArgumentsError
        With INVALID_KERNEL_ARGUMENT_SIZE if local memory has no bytes, or more than there can be.
    TypeError
        If it is none of these; a Python number has no size of its own.
    """
    if isinstance(value, Allocation):
        value.require_live()
        return Argument(8, value.ptr.to_bytes(8, "little"), value)
    if isinstance(value, LocalMemory):
        if not 0 < operator.index(value.nbytes) < 2**64:
            raise InvalidKernelArgumentsError(
                f"A group cannot have {value!r}; it must be at least 1 byte.",
                code=UrResult.INVALID_KERNEL_ARGUMENT_SIZE,
            )
        return Argument(value.nbytes, None)
    try:
        content = bytes(memoryview(value))
    except TypeError:
        raise TypeError(
            f"A kernel cannot take {value!r}; it needs bytes, for example struct.pack('i', 7)."
        ) from None
    return Argument(len(content), content)


@dataclass(frozen=True, slots=True)
class Launch:
    """Run a kernel."""

    is_timed: ClassVar = True

    kernel: NativeKernel
    arguments: tuple[Argument, ...]
    local: Sizes
    groups: Sizes

    def append(
        self, command_list: CommandListHandle, signal: EventHandle | None, waits: EventArray | None
    ) -> None:
        """Append it to a list."""
        handle = self.kernel.handle
        with self.kernel.lock:
            for index, each in enumerate(self.arguments):
                ze_module.set_argument(handle, index, each.size, each.value)
            ze_module.set_group_size(handle, self.local)
            ze_module.append_launch(command_list, handle, self.groups, signal, waits)


def plan_launch(
    queue: TransferQueue,
    kernel: Kernel,
    global_size: Sequence[int],
    arguments: Sequence[Argument],
    local_size: Sequence[int] | None,
) -> Launch:
    """Check a launch; without a local size that of the kernel's code is used, or the driver's
    suggestion, made to fit.

    Raises
    ------
    InvalidKernelError
        If the kernel is closed.
    InvalidContextError
        If it belongs to another context than the queue.
    InvalidKernelArgumentsError
        If there are more or fewer arguments than it takes.
    InvalidWorkSizeError
        If there are no or more than three dimensions, nothing in one, or a local size does not
        divide the global one.
    """
    if kernel.is_closed:
        raise InvalidKernelError(f"{kernel!r} cannot be used any more.")
    if kernel.program.context is not queue.context:
        raise InvalidContextError(f"{kernel!r} belongs to another context than {queue!r}.")
    if len(arguments) != kernel.argument_count:
        raise InvalidKernelArgumentsError(
            f"{kernel!r} takes {kernel.argument_count} arguments; there are {len(arguments)}."
        )
    wanted = _sizes(global_size, "global")
    native = kernel.native(queue.device)
    if local_size is None:
        suggested = native.required_group_size
        if not any(suggested):  # Intel's driver suggests others all the same
            with queue.native.loss, native.lock:
                suggested = ze_module.suggest_group_size(native.handle, wanted)
        x, y, z = (math.gcd(*pair) for pair in zip(wanted, suggested, strict=True))
    else:
        x, y, z = _sizes(local_size, "local")
        if len(local_size) != len(global_size):
            raise InvalidWorkSizeError(
                f"The global size has {len(global_size)} dimensions, the local {len(local_size)}.",
                code=UrResult.INVALID_WORK_DIMENSION,
            )
    groups = wanted[0] // x, wanted[1] // y, wanted[2] // z
    if (groups[0] * x, groups[1] * y, groups[2] * z) != wanted:
        raise InvalidWorkSizeError(
            f"Groups of {(x, y, z)} work-items do not divide {wanted} work-items.",
            code=UrResult.INVALID_WORK_GROUP_SIZE,
        )
    return Launch(native, tuple(arguments), (x, y, z), groups)


def _sizes(given: Sequence[int], what: str) -> Sizes:
    try:
        sizes = [operator.index(each) for each in given]
    except TypeError:
        raise TypeError(
            f"The {what} size must be one to three integers, as (1024,), not {given!r}."
        ) from None
    if not 1 <= len(sizes) <= 3:
        raise InvalidWorkSizeError(
            f"The {what} size has {len(sizes)} dimensions; it must have one to three.",
            code=UrResult.INVALID_WORK_DIMENSION,
        )
    for each in sizes:
        if not 0 < each < 2**32:
            raise InvalidWorkSizeError(f"The {what} size {tuple(sizes)} has {each} in a dimension.")
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z
