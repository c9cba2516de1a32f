# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs of what is built say what is there: the names, and the arguments that they take."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import urasync_l0

PACKAGE = Path(urasync_l0.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))
TYPED_BY_PYTHON = {"_structure"}
"""The classes in Python that do the same are what type checkers see."""


def module_of(stub: Path) -> ModuleType:
    return import_module(".".join((*stub.relative_to(PACKAGE.parent).parts[:-1], stub.stem)))


def test_whatever_is_built_has_a_stub() -> None:
    suffix = tuple(each for each in EXTENSION_SUFFIXES if each != ".so")
    built = {
        path.name.split(".")[0] for path in PACKAGE.rglob("*.so") if path.name.endswith(suffix)
    }
    assert built - TYPED_BY_PYTHON == {"_capsule", "_level_zero"}
    assert {stub.stem for stub in STUBS} == built - TYPED_BY_PYTHON | {"_controls_ffi"}


def check_c_function(stub: ast.FunctionDef, function: Any) -> None:
    """The arguments and the result of a function of Level Zero: how many, and of what kinds."""
    assert stub.args.args == [], f"{stub.name}: the bindings take no arguments by their names"
    declared = [ast.unparse(each.annotation or each) for each in stub.args.posonlyargs[1:]]
    assert len(declared) == len(function.args), stub.name
    for name, kind in zip(declared, function.args, strict=True):
        if match := re.match(r"(\w+)Handle", name):
            noun = re.sub(r"(?<!^)(?=[A-Z])", "_", match[1]).lower()
            assert kind.cname == f"struct _ze_{noun}_handle_t *", stub.name
        else:
            assert (name == "int") == (kind.kind != "pointer"), stub.name
    results = {"primitive": "int", "enum": "int", "pointer": "CData"}
    expected = "bool" if function.result.cname == "_Bool" else results[function.result.kind]
    assert ast.unparse(stub.returns or stub) == expected, stub.name


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: str(stub.stem))
def test_a_stub_names_what_is_there(stub: Path) -> None:
    module = module_of(stub)
    tree = ast.parse(stub.read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    variables = {
        node.target.id: ast.unparse(node.annotation)
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    public = {name for name in vars(module) if not name.startswith("_")}
    assert public == variables.keys() | {node.name for node in functions}
    for name, kind in variables.items():
        thing = getattr(module, name)
        for member in classes[kind].body:
            if isinstance(member, ast.FunctionDef):
                function = getattr(thing, member.name)
                assert callable(function), member.name
                if kind == "_Lib":
                    check_c_function(member, module.ffi.typeof(function))
            elif isinstance(member, ast.AnnAssign):
                assert hasattr(thing, ast.unparse(member.target))
    for node in functions:
        parameters = inspect.signature(getattr(module, node.name)).parameters.values()
        assert [each.name for each in parameters] == [
            each.arg for each in (*node.args.posonlyargs, *node.args.args)
        ]
        assert all(each.kind is inspect.Parameter.POSITIONAL_ONLY for each in parameters)
