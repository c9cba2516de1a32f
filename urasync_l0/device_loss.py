# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a context learns that one of its devices is lost, and who is calling the driver for it.

Whoever calls Level Zero for a context lets the context's `DeviceLoss` see the error: ``with loss:``
around the call. So the context is poisoned wherever the loss shows, also where an error is of no
consequence to the call that met it; and a context that ends waits for the calls of other threads.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import TracebackType

from urasync_l0 import loggers
from urasync_l0.calls_under_way import CallsUnderWay
from urasync_l0.result import DeviceLostError, InvalidContextError

CLOSED = "The context is closed."

_NOBODY = -1  # no thread has this number


class DeviceLoss:
    """The first report that a device of one context is lost. Any thread may call.

    Attributes
    ----------
    error
        The report; None while all is well.
    tell
        Called once, with the first report.
    """

    __slots__ = ("_calls", "_closer", "error", "tell")

    def __init__(self) -> None:
        self.error: DeviceLostError | None = None
        self.tell: Callable[[], None] | None = None
        self._calls = CallsUnderWay()
        self._closer: int | None = None

    def report(self, error: DeviceLostError) -> None:
        """Note that a device is lost."""
        if self.error is None:
            self.error = error
            loggers.CONTEXT.error("A device is lost, and its context with it: %s", error)
            if self.tell is not None:
                self.tell()

    def require_none(self) -> None:
        """Raise DeviceLostError if a device is lost."""
        if self.error is not None:
            raise DeviceLostError(
                "A device of the context was lost in an earlier call, so the context can only be "
                f"closed. The first report: {self.error}",
                function=self.error.function,
            )

    def end_calls(self, timeout_ns: int) -> bool:
        """Refuse calls of all threads but this one from now on, and wait for those under way.

        Tells False when ``timeout_ns`` nanoseconds were not enough. A thread may still make the
        calls that belong to one under way.
        """
        self._closer = get_ident()
        return self._calls.have_ended(timeout_ns)

    def refuse_calls(self) -> None:
        """Refuse calls of this thread as well: there is no native context any more."""
        self._closer = _NOBODY

    def __enter__(self) -> None:
        self._calls.begin()
        if self._closer not in (None, get_ident()) and not self._calls.is_nested:
            self._calls.end()
            raise InvalidContextError(CLOSED)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._calls.end()
        if isinstance(error, DeviceLostError):
            self.report(error)
