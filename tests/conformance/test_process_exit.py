# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of a process: everything is given back while the loader is there, and nothing complains.

Each program runs in a process of its own, with development mode and warnings as errors.
"""

import signal

import pytest

from tests.helpers.strict_process import run_and_leave, run_strictly, run_to_the_end

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


def test_a_child_asks_for_a_shared_context_of_its_own(adapter: str) -> None:
    """LIFE-7: it neither gets its parent's nor waits for a thread that makes one there, which it
    does not have. Before Level Zero is used, it may have one."""
    program = """
    import os, sys, threading, warnings
    import urasync_l0
    from urasync_l0.result import UrError
    warnings.simplefilter("ignore", DeprecationWarning)  # of a fork where there are threads
    module = sys.modules["urasync_l0.default_context"]  # the package has the function by this name
    started, go_on = threading.Event(), threading.Event()
    make = module.Context
    def slowly(adapter):
        started.set()
        go_on.wait(60)
        return make(adapter)
    def in_child(work):
        child = os.fork()
        if child == 0:
            module.Context = make
            try:
                work()
            except UrError as error:
                print(error.code.name)
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    module.Context = slowly
    thread = threading.Thread(target=module.default_context, args=sys.argv[1:])
    thread.start()
    started.wait(60)
    in_child(lambda: print(module.default_context(sys.argv[1]).create_queue().alloc_host(8).nbytes))
    go_on.set()
    thread.join(60)
    in_child(lambda: print(module.default_context(sys.argv[1])))
    module.default_context(sys.argv[1]).close()
    """
    assert run_and_leave(program, adapter) == "8\nUNINITIALIZED\n"


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


def test_a_thread_that_exits(adapter: str) -> None:
    """``sys.exit`` in a thread ends the thread alone, and what it held is given back."""
    program = (
        LIVE
        + """
    import threading
    def work():
        held = queue.alloc_device(1000)
        queue.fill(held, b"x")
        sys.exit(3)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print("goes on", queue.finish(10**10))
    """
    )
    assert run_strictly(program, adapter) == "goes on True\nleft {}\n"


def test_a_thread_that_still_works(adapter: str) -> None:
    """PY-3: a daemon thread allocates and frees when the interpreter ends."""
    program = """
    import sys, threading
    import urasync_l0
    context = urasync_l0.Context(sys.argv[1])
    begun = threading.Event()
    def work():
        queue = context.create_queue()
        try:
            while True:
                queue.alloc_device(1000).free()
                begun.set()
        except urasync_l0.UrError:
            pass  # the context is closed
    threading.Thread(target=work, daemon=True).start()
    begun.wait()
    """
    assert run_and_leave(program, adapter) == ""


def test_an_exception_in_flight(adapter: str) -> None:
    """Its traceback holds allocations, a queue and a context until the very end."""
    program = (
        LIVE
        + """
    def work(depth, *held):
        if depth:
            work(depth - 1, queue.alloc_device(1000), context.create_queue(), *held)
        raise KeyboardInterrupt
    sys.excepthook = lambda *exception: print("unhandled", exception[0].__name__)
    sys.stdout.reconfigure(line_buffering=True)
    try:
        work(3)
    except KeyboardInterrupt as error:
        kept = error
    """
    )
    assert run_strictly(program, adapter) == "left {}\n"


ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGKILL")
"""Signals that end a process unless it handles them."""


@pytest.mark.parametrize("way", ["os._exit", "exception", "sys.exit", *ENDING])
def test_the_exit_status_is_the_programs_own(adapter: str, way: str) -> None:
    """Nothing of ours turns one end into another, hangs, or prints."""
    program = """
    import os, signal, sys
    import urasync_l0
    context = urasync_l0.Context(sys.argv[1])
    queue = context.create_queue()
    held = queue.alloc_device(1000)
    queue.fill(held, b"x")
    way = sys.argv[2]
    if way == "os._exit":
        os._exit(7)
    elif way == "sys.exit":
        sys.exit(7)
    elif way == "exception":
        raise ValueError("of the program")
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if way != "SIGKILL":
        # Python handles SIGINT, and a shell lets a job in the background ignore it and SIGQUIT.
        signal.signal(getattr(signal, way), signal.SIG_DFL)
    os.kill(os.getpid(), getattr(signal, way))
    signal.pause()  # another thread may be the one that takes it, and be slow to end all (SIGQUIT)
    """
    status, errors = run_to_the_end(program, adapter, way)
    expected = {name: -getattr(signal, name) for name in ENDING} | {"exception": 1}
    assert status == expected.get(way, 7)
    if way == "exception":
        assert errors.splitlines()[-1] == "ValueError: of the program"
        assert errors.count("Traceback") == 1
    else:
        assert errors == ""


HANDLED = (
    LIVE
    + """
    import os, signal, threading
    from urasync_l0.ze.handles import handle_value

    gate = controls.gate(handle_value(queue.handle))
    gate.close()
    held = queue.alloc_device(1000)
    queue.fill(held, b"x")

    def send():
        assert gate.wait_reached(10**10)
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
    """
)


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGHUP", "SIGTERM", "SIGINT"])
def test_a_handler_is_called_while_the_host_waits(adapter: str, name: str) -> None:
    """And may do as it likes: here it lets the queue go that is waited for."""
    program = (
        HANDLED
        + """
    signal.signal(getattr(signal, sys.argv[2]), lambda number, frame: gate.open())
    threading.Thread(target=send).start()
    print(queue.finish(30 * 10**9))
    """
    )
    assert run_strictly(program, adapter, name) == "True\nleft {}\n"


@pytest.mark.parametrize("call", ["queue.finish(30 * 10**9)", "event.wait(30 * 10**9)"])
@pytest.mark.parametrize("name", ["SIGUSR1", "SIGTERM"])
def test_a_handler_that_exits_while_the_host_waits(adapter: str, name: str, call: str) -> None:
    """The status is the handler's, and all is given back once the queue has run."""
    program = (
        HANDLED
        + """
    event = queue.record()
    def leave(number, frame):
        gate.open()
        sys.exit(0)
    signal.signal(getattr(signal, sys.argv[2]), leave)
    threading.Thread(target=send).start()
    exec(sys.argv[3])
    print("goes on")
    """
    )
    assert run_strictly(program, adapter, name, call) == "left {}\n"


