// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver does with an OpenCL runtime: with a made-up one, that fails where it is told to
// and notes what it is told; and, where there is one, with a real one.

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "made_up_opencl/runtime.h"
#include "spirv_bench.h"
#include "spirv_words.h"
#include "tests.h"

enum { SECONDS_OF_CHILD = 120 };

static made_up_opencl_t *made_up;

// --- Programs -----------------------------------------------------------------------------------

enum { KERNEL = OWN, TO, READ_FROM, LOCAL, VALUE, ENTRY, LOCAL_POINTER, KERNEL_TYPE, SEEN };

// copy(global uint *to, const global uint *from, local uint *, uchar): copies a number.
static const uint32_t copier[] = {HEADER,
                                  BEGINNING,
                                  ENTRY_POINT(KERNEL, TEXT4('c', 'o', 'p', 'y'), 0),
                                  DECORATE(READ_FROM, 38, 6),
                                  TYPES,
                                  OP(32, LOCAL_POINTER, 4, UINT),
                                  OP(33, KERNEL_TYPE, VOID, TO_UINT, TO_UINT, LOCAL_POINTER, UCHAR),
                                  FUNCTION(KERNEL, VOID, KERNEL_TYPE),
                                  PARAMETER(TO, TO_UINT),
                                  PARAMETER(READ_FROM, TO_UINT),
                                  PARAMETER(LOCAL, LOCAL_POINTER),
                                  PARAMETER(VALUE, UCHAR),
                                  LABEL(ENTRY),
                                  LOAD(SEEN, UINT, READ_FROM),
                                  STORE(TO, SEEN),
                                  RETURN};

// --- A runtime that fails -----------------------------------------------------------------------

static void open_child(void) {
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
    void *library = dlopen(MADE_UP_OPENCL, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    made_up = dlsym(library, "made_up_opencl");
    CHECK(made_up != NULL);
    made_up->run_time = 0;
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
    ze_module_desc_t desc = describe_program(special_program, special_size);
    desc.pConstants = &constants;
    desc.pBuildFlags = "-ze-opt-disable -g -ze-opt-level 2";
    ze_module_handle_t module = NULL;
    char said[LONGEST_ERROR];
    open_child();
    for (size_t i = 0; i < COUNT(failures); ++i) {
        setenv("MADE_UP_OPENCL_FAILS", failures[i].function, 1);
        const ze_result_t result = create_program(&desc, &module, said, sizeof said);
        CHECK_EQUAL(result, failures[i].result);
        if (strstr(said, failures[i].says) == NULL) {
            printf("%s: %s\n", failures[i].function, said);
            CHECK(false);
        }
    }
    unsetenv("MADE_UP_OPENCL_FAILS");
    CHECK_EQUAL(create_program(&desc, &module, said, sizeof said), ZE_RESULT_SUCCESS);
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
    const ze_module_desc_t desc = describe_program(special_program, special_size);
    ze_module_handle_t module = NULL;
    SUCCESS(create_program(&desc, &module, said, sizeof said));
    ze_kernel_handle_t kernel = make_kernel_of(module, "special");
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

// --- A runtime that notes what it is told -------------------------------------------------------

// What a launch is made of reaches the runtime.
static void launches_are_told(ze_command_list_handle_t list, uint32_t *memory) {
    ze_module_handle_t module = make_program(copier, sizeof copier, NULL);
    ze_kernel_handle_t kernel = make_kernel_of(module, "copy");
    CHECK_EQUAL(made_up->any_pointer, 1);
    set_pointer(kernel, 0, memory);
    set_pointer(kernel, 1, memory);
    const uint64_t value = 1; // of more bytes than it needs
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 2, 48, NULL));
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 3, sizeof value, &value));
    SUCCESS(ze.zeKernelSetGroupSize(kernel, 4, 3, 2));
    SUCCESS(ze.zeKernelSetGlobalOffsetExp(kernel, 7, 8, 9));
    const ze_group_count_t groups = {5, 6, 7};
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    finish(list);
    static const size_t expected[3][3] = {{20, 18, 14}, {4, 3, 2}, {7, 8, 9}};
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(made_up->global[i], expected[0][i]);
        CHECK_EQUAL(made_up->local[i], expected[1][i]);
        CHECK_EQUAL(made_up->offset[i], expected[2][i]);
    }
    CHECK(made_up->is_local[2] && made_up->argument_sizes[2] == 48);
    CHECK(!made_up->is_local[3] && made_up->argument_sizes[3] == 1);
    // All that a group has is the device's limit, not what each argument has.
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 2, 65536, NULL));
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    made_up->local_memory = 1;
    ze_kernel_handle_t other = make_kernel_of(module, "copy");
    set_pointer(other, 0, memory);
    set_pointer(other, 1, memory);
    SUCCESS(ze.zeKernelSetArgumentValue(other, 2, 65536, NULL));
    SUCCESS(ze.zeKernelSetArgumentValue(other, 3, sizeof value, &value));
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernel(list, other, &groups, NULL, 0, NULL),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    const char *said = NULL;
    SUCCESS(ze.zeDriverGetLastErrorDescription(driver, &said));
    CHECK(strstr(said, "would need 65537 bytes of local memory; there are 65536.") != NULL);
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    SUCCESS(ze.zeKernelGetProperties(other, &properties));
    CHECK_EQUAL(properties.localMemSize, 1);
    made_up->local_memory = 0;
    SUCCESS(ze.zeKernelDestroy(other));
    finish(list);
    destroy_program(module, kernel);
}

