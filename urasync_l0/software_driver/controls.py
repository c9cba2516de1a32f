# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test controls of the software driver: gates, failures, slow calls, limits, counts, live objects.

They act on the driver instance that the loader has loaded into this process, past the loader.
Handles are integers, as the application sees them with one driver. Sizes are bytes, times are
nanoseconds. Everything here may be called from any thread. Device indexes count the root devices
first, then the sub-devices of the first, of the second, and so on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from urasync_l0.result import InvalidOperationError, InvalidValueError, UrError
from urasync_l0.software_driver._controls_ffi import ffi
from urasync_l0.software_driver.library import library_path

INFINITE_NS = 2**64 - 1
"""A time that never ends."""

_VERSION = 1
_NO_DEVICE = 2**32 - 1
_LONGEST_REPORT = 512


@dataclass(frozen=True, slots=True)
class LiveObject:
    """An object of the driver that was created and not destroyed.

    Attributes
    ----------
    kind
        Such as "event", "device_memory" or "command_list".
    handle
        Its handle; for memory its address.
    bytes
        Memory that it stands for, 0 for other kinds.
    serial
        Number of its creation, never used twice.
    creator
        Name of the Level Zero entry that created it.
    device
        Index of its device, or None.
    """

    kind: str
    handle: int
    bytes: int
    serial: int
    creator: str
    device: int | None


@dataclass(frozen=True, slots=True)
class ListProgress:
    """How many commands were ``appended`` to a command list, and ``completed``."""

    appended: int
    completed: int


class Gate:
    """The gate of one command list or command queue: closed, it holds the next command.

    Closing counts: a gate that was closed twice must be opened twice. As a context manager it is
    closed inside of the ``with`` block.
    """

    def __init__(self, controls: "Controls", list_handle: int) -> None:
        self._controls = controls
        self.list_handle = list_handle

    def close(self) -> None:
        """Hold the list before its next command; a command that runs already ends.

        Raises
        ------
        InvalidValueError
            If the driver has no such command list or queue, or the list is a regular one.
        """
        self._controls._call("urasync_gate_close", self.list_handle)

    def open(self) -> None:
        """Undo one `close`.

        Raises
        ------
        InvalidOperationError
            If the gate is open.
        """
        self._controls._call("urasync_gate_open", self.list_handle)

    @property
    def depth(self) -> int:
        """How often the gate is closed."""
        depth = ffi.new("uint32_t *")
        self._controls._call("urasync_gate_depth", self.list_handle, depth)
        return int(depth[0])

    def wait_reached(self, timeout_ns: int = INFINITE_NS) -> bool:
        """Wait until the list stands at the closed gate with a command to run.

        False when that did not happen in time.
        """
        return self._controls._wait("urasync_gate_wait_reached", self.list_handle, timeout_ns)

    def __enter__(self) -> Self:
        self.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()


