# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How libur_loader can be between the C client and the libraries."""

from pathlib import Path

# Without those that reach into the library, and those with wrong handles, which the loader follows.
WITHOUT_LOADER = {
    "tables",
    "table_in_handles",
    "stale_handles",
    "wrong_arguments",
    "logger",
    "fork_after_use",
}

MODES: dict[str, dict[str, str]] = {
    "direct": {},
    "intercept": {"UR_ENABLE_LOADER_INTERCEPT": "1"},
    "validation": {"UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION"},
}
MODES["intercept and validation"] = MODES["intercept"] | MODES["validation"]


def settings_of(loader: Path, mode: str, *libraries: Path) -> dict[str, str]:
    """What has a loader use libraries; it brings libraries of its own."""
    return MODES[mode] | {
        "UR_ADAPTERS_FORCE_LOAD": ",".join(map(str, libraries)),
        "LD_LIBRARY_PATH": str(loader.parent),
        "UR_LOG_VALIDATION": "level:warning;output:stderr",
    }
