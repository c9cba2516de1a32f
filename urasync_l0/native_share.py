# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native objects that several objects of ours may stand for.

A client may ask a queue or a context for its native handle and make another one over it. Both then
hold the native object, whichever of them is to own it, and the last one destroys it.

Somebody else's native object is known here from the moment when one of ours is to own it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Held(Generic[T]):
    about: T
    holders: int = 1


class NativeShares(Generic[T]):
    """The native objects of one kind that objects of ours own, by handle. Any thread may call.

    Attributes
    ----------
    about
        What is known about each.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[int, _Held[T]] = {}

    def own(self, handle: int, about: T) -> None:
        """Hold a native object that was just made."""
        with self._lock:
            self._held[handle] = _Held(about)

    def about(self, handle: int) -> T | None:
        """What is known about a native object, if one of ours owns it."""
        held = self._held.get(handle)
        return None if held is None else held.about

    def adopt(self, handle: int, about: T, *, is_owned: bool) -> bool:
        """Hold a native object that exists, if one of ours owns it or is to; tell whether so."""
        with self._lock:
            held = self._held.get(handle)
            if held is not None:
                held.holders += 1
            elif is_owned:
                self._held[handle] = _Held(about)
            return held is not None or is_owned

    def is_shared(self, handle: int) -> bool:
        """Whether several hold it."""
        held = self._held.get(handle)
        return held is not None and held.holders > 1

    def let_go(self, handle: int) -> bool:
        """Hold it no longer; tell whether nobody does, and it is to be destroyed."""
        with self._lock:
            held = self._held[handle]
            held.holders -= 1
            if held.holders:
                return False
            del self._held[handle]
            return True

    def give_back(self, handle: int, destroy: Callable[[], object]) -> None:
        """Hold it no longer; the last one destroys it, or holds it on if that fails."""
        held = self._held.get(handle)
        if held is None or not self.let_go(handle):
            return
        try:
            destroy()
        except BaseException:
            self.own(handle, held.about)
            raise
