# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queues each of whose events is a signal of its own."""

from urasync_l0 import Queue


def append_each(queue: Queue) -> Queue:
    """Let the queue append a signal for every event, also where nothing came after the last one.

    Whoever has the native list may append to it, so the last signal proves nothing any more.
    """
    assert queue.handle
    return queue
