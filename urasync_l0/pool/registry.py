# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All pools of a context, and every block in use by its address."""

from __future__ import annotations

import threading
from collections.abc import Callable

from urasync_l0.pool.block import Block
from urasync_l0.pool.observer import enter_registry
from urasync_l0.pool.order import Mark, OrderDomain
from urasync_l0.pool.pool import Pool
from urasync_l0.pool.structure import RegistryFields
from urasync_l0.result import InvalidMemObjectError, UrError


class PoolRegistry(RegistryFields):
    """The pools of one context. Any thread may call. ``observer`` is None unless one records.

    ``live`` maps the address of every block in use to the block. Taking an entry out is one
    dictionary operation, so of two threads that free one address, one finds nothing.
    """

    def __init__(self, domain: OrderDomain) -> None:
        self.domain = domain
        self.observer = enter_registry(self)
        self.live = {}
        self.reclaimers: list[Callable[[], bool]] = []
        self._pools: list[Pool] = []
        self._lock = threading.Lock()

    def add(self, pool: Pool) -> None:
        """Enter a pool. Idempotent."""
        with self._lock:
            if pool not in self._pools:
                self._pools.append(pool)

    def remove(self, pool: Pool) -> None:
        """Forget a pool that has given everything back. Idempotent."""
        with self._lock:
            if pool in self._pools:
                self._pools.remove(pool)

    def pools(self) -> list[Pool]:
        """Return the pools, also closed ones that still hold memory, oldest first."""
        with self._lock:
            return list(self._pools)

    # -- blocks by address -------------------------------------------------------------------------

    def claim(self, address: int) -> Block:
        """Take the block at ``address`` out of the live table, to free it.

        Raises ``INVALID_MEM_OBJECT`` for an address that no pool gave out, one inside an
        allocation, and one that is free already.
        """
        block = self.live.pop(address, None)
        if block is None:
            raise InvalidMemObjectError(self._explain(address))
        return block

    def claim_if(self, block: Block, born: int) -> bool:
        """Take a block out of the live table in one certain use of it; tell whether it was there.

        Somebody else may have freed it, and the block or its address may serve another by now.
        Takes the lock of the block's pool, under which it would begin another use.
        """
        with block.heap.pool.lock:
            if self.live.get(block.address) is not block or block.born != born:
                return False
            return self.live.pop(block.address, None) is not None

    def restore(self, block: Block) -> None:
        """Undo `claim`."""
        self.live[block.address] = block

    def find(self, address: int) -> Block | None:
        """Return the block in use that holds ``address``, which may lie inside it."""
        block = self.live.get(address)
        if block is not None:
            return block
        for pool in self.pools():
            block = pool.find(address)
            if block is not None:
                return block
        return None

    def _explain(self, address: int) -> str:
        block = self.find(address)
        if block is None:
            return f"{address:#x} is not an allocation of this context, or was freed already"
        return (
            f"{address:#x} lies inside the allocation of {block.requested} bytes at "
            f"{block.address:#x}; only its start can be freed"
        )

    # -- synchronisation ---------------------------------------------------------------------------

    def synchronised(self, mark: Mark) -> None:
        """After a host wait on a whole queue: complete what it covers, in every pool, and give
        idle memory above the release thresholds back.

        An error of the driver while it takes memory back is raised when all pools had their turn.
        """
        self.domain.complete(mark)
        observer = self.observer
        if observer is not None:
            observer.synchronised(mark.order)
        self._in_turn(Pool.settle)

    def completed(self, mark: Mark) -> None:
        """After an event was seen complete: note it. Pools see it at their next call."""
        self.domain.complete(mark)

    # -- memory pressure ---------------------------------------------------------------------------

    def reclaim(self) -> bool:
        """Let the owners of dropped allocations free them now; tell whether any did."""
        reclaimed = [reclaimer() for reclaimer in self.reclaimers]
        return any(reclaimed)

    def pools_from(self, first: Pool) -> list[Pool]:
        """Return the pools, ``first`` before the others."""
        return [first, *(pool for pool in self.pools() if pool is not first)]

    def stop(self, timeout_ns: int) -> bool:
        """Let all pools refuse new allocations, and wait for what other threads have under way.

        Tells False when ``timeout_ns`` nanoseconds were not enough for a pool.
        """
        return all(pool.stop(timeout_ns) for pool in self.pools())

    def close(self) -> None:
        """Give all memory back, also what is in use: the context ends, and all queues are idle.

        An error of the driver is raised when all pools had their turn; a further call tries again.
        """
        self.live.clear()

        def end(pool: Pool) -> None:
            pool.abandon()
            self.remove(pool)

        self._in_turn(end)

    def _in_turn(self, action: Callable[[Pool], None]) -> None:
        """Do something to every pool; raise the driver's first error when all had their turn."""
        failure: UrError | None = None
        for pool in self.pools():
            try:
                action(pool)
            except UrError as error:
                failure = failure or error
        if failure is not None:
            raise failure
