# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command ``urasync-pools``: its arguments, exit status, exports, and how it is installed."""

from __future__ import annotations

import io
import json
import os
import pickle
import pty
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import urasync_l0
from benchmarks.bundled_traces import TRACES
from tests.tools.snapshots import BASE, FRAMES, KIB, MIB, SNAPSHOT, later
from tests.tools.watched_process import ROOT, TIMEOUT_SECONDS, run_tool
from urasync_l0.snapshot import HistoryEntry, SegmentSnapshot, Snapshot
from urasync_l0.tools import command
from urasync_l0.tools.failure import ToolError
from urasync_l0.tools.layout import Layout
from urasync_l0.tools.replayer.plain_pickle import load_plain_pickle
from urasync_l0.tools.timeline import timeline_of
from urasync_l0.tools.torch_form import torch_snapshot
from urasync_l0.tools.watching import watch


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "pools.json"
    path.write_text(SNAPSHOT.to_json(), "utf-8")
    return str(path)


@pytest.fixture
def later_file(tmp_path: Path) -> str:
    path = tmp_path / "later.json"
    path.write_text(later().to_json(), "utf-8")
    return str(path)


# -- views -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["show", "map", "queues", "top"])
def test_a_view_of_a_file(
    view: str, file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert command.main([view, file]) == 0
    output = capsys.readouterr().out
    assert "train.py, process 4242, recording" in output
    assert "\x1b" not in output
    assert all(line == line.rstrip() for line in output.splitlines())


@pytest.mark.parametrize("view", ["show", "map", "queues", "top", "export", "watch"])
def test_every_view_has_json(view: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["-n", "1"] if view == "watch" else []
    assert command.main([view, "--json", *more, file]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data.get("snapshot") or data)["pid"] == 4242


def test_the_difference_of_two_files(
    file: str, later_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["diff", file, later_file]) == 0
    assert "+1  1.00 MiB  +1.00 MiB" in capsys.readouterr().out
    assert command.main(["diff", file, later_file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pools"][0]["numbers"]["used"] == -2 * MIB


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        command.main(["--version"])
    assert capsys.readouterr().out == f"urasync_l0 {urasync_l0.__version__}\n"


def test_exact_bytes(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", file, "--bytes"]) == 0
    assert "8,388,608" in capsys.readouterr().out


def test_one_pool_of_a_map(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["map", file, "--pool", "host pool"]) == 0
    assert "No pool holds memory." in capsys.readouterr().out
    assert command.main(["map", file, "--pool", "1", "--rows", "2"]) == 0
    assert "0x7f0000000000" in capsys.readouterr().out
    assert command.main(["map", file, "--pool", "9"]) == command.FAILED
    assert capsys.readouterr().err == (
        "urasync-pools: There is no pool '9'; there are 1 (default pool of device 0), "
        "2 (host pool).\n"
    )


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SNAPSHOT.to_json()[:700], "{} is cut: it ends after 700 bytes."),
        ("hello", "{} is no snapshot: it is not JSON (Expecting value: line 1 column 1 (char 0))."),
        (
            SNAPSHOT.to_json().replace('"schema": 1', '"schema": 0'),
            "{} has schema 0, and this version reads schema 1; take it again.",
        ),
    ],
)
def test_a_file_that_is_no_snapshot(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content, "utf-8")

    assert command.main(["show", str(path)]) == command.FAILED
    assert capsys.readouterr().err == f"urasync-pools: {message.format(path)}\n"


def test_a_view_of_blocks_that_are_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.json"
    path.write_text(replace(SNAPSHOT, has_blocks=False).to_json(), "utf-8")

    assert command.main(["map", str(path)]) == command.FAILED
    assert "was taken without blocks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["look"], "invalid choice: 'look'"),
        (["top", "-n", "0"], "'0' is no whole number above 0"),
        (["watch", "-s", "0"], "'0' is no number of seconds from 0.05 to 86400"),
        (["watch", "-s", "nan"], "'nan' is no number of seconds"),
        (["export", "-f", "xml"], "invalid choice: 'xml'"),
        (["diff", "one"], "the following arguments are required: AFTER"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)

    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_a_replay_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["replay"]) == command.FAILED
    assert "Name a trace, a log of RMM" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["show"], ["map"], ["export"], ["watch", "-n", "2"]])
