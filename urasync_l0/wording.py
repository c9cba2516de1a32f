# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words of messages and views."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 block, 2 blocks."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
