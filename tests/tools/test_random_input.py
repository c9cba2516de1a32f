# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random and mutated input for whatever reads what others wrote: an error in words, or a result.

Snapshots and our own traces have theirs beside their other tests. Here: requests to a process that
offers its pools, answers to whoever asks it, RMM's logs, PyTorch's pickles, and the variables that
the package reads.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.snapshots import SNAPSHOT
from tests.tools.watched_process import TIMEOUT_SECONDS
from urasync_l0 import Context, watch_settings
from urasync_l0.pool_service import PoolService
from urasync_l0.result import UrError
from urasync_l0.snapshot import Snapshot
from urasync_l0.socket_folder import PoolSocket
from urasync_l0.tools.attachment import ask
from urasync_l0.tools.failure import ToolError
from urasync_l0.tools.replayer.plain_pickle import UnsafePickleError, load_plain_pickle
from urasync_l0.tools.replayer.trace import TraceError
from urasync_l0.tools.replayer.trace_file import read_any_trace

MANY = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

ESCAPES = (b"\x1b[2J", rb"\u001b[2J", rb"\n")
PIECES = st.sampled_from(
    [b"", b"\0", b"1", b"-", b"9" * 30, b'"', b"[", b"}", b"\n", b",", b"\xff", *ESCAPES]
)


def mutated(text: bytes) -> st.SearchStrategy[bytes]:
    """A text with a few pieces cut out, changed or put in."""

    def change(places: list[tuple[float, int, bytes]]) -> bytes:
        result = bytearray(text)
        for where, length, piece in places:
            at = int(where * len(result))
            result[at : at + length] = piece
        return bytes(result)

    place = st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 1, 2, 8, 1000]), PIECES)
    return st.lists(place, min_size=1, max_size=4).map(change)


# -- the socket ------------------------------------------------------------------------------------


@contextmanager
def runtime() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", name)
        yield Path(name)


def exchange(path: Path, request: bytes) -> bytes:
    """What a process answers to bytes behind which nothing more comes."""
    answer = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(TIMEOUT_SECONDS)
        client.connect(str(path))
        try:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(1 << 16):
                answer += part
        except ConnectionError:
            pass  # it may end before it has read all
    return answer


REQUEST = b'{"request": "snapshot", "blocks": false}\n'


def test_requests_of_any_kind() -> None:
    """A snapshot, a refusal, or nothing for half a request; and the pools are as before."""
    with runtime(), Context(adapter="v2", driver="software") as context:
        kept = context.create_queue().alloc_device(1000)
        before = context.default_pool().statistics()
        service = PoolService("random")
        answers: set[str] = set()

        @MANY
        @given(st.binary(max_size=300) | mutated(REQUEST) | mutated(REQUEST * 3))
        def send(request: bytes) -> None:
            header, _, body = exchange(service.path, request).partition(b"\n")
            if not header:
                answers.add("nothing")
                return
            answer = json.loads(header)
            (kind,) = answer
            answers.add(kind)
            if kind == "size":
                assert len(body) == answer["size"]
                Snapshot.from_json(body)
            else:
                assert kind == "error"
                assert body == b""

        try:
            send()
            assert answers == {"nothing", "size", "error"}
            _, _, body = exchange(service.path, REQUEST).partition(b"\n")
            assert Snapshot.from_json(body).pid == os.getpid()
        finally:
            service.close()
        assert context.default_pool().statistics() == before
        kept.free()


def test_answers_of_any_kind() -> None:
    """Whoever asks gets a snapshot, or an error of the tool in one printable line."""
    body = SNAPSHOT.to_json().encode()
    good = b'{"size": %d}\n' % len(body) + body
    refusal = b'{"error": "16 others are being served; try again"}\n'
    answers: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            with connection:
                if not connection.recv(4096):
                    return
                try:
                    connection.sendall(answers[-1])
                except ConnectionError:  # who has seen enough goes
                    continue

    with runtime() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        path = folder / "any.sock"
        listener.bind(str(path))
        listener.listen()
        server = threading.Thread(target=serve, args=(listener,), daemon=True)
        server.start()
        found = PoolSocket(os.getpid(), "any", path)
        read = [0]

        @MANY
        @given(st.binary(max_size=300) | mutated(good) | mutated(refusal))
        def answer(data: bytes) -> None:
            answers.append(data)
            try:
                snapshot = ask(found, blocks=True)
            except ToolError as error:
                assert str(error).isprintable(), ascii(str(error))  # noqa: PT017  both are right
            else:
                assert isinstance(snapshot, Snapshot)
                read[0] += 1

        answer()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
            last.connect(str(path))
        server.join(TIMEOUT_SECONDS)
        assert read[0] > 0