class Controls:
    """The controls of the software driver in this process.

    Parameters
    ----------
    device_index
        The device that methods mean which get no other index.

    Raises
    ------
    DriverNotFoundError
        If the driver was not built.
    """

    def __init__(self, device_index: int = 0) -> None:
        self._device_index = device_index
        self._library: Any = ffi.dlopen(library_path())
        version = self._library.urasync_controls_version()
        if version != _VERSION:
            raise InvalidOperationError(
                f"The software driver's controls have version {version}, but this package needs "
                f"version {_VERSION}; build both from the same source tree."
            )

    # Gates

    def gate(self, list_handle: int) -> Gate:
        """The gate of an immediate command list or a command queue, as it is now."""
        return Gate(self, list_handle)

    def close_gate_of_new_lists(self, device_index: int | None = None) -> None:
        """Let lists and queues that are created on the device from now on begin with a closed gate.

        Counts, as `Gate.close` does; undone by `open_gate_of_new_lists`.
        """
        self._call("urasync_gate_close_new", self._index(device_index))

    def open_gate_of_new_lists(self, device_index: int | None = None) -> None:
        """Undo one `close_gate_of_new_lists`; lists made meanwhile keep their gates as they are."""
        self._call("urasync_gate_open_new", self._index(device_index))

    def open_all_gates(self, device_index: int | None = None) -> None:
        """Open all gates of the device's lists and queues wholly, and lift all their limits."""
        self._call("urasync_gate_open_all", self._index(device_index))

    def limit_gate(self, list_handle: int, number: int | None) -> None:
        """Let only the first ``number`` commands of a list run; None lets all run."""
        self._call("urasync_gate_limit", list_handle, INFINITE_NS if number is None else number)

    # Commands

    def list_progress(self, list_handle: int) -> ListProgress:
        """How far a command list or queue has come."""
        appended = ffi.new("uint64_t *")
        completed = ffi.new("uint64_t *")
        self._call("urasync_list_progress", list_handle, appended, completed)
        return ListProgress(int(appended[0]), int(completed[0]))

    def wait_completed(self, list_handle: int, number: int, timeout_ns: int) -> bool:
        """Wait until the first ``number`` commands of a list are complete; False when too late."""
        return self._wait("urasync_list_wait_completed", list_handle, number, timeout_ns)

    def commands_completed(self) -> int:
        """Number of commands that have completed in this process, over all lists."""
        return int(self._library.urasync_commands_completed())

    def event_serial(self, event_handle: int) -> int | None:
        """Place of the event's last signal in the order of completion; None when not complete."""
        serial = ffi.new("uint64_t *")
        complete = self._wait("urasync_event_serial", event_handle, serial)
        return int(serial[0]) if complete else None

    # The checker

    @property
    def is_checking(self) -> bool:
        """Whether the checker is on, as URASYNC_L0_SOFTWARE_CHECK was 1 at the driver's start."""
        return bool(self._library.urasync_checker_is_on())

    def take_reports(self) -> list[str]:
        """What the checker has reported since the last call, oldest first.

        Of many reports the first ones; the last line then says how many there were.
        """
        count = int(self._library.urasync_checker_report_count())
        reports: list[str] = []
        buffer = ffi.new("char[]", _LONGEST_REPORT)
        for index in range(count):
            if not self._library.urasync_checker_report(index, buffer, _LONGEST_REPORT):
                reports.append(f"{count} reports in all")
                break
            reports.append(_text(buffer))
        self._library.urasync_checker_clear()
        return reports

    def declare_accesses(self, kernel_handle: int, sizes: Sequence[int]) -> None:
        """Declare what launches of a kernel touch from now on: for the checker, and nothing else.

        Without it a launch touches the allocations whole to which its arguments point, and all of
        the kinds of memory that it may reach indirectly. Commands that were launched keep what they
        had.

        Parameters
        ----------
        kernel_handle
            The driver's handle of the kernel.
        sizes
            Of each argument of the kernel the bytes that it uses from that pointer on; 0 of what is
            no pointer, or is not used.

        Raises
        ------
        InvalidValueError
            If the driver has no such kernel, or the kernel has another number of arguments.
        """
        self._call("urasync_kernel_declare", kernel_handle, len(sizes), list(sizes))

    # Failures

    def fail(self, entry: str, nth: int, result: int, times: int = 1) -> None:
        """Let the ``nth`` call of an entry, 1 is the next, and ``times - 1`` after it only fail.

        Parameters
        ----------
        entry
            Name of the entry, such as "zeMemAllocDevice".
        result
            The ze_result_t that these calls return.
        times
            0 means for ever.

        Raises
        ------
        InvalidValueError
            If the driver has no such entry, ``nth`` is 0 or ``result`` is success.
        """
        self._call("urasync_fail", entry.encode(), nth, result, times)

    def clear_failures(self) -> None:
        """Forget all planned failures."""
        self._library.urasync_clear_failures()

    def failures_delivered(self) -> int:
        """Number of calls that were made to fail so far."""
        return int(self._library.urasync_failures_delivered())

    # Slow calls

    def slow_down(self, entry: str, nth: int, most_ns: int = INFINITE_NS) -> None:
        """Let the ``nth`` call of an entry, 1 is the next, wait before it does anything.

        It goes on with `hurry`, or after ``most_ns`` nanoseconds. There is one plan at a time.

        Raises
        ------
        InvalidValueError
            If the driver has no such entry, or ``nth`` is 0.
        """
        self._call("urasync_slow_call", entry.encode(), nth, most_ns)

    def wait_slow(self, timeout_ns: int = INFINITE_NS) -> bool:
        """Wait until a call waits as `slow_down` says; False when none does in time."""
        return self._wait("urasync_slow_call_wait_reached", timeout_ns)

    def hurry(self) -> None:
        """Undo `slow_down`: calls that wait go on."""
        self._library.urasync_slow_call_end()

    # Devices

    def device_count(self) -> int:
        """Number of root devices and sub-devices; 0 before the driver is initialised."""
        return int(self._library.urasync_device_count())

    def set_device_memory(self, device_index: int | None, nbytes: int) -> None:
        """Set the limit of the device's memory; it may lie below what is in use."""
        self._call("urasync_device_memory_set_limit", self._index(device_index), nbytes)

    def device_memory(self, device_index: int | None = None) -> int:
        """Limit of the device's memory in bytes."""
        return self._bytes("urasync_device_memory_limit", device_index)

    def used_device_memory(self, device_index: int | None = None) -> int:
        """Bytes of the device's memory that allocations and physical memory objects take."""
        return self._bytes("urasync_device_memory_used", device_index)

    def free_device_memory(self, device_index: int | None = None) -> int:
        """Bytes of the device's memory that can still be allocated."""
        return self._bytes("urasync_device_memory_free", device_index)

    def resident_bytes(self, device_index: int | None = None) -> int:
        """Bytes that were made resident and not evicted, on one device or over all."""
        if device_index is not None:
            return self._bytes("urasync_device_resident_bytes", device_index)
        return int(self._library.urasync_resident_bytes())

    # Calls

    def call_counts(self) -> dict[str, int]:
        """Calls of each entry that was called since the last reset, by name."""
        counts = (
            (index, int(self._library.urasync_entry_calls(index)))
            for index in range(self._library.urasync_entry_count())
        )
        return {self._entry_name(index): count for index, count in counts if count}

    def calls(self, entry: str) -> int:
        """Calls of one entry since the last reset."""
        count = int(self._library.urasync_calls(entry.encode()))
        if count == INFINITE_NS:
            raise InvalidValueError(f"The software driver has no entry {entry!r}.")
        return count

    def total_calls(self) -> int:
        """Calls of all entries since the last reset."""
        return int(self._library.urasync_total_calls())

    def reset_call_counts(self) -> None:
        """Set all counts of calls to 0."""
        self._library.urasync_reset_call_counts()

    def entries(self) -> dict[str, bool]:
        """Every entry of the driver, and whether it is implemented."""
        return {
            self._entry_name(index): bool(self._library.urasync_entry_implemented(index))
            for index in range(self._library.urasync_entry_count())
        }

    # Live objects

    def live_objects(self) -> dict[str, int]:
        """Number of live objects of every kind."""
        return {
            self._kind_name(kind): int(self._library.urasync_live_count(kind))
            for kind in range(self._library.urasync_object_kind_count())
        }

    def live_table(self) -> list[LiveObject]:
        """All live objects in order of creation."""
        capacity = int(self._library.urasync_live_table(ffi.NULL, 0)) + 64
        while True:
            rows = ffi.new("urasync_live_row[]", capacity)
            count = int(self._library.urasync_live_table(rows, capacity))
            if count <= capacity:
                return [self._live_object(rows[index]) for index in range(count)]
            capacity = count + 64

    def _live_object(self, row: Any) -> LiveObject:
        return LiveObject(
            kind=self._kind_name(row.kind),
            handle=int(row.handle),
            bytes=int(row.bytes),
            serial=int(row.serial),
            creator=_text(row.creator),
            device=None if row.device == _NO_DEVICE else int(row.device),
        )

    def _entry_name(self, index: int) -> str:
        return _text(self._library.urasync_entry_name(index))

    def _kind_name(self, kind: int) -> str:
        return _text(self._library.urasync_object_kind_name(kind))

    def _index(self, device_index: int | None) -> int:
        return self._device_index if device_index is None else device_index

    def _bytes(self, function: str, device_index: int | None) -> int:
        nbytes = ffi.new("uint64_t *")
        self._call(function, self._index(device_index), nbytes)
        return int(nbytes[0])

    def _call(self, function: str, *arguments: Any) -> None:
        answer = getattr(self._library, function)(*arguments)
        if answer != self._library.URASYNC_CONTROL_OK:
            raise self._error(function, answer, arguments)

    def _wait(self, function: str, *arguments: Any) -> bool:
        answer = getattr(self._library, function)(*arguments)
        if answer == self._library.URASYNC_CONTROL_TIMED_OUT:
            return False
        if answer != self._library.URASYNC_CONTROL_OK:
            raise self._error(function, answer, arguments)
        return True

    def _error(self, function: str, answer: int, arguments: tuple[Any, ...]) -> UrError:
        first = arguments[0].decode() if isinstance(arguments[0], bytes) else f"{arguments[0]:#x}"
        library = self._library
        if answer == library.URASYNC_CONTROL_UNKNOWN_HANDLE:
            return InvalidValueError(
                f"The software driver has no live object with the handle {first} that this applies "
                "to.",
                function=function,
            )
        if answer == library.URASYNC_CONTROL_UNKNOWN_ENTRY:
            return InvalidValueError(
                f"The software driver has no entry {first!r}.", function=function
            )
        if answer == library.URASYNC_CONTROL_NOT_CLOSED:
            return InvalidOperationError(f"The gate of {first} is not closed.", function=function)
        shown = ", ".join(str(argument) for argument in arguments)
        if answer == library.URASYNC_CONTROL_NO_MEMORY:
            return UrError(f"The driver has no memory for ({shown}).", function=function)
        return InvalidValueError(f"An argument of ({shown}) is out of range.", function=function)


def _text(characters: Any) -> str:
    text = ffi.string(characters)
    return text.decode() if isinstance(text, bytes) else str(text)
