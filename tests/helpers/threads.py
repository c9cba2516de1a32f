# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Let threads meet at as many places as possible."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def switching_often() -> Iterator[None]:
    """Switch threads about every microsecond within the ``with`` block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
