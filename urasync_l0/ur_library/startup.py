# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Connects a UR adapter library, when it is first called, with the adapter that it offers."""

from __future__ import annotations

import atexit
import threading
import traceback
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from urasync_l0 import last_error, reference_count
from urasync_l0.adapter import find_adapter
from urasync_l0.buffer import Buffer
from urasync_l0.context import Context
from urasync_l0.device import Device
from urasync_l0.entry_points import Adapter
from urasync_l0.enums import StructureType
from urasync_l0.info import InfoOut
from urasync_l0.out import Out
from urasync_l0.platform import Platform
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.program import Kernel, Program
from urasync_l0.queue import Queue
from urasync_l0.recorded_event import Event
from urasync_l0.result import (
    InvalidEventWaitListError,
    InvalidNullPointerError,
    InvalidValueError,
    UrError,
    UrResult,
)
from urasync_l0.ur_library.answers import encode
from urasync_l0.ur_library.entry_glue import make_functions
from urasync_l0.ur_library.handle_table import Cells, HandleTable
from urasync_l0.ur_library.structures import StructureReader, constants, kernel_arguments
from urasync_l0.usm_pool import Pool

_ERROR_LEVEL = 3  # UR_LOGGER_LEVEL_ERROR


class Connection:
    """A library with its adapter: what the functions behind the entries have in common.

    Parameters
    ----------
    ffi, lib
        Of the library.
    adapter
        What the entries call.
    """

    def __init__(self, ffi: Any, lib: Any, adapter: Adapter) -> None:
        self.ffi = ffi
        self.lib = lib
        self.adapter = adapter
        self._messages = threading.local()
        self._texts: dict[str, Any] = {}
        cells = Cells(self._allocate_cells)
        self.tables = {
            "adapter": HandleTable("adapter", UrResult.INVALID_VALUE, cells),
            "platform": HandleTable("platform", UrResult.INVALID_PLATFORM, cells),
            "device": HandleTable("device", UrResult.INVALID_DEVICE, cells),
            "context": HandleTable(
                "context", UrResult.INVALID_CONTEXT, cells, lambda context: context.is_closed
            ),
            "queue": HandleTable(
                "queue", UrResult.INVALID_QUEUE, cells, lambda queue: queue.is_closed
            ),
            "event": HandleTable(
                "event", UrResult.INVALID_EVENT, cells, lambda event: event.is_released
            ),
            "program": HandleTable(
                "program", UrResult.INVALID_PROGRAM, cells, lambda program: program.is_closed
            ),
            "kernel": HandleTable(
                "kernel", UrResult.INVALID_KERNEL, cells, lambda kernel: kernel.is_closed
            ),
            "mem": HandleTable(
                "memory object", UrResult.INVALID_MEM_OBJECT, cells, lambda mem: mem.is_closed
            ),
            "usm_pool": HandleTable(
                "pool", UrResult.INVALID_VALUE, cells, lambda pool: pool.core.is_closed
            ),
        }
        self._classes: tuple[tuple[type, str], ...] = (
            (Device, "device"),
            (Context, "context"),
            (Queue, "queue"),
            (Pool, "usm_pool"),
            (Buffer, "mem"),
            (Program, "program"),
            (Kernel, "kernel"),
            (Platform, "platform"),
            (Event, "event"),
        )
        self._released_contexts: set[int] = set()
        self._are_released_at_exit: set[str] = set()

    def _allocate_cells(self, count: int) -> tuple[int, object]:
        cells = self.ffi.new("void *[]", [self.lib.function_table_address] * count)
        return int(self.ffi.cast("uintptr_t", cells)), cells

    def names(self) -> dict[str, object]:
        """What the texts of the functions refer to."""
        return {
            **{f"{kind}_table": table for kind, table in self.tables.items()},
            **{stype.name: int(stype) for stype in StructureType},
            "Out": Out,
            "InfoOut": InfoOut,
            "constants_of": lambda first, count: constants(self.ffi, first, count),
            "content": lambda pointer, size: bytes(self.ffi.buffer(pointer, size)),
            "failed": self.failed,
            "message_text": self.message_text,
            "handles": self.handles,
            "kernel_arguments": lambda first, count: kernel_arguments(
                self.ffi, first, count, self.tables["mem"].__getitem__
            ),
            "lasting_text": self.lasting_text,
            "read_size": self.read_size,
            "release_at_exit": self.release_at_exit,
            "released": self.released,
            "structure": StructureReader(self.ffi, self.tables["device"].__getitem__),
            "targets": self.targets,
            "text": self.text,
            "ur_context_extended_deleter_t": lambda function, _: function or None,
            "ur_event_callback_t": self.event_callback,
            "wait_list": self.wait_list,
            "write_handles": self.write_handles,
            "write_value": self.write_value,
        }

    def connect_usual_calls(self) -> None:
        """Let C do the usual allocations, frees and events."""
        events = self.tables["event"]
        self._for_usual_calls = (
            *(self.tables["queue"], self.tables["usm_pool"], events, events.handles, events.cells),
            *(self._released_contexts, self.failed),
        )
        self.lib.connect_usual_calls(id(self._for_usual_calls))

    # -- what clients give -------------------------------------------------------------------------

    def handles(self, table: HandleTable, pointer: Any, count: int) -> list[Any]:
        """The objects of an array of handles."""
        return [table[pointer[i]] for i in range(count)]

    def wait_list(self, table: HandleTable, pointer: Any, count: int) -> list[Any]:
        """The events of an array; one that is none has a result of its own."""
        try:
            return [table[pointer[i]] for i in range(count)]
        except UrError as error:
            raise InvalidEventWaitListError(f"In the wait list: {error.message}") from None

    def text(self, pointer: Any) -> str | None:
        """The string at a pointer, None if that is null."""
        if not pointer:
            return None
        content = self.ffi.string(pointer)
        try:
            return str(content, "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidValueError(f"The text {content!r} is not UTF-8: {error.reason}.") from None

    def targets(self, binaries: Any, count: int) -> list[str]:
        """What each binary of an array was made for."""
        found = [self.text(binaries[i].pDeviceTargetSpec) for i in range(count)]
        named = [each for each in found if each is not None]
        if len(named) < count:
            raise InvalidNullPointerError(f"Binary {found.index(None)} has no target.")
        return named

    def read_size(self, pointer: Any, size: int) -> int | None:
        """The number at a pointer; who gives less room than it needs gets the error for that."""
        if not pointer:
            return None
        return int.from_bytes(self.ffi.buffer(pointer, min(size, 8)), "little")

    def event_callback(self, function: Any, event: int) -> Callable[[Any, int, Any], object] | None:
        """A client's function for an event, called with the handle that the client has."""
        if not function:
            return None
        handle = self.ffi.cast("ur_event_handle_t", event)
        return lambda _, status, user_data: function(handle, int(status), user_data)

    # -- what clients get --------------------------------------------------------------------------

    def handle(self, item: Any) -> int:
        """The handle of any object; none for one that is over, which no client could release."""
        if item is None:
            return 0
        kinds = (kind for class_, kind in self._classes if isinstance(item, class_))
        table = self.tables[next(kinds, "adapter")]
        return 0 if table.is_over(item) else table.handle(item)

    def write_handles(self, pointer: Any, table: HandleTable, items: tuple[Any, ...]) -> None:
        """Write the handles of objects."""
        for i, item in enumerate(items):
            pointer[i] = table.handle(item)

    def write_value(self, pointer: Any, out: InfoOut) -> None:
        """Write the value of a property."""
        content = encode(out.type, out.value, self.handle)
        self.ffi.memmove(pointer, content, len(content))

    def message_text(self, text: str) -> Any:
        """A string in C that stays until this thread asks for the next."""
        self._messages.last = self.ffi.new("char[]", text.encode())
        return self._messages.last

    def lasting_text(self, text: str) -> Any:
        """A string in C that stays; for texts of which there are few."""
        if text not in self._texts:
            self._texts.setdefault(text, self.ffi.new("char[]", text.encode()))
        return self._texts[text]

    # -- the end of things -------------------------------------------------------------------------

    def released(self, table: HandleTable, handle: int) -> None:
        """Forget a handle, if nothing can be done with its object any more."""
        contexts, pools = self.tables["context"], self.tables["usm_pool"]
        is_over = table.forget_if_over(handle)
        has_ended = is_over and table is contexts
        if not is_over and table is contexts and not reference_count.count(contexts[handle]):
            self._released_contexts.add(handle)
        # A context stays for as long as a queue, pool, event or allocation of it does.
        for each in list(self._released_contexts):
            if contexts.forget_if_over(each):
                self._released_contexts.discard(each)
                has_ended = True
        if has_ended:  # its default pools end with it
            for pool in [pool for pool in list(pools) if pool]:
                pools.forget_if_over(pool)

    def release_at_exit(self, entry: str) -> None:
        """See that everything is released before what an entry may have loaded is gone: the driver,
        and its compiler, which it loads for the first program."""
        if entry not in self._are_released_at_exit:
            self._are_released_at_exit.add(entry)
            self.lib.release_at_exit()

    def failed(self, entry: str, error: BaseException) -> int:
        """Keep and log an error; the code that stands for it."""
        if not isinstance(error, UrError):
            code = UrResult.UNKNOWN
            if isinstance(error, MemoryError):
                code = UrResult.OUT_OF_HOST_MEMORY
            trace = "".join(traceback.format_exception(error))
            error = UrError(f"{type(error).__name__} in Python: {trace}", code=code)
        last_error.record(error)
        if self.lib.is_logged(_ERROR_LEVEL):
            self.lib.write_log(_ERROR_LEVEL, f"{entry}: {error}".encode())
        return int(error.code)


def start(ffi: Any, lib: Any, adapter_name: str) -> None:
    """Let the entries of a library call an adapter."""
    connection = Connection(ffi, lib, find_adapter(adapter_name))
    header = files("urasync_l0.ur_library").joinpath("include/entries.h").read_text("utf-8")
    for name, function in make_functions(header, connection.adapter, connection.names()).items():
        error = int(UrResult.UNKNOWN)
        if name.startswith("plain_"):
            error = 2 * error + 1
        ffi.def_extern(name=name, error=error)(function)
    if IS_COMPILED:
        connection.connect_usual_calls()
    # Python programs end Python before the libraries; no call must come in between. This is
    # registered after the package's own, hence called before.
    atexit.register(lib.end_calls)
