# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C programs that use adapters through Unified Runtime, and the adapters they can be run with.

The programs find the functions in libur_loader or in an adapter library (``ur_client/entries.h``).
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ur_library_build
import urasync_l0.ur_library
import ze_build
from urasync_l0.software_driver import library as software_driver
from urasync_l0.ur_library import library_path

SOURCES = Path(__file__).with_name("ur_client")
LIBRARY = Path(urasync_l0.ur_library.__file__).parent

FOREIGN = ("URASYNC_L0_", "UR_", "ZE_", "ZEL_", "PYTHON", "VIRTUAL_ENV")
"""Beginnings of the names of settings that must not reach a client from the run around it."""


def compile_program(sources: Sequence[Path], target: Path) -> None:
    """Compile a client of these sources and what all clients begin with."""
    text = (LIBRARY / "function_tables.txt").read_text(encoding="utf-8")
    places = [
        f'#define TABLE_{name} "{table}"\n#define PLACE_{name} {place}\n'
        for table, names in ur_library_build.function_tables(text).items()
        for place, name in enumerate(names)
    ]
    made = target.with_name(f"{target.name}.made")
    made.mkdir(exist_ok=True)
    (made / "function_places.h").write_text("".join(places), encoding="utf-8")
    flags = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
    includes = [f"-I{folder}" for folder in (SOURCES, LIBRARY / "include", made)]
    files = map(str, [SOURCES / "entries.c", *sources])
    command = [*ze_build.compiler(), *flags, *includes, *files, "-ldl", "-o", str(target)]
    subprocess.run(command, check=True)


@dataclass(frozen=True)
class UrAdapter:
    """An adapter library under a libur_loader.

    Attributes
    ----------
    name : how reports call it.
    library : the adapter library.
    loader : the libur_loader; the folder that it is in is searched for other libraries as well.
    """

    name: str
    library: Path
    loader: Path

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The environment of a client that uses it, with these settings for the driver."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        return inherited | {
            "UR_ADAPTERS_FORCE_LOAD": str(self.library),
            "LD_LIBRARY_PATH": str(self.loader.parent),
            **settings,
        }


STACK_LIBRARIES = Path("/opt/urasync/intel/lib")
"""Where the folder of ``packaging/intel-stack.sh`` has libur_loader and Intel's adapters."""

INTEL = {
    "Intel legacy": "libur_adapter_level_zero.so",
    "Intel v2": "libur_adapter_level_zero_v2.so",
}
"""Names of Intel's adapters, and their libraries."""

OURS = ("legacy", "v2")


def ur_adapters(folder: Path) -> list[UrAdapter]:
    """Intel's adapters and ours, with the loader and Intel's libraries in `folder`."""
    loader = folder / "libur_loader.so"
    found = [UrAdapter(name, folder / file, loader) for name, file in INTEL.items()]
    return found + [UrAdapter(name, library_path(name), loader) for name in OURS]


def software_settings() -> dict[str, str]:
    """The settings with which any adapter finds the software driver, and no other."""
    return {
        "ZE_ENABLE_ALT_DRIVERS": software_driver.library_path(),
        "URASYNC_L0_DRIVER": "software",
    }
