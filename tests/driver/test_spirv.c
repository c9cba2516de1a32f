// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in SPIR-V: what is read from them without a runtime; what a runtime makes of them, where
// there is one; and, with a made-up runtime that fails where it is told to, what becomes of that.

#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "last_error.h"
#include "spirv.h"
#include "spirv_words.h"
#include "tests.h"

enum { SECONDS_OF_CHILD = 120 };

// --- Programs -----------------------------------------------------------------------------------

enum { CONSTANT = OWN, KERNEL, TO, ENTRY, FUNCTION_TYPE, ANSWER, RESULT, STRUCT, TO_STRUCT, VALUE };
enum { KERNEL_TYPE = VALUE + 1, MEMBER, ZERO, TO_MEMBER, LOCAL_POINTER, LOCAL, READ_FROM };

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
    CHECK(spirv_read((const uint8_t *)special, sizeof special, &program) == NULL);
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

static ze_result_t create(const ze_module_desc_t *desc, ze_module_handle_t *module, char *said,
                          size_t capacity) {
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result = ze.zeModuleCreate(context, devices[0], desc, module, &log);
    CHECK(log != NULL);
    SUCCESS(ze.zeModuleBuildLogGetString(log, &capacity, said));
    SUCCESS(ze.zeModuleBuildLogDestroy(log));
    return result;
}

static ze_module_desc_t describe(const uint32_t *words, size_t size) {
    return (ze_module_desc_t){.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                              .format = ZE_MODULE_FORMAT_IL_SPIRV,
                              .inputSize = size,
                              .pInputModule = (const uint8_t *)words};
}

