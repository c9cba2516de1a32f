/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "client.h"

#include <dlfcn.h>
#include <string.h>

#include "function_names.h" /* written by the test: {name of a table, its functions} */

typedef ur_result_t (*get_table_t)(ur_api_version_t, void *);

void *libraries[2];
bool is_direct;
static void **table;

size_t table_size(void) { return sizeof(function_names) / sizeof(function_names[0]); }

size_t table_index(const char *name) {
    for (size_t i = 0; i < table_size(); i++)
        if (strcmp(function_names[i].name, name) == 0)
            return i;
    fprintf(stderr, "no table has %s\n", name);
    exit(1);
}

void *table_of(void *library) {
    void **found = calloc(table_size(), sizeof(void *));
    CHECK(found != NULL);
    for (size_t i = 0; i < table_size(); i++) {
        char exported[128];
        if (i > 0 && strcmp(function_names[i].table, function_names[i - 1].table) == 0)
            continue;
        snprintf(exported, sizeof(exported), "urGet%sProcAddrTable", function_names[i].table);
        get_table_t get = (get_table_t)dlsym(library, exported);
        CHECK(get != NULL);
        OK(get(UR_API_VERSION, &found[i]));
    }
    return found;
}

void *function(const char *name) {
    void *found = is_direct ? table[table_index(name)] : dlsym(libraries[0], name);
    if (found == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        exit(1);
    }
    return found;
}

bool executes(void) { return getenv("EXECUTES_NOTHING") == NULL; }

struct bench begin(void) {
    uint32_t count = 0;
    ur_adapter_handle_t adapter = NULL;
    OK(UR(urAdapterGet)(0, NULL, &count));
    CHECK(count == 1);
    OK(UR(urAdapterGet)(1, &adapter, NULL));
    return begin_on(adapter);
}

struct bench begin_on(ur_adapter_handle_t adapter) {
    struct bench bench = {.adapter = adapter};
    uint32_t count = 0;
    OK(UR(urPlatformGet)(bench.adapter, 1, &bench.platform, &count));
    CHECK(count == 1);
    OK(UR(urDeviceGet)(bench.platform, DEVICE_TYPE_ALL, 1, &bench.device, &count));
    CHECK(count >= 1);
    OK(UR(urContextCreate)(1, &bench.device, NULL, &bench.context));
    OK(UR(urQueueCreate)(bench.context, bench.device, NULL, &bench.queue));
    return bench;
}

void end(struct bench *bench) {
    OK(UR(urQueueRelease)(bench->queue));
    OK(UR(urContextRelease)(bench->context));
    OK(UR(urDeviceRelease)(bench->device));
    OK(UR(urAdapterRelease)(bench->adapter));
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"tables", tables},
    {"information", information},
    {"native_handles", native_handles},
    {"memory", memory},
    {"each_adapter", each_adapter},
    {"rows", rows},
    {"buffers", buffers},
    {"pools", pools},
    {"usual_calls", usual_calls},
    {"events", events},
    {"callbacks", callbacks},
    {"peers", peers},
    {"programs", programs},
    {"exit_during_kernels", exit_during_kernels},
    {"kernels", kernels},
    {"wrong_arguments", wrong_arguments},
    {"stale_handles", stale_handles},
    {"table_in_handles", table_in_handles},
    {"last_error", last_error},
    {"logger", logger},
    {"threads", threads},
    {"first_calls", first_calls},
    {"fork_after_use", fork_after_use},
    {"fork_while_logging", fork_while_logging},
    {"leaves_the_client_alone", leaves_the_client_alone},
    {"from_another_folder", from_another_folder},
    {"waits_for_input", waits_for_input},
    {"no_release", no_release},
    {"exit_during_calls", exit_during_calls},
    {"exit_in_callback", exit_in_callback},
    {"two_adapters", two_adapters},
    {"not_started", not_started},
};

static void start_loader(void) {
    ur_result_t (*init)(uint32_t, void *) =
        (ur_result_t (*)(uint32_t, void *))dlsym(libraries[0], "urLoaderInit");
    CHECK(init != NULL);
    OK(init(0, NULL));
}

/* client SCENARIO direct|loader LIBRARY [LIBRARY] */
int main(int count, char **arguments) {
    CHECK(count >= 4);
    for (int i = 3; i < count && i < 5; i++) {
        libraries[i - 3] = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        if (libraries[i - 3] == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    is_direct = strcmp(arguments[2], "direct") == 0;
    if (is_direct)
        table = table_of(libraries[0]);
    else
        start_loader();
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (strcmp(scenarios[i].name, arguments[1]) == 0) {
            scenarios[i].run();
            puts("passed");
            return 0;
        }
    }
    fprintf(stderr, "there is no scenario %s\n", arguments[1]);
    return 1;
}
