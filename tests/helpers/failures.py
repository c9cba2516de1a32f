# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Let every Level Zero call that an operation makes fail, one after another."""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.usm import TIMEOUT_NS
from urasync_l0 import Context, PoolStatistics, UrError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.result import ZeResult

UNKNOWN = int(ZeResult.ERROR_UNKNOWN)


class Scene(Protocol):
    """What an operation works on, all in one context."""

    context: Context


S = TypeVar("S", bound=Scene)


def digest(statistics: PoolStatistics) -> tuple[int, ...]:
    """The numbers that a failed call must leave alone: all but counts of what was tried."""
    s = statistics
    return (s.used, s.used_high, s.requested, s.pending, s.idle, s.reserved, s.reserved_high)


def state(controls: Controls, context: Context) -> tuple[object, ...]:
    """The numbers of all pools of a context, and how many objects of each kind the driver has."""
    pools = context.native.registry.pools()
    return [digest(pool.statistics()) for pool in pools], controls.live_objects()


def attempt(operation: Callable[[S], object], scene: S) -> tuple[object, UrError | None]:
    """What an operation returns or raises."""
    try:
        return operation(scene), None
    except UrError as error:
        return None, error


def each_failure(
    controls: Controls,
    make: Callable[[], S],
    operation: Callable[[S], object],
    *,
    steady: bool = True,
) -> Iterator[tuple[S, UrError | None, tuple[object, ...]]]:
    """Run the operation once for each of its calls, which fails, in a fresh scene.

    Gives the scene, the error if there was one, and the state before. The context is closed in the
    end, and nothing is left. Without ``steady``, which calls the operation makes depends on how far
    the queues are at that moment, and a scene where the call is not made is passed over.
    """
    scene = make()
    with LevelZeroCalls() as calls:
        operation(scene)
    assert scene.context.close(TIMEOUT_NS)
    nothing = controls.live_objects()
    planned = [(entry, nth) for entry, count in calls.counts.items() for nth in range(1, count + 1)]
    for entry, nth in planned:
        scene = make()
        before = state(controls, scene.context)
        delivered = controls.failures_delivered()
        controls.fail(entry, nth, UNKNOWN)
        result, error = attempt(operation, scene)
        controls.clear_failures()
        made = controls.failures_delivered() == delivered + 1
        assert made or not steady, f"call {nth} of {entry} is not made"
        assert error is None or error.function == entry
        del result
        if made:
            yield scene, error, before
        assert scene.context.close(TIMEOUT_NS)
        assert controls.live_objects() == nothing, f"call {nth} of {entry} left something"


def fail_each_call(
    controls: Controls,
    make: Callable[[], S],
    operation: Callable[[S], object],
    verify: Callable[[S], None] = lambda scene: None,
) -> int:
    """Let every call of an operation fail that must then change nothing; return how many.

    The next try works. A failure that the operation finds a way around is none of the operation.
    """
    count = 0
    for scene, error, before in each_failure(controls, make, operation):
        count += 1
        if error is not None:
            after = state(controls, scene.context)
            assert after == before, f"{error.function} changed {before} to {after}"
            operation(scene)
        verify(scene)
    return count