def test_an_output_that_is_full_is_said(file: str, arguments: list[str], tmp_path: Path) -> None:
    program = "import sys; from urasync_l0.tools.command import main; sys.exit(main())"
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, *arguments, file],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    expected = "urasync-pools: The output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (command.FAILED, expected)


@pytest.mark.parametrize("arguments", [["show"], ["export"], ["watch", "-n", "1"]])
def test_an_output_that_is_closed_is_said(file: str, arguments: list[str]) -> None:
    program = "import sys; from urasync_l0.tools.command import main; sys.exit(main())"
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", program, *arguments, file],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    expected = "urasync-pools: The output cannot be written: it is closed.\n"
    assert (done.returncode, done.stderr, done.stdout) == (command.FAILED, expected, "")


def test_ctrl_c_ends_the_watch_without_a_traceback(file: str) -> None:
    program = "import sys; from urasync_l0.tools.command import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, "watch", file, "-s", "0.05"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        tool.stdout.readline()
        tool.send_signal(signal.SIGINT)
        tool.stdout.read()
        assert tool.stderr.read() == ""
        assert tool.wait(TIMEOUT_SECONDS) == command.INTERRUPTED


def test_a_reader_that_has_seen_enough_is_no_error(file: str, tmp_path: Path) -> None:
    program = "import sys; from urasync_l0.tools.command import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, "export", file],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        tool.stdout.close()
        assert tool.stderr.read() == b""
        assert tool.wait(TIMEOUT_SECONDS) == 0


# -- on a terminal ---------------------------------------------------------------------------------


