/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Programs and kernels, each entry once. The programs are those of tests/helpers/spirv.py: PROGRAM
 * names a file with fill(pointer, 32-bit value), CONSTANTS one with special(pointer).
 */
#include "client.h"

enum { ITEMS = 64, BYTES = 4 * ITEMS };

static struct bench bench;

static ur_program_handle_t program_of(const char *variable) {
    static unsigned char content[1 << 16];
    ur_program_handle_t program = NULL;
    const char *path = getenv(variable);
    CHECK(path != NULL);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    const size_t length = fread(content, 1, sizeof(content), file);
    fclose(file);
    OK(UR(urProgramCreateWithIL)(bench.context, content, length, NULL, &program));
    return program;
}

/* Launch a kernel whose first argument is memory, and look for a number in all of it. */
static void launch(ur_kernel_handle_t kernel, const uint32_t *value, uint32_t expected) {
    uint32_t seen[ITEMS] = {0};
    void *mem = NULL;
    ur_event_handle_t event = NULL;
    OK(UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, BYTES, NULL, 0, NULL, &mem, &event));
    const ur_exp_kernel_arg_properties_t arguments[2] = {
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 1, 0, sizeof(mem), {mem, 0}},
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 0, 1, sizeof(*value), {value, 0}},
    };
    const size_t items = ITEMS, group = 1;
    OK(UR(urEnqueueKernelLaunchWithArgsExp)(bench.queue, kernel, 1, NULL, &items, &group,
                                            value == NULL ? 1 : 2, arguments, NULL, 1, &event,
                                            NULL));
    OK(UR(urEventRelease)(event));
    OK(UR(urKernelRelease)(kernel)); /* the launch may be under way */
    OK(UR(urEnqueueUSMMemcpy)(bench.queue, true, seen, mem, BYTES, 0, NULL, NULL));
    for (size_t i = 0; i < ITEMS; i++)
        CHECK_DONE(seen[i] == expected);
    OK(UR(urEnqueueUSMFreeExp)(bench.queue, NULL, mem, 0, NULL, NULL));
}

/* A buffer as the first argument, and work-items in three dimensions. */
static void launch_on_buffer(ur_kernel_handle_t kernel) {
    uint32_t seen[ITEMS] = {0};
    const uint32_t values[2] = {21, 22};
    ur_mem_handle_t buffer = NULL;
    OK(UR(urMemBufferCreate)(bench.context, 1, BYTES, NULL, &buffer));
    for (size_t i = 0; i < 2; i++) {
        const ur_exp_kernel_arg_properties_t arguments[2] = {
            {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 2, 0, sizeof(buffer), {buffer, 1}},
            {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 0, 1, sizeof(values[i]), {&values[i], 0}},
        };
        const size_t items[3] = {ITEMS / (1 + i), 2, 3}, group[3] = {4, 2, 1};
        OK(UR(urEnqueueKernelLaunchWithArgsExp)(bench.queue, kernel, 3, NULL, items, group, 2,
                                                arguments, NULL, 0, NULL, NULL));
    }
    OK(UR(urEnqueueMemBufferRead)(bench.queue, buffer, true, 0, BYTES, seen, 0, NULL, NULL));
    for (size_t i = 0; i < ITEMS; i++)
        CHECK_DONE(seen[i] == values[i < ITEMS / 2]);
    OK(UR(urMemRelease)(buffer));
}

/* Whether there is a compiler; what is known of a program without one, and what is not. */
static bool build(ur_program_handle_t program) {
    ur_kernel_handle_t kernel = NULL;
    ur_native_handle_t native = 0;
    void *handle = NULL;
    uint32_t status = 99;
    OK(UR(urProgramRetain)(program));
    OK(UR(urProgramRelease)(program));
    OK(UR(urProgramGetInfo)(program, PROGRAM_INFO_CONTEXT, sizeof(handle), &handle, NULL));
    CHECK(handle == bench.context);
    GIVES(INVALID_PROGRAM, UR(urKernelCreate)(program, "fill", &kernel));
    GIVES(INVALID_PROGRAM, UR(urProgramGetNativeHandle)(program, &native));
    const ur_result_t built = UR(urProgramBuild)(bench.context, program, NULL);
    if (built == COMPILER_NOT_AVAILABLE)
        return false;
    OK(built);
    OK(UR(urProgramGetBuildInfo)(program, bench.device, PROGRAM_BUILD_INFO_STATUS, sizeof(status),
                                 &status, NULL));
    CHECK(status == 2);
    return true;
}

static void ask(ur_kernel_handle_t kernel) {
    size_t number = 0;
    uint32_t width = 0;
    const ur_bool_t yes = 1;
    OK(UR(urKernelRetain)(kernel));
    OK(UR(urKernelRelease)(kernel));
    OK(UR(urKernelGetInfo)(kernel, KERNEL_INFO_NUM_ARGS, sizeof(number), &number, NULL));
    CHECK(number == 2);
    OK(UR(urKernelGetGroupInfo)(kernel, bench.device, KERNEL_GROUP_INFO_WORK_GROUP_SIZE,
                                sizeof(number), &number, NULL));
    CHECK(number > 2);
    OK(UR(urKernelGetSubGroupInfo)(kernel, bench.device, KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE,
                                   sizeof(width), &width, NULL));
    CHECK(width > 0);
    OK(UR(urKernelSetExecInfo)(kernel, KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS, sizeof(yes), NULL,
                               &yes));
}

