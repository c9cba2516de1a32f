# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of the whole suite."""

import os
import secrets
import subprocess
import sys

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
        "--schedule-seed",
        default="0",
        metavar="N",
        help="hold the software driver's commands back as a seed says; 'random' chooses one "
        "(default: 0, not at all)",
    )
    group.addoption(
        "--executes-nothing",
        action="store_true",
        help="the driver accepts commands and executes none, as Intel's without hardware",
    )
    group.addoption(
        "--machine-search",
        type=int,
        default=0,
        metavar="N",
        help="run N times as many programs of the pool machine, at random (default: a fixed few)",
    )


@pytest.hookimpl(tryfirst=True)  # pytest-xdist gives its workers the options as they are then
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--schedule-seed") == "random":
        config.option.schedule_seed = str(secrets.randbelow(10**9) + 1)
    # Before any test of the process starts the driver.
    os.environ.setdefault("URASYNC_L0_SOFTWARE_CHECK", "1")
    os.environ.setdefault("URASYNC_L0_SOFTWARE_SEED", config.getoption("--schedule-seed"))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--schedule-seed")
    return None if seed == "0" else f"repeat with --schedule-seed {seed}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    seed = config.getoption("--schedule-seed")
    if seed != "0" and terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"to repeat the failure: --schedule-seed {seed}")


LOOK = """
from urasync_l0.platform import default_platform
from urasync_l0.result import UrError
from urasync_l0.ze import loader
try:
    loader.choose_driver("system")
    loader.initialise()
    default_platform()
except UrError as error:
    raise SystemExit(str(error))
"""


def pytest_sessionstart(session: pytest.Session) -> None:
    """With ``--driver system``, end at once where there is no such driver, and say why.

    Another process looks, since one process has one driver; and before any worker starts.
    """
    config = session.config
    if config.getoption("--driver") != "system" or hasattr(config, "workerinput"):
        return
    run = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, check=False, timeout=60
    )
    if run.returncode:
        pytest.exit(f"--driver system cannot be used. {run.stderr.strip()}", returncode=4)


@pytest.fixture(scope="session")
def machine_search(request: pytest.FixtureRequest) -> int:
    """How many times as many programs of the pool machine are run, at random; 0 for a fixed few."""
    return int(request.config.getoption("--machine-search"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "adapter" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--adapter")
        metafunc.parametrize("adapter", ADAPTERS if chosen == "all" else (chosen,))
