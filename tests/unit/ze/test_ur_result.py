# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results and exceptions of Unified Runtime."""

import pickle

import pytest

from urasync_l0 import result
from urasync_l0.result import OutOfMemoryError, UrError, UrResult, error_class

CLASSES = [
    value
    for value in vars(result).values()
    if isinstance(value, type) and issubclass(value, UrError)
]

# Fixed by the binary interface. One of each range; a slip in the list shifts what follows it.
PINNED = {
    "SUCCESS": 0,
    "INVALID_VALUE": 4,
    "INVALID_MEM_OBJECT": 11,
    "INVALID_EVENT_WAIT_LIST": 13,
    "DEVICE_LOST": 20,
    "UNINITIALIZED": 37,
    "OUT_OF_HOST_MEMORY": 38,
    "OUT_OF_DEVICE_MEMORY": 39,
    "UNSUPPORTED_FEATURE": 44,
    "INVALID_ARGUMENT": 45,
    "INVALID_NULL_HANDLE": 46,
    "INVALID_NULL_POINTER": 48,
    "INVALID_SIZE": 49,
    "UNSUPPORTED_ENUMERATION": 54,
    "INVALID_USM_SIZE": 64,
    "LAYER_NOT_PRESENT": 67,
    "GRAPH_INTERNAL_EVENT": 77,
    "INVALID_COMMAND_BUFFER_EXP": 0x1000,
    "UNKNOWN": 0x7FFFFFFE,
}


def test_numbers() -> None:
    assert {name: UrResult[name].value for name in PINNED} == PINNED
    assert len(UrResult) == 83


@pytest.mark.parametrize("code", UrResult, ids=lambda code: code.name)
def test_every_code_has_a_class(code: UrResult) -> None:
    error = error_class(code)("It failed.", code=code, function="urQueueFinish")
    assert error.code is code
    assert str(error) == f"urQueueFinish: It failed. [{code.name}]"


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_classes_have_a_code_of_their_own_and_survive_pickling(kind: type[UrError]) -> None:
    error = kind("It failed.", function="urUSMPoolTrimToExp")
    assert error.code is kind.default_code
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_out_of_memory_carries_the_numbers_of_its_pool() -> None:
    error = OutOfMemoryError(
        "The pool is full.",
        requested=4096,
        used=100,
        pending=20,
        idle=3,
        reserved=123,
        limit=200,
        device="Software GPU",
    )
    assert isinstance(error, MemoryError)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.requested, copy.used, copy.pending, copy.idle) == (4096, 100, 20, 3)
    assert (copy.reserved, copy.limit, copy.device) == (123, 200, "Software GPU")
