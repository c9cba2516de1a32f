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
    group.addoption(
        "--machine-search",
        type=int,
        default=0,
        metavar="N",
        help="run N times as many programs of the pool machine, at random (default: a fixed few)",
    )


@pytest.fixture(scope="session")
def machine_search(request: pytest.FixtureRequest) -> int:
    """How many times as many programs of the pool machine are run, at random; 0 for a fixed few."""
    return int(request.config.getoption("--machine-search"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "adapter" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--adapter")
        metafunc.parametrize("adapter", ADAPTERS if chosen == "all" else (chosen,))
