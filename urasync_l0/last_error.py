# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The message behind a result code, for callers that get only the code.

A Python caller has the exception. Where an entry point's exception becomes a code, `record` keeps
it for ``urAdapterGetLastError``, for each thread apart.
"""

from __future__ import annotations

import threading

from urasync_l0.result import UrError


class _ThreadErrors(threading.local):
    error: UrError | None = None


_errors = _ThreadErrors()


def record(error: UrError) -> None:
    """Keep an error of this thread until the next one."""
    # The frames of the traceback would keep alive what they refer to.
    _errors.error = error.with_traceback(None)


def last() -> UrError | None:
    """The error that this thread recorded last."""
    return _errors.error
