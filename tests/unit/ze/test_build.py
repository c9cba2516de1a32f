# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the build says when something is missing, and what it takes from where."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

import ze_build


@pytest.fixture(autouse=True)
def _fresh_probe() -> Iterator[None]:
    ze_build.missing_identifiers.cache_clear()
    yield
    ze_build.missing_identifiers.cache_clear()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"C compiler was not found.*\n.*apt-get install gcc"):
        ze_build.preprocessor_flags()


def test_a_named_compiler_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "a-compiler-that-is-not-there -m64")
    with pytest.raises(SystemExit, match="'a-compiler-that-is-not-there'"):
        ze_build.compiler()


def test_no_headers_where_the_variable_points(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("URASYNC_L0_INCLUDE", str(tmp_path))
    with pytest.raises(SystemExit) as caught:
        ze_build.preprocessor_flags()
    text = str(caught.value)
    assert f"no level_zero/ze_api.h in {tmp_path}" in text
    assert "apt-get install libze-dev" in text
    assert "URASYNC_L0_INCLUDE" in text


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            "echo 'x.c:1: fatal error: level_zero/ze_api.h: No such file or directory' >&2; exit 1",
            r"Level Zero headers were not found on this system \(level_zero/ze_api\.h\)"
            r".*\n.*apt-get install libze-dev",
        ),
        (
            "echo 'ze_api.h:9: fatal error: stdint.h: No such file or directory' >&2; exit 1",
            r"C library's header stdint\.h was not found.*\n.*apt-get install libc6-dev",
        ),
        ("exit 3", r"failed .*\(status 3\): it says nothing.*\n.*the variable CC"),
        ("echo 'cc1: internal error' >&2; exit 1", r"\(status 1\): cc1: internal error"),
    ],
    ids=["no Level Zero", "no C library", "silent", "broken"],
)
def test_a_compiler_that_fails_on_the_headers(
    script: str, problem: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    monkeypatch.delenv("URASYNC_L0_INCLUDE", raising=False)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(SystemExit, match=problem):
        ze_build.preprocessor_flags()


@pytest.mark.parametrize(
    ("settings", "package"),
    [({"CC": "there-is-no-compiler"}, "gcc"), ({"URASYNC_L0_INCLUDE": "nowhere"}, "libze-dev")],
    ids=["no compiler", "no headers"],
)
def test_who_installs_reads_two_lines(
    settings: dict[str, str], package: str, tmp_path: Path
) -> None:
    """What is missing, and which package has it; not where in the build that came up."""
    folders = ["--build-lib", str(tmp_path), "--build-temp", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", *folders],
        cwd=ze_build.ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 1
    first, second = run.stderr.splitlines()
    assert first.startswith("urasync-l0 cannot be built: ")
    assert f"apt-get install {package} (" in second
    assert "needs gcc libc6-dev libze-dev python3-dev)" in second
    assert not list(tmp_path.iterdir())


def test_headers_that_are_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    header = ze_build.system_header_text()
    (tmp_path / "level_zero" / "loader").mkdir(parents=True)
    (tmp_path / "level_zero" / "loader" / "ze_loader.h").write_text("")
    (tmp_path / "level_zero" / "ze_api.h").write_text(header.replace("zeVirtualMemMap", "zeOther"))
    monkeypatch.setenv("URASYNC_L0_INCLUDE", str(tmp_path))
    with pytest.raises(
        SystemExit, match=r"headers are too old; they lack zeVirtualMemMap.*\n.*1\.8\.12"
    ):
        ze_build.preprocessor_flags()


def test_no_python_header(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(SystemExit, match=r"Python\.h was not found.*\n.*python3-dev"):
        ze_build.level_zero()


def test_a_newer_header_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    header = ze_build.system_header_text()
    (tmp_path / "level_zero" / "loader").mkdir(parents=True)
    (tmp_path / "level_zero" / "loader" / "ze_loader.h").write_text("")
    addition = "ze_result_t zeDeclaredByANewerHeader(int first);\n"
    (tmp_path / "level_zero" / "ze_api.h").write_text(header + addition)
    include = tmp_path / "ours"
    include.mkdir()
    ours = (ze_build.INCLUDE / "newer_level_zero.h").read_text(encoding="utf-8")
    for name in ("zeDeclaredByANewerHeader", "zeDeclaredByNoHeader"):
        ours += f"#ifdef URASYNC_DECLARE_{name}\nze_result_t {name}(int first);\n#endif\n"
    (include / "newer_level_zero.h").write_text(ours)
    monkeypatch.setattr(ze_build, "INCLUDE", include)
    monkeypatch.setenv("URASYNC_L0_INCLUDE", str(tmp_path))
    flags = ze_build.preprocessor_flags()
    assert f"-I{tmp_path}" in flags
    assert "-DURASYNC_DECLARE_zeDeclaredByNoHeader" in flags
    assert "-DURASYNC_DECLARE_zeDeclaredByANewerHeader" not in flags


def test_the_extension_counts_and_redirects_every_entry() -> None:
    declarations = ze_build.declaration_text()
    source = ze_build.extension_source(declarations)
    entries = ze_build.declared_entries(declarations)
    assert len(entries) > 50
    for entry in entries:
        assert f"#define {entry}(...) URASYNC_CALL({entry}, __VA_ARGS__)" in source
        optional = str(entry in ze_build.OPTIONAL_ENTRIES).lower()
        assert f"ENTRY({entry}, {optional})" in source


def test_a_ur_library_is_of_the_python_that_builds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two Pythons of one version share build folders, but the library names its own."""
    compiler, runs = tmp_path / "cc", tmp_path / "runs"
    compiler.write_text(
        f"""#!{sys.executable}
import sys
texts = [each.split('"')[1] for each in sys.argv if "BUILT_BY" in each]
texts += [each.rpartition(",")[2] for each in sys.argv if each.startswith("-Wl,-rpath,")]
with open(sys.argv[-1], "w") as output:
    output.write("".join(text + chr(0) for text in texts))
open({str(runs)!r}, "a").write(".")
""",
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))

    def runs_to_build() -> int:
        runs.write_text("")
        ze_build.build_ur_library(tmp_path, "v2")
        return len(runs.read_text())

    assert [runs_to_build(), runs_to_build()] == [1, 0]
    monkeypatch.setattr(sys, "executable", sys.executable + "2")
    assert [runs_to_build(), runs_to_build()] == [1, 0]
    monkeypatch.setattr(ze_build, "python_library", lambda: ["-Wl,-rpath,/elsewhere", "-lpython"])
    assert [runs_to_build(), runs_to_build()] == [1, 0]
