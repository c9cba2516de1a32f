# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is read from a program about its specialisation constants."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.spirv import special_program, whole_program
from urasync_l0.specialisation import constant_sizes

WORDS = struct.unpack(f"<{len(special_program()) // 4}I", special_program())


def test_sizes_follow_from_types() -> None:
    assert constant_sizes(special_program()) == {7: 4, 8: 8}
    assert constant_sizes(whole_program()) == {}
    assert constant_sizes(struct.pack(f">{len(WORDS)}I", *WORDS)) == {7: 4, 8: 8}


def test_booleans_and_narrow_numbers() -> None:
    instructions = [
        *((71, each, 1, 10 + each) for each in (1, 2, 3, 4)),
        (71, 9, 2, 5),  # another decoration
        *((20, 5), (21, 6, 8, 0), (22, 7, 16)),
        *((48, 5, 1), (49, 5, 2), (50, 6, 3, 1), (50, 7, 4, 1)),
        (50, 6, 9, 1),  # without a number
    ]
    words = [0x07230203, 0x00010000, 0, 10, 0]
    for operation, *operands in instructions:
        words += [(len(operands) + 1) << 16 | operation, *operands]
    assert constant_sizes(struct.pack(f"<{len(words)}I", *words)) == {11: 1, 12: 1, 13: 1, 14: 2}


@given(st.integers(0, len(WORDS) - 1), st.integers(0, 2**32 - 1), st.integers(0, 4 * len(WORDS)))
def test_whatever_is_changed_or_cut_off_is_read_to_an_end(at: int, word: int, length: int) -> None:
    changed = (*WORDS[:at], word, *WORDS[at + 1 :])
    constant_sizes(struct.pack(f"<{len(WORDS)}I", *changed)[:length])


def test_what_is_no_spirv_has_no_constants() -> None:
    for content in (b"", b"abc", b"no program at all", special_program()[4:]):
        assert constant_sizes(content) == {}
