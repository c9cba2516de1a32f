// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short ways to make modules from programs in SPIR-V.

#ifndef URASYNC_SPIRV_BENCH_H
#define URASYNC_SPIRV_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "last_error.h"

// special(global uint *to): stores the specialisation constant 7, which is 5.
extern const uint32_t *const special_program;
extern const size_t special_size;

// meet(global uint *to, uint count): adds one, and waits until there are as many as `count`.
extern const uint32_t *const meet_program;
extern const size_t meet_size;

ze_module_desc_t describe_program(const uint32_t *words, size_t size);
// Makes a module; what its log says is stored.
ze_result_t create_program(const ze_module_desc_t *desc, ze_module_handle_t *module, char *said,
                           size_t capacity);
// NULL where there is no runtime, which says why.
ze_module_handle_t make_program(const uint32_t *words, size_t size,
                                const ze_module_constants_t *constants);
ze_kernel_handle_t make_kernel_of(ze_module_handle_t module, const char *name);
void destroy_program(ze_module_handle_t module, ze_kernel_handle_t kernel);

void set_pointer(ze_kernel_handle_t kernel, uint32_t index, const void *pointer);
void launch_groups(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t groups,
                   ze_event_handle_t signal);

#endif
