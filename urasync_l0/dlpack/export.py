# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which device an allocation is on in DLPack's terms, and what is in order before it is seen."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from urasync_l0.dlpack._capsule import make_capsule
from urasync_l0.enums import UsmType

if TYPE_CHECKING:
    from urasync_l0.allocation import Allocation
    from urasync_l0.queue import Queue

NO_ORDER = -1
"""A ``stream`` that asks for no order."""


class DLPackDevice(IntEnum):
    """The types of devices that memory of this package is on: kDLCPU and kDLOneAPI."""

    CPU = 1
    ONE_API = 14


def device_of(allocation: Allocation) -> tuple[DLPackDevice, int]:
    """The device of an allocation: the host's for host memory, else the root device's index.

    Raises
    ------
    BufferError
        If it is memory of a sub-device or a compute slice, which DLPack has no numbers for.
    """
    device = allocation.device
    if device is None or allocation.kind is UsmType.HOST:
        return DLPackDevice.CPU, 0
    if device.parent is not None:
        raise BufferError(f"{allocation!r} is on {device!r}; DLPack has no number for such a part.")
    return DLPackDevice.ONE_API, device.index


def export(
    allocation: Allocation,
    stream: Queue | int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """A capsule with the allocation's bytes; see `Allocation.__dlpack__`."""
    allocation.require_live()
    if copy:
        raise BufferError(f"{allocation!r} is not copied by DLPack; use Queue.memcpy.")
    own = device_of(allocation)
    wanted = own if dl_device is None else tuple(dl_device)
    on_host = DLPackDevice.CPU, 0
    if wanted != own and not (wanted == on_host and allocation.kind is UsmType.SHARED):
        raise BufferError(f"{allocation!r} is not on DLPack's device {dl_device}; copy it there.")
    _put_in_order(allocation, stream, is_for_host=wanted == on_host)
    is_versioned = max_version is not None and max_version[0] >= 1
    return make_capsule(allocation, allocation.ptr, allocation.nbytes, *wanted, is_versioned)


def _put_in_order(allocation: Allocation, stream: Queue | int | None, *, is_for_host: bool) -> None:
    if stream is None:
        allocation.context.native.synchronise_all()
    elif isinstance(stream, int):
        if stream != NO_ORDER:
            raise BufferError(f"stream is {stream}; it must be a queue, None, or -1 for no order.")
    elif is_for_host or getattr(stream, "context", None) is not allocation.context:
        raise BufferError(f"stream is {stream!r}; it must be a queue of the allocation's context.")
    elif allocation.queue is None:
        allocation.context.native.synchronise_all()
    elif allocation.queue is not stream and not allocation.queue.is_closed:
        stream.wait(allocation.queue.record())
