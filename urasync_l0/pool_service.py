# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Offers this process's pools to ``urasync-pools``, over a Unix socket of its user.

One daemon thread serves all clients, without waiting for any of them: a slow client costs a little
memory until its time is up, a client that sends anything but a request gets a refusal. Nothing that
a client does reaches a pool, except that a snapshot holds each pool's lock for a moment.

A request is one line of JSON, ``{"request": "snapshot", "blocks": true}``. The answer is one line
of JSON, ``{"size": N}`` or ``{"error": "why"}``, and then N bytes.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

from urasync_l0 import loggers
from urasync_l0.inspection import program_name, snapshot_json_parts
from urasync_l0.socket_folder import listen_at, make_socket_folder, peer_user, socket_path

LONGEST_REQUEST = 4096
"""Bytes of a request; who sends more is refused."""

MOST_CLIENTS = 16
"""Who comes while so many are served is turned away."""

REQUEST_SECONDS = 5.0
"""How long a client may take to send its request ..."""

ANSWER_SECONDS = 30.0
"""... and to take the answer."""

_PIECE = 1 << 16
_PAUSE_SECONDS = 0.05


class _Client:
    """A connection: what it sent so far, and what it is still to get."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = bytearray()
        self.answer: memoryview | None = None
        self.refusal: str | None = None
        self.deadline = time.monotonic() + REQUEST_SECONDS


class PoolService:
    """Serves snapshots until `close`. Raises `OSError` if there can be no socket."""

    def __init__(self, name: str) -> None:
        self.path: Path = socket_path(make_socket_folder(), os.getpid(), name)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # What is there under our own number is left from a process that is gone.
            listen_at(self._listener, self.path, MOST_CLIENTS)
            self._listener.setblocking(False)
        except BaseException:
            self._listener.close()
            raise
        self._waker, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._clients: set[_Client] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(
            target=self._run, name="urasync_l0 pool service", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop, and remove the socket."""
        with suppress(OSError):
            self._waker.send(b"\0", socket.MSG_NOSIGNAL)
        self._thread.join(REQUEST_SECONDS)
        self.path.unlink(missing_ok=True)

    def abandon(self) -> None:
        """In a forked child: close the copies of what is the parent's; the socket's file stays."""
        with suppress(OSError):
            self._selector.close()
        for each in (self._listener, self._waker, self._woken):
            each.close()
        for client in self._clients:
            client.connection.close()

    def _run(self) -> None:
        try:
            while True:
                for key, _ in self._selector.select(self._patience()):
                    if key.fileobj is self._woken:
                        return
                    if key.fileobj is self._listener:
                        self._accept()
                    elif isinstance(key.data, _Client):
                        self._serve(key.data)
                self._drop_late()
        finally:
            for client in list(self._clients):
                self._drop(client)
            self._selector.close()
            for each in (self._listener, self._waker, self._woken):
                each.close()

    def _patience(self) -> float | None:
        if not self._clients:
            return None
        first = min(client.deadline for client in self._clients)
        return max(0.0, first - time.monotonic())

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            # The client is gone, or there are no more descriptors, which may change.
            time.sleep(_PAUSE_SECONDS)
            return
        connection.setblocking(False)
        client = _Client(connection)
        self._clients.add(client)
        self._selector.register(connection, selectors.EVENT_READ, client)
        if peer_user(connection) != os.geteuid():
            client.refusal = "this process answers only its own user"
        elif len(self._clients) > MOST_CLIENTS:
            client.refusal = f"{MOST_CLIENTS} others are being served; try again"

    def _serve(self, client: _Client) -> None:
        try:
            if client.answer is None:
                self._receive(client)
            else:
                self._send(client)
        except BlockingIOError:
            pass
        except OSError:  # the client is gone
            self._drop(client)

    def _receive(self, client: _Client) -> None:
        data = client.connection.recv(_PIECE)
        if not data:
            self._drop(client)
            return
        client.received += data
        line, end, _ = client.received.partition(b"\n")
        if client.refusal is not None:
            # Only now: to close a connection with unread data would take the answer back.
            self._refuse(client, client.refusal)
        elif len(line) > LONGEST_REQUEST:
            self._refuse(client, f"a request has at most {LONGEST_REQUEST} bytes")
        elif end:
            self._answer(client, bytes(line))

    def _answer(self, client: _Client, line: bytes) -> None:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(client, "the request is not JSON")
            return
        if not isinstance(request, dict) or request.get("request") != "snapshot":
            self._refuse(client, "unknown request; this process knows 'snapshot'")
            return
        try:
            blocks = request.get("blocks") is not False
            body = bytearray()
            for part in snapshot_json_parts(blocks=blocks):
                body += part.encode()  # one conversion of all would keep other threads waiting
        except Exception as error:  # a fault of ours must not end the service
            loggers.SNAPSHOT.exception("A snapshot for a client failed")
            self._refuse(client, f"the snapshot failed, which is a fault of urasync_l0: {error!r}")
            return
        self._begin_answer(client, b'{"size": %d}\n' % len(body) + body)

    def _refuse(self, client: _Client, reason: str) -> None:
        self._begin_answer(client, json.dumps({"error": reason}).encode() + b"\n")

    def _begin_answer(self, client: _Client, data: bytes) -> None:
        client.received.clear()
        client.answer = memoryview(data)
        client.deadline = time.monotonic() + ANSWER_SECONDS
        self._selector.modify(client.connection, selectors.EVENT_WRITE, client)

    def _send(self, client: _Client) -> None:
        assert client.answer is not None
        # In a program that is not Python, the signal of a client that is gone would be the end.
        sent = client.connection.send(client.answer[:_PIECE], socket.MSG_NOSIGNAL)
        client.answer = client.answer[sent:]
        if not client.answer:
            self._drop(client)

    def _drop_late(self) -> None:
        now = time.monotonic()
        for client in [each for each in self._clients if each.deadline <= now]:
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        self._clients.discard(client)
        with suppress(KeyError, ValueError):
            self._selector.unregister(client.connection)
        client.connection.close()


def serve_pools(name: str | None = None) -> Path:
    """Let ``urasync-pools`` look at the pools of this process; returns the path of the socket.

    Starts a daemon thread. Only the same user may ask. Idempotent: a process has one socket.

    Parameters
    ----------
    name
        By which the tool finds the process, beside its number; None for the name of the script.

    Raises
    ------
    OSError
        If the socket cannot be made; the message says why.
    """
    global _service
    with _lock:
        if _service is None:
            _service = PoolService(name or program_name())
            loggers.SNAPSHOT.info("Offer the pools at %s", _service.path)
        return _service.path


def stop_serving_pools() -> None:
    """Undo `serve_pools`. Idempotent."""
    global _service
    with _lock:
        service, _service = _service, None
    if service is not None:
        service.close()


_lock = threading.Lock()
_service: PoolService | None = None


def _abandon_in_child() -> None:
    """A forked child has no pools to show, and no thread; the socket is its parent's."""
    global _lock, _service
    _lock = threading.Lock()
    service, _service = _service, None
    if service is not None:
        service.abandon()


atexit.register(stop_serving_pools)
os.register_at_fork(after_in_child=_abandon_in_child)