// What is asked about kernels and programs is the runtime's answer.
static void questions_are_passed_on(void) {
    ze_module_handle_t module = make_program(special_program, special_size, NULL);
    ze_kernel_handle_t kernel = make_kernel_of(module, "special");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    SUCCESS(ze.zeKernelGetProperties(kernel, &properties));
    CHECK_EQUAL(properties.requiredNumSubGroups, 0x11BA);
    CHECK_EQUAL(properties.requiredSubgroupSize, 0x410A);
    CHECK_EQUAL(properties.maxSubgroupSize, 0x2033);
    CHECK_EQUAL(properties.maxNumSubgroups, 0x11B9);
    size_t size = 0;
    void *pointer = NULL;
    SUCCESS(ze.zeModuleGetGlobalPointer(module, "units", &size, &pointer));
    CHECK_EQUAL(size, sizeof made_up->units);
    CHECK(pointer == &made_up->units);
    SUCCESS(ze.zeModuleGetGlobalPointer(module, "units", NULL, NULL));
    CHECK_EQUAL(ze.zeModuleGetGlobalPointer(module, "none", &size, &pointer),
                ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    destroy_program(module, kernel);
}

// Groups that may wait for each other are as many as can run at once, and the runtime is told.
static void cooperative_launches_are_told(ze_command_list_handle_t list, uint32_t *memory) {
    ze_module_handle_t module = make_program(special_program, special_size, NULL);
    ze_kernel_handle_t kernel = make_kernel_of(module, "special");
    uint32_t most = 0;
    SUCCESS(ze.zeKernelSuggestMaxCooperativeGroupCount(kernel, &most));
    CHECK_EQUAL(most, 3); // its units, though it says 32
    made_up->concurrent_groups = 2;
    SUCCESS(ze.zeKernelSuggestMaxCooperativeGroupCount(kernel, &most));
    CHECK_EQUAL(most, 2);
    made_up->concurrent_groups = 32;
    set_pointer(kernel, 0, memory);
    const ze_group_count_t groups = {3, 1, 1};
    for (uint32_t cooperative = 1; cooperative < 2; --cooperative) {
        if (cooperative == 1) {
            SUCCESS(ze.zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, NULL, 0,
                                                                  NULL));
        } else {
            launch_groups(list, kernel, 3, NULL);
        }
        finish(list);
        CHECK_EQUAL(made_up->dispatch_type, cooperative);
    }
    destroy_program(module, kernel);
}

