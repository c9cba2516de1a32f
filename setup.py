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
    """Builds the bindings, the pool core's part in C, the software driver and the UR libraries."""

    def run(self) -> None:
        super().run()
        driver, ur_library = self._folder("software_driver"), self._folder("ur_library")
        ze_build.build_software_driver(driver)
        ze_build.build_controls(driver)
        for adapter in ze_build.ADAPTERS:
            ze_build.build_ur_library(ur_library, adapter)

    def _folder(self, name: str) -> Path:
        return (ROOT if self.inplace else Path(self.build_lib)) / "urasync_l0" / name

    def get_outputs(self) -> list[str]:
        driver, ur_library = self._folder("software_driver"), self._folder("ur_library")
        built = [driver / ze_build.DRIVER_LIBRARY, driver / ze_build.CONTROLS_MODULE]
        built += [ur_library / ze_build.UR_LIBRARY.format(each) for each in ze_build.ADAPTERS]
        return [*super().get_outputs(), *map(str, built)]


setup(
    cffi_modules=["ze_build.py:level_zero"],
    ext_modules=[ze_build.pool_structure(), ze_build.dlpack_capsule()],
    cmdclass={"build_ext": BuildExtensionAndDriver},
)
