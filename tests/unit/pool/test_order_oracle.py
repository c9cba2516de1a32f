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
from urasync_l0.pool import Pool, growth


class SegmentMachine(PoolMachine[FakeQueue, FakeEvent, Pool]):
    """Device memory in driver allocations."""

    def make_world(self, device_memory: int) -> FakeWorld:
        return FakeWorld(device_memory, virtual=False)


class PageMachine(PoolMachine[FakeQueue, FakeEvent, Pool]):
    """Device memory in pages."""

    def make_world(self, device_memory: int) -> FakeWorld:
        return FakeWorld(device_memory, virtual=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "share", "programs"),
    [(SegmentMachine, 64, 150), (PageMachine, 64, 75), (PageMachine, 1, 75)],
    ids=["segments", "pages", "mappings"],
)
def test_nobody_gets_memory_too_early(
    monkeypatch: pytest.MonkeyPatch,
    machine: type[PoolMachine[FakeQueue, FakeEvent, Pool]],
    share: int,
    programs: int,
    machine_search: int,
) -> None:
    """With a mapping as large as the heap, if not larger than 32 pages, most are of several."""
    monkeypatch.setattr(growth, "_MAPPING_SHARE", share)
    settings = machine_settings(programs, 60, searching=machine_search)
    run_state_machine_as_test(machine, settings=settings)
