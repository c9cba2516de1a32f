# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enumerations of Unified Runtime, with their values; names without the common prefix."""

from enum import IntEnum, IntFlag


class UsmType(IntEnum):
    """``ur_usm_type_t``: kinds of unified shared memory."""

    UNKNOWN = 0
    HOST = 1
    DEVICE = 2
    SHARED = 3


class UsmPoolFlag(IntFlag):
    """``ur_usm_pool_flag_t``: what a pool does with every block that it hands out."""

    ZERO_INITIALIZE_BLOCK = 1 << 0
    USE_NATIVE_MEMORY_POOL_EXP = 1 << 1
    READ_ONLY_EXP = 1 << 2


NO_POOL_FLAGS = UsmPoolFlag(0)


class UsmPoolInfo(IntEnum):
    """``ur_usm_pool_info_t``: properties of a pool; sizes are in bytes."""

    REFERENCE_COUNT = 0
    CONTEXT = 1
    RELEASE_THRESHOLD_EXP = 0x2050
    MAXIMUM_SIZE_EXP = 0x2051
    RESERVED_CURRENT_EXP = 0x2052
    RESERVED_HIGH_EXP = 0x2053
    USED_CURRENT_EXP = 0x2054
    USED_HIGH_EXP = 0x2055


class UsmAllocInfo(IntEnum):
    """``ur_usm_alloc_info_t``: what is known about a pointer."""

    TYPE = 0
    BASE_PTR = 1
    SIZE = 2
    DEVICE = 3
    POOL = 4


class UsmAdviceFlag(IntFlag):
    """``ur_usm_advice_flag_t``: hints about how memory will be used."""

    DEFAULT = 1 << 0
    SET_READ_MOSTLY = 1 << 1
    CLEAR_READ_MOSTLY = 1 << 2
    SET_PREFERRED_LOCATION = 1 << 3
    CLEAR_PREFERRED_LOCATION = 1 << 4
    SET_NON_ATOMIC_MOSTLY = 1 << 5
    CLEAR_NON_ATOMIC_MOSTLY = 1 << 6
    BIAS_CACHED = 1 << 7
    BIAS_UNCACHED = 1 << 8
    SET_ACCESSED_BY_DEVICE = 1 << 9
    CLEAR_ACCESSED_BY_DEVICE = 1 << 10
    SET_ACCESSED_BY_HOST = 1 << 11
    CLEAR_ACCESSED_BY_HOST = 1 << 12
    SET_PREFERRED_LOCATION_HOST = 1 << 13
    CLEAR_PREFERRED_LOCATION_HOST = 1 << 14
    SET_NON_COHERENT_MEMORY = 1 << 15
    CLEAR_NON_COHERENT_MEMORY = 1 << 16


class MemFlag(IntFlag):
    """``ur_mem_flag_t``: how a memory object is made."""

    READ_WRITE = 1 << 0
    WRITE_ONLY = 1 << 1
    READ_ONLY = 1 << 2
    USE_HOST_POINTER = 1 << 3
    ALLOC_HOST_POINTER = 1 << 4
    ALLOC_COPY_HOST_POINTER = 1 << 5


class MemInfo(IntEnum):
    """``ur_mem_info_t``: properties of a memory object."""

    SIZE = 0
    CONTEXT = 1
    REFERENCE_COUNT = 2


class BufferCreateType(IntEnum):
    """``ur_buffer_create_type_t``: what a part of a buffer is."""

    REGION = 0


class MapFlag(IntFlag):
    """``ur_map_flag_t``: what the host does with a mapped buffer."""

    READ = 1 << 0
    WRITE = 1 << 1
    WRITE_INVALIDATE_REGION = 1 << 2


class UsmMigrationFlag(IntFlag):
    """``ur_usm_migration_flag_t``: where prefetched memory goes."""

    HOST_TO_DEVICE = 1 << 0
    DEVICE_TO_HOST = 1 << 1


