# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``urPlatform…``: the drivers and what they say of themselves."""

from typing import Any

import pytest

from tests.helpers.entries import Client, refused, written
from urasync_l0.descriptors import NativeHandleProperties
from urasync_l0.enums import Backend, PlatformInfo
from urasync_l0.out import Out
from urasync_l0.platform import Platform, default_platform, platforms
from urasync_l0.result import UrResult

ROOM = 1 << 16


@pytest.fixture
def platform(client: Client) -> Platform:
    """The driver of this process."""
    return default_platform()


def info(client: Client, platform: Platform, prop_name: int) -> tuple[Any, int]:
    value: Out[Any] = Out()
    size: Out[int] = Out()
    client.adapter.urPlatformGetInfo(platform, prop_name, ROOM, value, size)
    return written(value), written(size)


def test_get(client: Client) -> None:
    count: Out[int] = Out()
    client.adapter.urPlatformGet(client.adapter, 0, None, count)
    assert written(count) == len(platforms())
    found: Out[tuple[Platform, ...]] = Out()
    client.adapter.urPlatformGet(client.adapter, count.value + 3, found, None)
    assert written(found) == platforms()
    client.adapter.urPlatformGet(client.adapter, 1, found, count)
    assert written(found) == (default_platform(),)


def test_get_refuses(client: Client) -> None:
    found: Out[tuple[Platform, ...]] = Out()
    count: Out[int] = Out()
    get = client.adapter.urPlatformGet
    with refused(UrResult.INVALID_NULL_HANDLE, found, count):
        get(None, 1, found, count)
    with refused(UrResult.INVALID_NULL_POINTER, count):
        get(client.adapter, 1, None, count)
    with refused(UrResult.INVALID_NULL_POINTER):
        get(client.adapter, 0, None, None)
    with refused(UrResult.INVALID_SIZE, found, count):
        get(client.adapter, 0, found, count)


def test_info(client: Client, platform: Platform) -> None:
    assert info(client, platform, PlatformInfo.BACKEND) == (Backend.LEVEL_ZERO, 4)
    assert info(client, platform, PlatformInfo.ADAPTER) == (client.adapter, 8)
    assert info(client, platform, PlatformInfo.PROFILE) == ("FULL_PROFILE", 13)
    major, minor = platform.api_version
    version = f"{major}.{minor}"
    assert info(client, platform, PlatformInfo.VERSION) == (version, len(version) + 1)
    extensions, size = info(client, platform, PlatformInfo.EXTENSIONS)
    assert extensions.split() == sorted(platform.extensions)
    assert size == len(extensions) + 1
    for name in (PlatformInfo.NAME, PlatformInfo.VENDOR_NAME):
        text, size = info(client, platform, name)
        assert text
        assert size == len(text.encode()) + 1


def test_info_refuses(client: Client, platform: Platform) -> None:
    value: Out[Any] = Out()
    size: Out[int] = Out()
    get = client.adapter.urPlatformGetInfo
    with refused(UrResult.INVALID_NULL_HANDLE, value, size):
        get(None, PlatformInfo.NAME, ROOM, value, size)
    with refused(UrResult.INVALID_NULL_POINTER):
        get(platform, PlatformInfo.NAME, 0, None, None)
    with refused(UrResult.UNSUPPORTED_ENUMERATION, value, size):
        get(platform, 0, ROOM, value, size)
    with refused(UrResult.INVALID_SIZE, value, size):
        get(platform, PlatformInfo.PROFILE, 12, value, size)


def test_api_version(client: Client, platform: Platform) -> None:
    version: Out[int] = Out()
    client.adapter.urPlatformGetApiVersion(platform, version)
    assert written(version) == 12  # 0.12
    with refused(UrResult.INVALID_NULL_HANDLE):
        client.adapter.urPlatformGetApiVersion(None, version)
    with refused(UrResult.INVALID_NULL_POINTER):
        client.adapter.urPlatformGetApiVersion(platform, None)


def test_native_handle_and_back(client: Client, platform: Platform) -> None:
    native: Out[int] = Out()
    client.adapter.urPlatformGetNativeHandle(platform, native)
    back: Out[Platform] = Out()
    for properties in (None, NativeHandleProperties(is_native_handle_owned=True)):
        create = client.adapter.urPlatformCreateWithNativeHandle
        create(written(native), client.adapter, properties, back)
        assert written(back) is platform


def test_native_handles_refuse(client: Client, platform: Platform) -> None:
    native: Out[int] = Out()
    found: Out[Platform] = Out()
    adapter = client.adapter
    with refused(UrResult.INVALID_NULL_HANDLE, native):
        adapter.urPlatformGetNativeHandle(None, native)
    with refused(UrResult.INVALID_NULL_POINTER):
        adapter.urPlatformGetNativeHandle(platform, None)
    with refused(UrResult.INVALID_NULL_HANDLE, found):
        adapter.urPlatformCreateWithNativeHandle(1, None, None, found)
    with refused(UrResult.INVALID_NULL_POINTER):
        adapter.urPlatformCreateWithNativeHandle(1, adapter, None, None)
    with refused(UrResult.INVALID_VALUE, found):
        adapter.urPlatformCreateWithNativeHandle(1, adapter, None, found)


@pytest.mark.parametrize(
    ("frontend", "expected"),
    [("", ""), ("-O0", "-ze-opt-disable"), ("-O2", "-ze-opt-level=2")],
)
def test_backend_option(client: Client, platform: Platform, frontend: str, expected: str) -> None:
    option: Out[str] = Out()
    client.adapter.urPlatformGetBackendOption(platform, frontend, option)
    assert written(option) == expected


def test_backend_option_refuses(client: Client, platform: Platform) -> None:
    option: Out[str] = Out()
    get = client.adapter.urPlatformGetBackendOption
    with refused(UrResult.INVALID_NULL_HANDLE, option):
        get(None, "-O2", option)
    with refused(UrResult.INVALID_NULL_POINTER, option):
        get(platform, None, option)
    with refused(UrResult.INVALID_NULL_POINTER):
        get(platform, "-O2", None)
    with refused(UrResult.INVALID_VALUE, option):
        get(platform, "-O9", option)
