# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What most tests of the bindings need."""

from dataclasses import dataclass

from urasync_l0.ze.handles import CommandListHandle, ContextHandle, DeviceHandle, DriverHandle


@dataclass(frozen=True)
class Bench:
    """A context on the first device, with one in-order list."""

    driver: DriverHandle
    device: DeviceHandle
    context: ContextHandle
    list: CommandListHandle