// NULL where there is no runtime, which says why.
static ze_module_handle_t make_module(const uint32_t *words, size_t size,
                                      const ze_module_constants_t *constants) {
    char said[LONGEST_ERROR];
    ze_module_desc_t desc = describe(words, size);
    desc.pConstants = constants;
    desc.pBuildFlags = "-ze-opt-level=O2 -ze-opt-large-register-file";
    ze_module_handle_t module = NULL;
    const ze_result_t result = create(&desc, &module, said, sizeof said);
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
        printf("not run: %s\n", said);
        return NULL;
    }
    CHECK_EQUAL(result, ZE_RESULT_SUCCESS);
    return module;
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name) {
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    SUCCESS(ze.zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

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
    ze_module_handle_t module = make_module(special, sizeof special, NULL);
    if (module == NULL) {
        return;
    }
    CHECK_EQUAL(run(module, make_kernel(module, "special")), 5);
    module = make_module(special, sizeof special, &constants);
    CHECK_EQUAL(run(module, make_kernel(module, "special")), 77);
    const uint32_t unknown = 8;
    constants.pConstantIds = &unknown;
    ze_module_desc_t desc = describe(special, sizeof special);
    desc.pConstants = &constants;
    char said[LONGEST_ERROR];
    CHECK_EQUAL(create(&desc, &module, said, sizeof said), ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
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
    ze_result_t result = create(&desc, &module, said, sizeof said);
    if (result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
        printf("not run: %s\n", said);
        return;
    }
    CHECK_EQUAL(result, ZE_RESULT_SUCCESS);
    CHECK_EQUAL(run(module, make_kernel(module, "call")), 42);
    both.count = 1; // what it calls is nowhere
    result = create(&desc, &module, said, sizeof said);
    CHECK(result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ||
          result == ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    CHECK(strstr(said, "answer") != NULL);
}

void spirv_kernels_have_properties_and_arguments(void) {
    ze_module_handle_t module = make_module(taker, sizeof taker, NULL);
    if (module == NULL) {
        return;
    }
    ze_kernel_handle_t kernel = make_kernel(module, "taker");
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
    const ze_result_t result = create(&desc, &module, said, sizeof said);
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

// --- With a runtime that is made up -------------------------------------------------------------

static int open_child(void) {
    uint32_t one = 1;
    alarm(SECONDS_OF_CHILD);
    SUCCESS(ze.zeInit(0));
    SUCCESS(ze.zeDriverGet(&one, &driver));
    load_extensions();
    SUCCESS(ze.zeDeviceGet(driver, &one, devices));
    context = ze.zeDriverGetDefaultContext(driver);
    setenv("URASYNC_L0_OPENCL", MADE_UP_OPENCL, 1);
    unsetenv("OCL_ICD_FILENAMES");
    setenv("OCL_ICD_VENDORS", "/nowhere", 1); // of the system's ICD loader, if there is one
    return 0;
}

static int result_of_child(void) { return atomic_load(&failed_checks) == 0 ? 0 : 1; }

// Each function that the driver calls to make a module fails once.
int child_build_failures(void) {
    static const struct {
        const char *function;
        ze_result_t result;
        const char *says;
    } failures[] = {
        {"clGetPlatformIDs", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "offers no platform"},
        {"clGetDeviceIDs", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "no device of the type CPU"},
        {"CL_DEVICE_IL_VERSION", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "takes no SPIR-V"},
        {"CL_DEVICE_SVM_CAPABILITIES", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
         "takes no pointers of the host"},
        {"clCreateContext", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "cannot make a context"},
        {"clCreateCommandQueueWithProperties", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
         "cannot make a context and a queue"},
        {"clCreateProgramWithIL", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "was refused"},
        {"clSetProgramSpecializationConstant", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
         "constant 7 of 4 bytes was refused"},
        {"clBuildProgram", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
         "did not compile with the options '-cl-opt-disable -g '"},
    };
    const uint32_t value = 1;
    const uint32_t id = 7;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, &id, values};
    ze_module_desc_t desc = describe(special, sizeof special);
    desc.pConstants = &constants;
    desc.pBuildFlags = "-ze-opt-disable -g -ze-opt-level 2";
    ze_module_handle_t module = NULL;
    char said[LONGEST_ERROR];
    open_child();
    for (size_t i = 0; i < COUNT(failures); ++i) {
        setenv("MADE_UP_OPENCL_FAILS", failures[i].function, 1);
        const ze_result_t result = create(&desc, &module, said, sizeof said);
        CHECK_EQUAL(result, failures[i].result);
        if (strstr(said, failures[i].says) == NULL) {
            printf("%s: %s\n", failures[i].function, said);
            CHECK(false);
        }
    }
    unsetenv("MADE_UP_OPENCL_FAILS");
    CHECK_EQUAL(create(&desc, &module, said, sizeof said), ZE_RESULT_SUCCESS);
    setenv("MADE_UP_OPENCL_FAILS", "clCreateKernel", 1);
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "special"};
    ze_kernel_handle_t kernel = NULL;
    CHECK_EQUAL(ze.zeKernelCreate(module, &kernel_desc, &kernel),
                ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    SUCCESS(ze.zeModuleDestroy(module));
    return result_of_child();
}

void spirv_failures_of_a_runtime_are_told(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_build_failures", NULL, NULL, errors, sizeof errors), 0);
}

// A launch that fails when it runs: the device is lost, and everyone is told.
int child_launch_failure(void) {
    const char *function = getenv("FAILING_FUNCTION");
    char said[LONGEST_ERROR];
    open_child();
    const ze_module_desc_t desc = describe(special, sizeof special);
    ze_module_handle_t module = NULL;
    SUCCESS(create(&desc, &module, said, sizeof said));
    ze_kernel_handle_t kernel = make_kernel(module, "special");
    uint32_t *memory = make_device_memory(sizeof *memory);
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    const void *pointer = memory;
    const ze_group_count_t one = {1, 1, 1};
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 0, sizeof pointer, &pointer));
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    finish(list);
    CHECK_EQUAL(*memory, 4711); // what the made-up runtime writes
    setenv("MADE_UP_OPENCL_FAILS", function, 1);
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, event, 0, NULL));
    CHECK_EQUAL(ze.zeEventHostSynchronize(event, SECONDS_10), ZE_RESULT_ERROR_DEVICE_LOST);
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_ERROR_DEVICE_LOST);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(list, SECONDS_10), ZE_RESULT_ERROR_DEVICE_LOST);
    CHECK_EQUAL(ze.zeDeviceGetStatus(devices[0]), ZE_RESULT_ERROR_DEVICE_LOST);
    CHECK_EQUAL(ze.zeCommandListAppendBarrier(list, NULL, 0, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    destroy_list(list);
    destroy_event(event);
    destroy_pool(pool);
    free_memory(memory);
    SUCCESS(ze.zeKernelDestroy(kernel));
    SUCCESS(ze.zeModuleDestroy(module));
    return result_of_child();
}

void spirv_launches_that_fail_lose_the_device(void) {
    static const char *const functions[] = {"clSetKernelArgSVMPointer", "clEnqueueNDRangeKernel",
                                            "clWaitForEvents"};
    for (size_t i = 0; i < COUNT(functions); ++i) {
        char errors[4096];
        CHECK_EQUAL(run_child("child_launch_failure", "FAILING_FUNCTION", functions[i], errors,
                              sizeof errors),
                    0);
        CHECK(strstr(errors, "could not run the kernel 'special' (CL_OUT_OF_RESOURCES, -5); device "
                             "0 is lost") != NULL);
    }
}
