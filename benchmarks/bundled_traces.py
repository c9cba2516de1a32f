# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The project's own traces."""

from __future__ import annotations

from pathlib import Path

TRACES = Path(__file__).parent / "traces"
"""Where they are; its README says what each is and what each should need."""


def bundled_traces() -> list[Path]:
    """The files of the traces, by name."""
    return sorted(TRACES.glob("*.csv"))
