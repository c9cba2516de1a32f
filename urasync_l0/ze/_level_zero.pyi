# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Types of the compiled bindings; a test compares the names with the declarations.

from typing import Any

from urasync_l0.ze.handles import (
    CommandListHandle,
    ContextHandle,
    DeviceHandle,
    DriverHandle,
    EventHandle,
    EventPoolHandle,
    KernelHandle,
    ModuleHandle,
    PhysicalMemHandle,
)

class CData:
    """Any C value that cffi hands out."""

    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __getitem__(self, index: int | slice) -> Any: ...
    def __len__(self) -> int: ...

class _FFI:
    NULL: CData
    def new(self, cdecl: str, init: Any = ...) -> Any: ...
    def cast(self, cdecl: str, source: Any) -> Any: ...
    def addressof(self, library: Any, name: str) -> CData: ...
    def string(self, cdata: object, maxlen: int = ...) -> Any: ...
    def sizeof(self, cdecl: str | CData) -> int: ...
    def offsetof(self, cdecl: str, field: str) -> int: ...
    def typeof(self, cdecl: str | CData) -> Any: ...
    def buffer(self, cdata: CData, size: int = ...) -> Any: ...
    def from_buffer(
        self, cdecl: Any, python_buffer: Any = ..., require_writable: bool = ...
    ) -> Any: ...
    def gc(self, cdata: CData, destructor: Any, size: int = ...) -> CData: ...