def on_a_terminal(file: str, columns: int, *arguments: str) -> str:
    """What a terminal of that width gets."""
    program = "import sys; from urasync_l0.tools.command import main; sys.exit(main())"
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-c", program, arguments[0], file, *arguments[1:]],
        env=environment | {"COLUMNS": str(columns)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as tool:
        os.close(theirs)
        output = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            output += part
        assert tool.wait(TIMEOUT_SECONDS) == 0
    os.close(ours)
    return output.decode()


@pytest.mark.parametrize("columns", [80, 160])
def test_a_terminal_gets_colours_and_its_width(columns: int, file: str) -> None:
    output = on_a_terminal(file, columns, "map")

    assert "\x1b[38;5;33m█" in output
    assert max(output.count(f"0x{BASE:x}"), 1) == 1


def test_watch_refreshes_in_place_on_a_terminal(file: str) -> None:
    output = on_a_terminal(file, 100, "watch", "-n", "3", "-s", "0.05")

    assert output.count("train.py, process 4242") >= 3
    assert "\x1b[1A" in output  # up again, to write over what stands there


# -- watching --------------------------------------------------------------------------------------


def test_watching_ends_when_the_process_does() -> None:
    snapshots = iter([SNAPSHOT, later()])

    def source(blocks: bool) -> Snapshot:
        assert not blocks
        try:
            return next(snapshots)
        except StopIteration:
            raise ToolError("gone") from None

    output = io.StringIO()
    watch(
        source,
        Console(file=output, width=160),
        Layout(),
        seconds=0.05,
        count=None,
        as_json=False,
    )

    assert len(output.getvalue().splitlines()) == 2


def test_watching_nobody_is_an_error() -> None:
    def source(blocks: bool) -> Snapshot:
        raise ToolError("There is no process 5.")

    with pytest.raises(ToolError, match="There is no process 5"):
        watch(source, Console(), Layout(), seconds=1, count=1, as_json=True)


# -- exports ---------------------------------------------------------------------------------------


def test_an_export_can_be_looked_at_again(file: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    assert command.main(["export", file, "--output", str(copy)]) == 0

    assert Snapshot.from_json(copy.read_text("utf-8")) == SNAPSHOT


def test_a_timeline_has_slices_and_a_counter() -> None:
    """Each allocation begins once and ends once, and the counter ends at the bytes in use."""
    events = timeline_of(SNAPSHOT)["traceEvents"]
    phases: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        assert event["pid"] == 4242
        phases.setdefault(event["ph"], []).append(event)

    assert [each["id"] for each in phases["b"]] == [0, 1]
    assert sorted(each["id"] for each in phases["e"]) == [0, 1]
    assert {each["tid"] for each in phases["b"]} == {1, 2}
    assert phases["b"][0]["args"]["allocated by"] == list(FRAMES)
    counters = [each["args"]["bytes"] for each in phases["C"]]
    assert counters[-1] == SNAPSHOT.pools[0].statistics.used
    assert counters == [8 * MIB, 8 * MIB + 256 * KIB, 8 * MIB]
    times = [each["ts"] for each in events if "ts" in each and each["ph"] != "e"]
    assert times == sorted(times)


def test_a_timeline_needs_a_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bare.json"
    path.write_text(replace(SNAPSHOT, history=()).to_json(), "utf-8")

    assert command.main(["export", "-f", "timeline", str(path)]) == command.FAILED
    assert "URASYNC_L0_RECORD_HISTORY=100000" in capsys.readouterr().err


def test_the_form_of_pytorchs_viewer() -> None:
    data = load_plain_pickle(torch_snapshot(SNAPSHOT))
    segments = data["segments"]

    assert [(each["address"], each["total_size"]) for each in segments] == [
        (BASE, 6 * MIB),
        (BASE + 100 * MIB, 2 * MIB),
        (0x10000000, 4 * MIB),
    ]
    first = segments[0]
    assert first["allocated_size"] == 4 * MIB
    assert first["active_size"] == 4 * MIB + 256 * KIB
    assert [each["state"] for each in first["blocks"]] == [
        "active_allocated",
        "active_pending_free",
        "active_allocated",
        "inactive",
    ]
    assert first["blocks"][0]["frames"] == [
        {"name": "load", "filename": "/home/me/model.py", "line": 12},
        {"name": "main", "filename": "/home/me/train.py", "line": 3},
    ]
    for each in segments:
        assert sum(block["size"] for block in each["blocks"]) == each["total_size"]
    actions = [each["action"] for each in data["device_traces"][0]]
    assert actions == ["alloc", "alloc", "free_requested", "free_completed"]


def test_host_memory_is_a_device_of_its_own_in_the_viewers_form() -> None:
    """A pool may have memory of several kinds; each record is with the segments of its kind."""
    host = SegmentSnapshot("host", None, 0x20000000, MIB, regions=((0x20000000, 0x20000000 + MIB),))
    (context,) = SNAPSHOT.contexts
    pool = replace(context.pools[0], segments=(*context.pools[0].segments, host))
    history = (
        HistoryEntry(1000, "allocate", 1, BASE, MIB, 1, kind="device", device=0),
        HistoryEntry(2000, "allocate", 1, 0x20000000, MIB, 1, kind="host"),
        HistoryEntry(3000, "allocate", 1, 0x30000000, MIB, 1, kind="host"),
        HistoryEntry(4000, "free", 1, 0x30000000, MIB, 1, kind="host"),
    )
    contexts = (replace(context, pools=(pool,)),)
    form = torch_snapshot(replace(SNAPSHOT, contexts=contexts, history=history))
    data = load_plain_pickle(form)

    on_host = [each["address"] for each in data["segments"] if each["device"] == 1]
    assert on_host == [0x20000000, 0x30000000]
    device, host_trace = data["device_traces"]
    assert [each["addr"] for each in device] == [BASE]
    assert [each["addr"] for each in host_trace] == [0x20000000, *[0x30000000] * 3]


def test_every_recorded_address_lies_in_a_segment_of_the_viewers_form() -> None:
    """The viewer stops at one that does not; pages may have gone back to the driver since."""
    history = (
        *SNAPSHOT.history,
        HistoryEntry(10_000, "allocate", 1, BASE + 20 * MIB, 3 * MIB, 1),
        HistoryEntry(11_000, "free", 1, BASE + 20 * MIB, 3 * MIB, 1),
        HistoryEntry(12_000, "allocate", 1, BASE + 22 * MIB, 2 * MIB, 1),
        HistoryEntry(13_000, "free", 1, BASE + 22 * MIB, 2 * MIB, 1),
        HistoryEntry(14_000, "allocate", 1, BASE + 99 * MIB, 2 * MIB, 1),
        HistoryEntry(15_000, "free", 1, BASE + 99 * MIB, 2 * MIB, 1),
    )
    data = load_plain_pickle(torch_snapshot(replace(SNAPSHOT, history=history)))
    ranges = sorted((each["address"], each["total_size"]) for each in data["segments"])

    assert (BASE + 20 * MIB, 4 * MIB) in ranges
    assert (BASE + 99 * MIB, MIB) in ranges
    for (start, size), (following, _) in pairwise(ranges):
        assert start + size <= following
    for entry in data["device_traces"][0]:
        assert any(start <= entry["addr"] < start + size for start, size in ranges)


def test_the_viewers_form_uses_opcodes_that_its_reader_knows() -> None:
    """The reader is no Python: it knows the opcodes of plain data up to protocol 4, and no sets."""
    import pickletools

    known = {
        "PROTO", "FRAME", "EMPTY_DICT", "EMPTY_LIST", "MEMOIZE", "MARK", "SHORT_BINUNICODE",
        "BININT", "BININT1", "BININT2", "LONG1", "BINGET", "LONG_BINGET", "SETITEMS", "SETITEM",
        "APPENDS", "APPEND", "STOP", "NEWTRUE", "NEWFALSE", "NONE", "TUPLE2", "BINUNICODE",
    }  # fmt: skip
    opcodes = {opcode.name for opcode, _, _ in pickletools.genops(torch_snapshot(SNAPSHOT))}

    assert opcodes <= known


def test_an_exported_history_can_be_replayed(tmp_path: Path) -> None:
    """PyTorch's form is read back as a trace, like one that PyTorch wrote."""
    from urasync_l0.tools.replayer.trace_file import read_any_trace

    path = tmp_path / "memory.pickle"
    path.write_bytes(torch_snapshot(SNAPSHOT))
    trace, _ = read_any_trace(path)

    assert [(line.op.name, line.nbytes) for line in trace.lines] == [
        ("ALLOCATE", 3 * MIB),
        ("ALLOCATE", 256 * KIB),
        ("FREE", 256 * KIB),
    ]


def test_a_place_that_cannot_be_written(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "nowhere" / "x"
    assert command.main(["export", file, "-o", str(where)]) == command.FAILED
    assert f"{where} cannot be written: No such file" in capsys.readouterr().err


# -- whole runs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["show", "map", "queues", "top"])
def test_the_demonstration(view: str, tmp_path: Path) -> None:
    done = run_tool(tmp_path, view, "--demo", "--json")

    assert done.returncode == 0
    assert done.stderr == "A demonstration, on the software driver: no GPU is used.\n"
    assert json.loads(done.stdout)["pid"] > 0


def test_a_demonstration_looks_at_itself_only(tmp_path: Path) -> None:
    done = run_tool(tmp_path, "show", "--demo", "5")

    assert done.returncode == 1
    assert "name no target with it" in done.stderr


def test_a_replay_shows_both_adapters(tmp_path: Path) -> None:
    pickled = tmp_path / "memory.pickle"
    history = [
        {"action": action, "addr": 4096, "size": 1 << 20, "stream": 0}
        for action in ("alloc", "free_requested", "alloc")
    ]
    pickled.write_bytes(pickle.dumps({"segments": [], "device_traces": [history]}))
    done = run_tool(
        tmp_path,
        *("replay", "--driver", "software", "--repeat", "1", "--json"),
        str(pickled),
        str(TRACES / "training_step.csv"),
    )

    assert (done.returncode, done.stderr) == (0, "")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["trace"], each["adapter"]) for each in results] == [
        ("memory", "v2"),
        ("memory", "legacy"),
        ("training_step", "v2"),
        ("training_step", "legacy"),
    ]
    assert all(each["verified"] for each in results)
    assert results[0]["reserved_high"] == 2 << 20


# -- how it is installed ---------------------------------------------------------------------------


def test_every_package_is_installed_and_the_tool_under_our_own_name() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = settings["tool"]["setuptools"]["packages"]
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "urasync_l0").rglob("__init__.py")
    } | {
        ".".join(("urasync_l0", *path.parent.relative_to(ROOT).parts))
        for path in (ROOT / "tools").rglob("__init__.py")
    }

    assert set(listed) == found
    assert settings["project"]["scripts"] == {"urasync-pools": "urasync_l0.tools.command:main"}


def test_there_is_no_top_level_package_of_tools(tmp_path: Path) -> None:
    """From another folder, with what is installed alone."""
    program = (
        "import importlib.util\n"
        "assert importlib.util.find_spec('tools') is None\n"
        "import urasync_l0.tools.command\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )
