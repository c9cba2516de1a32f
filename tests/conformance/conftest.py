# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contexts and queues of both adapters, on the chosen driver, with nothing left behind."""

import os
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, cast

import pytest

from tests.helpers.readback import expect_no_copies
from tests.helpers.stash import WENT_THROUGH
from tests.helpers.usm import KINDS, TIMEOUT_NS
from urasync_l0 import Context, Queue, UsmType
from urasync_l0.platform import default_platform
from urasync_l0.result import ProfilingInfoNotAvailableError
from urasync_l0.ze import loader
from urasync_l0.ze.loader import DriverName

if TYPE_CHECKING:
    from urasync_l0.software_driver.controls import Controls

READS_DATA = "data is read back"
"""Why most tests need a driver that executes."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the driver executes nothing, let tests that need it go as far as they come.

    So the driver sees their calls. What it refuses is a failure; what does not come about is not.
    Marks: ``run=False`` for tests that must not be left half-way, or would wait for long;
    ``strict=False`` if some parameters need no execution; ``raises`` is what the test meets then
    other than a failed assertion.
    """
    if not config.getoption("--executes-nothing"):
        return
    expect_no_copies()
    for item in items:
        for mark in item.iter_markers("needs_execution"):
            reason = f"needs execution: {mark.args[0]}"
            if mark.kwargs.get("run", True):
                # Memory that comes back may happen to hold the right bytes already.
                reads = mark.args[0] == READS_DATA
                strict = mark.kwargs.get("strict", not reads)
                met = mark.kwargs.get("raises", ())
                raises = (AssertionError, ProfilingInfoNotAvailableError, *met)
                item.add_marker(pytest.mark.xfail(reason=reason, raises=raises, strict=strict))
            else:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test went through, for fixtures that ask what it left."""
    report = yield
    if call.when == "call":
        item.stash[WENT_THROUGH] = call.excinfo is None
    return report


@pytest.fixture(scope="session")
def driver(request: pytest.FixtureRequest) -> DriverName:
    """The driver of this process, chosen once."""
    name = cast(DriverName, request.config.getoption("--driver"))
    loader.choose_driver(name)
    loader.initialise()
    return name


@pytest.fixture(scope="session")
def device_index(driver: DriverName) -> int:
    """The device of this process: the workers of pytest-xdist spread over those of the driver."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return int(number) % len(default_platform().devices)


@pytest.fixture(scope="session")
def _session_controls(driver: DriverName, device_index: int) -> "Controls | None":
    if driver != "software":
        return None
    from urasync_l0.software_driver.controls import Controls

    return Controls(device_index)


@pytest.fixture(autouse=True)
def _nothing_without_order(_session_controls: "Controls | None") -> Iterator[None]:
    """The software driver's checker must have nothing to report."""
    yield
    if _session_controls is not None:
        assert _session_controls.take_reports() == []


@pytest.fixture
def controls(_session_controls: "Controls | None") -> "Iterator[Controls]":
    """The software driver's test controls."""
    if _session_controls is None:
        pytest.skip("needs the software driver's controls")
    yield _session_controls
    _session_controls.clear_failures()
    _session_controls.hurry()


@pytest.fixture
def make_context(
    driver: DriverName, adapter: str, device_index: int, _session_controls: "Controls | None"
) -> Iterator[Callable[..., Context]]:
    """Makes contexts; at the end they are closed, and every native object must be gone.

    A context that names no devices is on the device of this process alone.
    """
    before = None if _session_controls is None else _session_controls.live_objects()
    made: list[Context] = []

    def make(**arguments: object) -> Context:
        devices = {"devices": [device_index]}
        context = Context(adapter, driver, **(devices | arguments))  # type: ignore[arg-type]
        made.append(context)
        return context

    yield make
    if _session_controls is not None:
        _session_controls.clear_failures()
        _session_controls.hurry()
    for context in made:
        assert context.close(TIMEOUT_NS), f"{context!r} does not close"
    if _session_controls is not None:
        assert _session_controls.live_objects() == before, "native objects are left"


@pytest.fixture
def context(make_context: Callable[..., Context]) -> Context:
    """A context on the device of this process."""
    return make_context()


@pytest.fixture
def queue(context: Context) -> Queue:
    """A queue on the first device."""
    return context.create_queue()


@pytest.fixture
def other_queue(context: Context, queue: Queue) -> Queue:
    """A second queue on the first device."""
    return context.create_queue()


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name.lower())
def kind(request: pytest.FixtureRequest) -> UsmType:
    """Each kind of USM."""
    return cast(UsmType, request.param)
