// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz.h"

#include "calls.h"

#include <controls.h>
#include <level_zero/ze_api.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_CALLS = 48, INPUTS_BETWEEN = 64, EVERY_TYPE = 2 };

static int report_to;
static const char *current = "no entry";

static ur_adapter_handle_t adapter;
static ur_platform_handle_t platform;
static ur_device_handle_t devices[OUT_LENGTH];
static uint32_t device_count;

static void *driver;
static bool tells_calls;
static uint64_t successes[256], calls_made;

static __typeof__(zeModuleCreate) *create_module;
static __typeof__(zeModuleDestroy) *destroy_module;
static ze_module_handle_t module;
static ur_queue_handle_t keeper; // of the context that the module is in, which must not end before

static uint64_t objects_before[64];

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    dprintf(report_to, "in %s: ", current);
    vdprintf(report_to, format, arguments);
    dprintf(report_to, "\n");
    va_end(arguments);
    abort();
}

static void must(const char *what, ur_result_t result) {
    if (result != UR_RESULT_SUCCESS) {
        const char *message = "";
        int32_t code = 0;
        last_error(adapter, &message, &code);
        fail("%s gave the result %u: %s", what, result, message);
    }
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL)
        fail("there is no %s", name);
    return found;
}

#define CONTROL(name) ((__typeof__(name) *)symbol(driver, #name))

static void run_kernel(const urasync_launch *launch, void *user) { (void)launch, (void)user; }

static void find_driver(void) {
    static const uint32_t sizes[] = {0, 4, 8};
    driver = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == NULL || loader == NULL)
        fail("the software driver is not loaded: %s", dlerror());
    create_module = (__typeof__(create_module))symbol(loader, "zeModuleCreate");
    destroy_module = (__typeof__(destroy_module))symbol(loader, "zeModuleDestroy");
    if (!CONTROL(urasync_checker_is_on)())
        fail("the checker must be on: URASYNC_L0_SOFTWARE_CHECK=1");
    CONTROL(urasync_kernel_register)("kernel", run_kernel, NULL, 3, sizes);
}

void count_call(uint32_t entry, ur_result_t result) {
    calls_made++;
    if (tells_calls)
        dprintf(report_to, "%s: %u\n", entries[entry].name, result);
    successes[entry] += result == UR_RESULT_SUCCESS;
    count_result(entry, result);
}

// Entries that never succeeded were hardly looked at.
static void tell_successes(void) {
    if (calls_made == 0)
        return;
    dprintf(report_to, "%lu calls; without success:", calls_made);
    for (uint32_t i = 0; i < entry_count; i++)
        if (successes[i] == 0)
            dprintf(report_to, " %s", entries[i].name);
    dprintf(report_to, "\n");
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    report_to = dup(STDERR_FILENO);
    tells_calls = getenv("FUZZ_TELLS_CALLS") != NULL;
    atexit(tell_successes);
    must("urAdapterGet", UR(urAdapterGet)(1, &adapter, NULL));
    must("urPlatformGet", UR(urPlatformGet)(adapter, 1, &platform, NULL));
    must("urDeviceGet", UR(urDeviceGet)(platform, EVERY_TYPE, 0, NULL, &device_count));
    if (device_count > OUT_LENGTH)
        device_count = OUT_LENGTH;
    must("urDeviceGet", UR(urDeviceGet)(platform, EVERY_TYPE, device_count, devices, NULL));
    find_driver();
    watch_python(report_to);
    return 0;
}

