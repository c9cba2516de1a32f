# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether device memory is mapped page by page: the three settings, and what the driver says."""

import pytest

from tests.helpers.strict_process import run_and_leave, run_strictly

pytestmark = pytest.mark.usefixtures("controls")

PROGRAM = """
    import sys
    from urasync_l0 import Context
    with Context(sys.argv[1], expanding_segments=sys.argv[2]) as context:
        queue = context.create_queue()
        allocation = queue.alloc_device(3 << 20)
        queue.fill(allocation, b"\\x05")
        copy = bytearray(3 << 20)
        queue.memcpy(copy, allocation)
        assert queue.finish(20 * 10**9)
        assert copy == b"\\x05" * (3 << 20)
        found = context.find_allocation(allocation.ptr)
        assert found.nbytes == 3 << 20
        print(context.has_expanding_segments())
        allocation.free()
"""


@pytest.mark.parametrize("unknown", ["0", "1"], ids=["known", "unknown"])
@pytest.mark.parametrize("setting", ["auto", "on", "off"])
def test_memory_that_others_would_refuse_is_not_mapped_unless_told(
    adapter: str, setting: str, unknown: str
) -> None:
    """Auto wants the driver to know mapped pages as device memory; our own answer always holds."""
    told = run_strictly(PROGRAM, adapter, setting, URASYNC_L0_SOFTWARE_MAPPED_UNKNOWN=unknown)
    expected = setting == "on" or (setting == "auto" and unknown == "0")
    assert told.strip() == str(expected)


@pytest.mark.parametrize(
    "entry",
    ["zeVirtualMemReserve", "zePhysicalMemCreate", "zeVirtualMemMap", "zeMemGetAllocProperties"],
)
@pytest.mark.parametrize("setting", ["auto", "on"])
def test_a_driver_that_cannot_map_gets_separate_allocations(
    adapter: str, setting: str, entry: str
) -> None:
    """The probe gives back what it made, and the context works."""
    told = run_strictly(
        """
        import sys
        from urasync_l0 import Context
        from urasync_l0.software_driver.controls import Controls
        controls = Controls()
        with Context(sys.argv[1]):
            pass
        before = controls.live_objects()
        controls.fail(sys.argv[3], 1, 0x78000003)
        context = Context(sys.argv[1], expanding_segments=sys.argv[2])
        controls.clear_failures()
        print(context.has_expanding_segments())
        context.create_queue().alloc_device(100).free()
        assert context.close(20 * 10**9)
        assert controls.live_objects() == before
        """,
        adapter,
        setting,
        entry,
    )
    assert told.strip() == "False"


def test_a_mapping_that_failed_is_taken_away(adapter: str) -> None:
    """Intel's driver keeps a mapping that it cannot make resident; memory behind it must not go
    first."""
    # A checker that counts calls would miss that the mapping failed.
    told = run_and_leave(
        """
        import sys
        from urasync_l0 import Context
        from urasync_l0.software_driver.controls import Controls
        controls = Controls()
        with Context(sys.argv[1], expanding_segments="auto"):
            pass
        before = controls.calls("zeVirtualMemUnmap")
        controls.fail("zeVirtualMemMap", 1, 0x78000001)
        with Context(sys.argv[1], expanding_segments="auto") as context:
            print(context.has_expanding_segments(), controls.calls("zeVirtualMemUnmap") - before)
        """,
        adapter,
    )
    assert told.split() == ["False", "1"]
