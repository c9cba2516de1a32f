# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the two adapters offer to the code that they share, and how to find one by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from urasync_l0.result import InvalidValueError

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.device import Device
    from urasync_l0.event_source import EventSource
    from urasync_l0.native_context import NativeContext
    from urasync_l0.platform import Platform
    from urasync_l0.queue import Queue


class Adapter(Protocol):
    """One way to run queues and events over Level Zero."""

    @property
    def name(self) -> str:
        """The name that users choose it by."""

    def create_event_source(
        self, platform: Platform, context: NativeContext, device: Device
    ) -> EventSource:
        """Where the events of a device's queues come from.

        Raises
        ------
        UnsupportedFeatureError
            If the loader or the driver lacks what the adapter needs.
        """

    def create_queue(self, context: Context, device: Device) -> Queue:
        """A new queue on a device of the context."""


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