class UsmDeviceMemFlag(IntFlag):
    """``ur_usm_device_mem_flag_t``: hints for device and shared allocations."""

    WRITE_COMBINED = 1 << 0
    INITIAL_PLACEMENT = 1 << 1
    DEVICE_READ_ONLY = 1 << 2


class UsmHostMemFlag(IntFlag):
    """``ur_usm_host_mem_flag_t``: hints for host allocations."""

    INITIAL_PLACEMENT = 1 << 0


class Command(IntEnum):
    """``ur_command_t``: the type of command that an event stands for."""

    KERNEL_LAUNCH = 0
    EVENTS_WAIT = 1
    EVENTS_WAIT_WITH_BARRIER = 2
    MEM_BUFFER_READ = 3
    MEM_BUFFER_WRITE = 4
    MEM_BUFFER_READ_RECT = 5
    MEM_BUFFER_WRITE_RECT = 6
    MEM_BUFFER_COPY = 7
    MEM_BUFFER_COPY_RECT = 8
    MEM_BUFFER_FILL = 9
    MEM_IMAGE_READ = 10
    MEM_IMAGE_WRITE = 11
    MEM_IMAGE_COPY = 12
    MEM_BUFFER_MAP = 14
    MEM_UNMAP = 16
    USM_FILL = 17
    USM_MEMCPY = 18
    USM_PREFETCH = 19
    USM_ADVISE = 20
    USM_FILL_2D = 21
    USM_MEMCPY_2D = 22
    DEVICE_GLOBAL_VARIABLE_WRITE = 23
    DEVICE_GLOBAL_VARIABLE_READ = 24
    READ_HOST_PIPE = 25
    WRITE_HOST_PIPE = 26
    ENQUEUE_COMMAND_BUFFER_EXP = 0x1000
    EXTERNAL_SEMAPHORE_WAIT_EXP = 0x2000
    EXTERNAL_SEMAPHORE_SIGNAL_EXP = 0x2001
    TIMESTAMP_RECORDING_EXP = 0x2002
    ENQUEUE_NATIVE_EXP = 0x2004
    ENQUEUE_USM_DEVICE_ALLOC_EXP = 0x2050
    ENQUEUE_USM_SHARED_ALLOC_EXP = 0x2051
    ENQUEUE_USM_HOST_ALLOC_EXP = 0x2052
    ENQUEUE_USM_FREE_EXP = 0x2053
    ENQUEUE_GRAPH_EXP = 0x2100
    HOST_TASK_EXP = 0x2200


class EventStatus(IntEnum):
    """``ur_event_status_t``: how far an event's command has come."""

    COMPLETE = 0
    RUNNING = 1
    SUBMITTED = 2
    QUEUED = 3
    ERROR = 4


class EventInfo(IntEnum):
    """``ur_event_info_t``: properties of an event."""

    COMMAND_QUEUE = 0
    CONTEXT = 1
    COMMAND_TYPE = 2
    COMMAND_EXECUTION_STATUS = 3
    REFERENCE_COUNT = 4


class ExecutionInfo(IntEnum):
    """``ur_execution_info_t``: the state at which an event's callback is called."""

    COMPLETE = 0
    RUNNING = 1
    SUBMITTED = 2
    QUEUED = 3


class EnqueueExtFlag(IntFlag):
    """``ur_exp_enqueue_ext_flag_t``: hints for one command."""

    LOW_POWER_EVENTS_SUPPORT = 1 << 11


class AsyncUsmAllocFlag(IntFlag):
    """``ur_exp_async_usm_alloc_flag_t``: none has a meaning yet."""

    TBD = 1 << 0


class ProfilingInfo(IntEnum):
    """``ur_profiling_info_t``: time stamps of an event, in nanoseconds."""

    COMMAND_QUEUED = 0
    COMMAND_SUBMIT = 1
    COMMAND_START = 2
    COMMAND_END = 3
    COMMAND_COMPLETE = 4


