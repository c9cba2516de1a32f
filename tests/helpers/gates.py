# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hold a queue until a test lets it go: order is proved so, never by sleeping."""

from collections.abc import Iterator
from contextlib import contextmanager

from urasync_l0 import Queue
from urasync_l0.software_driver.controls import Controls, Gate
from urasync_l0.ze.handles import handle_value


class HeldQueue:
    """A queue whose commands do not start before `release`."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._held = True
        gate.close()

    def release(self) -> None:
        """Let the queue run. Idempotent."""
        if self._held:
            self._held = False
            self._gate.open()


@contextmanager
def hold(controls: Controls, queue: Queue) -> Iterator[HeldQueue]:
    """Hold a queue from here to `HeldQueue.release` or the end of the ``with`` block."""
    held = HeldQueue(controls.gate(handle_value(queue.handle)))
    del queue  # a test may want to drop it
    try:
        yield held
    finally:
        held.release()
