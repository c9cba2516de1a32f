# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A real second process, looked at over its socket: by its own user, by others, by garbage."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.tools.snapshots import SNAPSHOT
from tests.tools.watched_process import (
    ROOT,
    TIMEOUT_SECONDS,
    WatchedProcess,
    run_tool,
    watched_process,
)
from urasync_l0 import pool_service, socket_folder
from urasync_l0.pool_service import LONGEST_REQUEST, MOST_CLIENTS
from urasync_l0.snapshot import IN_USE, Snapshot
from urasync_l0.socket_folder import (
    PoolSocket,
    SocketFolderError,
    check_socket_folder,
    pool_sockets,
    socket_path,
)
from urasync_l0.tools import attachment, command
from urasync_l0.tools.attachment import ask, find_source, serving_processes
from urasync_l0.tools.failure import ToolError

MIB = 1 << 20
NOBODY = 65534


root_only = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become another user for this test"
)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime folder of the test's own; paths of sockets must be short."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    leave_the_users_own_processes_out(tmp_path, monkeypatch)
    return tmp_path


def leave_the_users_own_processes_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have processes that offer their pools."""
    monkeypatch.setattr(socket_folder, "RUNTIME_FOLDERS", folder / "run")
    monkeypatch.setattr(socket_folder, "TEMPORARY_FOLDER", folder)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


@pytest.fixture
def process(runtime: Path) -> Iterator[WatchedProcess]:
    """A process that serves its pools and has allocated 3 MiB and 1000 bytes."""
    with watched_process(runtime, URASYNC_L0_POOL_SOCKET="1") as watched:
        watched.do("start()")
        watched.do("kept += [queue.alloc_device(3 << 20), queue.alloc_device(1000)]")
        yield watched


def only(runtime: Path) -> PoolSocket:
    (found,) = pool_sockets()
    return found


def requests(found: PoolSocket, data: bytes) -> bytes:
    """Send bytes as they are; what came back until the end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(TIMEOUT_SECONDS)
        client.connect(str(found.path))
        answer = b""
        try:
            client.sendall(data)
            while part := client.recv(1 << 16):
                answer += part
        except ConnectionError:
            pass  # who sends too much is cut off
        return answer


# -- looking ---------------------------------------------------------------------------------------


def test_a_process_is_seen_as_it_changes(process: WatchedProcess, runtime: Path) -> None:
    source = find_source(str(process.pid))
    before = source(True)
    process.do("kept.pop(0).free()")
    after = source(True)

    assert (before.pid, before.name) == (process.pid, "train.py")
    pool = before.pools[0]
    used = [block for each in pool.segments for block in each.blocks if block.state == IN_USE]
    assert sorted(block.requested for block in used) == [1000, 3 * MIB]
    assert pool.statistics.used == 3 * MIB + 1024
    assert after.pools[0].statistics.used == 1024
    assert after.pools[0].statistics.pending == 3 * MIB


@pytest.mark.parametrize("target", ["train.py", "train", None])
def test_a_process_is_found_by_name_or_as_the_only_one(
    process: WatchedProcess, target: str | None
) -> None:
    assert find_source(target)(False).pid == process.pid


@pytest.mark.parametrize("target", ["train.py", "train"])
def test_a_programs_file_in_the_folder_is_not_taken_for_a_snapshot(
    process: WatchedProcess, runtime: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runtime)
    (runtime / "train").mkdir()
    assert (runtime / "train.py").is_file()

    assert find_source(target)(False).pid == process.pid


def test_a_snapshot_is_found_whatever_its_file_is_called(
    process: WatchedProcess, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runtime)
    (runtime / "yesterday").write_text(SNAPSHOT.to_json(), "utf-8")

    assert find_source("yesterday")(True) == SNAPSHOT


def test_a_file_that_is_neither_snapshot_nor_process(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runtime)
    (runtime / "train.py").write_text("print()", "utf-8")

    with pytest.raises(ToolError, match=r"^The file 'train.py' is no snapshot, and no process of"):
        find_source("train.py")


def test_a_process_may_choose_its_name(runtime: Path) -> None:
    with watched_process(runtime, URASYNC_L0_POOL_SOCKET="my job/1") as watched:
        watched.do("pass")
        assert only(runtime).name == "my_job_1"
        assert find_source("my_job_1")(False).pid == watched.pid


