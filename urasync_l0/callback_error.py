# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What becomes of an exception in a client's callback, which nobody could catch."""

from __future__ import annotations

import threading


def tell(error: BaseException) -> None:
    """Report it as one that ends a thread: to ``threading.excepthook``, which prints it."""
    threading.excepthook(
        threading.ExceptHookArgs(
            (type(error), error, error.__traceback__, threading.current_thread())
        )
    )
