# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program printed, compared with a text that may have wildcards."""

from fnmatch import fnmatchcase
from itertools import zip_longest


def check_printed(printed: str, expected: str) -> None:
    """Raise AssertionError unless each line is as expected, where ``*`` stands for anything."""
    for line, pattern in zip_longest(printed.splitlines(), expected.splitlines()):
        assert line is not None, f"missing at the end: {pattern}"
        assert pattern is not None, f"too much at the end: {line}"
        # Only `*` is a wildcard: brackets stand for themselves.
        literal = pattern.rstrip().replace("[", "[[]").replace("?", "[?]")
        assert fnmatchcase(line.rstrip(), literal), f"{line!r} is not as {pattern!r}"
