// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in SPIR-V: what is read from them without a runtime, and what a runtime makes of them,
// where there is one.

#include "bench.h"
#include "spirv.h"
#include "spirv_bench.h"
#include "spirv_words.h"
#include "tests.h"

// --- Programs -----------------------------------------------------------------------------------

enum { CONSTANT = OWN, KERNEL, TO, ENTRY, FUNCTION_TYPE, ANSWER, RESULT, STRUCT, TO_STRUCT, VALUE };
enum { KERNEL_TYPE = VALUE + 1, MEMBER, ZERO, TO_MEMBER, LOCAL_POINTER, LOCAL, READ_FROM };

// call(global uint *to): stores what answer() returns, which is in another program.
static const uint32_t caller[] = {
    HEADER,
    OP(17, 4),
    OP(17, 6),
    OP(17, 5),
    OP(17, 39),
    OP(14, 2, 2),
    ENTRY_POINT(KERNEL, TEXT4('c', 'a', 'l', 'l'), 0),
    DECORATE(ANSWER, 41, TEXT4('a', 'n', 's', 'w'), TEXT4('e', 'r', 0, 0), 1),
    TYPES,
    OP(33, FUNCTION_TYPE, UINT),
    OP(54, UINT, ANSWER, 0, FUNCTION_TYPE),
    OP_ALONE(56),
    FUNCTION(KERNEL, VOID, FUNCTION_OF_KERNEL),
    PARAMETER(TO, TO_UINT),
    LABEL(ENTRY),
    OP(57, UINT, RESULT, ANSWER),
    STORE(TO, RESULT),
    RETURN};

static const uint32_t answer[] = {
    HEADER,
    BEGINNING,
    DECORATE(ANSWER, 41, TEXT4('a', 'n', 's', 'w'), TEXT4('e', 'r', 0, 0), 0),
    TYPES,
    OP(33, FUNCTION_TYPE, UINT),
    OP(43, UINT, CONSTANT, 42),
    OP(54, UINT, ANSWER, 0, FUNCTION_TYPE),
    LABEL(ENTRY),
    OP(254, CONSTANT),
    OP_ALONE(56)};

// taker(global uint *to, struct {uchar; uint} value, local uint *, const global uint *): stores the
// value's uint. Groups must have 4 x 2 x 1 work-items.
static const uint32_t taker[] = {
    HEADER,
    BEGINNING,
    ENTRY_POINT(KERNEL, TEXT4('t', 'a', 'k', 'e'), TEXT4('r', 0, 0, 0)),
    OP(16, KERNEL, 17, 4, 2, 1),
    DECORATE(VALUE, 38, 2),
    DECORATE(READ_FROM, 38, 6),
    TYPES,
    OP(30, STRUCT, UCHAR, UINT),
    OP(32, TO_STRUCT, 7, STRUCT),
    OP(32, TO_MEMBER, 7, UINT),
    OP(32, LOCAL_POINTER, 4, UINT),
    OP(43, UINT, CONSTANT, 1),
    OP(43, UINT, ZERO, 0),
    OP(33, KERNEL_TYPE, VOID, TO_UINT, TO_STRUCT, LOCAL_POINTER, TO_UINT),
    FUNCTION(KERNEL, VOID, KERNEL_TYPE),
    PARAMETER(TO, TO_UINT),
    PARAMETER(VALUE, TO_STRUCT),
    PARAMETER(LOCAL, LOCAL_POINTER),
    PARAMETER(READ_FROM, TO_UINT),
    LABEL(ENTRY),
    OP(70, TO_MEMBER, MEMBER, VALUE, ZERO, CONSTANT),
    LOAD(RESULT, UINT, MEMBER),
    STORE(TO, RESULT),
    RETURN};

// --- Reading ------------------------------------------------------------------------------------

void spirv_tells_kernels_arguments_and_constants(void) {
    spirv_program_t program;
    CHECK(spirv_read((const uint8_t *)special_program, special_size, &program) == NULL);
    CHECK_EQUAL(program.kernel_count, 1);
    CHECK(strcmp(program.kernels[0].name, "special") == 0);
    CHECK_EQUAL(program.constant_count, 1);
    CHECK_EQUAL(program.constants[0].id, 7);
    CHECK_EQUAL(program.constants[0].size, 4);
    spirv_free(&program);
    CHECK(spirv_read((const uint8_t *)taker, sizeof taker, &program) == NULL);
    CHECK_EQUAL(program.kernels[0].parameter_count, 4);
    const parameter_t *parameters = program.kernels[0].parameters;
    CHECK(parameters[0].kind == PARAMETER_POINTER && !parameters[0].only_read);
    CHECK(parameters[1].kind == PARAMETER_VALUE && parameters[1].size == 8);
    CHECK(parameters[2].kind == PARAMETER_LOCAL);
    CHECK(parameters[3].kind == PARAMETER_POINTER && parameters[3].only_read);
    spirv_free(&program);
}

