# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is made of the lines that SYCL programs print."""

import pytest

from tests.helpers.sycl import IMPOSSIBLE, judge

REFUSED = [f"error: {name}: RuntimeError: no" for name in IMPOSSIBLE]


def test_all_is_as_it_must_be() -> None:
    judged = judge("\n".join(["a library speaks: of itself", "right: sum", *REFUSED, "passed"]))
    assert (judged.right, judged.impossible, judged.wrong) == (("sum",), tuple(IMPOSSIBLE), ())


@pytest.mark.parametrize(
    "lines",
    [
        ["wrong: sum", *REFUSED, "passed"],
        ["error: sum: RuntimeError: no", *REFUSED, "passed"],
        ["right: sum", *REFUSED],
        ["right: sum", *REFUSED[1:], "passed"],
        ["right: sum", *REFUSED[1:], f"right: {next(iter(IMPOSSIBLE))}", "passed"],
    ],
    ids=["wrong", "refused", "cut off", "not tried", "possible after all"],
)
def test_anything_else_is_wrong(lines: list[str]) -> None:
    assert judge("\n".join(lines)).wrong
