# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost a C program through the UR adapter libraries, without a loader between.

``python -m benchmarks.library_calls`` measures ours; other adapter libraries can be named, and are
measured in the same run. They find their driver by the settings of the Level Zero loader.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.ur_client import SOURCES, compile_program
from urasync_l0 import adapter_names
from urasync_l0.ur_library import library_path

REQUESTS = {"pair": "pairs 5000", "pair_with_events": "event_pairs 5000"}
ROUNDS = 7


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", choices=("software", "system"), default="software")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("libraries", nargs="*", help="other adapter libraries to measure")
    options = parser.parse_args()
    libraries = [*(str(library_path(name)) for name in adapter_names()), *options.libraries]
    environment = os.environ | {"URASYNC_L0_DRIVER": options.driver}
    requests = "".join(f"{request}\n" * ROUNDS for request in REQUESTS.values())
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "measure")
        compile_program([SOURCES / "measure.c"], program)
        for library in libraries:
            run = subprocess.run(
                [str(program), library],
                env=environment,
                check=False,
                input=requests,
                stdout=subprocess.PIPE,
                text=True,
            )
            if run.returncode:  # it has said why
                parser.exit(1, f"{library} ended with {run.returncode}\n")
            times = [float(line) for line in run.stdout.splitlines()]
            results[Path(library).name] = {
                name: sorted(times[number * ROUNDS : (number + 1) * ROUNDS])[ROUNDS // 2]
                for number, name in enumerate(REQUESTS)
            }
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print("microseconds          alloc and free  the same with events")
    for name, figures in results.items():
        print(f"{name:40} {figures['pair']:>8.2f} {figures['pair_with_events']:>8.2f}")


if __name__ == "__main__":
    main()