// Three parts of a vector take the room of four; what is packed has no gaps; a group of decorations
// is for all that it names.
void spirv_tells_the_sizes_of_values(void) {
    enum { FOUR = OWN, VECTOR, PACKED, LOOSE, ARRAY, TO_VECTOR, TO_PACKED, TO_LOOSE, TO_ARRAY };
    enum { GROUP = TO_ARRAY + 1, FUNCTION_TYPE_ID, KERNEL_ID, FIRST };
    static const uint32_t values[] = {
        HEADER,
        BEGINNING,
        ENTRY_POINT(KERNEL_ID, TEXT4('v', 'a', 'l', 'u'), TEXT4('e', 's', 0, 0)),
        DECORATE(PACKED, 10),
        DECORATE(GROUP, 38, 2),
        OP(73, GROUP),
        OP(74, GROUP, FIRST, FIRST + 1, FIRST + 2, FIRST + 3),
        TYPES,
        OP(43, UINT, FOUR, 4),
        OP(23, VECTOR, UINT, 3),
        OP(30, PACKED, UCHAR, UINT, UCHAR),
        OP(30, LOOSE, UCHAR, VECTOR, UCHAR),
        OP(28, ARRAY, PACKED, FOUR),
        OP(32, TO_VECTOR, 5, VECTOR),
        OP(32, TO_PACKED, 5, PACKED),
        OP(32, TO_LOOSE, 5, LOOSE),
        OP(32, TO_ARRAY, 5, ARRAY),
        OP(33, FUNCTION_TYPE_ID, VOID, TO_VECTOR, TO_PACKED, TO_LOOSE, TO_ARRAY, UCHAR, TO_UINT),
        FUNCTION(KERNEL_ID, VOID, FUNCTION_TYPE_ID),
        PARAMETER(FIRST, TO_VECTOR),
        PARAMETER(FIRST + 1, TO_PACKED),
        PARAMETER(FIRST + 2, TO_LOOSE),
        PARAMETER(FIRST + 3, TO_ARRAY),
        PARAMETER(FIRST + 4, UCHAR),
        PARAMETER(FIRST + 5, TO_UINT),
        OP_ALONE(56)};
    static const size_t sizes[] = {16, 6, 48, 24, 1};
    spirv_program_t program;
    CHECK(spirv_read((const uint8_t *)values, sizeof values, &program) == NULL);
    CHECK_EQUAL(program.kernels[0].parameter_count, COUNT(sizes) + 1);
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        CHECK(program.kernels[0].parameters[i].kind == PARAMETER_VALUE);
        CHECK_EQUAL(program.kernels[0].parameters[i].size, sizes[i]);
    }
    CHECK(program.kernels[0].parameters[COUNT(sizes)].kind == PARAMETER_POINTER);
    spirv_free(&program);
}

// Whatever is cut off or changed, it is read to an end, or refused.
void spirv_that_is_broken_is_refused(void) {
    spirv_program_t program;
    uint32_t words[COUNT(taker)];
    for (size_t size = 0; size < sizeof taker; ++size) {
        spirv_read((const uint8_t *)taker, size, &program);
        spirv_free(&program);
    }
    CHECK(spirv_read((const uint8_t *)taker, 16, &program) != NULL);
    CHECK(spirv_read((const uint8_t *)taker, sizeof taker - 4, &program) == NULL);
    spirv_free(&program);
    CHECK(spirv_read((const uint8_t *)taker, sizeof taker - 12, &program) != NULL);
    spirv_free(&program);
    for (size_t i = 0; i < COUNT(taker); ++i) {
        static const uint32_t wrong[] = {0, UINT32_MAX, BOUND, 1 << 16, BOUND - 1, OWN};
        for (size_t j = 0; j < COUNT(wrong); ++j) {
            memcpy(words, taker, sizeof words);
            words[i] = wrong[j];
            spirv_read((const uint8_t *)words, sizeof words, &program);
            spirv_free(&program);
        }
    }
    memcpy(words, taker, sizeof words);
    words[0] = 0x03022307; // the other order of bytes
    CHECK(spirv_read((const uint8_t *)words, sizeof words, &program) != NULL);
}

