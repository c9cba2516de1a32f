# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command ``urasync-pools``: its arguments, and its exit status.

Exit status: 0 when all went well, 1 when a view has nothing to show for a reason that is said, 2
when the arguments are wrong, 130 after Ctrl-C. ``replay`` has its own: 1 wrong bytes, 2 wrong
input, 3 not replayed. So has ``doctor``: 0 a GPU is ready to use, or the only driver that was asked
about; 1 only the software driver is, 3 none is.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from urasync_l0.diagnosis import DRIVERS, Verdict, diagnose
from urasync_l0.result import UrError
from urasync_l0.tools.attachment import (
    Source,
    find_source,
    nobody_serves,
    require_blocks,
    require_pools,
    serving_processes,
)
from urasync_l0.tools.demonstration import demonstration
from urasync_l0.tools.diff_view import DiffView
from urasync_l0.tools.doctor_view import DoctorView
from urasync_l0.tools.failure import ToolError
from urasync_l0.tools.layout import Layout, layout_of, output_console
from urasync_l0.tools.map_view import MOST_ROWS, MapView
from urasync_l0.tools.queues_view import QueuesView
from urasync_l0.tools.replayer import command as replayer
from urasync_l0.tools.show_view import ShowView
from urasync_l0.tools.timeline import timeline_of
from urasync_l0.tools.top_view import ORDERS, TopView
from urasync_l0.tools.torch_form import torch_snapshot
from urasync_l0.tools.watching import watch
from urasync_l0.version import __version__

FAILED = 1
INTERRUPTED = 130

FORMATS = ("json", "timeline", "torch")