// The times of a launch are those that the runtime tells, if they are of the driver's clock; else
// those around it. A made-up launch takes three times its time, of which it tells the middle.
static void launches_have_the_times_that_are_told(ze_command_list_handle_t list, uint32_t *memory) {
    ze_module_handle_t module = make_program(special_program, special_size, NULL);
    ze_kernel_handle_t kernel = make_kernel_of(module, "special");
    ze_event_pool_handle_t pool = make_pool(2, POOL_TIMESTAMPS);
    set_pointer(kernel, 0, memory);
    made_up->run_time = 2 * MILLISECOND;
    for (uint32_t other = 0; other < 2; ++other) {
        ze_event_handle_t event = make_event(pool, other);
        made_up->has_another_clock = other == 1;
        launch_groups(list, kernel, 1, event);
        finish_event(event);
        ze_kernel_timestamp_result_t times;
        SUCCESS(ze.zeEventQueryKernelTimestamp(event, &times));
        const uint64_t ticks = times.global.kernelEnd - times.global.kernelStart;
        if (other == 0) {
            const uint64_t told = made_up->ended - made_up->started;
            const uint64_t expected = told * TIMER_TICKS / 1000000000;
            CHECK(ticks >= expected && ticks <= expected + 1); // where ticks begin
        } else {
            CHECK(ticks >= 6 * MILLISECOND * TIMER_TICKS / 1000000000);
        }
        destroy_event(event);
    }
    made_up->run_time = 0;
    made_up->has_another_clock = false;
    destroy_pool(pool);
    destroy_program(module, kernel);
}

// Each of several inputs is compiled with its own flags; a log is kept when all is well, too.
static void inputs_have_their_own_flags(void) {
    const size_t sizes[] = {special_size, meet_size};
    const uint8_t *inputs[] = {(const uint8_t *)special_program, (const uint8_t *)meet_program};
    const char *flags[] = {"-one", NULL};
    ze_module_program_exp_desc_t both = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                         .count = 2,
                                         .inputSizes = sizes,
                                         .pInputModules = inputs,
                                         .pBuildFlags = flags};
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .pNext = &both, .pBuildFlags = "-none"};
    char said[LONGEST_ERROR];
    for (int i = 0; i < 2; ++i) {
        ze_module_handle_t module = NULL;
        *made_up->options = '\0';
        CHECK_EQUAL(create_program(&desc, &module, said, sizeof said), ZE_RESULT_SUCCESS);
        CHECK(strcmp(made_up->options, i == 0 ? "-one " : "-one -cl-opt-disable -two ") == 0);
        uint32_t told = 0; // by both compilations, and by the link
        for (const char *at = said; (at = strstr(at, "said while it was made")) != NULL; ++at) {
            ++told;
        }
        CHECK_EQUAL(told, 3);
        const char *names[2] = {NULL, NULL};
        uint32_t count = COUNT(names);
        SUCCESS(ze.zeModuleGetKernelNames(module, &count, names));
        CHECK(count == 2 && strcmp(names[0], "special") == 0 && strcmp(names[1], "meet") == 0);
        SUCCESS(ze.zeModuleDestroy(module));
        flags[1] = "-ze-opt-level=O0 -two";
    }
}

enum { LAUNCHES = 200 };

typedef struct launcher {
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    uint32_t *memory;
} launcher_t;

static void *run_launcher(void *argument) {
    finish(((const launcher_t *)argument)->list);
    return NULL;
}

