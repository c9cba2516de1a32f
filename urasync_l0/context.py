# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A context: the adapter, the devices, their pools, and the end of it all."""

from __future__ import annotations

import operator
import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from urasync_l0 import loggers
from urasync_l0.adapter import find_adapter
from urasync_l0.allocation import Allocation
from urasync_l0.argument import checked_instance
from urasync_l0.current_pool import CurrentPool
from urasync_l0.device import Device, distinct_handles, memory_position, with_parts
from urasync_l0.device_loss import DeviceLoss
from urasync_l0.enums import NO_POOL_FLAGS, UsmPoolFlag, UsmType
from urasync_l0.native_context import (
    Finalizer,
    NativeContext,
    native_shares,
)
from urasync_l0.not_copied import not_copied
from urasync_l0.open_contexts import note_closed, note_open, open_contexts
from urasync_l0.peer_access import PeerContext, grants_of
from urasync_l0.platform import default_platform
from urasync_l0.pool import GRANULE, HeapKey, HeapSource, ReusePolicy, UserMemory
from urasync_l0.pool import Pool as PoolCore
from urasync_l0.program import Program
from urasync_l0.queue_context import QueueContext
from urasync_l0.result import (
    InvalidDeviceError,
    InvalidMemObjectError,
    InvalidValueError,
    UrError,
)
from urasync_l0.timeout import checked_timeout
from urasync_l0.usm_context import UsmContext
from urasync_l0.usm_memory import (
    HOST_INDEX,
    ExpandingSegments,
    choose_expanding_segments,
    heap_sources,
)
from urasync_l0.usm_pool import Pool, checked_size
from urasync_l0.wording import counted
from urasync_l0.ze import context as ze_context
from urasync_l0.ze import loader
from urasync_l0.ze.handles import ContextHandle, handle_value
from urasync_l0.ze.loader import DriverName

DROPPED_TIMEOUT_NS = 10_000_000
"""How long, in nanoseconds, each queue of a dropped context gets to complete; an idle one needs a
part of that, and a busy one is left for later."""


