# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings: the trace that they write can be replayed and is what the program did."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import urasync_l0
from tests.helpers.usm import finish
from tests.tools.watched_process import watched_process
from urasync_l0 import Context, InvalidValueError, record_allocations
from urasync_l0.inspection import snapshot_json_parts
from urasync_l0.pool.registry import PoolRegistry
from urasync_l0.recording import current_recording
from urasync_l0.result import InvalidOperationError
from urasync_l0.snapshot import IN_USE, BlockSnapshot, Snapshot
from urasync_l0.software_driver.controls import Controls
from urasync_l0.tools.replayer.plain_pickle import load_plain_pickle
from urasync_l0.tools.replayer.trace import HEADER, Op, Trace, read_trace
from urasync_l0.tools.torch_form import torch_snapshot
from urasync_l0.trace_writer import ALLOCATE, FREE, WAIT, TraceWriter
from urasync_l0.ze.result import ZeResult

SMALLEST_FILE = 1 << 16


@pytest.fixture(autouse=True)
def no_recording_is_left() -> Iterator[None]:
    yield
    recording = current_recording()
    if recording is not None:
        recording.stop()
        pytest.fail("a test left a recording on")


@pytest.fixture
def context() -> Iterator[Context]:
    with Context(adapter="v2", driver="software") as made:
        yield made


def lines(path: Path) -> list[str]:
    header, *found = path.read_text("utf-8").splitlines()
    assert header == HEADER
    return found


def ops(trace: Trace) -> list[tuple[str, int, int]]:
    """Each line as its op, its bytes and its queue."""
    return [(each.op.name, each.nbytes, each.queue) for each in trace.lines]


def used(snapshot: Snapshot) -> list[BlockSnapshot]:
    return [
        block
        for pool in snapshot.pools
        for segment in pool.segments
        for block in segment.blocks
        if block.state == IN_USE
    ]


# -- the trace -------------------------------------------------------------------------------------