// --- With a runtime -----------------------------------------------------------------------------

// Launches a kernel of one group, whose first argument points to one number; destroys both.
static uint32_t run(ze_module_handle_t module, ze_kernel_handle_t kernel) {
    uint32_t *memory = make_device_memory(sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    const ze_group_count_t one = {1, 1, 1};
    const void *pointer = memory;
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 0, sizeof pointer, &pointer));
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    finish(list);
    const uint32_t found = *memory;
    SUCCESS(ze.zeKernelDestroy(kernel));
    SUCCESS(ze.zeModuleDestroy(module));
    destroy_list(list);
    free_memory(memory);
    return found;
}

void spirv_takes_specialisation_constants(void) {
    const uint32_t value = 77;
    const uint32_t id = 7;
    const void *values[] = {&value};
    ze_module_constants_t constants = {1, &id, values};
    ze_module_handle_t module = make_program(special_program, special_size, NULL);
    if (module == NULL) {
        return;
    }
    CHECK_EQUAL(run(module, make_kernel_of(module, "special")), 5);
    module = make_program(special_program, special_size, &constants);
    CHECK_EQUAL(run(module, make_kernel_of(module, "special")), 77);
    const uint32_t unknown = 8;
    constants.pConstantIds = &unknown;
    ze_module_desc_t desc = describe_program(special_program, special_size);
    desc.pConstants = &constants;
    char said[LONGEST_ERROR];
    CHECK_EQUAL(create_program(&desc, &module, said, sizeof said),
                ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(strstr(said, "There is no specialisation constant of the number 8.") != NULL);
}

void spirv_of_several_inputs_is_linked(void) {
    const size_t sizes[] = {sizeof caller, sizeof answer};
    const uint8_t *inputs[] = {(const uint8_t *)caller, (const uint8_t *)answer};
    ze_module_program_exp_desc_t both = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                         .count = 2,
                                         .inputSizes = sizes,
                                         .pInputModules = inputs};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .pNext = &both};
    char said[LONGEST_ERROR];
    ze_module_handle_t module = NULL;
    ze_result_t result = create_program(&desc, &module, said, sizeof said);
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
        printf("not run: %s\n", said);
        return;
    }
    CHECK_EQUAL(result, ZE_RESULT_SUCCESS);
    CHECK_EQUAL(run(module, make_kernel_of(module, "call")), 42);
    both.count = 1; // what it calls is nowhere
    result = create_program(&desc, &module, said, sizeof said);
    CHECK(result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ||
          result == ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    CHECK(strstr(said, "answer") != NULL);
}

void spirv_kernels_have_properties_and_arguments(void) {
    ze_module_handle_t module = make_program(taker, sizeof taker, NULL);
    if (module == NULL) {
        return;
    }
    ze_kernel_handle_t kernel = make_kernel_of(module, "taker");
    ze_kernel_preferred_group_size_properties_t preferred = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES,
                                         .pNext = &preferred};
    SUCCESS(ze.zeKernelGetProperties(kernel, &properties));
    CHECK_EQUAL(properties.numKernelArgs, 4);
    CHECK_EQUAL(properties.requiredGroupSizeX, 4);
    CHECK_EQUAL(properties.requiredGroupSizeY, 2);
    CHECK_EQUAL(properties.requiredGroupSizeZ, 1);
    CHECK(properties.maxSubgroupSize >= 1 && properties.maxNumSubgroups >= 1);
    CHECK(preferred.preferredMultiple >= 1);
    CHECK_EQUAL(ze.zeKernelSetGroupSize(kernel, 8, 1, 1),
                ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    uint32_t x, y, z;
    SUCCESS(ze.zeKernelSuggestGroupSize(kernel, 16, 16, 1, &x, &y, &z));
    CHECK(x == 4 && y == 2 && z == 1);
    uint32_t groups = 0;
    SUCCESS(ze.zeKernelSuggestMaxCooperativeGroupCount(kernel, &groups));
    CHECK(groups >= 1);
    const struct {
        unsigned char first;
        uint32_t second;
    } value = {1, 123456};
    CHECK_EQUAL(ze.zeKernelSetArgumentValue(kernel, 1, 4, &value),
                ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 1, sizeof value, &value));
    CHECK_EQUAL(ze.zeKernelSetArgumentValue(kernel, 2, 0, NULL),
                ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 2, 256, NULL));
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 3, sizeof(void *), NULL));
    CHECK_EQUAL(run(module, kernel), 123456);
}