class Context(QueueContext, UsmContext, PeerContext):
    """Devices with their pools, and the queues on them. Any thread may use it. Sizes are bytes.

    Parameters
    ----------
    adapter
        "v2" (counter-based events) or "legacy" (events of pools).
    driver
        "system" or "software"; None for the process's earlier choice, else URASYNC_L0_DRIVER, else
        the system's. A process has one driver.
    devices
        Devices of one platform, sub-devices and compute slices too, or numbers of root devices;
        None for all root devices. Their parts can be used too, as devices of their own.
    expanding_segments
        Whether device memory is mapped page by page: "on", "off", or "auto" for where other
        libraries know such memory too. None for URASYNC_L0_EXPANDING_SEGMENTS, else "auto". Where
        the driver cannot, pools use separate allocations.
    native_handle
        A native context of the devices' driver to work in; None for a new one. What is no context
        cannot be told from one, and does harm in the driver.
    is_native_handle_owned
        Whether closing destroys the native context that was given. That of a context of ours is
        destroyed with the last context in it, whether owned or not.

    Raises
    ------
    LoaderNotFoundError, LoaderTooOldError, DriverNotFoundError, DeviceNotFoundError
        If Level Zero cannot be used; the message says what to install or set.
    InvalidOperationError
        If the process uses another driver already.
    InvalidValueError
        If a name is unknown.
    InvalidDeviceError
        If the platform does not have one of the devices.
    UnsupportedFeatureError
        If the loader or the driver lacks what the adapter needs.
    """

    def __init__(
        self,
        adapter: str = "v2",
        driver: DriverName | None = None,
        devices: Iterable[Device | int] | None = None,
        *,
        expanding_segments: ExpandingSegments | None = None,
        native_handle: ContextHandle | None = None,
        is_native_handle_owned: bool = False,
    ) -> None:
        self._adapter = find_adapter(adapter)
        expanding = choose_expanding_segments(expanding_segments)
        loader.choose_driver(driver)
        self.driver_name: DriverName = loader.initialise().name
        _close_dropped()
        self.devices = _chosen(devices)
        self.platform = self.devices[0].platform
        handle = native_handle or ze_context.create(
            self.platform.handle, distinct_handles(self.devices)
        )
        try:
            loss = DeviceLoss()
            places = with_parts(self.devices)
            sources = heap_sources(handle, places, expanding, loss)
            native = self.native = NativeContext(
                handle,
                places,
                sources,
                partial(self._adapter.create_event_source, self.platform),
                loss,
            )
            native.names = self._adapter.name, self.driver_name
            native.prepare_events()
        except BaseException:
            if native_handle is None:
                # What failed first matters more.
                with suppress(UrError):
                    ze_context.destroy(handle)
            raise
        value = handle_value(handle)
        if native_handle is None:
            native_shares.own(value, None)
            native.is_handle_owned = True
        else:
            native.is_handle_owned = native_shares.adopt(
                value, None, is_owned=is_native_handle_owned
            )
        self.pools_of_cores = WeakValueDictionary()
        self._preparing = {}
        self._preparing_lock = threading.Lock()
        self.noted_devices = {}
        self.current_pools = {}
        self._current_pools_lock = threading.Lock()
        for device in places:
            self.current_of(device)
        self.host_pool = self._make_pool("host pool", None, {(UsmType.HOST, HOST_INDEX)})
        finalizer = _ContextFinalizer(self, _dropped.append)
        finalizer.native = native
        native.watch(finalizer)
        self._finalizer = finalizer
        note_open(native)
        grants_of(self._adapter.name).join(self)
        loggers.CONTEXT.debug("Opened %r", self)

    def __repr__(self) -> str:
        state = ", closed" if self.native.is_closed else ""
        return (
            f"Context({self.adapter_name} on the {self.driver_name} driver, "
            f"{counted(len(self.devices), 'device')}, "
            f"{counted(len(self.native.lists), 'queue')}{state})"
        )

    @property
    def adapter_name(self) -> str:
        """The adapter's name."""
        return self._adapter.name

    @property
    def is_closed(self) -> bool:
        """Whether the context was closed."""
        return self.native.is_closed

    def has_expanding_segments(self, device: Device | int | None = None) -> bool:
        """Whether the memory of a device, by default the first, is mapped page by page."""
        key = (UsmType.DEVICE, self.position(device))
        return self.native.sources[key].virtual is not None

    # -- pools -------------------------------------------------------------------------------------

    def default_pool(self, device: Device | int | None = None) -> Pool:
        """The pool that a device, by default the first, always has."""
        return self.current_of(self.member(device)).default

    def create_program(
        self, spirv: bytes, options: str = "", *, constants: Mapping[int, Any] | None = None
    ) -> Program:
        """A program in SPIR-V, compiled for all devices of the context.

        Parameters
        ----------
        options
            What the driver's compiler shall do, such as ``"-ze-opt-disable"``.
        constants
            Values of specialisation constants, as `Program.set_constants` takes them; the others
            keep those that the program says.

        Raises
        ------
        InvalidValueError
            If it has no bytes, or the constants are not those of the program.
        UrError
            With PROGRAM_BUILD_FAILURE if it does not compile; the message says why.
        """
        program = Program(self, spirv)
        if constants is not None:
            program.set_constants(constants)
        program.build(options)
        return program

    def create_pool(
        self,
        device: Device | int | None = None,
        *,
        release_threshold: int = 0,
        maximum_size: int = 0,
        flags: UsmPoolFlag = NO_POOL_FLAGS,
        maximum_pooled: int | None = None,
        minimum_driver_allocation: int = 0,
        policy: ReusePolicy | None = None,
    ) -> Pool:
        """A new pool.

        Parameters
        ----------
        device
            The device whose device and shared memory it gives; None for all kinds of memory on all
            devices of the context.
        release_threshold
            Bytes that it keeps at a synchronisation; `KEEP_EVERYTHING` for all.
        maximum_size
            Limit in bytes on the driver memory that it holds; 0 is no limit. With one that is no
            multiple of 2 MiB the pool uses separate allocations, not pages.
        flags
            ``ZERO_INITIALIZE_BLOCK``: every allocation is zero before the work that comes after it.
            ``READ_ONLY_EXP``: kernels only read the memory; given to the driver as advice for
            shared memory, which is the kind that takes advice. ``USE_NATIVE_MEMORY_POOL_EXP``:
            accepted; Level Zero has no pools of its own.
        maximum_pooled
            Allocations of more bytes get driver memory of their own, which does not stay in the
            pool when they are freed; None for no such limit.
        minimum_driver_allocation
            The least that the pool asks the driver for at a time, in bytes.
        policy
            Which ways of reuse it may take; None for all.

        Raises
        ------
        InvalidDeviceError
            If the context does not have the device.
        InvalidValueError
            If a size is negative or above 2**64 - 1.
        """
        if self.native.attention:
            self.native.attend()
        checked_instance("flags", flags, UsmPoolFlag)
        checked_size("release_threshold", release_threshold)
        checked_size("maximum_size", maximum_size)
        checked_size("minimum_driver_allocation", minimum_driver_allocation)
        if maximum_pooled is not None:
            checked_size("maximum_pooled", maximum_pooled)
        if policy is not None:
            checked_instance("policy", policy, ReusePolicy)
        if device is None:
            chosen = None
            name = "pool of the context"
            keys = set(self.native.sources)
        else:
            chosen = self.member(device)
            position = self.position(chosen)
            name = f"pool of device {chosen.path}"
            keys = {(UsmType.DEVICE, position), (UsmType.SHARED, position)}
        sources = {
            key: replace(self.native.sources[key], minimum=minimum_driver_allocation)
            for key in keys
        }
        for key, source in sources.items():
            if maximum_size % source.step:  # pages would leave a part of such a limit unused
                sources[key] = replace(source, virtual=None)
        core = PoolCore(
            self.native.registry,
            sources,
            name=name,
            release_threshold=release_threshold,
            maximum_size=maximum_size,
            maximum_pooled=maximum_pooled,
            policy=policy,
        )
        pool = Pool(self, core, chosen, frozenset(keys), is_default=False, flags=flags)
        loggers.POOL.debug("Made %r", pool)
        return pool

    def create_pool_in(
        self,
        buffer: Allocation | int,
        nbytes: int | None = None,
        *,
        flags: UsmPoolFlag = NO_POOL_FLAGS,
    ) -> Pool:
        """A new pool inside an allocation: it hands out the allocation's memory and no other.

        The pool never grows and never frees the memory. The caller keeps the allocation until
        everything from the pool is freed and complete; what used it before must be complete. The
        first 256 bytes stay unused, so that an address names one allocation.

        Parameters
        ----------
        buffer
            The allocation, or an address inside one, a multiple of 256.
        nbytes
            How many bytes from there the pool gets; None for all.
        flags
            As in `create_pool`.

        Raises
        ------
        InvalidMemObjectError
            If the allocation is freed already, or the address was given by no pool of the context.
        InvalidValueError
            If the allocation belongs to another context, if it has fewer bytes than the pool shall
            get, or if those are fewer than 512.
        """
        if self.native.attention:
            self.native.attend()
        if isinstance(buffer, Allocation):
            buffer.require_live()
            if buffer.context is not self:
                raise InvalidValueError(f"{buffer!r} belongs to another context.")
            start = buffer.ptr
        else:
            start = operator.index(buffer)
        found = self.find_allocation(start)
        if found is None:
            raise InvalidMemObjectError(f"{start:#x} is not within an allocation of {self!r}.")
        there = found.base + found.nbytes - start
        size = there if nbytes is None else checked_size("nbytes", nbytes)
        if size < 2 * GRANULE:
            raise InvalidValueError(
                f"{size} bytes are too small for a pool: {2 * GRANULE} bytes at least."
            )
        if start % GRANULE or size > there:
            raise InvalidValueError(
                f"A pool of {size} bytes at {start:#x} does not fit in the {there} bytes that the "
                f"allocation has from there, or the address is no multiple of {GRANULE}."
            )
        device = found.device
        key = (found.kind, HOST_INDEX if device is None else self.position(device))
        room = size - GRANULE
        source = HeapSource(UserMemory(room), buffer=(start + GRANULE, room))
        core = PoolCore(self.native.registry, {key: source}, name=f"pool in {size} bytes")
        pool = Pool(self, core, device, frozenset({key}), is_default=False, flags=flags)
        pool.buffer = buffer
        return pool

    def current_of(self, device: Device) -> CurrentPool:
        """What serves a device of the context; a compute slice gets it when it is first asked."""
        current = self.current_pools.get(device)
        if current is None:
            with self._current_pools_lock:
                current = self.current_pools.get(device)
                if current is None:
                    position = memory_position(self.native.devices, device)
                    keys = {(UsmType.DEVICE, position), (UsmType.SHARED, position)}
                    name = f"default pool of device {device.path}"
                    current = CurrentPool(self._make_pool(name, device, keys))
                    self.current_pools[device] = current
        return current

    def _make_pool(
        self,
        name: str,
        device: Device | None,
        keys: set[HeapKey],
    ) -> Pool:
        sources = {key: self.native.sources[key] for key in keys}
        core = PoolCore(self.native.registry, sources, name=name)
        return Pool(self, core, device, frozenset(keys), is_default=True)

    def position(self, device: Device | int | None) -> int:
        """Where a device's memory stands among those of the context: devices that share a native
        handle share their memory, and have the place of the first of them.

        Raises
        ------
        InvalidDeviceError
            If the context does not have the device.
        """
        return memory_position(self.native.devices, self.member(device))

    def member(self, device: Device | int | None) -> Device:
        """A device of the context, by default the first, or the one at a place.

        Those that it names, and their parts.

        Raises
        ------
        InvalidDeviceError
            If the context does not have it.
        """
        if device is None:
            return self.devices[0]
        if isinstance(device, Device):
            part: Device | None = device
            while part is not None:
                if part in self.devices:
                    return device
                part = part.parent
        elif hasattr(device, "__index__") and 0 <= device < len(self.devices):
            return self.devices[device]
        raise InvalidDeviceError(
            f"The context has no device {device!r}; it has {', '.join(map(repr, self.devices))}."
        )

    # -- the end -----------------------------------------------------------------------------------

    def close(self, timeout_ns: int | None = None) -> bool:
        """Complete all queues and give everything back, also what is still allocated. Idempotent.

        Other threads' calls that are under way come to their end first; later ones raise
        InvalidContextError, as does a wait for somebody else's event that has not happened.

        Tells False when ``timeout_ns`` nanoseconds were not enough for a queue or such a call; the
        queues that were complete are closed then, and the context can be closed again. None waits
        for ever.
        """
        closed = self.native.close(checked_timeout(timeout_ns))
        if closed:
            note_closed(self.native)
            loggers.CONTEXT.debug("Closed %r", self)
        return closed

    __reduce_ex__ = not_copied("Make another there.")

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class _ContextFinalizer(Finalizer):
    """Leads from a dropped context to what it owns."""

    __slots__ = ("native",)
    native: NativeContext


