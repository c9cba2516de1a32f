# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replay allocation traces: ``python -m benchmarks.replay [FILE...]``.

``urasync-pools replay`` with the bundled traces at hand. Exit status: 0 when all went well; 1 when
a byte that was read back was wrong; 2 when the arguments or a trace are wrong; 3 when a replay
could not be carried out, for example without a driver.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.bundled_traces import bundled_traces
from urasync_l0.tools.replayer import command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay",
        description=command.DESCRIPTION,
        epilog=command.EPILOG,
    )
    command.add_arguments(parser, adapter="v2", files="traces; default: all bundled")
    return command.run(parser.parse_args(arguments), bundled_traces())


if __name__ == "__main__":
    sys.exit(main())
