# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a context learns that one of its devices is lost.

Whoever calls Level Zero for a context lets the context's `DeviceLoss` see the error: ``with loss:``
around the call. So the context is poisoned wherever the loss shows, also where an error is of no
consequence to the call that met it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from urasync_l0 import loggers
from urasync_l0.result import DeviceLostError


class DeviceLoss:
    """The first report that a device of one context is lost. Any thread may call.

    Attributes
    ----------
    error
        The report; None while all is well.
    tell
        Called once, with the first report.
    """

    __slots__ = ("error", "tell")

    def __init__(self) -> None:
        self.error: DeviceLostError | None = None
        self.tell: Callable[[], None] | None = None

    def report(self, error: DeviceLostError) -> None:
        """Note that a device is lost."""
        if self.error is None:
            self.error = error
            loggers.CONTEXT.error("A device is lost, and its context with it: %s", error)
            if self.tell is not None:
                self.tell()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, DeviceLostError):
            self.report(error)
