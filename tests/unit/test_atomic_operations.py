# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package relies on without a lock (MT-1): single operations of builtin containers.

Each holds with the interpreter's lock and on the free-threaded build of CPython, which these tests
run on as well (`make test-free-threaded`). ARCHITECTURE.md says where each is used. Anything that
takes two operations is done under a lock.
"""

import itertools
import sys
import weakref
from collections import Counter, deque

import pytest

from tests.helpers.threads import run_together

THREADS = 4
ROUNDS = 3000


def test_frees_of_one_address_have_one_winner() -> None:
    """``dict.pop``: the registry of live allocations, of two frees one finds nothing."""
    live: dict[int, object] = {}
    won: list[list[int]] = [[] for _ in range(THREADS)]

    def claim(thread: int) -> None:
        for key in range(ROUNDS):
            if live.pop(key, None) is not None:
                won[thread].append(key)

    live.update((key, object()) for key in range(ROUNDS))
    run_together(claim, THREADS)
    assert sorted(key for each in won for key in each) == list(range(ROUNDS))
    assert not live


def test_what_collection_leaves_is_worked_off_once() -> None:
    """``deque.append`` and ``popleft``: finalizers, and pool events that may serve again."""
    waiting: deque[int] = deque()
    taken: list[list[int]] = [[] for _ in range(THREADS)]

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            waiting.append(thread * ROUNDS + number)
            try:
                taken[thread].append(waiting.popleft())
            except IndexError:  # another thread took it
                continue

    run_together(work, THREADS)
    found = [number for each in taken for number in each] + list(waiting)
    assert sorted(found) == list(range(THREADS * ROUNDS))


def test_stacks_lose_and_double_nothing() -> None:
    """``list.append`` and ``pop``: events at hand."""
    stack = list(range(THREADS))
    seen: list[Counter[int]] = [Counter() for _ in range(THREADS)]
    users: dict[int, int] = {}
    clashes: list[int] = []

    def work(thread: int) -> None:
        for _ in range(ROUNDS):
            try:
                item = stack.pop()
            except IndexError:
                continue
            if users.setdefault(item, thread) != thread:
                clashes.append(item)
            seen[thread][item] += 1
            del users[item]
            stack.append(item)

    run_together(work, THREADS)
    assert not clashes
    assert sorted(stack) == list(range(THREADS))
    assert sum(each.total() for each in seen) > 0


def test_the_first_value_stays() -> None:
    """``dict.setdefault``: of two threads the first sets the value, and both get it."""
    table: dict[int, int] = {}
    got: list[list[int]] = [[] for _ in range(THREADS)]

    def work(thread: int) -> None:
        for key in range(ROUNDS):
            got[thread].append(table.setdefault(key, thread))

    run_together(work, THREADS)
    assert all(each == [table[key] for key in range(ROUNDS)] for each in got)


def test_copies_of_changing_tables() -> None:
    """``list(dict.values())`` and ``list(list)``: what is iterated over was copied before."""
    table: dict[int, int] = {}
    stack: list[int] = []
    steady = range(-100, 0)
    table.update((key, key) for key in steady)
    stack.extend(steady)

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            key = thread * ROUNDS + number
            if thread % 2:
                table[key] = key
                stack.append(key)
                del table[key]
                stack.pop()
            else:
                values = list(table.values())
                assert set(steady) <= set(values)
                assert len(set(values)) == len(values)
                assert list(stack)[: len(steady)] == list(steady)

    run_together(work, THREADS)


def test_a_reader_sees_one_value_or_the_other() -> None:
    """A store to an attribute: the current pool of a device, a queue's completed mark."""

    class Cell:
        __slots__ = ("pair",)
        pair: tuple[int, int]

    cell = Cell()
    cell.pair = 0, 0

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            if thread % 2:
                cell.pair = number, number
            else:
                first, second = cell.pair
                assert first == second

    run_together(work, THREADS)


def test_objects_die_once() -> None:
    """A weak reference's callback: each dropped object is noted once, whichever thread drops it."""

    class Thing:
        """Something that can be dropped."""

    noted: deque[weakref.ref[Thing]] = deque()
    kept: list[list[weakref.ref[Thing]]] = [[] for _ in range(THREADS)]
    things: list[list[Thing]] = [[] for _ in range(THREADS)]
    for thread in range(THREADS):
        for _ in range(ROUNDS):
            thing = Thing()
            kept[thread].append(weakref.ref(thing, noted.append))
            things[(thread + 1) % THREADS].append(thing)
    del thing

    def work(thread: int) -> None:
        mine = things[thread]
        while mine:
            mine.pop()

    run_together(work, THREADS)
    assert Counter(map(id, noted)) == Counter(id(each) for row in kept for each in row)


def test_numbers_are_given_once() -> None:
    """``next`` of a counter, where the interpreter makes it one step; see `numbering`."""
    with_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    if not with_lock and sys.version_info < (3, 14):
        pytest.skip("free-threaded CPython 3.13 may give a number twice; 3.14 and later do not")
    counter = itertools.count()
    got: list[list[int]] = [[] for _ in range(THREADS)]

    def work(thread: int) -> None:
        for _ in range(ROUNDS):
            got[thread].append(next(counter))

    run_together(work, THREADS)
    assert sorted(number for each in got for number in each) == list(range(THREADS * ROUNDS))


def test_run_together_raises_what_a_thread_raised() -> None:
    def fail(thread: int) -> None:
        assert thread != 1, "thread 1"

    with pytest.raises(AssertionError, match="thread 1"):
        run_together(fail, 2)
