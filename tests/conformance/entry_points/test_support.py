# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device says that it supports, and what its entries do."""

from typing import Any

import pytest

from tests.helpers.entries import Client, written
from urasync_l0 import Device, Event, Pool, UrError, UrResult, UsmType
from urasync_l0.descriptors import UsmPoolDesc
from urasync_l0.enums import DeviceInfo, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.platform import default_platform


def parts_of(device: Device) -> list[Device]:
    """A device and all devices within it."""
    return [device, *(each for part in device.sub_devices for each in parts_of(part))]


def supports_async_alloc(client: Client, device: Device) -> bool:
    out: Out[bool] = Out()
    name = DeviceInfo.ASYNC_USM_ALLOCATIONS_SUPPORT_EXP
    client.adapter.urDeviceGetInfo(device, name, 1, out, None)
    return written(out)


def call_all_twelve(client: Client, device: Device) -> dict[str, UrResult]:
    """The result of each entry of the extension on a device, with arguments that are right."""
    adapter = client.adapter
    context = client.create_context([device])
    queue = client.create_queue(context, device)
    pools: Out[Pool] = Out()
    default: Out[Pool] = Out()
    mem: dict[UsmType, Out[int]] = {kind: Out() for kind in tuple(UsmType)[1:]}
    event: Out[Event] = Out()
    value: Out[Any] = Out()
    results: dict[str, UrResult] = {}

    def call(name: str, *arguments: object) -> None:
        try:
            getattr(adapter, name)(*arguments)
        except UrError as error:
            results[name] = error.code
        else:
            results[name] = UrResult.SUCCESS

    name = UsmPoolInfo.RELEASE_THRESHOLD_EXP
    call("urUSMPoolCreateExp", context, device, UsmPoolDesc(), pools)
    pool = written(pools)
    call("urUSMPoolGetDefaultDevicePoolExp", context, device, default)
    call("urUSMPoolSetDevicePoolExp", context, device, pool)
    call("urUSMPoolGetDevicePoolExp", context, device, value)
    assert written(value) is pool
    call("urUSMPoolSetInfoExp", pool, name, 1 << 20, 8)
    call("urUSMPoolGetInfoExp", pool, name, value, None)
    assert written(value) == 1 << 20
    for kind, entry in (
        (UsmType.DEVICE, "urEnqueueUSMDeviceAllocExp"),
        (UsmType.SHARED, "urEnqueueUSMSharedAllocExp"),
        (UsmType.HOST, "urEnqueueUSMHostAllocExp"),
    ):
        call(entry, queue, None, 64, None, 0, None, mem[kind], event)
        client.release(event.value)
    for out in mem.values():
        call("urEnqueueUSMFreeExp", queue, None, written(out), 0, None, event)
        client.release(event.value)
    call("urUSMPoolTrimToExp", context, device, pool, 0)
    call("urUSMPoolDestroyExp", context, device, pool)
    adapter.urQueueRelease(queue)
    adapter.urContextRelease(context)
    assert context.is_closed
    return results


@pytest.mark.usefixtures("make_context")  # checks that nothing native is left
def test_what_is_advertised_works(client: Client) -> None:
    """ERR-10: true means that each of the twelve entries works, on that very device."""
    devices = [each for root in default_platform().devices for each in parts_of(root)]
    assert devices
    for device in devices:
        assert supports_async_alloc(client, device)
        results = call_all_twelve(client, device)
        assert len(results) == 12
        assert set(results.values()) == {UrResult.SUCCESS}, results