_dropped: deque[Finalizer] = deque()
"""Contexts that nobody holds any more; their queues and allocations went with them."""


def _close_dropped() -> None:
    """Close dropped contexts whose queues are complete; the others wait for another call."""
    for _ in range(len(_dropped)):
        try:
            finalizer = _dropped.popleft()
        except IndexError:  # another thread took the last one
            break
        assert isinstance(finalizer, _ContextFinalizer)
        closed = False
        with suppress(UrError):
            closed = finalizer.native.close(DROPPED_TIMEOUT_NS)
        if closed:
            note_closed(finalizer.native)
        else:
            _dropped.append(finalizer)


def _disown_all() -> None:
    """In a forked child: the driver stays with the parent."""
    for native in open_contexts():
        native.disown()
        note_closed(native)
    _dropped.clear()


os.register_at_fork(after_in_child=_disown_all)


def _chosen(devices: Iterable[Device | int] | None) -> Sequence[Device]:
    if devices is None:
        return default_platform().devices
    chosen: list[Device] = []
    for device in devices:
        if isinstance(device, int):
            platform = default_platform()
            if not 0 <= device < len(platform.devices):
                raise InvalidDeviceError(f"{platform!r} has no device {device}.")
            device = platform.devices[device]
        checked_instance("each of devices", device, Device)
        if chosen and device.platform is not chosen[0].platform:
            raise InvalidDeviceError(
                f"{device!r} does not belong to {chosen[0].platform!r}, as {chosen[0]!r} does."
            )
        if device not in chosen:
            chosen.append(device)
    if not chosen:
        raise InvalidValueError("A context needs at least one device.")
    return tuple(chosen)
