# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The context that a process shares: one for each adapter.

A library that allocates in it uses the pool that the application made current there, without either
knowing of the other.
"""

from __future__ import annotations

import os
import threading

from urasync_l0.context import Context

_contexts: dict[str, Context] = {}
_lock = threading.Lock()


def default_context(adapter: str = "v2") -> Context:
    """The process's shared context of an adapter, on all devices; made at the first call.

    It lives until the interpreter ends or somebody closes it; then the next call makes another. A
    forked child gets one of its own, if its driver allows that. Any thread may call. Errors are
    those of `Context`.
    """
    with _lock:
        context = _contexts.get(adapter)
        if context is None or context.is_closed:
            context = _contexts[adapter] = Context(adapter)
        return context


def _forget() -> None:
    global _lock
    _lock = threading.Lock()
    _contexts.clear()


os.register_at_fork(after_in_child=_forget)
