# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled bindings against the C headers."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ze_build
from urasync_l0.ze import entry_table
from urasync_l0.ze._extension import ffi, lib

TEXT = re.sub(r"//[^\n]*", "", ze_build.declaration_text())
CONSTANTS = re.findall(r"^\s+(ZE_[A-Z0-9_]+),$", TEXT, re.MULTILINE)
STRUCTURES = re.findall(r"^\} (zel?_\w+_t);$", TEXT, re.MULTILINE)
STRUCTURES = [name for name in STRUCTURES if ffi.typeof(name).kind == "struct"]
NEWER_HEADER = (ze_build.INCLUDE / "newer_level_zero.h").read_text(encoding="utf-8")


def compile_c(folder: Path, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    source = folder / "program.c"
    includes = [f"#include <{header}>\n" for header in ze_build.SYSTEM_HEADERS]
    lines = ["#include <stdbool.h>\n#include <stddef.h>\n#include <stdio.h>\n", *includes]
    source.write_text("".join(lines) + '#include "newer_level_zero.h"\n' + text, encoding="utf-8")
    command = [*ze_build.compiler(), "-std=gnu11", "-Wall", "-Wextra", "-Werror", *flags]
    command += [*ze_build.preprocessor_flags(), "-o", str(folder / "program"), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def answers(folder: Path, expressions: list[str]) -> dict[str, int]:
    """What a C program, compiled with the same headers, says about some expressions."""
    lines = [f'    printf("%llu\\n", (unsigned long long)({text}));\n' for text in expressions]
    built = compile_c(folder, "int main(void) {\n" + "".join(lines) + "}\n")
    assert built.returncode == 0, built.stderr
    run = subprocess.run(
        [folder / "program"], capture_output=True, text=True, check=True, timeout=60
    )
    return dict(zip(expressions, map(int, run.stdout.split()), strict=True))


def test_the_lists_are_not_empty() -> None:
    assert len(CONSTANTS) > 120
    assert len(STRUCTURES) > 20


def test_values_of_enumerators(tmp_path: Path) -> None:
    expected = answers(tmp_path, CONSTANTS)
    assert {name: getattr(lib, name) for name in CONSTANTS} == expected


def test_layout_of_structures(tmp_path: Path) -> None:
    compiled: dict[str, int] = {}
    for name in STRUCTURES:
        compiled[f"sizeof({name})"] = ffi.sizeof(name)
        for field, _ in ffi.typeof(name).fields:
            compiled[f"offsetof({name}, {field})"] = ffi.offsetof(name, field)
    assert answers(tmp_path, list(compiled)) == compiled


@pytest.mark.parametrize("name", STRUCTURES)
def test_descriptors_begin_with_type_and_chain(name: str) -> None:
    fields = [field for field, _ in ffi.typeof(name).fields]
    if "stype" in fields:
        assert fields[:2] == ["stype", "pNext"]
        assert ffi.offsetof(name, "stype") == 0
        assert ffi.offsetof(name, "pNext") == 8


def test_every_structure_type_belongs_to_a_declared_structure() -> None:
    """Numbers of structure types are easy to mix up; each must have the structure of its name."""
    irregular = {
        "counter_based_event_pool_exp_desc": "event_pool_counter_based_exp_desc",
        "device_properties_1_2": "device_properties",  # the same structure in another unit
    }
    for constant in CONSTANTS:
        if constant.startswith("ZE_STRUCTURE_TYPE_"):
            noun = constant.removeprefix("ZE_STRUCTURE_TYPE_").lower()
            assert f"ze_{irregular.get(noun, noun)}_t" in STRUCTURES


def test_newer_declarations_compile_in_c_and_cplusplus(tmp_path: Path) -> None:
    built = compile_c(tmp_path, "int main(void) { return 0; }\n")
    assert built.returncode == 0, built.stderr
    if shutil.which("g++"):
        source = tmp_path / "program.cpp"
        source.write_text('#include "newer_level_zero.h"\nint main() { return 0; }\n')
        command = ["g++", "-Wall", "-Wextra", *ze_build.preprocessor_flags(), "-fsyntax-only"]
        run = subprocess.run(
            [*command, str(source)], capture_output=True, text=True, check=False, timeout=60
        )
        assert run.returncode == 0, run.stderr


def test_newer_declarations_agree_with_a_header_that_has_them(tmp_path: Path) -> None:
    """Says something about each declaration that the header in use has too."""
    missing = set(ze_build.missing_identifiers())
    checks = []
    for name, value in re.findall(r"^enum \{ (\w+) = (.+) \};$", NEWER_HEADER, re.MULTILINE):
        if name not in missing:
            checks.append(f'_Static_assert({name} == ({value}), "{name}");\n')
    structures = re.findall(
        r"^typedef (struct \w+ \{.*?^\}) (\w+);$", NEWER_HEADER, re.MULTILINE | re.DOTALL
    )
    for body, name in structures:
        if name in missing:
            continue
        checks.append(re.sub(r"^struct \w+", f"struct ours_{name}", body) + ";\n")
        checks.append(f'_Static_assert(sizeof(struct ours_{name}) == sizeof({name}), "{name}");\n')
        for field in re.findall(r"(\w+);$", body, re.MULTILINE):
            ours, theirs = (f"offsetof({kind}, {field})" for kind in (f"struct ours_{name}", name))
            checks.append(f'_Static_assert({ours} == {theirs}, "{name}.{field}");\n')
    # The prototypes need no comparison: declaring one again with other types is an error.
    for prototype, name in re.findall(
        r"^(\w+ ZE_APICALL\s(ze\w+)\([^;]*\);)$", NEWER_HEADER, re.MULTILINE
    ):
        if name not in missing:
            checks.append(f"{prototype}\n")
    known = set(re.findall(r"^#ifdef URASYNC_DECLARE_(\w+)", NEWER_HEADER, re.MULTILINE)) - missing
    assert len(checks) >= sum(not name.endswith("flags_t") for name in known)
    built = compile_c(tmp_path, "".join(checks) + "int main(void) { return 0; }\n")
    assert built.returncode == 0, built.stderr


def test_the_stub_names_what_the_extension_has() -> None:
    stub = (ze_build.DECLARATIONS.parent / "_level_zero.pyi").read_text(encoding="utf-8")
    body = stub.split("class _Lib:")[1]
    named = set(re.findall(r"^    (?:def )?(\w+)[:(]", body, re.MULTILINE))
    assert named == set(dir(lib))


def test_optional_entries_are_what_the_oldest_loader_lacks() -> None:
    declared = set(entry_table.entries())
    assert declared == set(ze_build.declared_entries(TEXT))
    assert declared - set(entry_table.required_entries()) == ze_build.OPTIONAL_ENTRIES
