# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocations of pools with properties change nothing when any Level Zero call of theirs fails."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.helpers.failures import fail_each_call
from tests.helpers.usm import MIB, alloc, finish, read
from urasync_l0 import (
    KEEP_EVERYTHING,
    Allocation,
    Context,
    Event,
    Pool,
    Queue,
    UsmPoolFlag,
    UsmType,
)
from urasync_l0.enums import NO_POOL_FLAGS
from urasync_l0.pool import growth
from urasync_l0.software_driver.controls import Controls

SIZE = 3 * MIB


@dataclass
class PoolScene:
    """A pool, and the event of another queue than the one that allocates from it.

    ``outer`` is kept from being dropped.
    """

    context: Context
    queue: Queue
    pool: Pool
    event: Event
    held: list[Allocation]
    outer: Pool | None = None


def make_scene(
    context: Context, *, flags: UsmPoolFlag = NO_POOL_FLAGS, maximum_pooled: int | None = None
) -> PoolScene:
    queue = context.create_queue()
    pool = context.create_pool(
        release_threshold=KEEP_EVERYTHING, flags=flags, maximum_pooled=maximum_pooled
    )
    return PoolScene(context, queue, pool, context.create_queue().record(), [])


def allocate(scene: PoolScene, kind: UsmType, size: int = SIZE) -> None:
    scene.held.append(
        alloc(scene.queue, kind, size, pool=scene.pool, wait=(scene.event,), event=True)
    )


@pytest.mark.parametrize("share", [64, 1], ids=["pages", "mappings"])
def test_growth_that_moves_pages(
    monkeypatch: pytest.MonkeyPatch,
    controls: Controls,
    make_context: Callable[..., Context],
    share: int,
) -> None:
    """ERR-1: whichever page cannot be created, unmapped or mapped, all are where they were; and
    so where several are mapped in one piece."""
    monkeypatch.setattr(growth, "_MAPPING_SHARE", share)

    def make() -> PoolScene:
        scene = make_scene(make_context(expanding_segments="on"))
        first, middle, last = (scene.queue.alloc_device(4 * MIB, pool=scene.pool) for _ in range(3))
        scene.queue.fill(middle, b"\x07")
        first.free()
        last.free()
        finish(scene.queue)
        scene.held.append(middle)
        return scene

    def grow(scene: PoolScene) -> None:
        allocate(scene, UsmType.DEVICE, 10 * MIB)

    def verify(scene: PoolScene) -> None:
        middle, grown = scene.held
        assert scene.pool.statistics().pages_moved > 0
        scene.queue.fill(grown, b"\x09")
        assert read(scene.queue, middle) == b"\x07" * middle.nbytes
        assert read(scene.queue, grown) == b"\x09" * grown.nbytes
        scene.pool.core.check()

    assert fail_each_call(controls, make, grow, verify) > 4


@pytest.mark.parametrize("pooled", [False, True], ids=["fresh", "pooled"])
def test_zero_initialised(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType, pooled: bool
) -> None:
    """ERR-8, ORD-12."""

    def make() -> PoolScene:
        scene = make_scene(make_context(), flags=UsmPoolFlag.ZERO_INITIALIZE_BLOCK)
        if pooled:
            used = alloc(scene.queue, kind, SIZE, pool=scene.pool)
            scene.queue.fill(used, b"\x01")
            used.free()
        return scene

    def verify(scene: PoolScene) -> None:
        assert read(scene.queue, scene.held[-1]) == bytes(SIZE)

    assert fail_each_call(controls, make, lambda s: allocate(s, kind), verify) > 0


def test_read_only(controls: Controls, make_context: Callable[..., Context]) -> None:
    """The advice, the wait before it and the signal behind it."""

    def make() -> PoolScene:
        return make_scene(make_context(), flags=UsmPoolFlag.READ_ONLY_EXP)

    assert fail_each_call(controls, make, lambda s: allocate(s, UsmType.SHARED)) > 2


def test_memory_of_its_own(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType
) -> None:
    """An allocation above what the pool keeps."""

    def make() -> PoolScene:
        return make_scene(make_context(), maximum_pooled=MIB)

    assert fail_each_call(controls, make, lambda s: allocate(s, kind)) > 0


def test_pool_in_a_buffer(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType
) -> None:
    """The buffer, the pool in it, and an allocation from the pool."""

    def make() -> PoolScene:
        scene = make_scene(make_context())
        scene.held.append(alloc(scene.queue, kind, SIZE))
        scene.outer = scene.pool
        scene.pool = scene.context.create_pool_in(scene.held[0])
        return scene

    assert fail_each_call(controls, make, lambda s: allocate(s, kind, MIB)) > 0


def test_making_a_pool_in_a_buffer_makes_no_call(
    controls: Controls, make_context: Callable[..., Context], kind: UsmType
) -> None:
    def make() -> PoolScene:
        scene = make_scene(make_context())
        scene.held.append(alloc(scene.queue, kind, SIZE))
        return scene

    def create(scene: PoolScene) -> None:
        scene.pool = scene.context.create_pool_in(scene.held[0])

    assert fail_each_call(controls, make, create) == 0