def test_one_call_serves_as_well(runtime: Path) -> None:
    with watched_process(runtime) as watched:
        watched.do("start()")
        assert serving_processes() == []
        watched.do("assert urasync_l0.serve_pools('called') == urasync_l0.serve_pools()")
        assert find_source("called")(False).pid == watched.pid
        watched.do("urasync_l0.stop_serving_pools()")
        assert serving_processes() == []
        watched.do("urasync_l0.serve_pools('again')")
        assert find_source("again")(False).pid == watched.pid
        watched.end()


def test_the_socket_is_the_users_alone_and_goes_with_the_process(
    process: WatchedProcess, runtime: Path
) -> None:
    found = only(runtime)

    assert stat.S_IMODE(found.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.path.parent.stat().st_mode) == 0o700
    process.end()
    assert not found.path.exists()


def test_watching_without_blocks_is_cheap_and_says_so(process: WatchedProcess) -> None:
    snapshot = find_source(str(process.pid))(False)

    assert not snapshot.has_blocks
    assert all(not segment.blocks for pool in snapshot.pools for segment in pool.segments)
    assert snapshot.pools[0].segments[0].mapped == snapshot.pools[0].statistics.reserved


def test_the_command_looks_at_the_process(process: WatchedProcess, runtime: Path) -> None:
    shown = run_tool(runtime, "show")
    listed = run_tool(runtime, "list", "--json")
    watched = run_tool(runtime, "watch", "train", "-n", "2", "-s", "0.05", "--json")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "default pool of device 0" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert json.loads(listed.stdout) == [{"pid": process.pid, "name": "train.py"}]
    lines = [json.loads(line) for line in watched.stdout.splitlines()]
    assert [line["pid"] for line in lines] == [process.pid] * 2
    assert lines[0]["pools"][0]["rates"]["allocations"] is None
    assert lines[1]["pools"][0]["rates"]["allocations"] == 0


def test_watching_ends_with_the_process(process: WatchedProcess, runtime: Path) -> None:
    with watching(process) as tool:
        process.end()
        _, errors = tool.communicate(timeout=TIMEOUT_SECONDS)
        assert tool.returncode == 0
        assert "Traceback" not in errors


def test_watching_ends_when_the_process_is_killed(process: WatchedProcess, runtime: Path) -> None:
    with watching(process) as tool:
        process.kill()
        _, errors = tool.communicate(timeout=TIMEOUT_SECONDS)
        assert tool.returncode == 0
        assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGPIPE, signal.SIGHUP])
def test_a_process_goes_on_when_who_watches_it_is_killed(
    process: WatchedProcess, runtime: Path, number: signal.Signals
) -> None:
    with watching(process) as tool:
        tool.send_signal(number)
        # Python itself ignores SIGPIPE: whoever writes to nobody has an error instead.
        if number is signal.SIGPIPE:
            tool.kill()
        tool.wait(TIMEOUT_SECONDS)
    process.do("kept.append(queue.alloc_device(2000))")
    assert find_source(str(process.pid))(False).pools[0].statistics.used == 3 * MIB + 1024 + 2048
    process.end()


def test_a_process_that_is_killed_in_the_middle_of_its_answer(
    process: WatchedProcess, runtime: Path
) -> None:
    """Its answer is longer than what a socket takes; the tool has read the beginning."""
    process.do("kept += [queue.alloc_device(300) for _ in range(20000)]")
    found = only(runtime)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(TIMEOUT_SECONDS)
        client.connect(str(found.path))
        client.sendall(b'{"request": "snapshot", "blocks": true}\n')
        with pytest.raises(ToolError, match=r"ended in the middle of its answer \(\d+ of \d+ byt"):
            attachment._answer(Killing(client, process), "Process 1")  # type: ignore[arg-type]


class Killing:
    """A connection whose other end is killed once an answer has begun."""

    def __init__(self, client: socket.socket, process: WatchedProcess) -> None:
        self._client = client
        self._process = process

    def makefile(self, mode: str) -> BinaryIO:
        beginning = self._client.recv(1)
        self._process.kill()
        rest = b""
        while part := self._client.recv(1 << 16):
            rest += part
        return io.BytesIO(beginning + rest)


