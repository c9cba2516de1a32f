# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost a C program through the UR adapter libraries.

``python -m benchmarks.library_calls`` measures ours; other adapter libraries can be named, and are
measured in the same run. They find their driver by the settings of the Level Zero loader.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import ur_library_build
import ze_build
from urasync_l0 import adapter_names
from urasync_l0.ur_library import library_path

SOURCE = Path(__file__).with_suffix(".c")


def compile_program(target: Path) -> None:
    """Compile the C program, with the places of all functions in their tables."""
    sources = ze_build.UR_LIBRARY_SOURCES
    text = (sources / "function_tables.txt").read_text(encoding="utf-8")
    places = [
        definition
        for table, names in ur_library_build.function_tables(text).items()
        for place, name in enumerate(names)
        for definition in (f'-DTABLE_{name}="{table}"', f"-DPLACE_{name}={place}")
    ]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{sources / 'include'}"]
    command = [*ze_build.compiler(), *flags, *places, str(SOURCE), "-ldl", "-o", str(target)]
    subprocess.run(command, check=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", choices=("software", "system"), default="software")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("libraries", nargs="*", help="other adapter libraries to measure")
    options = parser.parse_args()
    libraries = [*(str(library_path(name)) for name in adapter_names()), *options.libraries]
    environment = os.environ | {"URASYNC_L0_DRIVER": options.driver}
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "library_calls")
        compile_program(program)
        for library in libraries:
            run = subprocess.run(
                [str(program), library], env=environment, check=False, stdout=subprocess.PIPE
            )
            if run.returncode:  # it has said why
                parser.exit(1, f"{library} ended with {run.returncode}\n")
            results[Path(library).name] = json.loads(run.stdout)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print("nanoseconds           alloc and free  the same with events")
    for name, times in results.items():
        print(f"{name:40} {times['pair']:>8} {times['pair_with_events']:>8}")


if __name__ == "__main__":
    main()
