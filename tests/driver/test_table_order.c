// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header's own structures put each entry where the driver writes it.

#include <level_zero/ze_ddi.h>

#include "bench.h"
#include "tests.h"

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_17
#define IF_OLD(text) text
#define IF_NEW(text)
#else
#define IF_OLD(text) text
#define IF_NEW(text) text
#endif
#define SINCE_0(text) IF_OLD(text)
#define SINCE_1(text) IF_OLD(text)
#define SINCE_2(text) IF_OLD(text)
#define SINCE_3(text) IF_OLD(text)
#define SINCE_4(text) IF_OLD(text)
#define SINCE_5(text) IF_NEW(text)
#define SINCE_6(text) IF_NEW(text)
#define SINCE_7(text) IF_NEW(text)
#define SINCE_9(text) IF_NEW(text)
#define SINCE_10(text) IF_NEW(text)
#define SINCE_11(text) IF_NEW(text)
#define SINCE_12(text) IF_NEW(text)
#define SINCE_13(text) IF_NEW(text)
#define SINCE_14(text) IF_NEW(text)
#define SINCE_15(text) IF_NEW(text)
#define SINCE_16(text) IF_NEW(text)
#define SINCE_17(text) IF_NEW(text)

void tables_have_the_order_of_the_header(void) {
    size_t checked = 0;
#define URASYNC_TABLE(table, structure)                                                            \
    {                                                                                              \
        size_t place = 0;
#define ROW(table, since, field, name)                                                             \
    SINCE_##since(CHECK_EQUAL(offsetof(TABLE_##table, field), place * sizeof(void (*)(void)));     \
                  ++checked;)++ place;
#define URASYNC_IMPLEMENTED(table, since, field, name) ROW(table, since, field, name)
#define URASYNC_NOT_IMPLEMENTED(table, since, field, name) ROW(table, since, field, name)
#define URASYNC_TABLE_END(table) }
#define TABLE_Global ze_global_dditable_t
#define TABLE_RTASBuilder ze_rtas_builder_dditable_t
#define TABLE_RTASBuilderExp ze_rtas_builder_exp_dditable_t
#define TABLE_RTASParallelOperation ze_rtas_parallel_operation_dditable_t
#define TABLE_RTASParallelOperationExp ze_rtas_parallel_operation_exp_dditable_t
#define TABLE_Driver ze_driver_dditable_t
#define TABLE_DriverExp ze_driver_exp_dditable_t
#define TABLE_Device ze_device_dditable_t
#define TABLE_DeviceExp ze_device_exp_dditable_t
#define TABLE_Context ze_context_dditable_t
#define TABLE_CommandQueue ze_command_queue_dditable_t
#define TABLE_CommandList ze_command_list_dditable_t
#define TABLE_CommandListExp ze_command_list_exp_dditable_t
#define TABLE_Event ze_event_dditable_t
#define TABLE_EventExp ze_event_exp_dditable_t
#define TABLE_EventPool ze_event_pool_dditable_t
#define TABLE_Fence ze_fence_dditable_t
#define TABLE_Image ze_image_dditable_t
#define TABLE_ImageExp ze_image_exp_dditable_t
#define TABLE_Kernel ze_kernel_dditable_t
#define TABLE_KernelExp ze_kernel_exp_dditable_t
#define TABLE_Mem ze_mem_dditable_t
#define TABLE_MemExp ze_mem_exp_dditable_t
#define TABLE_Module ze_module_dditable_t
#define TABLE_ModuleBuildLog ze_module_build_log_dditable_t
#define TABLE_PhysicalMem ze_physical_mem_dditable_t
#define TABLE_Sampler ze_sampler_dditable_t
#define TABLE_VirtualMem ze_virtual_mem_dditable_t
#define TABLE_FabricEdgeExp ze_fabric_edge_exp_dditable_t
#define TABLE_FabricVertexExp ze_fabric_vertex_exp_dditable_t
#define TABLE_ExecutableGraph ze_executable_graph_dditable_t
#define TABLE_Graph ze_graph_dditable_t
#include "entries.h"
    CHECK(checked >= 120);
}
