# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A short soak passes, and what a soak must see, it sees."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.soak.watch import GROWTH, MIB, MOST_EVENTS_A_QUEUE, MOST_PENDING_A_QUEUE, Sample, faults
from urasync_l0 import Context

SECONDS = 120
QUEUES = 2

PLANT = """
import sys
from tests.soak import __main__, work

def copy_from_somewhere_else(self):
    held = self._take()
    if held is not None:
        held.pattern ^= 1
        self.held.append(held)
    work.Worker._free_rightly(self)

def use_without_order(self):
    held = self._take()
    if held is not None:
        held.last_use = self._queue().fill(held.allocation, bytes([held.pattern]), event=True)
        self.held.append(held)

work.Worker._free_rightly = work.Worker._free
fault, *arguments = sys.argv[1:]
if fault == "bytes":
    work.Worker._free = copy_from_somewhere_else
if fault == "order":
    work.Worker._use = use_without_order
sys.exit(__main__.main(arguments))
"""


def soak(fault: str, adapter: str) -> subprocess.CompletedProcess[str]:
    arguments = ["--seconds", "1", "--threads", "3", "--queues", "3", "--adapter", adapter]
    kept = {name: value for name, value in os.environ.items() if "SOFTWARE" not in name}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PLANT, fault, *arguments],
        env=kept,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_a_short_soak(adapter: str) -> None:
    done = soak("", adapter)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "bytes looked at" in done.stdout


@pytest.mark.parametrize(
    ("fault", "message"),
    [("bytes", "bytes are not 0x"), ("order", "FAILED: the checker: no order between")],
)
def test_a_fault_ends_a_soak(adapter: str, fault: str, message: str) -> None:
    done = soak(fault, adapter)
    assert done.returncode == 1
    assert message in done.stdout


GOOD = Sample(seconds=1.0, resident=100 * MIB, events=10, pending=10, reserved=MIB)


@pytest.mark.parametrize(
    ("late", "message"),
    [
        (GOOD, ""),
        (replace(GOOD, resident=100 * MIB + GROWTH), ""),
        (replace(GOOD, resident=100 * MIB + GROWTH + 1), "resident memory grew from 100.0 MiB"),
        (replace(GOOD, events=QUEUES * MOST_EVENTS_A_QUEUE + 1), "there were 2049 native events"),
        (replace(GOOD, pending=QUEUES * MOST_PENDING_A_QUEUE + 1), "there were 8193 pending"),
    ],
)
def test_bounds(late: Sample, message: str) -> None:
    found = faults([GOOD, GOOD, late, GOOD], QUEUES, [])
    assert (len(found) == 1 and message in found[0]) if message else found == []


def test_a_pool_over_its_limit(adapter: str) -> None:
    with Context(adapter, "software") as context:
        pool = context.create_pool(maximum_size=4 * MIB)
        queue = context.create_queue()
        queue.alloc_device(MIB, pool=pool).free()
        assert faults([GOOD, GOOD], QUEUES, [pool]) == []
        pool.maximum_size = MIB  # below what it has held
        (found,) = faults([GOOD, GOOD], QUEUES, [pool])
        assert "over its limit of 1048576" in found