void spirv_that_does_not_build_says_why(void) {
    const uint8_t text[16] = "no program";
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .inputSize = sizeof text, .pInputModule = text};
    char said[LONGEST_ERROR];
    ze_module_handle_t module = NULL;
    const ze_result_t result = create_program(&desc, &module, said, sizeof said);
    const char *last = NULL;
    SUCCESS(ze.zeDriverGetLastErrorDescription(driver, &last));
    CHECK(strcmp(said, last) == 0);
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
        printf("not run: %s\n", said);
        return;
    }
    CHECK_EQUAL(result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(strstr(said, "Input 0 of 16 bytes is no program in SPIR-V") != NULL);
}

// --- Launches beside each other -----------------------------------------------------------------

typedef struct meeting {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    uint32_t most; // groups that can run at once
} meeting_t;

// False where there is no runtime, or nothing can run beside anything else.
static bool make_meeting(meeting_t *meeting) {
    *meeting = (meeting_t){.module = make_program(meet_program, meet_size, NULL)};
    if (meeting->module == NULL) {
        return false;
    }
    meeting->kernel = make_kernel_of(meeting->module, "meet");
    SUCCESS(ze.zeKernelSuggestMaxCooperativeGroupCount(meeting->kernel, &meeting->most));
    CHECK(meeting->most >= 1);
    if (meeting->most == 1) {
        printf("not run: the runtime has one processor\n");
        destroy_program(meeting->module, meeting->kernel);
    }
    return meeting->most > 1;
}

// As many groups as are said to fit meet, also if two lists launch as many at a time.
void spirv_groups_of_cooperative_launches_meet(void) {
    enum { ROUNDS = 20 };
    meeting_t meeting;
    if (!make_meeting(&meeting)) {
        return;
    }
    atomic_uint *memory = make_host_memory(2 * ROUNDS * sizeof *memory);
    ze_command_list_handle_t lists[] = {make_list(IN_ORDER), make_list(IN_ORDER)};
    const ze_group_count_t groups = {meeting.most, 1, 1};
    SUCCESS(ze.zeKernelSetArgumentValue(meeting.kernel, 1, sizeof meeting.most, &meeting.most));
    for (size_t i = 0; i < 2 * ROUNDS; ++i) {
        set_pointer(meeting.kernel, 0, &memory[i]);
        SUCCESS(ze.zeCommandListAppendLaunchCooperativeKernel(lists[i % 2], meeting.kernel, &groups,
                                                              NULL, 0, NULL));
    }
    for (size_t i = 0; i < COUNT(lists); ++i) {
        finish(lists[i]);
    }
    for (size_t i = 0; i < 2 * ROUNDS; ++i) {
        CHECK_EQUAL(atomic_load(&memory[i]), meeting.most);
        atomic_store(&memory[i], UINT32_MAX / 2); // lets those go that did not meet
    }
    for (size_t i = 0; i < COUNT(lists); ++i) {
        finish(lists[i]);
        destroy_list(lists[i]);
    }
    free_memory(memory);
    destroy_program(meeting.module, meeting.kernel);
}

// A launch that has not ended, as it waits for the host, holds up no other list's.
void spirv_launches_do_not_hold_up_other_lists(void) {
    meeting_t meeting;
    if (!make_meeting(&meeting)) {
        return;
    }
    atomic_uint *memory = make_host_memory(2 * sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t other = make_list(IN_ORDER);
    uint32_t count = 2;
    SUCCESS(ze.zeKernelSetArgumentValue(meeting.kernel, 1, sizeof count, &count));
    set_pointer(meeting.kernel, 0, &memory[0]);
    launch_groups(list, meeting.kernel, 1, NULL);
    const uint64_t deadline = now_ns() + SECONDS_10;
    while (atomic_load(&memory[0]) == 0 && now_ns() < deadline) { // until it runs
    }
    count = 1;
    SUCCESS(ze.zeKernelSetArgumentValue(meeting.kernel, 1, sizeof count, &count));
    set_pointer(meeting.kernel, 0, &memory[1]);
    launch_groups(other, meeting.kernel, 1, NULL);
    finish(other);
    CHECK_EQUAL(atomic_load(&memory[1]), 1);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(list, 0), ZE_RESULT_NOT_READY);
    atomic_fetch_add(&memory[0], 1);
    finish(list);
    finish(other);
    destroy_list(list);
    destroy_list(other);
    free_memory(memory);
    destroy_program(meeting.module, meeting.kernel);
}
