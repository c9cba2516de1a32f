# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples print what they should, with every warning an error and nothing for the checker."""

from pathlib import Path

import pytest

from tests.helpers.printed import check_printed, run_quietly

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXPECTED = Path(__file__).parent / "expected"


def test_each_example_has_its_expected_output() -> None:
    assert [path.stem for path in EXAMPLES] == sorted(path.stem for path in EXPECTED.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_should(example: Path, tmp_path: Path) -> None:
    printed = run_quietly(tmp_path, str(example))

    check_printed(printed, (EXPECTED / f"{example.stem}.txt").read_text("utf-8"))
