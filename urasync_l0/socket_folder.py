# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where processes offer the state of their pools: one Unix socket each, in a folder of the user.

The folder is in the user's runtime folder (``XDG_RUNTIME_DIR``), or, where there is none, in the
folder for temporary files with the user's number in its name. It belongs to the user and nobody
else may enter it; one that does not look so is refused, as somebody else may have made it.

A program that was started elsewhere (by a service, in a container's shell) may have another
environment than who looks for it, so one looks in all these places.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import struct
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"(\d{1,10})\.(.+)\.sock")
_LONGEST_NAME = 40
_LONGEST_PATH = 107
"""Bytes that the kernel takes as the path of a socket."""

RUNTIME_FOLDERS = Path("/run/user")
"""Where systemd makes the runtime folder of each user, named by number."""

TEMPORARY_FOLDER = Path("/tmp")
"""The folder for temporary files where no setting names another."""


class SocketFolderError(OSError):
    """The folder cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class PoolSocket:
    """The socket of one process."""

    pid: int
    name: str
    path: Path


def socket_folder() -> Path:
    """The folder, whether it exists or not."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isabs(runtime):
        return Path(runtime) / "urasync-l0"
    return Path(tempfile.gettempdir()) / f"urasync-l0-{os.geteuid()}"


def socket_folders(pid: int | None = None) -> list[Path]:
    """Where this user's processes may have their sockets: the own folder first.

    Parameters
    ----------
    pid
        A process whose environment is looked at as well.
    """
    environment = _environment(pid) if pid is not None else {}
    user = os.geteuid()
    runtimes = (RUNTIME_FOLDERS / str(user), environment.get("XDG_RUNTIME_DIR", ""))
    temporary = (tempfile.gettempdir(), TEMPORARY_FOLDER, environment.get("TMPDIR", ""))
    folders = [
        socket_folder(),
        *(Path(each) / "urasync-l0" for each in runtimes if os.path.isabs(each)),
        *(Path(each) / f"urasync-l0-{user}" for each in temporary if os.path.isabs(each)),
    ]
    return list(dict.fromkeys(folders))


def _environment(pid: int) -> dict[str, str]:
    """The environment that a process was started with; empty if that cannot be known."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (os.fsdecode(each).partition("=") for each in data.split(b"\0"))
    return {name: value for name, _, value in pairs}


def make_socket_folder() -> Path:
    """Make the folder if there is none, and return it.

    Raises
    ------
    SocketFolderError
        It is not the user's alone, or cannot be made.
    """
    folder = socket_folder()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SocketFolderError(f"{folder} cannot be made: {error.strerror}") from None
    check_socket_folder(folder)
    return folder


def check_socket_folder(folder: Path) -> None:
    """Raise `SocketFolderError` unless the folder belongs to the user, and to nobody else."""
    try:
        found = folder.lstat()
    except OSError as error:
        raise SocketFolderError(f"{folder} cannot be used: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise SocketFolderError(f"{folder} is no folder; remove it")
    if found.st_uid != os.geteuid():
        raise SocketFolderError(f"{folder} belongs to user {found.st_uid}, not to you")
    if found.st_mode & 0o077:
        raise SocketFolderError(
            f"others may enter {folder} (mode {stat.S_IMODE(found.st_mode):o}); it must be 700"
        )


def pool_sockets(pid: int | None = None) -> list[PoolSocket]:
    """The sockets in `socket_folders`, those of processes that are gone too, by number of process.

    Raises
    ------
    SocketFolderError
        There are none, and a folder is not the user's alone, so that there may be some in it.
    """
    found, problems = _search(pid)
    if problems and not found:
        raise problems[0]
    return sorted(found, key=lambda each: each.pid)


def refusals(pid: int | None = None) -> list[str]:
    """Why some of `socket_folders` are not looked into."""
    return [str(problem) for problem in _search(pid)[1]]


def _search(pid: int | None) -> tuple[list[PoolSocket], list[SocketFolderError]]:
    found: list[PoolSocket] = []
    problems: list[SocketFolderError] = []
    for folder in socket_folders(pid):
        try:
            found.extend(_sockets_in(folder))
        except SocketFolderError as error:
            problems.append(error)
    return found, problems


def _sockets_in(folder: Path) -> list[PoolSocket]:
    try:
        folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        pass  # the check says what it is
    check_socket_folder(folder)
    try:
        paths = list(folder.iterdir())
    except OSError as error:
        raise SocketFolderError(f"{folder} cannot be read: {error.strerror}") from None
    parsed = ((_NAME.fullmatch(path.name), path) for path in paths)
    return [PoolSocket(int(parts[1]), parts[2], path) for parts, path in parsed if parts]


def listen_at(listener: socket.socket, path: Path, waiting: int) -> None:
    """Listen at a path, for the user alone, with so many clients waiting; replaces what is there.

    The socket appears there when it can be connected to: who finds one that cannot may remove it.

    Raises
    ------
    OSError
        If there can be no socket; the message says why.
    """
    nbytes = len(os.fsencode(path))
    if nbytes > _LONGEST_PATH:
        raise SocketFolderError(
            f"{path} is too long for a socket, {nbytes} bytes of at most {_LONGEST_PATH}; let "
            "XDG_RUNTIME_DIR name a folder with a shorter path"
        )
    new = path.with_name(f".{os.getpid()}")  # no name of a socket, and never longer than one
    try:
        new.unlink(missing_ok=True)
        listener.bind(str(new))
        new.chmod(0o600)  # nobody can connect before listen()
        listener.listen(waiting)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def socket_path(folder: Path, pid: int, name: str) -> Path:
    """Where the socket of a process is; of its name only what a file name can hold."""
    plain = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)[:_LONGEST_NAME] or "python"
    return folder / f"{pid}.{plain}.sock"


def peer_user(connection: socket.socket) -> int:
    """The user at the other end of a connection, as the kernel says."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", data)
    assert isinstance(user, int)
    return user
