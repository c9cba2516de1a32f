# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pytest plugin for runs under the checkers of the loader's validation layer.

A test fails for which a checker reports something. Checkers print to the error output of the
process, so that is what is looked at.

Faults of the checkers of loader 1.32, which are worked around:

- The handle-lifetime checker enters an immediate list as closed and refuses every append to it. A
  reset opens it in the checker's books; the software driver refuses the reset itself, which changes
  nothing there.
- It takes the destruction of physical memory for that of its context, and refuses it.
- It, and the events checker, note a call before the driver answers, so calls that the driver was
  told to fail count as made.
- They keep their books without a lock.

A test that meets one of the last three is skipped, with that reason: where it does so, or before
it begins if it is known for it. Another run, without these two checkers, has it.
"""

import ctypes
import gc
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from urasync_l0 import Context
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list, virtual_memory
from urasync_l0.ze.handles import CommandListHandle, handle_value

REPORT = "Warning:"
"""What the line of a report has in it."""

FAILURES = "the checker takes calls that the driver was told to fail as made"
THREADS = "the checker keeps its books without a lock, and the test starts threads"
PHYSICAL = "the handle-lifetime checker takes physical memory's end for its context's"

LEFT = (
    "it counts all memory of the process, and tests that were left half-way keep some for a while"
)

LOGS = "the handle-lifetime checker does not know the log of a build that failed"

KNOWN = {
    "test_program": LOGS,
    "test_verification_kernel.py": LOGS,
    "test_pool_machine.py": LEFT,
    "test_threads.py": THREADS,
    "test_close_race.py": THREADS,
    "test_peer_access_failure.py": FAILURES,
    "test_callback": THREADS,
    "test_each_failing_call": FAILURES,
    "test_over_native_objects": FAILURES,
    "test_a_context_that_the_driver_does_not_let_go": FAILURES,
    "test_a_blocking_call_whose_wait_fails": FAILURES,
}
"""Tests that could not be left where they meet it, by a part of their name."""

UNSTOPPED = (
    "under these checkers some of its calls do not stop where they should, for a reason not "
    "known yet, and then leave a queue held"
)

EVERYWHERE = {
    "test_slow_device.py": UNSTOPPED,
    "test_a_program_is_built_for_each_device": "it reads all that a process says, and the leak "
    "checker speaks there",
}
"""Tests that go with none of the checkers."""

LIFETIME = os.environ.get("ZE_ENABLE_HANDLE_LIFETIME") == "1"
EVENTS = os.environ.get("ZEL_ENABLE_EVENTS_CHECKER") == "1"

_left = False
"""Whether the test before was left half-way."""

_create_immediate = command_list.create_immediate


def _create_open(*arguments: object, **options: object) -> CommandListHandle:
    created = _create_immediate(*arguments, **options)  # type: ignore[arg-type]
    ctypes.CDLL("libze_loader.so.1").zeCommandListReset(ctypes.c_void_p(handle_value(created)))
    return created


if LIFETIME:
    command_list.create_immediate = _create_open


def _skip(reason: str) -> Callable[..., NoReturn]:
    def skip(*arguments: object, **options: object) -> NoReturn:
        global _left
        _left = True
        pytest.skip(reason)

    return skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is known not to go with the checkers."""
    known = EVERYWHERE | (KNOWN if LIFETIME or EVENTS else {})
    for item in items:
        for part, reason in known.items():
            if part in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _what_the_checkers_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    global _left
    if _left:
        # What the test had that was left half-way must not go during this one; a context that
        # nobody holds goes when the next is made.
        gc.collect()
        Context("legacy", "software").close()
        _left = False
    if LIFETIME:
        monkeypatch.setattr(virtual_memory, "create_physical", _skip(PHYSICAL))
    if LIFETIME or EVENTS:
        monkeypatch.setattr(Controls, "fail", _skip(FAILURES))
        monkeypatch.setattr(threading.Thread, "start", _skip(THREADS))


@pytest.fixture(autouse=True)
def _no_report() -> Iterator[None]:
    """Fail a test for which a checker has something to report."""
    with tempfile.TemporaryFile() as output:
        saved = os.dup(2)
        os.dup2(output.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            output.seek(0)
            text = output.read()
            os.write(2, text)
    reports = [line for line in text.decode(errors="replace").splitlines() if REPORT in line]
    assert not reports, "the loader's checkers report:\n" + "\n".join(reports[:20])
