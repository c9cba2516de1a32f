# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine that figures were measured on."""

from __future__ import annotations

import platform
from pathlib import Path


def machine() -> dict[str, str]:
    """Its Python, its system and its processor."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "processor": _processor(),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return f"{len(names)} x {names[0]}" if names else platform.processor()
