# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills and copies: what they touch, and how they become commands."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, SupportsIndex, TypeAlias

from urasync_l0.allocation import Allocation
from urasync_l0.result import (
    InvalidNullPointerError,
    InvalidSizeError,
    InvalidValueError,
)
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import host_memory
from urasync_l0.ze.command_list import EventArray
from urasync_l0.ze.handles import CommandListHandle, DeviceHandle, EventHandle

if TYPE_CHECKING:
    from typing_extensions import Buffer  # type checkers bring it

    Memory: TypeAlias = Allocation | SupportsIndex | Buffer
else:
    Memory = Any  # an allocation, an address or a buffer

_STAGED = 64 << 10
"""A pattern that the device cannot fill with is first copied from a host buffer of about so many
bytes; copies within the target then double it."""


class Operand(NamedTuple):
    """One end of a transfer.

    Attributes
    ----------
    address
        Where it begins.
    nbytes
        Bytes from there to its end; None when nobody knows, as for a plain pointer.
    keep
        What must live until the transfer is complete, in order that the address stays valid.
    """

    address: int
    nbytes: int | None
    keep: Any


def operand(target: Any, offset: int, *, writable: bool) -> Operand:
    """Find the memory of an `Allocation`, a plain pointer, or a Python buffer.

    Raises
    ------
    InvalidMemObjectError
        If the allocation is freed already.
    InvalidNullPointerError
        If the pointer is null.
    InvalidSizeError
        If the offset is negative or beyond the end.
    InvalidValueError
        If a buffer is not contiguous, or read-only but to be written, or if a pointer is negative
        or has more than 64 bits.
    TypeError
        If the target is none of the three.
    """
    offset = operator.index(offset)
    address: int
    nbytes: int | None
    keep: Any
    if isinstance(target, Allocation):
        target.require_live()
        address, nbytes, keep = target.ptr, target.nbytes, target
    elif hasattr(target, "__index__") and not getattr(target, "ndim", 0):  # arrays have it, too
        address, nbytes, keep = operator.index(target), None, None
        if not address:
            raise InvalidNullPointerError("The pointer of a transfer is null.")
        if not 0 < address < 2**64:
            raise InvalidValueError(f"The pointer {address:#x} of a transfer is no address.")
    else:
        try:
            buffer = host_memory.pin(target, writable=writable)
        except (BufferError, ValueError) as error:
            raise InvalidValueError(f"A transfer cannot use {type(target)}: {error}.") from error
        except TypeError:
            raise TypeError(
                f"A transfer takes allocations, addresses and buffers, not {target!r}."
            ) from None
        address, nbytes, keep = buffer.address, buffer.nbytes, buffer
    if offset < 0 or (nbytes is not None and offset > nbytes):
        end = "" if nbytes is None else f" of {nbytes} bytes"
        raise InvalidSizeError(f"The offset {offset} is outside the memory{end} at {address:#x}.")
    return Operand(address + offset, None if nbytes is None else nbytes - offset, keep)


def transfer_size(nbytes: int | None, *operands: Operand) -> int:
    """How many bytes to transfer: as asked, or else as the last operand with a known end has.

    Raises
    ------
    InvalidSizeError
        If that is nothing, unknown, or more than an operand has.
    """
    if nbytes is None:
        nbytes = next((o.nbytes for o in reversed(operands) if o.nbytes is not None), None)
        if nbytes is None:
            raise InvalidSizeError("A transfer between plain pointers needs its size in bytes.")
    nbytes = operator.index(nbytes)
    if nbytes <= 0:
        raise InvalidSizeError(f"A transfer of {nbytes} bytes; at least 1 is needed.")
    for end in operands:
        if end.nbytes is not None and nbytes > end.nbytes:
            raise InvalidSizeError(
                f"A transfer of {nbytes} bytes exceeds the {end.nbytes} bytes at {end.address:#x}."
            )
    return nbytes


@dataclass(frozen=True, slots=True)
class Fill:
    """Repeat a pattern that the device knows how to repeat."""

    is_timed: ClassVar = True

    address: int
    pattern: bytes
    nbytes: int

    def append(
        self, command_list: CommandListHandle, signal: EventHandle | None, waits: EventArray | None
    ) -> None:
        """Append it to a list."""
        ze_list.append_memory_fill(
            command_list, self.address, self.pattern, self.nbytes, signal, waits
        )


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy bytes between ranges that do not overlap."""

    is_timed: ClassVar = True

    destination: int
    source: int
    nbytes: int

    def append(
        self, command_list: CommandListHandle, signal: EventHandle | None, waits: EventArray | None
    ) -> None:
        """Append it to a list."""
        ze_list.append_memory_copy(
            command_list, self.destination, self.source, self.nbytes, signal, waits
        )


@dataclass(frozen=True, slots=True)
class Hint:
    """Something that a driver may make use of: nothing is transferred.

    The native commands know neither waits nor signals.
    """

    is_timed: ClassVar = False

    address: int
    nbytes: int

    def append(
        self, command_list: CommandListHandle, signal: EventHandle | None, waits: EventArray | None
    ) -> None:
        """Append it to a list."""
        if waits is not None:
            ze_list.append_wait_on_events(command_list, waits)
        self.give(command_list)
        if signal is not None:
            ze_list.append_signal_event(command_list, signal)

    def give(self, command_list: CommandListHandle) -> None:
        """Append the native command."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Prefetch(Hint):
    """Tell the driver that the list's device will use some shared memory."""

    def give(self, command_list: CommandListHandle) -> None:
        """Append the native command."""
        ze_list.append_memory_prefetch(command_list, self.address, self.nbytes)


@dataclass(frozen=True, slots=True)
class Advise(Hint):
    """Tell the driver how a device will use some shared memory."""

    device: DeviceHandle
    advice: ze_list.MemoryAdvice = ze_list.MemoryAdvice.SET_READ_MOSTLY

    def give(self, command_list: CommandListHandle) -> None:
        """Append the native command."""
        ze_list.append_mem_advise(command_list, self.device, self.address, self.nbytes, self.advice)


class FillPlan(NamedTuple):
    """The commands of a fill, and what they read on the host."""

    steps: Sequence[Fill | Copy]
    keep: Any


def plan_fill(address: int, pattern: bytes, nbytes: int, longest: int) -> FillPlan:
    """The commands that fill ``nbytes`` bytes with a pattern.

    One fill where the device can: patterns of 1, 2, 4, … up to ``longest`` bytes, at an address
    that is a multiple of that. Otherwise the pattern is copied in once from the host, and then the
    filled part onto what follows, doubling each time.

    Raises
    ------
    InvalidSizeError
        If the pattern is empty, or the size no multiple of it.
    """
    length = len(pattern)
    if not length or nbytes % length:
        raise InvalidSizeError(
            f"{nbytes} bytes are no multiple of a pattern of {length} bytes; it cannot fill them."
        )
    if length <= longest and not length & (length - 1) and not address % length:
        return FillPlan((Fill(address, pattern, nbytes),), None)
    staged = pattern * min(nbytes // length, max(1, _STAGED // length))
    source = host_memory.pin(staged, writable=False)
    steps = [Copy(address, source.address, len(staged))]
    done = len(staged)
    while done < nbytes:
        more = min(done, nbytes - done)
        steps.append(Copy(address + done, address, more))
        done += more
    return FillPlan(steps, source)
