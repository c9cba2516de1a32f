# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where snapshots come from: a running process, by number or by name, or a file."""

from __future__ import annotations

import json
import os
import pwd
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from urasync_l0.snapshot import Snapshot, SnapshotError, read_snapshot
from urasync_l0.socket_folder import (
    PoolSocket,
    SocketFolderError,
    peer_user,
    pool_sockets,
    refusals,
    socket_folders,
)
from urasync_l0.tools.failure import ToolError

Source = Callable[[bool], Snapshot]
"""Gives a snapshot of this moment; with blocks or without."""

ANSWER_SECONDS = 20.0
LARGEST_ANSWER = 1 << 30
_LONGEST_HEADER = 4096
_PAUSE_SECONDS = 0.02

_OFFER = "start it with URASYNC_L0_POOL_SOCKET=1, or call urasync_l0.serve_pools() in it"


def find_source(target: str | None) -> Source:
    """What a target names: the number or name of a process, or a file; None for the only process.

    Raises
    ------
    ToolError
        There is no such process, or several, or it is not ours, or offers no pools.
    """
    if target is None:
        return _process(_only())
    if target.isascii() and target.isdigit():
        return _process(_by_number(int(target)))
    path = Path(target)
    if os.sep in target or target.endswith(".json") or _may_be_snapshot(path):
        return lambda blocks: _from_file(path)
    return _process(_by_name(target))


def serving_processes() -> list[PoolSocket]:
    """The running processes of this user that offer their pools. Forgets those that are gone."""
    return [each for each in _sockets() if _is_served(each)]


def nobody_serves() -> str:
    """That there is no process to look at, what to do, and where one was looked for."""
    return f"No process of yours offers its pools; {_OFFER}. {_looked()}"


