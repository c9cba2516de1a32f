# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects that stand for something in this process's driver: neither pickled nor copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def not_copied(instead: str) -> Callable[[Any, Any], NoReturn]:
    """A method ``__reduce_ex__``, which pickle, copy and multiprocessing ask, that refuses.

    Parameters
    ----------
    instead
        What to do instead, as a sentence of the TypeError.
    """

    def refuse(self: object, protocol: object) -> NoReturn:
        """Raise TypeError, with what to do instead."""
        raise TypeError(
            f"{self!r} can be neither pickled nor copied: it stands for something that this "
            f"process has in its driver. {instead}"
        )

    return refuse
