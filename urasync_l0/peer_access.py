# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peer access: commands of one device that use the device memory of another.

Nobody has it by default. It is granted to a device for all device memory of a peer: by one context
(`PeerContext`) or, under the UR names, in all contexts of an adapter (`PeerGrants`). Shared memory
and host memory need no grant.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from weakref import WeakSet

from urasync_l0.device import Device
from urasync_l0.enums import UsmType
from urasync_l0.native_context import NativeContext
from urasync_l0.residency import Residency
from urasync_l0.result import InvalidDeviceError, InvalidOperationError, UrError
from urasync_l0.usm_memory import residency_of


def check_grant(device: Device, peer: Device) -> None:
    """Raise unless a device can be given access to a peer's memory; asks the driver once.

    Raises
    ------
    InvalidDeviceError
        If both have the same memory, or belong to different drivers.
    InvalidOperationError
        If the device cannot reach the peer's memory.
    """
    if device.native_value == peer.native_value:
        raise InvalidDeviceError(f"{device!r} needs no grant for memory of its own.")
    if device.platform is not peer.platform:
        raise InvalidDeviceError(f"{device!r} and {peer!r} belong to different drivers.")
    if not device.can_access_peer(peer):
        raise InvalidOperationError(
            f"{device!r} cannot reach the memory of {peer!r}, as the driver says; copy through "
            "host memory instead."
        )


class PeerContext(ABC):
    """A context as far as its devices use each other's memory; `Context` adds the rest."""

    native: NativeContext
    devices: Sequence[Device]

    @abstractmethod
    def member(self, device: Device | int | None) -> Device:
        """A device of the context, by default the first, or the one at a place."""

    @abstractmethod
    def position(self, device: Device | int | None) -> int:
        """Where a device's memory stands among those of the context."""

    def can_access_peer(self, device: Device | int, peer: Device | int) -> bool:
        """Whether commands of a device could use device memory of another one, if granted.

        Raises
        ------
        InvalidDeviceError
            If the context does not have one of the devices.
        """
        return self.member(device).can_access_peer(self.member(peer))

    def has_peer_access(self, device: Device | int, peer: Device | int) -> bool:
        """Whether commands of a device may use the device memory of another one now."""
        accessing = self.member(device)
        owner = self.member(peer)
        if accessing.native_value == owner.native_value:
            return True
        return self._memory_of(owner).has(accessing)

    def enable_peer_access(self, device: Device | int, peer: Device | int) -> None:
        """Let commands of a device use the device memory of another one, also what comes later.

        What the pools of the peer hold is made resident on the device, one call for each
        allocation or mapped page; if one fails, nothing has changed. Orders nothing: commands of
        the two devices' queues still need events. Any thread may call.

        Raises
        ------
        InvalidDeviceError
            If the context does not have one of the devices, or both have the same memory.
        InvalidOperationError
            If the device cannot reach the peer's memory, or has access already.
        UnsupportedFeatureError
            If the driver refuses the memory, such as mapped pages; the message says what to do.
        """
        if self.native.attention:
            self.native.attend()
        accessing = self.member(device)
        owner = self.member(peer)
        with self.native.loss:
            check_grant(accessing, owner)
        memory = self._memory_of(owner)
        if memory.has(accessing):
            raise InvalidOperationError(f"{accessing!r} has access to {owner!r} already.")
        memory.grant(accessing)

    def disable_peer_access(self, device: Device | int, peer: Device | int) -> None:
        """Take access back: the peer's memory is evicted from the device.

        Commands that use it must be complete. If a call fails, nothing has changed.

        Raises
        ------
        InvalidDeviceError
            If the context does not have one of the devices.
        InvalidOperationError
            If the device has no access.
        """
        if self.native.attention:
            self.native.attend()
        accessing = self.member(device)
        owner = self.member(peer)
        memory = self._memory_of(owner)
        if not memory.has(accessing):
            raise InvalidOperationError(f"{accessing!r} has no access to {owner!r}.")
        memory.revoke(accessing)

    def _memory_of(self, device: Device) -> Residency:
        return residency_of(self.native.sources[UsmType.DEVICE, self.position(device)])


class PeerGrants:
    """Peer access in all contexts of one adapter, those of today and those to come.

    Taking a grant back takes access from every context, also from one that got it by itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._granted: dict[tuple[int, int], tuple[Device, Device]] = {}
        self._contexts: WeakSet[PeerContext] = WeakSet()

    def join(self, context: PeerContext) -> None:
        """Give a new context, which holds no memory yet, what was granted."""
        with self._lock:
            for device, peer in self._granted.values():
                memory = _memory(context, device, peer)
                if memory is not None:
                    memory.grant(device)
            self._contexts.add(context)

    def grant(self, device: Device, peer: Device) -> None:
        """Grant access everywhere, or, if a call fails, nowhere.

        Raises
        ------
        InvalidDeviceError, InvalidOperationError
            As `check_grant`, and if access is granted already.
        """
        with ExitStack() as losses:
            for context in list(self._contexts):
                if _memory(context, device, peer) is not None:
                    losses.enter_context(context.native.loss)
            check_grant(device, peer)
        key = device.native_value, peer.native_value
        with self._lock:
            if key in self._granted:
                raise InvalidOperationError(f"{device!r} has access to {peer!r} already.")
            without = [each for each in self._memories(device, peer) if not each.has(device)]
            _everywhere(without, device, Residency.grant, Residency.revoke)
            self._granted[key] = device, peer

    def revoke(self, device: Device, peer: Device) -> None:
        """Take access back everywhere, or, if a call fails, nowhere.

        Raises
        ------
        InvalidOperationError
            If access is not granted.
        """
        key = device.native_value, peer.native_value
        with self._lock:
            if key not in self._granted:
                raise InvalidOperationError(f"{device!r} has no access to {peer!r}.")
            having = [each for each in self._memories(device, peer) if each.has(device)]
            _everywhere(having, device, Residency.revoke, Residency.grant)
            del self._granted[key]

    def _memories(self, device: Device, peer: Device) -> list[Residency]:
        found = (_memory(context, device, peer) for context in list(self._contexts))
        return [memory for memory in found if memory is not None]


Change = Callable[[Residency, Device], None]


def _everywhere(memories: list[Residency], device: Device, change: Change, undo: Change) -> None:
    """Change all, or, if a call fails, none."""
    done: list[Residency] = []
    try:
        for memory in memories:
            change(memory, device)
            done.append(memory)
    except BaseException:
        for memory in done:
            with suppress(UrError):  # what failed first matters more
                undo(memory, device)
        raise


_grants: dict[str, PeerGrants] = {}
_grants_lock = threading.Lock()


def grants_of(adapter_name: str) -> PeerGrants:
    """The grants of an adapter."""
    with _grants_lock:
        return _grants.setdefault(adapter_name, PeerGrants())


def _memory(context: PeerContext, device: Device, peer: Device) -> Residency | None:
    """The peer's memory, if the context can be used and has both devices."""
    values = {each.native_value: each for each in context.native.devices}
    native = context.native
    if native.is_closed or native.lost is not None or device.native_value not in values:
        return None
    owner = values.get(peer.native_value)
    return None if owner is None else context._memory_of(owner)