_DESCRIPTION = "See what the pools of a running program hold, and why they do not give it back."
_EPILOG = (
    "TARGET is the number or the name of a process that was started with URASYNC_L0_POOL_SOCKET=1 "
    "(or called urasync_l0.serve_pools()), or a snapshot file. Without one, the only such process "
    "is taken."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parsed = _parser().parse_args(arguments)
    if sys.__stdout__ is None:  # closed by whoever started us
        print("urasync-pools: The output cannot be written: it is closed.", file=sys.stderr)
        return FAILED
    run: Callable[[argparse.Namespace], int] = parsed.run
    try:
        status = run(parsed)
        sys.stdout.flush()
        return status
    except (ToolError, UrError) as error:
        print(f"urasync-pools: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who read the output has seen enough.
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        reason = error.strerror or str(error)
        print(f"urasync-pools: The output cannot be written: {reason}.", file=sys.stderr)
        return FAILED


def _drop_output() -> None:
    """What is still buffered must not be tried again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- the commands ----------------------------------------------------------------------------------


def _list(parsed: argparse.Namespace) -> int:
    found = serving_processes()
    if parsed.json:
        print(json.dumps([{"pid": each.pid, "name": each.name} for each in found]))
        return 0
    for each in found:
        print(f"{each.pid:>8}  {each.name}")
    if not found:
        print(f"urasync-pools: {nobody_serves()}", file=sys.stderr)
    return 0


def _show(parsed: argparse.Namespace) -> int:
    with ExitStack() as stack:
        snapshot = require_pools(_source(parsed, stack)(True))
    console, layout = _output(parsed)
    _print(ShowView(snapshot, layout, everything=parsed.all), console, parsed)
    return 0


def _watch(parsed: argparse.Namespace) -> int:
    console, layout = _output(parsed)
    with ExitStack() as stack:
        source = _source(parsed, stack, running=True)
        watch(
            source,
            console,
            layout,
            seconds=parsed.seconds,
            count=parsed.count,
            as_json=parsed.json,
        )
    return 0


def _map(parsed: argparse.Namespace) -> int:
    with ExitStack() as stack:
        snapshot = require_blocks(_source(parsed, stack)(True))
    console, layout = _output(parsed)
    pools: frozenset[int] | None = None
    if parsed.pool is not None:
        pools = frozenset(
            pool.id for pool in snapshot.pools if parsed.pool in (str(pool.id), pool.name)
        )
        if not pools:
            known = ", ".join(f"{pool.id} ({pool.name})" for pool in snapshot.pools)
            raise ToolError(f"There is no pool {parsed.pool!r}; there are {known}.")
    _print(MapView(snapshot, layout, pools=pools, rows=parsed.rows), console, parsed)
    return 0


def _queues(parsed: argparse.Namespace) -> int:
    with ExitStack() as stack:
        snapshot = require_pools(_source(parsed, stack)(True))
    console, layout = _output(parsed)
    _print(QueuesView(snapshot, layout), console, parsed)
    return 0


def _top(parsed: argparse.Namespace) -> int:
    with ExitStack() as stack:
        snapshot = require_blocks(_source(parsed, stack)(True))
    console, layout = _output(parsed)
    _print(TopView(snapshot, layout, by=parsed.by, count=parsed.count), console, parsed)
    return 0


def _diff(parsed: argparse.Namespace) -> int:
    before, after = find_source(parsed.before)(True), find_source(parsed.after)(True)
    console, layout = _output(parsed)
    _print(DiffView(before, after, layout, count=parsed.count), console, parsed)
    return 0


def _export(parsed: argparse.Namespace) -> int:
    with ExitStack() as stack:
        snapshot = _source(parsed, stack)(True)
    form: str = "json" if parsed.json else parsed.format
    if form == "torch":
        data = torch_snapshot(require_blocks(snapshot))
    elif form == "timeline":
        data = json.dumps(timeline_of(snapshot)).encode() + b"\n"
    else:
        data = snapshot.to_json().encode() + b"\n"
    if parsed.output is not None:
        try:
            Path(parsed.output).write_bytes(data)
        except OSError as error:
            raise ToolError(f"{parsed.output} cannot be written: {error.strerror}.") from None
    elif form == "torch" and sys.stdout.isatty():
        raise ToolError("A pickle is nothing for a terminal; name a file with --output.")
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    diagnosis = diagnose(DRIVERS if parsed.driver is None else (parsed.driver,))
    console, layout = _output(parsed)
    _print(DoctorView(diagnosis, layout), console, parsed)
    enough = Verdict.SOFTWARE_ONLY if parsed.driver == "software" else Verdict.GPU
    return 0 if diagnosis.verdict <= enough else diagnosis.verdict


def _replay(parsed: argparse.Namespace) -> int:
    if not parsed.files:
        raise ToolError("Name a trace, a log of RMM, or a memory snapshot of PyTorch to replay.")
    return replayer.run(parsed)


# -- what they share -------------------------------------------------------------------------------


def _source(parsed: argparse.Namespace, stack: ExitStack, *, running: bool = False) -> Source:
    if not parsed.demo:
        return find_source(parsed.target)
    if parsed.target is not None:
        raise ToolError("--demo looks at a program of its own; name no target with it.")
    print("A demonstration, on the software driver: no GPU is used.", file=sys.stderr)
    return stack.enter_context(demonstration(running=running))


def _output(parsed: argparse.Namespace) -> tuple[Console, Layout]:
    console = output_console()
    return console, layout_of(console, exact=parsed.bytes)


def _print(view: Any, console: Console, parsed: argparse.Namespace) -> None:
    if parsed.json:
        print(json.dumps(view.to_data()))
    elif console.is_terminal:
        console.print(view)
    else:
        with console.capture() as captured:
            console.print(view)
        for line in captured.get().splitlines():
            print(line.rstrip())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="urasync-pools", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"urasync_l0 {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(
        name: str, run: Callable[[argparse.Namespace], int], text: str, *, target: bool = True
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text, epilog=_EPILOG)
        command.set_defaults(run=run)
        command.add_argument("--json", action="store_true", help="print JSON; sizes in bytes")
        if target:
            command.add_argument("target", nargs="?", metavar="TARGET", help="see below")
            command.add_argument(
                "--demo", action="store_true", help="look at a demonstration instead"
            )
        if name not in ("list", "export"):
            command.add_argument("--bytes", action="store_true", help="sizes in exact bytes")
        return command

    add("list", _list, "List the processes that can be looked at.", target=False)
    show = add("show", _show, "What each pool holds, and why it does not give it back.")
    show.add_argument("--all", action="store_true", help="also pools without memory")
    watching = add("watch", _watch, "The pools as they change, with rates.")
    watching.add_argument(
        "-s", "--seconds", type=_seconds, default=1.0, metavar="S", help="between looks (1)"
    )
    watching.add_argument("-n", "--count", type=_count, metavar="N", help="look N times, then end")
    address_map = add("map", _map, "The addresses of each segment, as cells by state.")
    address_map.add_argument("--pool", metavar="POOL", help="only the pool of that id or name")
    address_map.add_argument(
        "--rows", type=_count, default=MOST_ROWS, metavar="N", help="rows a segment (%(default)s)"
    )
    add("queues", _queues, "How far each queue has come, and what memory hangs on it.")
    top = add("top", _top, "The largest or oldest allocations, or who made most.")
    top.add_argument("--by", choices=ORDERS, default="size", help="default: %(default)s")
    top.add_argument("-n", "--count", type=_count, default=20, metavar="N", help="rows (20)")
    diff = add("diff", _diff, "What changed between two snapshots.", target=False)
    diff.add_argument("before", metavar="BEFORE", help="a snapshot file, or a process")
    diff.add_argument("after", metavar="AFTER", help="a snapshot file, or a process")
    diff.add_argument("-n", "--count", type=_count, default=20, metavar="N", help="rows (20)")
    export = add("export", _export, "Write a snapshot to a file or to the output.")
    export.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="json",
        help="json: for this tool; timeline: a recorded history for Perfetto or chrome://tracing; "
        "torch: for PyTorch's memory viewer (default: %(default)s)",
    )
    export.add_argument("-o", "--output", metavar="FILE", help="default: the standard output")
    doctor = add("doctor", _doctor, "What this machine has, lacks, and needs.", target=False)
    doctor.add_argument("--driver", choices=DRIVERS, help="look at one driver only")
    replay = commands.add_parser(
        "replay",
        help="Replay a trace, and see what each adapter would reserve.",
        description=replayer.DESCRIPTION,
        epilog=replayer.EPILOG,
    )
    replay.set_defaults(run=_replay)
    replayer.add_arguments(
        replay,
        adapter=replayer.ALL_ADAPTERS,
        files="traces, logs of RMM, or memory snapshots of PyTorch",
    )
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.05 <= seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0.05 to 86400")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
