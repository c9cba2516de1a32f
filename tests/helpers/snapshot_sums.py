# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""That a snapshot is of one moment: whatever is counted twice is the same."""

from urasync_l0.snapshot import IDLE, IN_USE, PENDING, PoolSnapshot


def assert_consistent(pool: PoolSnapshot) -> None:
    """What the blocks add up to is what the pool says, to the byte (STAT-1)."""
    sums = {IN_USE: 0, PENDING: 0, IDLE: 0}
    for segment in pool.segments:
        covered = list(segment.regions)
        at = 0
        for block in segment.blocks:
            sums[block.state] += block.size
            while covered and block.address >= covered[0][1]:
                covered.pop(0)
                at = 0
            start, end = covered[0]
            assert block.address == (at or start)
            at = block.end
            assert at <= end
            assert block.age is None or block.age >= 0
        assert segment.mapped == sum(block.size for block in segment.blocks)
    numbers = pool.statistics
    assert (numbers.used, numbers.pending, numbers.idle) == tuple(sums.values())
    pending = sum(each.size for each in pool.pending)
    assert pending == numbers.pending
    assert 0 <= numbers.used <= numbers.reserved <= numbers.reserved_high
    used = [block for each in pool.segments for block in each.blocks if block.state == IN_USE]
    assert numbers.requested == sum(block.requested for block in used)
    assert numbers.allocations - numbers.frees == len(used)