/* Native handles of a program and of its kernel, which stay owned by the program. */
static void from_native(ur_program_handle_t program, ur_kernel_handle_t kernel) {
    const ur_program_native_properties_t kept = {STYPE_PROGRAM_NATIVE_PROPERTIES, NULL, false};
    const ur_kernel_native_properties_t same = {STYPE_KERNEL_NATIVE_PROPERTIES, NULL, false};
    ur_program_handle_t program_again = NULL;
    ur_kernel_handle_t again = NULL;
    ur_native_handle_t native = 0;
    const uint32_t values[] = {11, 12};
    OK(UR(urProgramGetNativeHandle)(program, &native));
    OK(UR(urProgramCreateWithNativeHandle)(native, bench.context, &kept, &program_again));
    OK(UR(urKernelCreate)(program_again, "fill", &again));
    launch(again, &values[0], values[0]);
    OK(UR(urKernelGetNativeHandle)(kernel, &native));
    OK(UR(urKernelCreateWithNativeHandle)(native, bench.context, program_again, &same, &again));
    launch(again, &values[1], values[1]);
    OK(UR(urProgramRelease)(program_again));
}

/* A program that is compiled, and linked, in each of the ways; the kernel of what comes out. */
static void link_programs(void) {
    for (uint32_t way = 0; way < 3; way++) {
        ur_program_handle_t program = program_of("PROGRAM"), linked = NULL;
        ur_kernel_handle_t kernel = NULL;
        if (way == 0) {
            OK(UR(urProgramCompile)(bench.context, program, "-g"));
            OK(UR(urProgramLink)(bench.context, 1, &program, NULL, &linked));
        } else if (way == 1) {
            OK(UR(urProgramCompileExp)(program, 1, &bench.device, 0, NULL));
            OK(UR(urProgramLinkExp)(bench.context, 1, &bench.device, 0, 1, &program, NULL,
                                    &linked));
        } else {
            OK(UR(urProgramBuildExp)(program, 1, &bench.device, 0, NULL));
            OK(UR(urProgramRetain)(linked = program));
        }
        OK(UR(urProgramRelease)(program));
        OK(UR(urKernelCreate)(linked, "fill", &kernel));
        OK(UR(urProgramRelease)(linked));
        launch(kernel, &way, way);
    }
}

static void set_constants(void) {
    ur_program_handle_t program = program_of("CONSTANTS");
    ur_kernel_handle_t kernel = NULL;
    const uint32_t seven = 100;
    const uint64_t eight = 11;
    const ur_specialization_constant_info_t constants[] = {{7, sizeof(seven), &seven},
                                                           {8, sizeof(eight), &eight}};
    OK(UR(urProgramSetSpecializationConstants)(program, 2, constants));
    OK(UR(urProgramBuild)(bench.context, program, NULL));
    OK(UR(urKernelCreate)(program, "special", &kernel));
    launch(kernel, NULL, 111);
    OK(UR(urProgramRelease)(program));
}

void programs(void) {
    ur_kernel_handle_t kernel = NULL;
    const uint32_t value = 7;
    bench = begin();
    ur_program_handle_t program = program_of("PROGRAM");
    if (!build(program)) {
        puts("the driver has no compiler");
        OK(UR(urProgramRelease)(program));
        end(&bench);
        return;
    }
    OK(UR(urKernelCreate)(program, "fill", &kernel));
    ask(kernel);
    launch_on_buffer(kernel);
    from_native(program, kernel);
    OK(UR(urProgramRelease)(program));
    launch(kernel, &value, value);
    link_programs();
    set_constants();
    OK(UR(urQueueFinish)(bench.queue));
    end(&bench);
}

/* The process ends while kernels run, with nothing released. */
void exit_during_kernels(void) {
    ur_kernel_handle_t kernel = NULL;
    void *mem = NULL;
    const uint32_t value = 7;
    bench = begin();
    ur_program_handle_t program = program_of("PROGRAM");
    if (!build(program)) {
        puts("the driver has no compiler");
        return;
    }
    OK(UR(urKernelCreate)(program, "fill", &kernel));
    OK(UR(urUSMDeviceAlloc)(bench.context, bench.device, NULL, NULL, BYTES, &mem));
    const ur_exp_kernel_arg_properties_t arguments[2] = {
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 1, 0, sizeof(mem), {mem, 0}},
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 0, 1, sizeof(value), {&value, 0}},
    };
    const size_t items = ITEMS, group = 1;
    for (int i = 0; i < 3; i++)
        OK(UR(urEnqueueKernelLaunchWithArgsExp)(bench.queue, kernel, 1, NULL, &items, &group, 2,
                                                arguments, NULL, 0, NULL, NULL));
}
