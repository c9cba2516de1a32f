# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Let threads meet at as many places as possible."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.helpers.usm import TIMEOUT_NS

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


class Pause:
    """Holds the first thread, but the test's own, that calls something, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.reached = threading.Event()
        self._go_on = threading.Event()
        call = getattr(module, name)
        test = threading.current_thread()

        def paused(*arguments: Any, **named: Any) -> Any:
            # A queue that closes makes such calls as well.
            if threading.current_thread() is not test and not self.reached.is_set():
                self.reached.set()
                assert self._go_on.wait(TIMEOUT_NS / 1e9)
            return call(*arguments, **named)

        monkeypatch.setattr(module, name, paused)

    def release(self) -> None:
        self._go_on.set()


class InThread(threading.Thread):
    """A call in a thread of its own; `result` waits for it and returns what it returned."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._result: object = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._result = self._call()
        except BaseException as error:
            self._error = error

    def result(self) -> object:
        self.join(TIMEOUT_NS / 1e9)
        assert not self.is_alive(), "the call does not return"
        if self._error is not None:
            raise self._error
        return self._result
