# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0 import reference_count
from urasync_l0.descriptors import (
    QueueIndexProperties,
    QueueNativeDesc,
    QueueProperties,
    find_in_chain,
)
from urasync_l0.entry_points._handles import (
    close_unused,
    handle,
    live_context,
    live_queue,
    pointer,
)
from urasync_l0.enums import NO_QUEUE_FLAGS, QueueInfo
from urasync_l0.info import BOOL, FLAGS, HANDLE, UINT32, InfoTable, Property
from urasync_l0.native_list import checked_flags
from urasync_l0.result import UnsupportedFeatureError
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.descriptors import NativeHandleProperties
    from urasync_l0.device import Device
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue

# DEVICE_DEFAULT and SIZE are of queues on the device, which Level Zero does not have.
_INFO: InfoTable[Queue] = InfoTable(
    {
        QueueInfo.CONTEXT: Property(HANDLE, lambda queue: queue.context),
        QueueInfo.DEVICE: Property(HANDLE, lambda queue: queue.device),
        QueueInfo.FLAGS: Property(FLAGS, lambda queue: int(queue.flags)),
        QueueInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        QueueInfo.EMPTY: Property(BOOL, lambda queue: queue.is_empty()),
    },
    live=live_queue,
)


class QueueEntryPoints:
    """``urQueue…``."""

    def urQueueCreate(
        self,
        context: Context | None,
        device: Device | None,
        properties: QueueProperties | None,
        queue: Out[Queue] | None,
    ) -> None:
        """An in-order queue; one that may run out of order runs in order as well."""
        context = handle(context, "context")
        device = handle(device, "device")
        queue = pointer(queue, "queue")
        flags = NO_QUEUE_FLAGS if properties is None else checked_flags(properties.flags)
        index = find_in_chain(properties, QueueIndexProperties)
        live_context(context).member(device)
        queue.value = context.create_queue(
            device, flags=flags, index=None if index is None else index.compute_index
        )

    def urQueueRetain(self, queue: Queue | None) -> None:
        """Add a reference."""
        reference_count.retain(live_queue(handle(queue, "queue")))

    def urQueueRelease(self, queue: Queue | None) -> None:
        """Give a reference back. After the last one the queue is completed and closed."""
        released = live_queue(handle(queue, "queue"))
        reference_count.release(released, released.close)
        close_unused(released.context)

    def urQueueGetInfo(
        self,
        queue: Queue | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `QueueInfo`."""
        _INFO.answer(handle(queue, "queue"), prop_name, prop_size, prop_value, prop_size_ret)

    def urQueueFinish(self, queue: Queue | None) -> None:
        """Block until everything enqueued so far is complete."""
        live_queue(handle(queue, "queue")).finish()

    def urQueueFlush(self, queue: Queue | None) -> None:
        """See that everything enqueued so far reaches the device without further calls."""
        # Immediate lists have handed every command on already.
        live_queue(handle(queue, "queue"))

    def urQueueIsGraphCaptureEnabledExp(
        self, queue: Queue | None, result: Out[bool] | None
    ) -> None:
        """Whether commands are recorded in a graph: never, for there are no graphs."""
        live_queue(handle(queue, "queue"))
        pointer(result, "result").value = False

    def urQueueGetNativeHandle(
        self, queue: Queue | None, desc: QueueNativeDesc | None, native_queue: Out[int] | None
    ) -> None:
        """The ``ze_command_list_handle_t``."""
        queue = handle(queue, "queue")
        native_queue = pointer(native_queue, "native_queue")
        native_queue.value = handle_value(live_queue(queue).handle)

    def urQueueCreateWithNativeHandle(
        self,
        native_queue: int,
        context: Context | None,
        device: Device | None,
        properties: NativeHandleProperties | None,
        queue: Out[Queue] | None,
    ) -> None:
        """A queue over an in-order immediate ``ze_command_list_handle_t``, with the flags of a
        `QueueProperties` in the chain.

        One that queues of ours own is destroyed with the last of them, whether owned or not. What
        is no such handle cannot be told from one.
        """
        handle(native_queue or None, "native queue")
        context = handle(context, "context")
        queue = pointer(queue, "queue")
        wanted = find_in_chain(properties, QueueProperties)
        flags = NO_QUEUE_FLAGS if wanted is None else checked_flags(wanted.flags)
        live_context(context)
        if device is not None:
            context.member(device)
        desc = find_in_chain(properties, QueueNativeDesc)
        if desc is not None and not desc.native_data:
            raise UnsupportedFeatureError(
                f"The native queue {native_queue:#x} is a command queue; only immediate command "
                "lists can be used."
            )
        queue.value = context.create_queue_with_native_handle(
            native_queue,
            device,
            flags=flags,
            is_owned=properties is not None and properties.is_native_handle_owned,
        )
