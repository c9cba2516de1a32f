# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loader in every state it can be in, each in a process of its own."""

from pathlib import Path

import pytest

import ze_build
from tests.system.made_loader import make_loader
from tests.system.python_process import run_program

INITIALISE = """
from urasync_l0.ze import loader
def program():
    facts["loader"] = loader.initialise().loader
"""

GET_DEVICES = """
from urasync_l0.ze import device, driver
def program():
    facts["devices"] = len(device.get_devices(driver.get_drivers()[0]))
"""

GET_DRIVERS = """
from urasync_l0.ze import driver, loader
def program():
    try:
        facts["drivers"] = len(driver.get_drivers())
    finally:
        facts["counts"] = loader.call_counts()
"""


def test_importing_needs_no_loader() -> None:
    answer = run_program(
        """
from urasync_l0.ze import command_list, context, device, driver, event, loader, memory
def program():
    facts["has"] = loader.has("zeInit")
    facts["version"] = loader.loader_version()
    facts["calls"] = loader.total_calls()
""",
        URASYNC_L0_LOADER="/nonexistent/libze_loader.so.1",
    )
    assert answer == {"error": None, "has": False, "version": None, "calls": 0}


def test_a_call_before_the_loader_is_open() -> None:
    answer = run_program(
        """
from urasync_l0.ze import memory
from urasync_l0.ze._extension import ffi
def program():
    memory.alloc_host(ffi.cast("ze_context_handle_t", 1), 64)
"""
    )
    assert answer["error"] == "UninitializedError"
    assert "Level Zero is not initialised" in answer["text"]


def test_no_loader() -> None:
    answer = run_program(INITIALISE, URASYNC_L0_LOADER="/nonexistent/libze_loader.so.1")
    assert answer["error"] == "LoaderNotFoundError"
    assert answer["code"] == "UNINITIALIZED"
    for part in ("/nonexistent/libze_loader.so.1", "libze1", "URASYNC_L0_LOADER"):
        assert part in answer["text"]


def test_a_library_that_is_no_loader() -> None:
    answer = run_program(INITIALISE, URASYNC_L0_LOADER="libm.so.6")
    assert answer["error"] == "LoaderNotFoundError"


def test_an_old_loader(tmp_path: Path) -> None:
    lacks = ("zeVirtualMemMap", "zeMemFreeExt")
    library = make_loader(tmp_path, without=lacks)
    answer = run_program(INITIALISE, URASYNC_L0_LOADER=str(library))
    assert answer["error"] == "LoaderTooOldError"
    assert answer["code"] == "UNSUPPORTED_VERSION"
    for part in (str(library), *lacks, "1.8", "libze1"):
        assert part in answer["text"]
    assert "zeMemAllocHost" not in answer["text"]
    assert not (tmp_path / "log").exists()


def test_no_driver() -> None:
    answer = run_program(INITIALISE, ZE_ENABLE_ALT_DRIVERS="/nonexistent/libze_other.so")
    assert answer["error"] == "DriverNotFoundError"
    assert answer["code"] == "UNINITIALIZED"
    for part in ("/nonexistent/libze_other.so", "libze-intel-gpu1", "URASYNC_L0_DRIVER=software"):
        assert part in answer["text"]


@pytest.mark.parametrize("name", ["no_drivers", "uninitialised"])
def test_no_driver_whatever_way_the_loader_says_it(tmp_path: Path, name: str) -> None:
    result = 0 if name == "no_drivers" else 0x78000001
    library = make_loader(tmp_path, drivers=0, init_result=result)
    answer = run_program(INITIALISE, URASYNC_L0_LOADER=str(library))
    assert answer["error"] == "DriverNotFoundError"


def test_a_driver_that_fails(tmp_path: Path) -> None:
    library = make_loader(tmp_path, init_result=0x70020000)
    answer = run_program(INITIALISE, URASYNC_L0_LOADER=str(library))
    assert answer["error"] == "UninitializedError"
    assert "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE" in answer["text"]


def test_no_device(tmp_path: Path) -> None:
    library = make_loader(tmp_path)
    answer = run_program(GET_DEVICES, URASYNC_L0_LOADER=str(library))
    assert answer["error"] == "DeviceNotFoundError"
    assert answer["code"] == "DEVICE_NOT_FOUND"
    for part in ("no device", "ZE_AFFINITY_MASK", "URASYNC_L0_DRIVER=software"):
        assert part in answer["text"]


def test_the_five_states_have_five_texts(tmp_path: Path) -> None:
    for name in ("old", "empty"):
        (tmp_path / name).mkdir()
    old = make_loader(tmp_path / "old", without=["zeMemFree"])
    empty = make_loader(tmp_path / "empty")
    texts = [
        run_program(INITIALISE, URASYNC_L0_LOADER="/nonexistent/loader.so"),
        run_program(INITIALISE, URASYNC_L0_LOADER=str(old)),
        run_program(INITIALISE, ZE_ENABLE_ALT_DRIVERS="/nonexistent/driver.so"),
        run_program(INITIALISE, ZE_ENABLE_ALT_DRIVERS=""),
        run_program(GET_DEVICES, URASYNC_L0_LOADER=str(empty)),
    ]
    assert len({answer["text"] for answer in texts}) == 5


