# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the replay of a trace measured, as a value: the only thing that rendering reads."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One trace through one adapter.

    Attributes
    ----------
    ops : lines of the trace.
    us_per_op : host microseconds per line, of the fastest pass; None when completion was held
        back, because the passes then open gates between the lines.
    live_peak : highest sum of the live allocations' requested bytes.
    reserved_high : highest number of bytes that the pool held from the driver, in any pass.
    memory_ratio : `reserved_high` over `live_peak`.
    driver_allocs, inserted_waits, reuse_rate, level_zero_calls : of the pass with the highest
        `reserved_high`. `reuse_rate` is the share of the allocations for which the pool did not
        grow; `level_zero_calls` counts the calls made while the lines ran.
    verified : whether every byte was right; None when no pass looked.
    failure : what was wrong when `verified` is False.
    looked_at_by : "kernel", if one compared the bytes in the queues' order; "host", if they were
        copied and the host did; None when no pass looked.
    loader : version of the Level Zero loader, where it tells one.
    device : name of the device.
    kind : "device", "shared" or "host".
    lag : by how many lines completion was held back, or None.
    repeat : number of timed passes.
    """

    trace: str
    adapter: str
    driver: str
    ops: int
    us_per_op: float | None
    live_peak: int
    reserved_high: int
    memory_ratio: float
    driver_allocs: int
    inserted_waits: int
    verified: bool | None
    failure: str | None
    looked_at_by: str | None
    reuse_rate: float
    level_zero_calls: int
    loader: str | None
    device: str
    kind: str
    lag: int | None
    repeat: int

    def to_json(self) -> str:
        """The result as one line of JSON, a key for each attribute."""
        return json.dumps(asdict(self))
