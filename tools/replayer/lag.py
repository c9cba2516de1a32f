# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion that lags: a command completes some trace lines after it was appended.

A queue rarely finishes at once, and allocators that look equal then differ most. The software
driver's gates decide it: each list may run the commands that had been appended to it so many lines
ago, and no other. There are two ways to choose how many:

`EvenLag`
    Every list lags by the same number of lines, and after each line the host waits until what may
    run has run. So memory figures do not depend on how fast the workers are.
`UnevenLag`
    Each list lags by a number of its own, drawn anew from time to time, and nobody waits: one
    queue runs far ahead of another and is overtaken later. This is what brings memory to light that
    was handed out too early: in step, queues run in the order of the trace, and all looks right.

The host must not wait for a held list in any other way. Lines that do, and the end, open all lists
first: everything that was appended so far may then complete.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Protocol


class HeldList(Protocol):
    """A command list whose completion the replay decides."""

    def appended(self) -> int:
        """Number of commands that were appended so far."""

    def allow(self, number: int | None) -> None:
        """Let the first `number` commands run and hold the next; None holds nothing."""

    def wait_completed(self, number: int) -> None:
        """Return when the first `number` commands have completed; raise if they do not."""


class Lag(Protocol):
    """What a replay calls between its lines. Begins open."""

    def hold(self) -> None:
        """From now on let nothing run but what was appended before this call."""

    def step(self) -> None:
        """A line is over: let run what has lagged enough."""

    def open(self) -> None:
        """Let everything run, also what will be appended, until the next `hold` or `step`."""


class EvenLag:
    """Holds all lists back by `lines` lines; with 0 a command completes at the end of its line."""

    def __init__(self, lists: Sequence[HeldList], lines: int) -> None:
        self._lists = lists
        self._lines = lines
        self._history: deque[list[int]] = deque()
        self._allowed: list[int] = []
        self._is_open = True

    def hold(self) -> None:
        self._history.clear()
        self._allow(_appended(self._lists))

    def step(self) -> None:
        self._history.append(_appended(self._lists))
        if len(self._history) > self._lines:
            self._allow(self._history.popleft())
        elif self._is_open:
            self._allow(self._allowed)

    def open(self) -> None:
        # Waits as well: what the host sees next must not depend on the workers either.
        self._is_open = True
        for held in self._lists:
            held.allow(None)
        for held in self._lists:
            held.wait_completed(held.appended())

    def _allow(self, numbers: list[int]) -> None:
        if numbers == self._allowed and not self._is_open:
            return
        self._allowed = numbers
        self._is_open = False
        for held, number in zip(self._lists, numbers, strict=True):
            held.allow(number)
        # Only now: a command may wait for another list's.
        for held, number in zip(self._lists, numbers, strict=True):
            held.wait_completed(number)


class UnevenLag:
    """Holds each list back by a number of lines of its own, at most `lines`, drawn with `seed`.

    Every `lines` lines one list draws anew. Never waits.
    """

    def __init__(self, lists: Sequence[HeldList], lines: int, seed: int = 1) -> None:
        self._lists = lists
        self._lines = lines
        self._draw = random.Random(seed)
        self._lags = [self._draw.randint(0, lines) for _ in lists]
        self._history: deque[list[int]] = deque(maxlen=lines + 1)
        self._allowed = [0] * len(lists)
        self._is_open = True
        self._steps = 0

    def hold(self) -> None:
        self._history.clear()
        self._allowed = _appended(self._lists)
        for held, number in zip(self._lists, self._allowed, strict=True):
            held.allow(number)
        self._is_open = False

    def step(self) -> None:
        self._history.append(_appended(self._lists))
        self._steps += 1
        if self._steps % (self._lines + 1) == 0:
            self._lags[self._draw.randrange(len(self._lags))] = self._draw.randint(0, self._lines)
        for index, held in enumerate(self._lists):
            lag = self._lags[index]
            number = self._history[-1 - lag][index] if lag < len(self._history) else 0
            if number > self._allowed[index] or self._is_open:
                self._allowed[index] = max(number, self._allowed[index])
                held.allow(self._allowed[index])
        self._is_open = False

    def open(self) -> None:
        self._is_open = True
        for held in self._lists:
            held.allow(None)


def _appended(lists: Sequence[HeldList]) -> list[int]:
    return [held.appended() for held in lists]
