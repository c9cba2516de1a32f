# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: E501 - a table stands here as it is shown
"""Fixed results for tests of what is rendered."""

from __future__ import annotations

import io

from rich.console import Console

from urasync_l0.tools.replayer.result import ReplayResult

RESULT = ReplayResult(
    trace="handoff",
    adapter="v2",
    driver="software",
    ops=24048,
    us_per_op=1.234,
    live_peak=28458240,
    reserved_high=29360128,
    memory_ratio=1.03169,
    driver_allocs=14,
    inserted_waits=3,
    verified=True,
    failure=None,
    looked_at_by="kernel",
    reuse_rate=0.99844,
    level_zero_calls=6050,
    loader="1.8.12",
    device="urasync software device 0",
    kind="device",
    lag=None,
    repeat=3,
)

# Three results: this one, one with a lag that nobody verified, and one that failed.

TABLE = """\
                                          time      live  reserved                Level Zero
trace     adapter  driver     lines     a line      peak      peak  ratio  reuse       calls  verified
──────────────────────────────────────────────────────────────────────────────────────────────────────
handoff   v2       software  24,048    1.23 µs  27.1 MiB  28.0 MiB  1.032  99.8%       6,050  true
handoff   legacy   software  24,048  held back  27.1 MiB  28.0 MiB  1.032  99.8%       6,050  not read
pipeline  v2       system    24,048    1.23 µs  27.1 MiB  28.0 MiB  1.032  99.8%       6,050  FALSE"""

BLOCKS = """\
handoff, v2, software: true
  lines 24,048            time a line 1.23 µs  live peak 27.1 MiB
  reserved peak 28.0 MiB  ratio 1.032          reuse 99.8%
  Level Zero calls 6,050
handoff, legacy, software: not read
  lines 24,048            time a line held back  live peak 27.1 MiB
  reserved peak 28.0 MiB  ratio 1.032            reuse 99.8%
  Level Zero calls 6,050
pipeline, v2, system: FALSE
  lines 24,048            time a line 1.23 µs  live peak 27.1 MiB
  reserved peak 28.0 MiB  ratio 1.032          reuse 99.8%
  Level Zero calls 6,050"""


def console_of(width: int) -> Console:
    """A console that writes to memory, the same on every machine."""
    return Console(
        file=io.StringIO(), width=width, color_system=None, _environ={}, legacy_windows=False
    )


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
