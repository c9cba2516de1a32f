# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The v2 adapter's command lists: only in-order ones can signal counter-based events."""

from __future__ import annotations

from urasync_l0.command_list import CommandList
from urasync_l0.device import Device
from urasync_l0.native_context import NativeContext
from urasync_l0.ze import command_list as ze_list


class CommandListManager(CommandList):
    """An in-order immediate list that it makes itself."""

    def __init__(self, context: NativeContext, device: Device) -> None:
        handle = ze_list.create_immediate(
            context.handle,
            device.handle,
            ordinal=device.queue_ordinal,
            index=device.next_queue_index(),
            in_order=True,
        )
        super().__init__(context, device, handle, context.events[device])
