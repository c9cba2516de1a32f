# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command ``urasync-pools``: its arguments, and its exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from urasync_l0.tools.replayer import command as replayer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="urasync-pools", description="See what the pools of a program hold."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    replay = commands.add_parser(
        "replay", help=replayer.DESCRIPTION, description=replayer.DESCRIPTION
    )
    replayer.add_arguments(
        replay,
        adapter=replayer.ALL_ADAPTERS,
        files="traces, logs of RMM, or memory snapshots of PyTorch",
    )
    parsed = parser.parse_args(arguments)
    return replayer.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
