# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The adapters by their names: each enters itself here, and contexts find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.result import InvalidValueError

if TYPE_CHECKING:
    from urasync_l0.entry_points import Adapter

_adapters: dict[str, Adapter] = {}


def register(adapter: Adapter) -> Adapter:
    """Make an adapter known by its name."""
    _adapters[adapter.name] = adapter
    return adapter


def adapter_names() -> tuple[str, ...]:
    """The names of the adapters."""
    return tuple(_adapters)


def find_adapter(name: str) -> Adapter:
    """The adapter of a name.

    Raises
    ------
    InvalidValueError
        If there is none of that name.
    """
    try:
        return _adapters[name]
    except KeyError:
        known = " or ".join(repr(known) for known in _adapters)
        raise InvalidValueError(f"There is no adapter {name!r}; it is {known}.") from None