class QueueFlag(IntFlag):
    """``ur_queue_flag_t``: how a queue is made."""

    OUT_OF_ORDER_EXEC_MODE_ENABLE = 1 << 0
    PROFILING_ENABLE = 1 << 1
    ON_DEVICE = 1 << 2
    ON_DEVICE_DEFAULT = 1 << 3
    DISCARD_EVENTS = 1 << 4
    PRIORITY_LOW = 1 << 5
    PRIORITY_HIGH = 1 << 6
    SUBMISSION_BATCHED = 1 << 7
    SUBMISSION_IMMEDIATE = 1 << 8
    USE_DEFAULT_STREAM = 1 << 9
    SYNC_WITH_DEFAULT_STREAM = 1 << 10
    LOW_POWER_EVENTS_SUPPORT_EXP = 1 << 11


NO_QUEUE_FLAGS = QueueFlag(0)


class QueueInfo(IntEnum):
    """``ur_queue_info_t``: properties of a queue."""

    CONTEXT = 0
    DEVICE = 1
    DEVICE_DEFAULT = 2
    FLAGS = 3
    REFERENCE_COUNT = 4
    SIZE = 5
    EMPTY = 6


class ContextInfo(IntEnum):
    """``ur_context_info_t``: properties of a context."""

    NUM_DEVICES = 0
    DEVICES = 1
    REFERENCE_COUNT = 2
    USM_MEMCPY2D_SUPPORT = 3
    USM_FILL2D_SUPPORT = 4


class ContextFlag(IntFlag):
    """``ur_context_flag_t``: none has a meaning yet."""

    TBD = 1 << 0


class AdapterInfo(IntEnum):
    """``ur_adapter_info_t``: properties of an adapter."""

    BACKEND = 0
    REFERENCE_COUNT = 1
    VERSION = 2


class PlatformInfo(IntEnum):
    """``ur_platform_info_t``: properties of a platform."""

    NAME = 1
    VENDOR_NAME = 2
    VERSION = 3
    EXTENSIONS = 4
    PROFILE = 5
    BACKEND = 6
    ADAPTER = 7


class Backend(IntEnum):
    """``ur_backend_t``: the interface that a platform is built on."""

    UNKNOWN = 0
    LEVEL_ZERO = 1
    OPENCL = 2
    CUDA = 3
    HIP = 4
    NATIVE_CPU = 5
    OFFLOAD = 0x100


class DeviceType(IntEnum):
    """``ur_device_type_t``: kinds of device."""

    DEFAULT = 1
    ALL = 2
    GPU = 3
    CPU = 4
    FPGA = 5
    MCA = 6
    VPU = 7
    CUSTOM = 8


class DevicePartition(IntEnum):
    """``ur_device_partition_t``: ways to divide a device."""

    EQUALLY = 0x1086
    BY_COUNTS = 0x1087
    BY_AFFINITY_DOMAIN = 0x1088
    BY_CSLICE = 0x1089


class DeviceAffinityDomainFlag(IntFlag):
    """``ur_device_affinity_domain_flag_t``: what the parts of a device have in common."""

    NUMA = 1 << 0
    L4_CACHE = 1 << 1
    L3_CACHE = 1 << 2
    L2_CACHE = 1 << 3
    L1_CACHE = 1 << 4
    NEXT_PARTITIONABLE = 1 << 5


class PeerInfo(IntEnum):
    """``ur_exp_peer_info_t``: what a device may do with a peer's memory."""

    UR_PEER_ACCESS_SUPPORT = 0
    UR_PEER_ATOMICS_SUPPORT = 1


class DeviceFpCapabilityFlag(IntFlag):
    """``ur_device_fp_capability_flag_t``: what operations on floating-point numbers can do."""

    CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 0
    ROUND_TO_NEAREST = 1 << 1
    ROUND_TO_ZERO = 1 << 2
    ROUND_TO_INF = 1 << 3
    INF_NAN = 1 << 4
    DENORM = 1 << 5
    FMA = 1 << 6
    SOFT_FLOAT = 1 << 7


class DeviceLocalMemType(IntEnum):
    """``ur_device_local_mem_type_t``: where the local memory of a work group is."""

    NONE = 0
    LOCAL = 1
    GLOBAL = 2


