# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of Level Zero results and the checker."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ze_build
from urasync_l0.result import DeviceLostError, OutOfMemoryError, UrError, UrResult, error_class
from urasync_l0.ze._extension import lib
from urasync_l0.ze.result import RESULTS, ZeResult, check

PREFIX = "ZE_RESULT_"
# Marks the width of the enumeration; no call returns it.
NOT_A_RESULT = "FORCE_UINT32"


def header_results() -> dict[str, int]:
    """The enumeration of the header that the extension was built with, without its prefix."""
    text = ze_build.system_header_text()
    body = re.search(r"enum _ze_result_t\s*\{(.*?)\}", text, re.DOTALL)
    assert body is not None
    members = re.findall(rf"{PREFIX}(\w+)\s*=\s*(\w+)", body[1])
    return {name: int(value, 0) for name, value in members if name != NOT_A_RESULT}


def test_every_result_of_the_header_has_a_row() -> None:
    results = header_results()
    assert len(results) >= 44  # as many as specification 1.4 has
    for name, value in results.items():
        assert ZeResult[name] == value
        assert ZeResult(value) in RESULTS


def test_every_result_of_the_specification_has_a_row() -> None:
    assert set(RESULTS) == set(ZeResult)
    assert len(RESULTS) == 62  # as many as specification 1.17 has


@pytest.mark.parametrize("result", ZeResult, ids=lambda result: result.name)
def test_numbers_are_the_compilers(result: ZeResult) -> None:
    assert getattr(lib, PREFIX + result.name) == result


def test_no_compiled_result_lacks_a_row() -> None:
    compiled = {name.removeprefix(PREFIX) for name in dir(lib) if name.startswith(PREFIX)}
    assert compiled == set(ZeResult.__members__)


@pytest.mark.parametrize(
    "result", [result for result in ZeResult if result], ids=lambda result: result.name
)
def test_every_other_result_raises_its_row(result: ZeResult) -> None:
    row = RESULTS[result]
    with pytest.raises(UrError) as caught:
        check(result, "zeMemAllocDevice", "Asked for 4096 bytes")
    assert type(caught.value) is row.error is error_class(row.ur_result)
    assert caught.value.code == row.ur_result != UrResult.SUCCESS
    assert caught.value.function == "zeMemAllocDevice"
    text = str(caught.value)
    for part in ("zeMemAllocDevice", "Asked for 4096 bytes.", result.name, f"0x{result:08x}"):
        assert part in text
    if result is not ZeResult.ERROR_UNSUPPORTED_FEATURE:  # says more about a missing entry
        assert row.explanation in text


def test_explanations_are_sentences_of_their_own() -> None:
    explanations = [row.explanation for row in RESULTS.values()]
    assert len(set(explanations)) == len(explanations)
    for explanation in explanations:
        assert explanation[0].isupper()
        assert explanation.endswith(".")


def test_success_raises_nothing() -> None:
    check(ZeResult.SUCCESS, "zeInit")


def test_what_callers_branch_on() -> None:
    with pytest.raises(MemoryError):
        check(ZeResult.ERROR_OUT_OF_DEVICE_MEMORY, "zeMemAllocDevice")
    with pytest.raises(OutOfMemoryError):
        check(ZeResult.ERROR_OUT_OF_HOST_MEMORY, "zeMemAllocHost")
    with pytest.raises(DeviceLostError):
        check(ZeResult.ERROR_DEVICE_REQUIRES_RESET, "zeContextGetStatus")
    with pytest.raises(ValueError, match="alignment"):
        check(ZeResult.ERROR_UNSUPPORTED_ALIGNMENT, "zeMemAllocHost")


@given(st.integers(min_value=-(2**31), max_value=2**32 - 1))
def test_unknown_codes_carry_their_number(code: int) -> None:
    if code in set(ZeResult):
        return
    with pytest.raises(UrError) as caught:
        check(code, "zeEventQueryStatus", "The event's number is 7")
    assert caught.value.code is UrResult.UNKNOWN
    text = str(caught.value)
    assert f"0x{code & 0xFFFFFFFF:08x}" in text
    assert "zeEventQueryStatus" in text
    assert "number is 7" in text
