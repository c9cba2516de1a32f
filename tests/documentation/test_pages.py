# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the documentation shows is so: its Python runs, its commands and its links exist."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.documentation.page import blocks, run_page
from tests.helpers.printed import run_quietly
from urasync_l0 import Pool
from urasync_l0.tools import command

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "examples" / "README.md",
        ROOT / "benchmarks" / "traces" / "README.md",
    ]
)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def has_python(page: Path) -> bool:
    return any(block.language == "python" and block.is_run for block in blocks(page.read_text()))


RUN = [page for page in PAGES if has_python(page)]


def test_the_pages_with_python_are_found() -> None:
    assert {"README.md", "docs/guide/pools.md"} <= {name(page) for page in RUN}


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=name)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    assert int(run_quietly(tmp_path, "-m", "tests.documentation.page", str(page))) > 0


# -- commands --------------------------------------------------------------------------------------


COMMAND = re.compile(r" *(?:[A-Z_0-9]+=\S+ +)*((?:\S*/)?(?:make|python|urasync-pools) .*)")


def commands(page: Path) -> list[list[str]]:
    """The commands that a page's blocks for a shell show, without variables before them."""
    texts = [block.text for block in blocks(page.read_text()) if block.language in ("", "sh")]
    lines = [line for text in texts for line in text.replace("\\\n", " ").splitlines()]
    found = [COMMAND.match(line) for line in lines]
    return [shlex.split(match[1], comments=True) for match in found if match]


COMMANDS = [(page, words) for page in PAGES for words in commands(page)]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("page", "words"), COMMANDS, ids=[f"{name(page)}:{' '.join(words)}" for page, words in COMMANDS]
)
def test_a_command_exists(page: Path, words: list[str]) -> None:
    program, *arguments = words
    program = program.rpartition("/")[2]
    if program == "make":
        for target in arguments:
            assert target in TARGETS or re.match(r"[A-Z_]+=|-", target), target
    elif program == "urasync-pools":
        command._parser().parse_args(arguments)  # leaves with an error where something is unknown
    elif arguments[0] == "-m":
        assert arguments[1] == "venv" or find_spec(arguments[1]) is not None, arguments[1]
    elif arguments[0] != "-c":
        assert (ROOT / arguments[0]).exists() or arguments[0] in ("train.py", "program.py")


# -- links -----------------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def links(page: Path) -> list[str]:
    """What a page leads to inside the repository."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    found = [link or source for link, source in LINK.findall(text)]
    return [target for target in found if "://" not in target]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "source"),
    [("How much memory it takes", "performance.md"), ("Beside other allocators", "comparison.md")],
)
def test_the_readme_says_nothing_without_a_source(title: str, source: str) -> None:
    figures = (ROOT / "docs" / source).read_text().splitlines()
    section = (ROOT / "README.md").read_text().partition(f"## {title}\n")[2]
    rows = [line for line in section.partition("## ")[0].splitlines() if line.startswith("|")]

    assert len(rows) > 2
    assert [row for row in rows if row not in figures] == []


def test_the_comparison_names_its_sources() -> None:
    """Each row of its table has an entry below, and the differences that it counts are all."""
    page = (ROOT / "docs" / "comparison.md").read_text()
    table, _, rows = page.partition("## Rows")
    architecture = (ROOT / "ARCHITECTURE.md").read_text()
    differences = re.findall(r"^\| (D-\d+) \|", architecture, re.MULTILINE)

    assert len(re.findall(r"^\| ", table, re.MULTILINE)) - 1 == len(
        re.findall(r"^: ", rows, re.MULTILINE)
    )
    assert f"the rows {differences[0]} to {differences[-1]} of" in page
    assert set(re.findall(r"D-\d+", page)) <= set(differences)


def test_what_the_comparison_has_here_exists() -> None:
    """The names in the column about this package: of pools, or commands."""
    page = (ROOT / "docs" / "comparison.md").read_text()
    cells = [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| ")]
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]

    assert len(names) > 3
    for each in names:
        if not hasattr(Pool, each) and each != "urasync-pools":
            command._parser().parse_args(shlex.split(each))  # leaves with an error where it must


# -- the checks themselves -------------------------------------------------------------------------


def page_with(tmp_path: Path, text: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text(text)
    return page


def test_a_block_that_prints_something_else_is_found(tmp_path: Path) -> None:
    page = page_with(tmp_path, "```python\nprint(1, 'x')\n```\n\n```text\n* y\n```\n")

    with pytest.raises(SystemExit, match=r"page\.md:2: '1 x' is not as '\* y'"):
        run_page(page)


def test_a_block_that_prints_unannounced_is_found(tmp_path: Path) -> None:
    page = page_with(tmp_path, "```python\nprint(1)\n```\nWords.\n```text\n1\n```\n")

    with pytest.raises(SystemExit, match="too much at the end: 1"):
        run_page(page)


def test_an_error_names_the_line_of_the_page(tmp_path: Path) -> None:
    page = page_with(tmp_path, "# Page\n\n```python\na = 1\nb = a / 0\n```\n")

    with pytest.raises(ZeroDivisionError) as raised:
        run_page(page)
    assert raised.traceback[-1].lineno + 1 == 5  # pytest counts from 0


def test_blocks_share_their_names_and_some_are_not_run(tmp_path: Path) -> None:
    text = "```python\na = 1\n```\n<!-- not run: needs a GPU -->\n```python\na = 2\n```\n"
    page = page_with(tmp_path, text + "    \n```python\nprint(a)\n```\n```text\n1\n```\n")

    assert run_page(page) == 2
