# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes small loader libraries, for states of a loader that this machine does not have."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import ze_build

# Each entry answers success and nothing else, unless it is given a body. The parameter lists do not
# matter to the caller in the C calling convention used here.
BODIES = {
    "zeDriverGet": """
int zeDriverGet(unsigned int *count, void **drivers) {
    *count = DRIVERS;
    if (drivers != 0)
        for (unsigned int i = 0; i < DRIVERS; ++i)
            drivers[i] = (void *)(unsigned long)(0x1000 + i);
    return 0;
}
""",
    "zeDeviceGet": """
int zeDeviceGet(void *driver, unsigned int *count, void **devices) {
    (void)driver, (void)devices;
    *count = 0;
    return 0;
}
""",
    "zeInit": """
#include <stdio.h>
int zeInit(unsigned int flags) {
    FILE *log = fopen(LOG, "a");
    fprintf(log, "zeInit %u\\n", flags);
    fclose(log);
    return INIT_RESULT;
}
""",
}


def make_loader(
    folder: Path, *, without: Iterable[str] = (), drivers: int = 1, init_result: int = 0
) -> Path:
    """A loader of specification 1.4 with so many drivers and no devices.

    Parameters
    ----------
    without
        Entries that it lacks.
    init_result
        What its zeInit answers; each call adds a line to the file ``log`` beside the library.
    """
    declared = ze_build.declared_entries(ze_build.declaration_text())
    names = [name for name in declared if name not in ze_build.OPTIONAL_ENTRIES]
    names = [name for name in names if name not in set(without)]
    source = folder / "loader.c"
    source.write_text(
        "\n".join(BODIES.get(name, f"int {name}(void) {{ return 0; }}") for name in names),
        encoding="utf-8",
    )
    library = folder / "libmade_loader.so"
    command = [*ze_build.compiler(), "-shared", "-fPIC", "-o", str(library), str(source)]
    command += [f"-DDRIVERS={drivers}", f"-DINIT_RESULT={init_result}"]
    command += [f'-DLOG="{folder / "log"}"']
    subprocess.run(command, check=True, timeout=60)
    return library
