# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes that make up a heap: those in C where they are built, else those in Python.

Both do exactly the same. The variable ``URASYNC_L0_POOL`` chooses: "python" for the readable ones,
"compiled" to insist on those in C; without it, C is used where it is there.
"""

from __future__ import annotations

import os
from functools import update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING

VARIABLE = "URASYNC_L0_POOL"


def _is_compiled() -> bool:
    """Whether to use the classes in C."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "python", "compiled"):
        raise ImportError(f"{VARIABLE} is {wanted!r}; it must be 'python', 'compiled' or unset.")
    if wanted == "python":
        return False
    try:
        import_module("urasync_l0.pool._structure")
    except ImportError as error:
        if wanted == "compiled":
            raise ImportError(
                f"{VARIABLE} asks for the compiled pool core, which is not there: {error}. "
                "Build the package from its sources with a C compiler."
            ) from error
        return False
    return True


IS_COMPILED = _is_compiled()

if TYPE_CHECKING or not IS_COMPILED:
    from threading import Lock

    from urasync_l0.pool.block import Block
    from urasync_l0.pool.fields import (
        CurrentFields,
        DomainFields,
        MarkFields,
        OrderFields,
        RegistryFields,
    )
    from urasync_l0.pool.heap_blocks import HeapBlocks
    from urasync_l0.pool.held_block import DroppedBlock, HeldBlock
    from urasync_l0.pool.held_signal import HeldSignal, Signal
    from urasync_l0.pool.list_front import ListFront
    from urasync_l0.pool.pool_front import PoolFront
    from urasync_l0.pool.queue_front import QueueFront, Route, at_once
    from urasync_l0.pool.run_index import RunIndex
    from urasync_l0.pool.size_index import SizeIndex
    from urasync_l0.pool.tally import Tally
else:
    from urasync_l0.pool._structure import (
        AtOnce,
        Block,
        CurrentFields,
        DomainFields,
        DroppedBlock,
        HeapBlocks,
        HeldBlock,
        HeldSignal,
        ListFront,
        Lock,
        MarkFields,
        OrderFields,
        PoolFront,
        QueueFront,
        RegistryFields,
        Route,
        RunIndex,
        Signal,
        SizeIndex,
        Tally,
    )

    def at_once(action):
        """As in ``queue_front``."""
        return lambda method: update_wrapper(AtOnce(method, action), method)


__all__ = [
    "IS_COMPILED",
    "Block",
    "CurrentFields",
    "DomainFields",
    "DroppedBlock",
    "HeapBlocks",
    "HeldBlock",
    "HeldSignal",
    "ListFront",
    "Lock",
    "MarkFields",
    "OrderFields",
    "PoolFront",
    "QueueFront",
    "RegistryFields",
    "Route",
    "RunIndex",
    "Signal",
    "SizeIndex",
    "Tally",
    "at_once",
]
