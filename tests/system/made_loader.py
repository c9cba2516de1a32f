# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes small loader libraries, for states of a loader that this machine does not have."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import ze_build

# Each entry answers success and nothing else, unless it is given a body. The parameter lists do not
# matter to the caller in the C calling convention used here.
START = """
#include <stdio.h>

int zeDriverGet(unsigned int *count, void **drivers);

static void note(const char *name, unsigned int flags) {
    FILE *log = fopen(LOG, "a");
    fprintf(log, "%s %u\\n", name, flags);
    fclose(log);
}

"""
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
int zeInit(unsigned int flags) {
    note("zeInit", flags);
    return INIT_RESULT;
}
""",
    "zeInitDrivers": """
int zeInitDrivers(unsigned int *count, void **drivers, void *kinds) {
    note("zeInitDrivers", ((unsigned int *)kinds)[4]);
    return INIT_DRIVERS_RESULT != 0 ? INIT_DRIVERS_RESULT : zeDriverGet(count, drivers);
}
""",
    "zeCommandListHostSynchronize": """
int zeCommandListHostSynchronize(void *list, unsigned long timeout) {
    (void)list, (void)timeout;
    return WAIT_RESULT;
}
""",
}


def make_loader(
    folder: Path,
    *,
    without: Iterable[str] = (),
    optional: Iterable[str] = (),
    drivers: int = 1,
    init_result: int = 0,
    init_drivers_result: int = 0,
    wait_result: int = 0,
) -> Path:
    """A loader with so many drivers and no devices.

    Parameters
    ----------
    without
        Required entries that it lacks.
    optional
        Optional entries that it has; without any it is one of specification 1.4.
    init_result, init_drivers_result
        What zeInit and zeInitDrivers answer; each call adds a line to the file ``log`` beside the
        library.
    wait_result
        What zeCommandListHostSynchronize answers.
    """
    declared = ze_build.declared_entries(ze_build.declaration_text())
    lacking = (ze_build.OPTIONAL_ENTRIES | set(without)) - set(optional)
    names = [name for name in declared if name not in lacking]
    source = folder / "loader.c"
    source.write_text(
        START + "\n".join(BODIES.get(name, f"int {name}(void) {{ return 0; }}") for name in names),
        encoding="utf-8",
    )
    library = folder / "libmade_loader.so"
    command = [*ze_build.compiler(), "-shared", "-fPIC", "-o", str(library), str(source)]
    command += [f"-DDRIVERS={drivers}", f"-DINIT_RESULT={init_result}"]
    command += [f"-DINIT_DRIVERS_RESULT={init_drivers_result}", f"-DWAIT_RESULT={wait_result}"]
    command += [f'-DLOG="{folder / "log"}"']
    subprocess.run(command, check=True, timeout=60)
    return library