def test_the_package_loaded_anew(adapter: str) -> None:
    """A module that is reloaded, or forgotten and imported again, as notebooks do."""
    program = """
    import gc, importlib, sys
    import urasync_l0
    old = urasync_l0.Context(sys.argv[1])
    queue = old.create_queue()
    held = queue.alloc_device(1000)
    importlib.reload(urasync_l0)
    assert urasync_l0.Context(sys.argv[1]).create_queue().alloc_device(10).nbytes == 10
    for name in [name for name in sys.modules if name.startswith("urasync_l0")]:
        del sys.modules[name]
    del urasync_l0
    gc.collect()
    import urasync_l0
    new = urasync_l0.Context(sys.argv[1])
    memory = new.create_queue().alloc_host(16)
    queue.fill(held, b"x")
    assert queue.finish(10**10)
    held.free()
    print(type(old) is type(new), memory.nbytes)
    """
    assert run_strictly(program, adapter) == "False 16\n"


def test_a_sub_interpreter_is_refused() -> None:
    """Two interpreters would share the driver, and know nothing of each other's memory."""
    program = """
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    text = '''
    try:
        import urasync_l0
    except ImportError as error:
        print(error)
    '''
    import textwrap, urasync_l0
    made = interpreters.create()
    interpreters.run_string(made, textwrap.dedent(text))
    interpreters.destroy(made)
    """
    printed = run_strictly(program)
    assert printed.startswith("urasync_l0 works in the main interpreter of a process only")
