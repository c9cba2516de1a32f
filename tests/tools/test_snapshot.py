# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Snapshots: taken from real contexts while others allocate, and to JSON and back."""

from __future__ import annotations

import gc
import io
import json
import re
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import urasync_l0
from tests.helpers.snapshot_sums import assert_consistent
from tests.helpers.threads import run_together
from tests.helpers.usm import finish
from tests.tools.snapshots import SNAPSHOT, later
from tests.tools.watched_process import watched_process
from urasync_l0 import (
    KEEP_EVERYTHING,
    Context,
    PoolStatistics,
    record_allocations,
    take_snapshot,
)
from urasync_l0.inspection import snapshot_json_parts
from urasync_l0.numbering import number_of
from urasync_l0.snapshot import (
    IDLE,
    IN_USE,
    PENDING,
    SCHEMA,
    BlockSnapshot,
    ContextSnapshot,
    PoolSnapshot,
    QueueSnapshot,
    SegmentSnapshot,
    Snapshot,
    SnapshotError,
    read_snapshot,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.tools.layout import Layout
from urasync_l0.tools.map_view import MapView
from urasync_l0.tools.pool_findings import findings
from urasync_l0.tools.queues_view import QueuesView
from urasync_l0.tools.show_view import ShowView
from urasync_l0.tools.torch_form import torch_snapshot
from urasync_l0.ze.handles import handle_value

MIB = 1 << 20


@pytest.fixture
def context() -> Iterator[Context]:
    with Context(adapter="v2", driver="software") as made:
        yield made


def own(context: Context) -> ContextSnapshot:
    """The snapshot of one context; others of the process may be open."""
    name = number_of(context.native)
    (found,) = (each for each in take_snapshot().contexts if each.id == name)
    return found


def blocks(pool: PoolSnapshot) -> list[BlockSnapshot]:
    return [block for segment in pool.segments for block in segment.blocks]


# -- what is in a snapshot -------------------------------------------------------------------------


def test_a_snapshot_has_every_state(context: Context) -> None:
    """STAT-2 and STAT-3: requested and rounded bytes, and pending apart from used."""
    controls = Controls()
    queue, other = context.create_queue(), context.create_queue()
    pool = context.default_pool()
    pool.release_threshold = KEEP_EVERYTHING
    finished = queue.alloc_device(MIB)
    queue.free(finished)
    finish(queue)
    kept = queue.alloc_device(1000)
    gate = controls.gate(handle_value(other.handle))
    gate.close()
    try:
        waiting = other.alloc_device(300_000)
        other.record()
        other.free(waiting)
        found = own(context)
    finally:
        gate.open()
    snapshot = found.pools[0]
    by_state = {
        state: [block for block in blocks(snapshot) if block.state == state]
        for state in (IN_USE, PENDING, IDLE)
    }
    (used,) = by_state[IN_USE]
    assert (used.address, used.size, used.requested) == (kept.ptr, 1024, 1000)
    assert (used.queue, used.age) == (queue.id, 1)
    (pending,) = by_state[PENDING]
    assert (pending.size, pending.queue, pending.stamp) == (300_032, other.id, 2)
    assert [(each.queue, each.blocks, each.size) for each in snapshot.pending] == [
        (other.id, 1, 300_032)
    ]
    statistics = pool.statistics()
    assert sum(block.size for block in by_state[IDLE]) == statistics.idle
    assert snapshot.release_threshold == KEEP_EVERYTHING
    assert (found.adapter, found.driver) == ("v2", "software")
    assert {each.id for each in found.queues} == {queue.id, other.id}


def test_a_snapshot_shows_every_kind_and_unpooled_memory(context: Context) -> None:
    queue = context.create_queue()
    pool = context.create_pool(maximum_pooled=MIB)
    held = [
        queue.alloc_device(100, pool=pool),
        queue.alloc_shared(200, pool=pool),
        queue.alloc_host(300, pool=pool),
        queue.alloc_device(3 * MIB, pool=pool),
    ]
    inside = context.create_pool_in(held[3])
    small = queue.alloc_device(50, pool=inside)
    pools = own(context).pools
    segments = {
        each.requested: segment
        for pool_snapshot in pools
        for segment in pool_snapshot.segments
        for each in segment.blocks
        if each.state == IN_USE
    }
    assert {requested: segments[requested].kind for requested in (100, 200, 300)} == {
        100: "device",
        200: "shared",
        300: "host",
    }
    assert segments[300].device is None
    assert not segments[3 * MIB].is_pooled
    assert segments[100].is_pooled
    assert not segments[50].is_owned
    assert small.nbytes == 50
    assert len({each.id for each in pools}) == len(pools)


def test_a_snapshot_before_any_allocation_is_full_of_zeros(context: Context) -> None:
    """PY-8: statistics before the first use are zeros, not missing."""
    for pool in own(context).pools:
        assert {getattr(pool.statistics, each.name) for each in fields(PoolStatistics)} == {0}
        assert pool.segments == ()


def test_queues_show_their_clocks_and_markers(context: Context) -> None:
    first, second = context.create_queue(), context.create_queue()
    controls = Controls()
    gate = controls.gate(handle_value(first.handle))
    gate.close()
    try:
        event = first.record()
        second.wait(event)
        found: dict[int, QueueSnapshot] = {each.id: each for each in own(context).queues}
    finally:
        gate.open()
    assert (found[first.id].sequence, found[first.id].completed) == (1, 0)
    assert found[second.id].clock == ((first.id, 1),)


def test_an_idle_queue_shows_no_more_complete_than_it_was_given(context: Context) -> None:
    """What is known of it may come from a wait that was counted and is no command any more."""
    queue = context.create_queue()
    queue.record().release()
    order = queue.command_list.order
    order.completed = order.sequence + 5
    (shown,) = [each for each in own(context).queues if each.id == order.id]
    assert shown.completed == shown.sequence == order.sequence


def test_a_closed_queue_is_gone(context: Context) -> None:
    queue = context.create_queue()
    allocation = queue.alloc_device(100)
    queue.close()
    found = own(context)

    assert found.queues == ()
    (used,) = (block for block in blocks(found.pools[0]) if block.state == IN_USE)
    assert used.queue == queue.id
    allocation.free()


def test_memory_that_no_queue_allocated_has_none(context: Context) -> None:
    allocation = context.alloc_device(1234)
    found = own(context)

    (used,) = (block for block in blocks(found.pools[0]) if block.state == IN_USE)
    assert (used.requested, used.queue) == (1234, None)
    assert "all of no queue" in findings(found.pools[0], found, Layout())[0].reason
    allocation.free()


def test_taking_a_snapshot_calls_no_driver(context: Context) -> None:
    queue = context.create_queue()
    kept = [queue.alloc_device(1000) for _ in range(10)]
    before = urasync_l0.ze.loader.total_calls()
    take_snapshot()

    assert urasync_l0.ze.loader.total_calls() == before
    assert len(kept) == 10


# -- while others allocate -------------------------------------------------------------------------


def test_each_snapshot_is_of_one_moment(context: Context) -> None:
    """Three threads allocate and free as fast as they can meanwhile."""
    stop = threading.Event()
    filled = threading.Barrier(4)

    def look() -> None:
        try:
            filled.wait(60)
            for _ in range(100):
                for pool in own(context).pools:
                    assert_consistent(pool)
        finally:
            stop.set()

    def churn(step: int) -> None:
        queue = context.create_queue()
        kept = [queue.alloc_device(size) for size in range(1, 300)]
        filled.wait(60)
        size = 1
        while not stop.is_set():
            size = size * 31 % 10_007 + step
            kept.append(queue.alloc_device(size))
            kept.pop(size % 300).free()

    run_together(lambda number: churn(number) if number else look(), 4)
    for pool in own(context).pools:
        assert_consistent(pool)


# -- JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("snapshot", [SNAPSHOT, later(), Snapshot(1, "empty", 0.5)])
def test_json_and_back(snapshot: Snapshot) -> None:
    text = snapshot.to_json()

    assert Snapshot.from_json(text) == snapshot
    assert Snapshot.from_json(text.encode()) == snapshot
    document = json.loads(text)
    assert document["schema"] == SCHEMA
    assert document["snapshot"]["name"] == snapshot.name


def test_a_real_snapshot_survives_json(context: Context) -> None:
    queue = context.create_queue()
    kept = [queue.alloc_device(1000 * number) for number in range(1, 20)]
    kept.pop(3).free()
    snapshot = take_snapshot()

    assert Snapshot.from_json(snapshot.to_json()) == snapshot


def test_the_parts_are_small(context: Context) -> None:
    """Between them other threads have their turn."""
    queue = context.create_queue()
    kept = [queue.alloc_device(300) for _ in range(2000)]

    assert max(map(len, take_snapshot().json_parts())) < 2000
    assert len(kept) == 2000


def test_what_is_written_from_the_numbers_is_the_snapshot(context: Context) -> None:
    """Every state, tracebacks and a history; JSON that is written without values on the way."""
    queue = context.create_queue()
    with record_allocations(tracebacks=2, history=100):
        kept = [queue.alloc_device(1000 * number) for number in range(1, 20)]
        kept.append(context.alloc_host(77))
        kept.pop(3).free()
        finish(queue)
        kept.pop(5).free()
        text = "".join(snapshot_json_parts())
        bare = "".join(snapshot_json_parts(blocks=False))
        snapshot = take_snapshot()
    found = Snapshot.from_json(text)

    def at_rest(given: Snapshot) -> Snapshot:
        """Without what goes on with time."""
        text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": 1', given.to_json())
        return Snapshot.from_json(text)

    assert at_rest(found) == at_rest(snapshot)
    assert {block.state for pool in found.pools for block in blocks(pool)} == {
        IN_USE, PENDING, IDLE
    }  # fmt: skip
    assert any(block.traceback and block.seconds is not None
               for pool in found.pools for block in blocks(pool))  # fmt: skip
    assert len(found.history) == 22
    assert at_rest(Snapshot.from_json(bare)) == at_rest(
        replace(
            snapshot,
            has_blocks=False,
            history=(),
            contexts=tuple(
                replace(each, pools=tuple(
                    replace(pool, segments=tuple(
                        replace(segment, blocks=()) for segment in pool.segments))
                    for pool in each.pools))
                for each in snapshot.contexts),
        )
    )  # fmt: skip


def test_a_snapshot_for_a_client_sets_off_no_collection(context: Context) -> None:
    """A full one stops the whole program, for longer the more objects it has."""
    queue = context.create_queue()
    kept = [queue.alloc_device(300) for _ in range(5000)]
    collections: list[int] = []

    def note(phase: str, details: dict[str, int]) -> None:
        if phase == "start" and threading.current_thread() is threading.main_thread():
            collections.append(details["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        nbytes = sum(map(len, snapshot_json_parts()))
    finally:
        gc.callbacks.remove(note)

    assert nbytes > 5000 * 50
    assert len(collections) <= 1
    assert len(kept) == 5000


def changed(change: Callable[[dict[str, object]], object]) -> str:
    document = json.loads(SNAPSHOT.to_json())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pools.json is empty: what should be in it was cut"),
        (" \n", "pools.json is empty"),
        ("nonsense", "it is not JSON"),
        ("[1]", "its format is not"),
        ("{}", "its format is not"),
        (SNAPSHOT.to_json()[:-1], r"is cut: it ends after \d+ bytes"),
        (SNAPSHOT.to_json()[:500], r"is cut: it ends after 500 bytes"),
        (SNAPSHOT.to_json()[:20], r"is cut: it ends after 20 bytes"),
        ('{"a": nonsense}', "it is not JSON"),
        ("[" * 100_000, "it is nested too deeply"),
        (changed(lambda d: d.update(schema=0)), "has schema 0, and this version reads schema 1; t"),
        (changed(lambda d: d.update(schema=2)), "has schema 2, .*with the urasync_l0 that wrote"),
        (changed(lambda d: d.update(schema=None)), "has schema None"),
        (changed(lambda d: d.update(snapshot=[])), r"snapshot is \[\], not an object"),
        (changed(lambda d: d["snapshot"].pop("pid")), "snapshot has no 'pid'"),  # type: ignore[attr-defined]
        (changed(lambda d: d["snapshot"].update(pid="1")), "snapshot.pid is '1', not a whole n"),  # type: ignore[attr-defined]
        (changed(lambda d: d["snapshot"].update(pid=True)), "snapshot.pid is True, not a whole"),  # type: ignore[attr-defined]
        (changed(lambda d: d["snapshot"].update(contexts=1)), "contexts is 1, not an array"),  # type: ignore[attr-defined]
        (
            changed(lambda d: d["snapshot"]["contexts"][0]["queues"][0].update(clock=[[1]])),  # type: ignore[index]
            r"contexts\[0\].queues\[0\].clock\[0\] is \[1\], not an array of 2",
        ),
    ],
)
def test_what_is_no_snapshot_is_refused(text: str, message: str) -> None:
    with pytest.raises(SnapshotError, match=message):
        Snapshot.from_json(text, "pools.json")


def segment(**fields: object) -> str:
    """The snapshot with other fields in its first segment."""
    document = json.loads(SNAPSHOT.to_json())
    document["snapshot"]["contexts"][0]["pools"][0]["segments"][0].update(fields)
    return json.dumps(document)


def block(**fields: object) -> str:
    """The snapshot with other fields in its first block."""
    document = json.loads(SNAPSHOT.to_json())
    document["snapshot"]["contexts"][0]["pools"][0]["segments"][0]["blocks"][0].update(fields)
    return json.dumps(document)


FIRST = r"pools\[0\].segments\[0\]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (block(state="zzz"), FIRST + r".blocks\[0\].state is 'zzz', not 'in use' or 'pending' or"),
        (block(state=1), FIRST + r".blocks\[0\].state is 1, not 'in use'"),
        (block(size=-1), FIRST + r".blocks\[0\].size is -1, not a number from 0 to"),
        (block(requested=2**64), FIRST + r".blocks\[0\].requested is 18446744073709551616, not"),
        (block(seconds=float("nan")), FIRST + r".blocks\[0\].seconds is nan, not a number from"),
        (block(seconds=10**400), FIRST + r".blocks\[0\].seconds is inf, not a number from 0"),
        (
            changed(lambda d: d["snapshot"].update(seconds=1e15)),  # type: ignore[attr-defined]
            r"snapshot.seconds is 1000000000000000.0, not a date before the year 9999",
        ),
        (block(size=MIB), FIRST + r".blocks\[1\] is \[\d+, 262144\], not a block from 0x\w+ on"),
        (block(size=9 * MIB), FIRST + r".blocks\[0\] is .*in a region that ends at 0x"),
        (segment(kind="disk"), FIRST + r".kind is 'disk', not 'device' or 'shared' or 'host'"),
        (segment(device=-1), FIRST + r".device is -1, not a number from 0"),
        (segment(regions=[[8, 4]]), FIRST + r".regions\[0\] is \[8, 4\], not a region after 0x"),
        (
            changed(lambda d: d["snapshot"]["history"][0].update(op="steal")),  # type: ignore[index]
            r"history\[0\].op is 'steal', not 'allocate' or 'free'",
        ),
    ],
)
def test_values_that_cannot_be_are_refused(text: str, message: str) -> None:
    with pytest.raises(SnapshotError, match=message):
        Snapshot.from_json(text, "pools.json")


