# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Requests to measure, as ``ur_client/measure.c`` has them, answered by a program in Python."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping


def answer(requests: Mapping[str, Callable[[int], float]]) -> None:
    """Answer the lines of the standard input, a name and a number each, until there are none.

    ``instructions FILE`` is answered as well: callgrind counts by the library of ``counter.c``.
    """
    for line in sys.stdin:
        name, _, argument = line.rstrip("\n").partition(" ")
        if name == "instructions":
            ctypes.CDLL(argument).write_instructions()
            print(0, flush=True)
        else:
            print(requests[name](int(argument)), flush=True)
