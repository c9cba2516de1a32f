# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How Sphinx makes the documentation: `make docs` builds it, with warnings as errors.

The source is the repository's own folder, so that links between all its pages are checked.
"""

from __future__ import annotations

import logging
from typing import Any

import urasync_l0

project = "urasync_l0"
author = "the urasync_l0 authors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["docs/**", "examples/README.md", "benchmarks/traces/README.md"]
include_patterns += [f"{page}.md" for page in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")]
include_patterns += ["SECURITY.md"]
exclude_patterns = [".*", "build", "tests", "urasync_l0"]
html_theme = "furo"
html_title = "urasync_l0"
html_copy_source = False

# A name in single backticks is a link to what it names, and so must name something.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [
    # The standard library and cffi are described elsewhere.
    ("py:.*", r"(collections|ctypes|enum|os|pathlib|signal|typing|_cffi_backend)\..*"),
    # Native handles: pointers of cffi.
    ("py:.*", r"(urasync_l0\.ze\.handles\.)?\w+Handle"),
    # Type variables.
    ("py:.*", r"urasync_l0\.\w+\.[DHT]"),
]

napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]


_MADE_BY_USERS = ("Context", "Controls", "LocalMemory", "Out", "ReusePolicy")


def _without_constructor(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, answer: str
) -> tuple[str, str] | None:
    """Show no constructor of what methods of other objects make."""
    is_shown = name.endswith(_MADE_BY_USERS) or name.startswith("urasync_l0.descriptors.")
    return None if what != "class" or is_shown else ("", "")


def _described(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Lead a name to its description, which may be under another module than annotations say."""
    if node.get("refdomain") != "py":
        return None
    objects = env.get_domain("py").objects
    target = node["reftarget"]
    last = target.rpartition(".")[2]
    names = [f"urasync_l0.{target}", f"urasync_l0.{last}"]
    names += [name for name in objects if name.endswith(f".{target}")]
    if target.startswith("urasync_l0."):
        names += [name for name in objects if name.endswith(f".{last}")]
    for name in names:
        if name in objects:
            return env.get_domain("py").resolve_xref(
                env, node["refdoc"], app.builder, "obj", name, node, contnode
            )
    return None


def _look_for_gaps(app: Any, env: Any) -> None:
    """Warn of public names that the reference leaves out."""
    objects = env.get_domain("py").objects
    for name in urasync_l0.__all__:
        if f"urasync_l0.{name}" not in objects:
            logging.getLogger("sphinx.reference").warning("no description of %s", name)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", _without_constructor)
    app.connect("missing-reference", _described)
    app.connect("env-check-consistency", _look_for_gaps)