def test_an_empty_list_of_drivers_is_refused() -> None:
    answer = run_program(INITIALISE, ZE_ENABLE_ALT_DRIVERS="")
    assert answer["error"] == "InvalidOperationError"
    assert "ZE_ENABLE_ALT_DRIVERS" in answer["text"]
    assert "crashes" in answer["text"]


def test_an_unknown_driver_name() -> None:
    answer = run_program(INITIALISE, URASYNC_L0_DRIVER="hardware")
    assert answer["error"] == "InvalidValueError"
    for part in ("'hardware'", "URASYNC_L0_DRIVER", "'system'", "'software'"):
        assert part in answer["text"]


CHOOSE_TWICE = """
from urasync_l0.ze import loader
def program():
    facts["first"] = loader.choose_driver({first!r})
    facts["second"] = loader.choose_driver({second!r})
"""


@pytest.mark.parametrize(("first", "second"), [("system", "software"), ("software", "system")])
def test_a_second_different_choice(first: str, second: str) -> None:
    answer = run_program(CHOOSE_TWICE.format(first=first, second=second))
    assert answer["error"] == "InvalidOperationError"
    assert f"the {first} driver" in answer["text"]
    assert f"the {second} driver" in answer["text"]


@pytest.mark.parametrize("second", ["software", None])
def test_the_same_choice_again(second: str | None) -> None:
    answer = run_program(CHOOSE_TWICE.format(first="software", second=second))
    assert answer == {"error": None, "first": "software", "second": "software"}


def test_the_variable_is_the_default_and_an_argument_overrides_it() -> None:
    by_variable = run_program(
        CHOOSE_TWICE.format(first=None, second=None), URASYNC_L0_DRIVER="software"
    )
    assert by_variable["first"] == "software"
    by_argument = run_program(
        CHOOSE_TWICE.format(first="system", second=None), URASYNC_L0_DRIVER="software"
    )
    assert by_argument["second"] == "system"


def test_a_parents_choice_reaches_its_children() -> None:
    library = "/some/folder/libze_urasync_software.so"
    default = CHOOSE_TWICE.format(first=None, second=None)
    assert run_program(default, ZE_ENABLE_ALT_DRIVERS=library)["first"] == "software"
    answer = run_program(
        CHOOSE_TWICE.format(first="system", second=None), ZE_ENABLE_ALT_DRIVERS=library
    )
    assert answer["error"] == "InvalidOperationError"
    assert "ZE_ENABLE_ALT_DRIVERS names the software driver" in answer["text"]


def test_optional_entries_that_the_loader_lacks(tmp_path: Path) -> None:
    library = make_loader(tmp_path)
    answer = run_program(
        f"""
from urasync_l0.ze import command_list, loader
from urasync_l0.ze._extension import ffi
def program():
    loader.initialise()
    facts["has"] = {{name: loader.has(name) for name in {sorted(ze_build.OPTIONAL_ENTRIES)}}}
    facts["memory"] = loader.has("zeMemAllocHost")
    command_list.host_synchronize(ffi.cast("ze_command_list_handle_t", 0x1000), 0)
""",
        URASYNC_L0_LOADER=str(library),
    )
    assert answer["has"] == dict.fromkeys(ze_build.OPTIONAL_ENTRIES, False)
    assert answer["memory"] is True
    assert answer["error"] == "UnsupportedFeatureError"
    assert "zeCommandListHostSynchronize" in answer["text"]
    assert "loader has no such entry" in answer["text"]


def test_a_new_loader_is_initialised_the_new_way(tmp_path: Path) -> None:
    library = make_loader(tmp_path, optional=["zeInitDrivers"], drivers=2)
    answer = run_program(GET_DRIVERS, URASYNC_L0_LOADER=str(library))
    assert answer["drivers"] == 2
    assert answer["counts"] == {"zeInitDrivers": 2}
    assert (tmp_path / "log").read_text() == "zeInitDrivers 1\n" * 2


def test_a_new_loader_with_an_old_driver(tmp_path: Path) -> None:
    library = make_loader(tmp_path, optional=["zeInitDrivers"], init_drivers_result=0x78000003)
    answer = run_program(GET_DRIVERS, URASYNC_L0_LOADER=str(library))
    assert answer["drivers"] == 1
    assert answer["counts"] == {"zeInitDrivers": 1, "zeInit": 1, "zeDriverGet": 2}


