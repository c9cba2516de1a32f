# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of deliberate differences in ARCHITECTURE.md, by which differences are judged.

A row that the comparison can meet has patterns in its last column, as
``legacy operation: fact Intel's value -> our value``: without a flavour for both, with ``*`` and
``?`` as in file names.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.intel.comparison import Difference

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"

_ROW = re.compile(r"^\| (D-\d\d) \| (.*) \|$", re.MULTILINE)
_PATTERN = re.compile(r"(?:(legacy|v2) )?([^:]+): (\S+) (.*) -> (.*)")


@dataclass(frozen=True)
class Row:
    """A deliberate difference: its id, and the patterns by which the comparison knows it."""

    id: str
    patterns: tuple[tuple[str, ...], ...]

    def covers(self, difference: Difference) -> bool:
        """Whether the row says that this difference is meant."""
        values = (
            difference.flavour,
            difference.operation,
            difference.fact,
            difference.intel,
            difference.here,
        )
        return any(all(map(fnmatchcase, values, pattern)) for pattern in self.patterns)


def read_rows(text: str | None = None) -> list[Row]:
    """The rows of the table, in its order.

    Raises
    ------
    ValueError
        If a pattern is none, two rows have one id, or there is no row at all.
    """
    if text is None:
        text = ARCHITECTURE.read_text(encoding="utf-8")
    rows = []
    for id_, cells in _ROW.findall(text):
        patterns = []
        for span in re.findall(r"`([^`]*)`", cells.rpartition(" | ")[2]):
            parts = _PATTERN.fullmatch(span)
            if parts is None:
                raise ValueError(f"{id_}: `{span}` is no pattern of a difference")
            patterns.append((parts[1] or "*", *parts.groups()[1:]))
        rows.append(Row(id_, tuple(patterns)))
    if not rows or len({row.id for row in rows}) != len(rows):
        raise ValueError("ARCHITECTURE.md has no rows D-01, D-02, …, or two with one id")
    return rows
