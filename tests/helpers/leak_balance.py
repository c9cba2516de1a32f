# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table that the leak checker of the Level Zero loader prints at the end of a process."""

import re

_TABLE = re.compile(
    r"Check balance of create/destroy calls\n-+\n"
    r"(?P<rows>(?:[^\n]* = \d+[^\n]*\n|[^\n]*\\--->[^\n]*\n)*)"
)
_LEAK = re.compile(r"\\--->\s*(\w+) = \d+\s*---> LEAK = (-?\d+)")

# The checker counts neither zeContextCreateEx nor zeEventCounterBasedCreate, but the ends of what
# they create.
_UNCOUNTED = ("zeContextDestroy", "zeEventDestroy")


def count_balances(text: str) -> int:
    """How many processes have printed their table."""
    return len(_TABLE.findall(text))


def take_balance(text: str) -> tuple[str, list[str]]:
    """A process's error output without the tables in it, and what they say is out of balance."""
    leaks = [
        f"{name}: {number} left"
        for table in _TABLE.finditer(text)
        for name, number in _LEAK.findall(table["rows"])
        if not (name in _UNCOUNTED and int(number) < 0)
    ]
    return _TABLE.sub("", text), leaks