// The arguments of a kernel that two lists launch do not get mixed up.
static void one_kernel_on_two_lists(ze_command_list_handle_t list, uint32_t *memory) {
    ze_module_handle_t module = make_program(special_program, special_size, NULL);
    ze_kernel_handle_t kernel = make_kernel_of(module, "special");
    launcher_t launchers[] = {{kernel, list, memory},
                              {kernel, make_list(IN_ORDER), memory + LAUNCHES}};
    made_up->run_time = MILLISECOND / 10;
    memset(memory, 0, 2 * LAUNCHES * sizeof *memory);
    for (size_t i = 0; i < COUNT(launchers); ++i) {
        hold(launchers[i].list);
    }
    for (uint32_t i = 0; i < LAUNCHES; ++i) {
        for (size_t j = 0; j < COUNT(launchers); ++j) {
            set_pointer(kernel, 0, launchers[j].memory + i);
            launch_groups(launchers[j].list, kernel, 1, NULL);
        }
    }
    for (size_t i = 0; i < COUNT(launchers); ++i) {
        release(launchers[i].list);
    }
    pthread_t threads[COUNT(launchers)];
    for (size_t i = 0; i < COUNT(launchers); ++i) {
        pthread_create(&threads[i], NULL, run_launcher, &launchers[i]);
    }
    for (size_t i = 0; i < COUNT(launchers); ++i) {
        pthread_join(threads[i], NULL);
    }
    uint32_t missing = 0;
    for (uint32_t i = 0; i < 2 * LAUNCHES; ++i) {
        missing += memory[i] != 4711;
    }
    CHECK_EQUAL(missing, 0);
    made_up->run_time = 0;
    destroy_list(launchers[1].list);
    destroy_program(module, kernel);
}

// Each list runs its launches on a queue of its own. Queues, programs, kernels and events go back.
int child_runtime_is_told(void) {
    open_child();
    uint32_t *memory = make_device_memory(2 * LAUNCHES * sizeof *memory);
    SUCCESS(ze.zeModuleDestroy(make_program(meet_program, meet_size, NULL)));
    CHECK_EQUAL(atomic_load(&made_up->queues), 1); // for questions
    ze_command_list_handle_t list = make_list(IN_ORDER);
    launches_are_told(list, memory);
    cooperative_launches_are_told(list, memory);
    launches_have_the_times_that_are_told(list, memory);
    inputs_have_their_own_flags();
    questions_are_passed_on();
    CHECK_EQUAL(atomic_load(&made_up->queues), 2);
    one_kernel_on_two_lists(list, memory);
    destroy_list(list);
    free_memory(memory);
    CHECK_EQUAL(atomic_load(&made_up->queues), 1);
    CHECK_EQUAL(atomic_load(&made_up->programs), 0);
    CHECK_EQUAL(atomic_load(&made_up->kernels), 0);
    CHECK_EQUAL(atomic_load(&made_up->events), 0);
    return result_of_child();
}

void spirv_launches_are_told_to_the_runtime(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_runtime_is_told", NULL, NULL, errors, sizeof errors), 0);
}

// What a kernel only reads, others may read meanwhile; the checker is on.
int child_reads(void) {
    open_child();
    CHECK_EQUAL(urasync_checker_is_on(), 1);
    ze_module_handle_t module = make_program(copier, sizeof copier, NULL);
    ze_kernel_handle_t kernel = make_kernel_of(module, "copy");
    uint32_t *from = make_device_memory(64);
    uint32_t *to = make_device_memory(64);
    uint32_t *other = make_device_memory(64);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t copies = make_list(IN_ORDER);
    const unsigned char value = 1;
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 2, 16, NULL));
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 3, sizeof value, &value));
    for (uint64_t fault = 0; fault < 2; ++fault) {
        set_pointer(kernel, 0, fault ? from : to);
        set_pointer(kernel, 1, from);
        launch_groups(list, kernel, 1, NULL);
        SUCCESS(ze.zeCommandListAppendMemoryCopy(copies, other, from, 64, NULL, 0, NULL));
        finish(list);
        finish(copies);
        CHECK_EQUAL(urasync_checker_report_count() > 0, fault);
        urasync_checker_clear();
    }
    destroy_list(list);
    destroy_list(copies);
    free_memory(from);
    free_memory(to);
    free_memory(other);
    destroy_program(module, kernel);
    return result_of_child();
}

void spirv_launches_read_what_they_do_not_write(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_reads", "URASYNC_L0_SOFTWARE_CHECK", "1", errors, sizeof errors),
                0);
}