class DeviceUsmAccessCapabilityFlag(IntFlag):
    """``ur_device_usm_access_capability_flag_t``: what a device may do with a kind of memory."""

    ACCESS = 1 << 0
    ATOMIC_ACCESS = 1 << 1
    CONCURRENT_ACCESS = 1 << 2
    ATOMIC_CONCURRENT_ACCESS = 1 << 3


class ProgramInfo(IntEnum):
    """``ur_program_info_t``: properties of a program."""

    REFERENCE_COUNT = 0
    CONTEXT = 1
    NUM_DEVICES = 2
    DEVICES = 3
    IL = 4
    NUM_KERNELS = 7
    KERNEL_NAMES = 8


class ProgramBuildInfo(IntEnum):
    """``ur_program_build_info_t``: how the build of a program went."""

    STATUS = 0
    OPTIONS = 1
    LOG = 2
    BINARY_TYPE = 3


class ProgramBuildStatus(IntEnum):
    """``ur_program_build_status_t``: how far a build has come."""

    NONE = 0
    ERROR = 1
    SUCCESS = 2


class ProgramBinaryType(IntEnum):
    """``ur_program_binary_type_t``: what a program is."""

    NONE = 0
    EXECUTABLE = 3


class KernelInfo(IntEnum):
    """``ur_kernel_info_t``: properties of a kernel."""

    FUNCTION_NAME = 0
    NUM_ARGS = 1
    REFERENCE_COUNT = 2
    CONTEXT = 3
    PROGRAM = 4


class KernelGroupInfo(IntEnum):
    """``ur_kernel_group_info_t``: properties of a kernel's groups on a device."""

    WORK_GROUP_SIZE = 1
    COMPILE_WORK_GROUP_SIZE = 2
    LOCAL_MEM_SIZE = 3
    PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 4
    PRIVATE_MEM_SIZE = 5


class KernelSubGroupInfo(IntEnum):
    """``ur_kernel_sub_group_info_t``: properties of a kernel's sub-groups on a device."""

    MAX_SUB_GROUP_SIZE = 0
    MAX_NUM_SUB_GROUPS = 1
    COMPILE_NUM_SUB_GROUPS = 2
    SUB_GROUP_SIZE_INTEL = 3


class KernelExecInfo(IntEnum):
    """``ur_kernel_exec_info_t``: what can be said of a kernel's launches."""

    USM_INDIRECT_ACCESS = 0
    USM_PTRS = 1


class KernelArgType(IntEnum):
    """``ur_exp_kernel_arg_type_t``: kinds of argument."""

    VALUE = 0
    POINTER = 1
    MEM_OBJ = 2
    LOCAL = 3
    SAMPLER = 4


