# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples print what they should, with every warning an error and nothing for the checker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.printed import check_printed

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXPECTED = Path(__file__).parent / "expected"


def test_each_example_has_its_expected_output() -> None:
    assert [path.stem for path in EXAMPLES] == sorted(path.stem for path in EXPECTED.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_should(example: Path, tmp_path: Path) -> None:
    settings = {name: text for name, text in os.environ.items() if "URASYNC" not in name}
    settings |= {"URASYNC_L0_DRIVER": "software", "URASYNC_L0_SOFTWARE_CHECK": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        env={**settings, "PYTHONPATH": str(ROOT), "COLUMNS": "160"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (run.returncode, run.stderr) == (0, "")
    check_printed(run.stdout, (EXPECTED / f"{example.stem}.txt").read_text("utf-8"))
