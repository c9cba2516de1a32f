# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a device's memory is resident beside the device itself: on the peers that may use it.

Level Zero lets a device use another's memory only while that memory is resident on it. So what the
device gives to the pools is noted here, each allocation and each mapped page as one entry, and is
made resident on every peer that was granted access, in one call each. Sizes are bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from urasync_l0.device import Device
from urasync_l0.device_loss import DeviceLoss
from urasync_l0.result import DeviceLostError, UnsupportedFeatureError, UrError, UrResult
from urasync_l0.ze import context as ze_context
from urasync_l0.ze.handles import ContextHandle

Call = Callable[[int, int], None]


class Residency:
    """The memory of one device in one context. Any thread may call.

    Its lock is held during the calls that make memory resident or evict it, so that memory that
    comes or goes at the same time meets each peer exactly once. It is no pool's lock.
    """

    def __init__(self, context: ContextHandle, loss: DeviceLoss) -> None:
        self._context = context
        self._loss = loss
        self._lock = threading.Lock()
        self._held: dict[int, int] = {}
        self._peers: dict[int, Device] = {}

    def has(self, peer: Device) -> bool:
        """Whether a device has access to the memory."""
        return peer.native_value in self._peers

    def enter(self, address: int, size: int) -> None:
        """Note new memory, and make it resident on all peers; on failure on none."""
        with self._lock:
            if self._peers:
                self._on_all_peers(self._make_resident, self._evict, address, size)
            self._held[address] = size

    def stay(self, address: int, size: int) -> None:
        """Note memory again that `leave` forgot and that did not go after all.

        Where a driver that refused that now refuses residency too, the memory is noted all the
        same: it is still there, and has to go one day.
        """
        with self._lock:
            self._held[address] = size
            for peer in self._peers.values():
                _attempt(self._make_resident(peer), [(address, size)])

    def leave(self, address: int, *, evict: bool) -> int:
        """Forget memory that is about to go, and return its size.

        Freeing an allocation ends its residency; a mapped page is evicted before it is unmapped.
        On failure everything is as before.
        """
        with self._lock:
            size = self._held[address]
            if evict:
                self._on_all_peers(self._evict, self._make_resident, address, size)
            del self._held[address]
            return size

    def grant(self, peer: Device) -> None:
        """Make all memory, also what comes later, resident on a device; on failure none of it."""
        with self._lock:
            if peer.native_value in self._peers:
                return
            _for_all(self._make_resident(peer), self._evict(peer), list(self._held.items()))
            self._peers[peer.native_value] = peer

    def revoke(self, peer: Device) -> None:
        """Evict all memory from a device; on failure none of it."""
        with self._lock:
            if peer.native_value not in self._peers:
                return
            _for_all(self._evict(peer), self._make_resident(peer), list(self._held.items()))
            del self._peers[peer.native_value]

    def _on_all_peers(
        self,
        call: Callable[[Device], Call],
        undo: Callable[[Device], Call],
        address: int,
        size: int,
    ) -> None:
        """Make a call for each peer; on failure undo those before. The caller holds the lock."""
        done: list[Device] = []
        try:
            for peer in self._peers.values():
                call(peer)(address, size)
                done.append(peer)
        except BaseException:
            for peer in done:
                _attempt(undo(peer), [(address, size)])
            raise

    def _make_resident(self, peer: Device) -> Call:
        def call(address: int, size: int) -> None:
            try:
                with self._loss:
                    ze_context.make_memory_resident(self._context, peer.handle, address, size)
            except UrError as error:
                if error.code not in _REFUSALS:
                    raise
                raise UnsupportedFeatureError(
                    f"The driver does not let {peer!r} use {size} bytes at 0x{address:x} of "
                    "another device. If the memory is mapped page by page, the driver may know "
                    "residency of allocations only: make the context with "
                    "expanding_segments='off', or set URASYNC_L0_EXPANDING_SEGMENTS=off. "
                    f"The driver's answer: {error}",
                    function=error.function,
                ) from error

        return call

    def _evict(self, peer: Device) -> Call:
        def call(address: int, size: int) -> None:
            with self._loss:
                ze_context.evict_memory(self._context, peer.handle, address, size)

        return call


_REFUSALS = frozenset(
    {
        UrResult.INVALID_ARGUMENT,
        UrResult.INVALID_VALUE,
        UrResult.INVALID_SIZE,
        UrResult.UNSUPPORTED_FEATURE,
    }
)
"""Answers of a driver that does not do it for this memory; others say that it failed this time."""


def _for_all(call: Call, undo: Call, memory: list[tuple[int, int]]) -> None:
    done: list[tuple[int, int]] = []
    try:
        for address, size in memory:
            call(address, size)
            done.append((address, size))
    except DeviceLostError:
        raise
    except BaseException:
        _attempt(undo, done)
        raise


def _attempt(undo: Call, memory: Iterable[tuple[int, int]]) -> None:
    """Take back what was done; what began it matters more than an error here."""
    for address, size in memory:
        with suppress(UrError):
            undo(address, size)