def test_a_trace_is_what_the_program_did(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    first, second = context.create_queue(), context.create_queue()
    with record_allocations(path):
        a = first.alloc_device(1000, event=True)
        b = second.alloc_device(2000, wait=[a.event] if a.event else [])
        second.free(a)
        event = second.record()
        first.wait(event)
        first.free(b)
        finish(first)

    assert lines(path) == [
        "A,0,1000,0,",
        "R,,,0,64",
        "W,,,1,64",
        "A,1,2000,1,",
        "F,0,,1,",
        "R,,,1,129",
        "W,,,0,129",
        "F,1,,0,",
        "S,,,0,",
    ]
    trace = read_trace(path)
    assert trace.live_peak == 3000
    assert trace.queues == (0, 1)


def test_a_wait_that_need_not_be_appended_is_still_the_programs(
    context: Context, tmp_path: Path
) -> None:
    """Replayed on something slower, the event may not be complete yet."""
    path = tmp_path / "trace.csv"
    first, second = context.create_queue(), context.create_queue()
    with record_allocations(path):
        event = first.record()
        finish(first)
        second.wait(event)

    assert [line.split(",")[0] for line in lines(path)] == ["R", "S", "W"]


def test_one_kind_of_memory_or_all(context: Context, tmp_path: Path) -> None:
    queue = context.create_queue()
    for kind, sizes in (
        ("device", [100]),
        ("shared", [200]),
        ("host", [300]),
        (None, [100, 200, 300]),
    ):
        path = tmp_path / f"{kind}.csv"
        with record_allocations(path, kind=kind):
            for allocate, size in (
                (queue.alloc_device, 100),
                (queue.alloc_shared, 200),
                (queue.alloc_host, 300),
            ):
                allocate(size).free()
        trace = read_trace(path)
        assert [each.nbytes for each in trace.lines if each.op is Op.ALLOCATE] == sizes


def test_what_was_allocated_before_is_left_out(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    queue = context.create_queue()
    before = queue.alloc_device(100)
    with record_allocations(path):
        before.free()
        queue.alloc_device(200).free()

    assert ops(read_trace(path)) == [("ALLOCATE", 200, 0), ("FREE", 200, 0)]


def test_an_allocation_that_failed_leaves_no_trace_of_life(
    context: Context, tmp_path: Path
) -> None:
    """The block was found, the append failed: what was recorded is undone by a free."""
    path = tmp_path / "trace.csv"
    queue = context.create_queue()
    with record_allocations(path) as recording:
        Controls().fail("zeCommandListAppendSignalEvent", 1, int(ZeResult.ERROR_UNKNOWN))
        with pytest.raises(urasync_l0.UrError):
            queue.alloc_device(1000, event=True)
        assert recording.origins == {}

    trace = read_trace(path)
    assert ops(trace) == [("ALLOCATE", 1000, 0), ("FREE", 1000, 0)]


def test_dropped_allocations_are_recorded_when_they_are_freed(
    context: Context, tmp_path: Path
) -> None:
    path = tmp_path / "trace.csv"
    queue = context.create_queue()
    with record_allocations(path):
        queue.alloc_device(1000)
        queue.alloc_device(2000)
        context.create_queue()  # works off what was dropped

    assert [op for op, _, _ in ops(read_trace(path))] == ["ALLOCATE", "FREE", "ALLOCATE", "FREE"]


def test_contexts_made_later_are_recorded_too(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    with (
        record_allocations(path),
        Context(adapter="legacy", driver="software") as context,
    ):
        context.create_queue().alloc_device(5000).free()

    assert ops(read_trace(path))[:2] == [("ALLOCATE", 5000, 0), ("FREE", 5000, 0)]


def test_many_threads_make_one_trace_that_can_be_read(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"

    def work(number: int) -> None:
        queue = context.create_queue()
        kept = []
        for step in range(400):
            kept.append(queue.alloc_device(1 + step * number))
            if len(kept) > 10:
                kept.pop(0).free()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    with record_allocations(path):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    trace = read_trace(path)

    assert sum(each.op is Op.ALLOCATE for each in trace.lines) == 1600
    assert trace.queues == (0, 1, 2, 3)


# -- files -----------------------------------------------------------------------------------------


def test_files_are_bounded_and_each_can_be_read_alone(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    queue, other = context.create_queue(), context.create_queue()
    kept = []
    with record_allocations(path, max_bytes=SMALLEST_FILE, files=3):
        kept.append(queue.alloc_device(777_777))
        event = queue.record()
        for step in range(12_000):
            kept.append(queue.alloc_device(1 + step % 5000))
            if len(kept) > 20:
                kept.pop(1).free()
        other.wait(event)

    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "trace.1.csv",
        "trace.2.csv",
        "trace.csv",
    ]
    for each in tmp_path.iterdir():
        assert each.stat().st_size < 3 * SMALLEST_FILE
        trace = read_trace(each)
        # The one that lives all the time is there from the first line on.
        assert (trace.lines[0].op, trace.lines[0].nbytes) == (Op.ALLOCATE, 777_777)
    # The event of the first file was recorded again in the one that waits for it.
    events = [
        (each, line[0]) for each in tmp_path.iterdir() for line in lines(each) if line[0] in "RW"
    ]
    assert [op for _, op in events] == ["R", "W"]
    assert events[0][0] == events[1][0]
    for allocation in kept:
        allocation.free()


def test_more_than_64_queues_share(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    writer = TraceWriter(path, max_bytes=1 << 20, files=1)
    for queue in range(1, 131):
        writer.put((ALLOCATE, queue << 12, 100, queue))
        writer.put((WAIT, 5, queue, queue % 130 + 1))
        writer.put((FREE, queue << 12, 0, queue))
    writer.close()

    assert read_trace(path).queues == tuple(range(64))


def test_a_full_disk_ends_the_trace_and_not_the_program(context: Context, tmp_path: Path) -> None:
    queue = context.create_queue()
    path = tmp_path / "trace.csv"
    with record_allocations(path) as recording:
        writer = recording._writer
        assert writer is not None
        os.close(writer._file)
        writer._file = os.open("/dev/full", os.O_WRONLY)
        for _ in range(3):
            queue.alloc_device(100).free()
        finish(queue)
    assert recording.problem == (
        f"the trace ends, {path} cannot be written: No space left on device"
    )


def test_a_file_that_cannot_be_made_is_an_error_and_nothing_is_recorded() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for place in ("/dev/full", "/nowhere/trace.csv"):
        with pytest.raises(OSError, match=r"No space left|No such file"):
            record_allocations(place)
        assert current_recording() is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_disk_that_is_too_slow_ends_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urasync_l0.trace_writer._MOST_WAITING", 10)
    gate = threading.Event()

    def take_nothing_yet(writer: TraceWriter) -> list[bytes]:
        assert gate.wait(30)
        return []

    monkeypatch.setattr(TraceWriter, "_take", take_nothing_yet)
    writer = TraceWriter(tmp_path / "trace.csv", max_bytes=1 << 20, files=1)
    for number in range(20):
        writer.put((ALLOCATE, number, 1, 1))
    assert writer.problem is not None
    assert "is slower than the program" in writer.problem
    assert len(writer._waiting) == 11
    writer._waiting.clear()
    gate.set()
    writer.close()


def test_two_processes_do_not_write_one_file(context: Context, tmp_path: Path) -> None:
    """The environment of a program is also that of the programs that it starts."""
    path = tmp_path / "trace.csv"
    with watched_process(tmp_path, URASYNC_L0_RECORD=str(path)) as watched:
        watched.do("start(); kept.append(queue.alloc_device(3000))")
        with pytest.raises(OSError, match="another process writes it"):
            record_allocations(path)
        assert current_recording() is None
        watched.end()
    assert ops(read_trace(path))[0] == ("ALLOCATE", 3000, 0)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious", "utf-8")
    (tmp_path / "trace.csv").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic link"):
        record_allocations(tmp_path / "trace.csv")

    assert (tmp_path / "target").read_text("utf-8") == "precious"
    assert current_recording() is None


# -- where from and since when ---------------------------------------------------------------------


def allocate_here(queue: urasync_l0.Queue) -> urasync_l0.Allocation:
    return queue.alloc_device(4000)


def test_tracebacks_and_seconds(context: Context) -> None:
    queue = context.create_queue()
    before = queue.alloc_device(100)
    with record_allocations(tracebacks=2):
        allocation = allocate_here(queue)
        snapshot = urasync_l0.take_snapshot()
    old, new = sorted((each for each in used(snapshot)), key=lambda each: each.requested)[-2:]
    assert new.requested == 4000
    assert new.traceback[0].startswith(f"allocate_here at {__file__}:")
    assert new.traceback[1].startswith(f"test_tracebacks_and_seconds at {__file__}:")
    assert new.seconds is not None
    assert 0 <= new.seconds < 60
    assert (old.traceback, old.seconds) == ((), None)
    after = max(used(urasync_l0.take_snapshot()), key=lambda each: each.requested)
    assert (after.traceback, after.seconds) == ((), None)
    assert (before.nbytes, allocation.nbytes) == (100, 4000)


def test_tracebacks_end_where_a_thread_begins(context: Context) -> None:
    """What Python does to start a thread is nobody's code."""
    queue = context.create_queue()
    kept = []
    with record_allocations(tracebacks=8):
        thread = threading.Thread(target=lambda: kept.append(allocate_here(queue)))
        thread.start()
        thread.join()
        (block,) = [each for each in used(urasync_l0.take_snapshot()) if each.requested == 4000]
    assert [frame.partition(" at ")[0] for frame in block.traceback] == [
        "allocate_here",
        "<lambda>",
    ]


def test_tracebacks_end_where_a_thread_of_an_executor_begins(context: Context) -> None:
    queue = context.create_queue()
    with record_allocations(tracebacks=8), ThreadPoolExecutor(1) as executor:
        allocation = executor.submit(allocate_here, queue).result(60)
        (block,) = [each for each in used(urasync_l0.take_snapshot()) if each.requested == 4000]
    assert [frame.partition(" at ")[0] for frame in block.traceback] == ["allocate_here"]
    assert block.address == allocation.ptr


def test_the_origin_of_an_earlier_allocation_is_not_shown(context: Context) -> None:
    """A free that the recording missed leaves its origin at an address that is given out again."""
    queue = context.create_queue()
    with record_allocations(tracebacks=2) as recording:
        first = allocate_here(queue)
        address = first.ptr
        origin = recording.origins[address]
        first.free()
        second = queue.alloc_device(4000)
        assert second.ptr == address
        recording.origins[address] = origin
        (block,) = [each for each in used(urasync_l0.take_snapshot()) if each.requested == 4000]
    assert (block.traceback, block.seconds) == ((), None)


def test_what_is_freed_while_a_snapshot_is_written_keeps_its_origin(context: Context) -> None:
    """Blocks are written some time after the pool was copied; they were in use at that moment."""
    queue = context.create_queue()
    with record_allocations(tracebacks=2):
        allocation = allocate_here(queue)
        parts = snapshot_json_parts()
        allocation.free()
        again = queue.alloc_device(4000)
        snapshot = Snapshot.from_json("".join(parts))
    (block,) = [each for each in used(snapshot) if each.requested == 4000]
    assert again.ptr == block.address
    assert block.traceback[0].startswith("allocate_here at ")
    assert block.seconds is not None


def test_the_history_has_the_latest(context: Context) -> None:
    queue = context.create_queue()
    with record_allocations(history=4):
        for size in (1000, 2000, 3000):
            queue.alloc_device(size).free()
        snapshot = urasync_l0.take_snapshot()

    assert snapshot.is_recording
    assert [(each.op, each.size) for each in snapshot.history] == [
        ("allocate", 2048),
        ("free", 2048),
        ("allocate", 3072),
        ("free", 3072),
    ]
    assert [each.queue for each in snapshot.history] == [queue.id] * 4


def test_the_history_tells_the_kinds_of_memory_of_one_pool_apart(context: Context) -> None:
    """In PyTorch's form, host memory is on the record of no device."""
    queue, pool = context.create_queue(), context.create_pool()
    with record_allocations(history=100):
        queue.alloc_device(1000, pool=pool).free()
        queue.alloc_shared(2000, pool=pool).free()
        queue.alloc_host(3000, pool=pool).free()
        snapshot = urasync_l0.take_snapshot()
        text = "".join(snapshot_json_parts())
    assert [(each.op, each.size, each.kind, each.device) for each in snapshot.history] == [
        (op, size, kind, device)
        for size, kind, device in ((1024, "device", 0), (2048, "shared", 0), (3072, "host", None))
        for op in ("allocate", "free")
    ]
    assert Snapshot.from_json(text).history == snapshot.history
    *_, on_device, on_host = load_plain_pickle(torch_snapshot(snapshot))["device_traces"]
    assert {each["size"] for each in on_device} == {1024, 2048}
    assert {each["size"] for each in on_host} == {3072}


# -- one at a time ---------------------------------------------------------------------------------


def test_a_process_has_one_recording() -> None:
    with record_allocations() as recording:
        with pytest.raises(InvalidOperationError, match="A recording is on already"):
            record_allocations()
        states = [recording.is_on]
    states.append(recording.is_on)
    assert states == [True, False]
    recording.stop()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "managed"}, "kind is 'managed'; it must be one of device, shared, host"),
        ({"max_bytes": 10}, "max_bytes is 10; it must be at least 65536"),
        ({"files": 0}, "files is 0; it must be at least 1"),
        ({"tracebacks": -1}, "tracebacks is -1; it must be at least 0"),
        ({"history": -1}, "history is -1; it must be at least 0"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        record_allocations(**arguments)  # type: ignore[arg-type]
    assert current_recording() is None


def test_nothing_observes_when_nothing_is_recorded(context: Context) -> None:
    registry: PoolRegistry = context.native.registry
    seen = [registry.observer]
    with record_allocations() as recording:
        seen.append(registry.observer)
    seen.append(registry.observer)
    assert seen == [None, recording, None]


# -- other processes -------------------------------------------------------------------------------


def test_a_process_is_recorded_without_a_change(tmp_path: Path) -> None:
    path = tmp_path / "trace-{pid}.csv"
    with watched_process(
        tmp_path, URASYNC_L0_RECORD=str(path), URASYNC_L0_RECORD_TRACEBACKS="3"
    ) as watched:
        watched.do("start(); kept.append(queue.alloc_device(3000)); kept.pop().free()")
        watched.do("kept.append(queue.alloc_device(5000))")
        watched.end()
    trace = read_trace(tmp_path / f"trace-{watched.pid}.csv")

    assert ops(trace)[:3] == [("ALLOCATE", 3000, 0), ("FREE", 3000, 0), ("ALLOCATE", 5000, 0)]


FORKS = """\
import os, sys
import urasync_l0

context = urasync_l0.Context(adapter="v2", driver="software")
queue = context.create_queue()
for line in sys.stdin:
    kept = queue.alloc_device(1000)
    if not os.fork():
        from urasync_l0.recording import current_recording
        sys.exit(1 if current_recording() else 0)
    _, status = os.wait()
    kept.free()
    print("done" if status == 0 else f"status {status}", flush=True)
"""


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    with watched_process(tmp_path, program=FORKS, URASYNC_L0_RECORD=str(path)) as watched:
        watched.do("fork")
        watched.do("fork")
        watched.end()

    assert [op for op, _, _ in ops(read_trace(path))][:4] == ["ALLOCATE", "FREE"] * 2


def test_a_wrong_number_in_the_environment_is_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import urasync_l0"],
        env={**os.environ, "URASYNC_L0_RECORD_HISTORY": "many"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert "URASYNC_L0_RECORD_HISTORY=many cannot be followed: 'many' is no whole" in done.stderr


def test_each_setting_of_a_recording_answers_for_itself(tmp_path: Path) -> None:
    """A wrong one is named, and the others are followed."""
    program = "import urasync_l0.recording as r; print(r.current_recording()._depth)"
    settings = {
        "URASYNC_L0_RECORD": "0",
        "URASYNC_L0_RECORD_TRACEBACKS": "3",
        "URASYNC_L0_RECORD_HISTORY": "-1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **settings},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert "URASYNC_L0_RECORD_HISTORY=-1 cannot be followed" in done.stderr
    assert done.stderr.count("cannot be followed") == 1
    assert list(tmp_path.iterdir()) == []
