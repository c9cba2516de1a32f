/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The entry points that the libraries offer; the rest of Unified Runtime answers that it is
 * unsupported. From the names and types here, the build makes the C functions, and entry_glue.py
 * the Python ones; names of parameters are those of the entries in Python.
 */
ur_result_t urAdapterGet(uint32_t num_entries, ur_adapter_handle_t *adapters,
                         uint32_t *num_adapters);
ur_result_t urAdapterRetain(ur_adapter_handle_t adapter);
ur_result_t urAdapterRelease(ur_adapter_handle_t adapter);
ur_result_t urAdapterGetInfo(ur_adapter_handle_t adapter, ur_adapter_info_t prop_name,
                             size_t prop_size, void *prop_value, size_t *prop_size_ret);
ur_result_t urAdapterGetLastError(ur_adapter_handle_t adapter, const char **message,
                                  int32_t *error);
ur_result_t urPlatformGet(ur_adapter_handle_t adapter, uint32_t num_entries,
                          ur_platform_handle_t *platforms, uint32_t *num_platforms);
ur_result_t urPlatformGetInfo(ur_platform_handle_t platform, ur_platform_info_t prop_name,
                              size_t prop_size, void *prop_value, size_t *prop_size_ret);
ur_result_t urPlatformGetApiVersion(ur_platform_handle_t platform, ur_api_version_t *version);
ur_result_t urPlatformGetNativeHandle(ur_platform_handle_t platform,
                                      ur_native_handle_t *native_platform);
ur_result_t urPlatformCreateWithNativeHandle(ur_native_handle_t native_platform,
                                             ur_adapter_handle_t adapter,
                                             const ur_platform_native_properties_t *properties,
                                             ur_platform_handle_t *platform);
ur_result_t urPlatformGetBackendOption(ur_platform_handle_t platform, const char *frontend_option,
                                       const char **platform_option);
ur_result_t urDeviceGet(ur_platform_handle_t platform, ur_device_type_t device_type,
                        uint32_t num_entries, ur_device_handle_t *devices, uint32_t *num_devices);
ur_result_t urDeviceGetInfo(ur_device_handle_t device, ur_device_info_t prop_name, size_t prop_size,
                            void *prop_value, size_t *prop_size_ret);
ur_result_t urDeviceRetain(ur_device_handle_t device);
ur_result_t urDeviceRelease(ur_device_handle_t device);
ur_result_t urDevicePartition(ur_device_handle_t device,
                              const ur_device_partition_properties_t *properties,
                              uint32_t num_devices, ur_device_handle_t *sub_devices,
                              uint32_t *num_devices_ret);
ur_result_t urDeviceSelectBinary(ur_device_handle_t device, const ur_device_binary_t *binaries,
                                 uint32_t num_binaries, uint32_t *selected_binary);
ur_result_t urDeviceGetNativeHandle(ur_device_handle_t device, ur_native_handle_t *native_device);
ur_result_t urDeviceCreateWithNativeHandle(ur_native_handle_t native_device,
                                           ur_adapter_handle_t adapter,
                                           const ur_device_native_properties_t *properties,
                                           ur_device_handle_t *device);
ur_result_t urDeviceGetGlobalTimestamps(ur_device_handle_t device, uint64_t *device_timestamp,
                                        uint64_t *host_timestamp);
ur_result_t urUsmP2PEnablePeerAccessExp(ur_device_handle_t command_device,
                                        ur_device_handle_t peer_device);
ur_result_t urUsmP2PDisablePeerAccessExp(ur_device_handle_t command_device,
                                         ur_device_handle_t peer_device);
ur_result_t urUsmP2PPeerAccessGetInfoExp(ur_device_handle_t command_device,
                                         ur_device_handle_t peer_device,
                                         ur_exp_peer_info_t prop_name, size_t prop_size,
                                         void *prop_value, size_t *prop_size_ret);
ur_result_t urContextCreate(uint32_t device_count, const ur_device_handle_t *devices,
                            const ur_context_properties_t *properties,
                            ur_context_handle_t *context);
ur_result_t urContextRetain(ur_context_handle_t context);
ur_result_t urContextRelease(ur_context_handle_t context);
ur_result_t urContextGetInfo(ur_context_handle_t context, ur_context_info_t prop_name,
                             size_t prop_size, void *prop_value, size_t *prop_size_ret);
ur_result_t urContextGetNativeHandle(ur_context_handle_t context,
                                     ur_native_handle_t *native_context);
