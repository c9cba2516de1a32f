# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of contexts: what they are, how long they live, and native ones."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.entries import Client, refused, written
from tests.helpers.usm import KINDS
from urasync_l0 import Context, Device, UrResult, UsmType
from urasync_l0.descriptors import ContextProperties, NativeHandleProperties
from urasync_l0.enums import ContextInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import context as ze_context
from urasync_l0.ze.handles import handle_value


def context_info(client: Client, context: Context, prop_name: ContextInfo) -> tuple[Any, int]:
    size: Out[int] = Out()
    client.adapter.urContextGetInfo(context, prop_name, 0, None, size)
    out: Out[Any] = Out()
    client.adapter.urContextGetInfo(context, prop_name, written(size), out, None)
    return written(out), size.value


def references(client: Client, context: Context) -> Any:
    return context_info(client, context, ContextInfo.REFERENCE_COUNT)[0]


def is_closed(context: Context) -> bool:
    return context.is_closed


def test_properties(client: Client, context: Context) -> None:
    number = len(context.devices)
    assert context_info(client, context, ContextInfo.NUM_DEVICES) == (number, 4)
    assert context_info(client, context, ContextInfo.DEVICES) == (context.devices, 8 * number)
    assert context_info(client, context, ContextInfo.REFERENCE_COUNT) == (1, 4)
    assert context_info(client, context, ContextInfo.USM_MEMCPY2D_SUPPORT) == (True, 1)
    assert context_info(client, context, ContextInfo.USM_FILL2D_SUPPORT) == (True, 1)


def test_arguments(client: Client, device: Device) -> None:
    out: Out[Context] = Out()
    create = client.adapter.urContextCreate
    for count, devices in ((0, []), (2, [device]), (1, []), (0, [device])):
        with refused(UrResult.INVALID_SIZE, out):
            create(count, devices, None, out)
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        create(2, [device, None], None, out)
    with refused(UrResult.INVALID_ENUMERATION, out):
        create(1, [device], ContextProperties(1 << 1), out)


def test_references_keep_it_open(client: Client, device: Device) -> None:
    context = client.create_context([device])
    client.adapter.urContextRetain(context)
    assert references(client, context) == 2
    client.adapter.urContextRelease(context)
    assert references(client, context) == 1
    assert not is_closed(context)
    client.adapter.urContextRelease(context)
    assert is_closed(context)
    with refused(UrResult.INVALID_CONTEXT):
        client.adapter.urContextRelease(context)
    with refused(UrResult.INVALID_CONTEXT):
        client.adapter.urContextRetain(context)


DEPENDENTS = ("queue", "event", "pool", "allocation")


@pytest.mark.parametrize("dependent", DEPENDENTS)
@pytest.mark.needs_execution("data is read back", strict=False)
def test_what_depends_on_a_released_context_keeps_it_open(
    client: Client, device: Device, dependent: str
) -> None:
    """The handle is dead at once; what is left works on, and the last of it closes the context."""
    context = client.create_context([device])
    queue = client.create_queue(context, device)
    pool = client.create_pool(context, device)
    mem, allocated = client.alloc(queue, UsmType.DEVICE, 100, pool=pool)
    client.adapter.urContextRelease(context)
    out: Out[Any] = Out()
    with refused(UrResult.INVALID_CONTEXT, out):
        client.usm_alloc(context, UsmType.DEVICE, device, 1, out)
    ends: dict[str, Callable[[], None]] = {
        "event": lambda: client.release(allocated),
        "allocation": lambda: client.free_only(queue, mem),
        "pool": lambda: client.adapter.urUSMPoolRelease(pool),
        "queue": lambda: client.adapter.urQueueRelease(queue),
    }
    # An allocation outlives its queue, but only a queue can free it now that the handle is dead.
    last = [dependent, "queue"] if dependent == "allocation" else [dependent]
    for name, end in ends.items():
        if name not in last:
            end()
    assert not is_closed(context)
    if dependent in ("allocation", "queue"):
        again = client.alloc_only(queue, UsmType.SHARED, 64)
        client.release(client.fill(queue, again, b"\x01", 64))
        assert client.read(queue, again, 64) == b"\x01" * 64
        client.free_only(queue, again)
    elif dependent == "event":
        client.adapter.urEventWait(1, [allocated])
    for name in last:
        assert not is_closed(context)
        ends[name]()
    assert is_closed(context)


