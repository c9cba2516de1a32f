# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `Adapter` protocol: every entry point that both adapters offer, and how to find an adapter.

The rules that hold for all entries:

* Arguments stand in Unified Runtime's order. Handles are the package's own objects, a null handle
  is None. Pointers to memory are addresses, 0 is null. An out-pointer is an `Out`, None is null.
* An entry returns nothing. One that fails raises `UrError`, whose ``code`` a C caller gets, leaves
  every out-pointer as it was and changes nothing else.
* Checks come before effects: first null handles, then null pointers, then enumerators and flags,
  then all that depends on the state of things: dead handles, sizes, the wait list.
* Any thread may call. Sizes are bytes, times nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from urasync_l0.result import InvalidValueError

if TYPE_CHECKING:
    from urasync_l0.buffer import Buffer
    from urasync_l0.context import Context
    from urasync_l0.descriptors import (
        AsyncUsmAllocProperties,
        BufferProperties,
        BufferRegion,
        ContextProperties,
        DevicePartitionProperties,
        EnqueueExtProperties,
        KernelArg,
        KernelLaunchExtProperties,
        NativeHandleProperties,
        ProgramProperties,
        QueueNativeDesc,
        QueueProperties,
        SpecializationConstant,
        UsmDesc,
        UsmPoolDesc,
    )
    from urasync_l0.device import Device
    from urasync_l0.event_source import EventSource
    from urasync_l0.native_context import NativeContext
    from urasync_l0.native_list import NativeList
    from urasync_l0.out import Out
    from urasync_l0.platform import Platform
    from urasync_l0.program import Kernel, Program
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.usm_pool import Pool

EventList: TypeAlias = "Sequence[Event | None] | None"
"""A wait list; None is the null pointer, which goes with a count of 0."""

HostMemory: TypeAlias = int | bytes | bytearray | memoryview
"""An address, or a Python buffer, which is kept until the copy from or to it is done."""


RectOffset: TypeAlias = tuple[int, int, int]
"""The bytes into a row, the rows and the slices at which a region begins."""

RectRegion: TypeAlias = tuple[int, int, int]
"""The bytes of each row, the rows and the slices of a region."""