ur_result_t urContextCreateWithNativeHandle(ur_native_handle_t native_context,
                                            ur_adapter_handle_t adapter, uint32_t num_devices,
                                            const ur_device_handle_t *devices,
                                            const ur_context_native_properties_t *properties,
                                            ur_context_handle_t *context);
ur_result_t urContextSetExtendedDeleter(ur_context_handle_t context,
                                        ur_context_extended_deleter_t deleter, void *user_data);
ur_result_t urQueueCreate(ur_context_handle_t context, ur_device_handle_t device,
                          const ur_queue_properties_t *properties, ur_queue_handle_t *queue);
ur_result_t urQueueRetain(ur_queue_handle_t queue);
ur_result_t urQueueRelease(ur_queue_handle_t queue);
ur_result_t urQueueGetInfo(ur_queue_handle_t queue, ur_queue_info_t prop_name, size_t prop_size,
                           void *prop_value, size_t *prop_size_ret);
ur_result_t urQueueFinish(ur_queue_handle_t queue);
ur_result_t urQueueFlush(ur_queue_handle_t queue);
ur_result_t urQueueIsGraphCaptureEnabledExp(ur_queue_handle_t queue, bool *result);
ur_result_t urQueueGetNativeHandle(ur_queue_handle_t queue, ur_queue_native_desc_t *desc,
                                   ur_native_handle_t *native_queue);
ur_result_t urQueueCreateWithNativeHandle(ur_native_handle_t native_queue,
                                          ur_context_handle_t context, ur_device_handle_t device,
                                          const ur_queue_native_properties_t *properties,
                                          ur_queue_handle_t *queue);
ur_result_t urEventGetInfo(ur_event_handle_t event, ur_event_info_t prop_name, size_t prop_size,
                           void *prop_value, size_t *prop_size_ret);
ur_result_t urEventGetProfilingInfo(ur_event_handle_t event, ur_profiling_info_t prop_name,
                                    size_t prop_size, void *prop_value, size_t *prop_size_ret);
ur_result_t urEventWait(uint32_t num_events, const ur_event_handle_t *event_wait_list);
ur_result_t urEventRetain(ur_event_handle_t event);
ur_result_t urEventRelease(ur_event_handle_t event);
ur_result_t urEventGetNativeHandle(ur_event_handle_t event, ur_native_handle_t *native_event);
ur_result_t urEventCreateWithNativeHandle(ur_native_handle_t native_event,
                                          ur_context_handle_t context,
                                          const ur_event_native_properties_t *properties,
                                          ur_event_handle_t *event);
ur_result_t urEventSetCallback(ur_event_handle_t event, ur_execution_info_t exec_status,
                               ur_event_callback_t notify, void *user_data);