def test_memory_without_a_queue_keeps_a_released_context_open(
    client: Client, device: Device
) -> None:
    """It stays readable by its address, until everything goes."""
    context = client.create_context([device])
    out: Out[Any] = Out()
    client.usm_alloc(context, UsmType.HOST, device, 64, out)
    client.adapter.urContextRelease(context)
    assert not is_closed(context)
    context.free(out.value)
    context.close()


def test_deleters_are_called_once_with_the_last_release(client: Client, device: Device) -> None:
    context = client.create_context([device])
    called: list[str] = []
    client.adapter.urContextSetExtendedDeleter(context, called.append, "first")
    client.adapter.urContextSetExtendedDeleter(context, called.append, "second")
    client.adapter.urContextRetain(context)
    client.adapter.urContextRelease(context)
    assert called == []
    client.adapter.urContextRelease(context)
    assert called == ["first", "second"]


def native_handle(client: Client, context: Context) -> int:
    out: Out[int] = Out()
    client.adapter.urContextGetNativeHandle(context, out)
    assert written(out)
    return out.value


def context_over(
    client: Client, native: int, devices: list[Device] | None, *, owned: bool | None
) -> Context:
    out: Out[Context] = Out()
    properties = None if owned is None else NativeHandleProperties(owned)
    number = 0 if devices is None else len(devices)
    client.adapter.urContextCreateWithNativeHandle(
        native, client.adapter, number, devices, properties, out
    )
    return written(out)


@pytest.mark.parametrize("owned", [None, False], ids=["no_properties", "not_owned"])
@pytest.mark.parametrize("named", [True, False], ids=["devices", "no_devices"])
@pytest.mark.needs_execution("an event must be seen complete", run=False)
def test_over_a_native_context_of_somebody_else(
    client: Client, context: Context, device: Device, owned: bool | None, named: bool
) -> None:
    """Both work in the same native context, which outlives the one that does not own it."""
    devices = list(context.devices) if named else None
    over = context_over(client, native_handle(client, context), devices, owned=owned)
    assert tuple(over.devices) == tuple(context.devices)
    assert native_handle(client, over) == native_handle(client, context)
    queue = client.create_queue(over, device)
    for kind in KINDS:
        mem = client.alloc_only(queue, kind, 100)
        client.release(client.fill(queue, mem, b"\x07", 100))
        assert client.read(queue, mem, 100) == b"\x07" * 100
        client.free_only(queue, mem)
    client.adapter.urQueueRelease(queue)
    client.adapter.urContextRelease(over)
    assert over.is_closed
    queue = client.create_queue(context, device)
    client.free_only(queue, client.alloc_only(queue, UsmType.DEVICE, 100))
    client.adapter.urQueueRelease(queue)


def test_an_owned_native_context_is_destroyed(
    client: Client, context: Context, device: Device, controls: Controls
) -> None:
    before = controls.live_objects()
    native = ze_context.create(device.platform.handle, [device.handle])
    over = context_over(client, handle_value(native), [device], owned=True)
    client.adapter.urContextRelease(over)
    assert over.is_closed
    assert controls.live_objects() == before


def test_arguments_of_native_contexts(client: Client, context: Context, device: Device) -> None:
    out: Out[Context] = Out()
    create = client.adapter.urContextCreateWithNativeHandle
    native = native_handle(client, context)
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        create(0, client.adapter, 1, [device], None, out)
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        create(native, client.adapter, 1, [None], None, out)
    with refused(UrResult.INVALID_SIZE, out):
        create(native, client.adapter, 2, [device], None, out)


def test_a_deleter_that_raises(
    client: Client, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LIFE-7: nobody could catch it; the others are called, and the context is released."""
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda what: told.append(what.exc_value))
    called: list[object] = []
    failure = ValueError("of the client")

    def fail(data: object) -> None:
        raise failure

    context = client.create_context([device])
    for deleter in (called.append, fail, called.append):
        client.adapter.urContextSetExtendedDeleter(context, deleter, 7)
    client.adapter.urContextRelease(context)
    assert (called, told) == ([7, 7], [failure])
    assert context.is_closed
