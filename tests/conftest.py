# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of the whole suite."""

import pytest

ADAPTERS = ("legacy", "v2")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("urasync_l0")
    group.addoption(
        "--adapter",
        choices=(*ADAPTERS, "all"),
        default="all",
        help="run the conformance tests with one adapter only (default: all)",
    )
    group.addoption(
        "--driver",
        choices=("software", "system"),
        default="software",
        help="the Level Zero driver of the conformance tests (default: software)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "adapter" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--adapter")
        metafunc.parametrize("adapter", ADAPTERS if chosen == "all" else (chosen,))
