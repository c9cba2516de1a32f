# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other programs' records as traces: RMM's log and PyTorch's memory snapshot, good ones and bad."""

from __future__ import annotations

import copyreg
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from urasync_l0.tools.replayer.plain_pickle import UnsafePickleError, load_plain_pickle
from urasync_l0.tools.replayer.trace import HEADER, Trace, TraceError
from urasync_l0.tools.replayer.trace_file import read_any_trace

RMM = """\
Thread,Time,Action,Pointer,Size,Stream
140,10:00:00:000001,allocate,0x7f0000000000,1024,0
140,10:00:00:000002,allocate,0x7f0000001000,2048,0x2
140,10:00:00:000003,free,0x7f0000000000,1024,0x2
140,10:00:00:000004,allocate failure,(nil),4096,0
140,10:00:00:000005,allocate,0x7f0000000000,512,0
140,10:00:00:000006,free,0x7f00000ff000,4096,0
140,10:00:00:000007,allocate,0x7f0000009000,0,0
140,10:00:00:000008,free,0x7f0000009000,0,0
"""


def write(tmp_path: Path, content: str | bytes, name: str = "record.bin") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def ops(trace: Trace) -> list[tuple[str, int, int, int]]:
    return [(line.op.name, line.subject, line.nbytes, line.queue) for line in trace.lines]


# -- RMM -------------------------------------------------------------------------------------------


def test_a_log_of_rmm(tmp_path: Path) -> None:
    trace, notes = read_any_trace(write(tmp_path, RMM, "rmm.csv"))

    assert ops(trace) == [
        ("ALLOCATE", 0, 1024, 0),
        ("ALLOCATE", 1, 2048, 1),
        ("FREE", 0, 1024, 1),
        ("ALLOCATE", 2, 512, 0),
    ]
    assert (trace.name, trace.live_peak) == ("rmm", 3072)
    assert notes == [
        "1 failed allocations are left out",
        "1 frees of memory that was allocated before the record began are left out",
    ]


def test_columns_of_a_log_may_stand_in_any_order(tmp_path: Path) -> None:
    path = write(tmp_path, "Stream,Size,Pointer,Action\r\n0,64,0x10,allocate\r\n0,64,0x10,free\r\n")

    assert ops(read_any_trace(path)[0]) == [("ALLOCATE", 0, 64, 0), ("FREE", 0, 64, 0)]


def test_a_free_that_was_not_recorded_is_added(tmp_path: Path) -> None:
    path = write(tmp_path, "Action,Pointer,Size,Stream\nallocate,0x10,64,0\nallocate,0x10,32,1\n")
    trace, notes = read_any_trace(path)

    assert ops(trace) == [("ALLOCATE", 0, 64, 0), ("FREE", 0, 64, 1), ("ALLOCATE", 1, 32, 1)]
    assert notes == ["1 addresses were given out twice with no free between; a free was added"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("resize,0x10,64,0\n", "line 2: unknown action 'resize'; expected allocate or free"),
        ("allocate,0x10,many,0\n", "line 2: the size is 'many', no number"),
        ("allocate,here,64,0\n", "line 2: the pointer is 'here', no number"),
        ("allocate,0x10,64\n", r"line 2: 3 fields; expected 4: is the file cut\?"),
        ("allocate,0x10,-5,0\n", "line 2: an allocation of -5 bytes is none"),
        (f"allocate,0x10,{1 << 60},0\n", "an allocation of 1152921504606846976 bytes is none"),
        ("free,0x10,64,0\n", "records no allocation"),
        ("", "records no allocation"),
        (
            "".join(f"allocate,{n:#x},64,{n}\n" for n in range(1, 70)),
            "line 66: more than 64 streams; a replay has 64 queues",
        ),
    ],
)
def test_a_wrong_log_is_named_with_its_line(rows: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"Action,Pointer,Size,Stream\n{rows}")
    with pytest.raises(TraceError, match=message):
        read_any_trace(path)


def test_a_log_that_is_no_text(tmp_path: Path) -> None:
    path = write(tmp_path, b"Action,Pointer,Size,Stream\nallocate,\xff,1,0\n")
    with pytest.raises(TraceError, match="not UTF-8 at byte 36"):
        read_any_trace(path)


# -- PyTorch ---------------------------------------------------------------------------------------


def entry(action: str, address: int, size: int, stream: int = 0) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": stream, "frames": []}


HISTORY = [
    entry("segment_alloc", 0x1000, 2 << 20),
    entry("alloc", 0x1000, 512),
    entry("alloc", 0x2000, 1024, 77),
    entry("free_requested", 0x1000, 512),
    entry("free_completed", 0x1000, 512),
    entry("free_requested", 0x9000, 512),
    {"action": "oom", "size": 5, "stream": 0, "device_free": 3},
    entry("snapshot", 0, 0),
]


