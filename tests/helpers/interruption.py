# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Raises in a call what a handler of signals may raise, at each place where Python calls handlers.

Python calls the handlers of signals where a function in Python begins and where a function in C has
come back; what they raise comes out there. A function that profiles is called at the same places,
and what it raises comes out in the same way.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class Interruption(BaseException):
    """What the handler raises."""


def interrupt(call: Callable[[], object], place: int) -> str | None:
    """Make a call with an interruption at its ``place``-th place, 0 is the first.

    Returns where that was, None if the call has not so many places. The interruption comes no
    further; any other error does.
    """
    left = place
    where = None

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left, where
        # What is raised in the callback of a weak reference comes out nowhere.
        if event not in ("call", "c_return") or frame.f_code.co_filename in (__file__, _WEAK_SET):
            return
        left -= 1
        if left < 0:
            sys.setprofile(None)
            of = getattr(argument, "__name__", "") if event == "c_return" else "its beginning"
            where = f"{frame.f_code.co_qualname}, line {frame.f_lineno}, {of}"
            raise Interruption

    sys.setprofile(profile)
    try:
        call()
    except Interruption:
        pass
    finally:
        sys.setprofile(None)
    return where


_WEAK_SET = sys.modules["_weakrefset"].__file__
