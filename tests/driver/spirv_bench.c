// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "spirv_bench.h"

#include "bench.h"
#include "spirv_words.h"

enum { KERNEL = OWN, TO, ENTRY, CONSTANT, COUNT_ARGUMENT, LOOP, END, BOOL, DEVICE, ORDERED };
enum { KERNEL_TYPE = ORDERED + 1, BEFORE, SEEN, IS_LESS };

// special(global uint *to): stores the specialisation constant 7, which is 5.
static const uint32_t special[] = {
    HEADER,
    BEGINNING,
    ENTRY_POINT(KERNEL, TEXT4('s', 'p', 'e', 'c'), TEXT4('i', 'a', 'l', 0)),
    DECORATE(CONSTANT, 1, 7),
    TYPES,
    OP(50, UINT, CONSTANT, 5),
    FUNCTION(KERNEL, VOID, FUNCTION_OF_KERNEL),
    PARAMETER(TO, TO_UINT),
    LABEL(ENTRY),
    STORE(TO, CONSTANT),
    RETURN};

const uint32_t *const special_program = special;
const size_t special_size = sizeof special;

// meet(global uint *to, uint count): adds one, and waits until there are as many as `count`.
static const uint32_t meet[] = {HEADER,
                                BEGINNING,
                                ENTRY_POINT(KERNEL, TEXT4('m', 'e', 'e', 't'), 0),
                                TYPES,
                                OP(20, BOOL),
                                OP(43, UINT, DEVICE, 1),
                                OP(43, UINT, ORDERED, 0x210),
                                OP(33, KERNEL_TYPE, VOID, TO_UINT, UINT),
                                FUNCTION(KERNEL, VOID, KERNEL_TYPE),
                                PARAMETER(TO, TO_UINT),
                                PARAMETER(COUNT_ARGUMENT, UINT),
                                LABEL(ENTRY),
                                OP(232, UINT, BEFORE, TO, DEVICE, ORDERED),
                                OP(249, LOOP),
                                LABEL(LOOP),
                                OP(227, UINT, SEEN, TO, DEVICE, ORDERED),
                                OP(176, BOOL, IS_LESS, SEEN, COUNT_ARGUMENT),
                                OP(250, IS_LESS, LOOP, END),
                                LABEL(END),
                                RETURN};

const uint32_t *const meet_program = meet;
const size_t meet_size = sizeof meet;

ze_result_t create_program(const ze_module_desc_t *desc, ze_module_handle_t *module, char *said,
                           size_t capacity) {
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result = ze.zeModuleCreate(context, devices[0], desc, module, &log);
    CHECK(log != NULL);
    SUCCESS(ze.zeModuleBuildLogGetString(log, &capacity, said));
    SUCCESS(ze.zeModuleBuildLogDestroy(log));
    return result;
}

ze_module_desc_t describe_program(const uint32_t *words, size_t size) {
    return (ze_module_desc_t){.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                              .format = ZE_MODULE_FORMAT_IL_SPIRV,
                              .inputSize = size,
                              .pInputModule = (const uint8_t *)words};
}

ze_module_handle_t make_program(const uint32_t *words, size_t size,
                                const ze_module_constants_t *constants) {
    char said[LONGEST_ERROR];
    ze_module_desc_t desc = describe_program(words, size);
    desc.pConstants = constants;
    desc.pBuildFlags = "-ze-opt-level=O2 -ze-opt-large-register-file";
    ze_module_handle_t module = NULL;
    const ze_result_t result = create_program(&desc, &module, said, sizeof said);
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
        printf("not run: %s\n", said);
        return NULL;
    }
    CHECK_EQUAL(result, ZE_RESULT_SUCCESS);
    return module;
}

ze_kernel_handle_t make_kernel_of(ze_module_handle_t module, const char *name) {
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    SUCCESS(ze.zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

void set_pointer(ze_kernel_handle_t kernel, uint32_t index, const void *pointer) {
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, index, sizeof pointer, &pointer));
}

void launch_groups(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t groups,
                   ze_event_handle_t signal) {
    const ze_group_count_t count = {groups, 1, 1};
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &count, signal, 0, NULL));
}

void destroy_program(ze_module_handle_t module, ze_kernel_handle_t kernel) {
    SUCCESS(ze.zeKernelDestroy(kernel));
    SUCCESS(ze.zeModuleDestroy(module));
}
