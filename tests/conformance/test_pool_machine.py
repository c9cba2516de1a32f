# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of several queues and pools on the real loader, with every byte looked at.

Named rules of the field reports proved here: ORD-1, ORD-2, ORD-4, ORD-5, ORD-7, ORD-10, ORD-12,
ERR-1, ERR-8, MEM-5, LIFE-2, LIFE-3, LIFE-5, STAT-1. The same programs run on the pool core alone in
``tests/unit/pool/test_order_oracle``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.helpers.pool_machine import PoolMachine, machine_settings
from tests.helpers.real_world import RealEvent, RealQueue, RealWorld
from urasync_l0 import Pool
from urasync_l0.pool import growth
from urasync_l0.usm_memory import ExpandingSegments
from urasync_l0.ze.loader import DriverName

if TYPE_CHECKING:
    from urasync_l0.software_driver.controls import Controls


@pytest.mark.slow
@pytest.mark.parametrize(
    ("programs", "steps", "share"), [(40, 60, 64), (4, 300, 1)], ids=["short", "long"]
)
@pytest.mark.parametrize("expanding", ["on", "off"])
def test_nobody_sees_bytes_of_another(
    monkeypatch: pytest.MonkeyPatch,
    driver: DriverName,
    controls: Controls,
    adapter: str,
    expanding: ExpandingSegments,
    programs: int,
    steps: int,
    share: int,
    machine_search: int,
) -> None:
    """ORD-7 and the whole of the order: two ways of growing, three kinds, held queues.

    Long programs on pages map several of them in one piece.
    """
    monkeypatch.setattr(growth, "_MAPPING_SHARE", share)

    class RealMachine(PoolMachine[RealQueue, RealEvent, Pool]):
        """Programs on contexts of the adapter."""

        def make_world(self, device_memory: int) -> RealWorld:
            return RealWorld(controls, adapter, driver, expanding, device_memory)

    run_state_machine_as_test(
        RealMachine, settings=machine_settings(programs, steps, searching=machine_search)
    )