def torch_file(tmp_path: Path, *histories: object, protocol: int = 4) -> Path:
    data = {"segments": [], "device_traces": list(histories)}
    return write(tmp_path, pickle.dumps(data, protocol), "memory.pickle")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_snapshot_of_pytorch(protocol: int, tmp_path: Path) -> None:
    trace, notes = read_any_trace(torch_file(tmp_path, HISTORY, protocol=protocol))

    assert ops(trace) == [
        ("ALLOCATE", 0, 512, 0),
        ("ALLOCATE", 1, 1024, 1),
        ("FREE", 0, 512, 0),
    ]
    assert notes == ["1 frees of memory that was allocated before the record began are left out"]


def test_the_busiest_device_is_replayed_unless_one_is_named(tmp_path: Path) -> None:
    path = torch_file(tmp_path, HISTORY[1:3], HISTORY, [])

    trace, notes = read_any_trace(path)
    assert len(trace.lines) == 3
    assert notes[0] == "device 1 is replayed; there is a history of 0, too"
    assert len(read_any_trace(path, device=0)[0].lines) == 2
    with pytest.raises(TraceError, match="no history of device 2"):
        read_any_trace(path, device=2)
    with pytest.raises(TraceError, match="no device 3; it has 0 to 2"):
        read_any_trace(path, device=3)


@pytest.mark.parametrize(
    ("histories", "message"),
    [
        ([[]], "the snapshot has no history; call torch.cuda.memory._record_memory_history"),
        ([None], "the snapshot has no history"),
        ([[5]], "entry 0 of the history is no dictionary"),
        ([[entry("alloc", 1, 2), {"action": "alloc"}]], "entry 1 of the history has no number as"),
        ([[entry("alloc", 1, -2)]], "entry 0 of the history cannot be replayed: an allocation of"),
        ([[{"action": "alloc", "addr": True, "size": 1, "stream": 0}]], "has no number as its ad"),
    ],
)
def test_a_wrong_snapshot_is_named(histories: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=message):
        read_any_trace(torch_file(tmp_path, *histories))


@pytest.mark.parametrize("content", [[], {"segments": []}, {"device_traces": 5}, "text"])
def test_another_pickle_is_no_snapshot(content: object, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="not a memory snapshot: it has no device_traces"):
        read_any_trace(write(tmp_path, pickle.dumps(content)))


# -- pickles that are up to something --------------------------------------------------------------


class Call:
    """Pickles as a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


class Plain:
    """An object with a state, which a pickle would build."""

    def __init__(self) -> None:
        self.state = 1


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_cannot_run_anything(protocol: int, tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    data = pickle.dumps([1, Call(os.mkdir, str(mark))], protocol)
    with pytest.raises(UnsafePickleError, match=r"asks for (posix|os)\.mkdir"):
        load_plain_pickle(data)

    assert not mark.exists()


@pytest.mark.parametrize(
    "value",
    [Plain(), Plain, len, Call(print), Exception("x"), 1j, Path("x"), bytearray(b"x"), range(3)],
)
def test_a_pickle_with_more_than_plain_data_is_refused(value: object) -> None:
    for protocol in range(2, 5):
        with pytest.raises(UnsafePickleError, match="only plain data is loaded"):
            load_plain_pickle(pickle.dumps({"device_traces": [value]}, protocol))


def test_a_registered_extension_is_refused() -> None:
    """Not even one that this process has registered and used before."""
    code = 0x7A5E
    copyreg.add_extension(__name__, "Plain", code)
    try:
        data = pickle.dumps(Plain(), 4)
        assert isinstance(pickle.loads(data), Plain)
        with pytest.raises(UnsafePickleError):
            load_plain_pickle(data)
    finally:
        copyreg.remove_extension(__name__, "Plain", code)


def test_an_outside_object_is_refused() -> None:
    with pytest.raises(UnsafePickleError, match="refers to an object outside"):
        load_plain_pickle(b"\x80\x04\x8c\x01x\x94Q.")


def test_a_refused_pickle_is_an_error_of_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, pickle.dumps(Call(os.getpid)))
    with pytest.raises(TraceError, match=r"record\.bin: it asks for posix\.getpid, and only"):
        read_any_trace(path)


def test_plain_data_is_loaded_as_it_is() -> None:
    value = {"a": [1, -2, 2**70, 1.5, None, True], "b": ("x", b"y", {1, 2}, frozenset({3}))}
    for protocol in range(4, 6):
        assert load_plain_pickle(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80",
        b"\x80\x04",
        pickle.dumps(HISTORY)[:-20],
        b"\x80\x04h\x05.",
        b"\x80\x04u.",
        b"\x80\x04" + b"\xff" * 20,
        b"\x80\x04]" + b"X\xff\xff\xff\x7f",
        b"\x80\x04r\xff\xff\xff\xff.",
        b"\x80\x04(((((" * 10,
    ],
)
def test_a_broken_pickle_is_a_plain_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"pickle"):
        load_plain_pickle(data)


# -- what is none of them --------------------------------------------------------------------------


def test_our_own_format_is_read_as_strictly_as_ever(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}\nF,0,,0,\n")
    with pytest.raises(TraceError, match="line 2: unknown allocation 0"):
        read_any_trace(path)


@pytest.mark.parametrize("content", ["", "hello\n", "Thread,Time,Action\n", "{}"])
def test_what_is_no_record_at_all(content: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="expected"):
        read_any_trace(write(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        read_any_trace(tmp_path / "nothing.csv")