@contextmanager
def watching(process: WatchedProcess) -> Iterator[subprocess.Popen[str]]:
    """The tool, which has looked at the process once."""
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from urasync_l0.tools.command import main; import sys; sys.exit(main())",
            *("watch", str(process.pid), "-s", "0.05", "--json"),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as tool:
        assert tool.stdout is not None
        assert json.loads(tool.stdout.readline())["pid"] == process.pid
        try:
            yield tool
        finally:
            tool.kill()


def test_the_tool_itself_offers_and_writes_nothing(runtime: Path) -> None:
    """Its user may well have exported the variables that the program was started with."""
    path = runtime / "exit.json"
    done = run_tool(
        runtime,
        "list",
        URASYNC_L0_POOL_SOCKET="1",
        URASYNC_L0_SNAPSHOT_AT_EXIT=str(path),
    )

    assert (done.returncode, done.stdout) == (0, "")
    assert not path.exists()


# -- errors that a person understands --------------------------------------------------------------


def test_no_such_process(runtime: Path) -> None:
    with pytest.raises(ToolError, match=r"^There is no process 4999999\.$"):
        find_source("4999999")


def test_a_process_that_offers_nothing(runtime: Path) -> None:
    with watched_process(runtime) as watched:
        watched.do("start()")
        with pytest.raises(ToolError, match=r"offers no pools; start it with URASYNC_L0_POOL_SOCK"):
            find_source(str(watched.pid))


def test_a_process_without_pools(runtime: Path) -> None:
    with watched_process(runtime, URASYNC_L0_POOL_SOCKET="1") as watched:
        watched.do("pass")
        done = run_tool(runtime, "show", str(watched.pid))

    assert done.returncode == 1
    assert done.stderr == (
        f"urasync-pools: Process {watched.pid} (train.py) has no pools: it has made no context "
        "yet, or closed it.\n"
    )


def test_nobody_to_look_at(runtime: Path) -> None:
    with pytest.raises(ToolError, match=r"^No process of yours offers its pools; start it"):
        find_source(None)
    with pytest.raises(ToolError, match=r"^There is no file 'train', and no process of that name"):
        find_source("train")


def test_the_folders_that_were_looked_in_are_named(runtime: Path) -> None:
    with pytest.raises(ToolError) as caught:
        find_source(None)
    user = os.geteuid()
    assert str(caught.value).endswith(
        f"Looked in {runtime}/urasync-l0, {runtime}/run/{user}/urasync-l0, "
        f"{runtime}/urasync-l0-{user}."
    )


