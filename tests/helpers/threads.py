# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Let threads meet at as many places as possible."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 60
"""How long the threads of `run_together` may take."""


@contextmanager
def switching_often() -> Iterator[None]:
    """Switch threads about every microsecond within the ``with`` block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def run_together(work: Callable[[int], object], number: int) -> None:
    """Call ``work`` with 0, 1, … in a thread each, all at once; raise what one of them raised."""
    start = threading.Barrier(number)
    failures: list[BaseException] = []

    def run(thread: int) -> None:
        try:
            start.wait(SECONDS)
            work(thread)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in range(number)]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a thread did not end"
    if failures:
        raise failures[0]
