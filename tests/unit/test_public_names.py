# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program may import, pinned: a name that goes or changes its kind breaks programs."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import subprocess
import sys

import pytest

import urasync_l0
from urasync_l0 import views
from urasync_l0.adapter import find_adapter

HANDLES = {
    "Allocation",
    "Context",
    "Device",
    "Event",
    "ImmediateQueue",
    "InOrderQueue",
    "Kernel",
    "Platform",
    "Pool",
    "Program",
    "Queue",
    "Recording",
}
"""Classes whose objects stand for something in the driver or the process."""

VALUES = {
    *("Command", "EventProfile", "EventStatus", "ExecutionInfo", "LocalMemory", "PoolStatistics"),
    *("QueueFlag", "ReusePolicy", "Snapshot", "UrResult", "UsmPoolFlag", "UsmType"),
}

ERRORS = {
    *("DeviceLostError", "DeviceNotFoundError", "DriverNotFoundError", "InvalidEventError"),
    *("InvalidEventWaitListError", "InvalidMemObjectError", "InvalidUsmSizeError"),
    *("InvalidValueError", "LoaderNotFoundError", "LoaderTooOldError", "OutOfHostMemoryError"),
    *("OutOfMemoryError", "SnapshotError", "UnsupportedFeatureError", "UrError"),
}

FUNCTIONS = {
    *("adapter_names", "default_context", "read_snapshot", "record_allocations", "serve_pools"),
    *("stop_serving_pools", "take_snapshot", "use_pool", "write_snapshot"),
    *("write_snapshot_at_exit", "write_snapshot_on_signal"),
}

CONSTANTS = {"INFINITE", "KEEP_EVERYTHING"}

VIEWS = {
    *("CupyMemoryPool", "RmmMemoryResource", "RmmStatistics", "TorchMemory"),
    *("get_per_device_resource", "set_per_device_resource"),
}

NAMES = HANDLES | VALUES | ERRORS | FUNCTIONS | CONSTANTS


def test_the_names() -> None:
    assert set(urasync_l0.__all__) == NAMES
    assert sorted(urasync_l0.__all__, key=lambda name: (not name.isupper(), name)) == (
        urasync_l0.__all__
    )


def test_the_names_of_the_views() -> None:
    assert set(views.__all__) == VIEWS
    assert all(inspect.getdoc(getattr(views, name)) for name in VIEWS)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_kind_of_a_name(name: str) -> None:
    thing = getattr(urasync_l0, name)
    if name in CONSTANTS:
        assert type(thing) is int
        return
    assert inspect.getdoc(thing), f"{name} has no docstring"
    if name in FUNCTIONS:
        assert inspect.isfunction(thing)
    elif name in ERRORS:
        assert issubclass(thing, Exception)
    else:
        is_value = issubclass(thing, enum.Enum | tuple) or dataclasses.is_dataclass(thing)
        assert is_value == (name in VALUES)


@pytest.mark.parametrize("name", sorted(HANDLES))
def test_handles_are_neither_pickled_nor_copied(name: str) -> None:
    """They say so by their class, before anything is looked at that only a live object has."""
    cls = getattr(urasync_l0, name)
    assert cls.__reduce_ex__ is not object.__reduce_ex__
    assert cls.__repr__ is not object.__repr__


@pytest.mark.parametrize("name", sorted(HANDLES))
def test_public_methods_have_docstrings(name: str) -> None:
    cls = getattr(urasync_l0, name)
    bare = [
        each
        for each, member in inspect.getmembers(cls)
        if not each.startswith("_") and callable(member) and not inspect.getdoc(member)
    ]
    assert bare == []


def test_an_adapter_is_not_copied_either(adapter: str) -> None:
    with pytest.raises(TypeError, match="find_adapter there"):
        find_adapter(adapter).__reduce_ex__(4)


def test_importing_says_nothing_and_calls_no_driver() -> None:
    """Neither output, nor warnings, nor a logging set-up, nor an opened loader."""
    program = """
import logging, sys
import urasync_l0
from urasync_l0.ze import loader
assert loader.total_calls() == 0
assert not logging.root.handlers
assert not {"numpy", "rich", "cffi"} & set(sys.modules), set(sys.modules)
"""
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