def test_a_refusal_that_a_terminal_would_act_on() -> None:
    """So would the name of another user's process, or of a file."""
    assert str(ToolError("refuses: a\x1b[2Jb\né")) == r"refuses: a\x1b[2Jb\né"


# -- records of other programs ---------------------------------------------------------------------

RMM = b"""\
Thread,Time,Action,Pointer,Size,Stream
140,10:00:00:000001,allocate,0x7f0000000000,1024,0
140,10:00:00:000002,allocate,0x7f0000001000,2048,0x2
140,10:00:00:000003,free,0x7f0000000000,1024,0x2
140,10:00:00:000004,allocate failure,(nil),4096,0
"""

ENTRIES = [
    {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "frames": []},
    {"action": "free_completed", "addr": 4096, "size": 512, "stream": 0, "frames": []},
]
PICKLE = pickle.dumps({"segments": [], "device_traces": [ENTRIES]}, 4)


@pytest.mark.parametrize("good", [RMM, PICKLE], ids=["rmm", "torch"])
def test_records_of_any_kind(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record"
    read = [0]

    @MANY
    @given(mutated(good) | st.binary(max_size=200))
    def look(data: bytes) -> None:
        path.write_bytes(data)
        try:
            trace, _ = read_any_trace(path)
        except TraceError as error:
            assert str(error).startswith(str(path))  # noqa: PT017  both are right
            assert str(error).isprintable(), ascii(str(error))  # noqa: PT017
        else:
            assert all(0 <= queue < 64 for queue in trace.queues)
            read[0] += 1

    look()
    assert read[0] > 0


@MANY
@given(mutated(PICKLE) | st.binary(max_size=100).map(lambda data: b"\x80\x04" + data))
def test_pickles_of_any_kind(data: bytes) -> None:
    """Plain data, or an error: nothing else is made, whatever the opcodes say."""
    try:
        value = load_plain_pickle(data)
    except (UnsafePickleError, ValueError):
        return
    assert type(value).__module__ == "builtins"


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        (b'Action,Pointer,Size,"Stream,Stream', b"", "has no column 'stream'"),
        (b'"Action,Pointer,Size,Stream,Action', b"", "line 1: the header has no column 'action'"),
        (
            b"Action,Pointer,Size,Stream",
            b"allocate,0x10," + b"1" * 200_000 + b",0",
            "no row of a l",
        ),
    ],
)
def test_a_log_that_is_no_table(header: bytes, row: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rmm.csv"
    path.write_bytes(header + b"\n" + row + b"\n")
    with pytest.raises(TraceError, match=message):
        read_any_trace(path)


# -- variables -------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
WORDS |= st.sampled_from(["", "0", "1", "-1", "USR2", "USR2:", ":x", "KILL:x", "99999:x", "1e9"])


def test_settings_of_any_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followed, or a warning that names the variable; the program goes on."""
    followed: list[object] = []
    starts = ("serve_pools", "write_snapshot_at_exit", "write_snapshot_on_signal")
    for start in (*starts, "record_allocations"):
        monkeypatch.setattr(watch_settings, start, lambda *a, **k: followed.append((a, k)))
    names = [
        "URASYNC_L0_POOL_SOCKET", "URASYNC_L0_SNAPSHOT_AT_EXIT", "URASYNC_L0_SNAPSHOT_ON_SIGNAL",
        "URASYNC_L0_RECORD", "URASYNC_L0_RECORD_TRACEBACKS", "URASYNC_L0_RECORD_HISTORY",
    ]  # fmt: skip

    @MANY
    @given(st.dictionaries(st.sampled_from(names), WORDS))
    def follow(environment: dict[str, str]) -> None:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            watch_settings.follow(environment)
        for warning in told:
            assert any(str(warning.message).startswith(name) for name in environment), warning

    follow()
    assert followed


@pytest.mark.parametrize(
    "read",
    [lambda value: Context(adapter=value, driver="software"),
     lambda value: Context(adapter="v2", driver=value),
     lambda value: Context(adapter="v2", driver="software", expanding_segments=value)],
    ids=["adapter", "driver", "expanding_segments"],
)  # fmt: skip
def test_words_of_any_kind(read: Callable[[str], Context]) -> None:
    @MANY
    @given(WORDS)
    def use(value: str) -> None:
        try:
            read(value).close()
        except (UrError, ValueError) as error:
            assert str(error)  # noqa: PT017

    use()
