# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Out-pointers of the UR-named entry points, and the rules of those that give a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from urasync_l0.result import InvalidNullPointerError, InvalidSizeError

T = TypeVar("T")


class Out(Generic[T]):
    """Where an entry point puts a result; ``None`` in its place is the null pointer.

    ``value`` does not exist before an entry writes it, and a failed entry writes nothing.
    """

    __slots__ = ("value",)
    value: T

    def __repr__(self) -> str:
        return f"Out({self.value!r})" if self.is_set else "Out(not set)"

    @property
    def is_set(self) -> bool:
        """Whether an entry has written a value."""
        return hasattr(self, "value")


def check_list(num_entries: int, items: Out[tuple[T, ...]] | None, count: Out[int] | None) -> None:
    """The checks of an entry that gives a list of handles.

    Raises
    ------
    InvalidNullPointerError
        If there is nowhere to put the answer, or no list for the entries asked for.
    InvalidSizeError
        If a list is given and no entry is asked for.
    """
    if items is None and (num_entries or count is None):
        raise InvalidNullPointerError(
            f"There is no list for {num_entries} entries, and "
            f"{'no count' if count is None else 'only a count'} to write."
        )
    if items is not None and num_entries <= 0:
        raise InvalidSizeError(f"A list is given, but {num_entries} entries are asked for.")


def write_list(
    num_entries: int, items: Out[tuple[T, ...]] | None, count: Out[int] | None, found: Sequence[T]
) -> tuple[T, ...]:
    """Write at most ``num_entries`` of what was found, and how many there are altogether.

    Returns what went into the list, which is what the caller holds from now on.
    """
    given = tuple(found[:num_entries]) if items is not None else ()
    if items is not None:
        items.value = given
    if count is not None:
        count.value = len(found)
    return given
