# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both adapters have the same entry points, each described and each from one place."""

import inspect

import pytest

import urasync_l0  # noqa: F401  # registers the adapters
from urasync_l0.adapter import find_adapter
from urasync_l0.entry_points import Adapter

ENTRIES = sorted(name for name in dir(Adapter) if name.startswith("ur"))

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


def test_the_extension_is_there() -> None:
    assert set(ENTRIES) >= ENTRIES_OF_THE_EXTENSION


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry(adapter: str, entry: str) -> None:
    """Defined once, for both adapters, with a docstring and types."""
    places = [each for each in type(find_adapter(adapter)).__mro__ if entry in vars(each)]
    assert [each.__module__.rpartition(".")[0] for each in places] == ["urasync_l0.entry_points"]
    function = getattr(Adapter, entry)
    assert vars(places[0])[entry] is function
    assert inspect.getdoc(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    assert all(each.annotation is not each.empty for each in parameters)
    assert all(each.default is each.empty for each in parameters)
    assert inspect.signature(function).return_annotation == "None"


def test_an_adapter_has_no_entry_of_its_own(adapter: str) -> None:
    names = {name for name in dir(find_adapter(adapter)) if name.startswith("ur")}
    assert names == set(ENTRIES)
