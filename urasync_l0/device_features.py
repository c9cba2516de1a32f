# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What devices cannot do through this package, whatever the driver could do: images, command
buffers and more need entry points of their own. What Level Zero does not tell is not promised."""

from __future__ import annotations

from enum import IntEnum

from urasync_l0.device import Device
from urasync_l0.enums import DeviceInfo
from urasync_l0.info import BOOL, FLAGS, SIZE, UINT32, Property

_FEATURES = (
    DeviceInfo.USE_NATIVE_ASSERT,
    DeviceInfo.KERNEL_SET_SPECIALIZATION_CONSTANTS,
    DeviceInfo.IMAGE_SUPPORT,
    DeviceInfo.MEM_CHANNEL_SUPPORT,
    DeviceInfo.HOST_PIPE_READ_WRITE_SUPPORT,
    DeviceInfo.VIRTUAL_MEMORY_SUPPORT,  # this package maps memory itself, but has no such entries
    DeviceInfo.COMMAND_BUFFER_SUPPORT_EXP,
    DeviceInfo.COMMAND_BUFFER_EVENT_SUPPORT_EXP,
    DeviceInfo.COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP,
    DeviceInfo.BINDLESS_IMAGES_SUPPORT_EXP,
    DeviceInfo.EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP,
    DeviceInfo.EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP,
    DeviceInfo.ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP,
    DeviceInfo.LOW_POWER_EVENTS_SUPPORT_EXP,
    DeviceInfo.IPC_MEMORY_SUPPORT_EXP,
    DeviceInfo.IPC_PHYSICAL_MEMORY_SUPPORT_EXP,
    DeviceInfo.REUSABLE_EVENTS_SUPPORT_EXP,
    DeviceInfo.IPC_EVENT_SUPPORT_EXP,
    DeviceInfo.GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP,
    DeviceInfo.USM_HOST_ALLOC_REGISTER_SUPPORT_EXP,
    DeviceInfo.PER_EVENT_PROFILING_SUPPORT_EXP,
    DeviceInfo.USM_CONTEXT_MEMCPY_SUPPORT_EXP,
    DeviceInfo.MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP,
    DeviceInfo.ENQUEUE_HOST_TASK_SUPPORT_EXP,
    DeviceInfo.BINDLESS_IMAGES_SHARED_USM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_IMAGES_1D_USM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_IMAGES_2D_USM_SUPPORT_EXP,
    DeviceInfo.MIPMAP_SUPPORT_EXP,
    DeviceInfo.MIPMAP_ANISOTROPY_SUPPORT_EXP,
    DeviceInfo.MIPMAP_LEVEL_REFERENCE_SUPPORT_EXP,
    DeviceInfo.CUBEMAP_SUPPORT_EXP,
    DeviceInfo.CUBEMAP_SEAMLESS_FILTERING_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLED_IMAGE_FETCH_1D_USM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLED_IMAGE_FETCH_1D_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLED_IMAGE_FETCH_2D_USM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLED_IMAGE_FETCH_2D_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLED_IMAGE_FETCH_3D_SUPPORT_EXP,
    DeviceInfo.IMAGE_ARRAY_SUPPORT_EXP,
    DeviceInfo.BINDLESS_UNIQUE_ADDRESSING_PER_DIM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLE_1D_USM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_SAMPLE_2D_USM_SUPPORT_EXP,
    DeviceInfo.BINDLESS_IMAGES_GATHER_SUPPORT_EXP,
    DeviceInfo.CLOCK_SUB_GROUP_SUPPORT_EXP,
    DeviceInfo.CLOCK_WORK_GROUP_SUPPORT_EXP,
    DeviceInfo.CLOCK_DEVICE_SUPPORT_EXP,
    DeviceInfo.DEVICE_WAIT_SUPPORT_EXP,
    DeviceInfo.DYNAMIC_LINK_SUPPORT_EXP,
    DeviceInfo.IMAGE_SRGB,
    DeviceInfo.ASYNC_BARRIER,
    DeviceInfo.ESIMD_SUPPORT,
    DeviceInfo.GLOBAL_VARIABLE_SUPPORT,
)

_CAPABILITIES = (
    DeviceInfo.COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP,
    DeviceInfo.TWO_D_BLOCK_ARRAY_CAPABILITIES_EXP,
    DeviceInfo.KERNEL_LAUNCH_CAPABILITIES,
)

_NUMBERS = (
    DeviceInfo.MAX_READ_IMAGE_ARGS,
    DeviceInfo.MAX_WRITE_IMAGE_ARGS,
    DeviceInfo.MAX_SAMPLERS,
    DeviceInfo.IMAGE_PITCH_ALIGN_EXP,
)

_SIZES = (
    DeviceInfo.IMAGE2D_MAX_WIDTH,
    DeviceInfo.IMAGE2D_MAX_HEIGHT,
    DeviceInfo.IMAGE3D_MAX_WIDTH,
    DeviceInfo.IMAGE3D_MAX_HEIGHT,
    DeviceInfo.IMAGE3D_MAX_DEPTH,
    DeviceInfo.IMAGE_MAX_BUFFER_SIZE,
    DeviceInfo.IMAGE_MAX_ARRAY_SIZE,
    DeviceInfo.MAX_IMAGE_LINEAR_WIDTH_EXP,
    DeviceInfo.MAX_IMAGE_LINEAR_HEIGHT_EXP,
    DeviceInfo.MAX_IMAGE_LINEAR_PITCH_EXP,
)

NOT_OFFERED: dict[IntEnum, Property[Device]] = {
    **{name: Property(BOOL, lambda _: False) for name in _FEATURES},
    **{name: Property(FLAGS, lambda _: 0) for name in _CAPABILITIES},
    **{name: Property(UINT32, lambda _: 0) for name in _NUMBERS},
    **{name: Property(SIZE, lambda _: 0) for name in _SIZES},
}
"""Answers that a feature is not there, and that its sizes are 0."""
