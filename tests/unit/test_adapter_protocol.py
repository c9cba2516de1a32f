# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both adapters offer every entry of the protocol, under the same signature."""

import inspect

import pytest

import urasync_l0  # noqa: F401  # registers the adapters
from urasync_l0.adapter import Adapter, find_adapter

ENTRIES = sorted(name for name in vars(Adapter) if name.startswith("ur"))

ENTRIES_OF_THE_EXTENSION = {
    "urEnqueueUSMDeviceAllocExp",
    "urEnqueueUSMFreeExp",
    "urEnqueueUSMHostAllocExp",
    "urEnqueueUSMSharedAllocExp",
    "urUSMPoolCreateExp",
    "urUSMPoolDestroyExp",
    "urUSMPoolGetDefaultDevicePoolExp",
    "urUSMPoolGetDevicePoolExp",
    "urUSMPoolGetInfoExp",
    "urUSMPoolSetDevicePoolExp",
    "urUSMPoolSetInfoExp",
    "urUSMPoolTrimToExp",
}


def test_the_protocol_has_the_extension() -> None:
    assert set(ENTRIES) >= ENTRIES_OF_THE_EXTENSION


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_adapter_has_the_entry(adapter: str, entry: str) -> None:
    """Names, order, kinds and annotations of the parameters are those of the protocol."""
    found = getattr(type(find_adapter(adapter)), entry, None)
    assert found is not None, f"{adapter} has no {entry}"
    assert inspect.signature(found) == inspect.signature(getattr(Adapter, entry))


def test_an_adapter_has_no_entry_beside_the_protocol(adapter: str) -> None:
    names = {name for name in dir(find_adapter(adapter)) if name.startswith("ur")}
    assert names <= set(ENTRIES)
