# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page of the documentation as a program: its blocks of Python, run one after another.

``python -m tests.documentation.page PAGE`` runs a page. What a block prints must be what the block
of plain text right behind it says, where ``*`` stands for anything. A block that cannot run
anywhere has a comment before it: ``<!-- not run: the reason -->``.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from tests.helpers.printed import check_printed

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*\Z")


class Block(NamedTuple):
    """A fenced block.

    Attributes
    ----------
    language
        What stands behind the fence, such as "python".
    line
        The number of its first line in the page.
    text
        What it holds.
    is_run
        False where the page says why it cannot be run.
    is_output
        Whether it is plain text right behind another block, with nothing but blank lines between.
    """

    language: str
    line: int
    text: str
    is_run: bool
    is_output: bool


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    end = None
    for fence in _FENCE.finditer(page):
        start = fence.start()
        found.append(
            Block(
                fence["language"],
                page.count("\n", 0, fence.start("text")) + 1,
                dedent(fence["text"]),
                _NOT_RUN.search(page, 0, start) is None,
                fence["language"] == "text" and end is not None and not page[end:start].strip(),
            )
        )
        end = fence.end()
    return found


def run_page(path: Path) -> int:
    """Run a page's Python in one namespace; return how many blocks there were."""
    found = blocks(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for place, block in enumerate(found, 1):
        if block.language != "python" or not block.is_run:
            continue
        # As many blank lines before it as the page has, so that a traceback names the right line.
        code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
        with redirect_stdout(io.StringIO()) as output:
            exec(code, names)
        expected = [each.text for each in found[place : place + 1] if each.is_output]
        try:
            check_printed(output.getvalue(), "".join(expected))
        except AssertionError as error:
            raise SystemExit(f"{path}:{block.line}: {error}") from None
        count += 1
    return count


if __name__ == "__main__":
    print(run_page(Path(sys.argv[1])))
