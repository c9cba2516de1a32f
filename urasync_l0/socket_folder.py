# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where processes offer the state of their pools: one Unix socket each, in a folder of the user.

The folder is in the user's runtime folder (``XDG_RUNTIME_DIR``), or, where there is none, in the
folder for temporary files with the user's number in its name. It belongs to the user and nobody
else may enter it; one that does not look so is refused, as somebody else may have made it.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"(\d{1,10})\.(.+)\.sock")
_LONGEST_NAME = 40


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


def pool_sockets() -> list[PoolSocket]:
    """The sockets in the folder, those of processes that are gone too, by number of process.

    Raises
    ------
    SocketFolderError
        The folder is not the user's alone.
    """
    folder = socket_folder()
    if not folder.exists():
        return []
    check_socket_folder(folder)
    found: list[PoolSocket] = []
    for path in folder.iterdir():
        parts = _NAME.fullmatch(path.name)
        if parts is not None:
            found.append(PoolSocket(int(parts[1]), parts[2], path))
    return sorted(found, key=lambda each: each.pid)


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