def require_pools(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot; raise `ToolError` if the process had no pools."""
    if not snapshot.contexts:
        raise ToolError(
            f"Process {snapshot.pid} ({snapshot.name}) has no pools: it has made no context yet, "
            "or closed it."
        )
    return snapshot


def require_blocks(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot; raise `ToolError` if it was taken without blocks."""
    if not snapshot.has_blocks:
        raise ToolError("The snapshot was taken without blocks, which this view shows.")
    return require_pools(snapshot)


def _may_be_snapshot(path: Path) -> bool:
    """Whether there is a file that begins as a snapshot does. A process is often called like its
    program's file, which may lie right here."""
    try:
        if not path.is_file():  # to open a pipe would wait for who writes it
            return False
        with path.open("rb") as file:
            return file.read(_LONGEST_HEADER).lstrip().startswith(b"{")
    except OSError:
        return False


def _from_file(path: Path) -> Snapshot:
    try:
        return read_snapshot(path)
    except SnapshotError as error:
        raise ToolError(f"{error}.") from None


def _process(found: PoolSocket) -> Source:
    return lambda blocks: ask(found, blocks=blocks)


def _is_served(found: PoolSocket) -> bool:
    """Whether somebody listens at a socket; removes one that a process left which is gone, even if
    another has its number by now."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        try:
            connection.connect(str(found.path))
        except ConnectionRefusedError:
            with suppress(OSError):
                found.path.unlink()
            return False
        except FileNotFoundError:
            return False
        except OSError:  # too busy at the moment, say: `ask` tells
            return True
    return True


def _sockets(pid: int | None = None) -> list[PoolSocket]:
    try:
        return pool_sockets(pid)
    except SocketFolderError as error:
        raise ToolError(f"No process can be found: {error}.") from None


def _only() -> PoolSocket:
    found = serving_processes()
    if len(found) == 1:
        return found[0]
    if not found:
        raise ToolError(nobody_serves())
    raise ToolError(f"Several processes offer their pools; name one of {_list(found)}.")


def _by_name(name: str) -> PoolSocket:
    running = serving_processes()
    found = [each for each in running if each.name == name]
    found = found or [each for each in running if each.name.rpartition(".")[0] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise ToolError(f"Several processes are called {name}; name one of {_list(found)}.")
    others = (
        f"There are {_list(running)}." if running else f"To see a process, {_OFFER}. {_looked()}"
    )
    is_there = os.path.exists(name)
    file = f"The file {name!r} is no snapshot" if is_there else f"There is no file {name!r}"
    raise ToolError(f"{file}, and no process of that name offers its pools. {others}")


def _by_number(pid: int) -> PoolSocket:
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        raise ToolError(f"There is no process {pid}.") from None
    if owner != os.geteuid():
        raise ToolError(
            f"Process {pid} belongs to {_user(owner)}, and you are {_user(os.geteuid())}; a "
            "process shows its pools to its own user only."
        )
    left = ""
    for each in _sockets(pid):
        if each.pid == pid:
            if _is_served(each):
                return each
            left = f" An earlier process of that number, {each.name}, left its socket: {each.path}."
    raise ToolError(
        f"Process {pid} ({_command(pid)}) offers no pools; {_OFFER}.{left} {_looked(pid)}"
    )


def ask(found: PoolSocket, *, blocks: bool) -> Snapshot:
    """Get a snapshot from a process.

    Raises
    ------
    ToolError
        It is gone, cannot be reached, does not answer in time, refuses, or its answer cannot be
        read.
    """
    who = f"Process {found.pid} ({found.name})"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_SECONDS)
            _connect(connection, found)
            if peer_user(connection) != os.geteuid():
                raise ToolError(f"{found.path} is served by another user; nothing was asked.")
            request = json.dumps({"request": "snapshot", "blocks": blocks})
            connection.sendall(request.encode() + b"\n")
            body = _answer(connection, who)
    except TimeoutError:
        raise ToolError(
            f"{who} does not answer within {ANSWER_SECONDS:.0f} s; is it stopped, or in a call "
            "that holds Python's lock?"
        ) from None
    except (ConnectionError, FileNotFoundError):
        raise ToolError(f"{who} is gone, or offers its pools no longer.") from None
    except PermissionError:
        raise ToolError(f"{who} is not yours: {found.path} cannot be opened.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ToolError(f"{who} cannot be asked over {found.path}: {reason}.") from None
    try:
        return Snapshot.from_json(body, f"the answer of process {found.pid}")
    except SnapshotError as error:
        raise ToolError(f"{who} runs another version: {error}.") from None


def _connect(connection: socket.socket, found: PoolSocket) -> None:
    """Connect; when too many others wait to be served, try again as long as an answer may take."""
    end = time.monotonic() + ANSWER_SECONDS
    while True:
        try:
            connection.connect(str(found.path))
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise TimeoutError from None
            time.sleep(_PAUSE_SECONDS)


def _answer(connection: socket.socket, who: str) -> bytes:
    with connection.makefile("rb") as stream:
        header = stream.readline(_LONGEST_HEADER)
        try:
            answer = json.loads(header)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise ToolError(f"{who} ended before it answered." if not header else _nonsense(who))
        if "error" in answer:
            raise ToolError(f"{who} refuses: {str(answer['error'])[:200]}.")
        size = answer.get("size")
        if type(size) is not int or not 0 <= size <= LARGEST_ANSWER:
            raise ToolError(_nonsense(who))
        body = stream.read(size)
    if len(body) != size:
        raise ToolError(f"{who} ended in the middle of its answer ({len(body)} of {size} bytes).")
    return body


def _nonsense(who: str) -> str:
    return f"{who} answers with something that is no snapshot."


def _looked(pid: int | None = None) -> str:
    """Where was looked, and where that was refused."""
    words = f"Looked in {', '.join(map(str, socket_folders(pid)))}."
    return " ".join([words, *(f"Refused: {each}." for each in refusals(pid))])


def _list(found: list[PoolSocket]) -> str:
    return ", ".join(f"{each.pid} ({each.name})" for each in found)


def _user(number: int) -> str:
    try:
        return f"user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "gone"
    text = " ".join(word.decode("utf-8", "replace") for word in words if word)
    return text if len(text) <= 60 else text[:57] + "..."