class _Lib:
    URASYNC_ENTRY_COUNT: int
    ZE_RESULT_SUCCESS: int
    ZE_RESULT_NOT_READY: int
    ZE_RESULT_ERROR_DEVICE_LOST: int
    ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY: int
    ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: int
    ZE_RESULT_ERROR_MODULE_BUILD_FAILURE: int
    ZE_RESULT_ERROR_MODULE_LINK_FAILURE: int
    ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET: int
    ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE: int
    ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX: int
    ZE_RESULT_EXP_ERROR_VERTEX_IS_NOT_DEVICE: int
    ZE_RESULT_EXP_ERROR_REMOTE_DEVICE: int
    ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE: int
    ZE_RESULT_EXP_RTAS_BUILD_RETRY: int
    ZE_RESULT_EXP_RTAS_BUILD_DEFERRED: int
    ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS: int
    ZE_RESULT_ERROR_NOT_AVAILABLE: int
    ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE: int
    ZE_RESULT_WARNING_DROPPED_DATA: int
    ZE_RESULT_ERROR_UNINITIALIZED: int
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION: int
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE: int
    ZE_RESULT_ERROR_INVALID_ARGUMENT: int
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE: int
    ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE: int
    ZE_RESULT_ERROR_INVALID_NULL_POINTER: int
    ZE_RESULT_ERROR_INVALID_SIZE: int
    ZE_RESULT_ERROR_UNSUPPORTED_SIZE: int
    ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT: int
    ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT: int
    ZE_RESULT_ERROR_INVALID_ENUMERATION: int
    ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION: int
    ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT: int
    ZE_RESULT_ERROR_INVALID_NATIVE_BINARY: int
    ZE_RESULT_ERROR_INVALID_GLOBAL_NAME: int
    ZE_RESULT_ERROR_INVALID_KERNEL_NAME: int
    ZE_RESULT_ERROR_INVALID_FUNCTION_NAME: int
    ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION: int
    ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION: int
    ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX: int
    ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE: int
    ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE: int
    ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED: int
    ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE: int
    ZE_RESULT_ERROR_OVERLAPPING_REGIONS: int
    ZE_RESULT_WARNING_ACTION_REQUIRED: int
    ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE: int
    ZE_RESULT_EXT_RTAS_BUILD_RETRY: int
    ZE_RESULT_EXT_RTAS_BUILD_DEFERRED: int
    ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE: int
    ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED: int
    ZE_RESULT_ERROR_ADDRESS_NOT_FOUND: int
    ZE_RESULT_QUERY_TRUE: int
    ZE_RESULT_QUERY_FALSE: int
    ZE_RESULT_ERROR_INVALID_GRAPH: int
    ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED: int
    ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED: int
    ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT: int
    ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING: int
    ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS: int
    ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT: int
    ZE_RESULT_ERROR_UNKNOWN: int
    ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2: int
    ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES: int
    ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT: int
    ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES: int
    ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES: int
    ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES: int
    ZE_STRUCTURE_TYPE_CONTEXT_DESC: int
    ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC: int
    ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC: int
    ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES: int
    ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC: int
    ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC: int
    ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC: int
    ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC: int
    ZE_STRUCTURE_TYPE_EVENT_POOL_DESC: int
    ZE_STRUCTURE_TYPE_EVENT_DESC: int
    ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC: int
    ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC: int
    ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC: int
    ZE_INIT_FLAG_GPU_ONLY: int
    ZE_INIT_DRIVER_TYPE_FLAG_GPU: int
    ZE_DEVICE_TYPE_GPU: int
    ZE_DEVICE_TYPE_CPU: int
    ZE_DEVICE_TYPE_FPGA: int
    ZE_DEVICE_TYPE_MCA: int
    ZE_DEVICE_TYPE_VPU: int
    ZE_DEVICE_PROPERTY_FLAG_INTEGRATED: int
    ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE: int
    ZE_DEVICE_PROPERTY_FLAG_ECC: int
    ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING: int
    ZE_DEVICE_MODULE_FLAG_FP16: int
    ZE_DEVICE_MODULE_FLAG_FP64: int
    ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS: int
    ZE_DEVICE_FP_FLAG_DENORM: int
    ZE_DEVICE_FP_FLAG_INF_NAN: int
    ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST: int
    ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO: int
    ZE_DEVICE_FP_FLAG_ROUND_TO_INF: int
    ZE_DEVICE_FP_FLAG_FMA: int
    ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT: int
    ZE_DEVICE_FP_FLAG_SOFT_FLOAT: int
    ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS: int
    ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS: int
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE: int
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY: int
    ZE_MEMORY_ACCESS_CAP_FLAG_RW: int
    ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC: int
    ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT: int
    ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC: int
    ZE_MEMORY_TYPE_UNKNOWN: int
    ZE_MEMORY_TYPE_HOST: int
    ZE_MEMORY_TYPE_DEVICE: int
    ZE_MEMORY_TYPE_SHARED: int
    ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE: int
    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE: int
    ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE: int
    ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY: int
    ZE_COMMAND_QUEUE_FLAG_IN_ORDER: int
    ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT: int
    ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS: int
    ZE_COMMAND_QUEUE_PRIORITY_NORMAL: int
    ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH: int
    ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW: int
    ZE_MEMORY_ADVICE_SET_READ_MOSTLY: int
    ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY: int
    ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION: int
    ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION: int
    ZE_MEMORY_ADVICE_SET_NON_ATOMIC_MOSTLY: int
    ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY: int
    ZE_MEMORY_ADVICE_BIAS_CACHED: int
    ZE_MEMORY_ADVICE_BIAS_UNCACHED: int
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE: int
    ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP: int
    ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE: int
    ZE_EVENT_SCOPE_FLAG_DEVICE: int
    ZE_EVENT_SCOPE_FLAG_HOST: int
    ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE: int
    ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE: int
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP: int
    def zeInit(self, flags: int, /) -> int: ...
    def zeInitDrivers(self, pCount: CData, phDrivers: CData, desc: CData, /) -> int: ...
    def zeDriverGet(self, pCount: CData, phDrivers: CData, /) -> int: ...
    def zeDriverGetApiVersion(self, hDriver: DriverHandle, version: CData, /) -> int: ...
    def zeDriverGetProperties(self, hDriver: DriverHandle, pDriverProperties: CData, /) -> int: ...
    def zeDriverGetExtensionProperties(
        self, hDriver: DriverHandle, pCount: CData, pExtensionProperties: CData, /
    ) -> int: ...
    def zeDriverGetExtensionFunctionAddress(
        self, hDriver: DriverHandle, name: bytes | CData, ppFunctionAddress: CData, /
    ) -> int: ...
    def zeDeviceGet(self, hDriver: DriverHandle, pCount: CData, phDevices: CData, /) -> int: ...
    def zeDeviceGetSubDevices(
        self, hDevice: DeviceHandle, pCount: CData, phSubdevices: CData, /
    ) -> int: ...
    def zeDeviceGetProperties(self, hDevice: DeviceHandle, pDeviceProperties: CData, /) -> int: ...
    def zeDeviceGetMemoryProperties(
        self, hDevice: DeviceHandle, pCount: CData, pMemProperties: CData, /
    ) -> int: ...
    def zeDeviceGetMemoryAccessProperties(
        self, hDevice: DeviceHandle, pMemAccessProperties: CData, /
    ) -> int: ...
    def zeDeviceGetCommandQueueGroupProperties(
        self, hDevice: DeviceHandle, pCount: CData, pCommandQueueGroupProperties: CData, /
    ) -> int: ...
    def zeDeviceGetComputeProperties(
        self, hDevice: DeviceHandle, pComputeProperties: CData, /
    ) -> int: ...
    def zeDeviceCanAccessPeer(
        self, hDevice: DeviceHandle, hPeerDevice: DeviceHandle, value: CData, /
    ) -> int: ...
    def zeDeviceGetGlobalTimestamps(
        self, hDevice: DeviceHandle, hostTimestamp: CData, deviceTimestamp: CData, /
    ) -> int: ...
    def zeDeviceGetModuleProperties(
        self, hDevice: DeviceHandle, pModuleProperties: CData, /
    ) -> int: ...
    def zeDeviceGetCacheProperties(
        self, hDevice: DeviceHandle, pCount: CData, pCacheProperties: CData, /
    ) -> int: ...
    def zeDeviceGetP2PProperties(
        self, hDevice: DeviceHandle, hPeerDevice: DeviceHandle, pP2PProperties: CData, /
    ) -> int: ...
    def zeDevicePciGetPropertiesExt(
        self, hDevice: DeviceHandle, pPciProperties: CData, /
    ) -> int: ...
    def zeDeviceGetRootDevice(self, hDevice: DeviceHandle, phRootDevice: CData, /) -> int: ...
    def zeContextCreateEx(
        self,
        hDriver: DriverHandle,
        desc: CData,
        numDevices: int,
        phDevices: CData,
        phContext: CData,
        /,
    ) -> int: ...
    def zeContextDestroy(self, hContext: ContextHandle, /) -> int: ...
    def zeContextGetStatus(self, hContext: ContextHandle, /) -> int: ...
    def zeContextMakeMemoryResident(
        self, hContext: ContextHandle, hDevice: DeviceHandle, ptr: CData, size: int, /
    ) -> int: ...
    def zeContextEvictMemory(
        self, hContext: ContextHandle, hDevice: DeviceHandle, ptr: CData, size: int, /
    ) -> int: ...
    def zeMemAllocDevice(
        self,
        hContext: ContextHandle,
        device_desc: CData,
        size: int,
        alignment: int,
        hDevice: DeviceHandle,
        pptr: CData,
        /,
    ) -> int: ...
    def zeMemAllocShared(
        self,
        hContext: ContextHandle,
        device_desc: CData,
        host_desc: CData,
        size: int,
        alignment: int,
        hDevice: DeviceHandle,
        pptr: CData,
        /,
    ) -> int: ...
    ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED: int
    ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE: int
    ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST: int
    ZE_MODULE_FORMAT_IL_SPIRV: int
    ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES: int
    ZE_STRUCTURE_TYPE_KERNEL_DESC: int
    ZE_STRUCTURE_TYPE_MODULE_DESC: int
    ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC: int
    def zeModuleCreate(
        self,
        hContext: ContextHandle,
        hDevice: DeviceHandle,
        desc: CData,
        phModule: CData,
        phBuildLog: CData,
        /,
    ) -> int: ...
    def zeModuleDestroy(self, hModule: ModuleHandle, /) -> int: ...
    def zeModuleBuildLogGetString(
        self, hModuleBuildLog: object, pSize: CData, pBuildLog: CData, /
    ) -> int: ...
    def zeModuleBuildLogDestroy(self, hModuleBuildLog: object, /) -> int: ...
    def zeModuleGetKernelNames(
        self, hModule: ModuleHandle, pCount: CData, pNames: object, /
    ) -> int: ...
    def zeKernelCreate(self, hModule: ModuleHandle, desc: CData, phKernel: CData, /) -> int: ...
    def zeKernelDestroy(self, hKernel: KernelHandle, /) -> int: ...
    def zeKernelGetProperties(self, hKernel: KernelHandle, pKernelProperties: CData, /) -> int: ...
    def zeKernelGetName(self, hKernel: KernelHandle, pSize: CData, pName: CData, /) -> int: ...
    def zeKernelSetIndirectAccess(self, hKernel: KernelHandle, flags: int, /) -> int: ...
    def zeKernelSetArgumentValue(
        self, hKernel: KernelHandle, argIndex: int, argSize: int, pArgValue: CData, /
    ) -> int: ...
    def zeKernelSetGroupSize(
        self, hKernel: KernelHandle, groupSizeX: int, groupSizeY: int, groupSizeZ: int, /
    ) -> int: ...
    def zeKernelSuggestGroupSize(
        self,
        hKernel: KernelHandle,
        globalSizeX: int,
        globalSizeY: int,
        globalSizeZ: int,
        groupSizeX: CData,
        groupSizeY: CData,
        groupSizeZ: CData,
        /,
    ) -> int: ...
    def zeCommandListAppendLaunchKernel(
        self,
        hCommandList: CommandListHandle,
        hKernel: KernelHandle,
        pLaunchFuncArgs: CData,
        hSignalEvent: EventHandle | CData,
        numWaitEvents: int,
        phWaitEvents: CData,
        /,
    ) -> int: ...
    def zeMemAllocHost(
        self, hContext: ContextHandle, host_desc: CData, size: int, alignment: int, pptr: CData, /
    ) -> int: ...
    def zeMemFree(self, hContext: ContextHandle, ptr: CData, /) -> int: ...
    def zeMemFreeExt(self, hContext: ContextHandle, pMemFreeDesc: CData, ptr: CData, /) -> int: ...
    def zeMemGetAllocProperties(
        self,
        hContext: ContextHandle,
        ptr: bytes | CData,
        pMemAllocProperties: CData,
        phDevice: CData,
        /,
    ) -> int: ...
    def zeMemGetAddressRange(
        self, hContext: ContextHandle, ptr: bytes | CData, pBase: CData, pSize: CData, /
    ) -> int: ...
    def zeVirtualMemQueryPageSize(
        self, hContext: ContextHandle, hDevice: DeviceHandle, size: int, pagesize: CData, /
    ) -> int: ...
    def zeVirtualMemReserve(
        self, hContext: ContextHandle, pStart: bytes | CData, size: int, pptr: CData, /
    ) -> int: ...
    def zeVirtualMemFree(
        self, hContext: ContextHandle, ptr: bytes | CData, size: int, /
    ) -> int: ...
    def zeVirtualMemMap(
        self,
        hContext: ContextHandle,
        ptr: bytes | CData,
        size: int,
        hPhysicalMemory: PhysicalMemHandle,
        offset: int,
        access: int,
        /,
    ) -> int: ...
    def zeVirtualMemUnmap(
        self, hContext: ContextHandle, ptr: bytes | CData, size: int, /
    ) -> int: ...
    def zePhysicalMemCreate(
        self,
        hContext: ContextHandle,
        hDevice: DeviceHandle,
        desc: CData,
        phPhysicalMemory: CData,
        /,
    ) -> int: ...
    def zePhysicalMemDestroy(
        self, hContext: ContextHandle, hPhysicalMemory: PhysicalMemHandle, /
    ) -> int: ...
    def zeCommandListCreateImmediate(
        self,
        hContext: ContextHandle,
        hDevice: DeviceHandle,
        altdesc: CData,
        phCommandList: CData,
        /,
    ) -> int: ...
    def zeCommandListDestroy(self, hCommandList: CommandListHandle, /) -> int: ...
    def zeCommandListIsImmediate(
        self, hCommandList: CommandListHandle, pIsImmediate: CData, /
    ) -> int: ...
    def zeCommandListGetDeviceHandle(
        self, hCommandList: CommandListHandle, phDevice: CData, /
    ) -> int: ...
    def zeCommandListHostSynchronize(
        self, hCommandList: CommandListHandle, timeout: int, /
    ) -> int: ...
    def zeCommandListAppendSignalEvent(
        self, hCommandList: CommandListHandle, hEvent: EventHandle, /
    ) -> int: ...
    def zeCommandListAppendWaitOnEvents(
        self, hCommandList: CommandListHandle, numEvents: int, phEvents: CData, /
    ) -> int: ...
    def zeCommandListAppendEventReset(
        self, hCommandList: CommandListHandle, hEvent: EventHandle, /
    ) -> int: ...
    def zeCommandListAppendBarrier(
        self,
        hCommandList: CommandListHandle,
        hSignalEvent: EventHandle,
        numWaitEvents: int,
        phWaitEvents: CData,
        /,
    ) -> int: ...
    def zeCommandListAppendMemoryCopy(
        self,
        hCommandList: CommandListHandle,
        dstptr: CData,
        srcptr: bytes | CData,
        size: int,
        hSignalEvent: EventHandle,
        numWaitEvents: int,
        phWaitEvents: CData,
        /,
    ) -> int: ...
    def zeCommandListAppendMemoryFill(
        self,
        hCommandList: CommandListHandle,
        ptr: CData,
        pattern: bytes | CData,
        pattern_size: int,
        size: int,
        hSignalEvent: EventHandle,
        numWaitEvents: int,
        phWaitEvents: CData,
        /,
    ) -> int: ...
    def zeCommandListAppendMemoryCopyRegion(
        self,
        hCommandList: CommandListHandle,
        dstptr: CData,
        dstRegion: CData,
        dstPitch: int,
        dstSlicePitch: int,
        srcptr: CData,
        srcRegion: CData,
        srcPitch: int,
        srcSlicePitch: int,
        hSignalEvent: EventHandle,
        numWaitEvents: int,
        phWaitEvents: CData,
        /,
    ) -> int: ...
    def zeCommandListAppendMemoryPrefetch(
        self,
        hCommandList: CommandListHandle,
        ptr: CData,
        size: int,
        /,
    ) -> int: ...
    def zeCommandListAppendMemAdvise(
        self,
        hCommandList: CommandListHandle,
        hDevice: DeviceHandle,
        ptr: bytes | CData,
        size: int,
        advice: int,
        /,
    ) -> int: ...
    def zeCommandListAppendWriteGlobalTimestamp(
        self,
        hCommandList: CommandListHandle,
        dstptr: CData,
        hSignalEvent: EventHandle,
        numWaitEvents: int,
        phWaitEvents: CData,
        /,
    ) -> int: ...
    def zeEventPoolCreate(
        self,
        hContext: ContextHandle,
        desc: CData,
        numDevices: int,
        phDevices: CData,
        phEventPool: CData,
        /,
    ) -> int: ...
    def zeEventPoolDestroy(self, hEventPool: EventPoolHandle, /) -> int: ...
    def zeEventCreate(self, hEventPool: EventPoolHandle, desc: CData, phEvent: CData, /) -> int: ...
    def zeEventCounterBasedCreate(
        self, hContext: ContextHandle, hDevice: DeviceHandle, desc: CData, phEvent: CData, /
    ) -> int: ...
    def zeEventDestroy(self, hEvent: EventHandle, /) -> int: ...
    def zeEventHostSignal(self, hEvent: EventHandle, /) -> int: ...
    def zeEventHostReset(self, hEvent: EventHandle, /) -> int: ...
    def zeEventQueryStatus(self, hEvent: EventHandle, /) -> int: ...
    def zeEventHostSynchronize(self, hEvent: EventHandle, timeout: int, /) -> int: ...
    def zeEventQueryKernelTimestamp(self, hEvent: EventHandle, dstptr: CData, /) -> int: ...
    def zelLoaderGetVersions(self, num_elems: CData, versions: CData, /) -> int: ...
    def urasync_open_loader(self, name: bytes | CData, /) -> CData: ...
    def urasync_in_forked_child(self, /) -> bool: ...
    def urasync_entry_name(self, entry: int, /) -> CData: ...
    def urasync_entry_is_optional(self, entry: int, /) -> bool: ...
    def urasync_entry_is_present(self, entry: int, /) -> bool: ...
    def urasync_entry_calls(self, entry: int, /) -> int: ...
    def urasync_total_calls(self, /) -> int: ...

ffi: _FFI
lib: _Lib
