# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of a process: everything is given back while the loader is there, and nothing complains.

Each program runs in a process of its own, with development mode and warnings as errors.
"""

import pytest

from tests.helpers.strict_process import run_and_leave, run_strictly

pytestmark = pytest.mark.usefixtures("controls")

LIVE = """
    import atexit, gc, sys

    # Registered before the package's own hook, and therefore called after it.
    @atexit.register
    def report():
        left = {kind: n for kind, n in controls.live_objects().items() if n}
        print("left", left)

    import urasync_l0
    from urasync_l0.software_driver.controls import Controls

    context = urasync_l0.Context(sys.argv[1])
    controls = Controls()
    queue = context.create_queue()
"""


def test_live_objects_in_globals(adapter: str) -> None:
    """LIFE-7."""
    program = (
        LIVE
        + """
    pool = context.create_pool()
    allocations = [queue.alloc_device(1000), queue.alloc_shared(10), queue.alloc_host(5, pool=pool)]
    event = queue.fill(allocations[0], b"abc", 999, event=True)
    """
    )
    assert run_strictly(program, adapter) == "left {}\n"


def test_live_objects_in_cycles(adapter: str) -> None:
    """LIFE-7: whatever collection does at the end, it finds the driver untouched."""
    program = (
        LIVE
        + """
    class Node:
        def __init__(self, *held):
            self.held = held
            self.me = self

    gc.disable()
    for _ in range(10):
        allocation = queue.alloc_device(1000)
        Node(allocation, queue, context, queue.record(), context.create_queue())
    del allocation, queue, context
    """
    )
    assert run_strictly(program, adapter) == "left {}\n"


@pytest.mark.parametrize("seed", range(6))
def test_module_globals_vanish_in_any_order(adapter: str, seed: int) -> None:
    """PY-2, PY-3: nothing needs a global once it is collected."""
    program = """
    import random, sys
    import urasync_l0
    context = urasync_l0.Context(sys.argv[1])
    queue = context.create_queue()
    allocation = queue.alloc_host(1000, event=True)
    event = queue.record()
    pool = context.create_pool()
    held = queue.alloc_device(100, pool=pool)
    view = allocation.memoryview()
    names = ["context", "queue", "allocation", "event", "pool", "held", "view", "urasync_l0"]
    random.Random(int(sys.argv[2])).shuffle(names)
    for name in names:
        del globals()[name]
    """
    assert run_strictly(program, adapter, str(seed)) == ""


def test_the_program_ends_with_work_under_way(adapter: str) -> None:
    program = (
        LIVE
        + """
    held = queue.alloc_device(1000)
    queue.fill(held, b"x")
    sys.exit(0)
    """
    )
    assert run_strictly(program, adapter) == "left {}\n"


@pytest.mark.parametrize("held", [False, True], ids=["running", "held"])
def test_callbacks_at_the_exit(adapter: str, held: bool) -> None:
    """LIFE-7: the thread that asks for them stops, also beside a queue that is still busy."""
    program = """
    import sys
    import urasync_l0
    import urasync_l0.open_contexts
    from urasync_l0.software_driver.controls import Controls
    from urasync_l0.ze.handles import handle_value
    urasync_l0.open_contexts.EXIT_TIMEOUT_NS = 50_000_000
    context = urasync_l0.Context(sys.argv[1])
    queue = context.create_queue()
    if sys.argv[2] == "True":
        Controls().gate(handle_value(queue.handle)).close()
    for _ in range(100):
        queue.record().set_callback(lambda event, status, data: None)
    """
    run = run_and_leave if held else run_strictly
    assert run(program, adapter, str(held)) == ""


def test_a_held_queue_does_not_hang_the_exit(adapter: str) -> None:
    """The exit waits a while and then leaves the rest to the process's end."""
    program = """
    import sys, time
    import urasync_l0
    import urasync_l0.open_contexts
    from urasync_l0.software_driver.controls import Controls
    from urasync_l0.ze.handles import handle_value
    urasync_l0.open_contexts.EXIT_TIMEOUT_NS = 50_000_000
    context = urasync_l0.Context(sys.argv[1])
    queue = context.create_queue()
    Controls().gate(handle_value(queue.handle)).close()
    queue.record()
    """
    assert run_and_leave(program, adapter) == ""


def test_nothing_is_used(adapter: str) -> None:
    assert run_strictly("import urasync_l0", adapter) == ""


def test_a_forked_child_makes_no_driver_call(adapter: str) -> None:
    """LIFE-7: neither by a call of the package, nor by collection, nor at its exit."""
    program = """
    import gc, os, sys
    import urasync_l0
    from urasync_l0.result import UrError
    from urasync_l0.ze import loader
    context = urasync_l0.Context(sys.argv[1])
    queue = context.create_queue()
    held = [queue.alloc_device(1000, event=True), queue.alloc_host(10)]
    queue.finish(10**10)
    before = loader.total_calls()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        def refused(call):
            try:
                call()
            except UrError as error:
                return error.code.name
            return "nothing"
        print(refused(lambda: queue.alloc_device(1000)), refused(queue.record),
              refused(queue.finish), refused(context.create_queue), refused(held[0].free),
              refused(lambda: urasync_l0.Context(sys.argv[1])))
        held.clear()
        gc.collect()
        context.close()
        del queue, context
        gc.collect()
        print("calls", loader.total_calls() - before)
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    queue.record().wait(10**10)
    print("parent goes on")
    """
    expected = " ".join(["UNINITIALIZED"] * 6)
    printed = run_and_leave(program, adapter)  # the child has its parent's objects
    assert printed == f"{expected}\ncalls 0\nparent goes on\n"


def test_spawned_workers(adapter: str) -> None:
    """The way to use several processes."""
    program = """
    import subprocess, sys
    import urasync_l0
    context = urasync_l0.Context(sys.argv[1])
    child = "import urasync_l0; urasync_l0.Context().create_queue().alloc_host(4).free()"
    subprocess.run([sys.executable, "-c", child], check=True)
    """
    assert run_strictly(program, adapter) == ""