class DeviceInfo(IntEnum):
    """``ur_device_info_t``: properties of a device, as far as this package answers them: those at
    least that Unified Runtime calls optional nowhere."""

    TYPE = 0
    VENDOR_ID = 1
    DEVICE_ID = 2
    MAX_COMPUTE_UNITS = 3
    MAX_WORK_ITEM_DIMENSIONS = 4
    MAX_WORK_ITEM_SIZES = 5
    MAX_WORK_GROUP_SIZE = 6
    SINGLE_FP_CONFIG = 7
    HALF_FP_CONFIG = 8
    DOUBLE_FP_CONFIG = 9
    QUEUE_PROPERTIES = 10
    PREFERRED_VECTOR_WIDTH_CHAR = 11
    PREFERRED_VECTOR_WIDTH_SHORT = 12
    PREFERRED_VECTOR_WIDTH_INT = 13
    PREFERRED_VECTOR_WIDTH_LONG = 14
    PREFERRED_VECTOR_WIDTH_FLOAT = 15
    PREFERRED_VECTOR_WIDTH_DOUBLE = 16
    PREFERRED_VECTOR_WIDTH_HALF = 17
    NATIVE_VECTOR_WIDTH_CHAR = 18
    NATIVE_VECTOR_WIDTH_SHORT = 19
    NATIVE_VECTOR_WIDTH_INT = 20
    NATIVE_VECTOR_WIDTH_LONG = 21
    NATIVE_VECTOR_WIDTH_FLOAT = 22
    NATIVE_VECTOR_WIDTH_DOUBLE = 23
    NATIVE_VECTOR_WIDTH_HALF = 24
    MAX_CLOCK_FREQUENCY = 25
    MEMORY_CLOCK_RATE = 26
    ADDRESS_BITS = 27
    MAX_MEM_ALLOC_SIZE = 28
    IMAGE_SUPPORT = 29
    MAX_READ_IMAGE_ARGS = 30
    MAX_WRITE_IMAGE_ARGS = 31
    IMAGE2D_MAX_WIDTH = 33
    IMAGE2D_MAX_HEIGHT = 34
    IMAGE3D_MAX_WIDTH = 35
    IMAGE3D_MAX_HEIGHT = 36
    IMAGE3D_MAX_DEPTH = 37
    IMAGE_MAX_BUFFER_SIZE = 38
    IMAGE_MAX_ARRAY_SIZE = 39
    MAX_SAMPLERS = 40
    MAX_PARAMETER_SIZE = 41
    MEM_BASE_ADDR_ALIGN = 42
    GLOBAL_MEM_CACHE_TYPE = 43
    GLOBAL_MEM_CACHELINE_SIZE = 44
    GLOBAL_MEM_CACHE_SIZE = 45
    GLOBAL_MEM_SIZE = 46
    GLOBAL_MEM_FREE = 47
    MAX_CONSTANT_BUFFER_SIZE = 48
    MAX_CONSTANT_ARGS = 49
    LOCAL_MEM_TYPE = 50
    LOCAL_MEM_SIZE = 51
    ERROR_CORRECTION_SUPPORT = 52
    HOST_UNIFIED_MEMORY = 53
    PROFILING_TIMER_RESOLUTION = 54
    ENDIAN_LITTLE = 55
    AVAILABLE = 56
    COMPILER_AVAILABLE = 57
    LINKER_AVAILABLE = 58
    EXECUTION_CAPABILITIES = 59
    QUEUE_ON_DEVICE_PROPERTIES = 60
    QUEUE_ON_HOST_PROPERTIES = 61
    BUILT_IN_KERNELS = 62
    PLATFORM = 63
    REFERENCE_COUNT = 64
    IL_VERSION = 65
    NAME = 66
    VENDOR = 67
    DRIVER_VERSION = 68
    PROFILE = 69
    VERSION = 70
    BACKEND_RUNTIME_VERSION = 71
    EXTENSIONS = 72
    PRINTF_BUFFER_SIZE = 73
    PREFERRED_INTEROP_USER_SYNC = 74
    PARENT_DEVICE = 75
    SUPPORTED_PARTITIONS = 76
    PARTITION_MAX_SUB_DEVICES = 77
    PARTITION_AFFINITY_DOMAIN = 78
    PARTITION_TYPE = 79
    MAX_NUM_SUB_GROUPS = 80
    SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS = 81
    SUB_GROUP_SIZES_INTEL = 82
    USM_HOST_SUPPORT = 83
    USM_DEVICE_SUPPORT = 84
    USM_SINGLE_SHARED_SUPPORT = 85
    USM_CROSS_SHARED_SUPPORT = 86
    USM_SYSTEM_SHARED_SUPPORT = 87
    UUID = 88
    PCI_ADDRESS = 89
    GPU_EU_COUNT = 90
    GPU_EU_SIMD_WIDTH = 91
    GPU_EU_SLICES = 92
    GPU_EU_COUNT_PER_SUBSLICE = 93
    GPU_SUBSLICES_PER_SLICE = 94
    GPU_HW_THREADS_PER_EU = 95
    IMAGE_SRGB = 97
    BUILD_ON_SUBDEVICE = 98
    ATOMIC_64 = 99
    ATOMIC_MEMORY_ORDER_CAPABILITIES = 100
    ATOMIC_MEMORY_SCOPE_CAPABILITIES = 101
    ATOMIC_FENCE_ORDER_CAPABILITIES = 102
    ATOMIC_FENCE_SCOPE_CAPABILITIES = 103
    MAX_COMPUTE_QUEUE_INDICES = 105
    KERNEL_SET_SPECIALIZATION_CONSTANTS = 106
    MEMORY_BUS_WIDTH = 107
    MAX_WORK_GROUPS_3D = 108
    ASYNC_BARRIER = 109
    MEM_CHANNEL_SUPPORT = 110
    HOST_PIPE_READ_WRITE_SUPPORT = 111
    IP_VERSION = 113
    VIRTUAL_MEMORY_SUPPORT = 114
    ESIMD_SUPPORT = 115
    COMPONENT_DEVICES = 116
    COMPOSITE_DEVICE = 117
    GLOBAL_VARIABLE_SUPPORT = 118
    USM_POOL_SUPPORT = 119
    NUM_COMPUTE_UNITS = 120
    PROGRAM_SET_SPECIALIZATION_CONSTANTS = 121
    USE_NATIVE_ASSERT = 122
    BFLOAT16_CONVERSIONS_NATIVE = 127
    KERNEL_LAUNCH_CAPABILITIES = 128
    PREFERRED_VECTOR_WIDTH_LONG_LONG = 131
    NATIVE_VECTOR_WIDTH_LONG_LONG = 132
    MAX_WORK_GROUPS = 133
    COMMAND_BUFFER_SUPPORT_EXP = 0x1000
    COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP = 0x1001
    COMMAND_BUFFER_EVENT_SUPPORT_EXP = 0x1002
    COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP = 0x1003
    BINDLESS_IMAGES_SUPPORT_EXP = 0x2000
    BINDLESS_IMAGES_SHARED_USM_SUPPORT_EXP = 0x2001
    BINDLESS_IMAGES_1D_USM_SUPPORT_EXP = 0x2002
    BINDLESS_IMAGES_2D_USM_SUPPORT_EXP = 0x2003
    IMAGE_PITCH_ALIGN_EXP = 0x2004
    MAX_IMAGE_LINEAR_WIDTH_EXP = 0x2005
    MAX_IMAGE_LINEAR_HEIGHT_EXP = 0x2006
    MAX_IMAGE_LINEAR_PITCH_EXP = 0x2007
    MIPMAP_SUPPORT_EXP = 0x2008
    MIPMAP_ANISOTROPY_SUPPORT_EXP = 0x2009
    MIPMAP_LEVEL_REFERENCE_SUPPORT_EXP = 0x200B
    EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP = 0x200C
    EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP = 0x200E
    CUBEMAP_SUPPORT_EXP = 0x2010
    CUBEMAP_SEAMLESS_FILTERING_SUPPORT_EXP = 0x2011
    BINDLESS_SAMPLED_IMAGE_FETCH_1D_USM_SUPPORT_EXP = 0x2012
    BINDLESS_SAMPLED_IMAGE_FETCH_1D_SUPPORT_EXP = 0x2013
    BINDLESS_SAMPLED_IMAGE_FETCH_2D_USM_SUPPORT_EXP = 0x2014
    BINDLESS_SAMPLED_IMAGE_FETCH_2D_SUPPORT_EXP = 0x2015
    BINDLESS_SAMPLED_IMAGE_FETCH_3D_SUPPORT_EXP = 0x2017
    TIMESTAMP_RECORDING_SUPPORT_EXP = 0x2018
    IMAGE_ARRAY_SUPPORT_EXP = 0x2019
    BINDLESS_UNIQUE_ADDRESSING_PER_DIM_SUPPORT_EXP = 0x201A
    BINDLESS_SAMPLE_1D_USM_SUPPORT_EXP = 0x201B
    BINDLESS_SAMPLE_2D_USM_SUPPORT_EXP = 0x201C
    BINDLESS_IMAGES_GATHER_SUPPORT_EXP = 0x201D
    ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP = 0x2020
    LOW_POWER_EVENTS_SUPPORT_EXP = 0x2021
    TWO_D_BLOCK_ARRAY_CAPABILITIES_EXP = 0x2022
    IPC_MEMORY_SUPPORT_EXP = 0x2023
    IPC_PHYSICAL_MEMORY_SUPPORT_EXP = 0x2024
    REUSABLE_EVENTS_SUPPORT_EXP = 0x2025
    IPC_EVENT_SUPPORT_EXP = 0x2026
    ASYNC_USM_ALLOCATIONS_SUPPORT_EXP = 0x2050
    CLOCK_SUB_GROUP_SUPPORT_EXP = 0x2060
    CLOCK_WORK_GROUP_SUPPORT_EXP = 0x2061
    CLOCK_DEVICE_SUPPORT_EXP = 0x2062
    IS_INTEGRATED_GPU = 0x2070
    GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP = 0x2080
    USM_HOST_ALLOC_REGISTER_SUPPORT_EXP = 0x2090
    PER_EVENT_PROFILING_SUPPORT_EXP = 0x20A0
    USM_P2P_SUPPORT_EXP = 0x4000
    MULTI_DEVICE_COMPILE_SUPPORT_EXP = 0x6000
    DEVICE_WAIT_SUPPORT_EXP = 0x6002
    DYNAMIC_LINK_SUPPORT_EXP = 0x6003
    USM_CONTEXT_MEMCPY_SUPPORT_EXP = 0x7000
    MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP = 0x8000
    ENQUEUE_HOST_TASK_SUPPORT_EXP = 0x9000


