# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports go one way: declarations, checked calls, handles, pool core, adapters, facade."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "urasync_l0"
BUILT = {"urasync_l0.software_driver._controls_ffi"}  # written by the build
EXTENSION = "urasync_l0.ze._level_zero"

# Modules of the legacy adapter beside the shared ones; the v2 adapter has a package of its own.
LEGACY = ("urasync_l0.event", "urasync_l0.immediate_queue", "urasync_l0.async_alloc")
V2 = ("urasync_l0.v2",)


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def statements(nodes: list[ast.stmt], types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements at any depth; without those for type checkers unless asked for."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
            continue
        bodies = [getattr(node, field, []) for field in ("body", "orelse", "finalbody")]
        bodies += [handler.body for handler in getattr(node, "handlers", [])]
        bodies += [case.body for case in getattr(node, "cases", [])]
        if isinstance(node, ast.If) and is_type_checking(node.test) and not types:
            bodies[0] = []
        for body in bodies:
            yield from statements(body, types)


def imports(path: Path, known: set[str], types: bool = True) -> set[str]:
    """Absolute names of the modules that a file imports."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8")).body, types):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            continue
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        start = ".".join(parents) if node.level else ""
        base = ".".join(filter(None, [start, node.module]))
        for alias in node.names:
            full = f"{base}.{alias.name}"
            found.add(full if full in known else base)
    return found


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
KNOWN = {*FILES, *BUILT, EXTENSION}
IMPORTS = {name: imports(path, KNOWN) for name, path in FILES.items() if name not in BUILT}


def is_in(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


def imported_by(places: tuple[str, ...]) -> dict[str, set[str]]:
    return {name: found for name, found in IMPORTS.items() if is_in(name, places)}


def ours(found: set[str]) -> set[str]:
    return {name for name in found if is_in(name, ("urasync_l0",))}


def test_the_rules_see_the_package() -> None:
    assert {"urasync_l0.ze._extension", "urasync_l0.ze.result", "urasync_l0.result"} <= set(IMPORTS)
    assert EXTENSION in IMPORTS["urasync_l0.ze._extension"]
    assert "urasync_l0.ze._extension" in IMPORTS["urasync_l0.ze.memory"]


def test_one_module_imports_the_extension() -> None:
    assert {name for name, found in IMPORTS.items() if EXTENSION in found} == {
        "urasync_l0.ze._extension"
    }


def test_only_the_bindings_touch_cffi_objects() -> None:
    for name, found in IMPORTS.items():
        if "urasync_l0.ze._extension" in found:
            assert is_in(name, ("urasync_l0.ze",)), name
        if any(is_in(module, ("cffi", "_cffi_backend", "ctypes")) for module in found):
            assert is_in(name, ("urasync_l0.software_driver",)), name


def test_nothing_inside_needs_the_libraries_for_ur_clients() -> None:
    for name, found in IMPORTS.items():
        if not is_in(name, ("urasync_l0.ur_library", "urasync_l0.diagnosis")):  # it looks for them
            assert not any(is_in(module, ("urasync_l0.ur_library",)) for module in found), name


def test_results_and_enumerations_import_nothing_of_ours() -> None:
    for name in ("urasync_l0.result", "urasync_l0.enums", "urasync_l0.loggers"):
        assert ours(IMPORTS[name]) == set()


def test_the_bindings_import_nothing_above_them() -> None:
    allowed = ("urasync_l0.ze", "urasync_l0.result", "urasync_l0.loggers")
    for name, found in imported_by(("urasync_l0.ze",)).items():
        above = {module for module in ours(found) if not is_in(module, allowed)}
        # The loader asks the software driver where its library is, and nothing else.
        if name == "urasync_l0.ze.loader":
            above -= {"urasync_l0.software_driver"}
        assert above == set(), name


def test_the_software_driver_stands_alone() -> None:
    allowed = ("urasync_l0.software_driver", "urasync_l0.result")
    for name, found in imported_by(("urasync_l0.software_driver",)).items():
        assert all(is_in(module, allowed) for module in ours(found)), name


def test_the_pool_core_is_pure() -> None:
    allowed = (
        *("urasync_l0.pool", "urasync_l0.result", "urasync_l0.enums"),
        "urasync_l0.calls_under_way",
    )
    core = imported_by(("urasync_l0.pool",))
    assert core
    for name, found in core.items():
        assert all(is_in(module, allowed) for module in ours(found)), name


def test_legacy_and_v2_never_import_each_other() -> None:
    for name, found in imported_by(LEGACY).items():
        assert not any(is_in(module, V2) for module in found), name
    for name, found in imported_by(V2).items():
        assert not any(is_in(module, LEGACY) for module in found), name


def test_adapters_import_no_facade() -> None:
    """Only names are gathered in the package's own module, so nothing inside needs it."""
    for name, found in IMPORTS.items():
        assert "urasync_l0" not in found, name


def layers() -> list[set[str]]:
    """The layers as ARCHITECTURE.md has them, lowest first; each a set of modules and packages."""
    page = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page.partition("| layer | modules")[2].partition("\n\n")[0]
    rows = [re.findall(r"`(\w+)`", row.rpartition(" | ")[2]) for row in table.splitlines()[2:]]
    named = [{f"urasync_l0.{name}" for name in row} for row in rows]
    named[-1].add("urasync_l0")
    return named


def part(name: str) -> str:
    """The module or package that a layer names."""
    return ".".join(name.split(".")[:2])


def test_each_module_has_its_layer() -> None:
    named = [name for layer in layers() for name in layer]

    assert len(layers()) > 5
    assert sorted(named) == sorted({part(name) for name in FILES})


def test_imports_go_down_only() -> None:
    places = {name: number for number, layer in enumerate(layers()) for name in layer}
    graph = {name: imports(path, KNOWN, types=False) for name, path in FILES.items()}
    upwards = [
        f"{name} imports {found}"
        for name, all_found in graph.items()
        for found in ours(all_found) & set(FILES)
        if places[part(found)] > places[part(name)]
    ]

    assert upwards == []


def test_nothing_is_imported_behind_the_rules() -> None:
    """They see statements. By a name are imported the pool core's part in C, which may be absent,
    and a module of Python's."""
    by_name = {
        name
        for name, path in FILES.items()
        if re.search(r"\bimport_module\b|\b__import__\b", path.read_text(encoding="utf-8"))
    }
    assert by_name == {"urasync_l0.pool.structure", "urasync_l0.main_interpreter"}


def test_no_import_cycles_at_run_time() -> None:
    graph = {
        name: ours(imports(path, KNOWN, types=False)) & set(FILES)
        for name, path in FILES.items()
        if name not in BUILT
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            pytest.fail(" -> ".join([*trail[trail.index(name) :], name]))
        if name not in done:
            for module in sorted(graph.get(name, set())):
                visit(module, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())
