# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of the adapter itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0 import last_error, reference_count
from urasync_l0.entry_points._handles import handle, pointer
from urasync_l0.enums import AdapterInfo, Backend
from urasync_l0.info import ENUMERATION, UINT32, InfoTable, Property
from urasync_l0.not_copied import not_copied
from urasync_l0.out import check_list, write_list
from urasync_l0.result import UrResult

if TYPE_CHECKING:
    from urasync_l0.entry_points.base import Adapter
    from urasync_l0.out import Out

_VERSIONS = {"legacy": 1, "v2": 2}
"""What distinguishes the two adapters for a UR client: the version that each reports."""

_INFO: InfoTable[Adapter] = InfoTable(
    {
        AdapterInfo.BACKEND: Property(ENUMERATION, lambda adapter: Backend.LEVEL_ZERO),
        AdapterInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        AdapterInfo.VERSION: Property(UINT32, lambda adapter: _VERSIONS[adapter.name]),
    }
)


class AdapterEntryPoints:
    """``urAdapter…``; the adapter that they tell of is the object itself."""

    name: str

    __reduce_ex__ = not_copied("Send its name, and use find_adapter there.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def urAdapterGet(
        self,
        num_entries: int,
        adapters: Out[tuple[Adapter, ...]] | None,
        num_adapters: Out[int] | None,
    ) -> None:
        """This adapter, as a list of one. Adds a reference when it is given."""
        check_list(num_entries, adapters, num_adapters)
        this: Adapter = self  # type: ignore[assignment]  # completed by the adapters' classes
        for each in write_list(num_entries, adapters, num_adapters, [this]):
            reference_count.hand_out(each)

    def urAdapterRetain(self, adapter: Adapter | None) -> None:
        """Add a reference."""
        reference_count.retain(handle(adapter, "adapter"))

    def urAdapterRelease(self, adapter: Adapter | None) -> None:
        """Give a reference back; the adapter itself stays."""
        reference_count.release(handle(adapter, "adapter"))

    def urAdapterGetInfo(
        self,
        adapter: Adapter | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """An `AdapterInfo`."""
        adapter = handle(adapter, "adapter")
        _INFO.answer(adapter, prop_name, prop_size, prop_value, prop_size_ret)

    def urAdapterGetLastError(
        self, adapter: Adapter | None, message: Out[str] | None, error: Out[int] | None
    ) -> None:
        """The message and the result of this thread's last failed call through a C entry."""
        handle(adapter, "adapter")
        message = pointer(message, "message")
        error = pointer(error, "error")
        last = last_error.last()
        message.value = "" if last is None else last.message
        error.value = UrResult.SUCCESS if last is None else last.code