def test_a_list_of_nobody_says_where_it_looked(
    runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["list"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("urasync-pools: No process of yours offers its pools; start it with")
    assert f"Looked in {runtime}/urasync-l0, " in told.err


@pytest.mark.parametrize("setting", ["XDG_RUNTIME_DIR", "TMPDIR"])
def test_a_process_with_another_runtime_folder(
    runtime: Path, tmp_path_factory: pytest.TempPathFactory, setting: str
) -> None:
    """By its number it is found in the folder that its own environment names."""
    other = tmp_path_factory.mktemp("other")
    settings = {"XDG_RUNTIME_DIR": "", setting: str(other), "URASYNC_L0_POOL_SOCKET": "1"}
    with watched_process(runtime, **settings) as watched:
        watched.do("start()")
        assert find_source(str(watched.pid))(False).pid == watched.pid
        with pytest.raises(ToolError, match=r"^No process of yours"):
            find_source(None)


@pytest.mark.parametrize("place", ["run", "temporary"])
def test_usual_folders(runtime: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """By name too: as when one of the two was started without the user's session."""
    user = os.geteuid()
    elsewhere = runtime / "run" / str(user) if place == "run" else runtime
    elsewhere.mkdir(parents=True, exist_ok=True)
    settings = {"run": "XDG_RUNTIME_DIR", "temporary": "TMPDIR"}
    environment = {"XDG_RUNTIME_DIR": "", settings[place]: str(elsewhere)}
    with watched_process(runtime, URASYNC_L0_POOL_SOCKET="1", **environment) as watched:
        watched.do("start()")
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / "mine"))
        assert find_source("train")(False).pid == watched.pid


@root_only
def test_a_folder_of_another_user_is_refused(runtime: Path) -> None:
    """Somebody else could make it first, and answer in our name."""
    folder = runtime / "urasync-l0"
    folder.mkdir(mode=0o700)
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(SocketFolderError, match=rf"belongs to user {NOBODY}, not to you"):
        check_socket_folder(folder)
    with pytest.raises(SocketFolderError, match=rf"belongs to user {NOBODY}, not to you"):
        pool_service.PoolService("here")


def test_a_socket_whose_process_number_was_given_out_again(runtime: Path) -> None:
    """The test's own process has the number of one that was killed."""
    folder = runtime / "urasync-l0"
    folder.mkdir(mode=0o700)
    left = socket_path(folder, os.getpid(), "train.py")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as gone:
        gone.bind(str(left))
    with pytest.raises(
        ToolError, match=rf"^Process {os.getpid()} \(.*\) offers no pools; start"
    ) as caught:
        find_source(str(os.getpid()))
    told = f"An earlier process of that number, train.py, left its socket: {left}."
    assert told in str(caught.value)
    assert not left.exists()
    with pytest.raises(ToolError, match=r"^No process of yours offers its pools"):
        find_source(None)


def test_a_socket_that_was_left_is_no_process_to_choose_from(
    process: WatchedProcess, runtime: Path
) -> None:
    left = socket_path(runtime / "urasync-l0", os.getpid(), "older")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as gone:
        gone.bind(str(left))
    assert find_source(None)(False).pid == process.pid
    assert not left.exists()


def test_a_socket_appears_when_it_can_be_connected_to(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks in between must not take it for one that was left, and remove it."""
    seen: list[list[PoolSocket]] = []

    class Listener(socket.socket):
        def listen(self, *waiting: int) -> None:
            seen.append(pool_sockets())
            seen.append(serving_processes())
            super().listen(*waiting)

    monkeypatch.setattr(socket, "socket", Listener)
    service = pool_service.PoolService("here")
    try:
        assert seen == [[], []]
        assert [each.path for each in serving_processes()] == [service.path]
        assert list(service.path.parent.iterdir()) == [service.path]
    finally:
        service.close()


def test_a_path_that_is_too_long_for_a_socket(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runtime / ("x" * 100)).mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / ("x" * 100)))
    with pytest.raises(OSError, match=r"is too long for a socket, \d+ bytes of at most 107; let"):
        pool_service.PoolService("here")


@pytest.mark.parametrize("target", [None, "train"])
def test_a_folder_that_is_refused_is_named_beside_those_looked_in(
    process: WatchedProcess, runtime: Path, target: str | None
) -> None:
    """Also where there is another folder with a socket, that of a process which has ended."""
    process.kill()
    refused = runtime / f"urasync-l0-{os.geteuid()}"
    refused.mkdir()
    refused.chmod(0o755)
    with pytest.raises(ToolError) as caught:
        find_source(target)
    assert str(caught.value).endswith(
        f"{refused}. Refused: others may enter {refused} (mode 755); it must be 700."
    )


@root_only
def test_a_folder_that_cannot_be_looked_at_is_said() -> None:
    """As after su, which leaves the variable of the user before."""
    program = f"""\
import os, sys
from urasync_l0 import socket_folder
from urasync_l0.tools.attachment import find_source
from urasync_l0.tools.failure import ToolError
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
try:
    find_source(None)
except ToolError as error:
    print(error)
"""
    with tempfile.TemporaryDirectory() as name:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "XDG_RUNTIME_DIR": f"{name}/inner", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=True,
        )
    assert f"{name}/inner/urasync-l0 cannot be used: Permission denied" in done.stdout


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConnectionResetError(errno.ECONNRESET, "reset"), "is gone, or offers its pools no longer"),
        (BrokenPipeError(errno.EPIPE, "broken"), "is gone, or offers its pools no longer"),
        (OSError(errno.EMFILE, "Too many open files"), "cannot be asked over .*: Too many open fi"),
        (OSError("AF_UNIX path too long"), "cannot be asked over .*: AF_UNIX path too long"),
        (PermissionError(errno.EACCES, "Permission denied"), "is not yours: .* cannot be opened"),
        (TimeoutError("timed out"), "does not answer within 20 s; is it stopped"),
    ],
)
@pytest.mark.parametrize("step", ["connect", "sendall"])
def test_whatever_goes_wrong_on_the_way_is_told_in_words(
    step: str, error: OSError, message: str, process: WatchedProcess, runtime: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(connection: socket.socket, argument: object) -> None:
        raise error

    found = only(runtime)
    monkeypatch.setattr(socket.socket, step, fail)
    with pytest.raises(ToolError, match=rf"^Process {process.pid} \(train.py\) {message}"):
        ask(found, blocks=True)


def test_an_answer_that_is_nested_too_deeply(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pool_service.PoolService,
        "_answer",
        lambda self, client, line: self._begin_answer(client, b"[" * 4000 + b"\n"),
    )
    service = pool_service.PoolService("deep")
    try:
        with pytest.raises(ToolError, match="answers with something that is no snapshot"):
            find_source("deep")(False)
    finally:
        service.close()


def test_a_busy_process_is_asked_again(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is refused at once when too many wait; that is no reason to give up."""
    folder = runtime / "urasync-l0"
    folder.mkdir(mode=0o700)
    found = PoolSocket(os.getpid(), "busy", socket_path(folder, os.getpid(), "busy"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(found.path))
        listener.listen(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as first:
            first.connect(str(found.path))  # all that may wait
            assert [each.name for each in serving_processes()] == ["busy"]
            monkeypatch.setattr(attachment, "ANSWER_SECONDS", 0.2)
            with pytest.raises(ToolError, match="does not answer within"):
                ask(found, blocks=True)
        monkeypatch.setattr(attachment, "ANSWER_SECONDS", TIMEOUT_SECONDS)
        server = threading.Thread(target=answer_all, args=(listener,))
        server.start()
        assert ask(found, blocks=True) == SNAPSHOT
        server.join(TIMEOUT_SECONDS)


def answer_all(listener: socket.socket) -> None:
    """Serve clients until one has had its answer; the first is gone already."""
    body = SNAPSHOT.to_json().encode()
    while True:
        connection, _ = listener.accept()
        with connection:
            if connection.recv(4096):
                connection.sendall(b'{"size": %d}\n' % len(body) + body)
                return


@root_only
def test_a_server_of_another_user_is_asked_nothing(runtime: Path) -> None:
    """Whoever got a socket into our folder is looked at before anything is sent."""
    runtime.chmod(0o777)
    path = runtime / "theirs.sock"
    server = f"""\
import os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
listener.listen()
print(flush=True)
connection, _ = listener.accept()
print(len(connection.recv(100)), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", server, str(path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(ToolError, match=r"is served by another user; nothing was asked\.$"):
            ask(PoolSocket(other.pid, "theirs", path), blocks=True)
        assert other.stdout.readline() == "0\n"


def test_several_processes_must_be_told_apart(process: WatchedProcess, runtime: Path) -> None:
    with watched_process(runtime, URASYNC_L0_POOL_SOCKET="1") as other:
        other.do("pass")
        both = rf"{process.pid} \(train.py\)"
        with pytest.raises(ToolError, match=rf"^Several processes offer their pools.*{both}"):
            find_source(None)
        with pytest.raises(ToolError, match=rf"^Several processes are called train.*{both}"):
            find_source("train")
        assert find_source(str(other.pid))(False).pid == other.pid


def test_a_process_that_was_killed_is_forgotten(process: WatchedProcess, runtime: Path) -> None:
    found = only(runtime)
    process.kill()

    with pytest.raises(ToolError, match=r"is gone, or offers its pools no longer\.$"):
        ask(found, blocks=True)
    assert serving_processes() == []
    assert not found.path.exists()


def test_a_folder_that_others_may_enter_is_refused(runtime: Path) -> None:
    folder = runtime / "urasync-l0"
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)

    with pytest.raises(SocketFolderError, match=r"mode 755\); it must be 700"):
        check_socket_folder(folder)
    with pytest.raises(ToolError, match=r"^No process can be found: others may enter"):
        find_source(None)


def test_without_a_runtime_folder_the_one_for_temporary_files_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    leave_the_users_own_processes_out(tmp_path, monkeypatch)
    service = pool_service.PoolService("here")
    try:
        folder = tmp_path / f"urasync-l0-{os.geteuid()}"
        assert service.path.parent == folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [each.name for each in pool_sockets()] == ["here"]
    finally:
        service.close()


def test_a_folder_that_is_none_is_refused(runtime: Path) -> None:
    (runtime / "elsewhere").mkdir()
    (runtime / "urasync-l0").symlink_to(runtime / "elsewhere")

    with pytest.raises(SocketFolderError, match="is no folder"):
        check_socket_folder(runtime / "urasync-l0")


def test_a_setting_that_cannot_be_followed_is_a_warning(runtime: Path) -> None:
    (runtime / "urasync-l0").write_text("in the way", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "import urasync_l0; print('goes on')"],
        env={
            **os.environ,
            "XDG_RUNTIME_DIR": str(runtime),
            "URASYNC_L0_POOL_SOCKET": "1",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    assert done.stdout == "goes on\n"
    assert "URASYNC_L0_POOL_SOCKET=1 cannot be followed" in done.stderr


# -- another user ----------------------------------------------------------------------------------

AS_ANOTHER_USER = f"""\
import os, socket, sys
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.settimeout(30)
try:
    client.connect(sys.argv[1])
except PermissionError:
    print("not let in")
else:
    client.sendall(b'{{"request": "snapshot"}}\\n')
    print(client.makefile().read(), end="")
"""


def as_another_user(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
        cwd="/",
    )
    return done.stdout


@root_only
def test_another_user_is_not_let_in(process: WatchedProcess, runtime: Path) -> None:
    assert as_another_user(AS_ANOTHER_USER, str(only(runtime).path)) == "not let in\n"


@root_only
def test_another_user_who_gets_in_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with every mode wide open, who asks is looked at."""
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setenv("XDG_RUNTIME_DIR", name)
        leave_the_users_own_processes_out(Path(name), monkeypatch)
        with watched_process(Path(name), URASYNC_L0_POOL_SOCKET="1") as watched:
            watched.do("start()")
            found = only(Path(name))
            for path in (found.path, found.path.parent, Path(name)):
                path.chmod(0o777)
            answer = as_another_user(AS_ANOTHER_USER, str(found.path))
            found.path.parent.chmod(0o700)

            assert json.loads(answer) == {"error": "this process answers only its own user"}
            assert find_source(str(watched.pid))(False).pid == watched.pid


@root_only
def test_a_process_of_another_user_is_named_as_such(runtime: Path) -> None:
    sleeper = (
        "import os, sys; os.setgid(65534); os.setuid(65534); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-S", "-c", sleeper],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(
            ToolError, match=rf"^Process {other.pid} belongs to user nobody, and you are user root;"
        ):
            find_source(str(other.pid))
        other.kill()


# -- clients that are slow, or no clients at all ---------------------------------------------------


def test_ten_megabytes_of_garbage_change_nothing(process: WatchedProcess, runtime: Path) -> None:
    found = only(runtime)
    before = ask(found, blocks=True)
    garbage = os.urandom(1 << 20) * 10
    requests(found, garbage)
    requests(found, garbage.replace(b"\n", b" "))
    after = ask(found, blocks=True)

    assert after.contexts == before.contexts
    process.do("kept.append(queue.alloc_device(5000))")
    assert ask(found, blocks=False).pools[0].statistics.used == 3 * MIB + 1024 + 5120
    process.end()


@pytest.mark.parametrize(
    ("request_line", "reason"),
    [
        (b"nonsense\n", "the request is not JSON"),
        (b"[" * 4000 + b"\n", "the request is not JSON"),
        (b"\xff\xfe\n", "the request is not JSON"),
        (b"[]\n", "unknown request; this process knows 'snapshot'"),
        (b'{"request": "shutdown"}\n', "unknown request; this process knows 'snapshot'"),
        (b"x" * (LONGEST_REQUEST + 1), f"a request has at most {LONGEST_REQUEST} bytes"),
    ],
)
def test_a_malformed_request_is_refused(
    request_line: bytes, reason: str, process: WatchedProcess, runtime: Path
) -> None:
    assert json.loads(requests(only(runtime), request_line)) == {"error": reason}


def test_slow_clients_hinder_nobody(process: WatchedProcess, runtime: Path) -> None:
    """One that sends half a request, and one that never reads its answer."""
    found = only(runtime)
    process.do("kept += [queue.alloc_device(300) for _ in range(5000)]")
    half = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    deaf = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with half, deaf:
        half.connect(str(found.path))
        half.sendall(b'{"request"')
        deaf.connect(str(found.path))
        deaf.sendall(b'{"request": "snapshot"}\n')
        for _ in range(3):
            assert ask(found, blocks=True).pools[0].statistics.allocations == 5002
        process.do("kept.append(queue.alloc_device(300))")
        half.sendall(b': "snapshot", "blocks": false}\n')
        half.settimeout(TIMEOUT_SECONDS)
        header, _, body = b"".join(iter(lambda: half.recv(1 << 16), b"")).partition(b"\n")
        assert json.loads(header) == {"size": len(body)}
        assert Snapshot.from_json(body).pools[0].statistics.allocations == 5003
    process.end()


def test_a_client_that_is_too_slow_is_cut_off(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_service, "REQUEST_SECONDS", 0.05)
    service = pool_service.PoolService("slow")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(TIMEOUT_SECONDS)
            client.connect(str(service.path))
            client.sendall(b"{")
            assert client.recv(1) == b""
    finally:
        service.close()
    assert not service.path.exists()


def test_too_many_clients_are_turned_away_and_later_ones_served(
    process: WatchedProcess, runtime: Path
) -> None:
    found = only(runtime)
    crowd = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(MOST_CLIENTS)]
    for client in crowd:
        client.connect(str(found.path))
        client.sendall(b"{")
    # Once the last of them was accepted, there is no room.
    deadline = time.monotonic() + TIMEOUT_SECONDS
    refusal = ""
    while not refusal and time.monotonic() < deadline:
        try:
            ask(found, blocks=False)
        except ToolError as error:
            refusal = str(error)
    assert f"refuses: {MOST_CLIENTS} others are being served" in refusal
    for client in crowd:
        client.close()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    served = None
    while served is None and time.monotonic() < deadline:
        try:
            served = ask(found, blocks=False)
        except ToolError:
            continue
    assert served is not None


def test_a_server_that_answers_nonsense(runtime: Path) -> None:
    folder = runtime / "urasync-l0"
    folder.mkdir(mode=0o700)
    path = socket_path(folder, os.getpid(), "nonsense")
    found = PoolSocket(os.getpid(), "nonsense", path)
    who = f"Process {os.getpid()} \\(nonsense\\)"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        for answer, message in (
            (b"", "ended before it answered"),
            (b"hello\n", "answers with something that is no snapshot"),
            (b'{"size": -1}\n', "answers with something that is no snapshot"),
            (b'{"size": 100}\n{"for', r"ended in the middle of its answer \(5 of 100 bytes\)"),
            (b'{"size": 2}\n{}', "runs another version: the answer of process"),
        ):
            program = (
                "import socket, sys\n"
                "from urasync_l0.socket_folder import PoolSocket\n"
                "from urasync_l0.tools.attachment import ask\n"
                "from urasync_l0.tools.failure import ToolError\n"
                "from pathlib import Path\n"
                "try:\n"
                f"    ask(PoolSocket({os.getpid()}, 'nonsense', Path(sys.argv[1])), blocks=True)\n"
                "except ToolError as error:\n"
                "    print(error)\n"
            )
            with subprocess.Popen(
                [sys.executable, "-c", program, str(found.path)],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                text=True,
            ) as client:
                listener.settimeout(TIMEOUT_SECONDS)
                connection, _ = listener.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(answer)
                told, _ = client.communicate(timeout=TIMEOUT_SECONDS)
            assert message.replace("\\", "") in told, who


# -- fork and exit ---------------------------------------------------------------------------------

FORKS = """\
import os, sys
import urasync_l0

context = urasync_l0.Context(adapter="v2", driver="software")
queue = context.create_queue()
kept = [queue.alloc_device(1000)]
for line in sys.stdin:
    child = os.fork()
    if not child:
        # The child has no pools, no thread and no socket; its end must not take the parent's.
        from urasync_l0 import pool_service
        good = pool_service._service is None and not urasync_l0.take_snapshot().contexts
        try:
            own = urasync_l0.serve_pools("child")
            good = good and own.exists()
            urasync_l0.stop_serving_pools()
        finally:
            sys.exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    print("done" if status == 0 else f"status {status}", flush=True)
"""


def test_a_forked_child_leaves_the_service_to_its_parent(runtime: Path) -> None:
    with watched_process(runtime, program=FORKS, URASYNC_L0_POOL_SOCKET="1") as watched:
        watched.do("fork")
        watched.do("fork")
        assert find_source(str(watched.pid))(True).pools[0].statistics.used == 1024
        watched.end()
    assert pool_sockets() == []


def test_the_service_ends_in_the_middle_of_an_answer(
    process: WatchedProcess, runtime: Path
) -> None:
    process.do("kept += [queue.alloc_device(300) for _ in range(5000)]")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.connect(str(only(runtime).path))
        deaf.sendall(b'{"request": "snapshot"}\n')
        process.end()