ur_result_t urEnqueueEventsWait(ur_queue_handle_t queue, uint32_t num_events_in_wait_list,
                                const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urEnqueueEventsWaitWithBarrier(ur_queue_handle_t queue,
                                           uint32_t num_events_in_wait_list,
                                           const ur_event_handle_t *event_wait_list,
                                           ur_event_handle_t *event);
ur_result_t urEnqueueEventsWaitWithBarrierExt(ur_queue_handle_t queue,
                                              const ur_exp_enqueue_ext_properties_t *properties,
                                              uint32_t num_events_in_wait_list,
                                              const ur_event_handle_t *event_wait_list,
                                              ur_event_handle_t *event);
ur_result_t urEnqueueTimestampRecordingExp(ur_queue_handle_t queue, bool blocking,
                                           uint32_t num_events_in_wait_list,
                                           const ur_event_handle_t *event_wait_list,
                                           ur_event_handle_t *event);
ur_result_t urEnqueueUSMFill(ur_queue_handle_t queue, void *mem, size_t pattern_size,
                             const void *pattern, size_t size, uint32_t num_events_in_wait_list,
                             const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urEnqueueUSMMemcpy(ur_queue_handle_t queue, bool blocking, void *dst, const void *src,
                               size_t size, uint32_t num_events_in_wait_list,
                               const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urEnqueueUSMFill2D(ur_queue_handle_t queue, void *mem, size_t pitch,
                               size_t pattern_size, const void *pattern, size_t width,
                               size_t height, uint32_t num_events_in_wait_list,
                               const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urEnqueueUSMMemcpy2D(ur_queue_handle_t queue, bool blocking, void *dst,
                                 size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                                 size_t height, uint32_t num_events_in_wait_list,
                                 const ur_event_handle_t *event_wait_list,
                                 ur_event_handle_t *event);
ur_result_t urEnqueueUSMPrefetch(ur_queue_handle_t queue, const void *mem, size_t size,
                                 ur_usm_migration_flags_t prefetch_flags,
                                 uint32_t num_events_in_wait_list,
                                 const ur_event_handle_t *event_wait_list,
                                 ur_event_handle_t *event);
ur_result_t urEnqueueUSMAdvise(ur_queue_handle_t queue, const void *mem, size_t size,
                               ur_usm_advice_flags_t advice, ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferRead(ur_queue_handle_t queue, ur_mem_handle_t buffer, bool blocking,
                                   size_t offset, size_t size, void *dst,
                                   uint32_t num_events_in_wait_list,
                                   const ur_event_handle_t *event_wait_list,
                                   ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferWrite(ur_queue_handle_t queue, ur_mem_handle_t buffer, bool blocking,
                                    size_t offset, size_t size, const void *src,
                                    uint32_t num_events_in_wait_list,
                                    const ur_event_handle_t *event_wait_list,
                                    ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferReadRect(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                       bool blocking, ur_rect_offset_t buffer_origin,
                                       ur_rect_offset_t host_origin, ur_rect_region_t region,
                                       size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                       size_t host_row_pitch, size_t host_slice_pitch, void *dst,
                                       uint32_t num_events_in_wait_list,
                                       const ur_event_handle_t *event_wait_list,
                                       ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferWriteRect(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                        bool blocking, ur_rect_offset_t buffer_origin,
                                        ur_rect_offset_t host_origin, ur_rect_region_t region,
                                        size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                        size_t host_row_pitch, size_t host_slice_pitch,
                                        const void *src, uint32_t num_events_in_wait_list,
                                        const ur_event_handle_t *event_wait_list,
                                        ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferCopy(ur_queue_handle_t queue, ur_mem_handle_t buffer_src,
                                   ur_mem_handle_t buffer_dst, size_t src_offset, size_t dst_offset,
                                   size_t size, uint32_t num_events_in_wait_list,
                                   const ur_event_handle_t *event_wait_list,
                                   ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferCopyRect(ur_queue_handle_t queue, ur_mem_handle_t buffer_src,
                                       ur_mem_handle_t buffer_dst, ur_rect_offset_t src_origin,
                                       ur_rect_offset_t dst_origin, ur_rect_region_t region,
                                       size_t src_row_pitch, size_t src_slice_pitch,
                                       size_t dst_row_pitch, size_t dst_slice_pitch,
                                       uint32_t num_events_in_wait_list,
                                       const ur_event_handle_t *event_wait_list,
                                       ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferFill(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                   const void *pattern, size_t pattern_size, size_t offset,
                                   size_t size, uint32_t num_events_in_wait_list,
                                   const ur_event_handle_t *event_wait_list,
                                   ur_event_handle_t *event);
ur_result_t urEnqueueMemBufferMap(ur_queue_handle_t queue, ur_mem_handle_t buffer, bool blocking,
                                  ur_map_flags_t map_flags, size_t offset, size_t size,
                                  uint32_t num_events_in_wait_list,
                                  const ur_event_handle_t *event_wait_list,
                                  ur_event_handle_t *event, void **ret_map);
ur_result_t urEnqueueMemUnmap(ur_queue_handle_t queue, ur_mem_handle_t mem, void *mapped_ptr,
                              uint32_t num_events_in_wait_list,
                              const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urEnqueueUSMDeviceAllocExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                                       size_t size,
                                       const ur_exp_async_usm_alloc_properties_t *properties,
                                       uint32_t num_events_in_wait_list,
                                       const ur_event_handle_t *event_wait_list, void **mem,
                                       ur_event_handle_t *event);
ur_result_t urEnqueueUSMSharedAllocExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                                       size_t size,
                                       const ur_exp_async_usm_alloc_properties_t *properties,
                                       uint32_t num_events_in_wait_list,
                                       const ur_event_handle_t *event_wait_list, void **mem,
                                       ur_event_handle_t *event);
ur_result_t urEnqueueUSMHostAllocExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                                     size_t size,
                                     const ur_exp_async_usm_alloc_properties_t *properties,
                                     uint32_t num_events_in_wait_list,
                                     const ur_event_handle_t *event_wait_list, void **mem,
                                     ur_event_handle_t *event);
ur_result_t urEnqueueUSMFreeExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool, void *mem,
                                uint32_t num_events_in_wait_list,
                                const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urUSMHostAlloc(ur_context_handle_t context, const ur_usm_desc_t *usm_desc,
                           ur_usm_pool_handle_t pool, size_t size, void **mem);
ur_result_t urUSMDeviceAlloc(ur_context_handle_t context, ur_device_handle_t device,
                             const ur_usm_desc_t *usm_desc, ur_usm_pool_handle_t pool, size_t size,
                             void **mem);
ur_result_t urUSMSharedAlloc(ur_context_handle_t context, ur_device_handle_t device,
                             const ur_usm_desc_t *usm_desc, ur_usm_pool_handle_t pool, size_t size,
                             void **mem);
ur_result_t urUSMFree(ur_context_handle_t context, void *mem);
ur_result_t urUSMGetMemAllocInfo(ur_context_handle_t context, const void *mem,
                                 ur_usm_alloc_info_t prop_name, size_t prop_size, void *prop_value,
                                 size_t *prop_size_ret);
ur_result_t urUSMPoolCreate(ur_context_handle_t context, ur_usm_pool_desc_t *pool_desc,
                            ur_usm_pool_handle_t *pool);
ur_result_t urUSMPoolRetain(ur_usm_pool_handle_t pool);
ur_result_t urUSMPoolRelease(ur_usm_pool_handle_t pool);
ur_result_t urUSMPoolGetInfo(ur_usm_pool_handle_t pool, ur_usm_pool_info_t prop_name,
                             size_t prop_size, void *prop_value, size_t *prop_size_ret);
ur_result_t urUSMPoolCreateExp(ur_context_handle_t context, ur_device_handle_t device,
                               ur_usm_pool_desc_t *pool_desc, ur_usm_pool_handle_t *pool);
ur_result_t urUSMPoolDestroyExp(ur_context_handle_t context, ur_device_handle_t device,
                                ur_usm_pool_handle_t pool);
ur_result_t urUSMPoolGetDefaultDevicePoolExp(ur_context_handle_t context, ur_device_handle_t device,
                                             ur_usm_pool_handle_t *pool);
ur_result_t urUSMPoolGetDevicePoolExp(ur_context_handle_t context, ur_device_handle_t device,
                                      ur_usm_pool_handle_t *pool);
ur_result_t urUSMPoolSetDevicePoolExp(ur_context_handle_t context, ur_device_handle_t device,
                                      ur_usm_pool_handle_t pool);
ur_result_t urUSMPoolGetInfoExp(ur_usm_pool_handle_t pool, ur_usm_pool_info_t prop_name,
                                void *prop_value, size_t *prop_size_ret);
ur_result_t urUSMPoolSetInfoExp(ur_usm_pool_handle_t pool, ur_usm_pool_info_t prop_name,
                                void *prop_value, size_t prop_size);
ur_result_t urUSMPoolTrimToExp(ur_context_handle_t context, ur_device_handle_t device,
                               ur_usm_pool_handle_t pool, size_t min_bytes_to_keep);
ur_result_t urMemBufferCreate(ur_context_handle_t context, ur_mem_flags_t mem_flags, size_t size,
                              const ur_buffer_properties_t *properties, ur_mem_handle_t *buffer);
ur_result_t urMemRetain(ur_mem_handle_t mem);
ur_result_t urMemRelease(ur_mem_handle_t mem);
ur_result_t urMemGetInfo(ur_mem_handle_t mem, ur_mem_info_t prop_name, size_t prop_size,
                         void *prop_value, size_t *prop_size_ret);
ur_result_t urMemBufferPartition(ur_mem_handle_t buffer, ur_mem_flags_t mem_flags,
                                 ur_buffer_create_type_t create_type,
                                 const ur_buffer_region_t *region, ur_mem_handle_t *part);
ur_result_t urMemGetNativeHandle(ur_mem_handle_t mem, ur_device_handle_t device,
                                 ur_native_handle_t *native_mem);
ur_result_t urMemBufferCreateWithNativeHandle(ur_native_handle_t native_mem,
                                              ur_context_handle_t context,
                                              const ur_mem_native_properties_t *properties,
                                              ur_mem_handle_t *buffer);
ur_result_t urProgramCreateWithIL(ur_context_handle_t context, const void *il, size_t length,
                                  const ur_program_properties_t *properties,
                                  ur_program_handle_t *program);
ur_result_t urProgramCreateWithNativeHandle(ur_native_handle_t native_program,
                                            ur_context_handle_t context,
                                            const ur_program_native_properties_t *properties,
                                            ur_program_handle_t *program);
ur_result_t urProgramSetSpecializationConstants(ur_program_handle_t program, uint32_t count,
                                                const ur_specialization_constant_info_t *constants);
ur_result_t urProgramBuild(ur_context_handle_t context, ur_program_handle_t program,
                           const char *options);
ur_result_t urProgramBuildExp(ur_program_handle_t program, uint32_t num_devices,
                              ur_device_handle_t *devices, ur_exp_program_flags_t flags,
                              const char *options);
ur_result_t urProgramCompile(ur_context_handle_t context, ur_program_handle_t program,
                             const char *options);
ur_result_t urProgramCompileExp(ur_program_handle_t program, uint32_t num_devices,
                                ur_device_handle_t *devices, ur_exp_program_flags_t flags,
                                const char *options);
ur_result_t urProgramLink(ur_context_handle_t context, uint32_t count,
                          const ur_program_handle_t *programs, const char *options,
                          ur_program_handle_t *program);
ur_result_t urProgramLinkExp(ur_context_handle_t context, uint32_t num_devices,
                             ur_device_handle_t *devices, ur_exp_program_flags_t flags,
                             uint32_t count, const ur_program_handle_t *programs,
                             const char *options, ur_program_handle_t *program);
ur_result_t urProgramGetNativeHandle(ur_program_handle_t program,
                                     ur_native_handle_t *native_program);
ur_result_t urProgramRetain(ur_program_handle_t program);
ur_result_t urProgramRelease(ur_program_handle_t program);
ur_result_t urProgramGetInfo(ur_program_handle_t program, ur_program_info_t prop_name,
                             size_t prop_size, void *prop_value, size_t *prop_size_ret);
ur_result_t urProgramGetBuildInfo(ur_program_handle_t program, ur_device_handle_t device,
                                  ur_program_build_info_t prop_name, size_t prop_size,
                                  void *prop_value, size_t *prop_size_ret);
ur_result_t urKernelCreate(ur_program_handle_t program, const char *kernel_name,
                           ur_kernel_handle_t *kernel);
ur_result_t urKernelCreateWithNativeHandle(ur_native_handle_t native_kernel,
                                           ur_context_handle_t context, ur_program_handle_t program,
                                           const ur_kernel_native_properties_t *properties,
                                           ur_kernel_handle_t *kernel);
ur_result_t urKernelGetNativeHandle(ur_kernel_handle_t kernel, ur_native_handle_t *native_kernel);
ur_result_t urKernelRetain(ur_kernel_handle_t kernel);
ur_result_t urKernelRelease(ur_kernel_handle_t kernel);
ur_result_t urKernelGetInfo(ur_kernel_handle_t kernel, ur_kernel_info_t prop_name, size_t prop_size,
                            void *prop_value, size_t *prop_size_ret);
ur_result_t urKernelGetGroupInfo(ur_kernel_handle_t kernel, ur_device_handle_t device,
                                 ur_kernel_group_info_t prop_name, size_t prop_size,
                                 void *prop_value, size_t *prop_size_ret);
ur_result_t urKernelGetSubGroupInfo(ur_kernel_handle_t kernel, ur_device_handle_t device,
                                    ur_kernel_sub_group_info_t prop_name, size_t prop_size,
                                    void *prop_value, size_t *prop_size_ret);
ur_result_t urKernelSetExecInfo(ur_kernel_handle_t kernel, ur_kernel_exec_info_t prop_name,
                                size_t prop_size,
                                const ur_kernel_exec_info_properties_t *properties,
                                const void *prop_value);
ur_result_t urEnqueueKernelLaunchWithArgsExp(
    ur_queue_handle_t queue, ur_kernel_handle_t kernel, uint32_t work_dim,
    const size_t *global_work_offset, const size_t *global_work_size, const size_t *local_work_size,
    uint32_t num_args, const ur_exp_kernel_arg_properties_t *args,
    const ur_kernel_launch_ext_properties_t *launch_prop_list, uint32_t num_events_in_wait_list,
    const ur_event_handle_t *event_wait_list, ur_event_handle_t *event);
ur_result_t urAdapterSetLoggerCallback(ur_adapter_handle_t adapter, ur_logger_callback_t callback,
                                       void *user_data, ur_logger_level_t level);
ur_result_t urAdapterSetLoggerCallbackLevel(ur_adapter_handle_t adapter, ur_logger_level_t level);
