# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes of the pool core in Python and those in C, side by side in one process."""

from __future__ import annotations

import sysconfig
import threading
from collections.abc import Callable
from functools import update_wrapper
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from urasync_l0.pool import (
    Pool,
    fields,
    heap_blocks,
    held_block,
    held_signal,
    list_front,
    pool_front,
    queue_front,
    tally,
)
from urasync_l0.pool.heap import Heap

PLAIN = SimpleNamespace(
    __name__="plain",
    CurrentFields=fields.CurrentFields,
    DomainFields=fields.DomainFields,
    DroppedBlock=held_block.DroppedBlock,
    HeapBlocks=heap_blocks.HeapBlocks,
    HeldBlock=held_block.HeldBlock,
    HeldSignal=held_signal.HeldSignal,
    ListFront=list_front.ListFront,
    Lock=threading.Lock,
    MarkFields=fields.MarkFields,
    OrderFields=fields.OrderFields,
    PoolFront=pool_front.PoolFront,
    QueueFront=queue_front.QueueFront,
    Route=queue_front.Route,
    Signal=held_signal.Signal,
    Tally=tally.Tally,
)
"""The classes in Python, as the module in C has those in C."""

DOES_AT_ONCE = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether methods are tried in C first: that relies on the interpreter's lock."""


def compiled() -> ModuleType:
    """The module in C; a package built without a C compiler has none."""
    module: ModuleType = pytest.importorskip(
        "urasync_l0.pool._structure", reason="the package was built without its module in C"
    )
    return module


def rebased(cls: type, base: type) -> type:
    """A class with another base, whichever this process uses otherwise."""
    kept = {
        name: each for name, each in vars(cls).items() if name not in ("__dict__", "__weakref__")
    }
    return type(cls.__name__, (base,), kept)


def pool_type(module: Any) -> type[Pool]:
    """Pools that rest on the classes of a module."""
    pool = rebased(Pool, module.PoolFront)
    heap = rebased(Heap, module.HeapBlocks)
    types = {"heap_type": heap, "lock_type": module.Lock, "tally_type": module.Tally}
    return type("PoolOn" + module.__name__, (pool,), types)


def at_once(module: Any, action: str) -> Callable[[Callable[..., Any]], Any]:
    """The mark of a method, as a module has it."""
    if module is PLAIN:
        return queue_front.at_once(action)
    return lambda method: update_wrapper(module.AtOnce(method, action), method)
