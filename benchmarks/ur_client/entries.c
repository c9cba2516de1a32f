/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "entries.h"

#include <dlfcn.h>

static void *library;
static bool is_loader;

void open_library(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    ur_result_t (*init)(uint32_t, void *) =
        (ur_result_t (*)(uint32_t, void *))dlsym(library, "urLoaderInit");
    is_loader = init != NULL;
    if (is_loader)
        OK(init(0, NULL));
}

void *ur_function(const char *name, const char *table, size_t place) {
    char exported[64];
    void *functions[64] = {0}; /* more than the largest table has */
    if (is_loader) {
        functions[place] = dlsym(library, name);
    } else {
        snprintf(exported, sizeof(exported), "urGet%sProcAddrTable", table);
        ur_result_t (*get)(ur_api_version_t, void *) =
            (ur_result_t (*)(ur_api_version_t, void *))dlsym(library, exported);
        CHECK(get != NULL);
        OK(get(UR_API_VERSION, functions));
    }
    if (functions[place] == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        exit(1);
    }
    return functions[place];
}

struct adapter open_adapter(void) {
    struct adapter opened = {0};
    OK(UR(urAdapterGet)(1, &opened.adapter, NULL));
    OK(UR(urPlatformGet)(opened.adapter, 1, &opened.platform, NULL));
    OK(UR(urDeviceGet)(opened.platform, DEVICE_TYPE_ALL, 1, &opened.device, NULL));
    return opened;
}