class Adapter(Protocol):
    """One way to run queues and events over Level Zero."""

    @property
    def name(self) -> str:
        """The name that users choose it by."""

    def create_event_source(
        self, platform: Platform, context: NativeContext, device: Device, timestamps: bool
    ) -> EventSource:
        """Where the events of a device's queues come from, those with or those without time stamps.

        Raises
        ------
        UnsupportedFeatureError
            If the loader or the driver lacks what the adapter needs.
        """

    def create_queue(self, context: Context, native: NativeList) -> Queue:
        """A queue over a native list on a device of the context."""

    # -- adapters ---------------------------------------------------------------------------------

    def urAdapterGet(
        self,
        num_entries: int,
        adapters: Out[tuple[Adapter, ...]] | None,
        num_adapters: Out[int] | None,
    ) -> None:
        """This adapter, as a list of one. Adds a reference when it is given."""

    def urAdapterRetain(self, adapter: Adapter | None) -> None:
        """Add a reference."""

    def urAdapterRelease(self, adapter: Adapter | None) -> None:
        """Give a reference back; the adapter itself stays."""

    def urAdapterGetInfo(
        self,
        adapter: Adapter | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """An `AdapterInfo`."""

    def urAdapterGetLastError(
        self, adapter: Adapter | None, message: Out[str] | None, error: Out[int] | None
    ) -> None:
        """The message and the result of this thread's last failed call through a C entry."""

    # -- platforms --------------------------------------------------------------------------------

    def urPlatformGet(
        self,
        adapter: Adapter | None,
        num_entries: int,
        platforms: Out[tuple[Platform, ...]] | None,
        num_platforms: Out[int] | None,
    ) -> None:
        """The drivers; the choice of driver must be made before."""

    def urPlatformGetInfo(
        self,
        platform: Platform | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `PlatformInfo`."""

    def urPlatformGetApiVersion(self, platform: Platform | None, version: Out[int] | None) -> None:
        """The version of Unified Runtime: major number in the upper 16 bits, minor below."""

    def urPlatformGetNativeHandle(
        self, platform: Platform | None, native_platform: Out[int] | None
    ) -> None:
        """The ``ze_driver_handle_t``."""

    def urPlatformCreateWithNativeHandle(
        self,
        native_platform: int,
        adapter: Adapter | None,
        properties: NativeHandleProperties | None,
        platform: Out[Platform] | None,
    ) -> None:
        """The platform of a ``ze_driver_handle_t``."""

    def urPlatformGetBackendOption(
        self,
        platform: Platform | None,
        frontend_option: str | None,
        platform_option: Out[str] | None,
    ) -> None:
        """The driver's name for a compiler option."""

    # -- devices ----------------------------------------------------------------------------------

    def urDeviceGet(
        self,
        platform: Platform | None,
        device_type: int,
        num_entries: int,
        devices: Out[tuple[Device, ...]] | None,
        num_devices: Out[int] | None,
    ) -> None:
        """The root devices of a `DeviceType`. Adds a reference to each that is given."""

    def urDeviceGetInfo(
        self,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `DeviceInfo`."""

    def urDeviceRetain(self, device: Device | None) -> None:
        """Add a reference."""

    def urDeviceRelease(self, device: Device | None) -> None:
        """Give a reference back; the device itself stays."""

    def urDevicePartition(
        self,
        device: Device | None,
        properties: DevicePartitionProperties | None,
        num_devices: int,
        sub_devices: Out[tuple[Device, ...]] | None,
        num_devices_ret: Out[int] | None,
    ) -> None:
        """The sub-devices that a device is divided into."""

    def urDeviceSelectBinary(
        self,
        device: Device | None,
        binaries: Sequence[str] | None,
        num_binaries: int,
        selected_binary: Out[int] | None,
    ) -> None:
        """Which of several programs suits the device, by the names of their targets: SPIR-V."""

    def urDeviceGetNativeHandle(
        self, device: Device | None, native_device: Out[int] | None
    ) -> None:
        """The ``ze_device_handle_t``."""

    def urDeviceCreateWithNativeHandle(
        self,
        native_device: int,
        adapter: Adapter | None,
        properties: NativeHandleProperties | None,
        device: Out[Device] | None,
    ) -> None:
        """The device of a ``ze_device_handle_t``, which may be a sub-device."""

    def urDeviceGetGlobalTimestamps(
        self,
        device: Device | None,
        device_timestamp: Out[int] | None,
        host_timestamp: Out[int] | None,
    ) -> None:
        """The device's and the host's time at one moment, in nanoseconds."""

    def urUsmP2PEnablePeerAccessExp(
        self, command_device: Device | None, peer_device: Device | None
    ) -> None:
        """Let commands of one device use the memory of another, what exists and what comes."""

    def urUsmP2PDisablePeerAccessExp(
        self, command_device: Device | None, peer_device: Device | None
    ) -> None:
        """Take that back."""

    def urUsmP2PPeerAccessGetInfoExp(
        self,
        command_device: Device | None,
        peer_device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `PeerInfo`."""

    # -- contexts ---------------------------------------------------------------------------------

    def urContextCreate(
        self,
        device_count: int,
        devices: Sequence[Device | None] | None,
        properties: ContextProperties | None,
        context: Out[Context] | None,
    ) -> None:
        """A context on devices of one platform."""

    def urContextRetain(self, context: Context | None) -> None:
        """Add a reference."""

    def urContextRelease(self, context: Context | None) -> None:
        """Give a reference back. After the last one the handle is dead, and the context is closed
        as soon as no queue, pool, event or allocation of it is left."""

    def urContextGetInfo(
        self,
        context: Context | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ContextInfo`."""

    def urContextGetNativeHandle(
        self, context: Context | None, native_context: Out[int] | None
    ) -> None:
        """The ``ze_context_handle_t``."""

    def urContextCreateWithNativeHandle(
        self,
        native_context: int,
        adapter: Adapter | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        properties: NativeHandleProperties | None,
        context: Out[Context] | None,
    ) -> None:
        """A context over a ``ze_context_handle_t``; without devices, on all of the platform.

        One that contexts of ours own is destroyed with the last of them, whether owned or not. What
        is no such handle cannot be told from one.
        """

    def urContextSetExtendedDeleter(
        self, context: Context | None, deleter: Callable[[Any], object] | None, user_data: Any
    ) -> None:
        """Have a function called, with the data, when the context's last reference is released.

        What it raises goes to ``threading.excepthook``, and the release succeeds.
        """

    # -- queues -----------------------------------------------------------------------------------

    def urQueueCreate(
        self,
        context: Context | None,
        device: Device | None,
        properties: QueueProperties | None,
        queue: Out[Queue] | None,
    ) -> None:
        """An in-order queue; one that may run out of order runs in order as well."""

    def urQueueRetain(self, queue: Queue | None) -> None:
        """Add a reference."""

    def urQueueRelease(self, queue: Queue | None) -> None:
        """Give a reference back. After the last one the queue is completed and closed."""

    def urQueueGetInfo(
        self,
        queue: Queue | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `QueueInfo`."""

    def urQueueFinish(self, queue: Queue | None) -> None:
        """Block until everything enqueued so far is complete."""

    def urQueueFlush(self, queue: Queue | None) -> None:
        """See that everything enqueued so far reaches the device without further calls."""

    def urQueueIsGraphCaptureEnabledExp(
        self, queue: Queue | None, result: Out[bool] | None
    ) -> None:
        """Whether commands are recorded in a graph: never, for there are no graphs."""

    def urQueueGetNativeHandle(
        self, queue: Queue | None, desc: QueueNativeDesc | None, native_queue: Out[int] | None
    ) -> None:
        """The ``ze_command_list_handle_t``."""

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

    # -- events -----------------------------------------------------------------------------------

    def urEventGetInfo(
        self,
        event: Event | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """An `EventInfo`."""

    def urEventGetProfilingInfo(
        self,
        event: Event | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ProfilingInfo`, in nanoseconds."""

    def urEventWait(self, num_events: int, event_wait_list: EventList) -> None:
        """Block until all are complete, of whichever contexts."""

    def urEventRetain(self, event: Event | None) -> None:
        """Add a reference."""

    def urEventRelease(self, event: Event | None) -> None:
        """Give a reference back. After the last one the event is released; calls no driver."""

    def urEventGetNativeHandle(self, event: Event | None, native_event: Out[int] | None) -> None:
        """The ``ze_event_handle_t``."""

    def urEventCreateWithNativeHandle(
        self,
        native_event: int,
        context: Context | None,
        properties: NativeHandleProperties | None,
        event: Out[Event] | None,
    ) -> None:
        """An event over a ``ze_event_handle_t``; over one of ours, a second event for its command.

        What is no such handle cannot be told from one.
        """

    def urEventSetCallback(
        self,
        event: Event | None,
        exec_status: int,
        notify: Callable[[Event, int, Any], object] | None,
        user_data: Any,
    ) -> None:
        """Have a function called, with the event, the state and the data, at an `ExecutionInfo`."""

    # -- buffers ----------------------------------------------------------------------------------

    def urMemBufferCreate(
        self,
        context: Context | None,
        mem_flags: int,
        size: int,
        properties: BufferProperties | None,
        buffer: Out[Buffer] | None,
    ) -> None:
        """A buffer of so many bytes, by `MemFlag`.

        Its memory is the device's, or host memory if the flags say so or the context has several
        devices. If it is to use memory of the host, what is mapped is found there.
        """

    def urMemRetain(self, mem: Buffer | None) -> None:
        """Add a reference."""

    def urMemRelease(self, mem: Buffer | None) -> None:
        """Give a reference back. After the last one the memory goes when the queues have done
        what they were given so far."""

    def urMemGetInfo(
        self,
        mem: Buffer | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `MemInfo`."""

    def urMemBufferPartition(
        self,
        buffer: Buffer | None,
        mem_flags: int,
        create_type: int,
        region: BufferRegion | None,
        part: Out[Buffer] | None,
    ) -> None:
        """A buffer over a part of another one, whose memory it keeps."""

    def urMemGetNativeHandle(
        self, mem: Buffer | None, device: Device | None, native_mem: Out[int] | None
    ) -> None:
        """The address of the memory, which is the same for all devices."""

    def urMemBufferCreateWithNativeHandle(
        self,
        native_mem: int,
        context: Context | None,
        properties: NativeHandleProperties | None,
        buffer: Out[Buffer] | None,
    ) -> None:
        """A buffer over memory at an address, up to the end of its allocation."""

    # -- programs and kernels ---------------------------------------------------------------------

    def urProgramCreateWithIL(
        self,
        context: Context | None,
        il: bytes | None,
        length: int,
        properties: ProgramProperties | None,
        program: Out[Program] | None,
    ) -> None:
        """A program in SPIR-V, which must be built before it has kernels."""

    def urProgramCreateWithNativeHandle(
        self,
        native_program: int,
        context: Context | None,
        properties: NativeHandleProperties | None,
        program: Out[Program] | None,
    ) -> None:
        """A program over a module of Level Zero, which counts as built for all devices."""

    def urProgramSetSpecializationConstants(
        self,
        program: Program | None,
        count: int,
        constants: Sequence[SpecializationConstant] | None,
    ) -> None:
        """Values for specialisation constants of a program in SPIR-V, for later builds and
        compilations."""

    def urProgramBuild(
        self, context: Context | None, program: Program | None, options: str | None
    ) -> None:
        """Compile a program for all devices of its context."""

    def urProgramBuildExp(
        self,
        program: Program | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        options: str | None,
    ) -> None:
        """Compile a program for devices, which must be among those of its context; in fact, for all
        of them."""

    def urProgramCompile(
        self, context: Context | None, program: Program | None, options: str | None
    ) -> None:
        """Note the options of a program that is to be linked: compiling comes with that."""

    def urProgramCompileExp(
        self,
        program: Program | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        options: str | None,
    ) -> None:
        """As `urProgramCompile`; the devices must be among those of the program's context."""

    def urProgramLink(
        self,
        context: Context | None,
        count: int,
        programs: Sequence[Program | None] | None,
        options: str | None,
        program: Out[Program] | None,
    ) -> None:
        """One program of several that were compiled, built for all devices of the context."""

    def urProgramLinkExp(
        self,
        context: Context | None,
        num_devices: int,
        devices: Sequence[Device | None] | None,
        flags: int,
        count: int,
        programs: Sequence[Program | None] | None,
        options: str | None,
        program: Out[Program] | None,
    ) -> None:
        """As `urProgramLink`; the devices must be among those of the context."""

    def urProgramGetNativeHandle(
        self, program: Program | None, native_program: Out[int] | None
    ) -> None:
        """The module of a program that is built, for its context's first device."""

    def urProgramRetain(self, program: Program | None) -> None:
        """Add a reference."""

    def urProgramRelease(self, program: Program | None) -> None:
        """Give a reference back. After the last one the program is closed; its kernels stay."""

    def urProgramGetInfo(
        self,
        program: Program | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ProgramInfo`."""

    def urProgramGetBuildInfo(
        self,
        program: Program | None,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ProgramBuildInfo`."""

    def urKernelCreate(
        self, program: Program | None, kernel_name: str | None, kernel: Out[Kernel] | None
    ) -> None:
        """A kernel of a program that is built."""

    def urKernelCreateWithNativeHandle(
        self,
        native_kernel: int,
        context: Context | None,
        program: Program | None,
        properties: NativeHandleProperties | None,
        kernel: Out[Kernel] | None,
    ) -> None:
        """A kernel over one of Level Zero, which belongs to the program's module."""

    def urKernelGetNativeHandle(
        self, kernel: Kernel | None, native_kernel: Out[int] | None
    ) -> None:
        """The kernel of Level Zero, for the context's first device."""

    def urKernelRetain(self, kernel: Kernel | None) -> None:
        """Add a reference."""

    def urKernelRelease(self, kernel: Kernel | None) -> None:
        """Give a reference back. After the last one the kernel is closed; launches go on."""

    def urKernelGetInfo(
        self,
        kernel: Kernel | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `KernelInfo`."""

    def urKernelGetGroupInfo(
        self,
        kernel: Kernel | None,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `KernelGroupInfo`."""

    def urKernelGetSubGroupInfo(
        self,
        kernel: Kernel | None,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `KernelSubGroupInfo`."""

    def urKernelSetExecInfo(
        self,
        kernel: Kernel | None,
        prop_name: int,
        prop_size: int,
        properties: Any,
        prop_value: int | None,
    ) -> None:
        """Say what later launches do: a `KernelExecInfo`. Pointers in a list are not looked at: the
        kernel may then reach all memory."""

    def urEnqueueKernelLaunchWithArgsExp(
        self,
        queue: Queue | None,
        kernel: Kernel | None,
        work_dim: int,
        global_work_offset: Sequence[int] | None,
        global_work_size: Sequence[int] | None,
        local_work_size: Sequence[int] | None,
        num_args: int,
        args: Sequence[KernelArg] | None,
        launch_prop_list: KernelLaunchExtProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Run a kernel with all its arguments."""

    # -- commands ---------------------------------------------------------------------------------

    def urEnqueueEventsWait(
        self,
        queue: Queue | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Wait for events, or for everything enqueued so far."""

    def urEnqueueEventsWaitWithBarrier(
        self,
        queue: Queue | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """The same, and everything enqueued later comes after it."""

    def urEnqueueEventsWaitWithBarrierExt(
        self,
        queue: Queue | None,
        properties: EnqueueExtProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """The same with hints for the command."""

    def urEnqueueTimestampRecordingExp(
        self,
        queue: Queue | None,
        blocking: bool,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """An event with the device's time at its place in the queue."""

    def urEnqueueUSMFill(
        self,
        queue: Queue | None,
        mem: int,
        pattern_size: int,
        pattern: bytes | None,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Repeat a pattern over memory."""

    def urEnqueueUSMMemcpy(
        self,
        queue: Queue | None,
        blocking: bool,
        dst: HostMemory,
        src: HostMemory,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes; a blocking copy is complete on return."""

    def urEnqueueUSMFill2D(
        self,
        queue: Queue | None,
        mem: int,
        pitch: int,
        pattern_size: int,
        pattern: bytes | None,
        width: int,
        height: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Repeat a pattern over rows, from row to row."""

    def urEnqueueUSMMemcpy2D(
        self,
        queue: Queue | None,
        blocking: bool,
        dst: HostMemory,
        dst_pitch: int,
        src: HostMemory,
        src_pitch: int,
        width: int,
        height: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy the bytes of rows; a blocking copy is complete on return."""

    def urEnqueueUSMPrefetch(
        self,
        queue: Queue | None,
        mem: int,
        size: int,
        prefetch_flags: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Hint that shared memory will be used, by a `UsmMigrationFlag`."""

    def urEnqueueUSMAdvise(
        self,
        queue: Queue | None,
        mem: int,
        size: int,
        advice: int,
        event: Out[Event] | None,
    ) -> None:
        """Hint how shared memory will be used, by `UsmAdviceFlag`."""

    def urEnqueueMemBufferRead(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        offset: int,
        size: int,
        dst: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes of a buffer to the host."""

    def urEnqueueMemBufferWrite(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        offset: int,
        size: int,
        src: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes of the host to a buffer."""

    def urEnqueueMemBufferReadRect(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        buffer_origin: RectOffset,
        host_origin: RectOffset,
        region: RectRegion,
        buffer_row_pitch: int,
        buffer_slice_pitch: int,
        host_row_pitch: int,
        host_slice_pitch: int,
        dst: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy a region of a buffer to the host. A pitch of 0 leaves no gaps."""

    def urEnqueueMemBufferWriteRect(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        buffer_origin: RectOffset,
        host_origin: RectOffset,
        region: RectRegion,
        buffer_row_pitch: int,
        buffer_slice_pitch: int,
        host_row_pitch: int,
        host_slice_pitch: int,
        src: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy a region of the host to a buffer; as `urEnqueueMemBufferReadRect`."""

    def urEnqueueMemBufferCopy(
        self,
        queue: Queue | None,
        buffer_src: Buffer | None,
        buffer_dst: Buffer | None,
        src_offset: int,
        dst_offset: int,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes between buffers, or places of one that do not overlap."""

    def urEnqueueMemBufferCopyRect(
        self,
        queue: Queue | None,
        buffer_src: Buffer | None,
        buffer_dst: Buffer | None,
        src_origin: RectOffset,
        dst_origin: RectOffset,
        region: RectRegion,
        src_row_pitch: int,
        src_slice_pitch: int,
        dst_row_pitch: int,
        dst_slice_pitch: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy a region between buffers; as `urEnqueueMemBufferReadRect`."""

    def urEnqueueMemBufferFill(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        pattern: bytes | None,
        pattern_size: int,
        offset: int,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Repeat a pattern over a part of a buffer."""

    def urEnqueueMemBufferMap(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        map_flags: int,
        offset: int,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
        ret_map: Out[int] | None,
    ) -> None:
        """Give the host a part of a buffer, by `MapFlag`, at an address that it may use when the
        command is complete."""

    def urEnqueueMemUnmap(
        self,
        queue: Queue | None,
        mem: Buffer | None,
        mapped_ptr: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Take a mapped part back, with what the host wrote to it."""

    def urEnqueueUSMDeviceAllocExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        size: int,
        properties: AsyncUsmAllocProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        mem: Out[int] | None,
        event: Out[Event] | None,
    ) -> None:
        """Device memory for the work that is ordered after this command."""

    def urEnqueueUSMSharedAllocExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        size: int,
        properties: AsyncUsmAllocProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        mem: Out[int] | None,
        event: Out[Event] | None,
    ) -> None:
        """Memory that host and device share; as `urEnqueueUSMDeviceAllocExp`."""

    def urEnqueueUSMHostAllocExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        size: int,
        properties: AsyncUsmAllocProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        mem: Out[int] | None,
        event: Out[Event] | None,
    ) -> None:
        """Host memory; without a pool from the context's host pool."""

    def urEnqueueUSMFreeExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        mem: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Give memory back in the queue's order. A pool that does not own it, or that is destroyed,
        is an error: memory that outlives its pool is freed without naming it."""

    # -- memory without a queue -------------------------------------------------------------------

    def urUSMHostAlloc(
        self,
        context: Context | None,
        usm_desc: UsmDesc | None,
        pool: Pool | None,
        size: int,
        mem: Out[int] | None,
    ) -> None:
        """Host memory, usable at once."""

    def urUSMDeviceAlloc(
        self,
        context: Context | None,
        device: Device | None,
        usm_desc: UsmDesc | None,
        pool: Pool | None,
        size: int,
        mem: Out[int] | None,
    ) -> None:
        """Device memory, usable at once; without a pool from the device's current pool."""

    def urUSMSharedAlloc(
        self,
        context: Context | None,
        device: Device | None,
        usm_desc: UsmDesc | None,
        pool: Pool | None,
        size: int,
        mem: Out[int] | None,
    ) -> None:
        """Memory that host and device share; as `urUSMDeviceAlloc`."""

    def urUSMFree(self, context: Context | None, mem: int) -> None:
        """Give memory back when what the context's queues were given so far is complete."""

    def urUSMGetMemAllocInfo(
        self,
        context: Context | None,
        mem: int,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `UsmAllocInfo`, from our own records; an unknown pointer has the type UNKNOWN."""

    # -- pools ------------------------------------------------------------------------------------

    def urUSMPoolCreate(
        self, context: Context | None, pool_desc: UsmPoolDesc | None, pool: Out[Pool] | None
    ) -> None:
        """A pool for all kinds of memory on all devices of the context."""

    def urUSMPoolRetain(self, pool: Pool | None) -> None:
        """Add a reference."""

    def urUSMPoolRelease(self, pool: Pool | None) -> None:
        """Give a reference back. After the last one the pool is destroyed. A default pool keeps its
        last one."""

    def urUSMPoolGetInfo(
        self,
        pool: Pool | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `UsmPoolInfo`."""

    def urUSMPoolCreateExp(
        self,
        context: Context | None,
        device: Device | None,
        pool_desc: UsmPoolDesc | None,
        pool: Out[Pool] | None,
    ) -> None:
        """A pool for device and shared memory of one device."""

    def urUSMPoolDestroyExp(
        self, context: Context | None, device: Device | None, pool: Pool | None
    ) -> None:
        """Refuse new allocations; the memory goes when the last one is freed and complete. Not for
        default pools."""

    def urUSMPoolGetDefaultDevicePoolExp(
        self, context: Context | None, device: Device | None, pool: Out[Pool] | None
    ) -> None:
        """The pool that the device always has."""

    def urUSMPoolGetDevicePoolExp(
        self, context: Context | None, device: Device | None, pool: Out[Pool] | None
    ) -> None:
        """The pool that serves allocations on the device which name none."""

    def urUSMPoolSetDevicePoolExp(
        self, context: Context | None, device: Device | None, pool: Pool | None
    ) -> None:
        """Let a pool serve them, which must serve device and shared memory of the device."""

    def urUSMPoolGetInfoExp(
        self,
        pool: Pool | None,
        prop_name: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `UsmPoolInfo`; the caller's memory is taken to be large enough."""

    def urUSMPoolSetInfoExp(
        self, pool: Pool | None, prop_name: int, prop_value: int | None, prop_size: int
    ) -> None:
        """Set the threshold or the maximum size, in bytes; with 0, a high mark to what is now."""

    def urUSMPoolTrimToExp(
        self,
        context: Context | None,
        device: Device | None,
        pool: Pool | None,
        min_bytes_to_keep: int,
    ) -> None:
        """Give idle memory back to the driver while more is reserved; never waits."""


_adapters: dict[str, Adapter] = {}


def register(adapter: Adapter) -> Adapter:
    """Make an adapter known by its name."""
    _adapters[adapter.name] = adapter
    return adapter


def adapter_names() -> tuple[str, ...]:
    """The names of the adapters."""
    return tuple(_adapters)


def find_adapter(name: str) -> Adapter:
    """The adapter of a name.

    Raises
    ------
    InvalidValueError
        If there is none of that name.
    """
    try:
        return _adapters[name]
    except KeyError:
        known = " or ".join(repr(known) for known in _adapters)
        raise InvalidValueError(f"There is no adapter {name!r}; it is {known}.") from None
