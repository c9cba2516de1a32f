# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The v2 adapter: in-order immediate lists with counter-based events."""

from urasync_l0.v2.queue import InOrderQueue, V2Adapter

__all__ = ["InOrderQueue", "V2Adapter"]
