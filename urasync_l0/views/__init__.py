# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools under the names that users of other allocators know; each is a thin view of a pool.

They do what the names say there, as far as that has a meaning here; what has none is left out.
Sizes are bytes. Any thread may use them.
"""

from urasync_l0.views.cupy import CupyMemoryPool
from urasync_l0.views.rmm import (
    RmmMemoryResource,
    RmmStatistics,
    get_per_device_resource,
    set_per_device_resource,
)
from urasync_l0.views.torch import TorchMemory

__all__ = [
    "CupyMemoryPool",
    "RmmMemoryResource",
    "RmmStatistics",
    "TorchMemory",
    "get_per_device_resource",
    "set_per_device_resource",
]