class StructureType(IntEnum):
    """``ur_structure_type_t``: tags of the descriptors that this package reads."""

    CONTEXT_PROPERTIES = 0
    BUFFER_PROPERTIES = 2
    BUFFER_REGION = 3
    PROGRAM_PROPERTIES = 6
    USM_DESC = 7
    USM_HOST_DESC = 8
    USM_DEVICE_DESC = 9
    USM_POOL_DESC = 10
    USM_POOL_LIMITS_DESC = 11
    QUEUE_PROPERTIES = 14
    QUEUE_INDEX_PROPERTIES = 15
    CONTEXT_NATIVE_PROPERTIES = 16
    KERNEL_NATIVE_PROPERTIES = 17
    QUEUE_NATIVE_PROPERTIES = 18
    MEM_NATIVE_PROPERTIES = 19
    EVENT_NATIVE_PROPERTIES = 20
    PLATFORM_NATIVE_PROPERTIES = 21
    DEVICE_NATIVE_PROPERTIES = 22
    PROGRAM_NATIVE_PROPERTIES = 23
    QUEUE_NATIVE_DESC = 25
    KERNEL_EXEC_INFO_PROPERTIES = 31
    DEVICE_PARTITION_PROPERTIES = 26
    USM_ALLOC_LOCATION_DESC = 35
    USM_POOL_BUFFER_DESC = 36
    KERNEL_LAUNCH_EXT_PROPERTIES = 38
    EXP_ASYNC_USM_ALLOC_PROPERTIES = 0x2050
    EXP_ENQUEUE_EXT_PROPERTIES = 0x4000


class DeviceMemCacheType(IntEnum):
    """``ur_device_mem_cache_type_t``."""

    NONE = 0
    READ_ONLY_CACHE = 1
    READ_WRITE_CACHE = 2


class DeviceExecCapabilityFlag(IntFlag):
    """``ur_device_exec_capability_flags_t``."""

    KERNEL = 1 << 0
    NATIVE_KERNEL = 1 << 1


class MemoryOrderCapabilityFlag(IntFlag):
    """``ur_memory_order_capability_flags_t``."""

    RELAXED = 1 << 0
    ACQUIRE = 1 << 1
    RELEASE = 1 << 2
    ACQ_REL = 1 << 3
    SEQ_CST = 1 << 4


class MemoryScopeCapabilityFlag(IntFlag):
    """``ur_memory_scope_capability_flags_t``."""

    WORK_ITEM = 1 << 0
    SUB_GROUP = 1 << 1
    WORK_GROUP = 1 << 2
    DEVICE = 1 << 3
    SYSTEM = 1 << 4