// A program of a native kernel: without an OpenCL runtime, none is compiled.
static ur_program_handle_t make_program(ur_context_handle_t context) {
    static const char names[] = "kernel\n";
    ur_native_handle_t native_context = 0, native_device = 0;
    must("urContextGetNativeHandle", UR(urContextGetNativeHandle)(context, &native_context));
    must("urDeviceGetNativeHandle", UR(urDeviceGetNativeHandle)(devices[0], &native_device));
    const ze_module_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_NATIVE,
        .inputSize = sizeof names - 1,
        .pInputModule = (const uint8_t *)names,
    };
    if (create_module((ze_context_handle_t)native_context, (ze_device_handle_t)native_device,
                      &description, &module, NULL) != ZE_RESULT_SUCCESS)
        fail("zeModuleCreate failed");
    ur_program_handle_t program = NULL;
    must("urProgramCreateWithNativeHandle",
         UR(urProgramCreateWithNativeHandle)((ur_native_handle_t)module, context, NULL, &program));
    return program;
}

void destroy_modules(void) {
    const ze_result_t result = destroy_module(module);
    if (result != ZE_RESULT_SUCCESS)
        fail("zeModuleDestroy gave %#x", result);
    must("urQueueRelease", UR(urQueueRelease)(keeper));
}

static void begin(void) {
    ur_context_handle_t context = NULL;
    ur_usm_pool_handle_t pool = NULL;
    ur_mem_handle_t buffer = NULL;
    ur_event_handle_t event = NULL;
    const ur_queue_properties_t profiling = {FUZZ_QUEUE_PROPERTIES, NULL, 2};
    ur_usm_pool_desc_t description = {FUZZ_USM_POOL_DESC, NULL, 0};
    remember(ADAPTER, adapter);
    remember(PLATFORM, platform);
    for (uint32_t i = 0; i < device_count; i++)
        remember(DEVICE, devices[i]);
    must("urContextCreate", UR(urContextCreate)(device_count, devices, NULL, &context));
    remember(CONTEXT, context);
    must("urQueueCreate", UR(urQueueCreate)(context, devices[0], NULL, &keeper));
    for (unsigned i = 0; i < 2; i++) {
        ur_queue_handle_t queue = NULL;
        must("urQueueCreate",
             UR(urQueueCreate)(context, devices[0], i == 0 ? &profiling : NULL, &queue));
        remember(QUEUE, queue);
        must("urEnqueueEventsWait", UR(urEnqueueEventsWait)(queue, 0, NULL, &event));
        remember(EVENT, event);
    }
    must("urUSMPoolCreate", UR(urUSMPoolCreate)(context, &description, &pool));
    remember(USM_POOL, pool);
    must("urMemBufferCreate", UR(urMemBufferCreate)(context, 1, 4096, NULL, &buffer));
    remember(MEM, buffer);
    is_sensible = true;
    for (unsigned i = 0; i < 3; i++)
        begin_memory(context, devices[0], i);
    const ur_program_handle_t program = make_program(context);
    remember(PROGRAM, program);
    ur_kernel_handle_t kernel = NULL;
    must("urKernelCreate", UR(urKernelCreate)(program, "kernel", &kernel));
    remember(KERNEL, kernel);
}

static void count_objects(bool is_first) {
    for (uint32_t kind = 0; kind < CONTROL(urasync_object_kind_count)(); kind++) {
        const uint64_t objects = CONTROL(urasync_live_count)(kind);
        if (is_first)
            objects_before[kind] = objects;
        else if (objects != objects_before[kind])
            fail("%lu driver objects of the kind %s are left, which were %lu", objects,
                 CONTROL(urasync_object_kind_name)(kind), objects_before[kind]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned inputs;
    begin();
    begin_input(data, size);
    for (int calls = 0; calls < MOST_CALLS && has_input(); calls++) {
        const struct entry *entry = &entries[take_byte() % entry_count];
        reach = take_chance(4) ? ANY_SIZE : BOUNDED;
        is_sensible = !take_chance(3);
        current = entry->name;
        entry->call();
    }
    current = "the end of an input";
    release_all();
    count_objects(inputs == 0);
    CONTROL(urasync_checker_clear)();
    if (inputs++ % INPUTS_BETWEEN == 0)
        check_tables();
    return 0;
}
