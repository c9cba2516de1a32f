# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of signals that raise, as that of SIGINT does and many of SIGTERM: they end the call
that they come in, wherever it is. What the driver has got stays in order, and all goes on.
"""

import pytest

from tests.helpers.strict_process import run_and_leave, run_strictly

pytestmark = pytest.mark.usefixtures("controls")


def test_at_every_place(adapter: str) -> None:
    """Nothing is used that may be in use, nothing is destroyed twice, and the queues work on."""
    program = """
    import sys
    from tests.helpers import interrupted_calls
    interrupted_calls.run(sys.argv[1])
    """
    assert run_and_leave(program, adapter) == ""


@pytest.mark.parametrize(
    ("call", "entry"),
    [
        ("queue.record()", "zeCommandListAppendSignalEvent"),
        ("queue.fill(held, b'y', event=True)", "zeCommandListAppendMemoryFill"),
        ("queue.memcpy(bytearray(1000), held)", "zeCommandListAppendMemoryCopy"),
        ("other.wait([event])", "zeCommandListAppendWaitOnEvents"),
        ("queue.record_timestamp()", "zeCommandListAppendBarrier"),
        ("event.wait(10**10)", "zeEventHostSynchronize"),
        ("queue.close(10**10)", "zeCommandListDestroy"),
        ("context.close(10**10)", "zeEventDestroy"),
        ("context.close(10**10)", "zeContextDestroy"),
    ],
)
def test_an_exit_out_of_a_call_of_the_driver(adapter: str, call: str, entry: str) -> None:
    """The driver has just done what it was called for; the queue is let go only then."""
    program = """
    import atexit, os, signal, sys, threading

    # Registered before the package's own hook, and therefore called after it.
    @atexit.register
    def report():
        print("left", {kind: n for kind, n in controls.live_objects().items() if n})

    import urasync_l0
    from urasync_l0.software_driver.controls import Controls
    from urasync_l0.ze.handles import handle_value
    context = urasync_l0.Context(sys.argv[1])
    controls = Controls()
    queue, other = context.create_queue(), context.create_queue()
    held = queue.alloc_device(1000)
    queue.fill(held, b"x")
    event = queue.fill(held, b"x", event=True)
    call, entry = sys.argv[2:]
    gate = controls.gate(handle_value(queue.handle))
    is_held = "close" not in call
    if is_held:
        gate.close()
        queue.fill(held, b"z")

    def leave(number, frame):
        if is_held:
            gate.open()
        sys.exit(0)

    def send():
        assert controls.wait_slow(10**10)
        os.kill(os.getpid(), signal.SIGTERM)
        controls.hurry()

    signal.signal(signal.SIGTERM, leave)
    controls.slow_down(entry, 1)
    threading.Thread(target=send).start()
    exec(call)
    print("goes on")
    """
    assert run_strictly(program, adapter, call, entry) == "left {}\n"
