# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why the tool cannot do what it was asked, in words for whoever asked."""

from __future__ import annotations


class ToolError(Exception):
    """The command ends here; the message says what happened, and what to do.

    It may quote what other programs say, so nothing in it is left that a terminal would act on.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def printable(text: str) -> str:
    """What a driver, another program or the environment says, with nothing that a terminal would
    act on."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )
