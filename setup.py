# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C parts of the build; everything else stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # an isolated build does not look for modules beside setup.py

import ze_build  # noqa: E402


class BuildExtensionAndDriver(build_ext):
    """Builds the bindings, the pool core's part in C and the software driver with its controls."""

    def run(self) -> None:
        super().run()
        for path in self._driver_folders():
            ze_build.build_software_driver(path)
            ze_build.build_controls(path)

    def _driver_folders(self) -> list[Path]:
        base = ROOT if self.inplace else Path(self.build_lib)
        return [base / "urasync_l0" / "software_driver"]

    def get_outputs(self) -> list[str]:
        names = (ze_build.DRIVER_LIBRARY, ze_build.CONTROLS_MODULE)
        folders = self._driver_folders()
        return [*super().get_outputs(), *(str(path / name) for path in folders for name in names)]


setup(
    cffi_modules=["ze_build.py:level_zero"],
    ext_modules=[ze_build.pool_structure()],
    cmdclass={"build_ext": BuildExtensionAndDriver},
)