def scalars(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the values are that hold no others."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from scalars(each, (*path, name))
    elif isinstance(value, list) and value:
        for position, each in enumerate(value):
            yield from scalars(each, (*path, position))
    else:
        yield path


@pytest.mark.parametrize("wrong", [{}, "zzz", -1, True, 1.5, float("nan")])
def test_every_value_is_looked_at(wrong: object) -> None:
    """Put in place of each value in turn, what cannot be there is refused, with its field."""
    places = list(scalars(json.loads(SNAPSHOT.to_json())["snapshot"]))
    may_be = 0
    for place in places:
        document = json.loads(SNAPSHOT.to_json())
        inner = document["snapshot"]
        for step in place[:-1]:
            inner = inner[step]
        if type(inner[place[-1]]) is type(wrong) and isinstance(wrong, str | bool):
            may_be += 1  # another name or truth is as good, except where there are few words
            continue
        if type(inner[place[-1]]) is float and wrong == 1.5:
            may_be += 1
            continue
        inner[place[-1]] = wrong
        with pytest.raises(SnapshotError) as caught:
            Snapshot.from_json(json.dumps(document), "pools.json")
        field = next(step for step in reversed(place) if isinstance(step, str))
        assert str(caught.value).startswith("pools.json is no snapshot: snapshot")
        assert f".{field}" in str(caught.value)
    assert len(places) - may_be > 70


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    text = changed(lambda d: d["snapshot"].update(name="a\x1b[2Jb\nc"))  # type: ignore[attr-defined]

    assert Snapshot.from_json(text).name == r"a\x1b[2Jb\nc"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_no_change_of_a_snapshot_is_anything_but_refused_or_read(data: st.DataObject) -> None:
    """Bytes that are cut, changed or put in."""
    text = bytearray(SNAPSHOT.to_json().encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        end = at + data.draw(st.sampled_from([0, 1, 1, 1, 2, 8, 100_000]))
        put = data.draw(st.sampled_from([b"", b"1", b"-", b"9" * 30, b'"', b"[", b"}", b"\xff"]))
        text[at:end] = put
        if not text:
            break
    try:
        snapshot = Snapshot.from_json(bytes(text), "pools.json")
    except SnapshotError as error:
        assert str(error).startswith("pools.json ")  # noqa: PT017  # both ends are right
    else:
        for make in (ShowView, QueuesView, MapView):
            Console(file=io.StringIO(), width=80).print(make(snapshot, Layout()))
        torch_snapshot(snapshot)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(SnapshotError, match="it is not text"):
        Snapshot.from_json(b"\xff\xfe\x00{")


def test_fields_that_are_new_are_passed_over() -> None:
    text = changed(lambda d: d["snapshot"].update(colour="green"))  # type: ignore[attr-defined]

    assert Snapshot.from_json(text) == SNAPSHOT


def test_a_segment_counts_what_is_mapped() -> None:
    segment = SegmentSnapshot("device", 0, 0, 1 << 30, regions=((0, 4096), (8192, 12288)))

    assert segment.mapped == 8192


# -- files -----------------------------------------------------------------------------------------


def test_a_file_appears_as_a_whole(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "pools-{pid}.json"
    written = urasync_l0.write_snapshot(path)

    assert read_snapshot(written).pid == take_snapshot().pid
    assert [each.name for each in tmp_path.iterdir()] == [written.name]
    assert written.stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        urasync_l0.write_snapshot(tmp_path / "folder")

    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot be read: No such file"):
        read_snapshot(tmp_path / "none.json")


def test_a_process_writes_at_its_exit_what_it_never_freed(tmp_path: Path) -> None:
    path = tmp_path / "exit.json"
    with watched_process(tmp_path, URASYNC_L0_SNAPSHOT_AT_EXIT=str(path)) as watched:
        watched.do("start(); kept.append(queue.alloc_device(12345))")
        assert not path.exists()
        watched.end()
    pool = read_snapshot(path).pools[0]

    assert [block.requested for block in blocks(pool) if block.state == IN_USE] == [12345]


FORKS = """\
import os, sys
import urasync_l0

context = urasync_l0.Context(adapter="v2", driver="software")
kept = context.create_queue().alloc_device(777)
for line in sys.stdin:
    if not os.fork():
        sys.exit(0)
    os.wait()
    print("done", flush=True)
"""


def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "exit.json"
    setting = str(path)
    with watched_process(tmp_path, program=FORKS, URASYNC_L0_SNAPSHOT_AT_EXIT=setting) as watched:
        watched.do("fork")
        assert not path.exists()
        watched.end()
    assert read_snapshot(path).pools[0].statistics.requested == 777


def test_a_process_writes_on_a_signal(tmp_path: Path) -> None:
    """The signal comes while the main thread holds the pool's lock, which must not matter."""
    path = tmp_path / "signal.json"
    setting = f"USR2:{path}"
    with watched_process(tmp_path, URASYNC_L0_SNAPSHOT_ON_SIGNAL=setting) as watched:
        watched.do("start(); kept.append(queue.alloc_device(12345))")
        watched.do("import os, signal, time, pathlib")
        watched.do("with context.default_pool().core.lock: os.kill(os.getpid(), signal.SIGUSR2)")
        watched.do(f"path = pathlib.Path({str(path)!r}); end = time.monotonic() + 60")
        watched.do("while not path.exists() and time.monotonic() < end: time.sleep(0.01)")
        assert read_snapshot(path).pools[0].statistics.requested == 12345
        watched.end()


def test_a_handler_that_was_there_is_called_too(tmp_path: Path) -> None:
    path = tmp_path / "signal.json"
    with watched_process(tmp_path) as watched:
        watched.do("import os, signal; seen = []")
        watched.do("signal.signal(signal.SIGUSR1, lambda *arguments: seen.append(arguments))")
        watched.do(f"urasync_l0.write_snapshot_on_signal({str(path)!r}, signal.SIGUSR1)")
        watched.do("os.kill(os.getpid(), signal.SIGUSR1)")
        watched.do("assert len(seen) == 1")
        watched.end()


def test_a_signal_that_cannot_be_handled() -> None:
    with pytest.raises(urasync_l0.InvalidValueError, match=r"cannot be handled here"):
        urasync_l0.write_snapshot_on_signal("pools.json", signal.SIGKILL)


@pytest.mark.parametrize(
    "register", [urasync_l0.write_snapshot_at_exit, urasync_l0.write_snapshot_on_signal]
)
@pytest.mark.parametrize("path", [5, None, b"pools.json"])
def test_what_is_no_path_is_refused_before_the_moment_to_write(
    register: Callable[[Any], None], path: Any
) -> None:
    handler = signal.getsignal(signal.SIGUSR2)
    with pytest.raises(TypeError, match=r"PathLike|path must be text"):
        register(path)
    assert signal.getsignal(signal.SIGUSR2) is handler
