# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A C program that loads the libraries itself: every entry, wrong calls, threads, and the end."""

import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from importlib import import_module
from pathlib import Path

import pytest

import ur_library_build
from tests.ur_library.client_process import (
    ADAPTERS,
    LIBRARY,
    NO_COMPILER,
    OPENCL,
    SCENARIOS,
    SOURCES,
    client_settings,
    must_pass,
    run_client,
    scenario_settings,
)
from urasync_l0.ur_library import library_path


def test_every_entry_is_called() -> None:
    """By one scenario or another; each scenario is run by a test here."""
    header = (LIBRARY / "include" / "entries.h").read_text(encoding="utf-8")
    offered = {entry.name for entry in ur_library_build.declared_entries(header)}
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES.glob("*.c"))
    called = set(re.findall(r"UR\((\w+)\)", text)) | set(re.findall(r'^ *"(ur\w+)",', text, re.M))
    assert called == offered
    scenarios = re.findall(r'^    \{"(\w+)", \1\}', text, re.M)
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert len(scenarios) > 20
    assert {name for name in scenarios if f'"{name}"' not in tests} == set()


@pytest.mark.parametrize("flavour", ADAPTERS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(client: Path, flavour: str, scenario: str, tmp_path: Path) -> None:
    settings = scenario_settings(scenario, tmp_path)
    run = run_client(client, scenario, [library_path(flavour)], **settings)
    must_pass(run)
    if scenario != "programs" or not OPENCL:  # such a runtime has its own libraries, which talk
        assert run.stderr == ""  # nothing is logged that nobody asked for
    # As far as the software driver goes, which needs an OpenCL runtime to compile a program.
    assert run.stdout.removesuffix("passed\n") in ("", NO_COMPILER * (scenario == "programs"))


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_calls_under_way_are_waited_for_at_the_end(client: Path, flavour: str) -> None:
    """Else nothing could be released, and that is logged."""
    run = run_client(
        client, "exit_during_calls", [library_path(flavour)], UR_LOG_LEVEL_ZERO="level:warning"
    )
    must_pass(run)
    assert "nothing is released" not in run.stderr


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_kernels_on_memory_in_queue_order(client: Path, flavour: str, tmp_path: Path) -> None:
    """What Unified Runtime's own tests do with kernels, with the data looked at."""
    settings = scenario_settings("kernels", tmp_path)
    run = run_client(client, "kernels", [library_path(flavour)], **settings)
    must_pass(run)
    if run.stdout.startswith(NO_COMPILER):
        pytest.skip("the software driver found no OpenCL runtime (make test-kernels)")


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_the_end_during_kernels(client: Path, flavour: str, tmp_path: Path) -> None:
    """The driver's compiler, which was loaded late, must not be gone before what it runs."""
    settings = scenario_settings("exit_during_kernels", tmp_path)
    for _ in range(8):  # it is a matter of chance what runs at the end
        run = run_client(client, "exit_during_kernels", [library_path(flavour)], **settings)
        must_pass(run)
        if run.stdout.startswith(NO_COMPILER):
            pytest.skip("the software driver found no OpenCL runtime (make test-kernels)")


def test_two_adapters_in_one_process(client: Path) -> None:
    must_pass(run_client(client, "two_adapters", [library_path(name) for name in ADAPTERS]))


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_errors_are_logged_on_request(client: Path, flavour: str) -> None:
    run = run_client(
        client,
        "stale_handles",
        [library_path(flavour)],
        UR_LOG_LEVEL_ZERO="level:error;output:stderr",
    )
    must_pass(run)
    assert "<LEVEL_ZERO>[ERROR]: urEventRelease: " in run.stderr
    assert "[INVALID_EVENT]" in run.stderr


def test_the_log_goes_to_a_file(client: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    setting = f"level:warning;flush:error;output:file,{log}"
    run = run_client(client, "tables", [library_path("v2")], UR_LOG_LEVEL_ZERO=setting)
    must_pass(run)
    assert run.stderr == ""
    assert "<LEVEL_ZERO>[WARNING]: urSamplerCreate is not offered" in log.read_text()


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_fork_while_others_log(client: Path, flavour: str, tmp_path: Path) -> None:
    run = run_client(
        client,
        "fork_while_logging",
        [library_path(flavour)],
        UR_LOG_LEVEL_ZERO=f"level:error;output:file,{tmp_path / 'log'}",
    )
    must_pass(run)


def test_python_is_found_without_settings(client: Path, tmp_path: Path) -> None:
    """The client's folder, search path and user have nothing to do with it."""
    run = run_client(
        client,
        "memory",
        [library_path("legacy")],
        PATH="/nonexistent",
        HOME=str(tmp_path),
        UR_LOG_LEVEL_ZERO="level:info",
    )
    must_pass(run)
    assert f"[INFO]: started {sys.prefix}/bin/python" in run.stderr


@pytest.mark.parametrize("language", ["", "C.UTF-8"])
def test_the_client_is_left_alone(client: Path, language: str) -> None:
    """What Python would set where it is the program, and read: here it is a guest."""
    run = run_client(
        client,
        "leaves_the_client_alone",
        [library_path("v2")],
        LC_ALL="",
        LC_CTYPE="",
        LANG=language,
        PYTHONHOME="/nonexistent",
        PYTHONPATH=str(Path(__file__).parent),
        PYTHONDEVMODE="1",
        UR_LOG_LEVEL_ZERO="level:error",
    )
    must_pass(run)
    assert run.stderr == ""


def test_who_looks_at_its_pools_may_leave_early(client: Path) -> None:
    """Signals of sockets are the client's as well, and this one would be its end."""
    with (
        tempfile.TemporaryDirectory() as folder,  # the path of a socket must be short
        subprocess.Popen(
            [str(client), "waits_for_input", "direct", str(library_path("v2"))],
            env=client_settings(URASYNC_L0_POOL_SOCKET="1", XDG_RUNTIME_DIR=folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        [address] = (path for path in Path(folder).rglob("*") if path.is_socket())
        for _ in range(3):
            with socket.socket(socket.AF_UNIX) as looker:
                looker.settimeout(60)
                looker.connect(str(address))
                looker.shutdown(socket.SHUT_RD)
                looker.sendall(b'{"request": "snapshot"}\n')
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "passed\n")


def test_a_relative_path(client: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leads elsewhere when Python starts, with the first call."""
    library = library_path("v2")
    monkeypatch.chdir(library.parent)
    must_pass(run_client(client, "from_another_folder", [Path("..", *library.parts[-2:])]))


def copy_package(target: Path) -> Path:
    """A copy of the package, which says that it is one, with what it needs; its library."""
    package = shutil.copytree(
        library_path("v2").parents[1],
        target / "urasync_l0",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in ("cffi", "_cffi_backend"):
        origin = Path(str(import_module(name).__file__))
        needed = origin.parent if origin.stem == "__init__" else origin
        (target / needed.name).symlink_to(needed)
    with (package / "ur_library" / "startup.py").open("a", encoding="utf-8") as startup:
        startup.write("\nimport sys\nsys.stderr.write('the copy\\n')\n")
    return package / "ur_library" / library_path("v2").name


def test_the_package_beside_the_library_is_taken(client: Path, tmp_path: Path) -> None:
    """Also where the Python that is started has another one."""
    run = run_client(client, "memory", [copy_package(tmp_path)])
    must_pass(run)
    assert run.stderr == "the copy\n"


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="there is no libpython"
)
def test_the_python_that_built_it_is_gone(client: Path, tmp_path: Path) -> None:
    """As with ``pip install --target`` of a wheel from elsewhere: that of libpython is started."""
    library = copy_package(tmp_path)
    content = library.read_bytes()
    [built_by] = set(re.findall(rb"\0(/[^\0]+/bin/python[^\0]*)(?=\0)", content))
    library.write_bytes(content.replace(built_by, b"/nonexistent".ljust(len(built_by), b"\0")))
    run = run_client(client, "memory", [library], UR_LOG_LEVEL_ZERO="level:info")
    must_pass(run)
    assert f"[INFO]: started {sys.base_prefix}/bin/python" in run.stderr
    assert run.stderr.count("the copy\n") == 1


def test_an_environment_without_the_package(client: Path, tmp_path: Path) -> None:
    """A library that was copied to where Python is, but not the package: the reason is logged."""
    place = tmp_path / "lib" / "python3" / "site-packages" / "urasync_l0" / "ur_library"
    place.mkdir(parents=True)
    binary = tmp_path / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    binary.parent.mkdir()
    binary.symlink_to(Path(sys.executable).resolve())
    library = Path(shutil.copy(library_path("v2"), place))
    run = run_client(client, "not_started", [library], UR_LOG_LEVEL_ZERO="level:error")
    must_pass(run)
    assert "Python could not be started" in run.stderr
    quiet = run_client(client, "not_started", [library])
    must_pass(quiet)


def test_no_driver_is_a_result(client: Path) -> None:
    """The call fails with a code and a logged reason when Level Zero is not there."""
    run = run_client(
        client,
        "memory",
        [library_path("v2")],
        URASYNC_L0_LOADER="/nonexistent/libze_loader.so.1",
        UR_LOG_LEVEL_ZERO="level:error",
    )
    assert run.returncode == 1
    assert "37 instead of 0" in run.stderr
    assert "urPlatformGet: " in run.stderr
    assert "/nonexistent/libze_loader.so.1" in run.stderr
