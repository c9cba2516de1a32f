# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on the pool core alone, against an oracle that knows who may touch which byte.

Named rules of the field reports proved here: ORD-1, ORD-2, ORD-4, ORD-5, ORD-7, ERR-1, ERR-8,
LIFE-5, STAT-1. The same programs run over the loader in ``tests/conformance/test_pool_machine``.
"""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.helpers.fake_world import FakeWorld
from tests.helpers.pool_fakes import FakeEvent, FakeQueue
from tests.helpers.pool_machine import PoolMachine, machine_settings
from urasync_l0.pool import Pool


class SegmentMachine(PoolMachine[FakeQueue, FakeEvent, Pool]):
    """Device memory in driver allocations."""

    def make_world(self, device_memory: int) -> FakeWorld:
        return FakeWorld(device_memory, virtual=False)


class PageMachine(PoolMachine[FakeQueue, FakeEvent, Pool]):
    """Device memory in pages."""

    def make_world(self, device_memory: int) -> FakeWorld:
        return FakeWorld(device_memory, virtual=True)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [SegmentMachine, PageMachine], ids=["segments", "pages"])
def test_nobody_gets_memory_too_early(
    machine: type[PoolMachine[FakeQueue, FakeEvent, Pool]], machine_search: int
) -> None:
    run_state_machine_as_test(machine, settings=machine_settings(150, 60, searching=machine_search))
