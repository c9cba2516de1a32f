# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A queue's command list behind the software driver's gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from urasync_l0.tools.replayer.staging import HungError
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from urasync_l0 import Queue
    from urasync_l0.software_driver.controls import Controls

WAIT_NS = 60_000_000_000
"""How long commands that may run may take before the driver is taken to hang."""


class GatedList:
    """A `lag.HeldList` of the software driver; `handle` is the list's Level Zero handle."""

    def __init__(self, controls: Controls, handle: int) -> None:
        self._controls = controls
        self._handle = handle

    def appended(self) -> int:
        return self._controls.list_progress(self._handle).appended

    def allow(self, number: int | None) -> None:
        self._controls.limit_gate(self._handle, number)

    def wait_completed(self, number: int) -> None:
        if not self._controls.wait_completed(self._handle, number, WAIT_NS):
            completed = self._controls.list_progress(self._handle).completed
            raise HungError(
                f"command list {self._handle:#x} completed {completed} of the {number} commands "
                f"that may run, in {WAIT_NS // 1_000_000_000} s"
            )


def gated_lists(queues: Sequence[Queue]) -> list[GatedList]:
    """The command lists of queues of the software driver, in the same order."""
    # Imported here, so that a replay on a real device never needs the software driver.
    from urasync_l0.software_driver.controls import Controls

    controls = Controls()
    return [GatedList(controls, handle_value(queue.handle)) for queue in queues]