@pytest.mark.parametrize("drivers", [0, 1])
def test_a_new_loader_without_a_driver(tmp_path: Path, drivers: int) -> None:
    result = 0x78000001 if drivers else 0
    library = make_loader(
        tmp_path, optional=["zeInitDrivers"], drivers=drivers, init_drivers_result=result
    )
    answer = run_program(GET_DRIVERS, URASYNC_L0_LOADER=str(library))
    assert answer["error"] == "DriverNotFoundError"
    assert not {"zeInit", "zeDriverGet"} & set(answer["counts"])


@pytest.mark.parametrize(("result", "complete"), [(0, True), (1, False)])
def test_waiting_for_a_list_on_a_new_loader(tmp_path: Path, result: int, complete: bool) -> None:
    library = make_loader(tmp_path, optional=["zeCommandListHostSynchronize"], wait_result=result)
    answer = run_program(
        """
from urasync_l0.ze import command_list, loader
from urasync_l0.ze._extension import ffi
def program():
    loader.initialise()
    handle = ffi.cast("ze_command_list_handle_t", 0x1000)
    facts["complete"] = command_list.host_synchronize(handle, 0)
""",
        URASYNC_L0_LOADER=str(library),
    )
    assert answer == {"error": None, "complete": complete}


def test_the_real_loader_says_its_version() -> None:
    answer = run_program(
        """
from urasync_l0.result import UrError
from urasync_l0.ze import command_list, loader
from urasync_l0.ze._extension import ffi
def program():
    loader.choose_driver("software")
    loader.initialise()
    facts["version"] = loader.loader_version()
    facts["has"] = loader.has("zeCommandListHostSynchronize")
"""
    )
    assert answer["error"] is None
    major, minor, _ = map(int, answer["version"].split("."))
    assert (major, minor) >= (1, 8)
    assert answer["has"] is ((major, minor) > (1, 8))


def test_calls_are_counted(tmp_path: Path) -> None:
    library = make_loader(tmp_path, drivers=2)
    answer = run_program(
        """
from urasync_l0.ze import context, driver, loader
from urasync_l0.ze._extension import ffi
def program():
    facts["drivers"] = len(driver.get_drivers())
    driver.get_drivers()
    handle = ffi.cast("ze_context_handle_t", 0x1000)
    for _ in range(5):
        context.get_status(handle)
    before = loader.total_calls()
    context.destroy(handle)
    facts["more"] = loader.total_calls() - before
    facts["counts"] = loader.call_counts()
    facts["total"] = loader.total_calls()
""",
        URASYNC_L0_LOADER=str(library),
    )
    assert answer["drivers"] == 2
    assert answer["more"] == 1
    assert answer["counts"] == {
        "zeInit": 1,
        "zeDriverGet": 2,
        "zeContextGetStatus": 5,
        "zeContextDestroy": 1,
    }
    assert answer["total"] == 9


def test_many_threads_initialise_once(tmp_path: Path) -> None:
    library = make_loader(tmp_path)
    answer = run_program(
        """
import threading
from urasync_l0.ze import loader
def program():
    start = threading.Barrier(8)
    def work():
        start.wait(60)
        loader.initialise()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join(60)
    facts["counts"] = loader.call_counts()
""",
        URASYNC_L0_LOADER=str(library),
    )
    assert answer["counts"] == {"zeInit": 1, "zeDriverGet": 2}
    assert (tmp_path / "log").read_text() == "zeInit 1\n"


FORK = """
import os
from urasync_l0.result import UrError
from urasync_l0.ze import context, driver, loader
from urasync_l0.ze._extension import ffi

def in_child(work):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            text = "no error"
        except UrError as error:
            text = f"{type(error).__name__} {error}"
        os.write(writer, f"{text} calls={loader.total_calls()}".encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text
"""


@pytest.mark.parametrize(
    "work",
    [
        "loader.initialise",
        "driver.get_drivers",
        "lambda: context.get_status(ffi.cast('ze_context_handle_t', 0x1000))",
    ],
)
def test_a_forked_child_makes_no_call(tmp_path: Path, work: str) -> None:
    library = make_loader(tmp_path)
    answer = run_program(
        f"""{FORK}
def program():
    loader.initialise()
    facts["before"] = loader.total_calls()
    facts["child"] = in_child({work})
    context.get_status(ffi.cast("ze_context_handle_t", 0x1000))
""",
        URASYNC_L0_LOADER=str(library),
    )
    assert answer["error"] is None  # the parent goes on
    assert answer["child"].startswith("UninitializedError")
    assert "forked" in answer["child"]
    assert "spawn" in answer["child"]
    assert answer["child"].endswith(f"calls={answer['before']}")


def test_a_child_forked_before_the_first_use_may_initialise(tmp_path: Path) -> None:
    library = make_loader(tmp_path)
    answer = run_program(
        f"""{FORK}
def program():
    facts["child"] = in_child(loader.initialise)
    loader.initialise()
""",
        URASYNC_L0_LOADER=str(library),
    )
    assert answer["error"] is None
    assert answer["child"] == "no error calls=3"
