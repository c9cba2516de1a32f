# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the loggers tell, and that the usual way of an allocation tells nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.usm import MIB, finish
from urasync_l0 import (
    KEEP_EVERYTHING,
    Context,
    DeviceLostError,
    Queue,
    record_allocations,
    write_snapshot,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.result import ZeResult


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "urasync_l0")


def told(caplog: pytest.LogCaptureFixture, area: str) -> list[str]:
    name = f"urasync_l0.{area}"
    return [f"{each.levelname} {each.message}" for each in caplog.records if each.name == name]


def test_contexts(make_context: Callable[..., Context], caplog: pytest.LogCaptureFixture) -> None:
    context = make_context()
    opened = repr(context)
    context.close()
    assert told(caplog, "context") == [f"DEBUG Opened {opened}", f"DEBUG Closed {context!r}"]


def test_pools_and_their_memory(context: Context, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    queue = context.create_queue()
    with context.create_pool(0) as pool:
        made = repr(pool)
        queue.alloc_shared(MIB, pool=pool).free()
        finish(queue)
    assert told(caplog, "pool") == [f"DEBUG Made {made}", f"DEBUG Closed {pool!r}"]
    taken, given = told(caplog, "memory")
    assert taken.startswith("DEBUG Allocate ")
    assert taken.endswith(" bytes of SHARED memory")
    assert given.startswith("DEBUG Free SHARED memory at 0x")


def test_the_usual_way_is_silent(
    context: Context, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    pool = context.create_pool(0, release_threshold=KEEP_EVERYTHING)
    context.set_current_pool(pool)
    queue.alloc_device(MIB).free()
    caplog.clear()
    for _ in range(3):
        queue.alloc_device(MIB).free()
        finish(queue)
    assert caplog.records == []


def test_a_lost_device(
    context: Context, queue: Queue, controls: Controls, caplog: pytest.LogCaptureFixture
) -> None:
    controls.fail("zeMemAllocHost", 1, ZeResult.ERROR_DEVICE_LOST)
    with pytest.raises(DeviceLostError):
        queue.alloc_host(MIB)
    (line,) = (each for each in told(caplog, "context") if "lost" in each)
    assert line.startswith("ERROR A device is lost, and its context with it: ")


def test_recordings_and_snapshots(
    queue: Queue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with record_allocations(tmp_path / "trace.csv") as recording:
        began = repr(recording)
        queue.alloc_device(64).free()
    path = write_snapshot(tmp_path / "pools.json")
    assert told(caplog, "recording") == [f"INFO {began} begins", f"INFO {recording!r} ended"]
    assert told(caplog, "snapshot") == [f"INFO Wrote a snapshot to {path}"]


def test_a_trace_that_ends_too_early(
    queue: Queue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with record_allocations(tmp_path / "trace.csv") as recording:
        writer = recording._writer
        assert writer is not None
        os.close(writer._file)
        writer._file = os.open("/dev/full", os.O_WRONLY)
        queue.alloc_device(64).free()
    (warning,) = (line for line in told(caplog, "recording") if line.startswith("WARNING"))
    assert "cannot be written: No space left on device" in warning
