// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A coverage-guided fuzzer of the settings: each line of the input is a variable of the
// environment. The parser must refuse or take it, and never read or write where it may not.

#include "settings.c"

#include "fuzz_text.h"

static const char *const names[] = {"DEVICES", "SUB_DEVICES", "MEMORY", "MAX_ALLOCATION", "PAGE",
                                    "TIMER",   "PEER",        "CHECK",  "SEED",           "HIDE"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[LONGEST + 1];
    if (!fuzz_text(data, size, text)) {
        return -1;
    }
    clearenv();
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        // The first byte names a variable, so that chance need not find the names.
        char name[64];
        snprintf(name, sizeof name, PREFIX "%s",
                 names[(unsigned char)line[0] % (sizeof names / sizeof names[0])]);
        setenv(name, line + 1, 1);
        if (line[0] == '*') {
            setenv(PREFIX "MISSPELT", line + 1, 1);
        } else if (line[0] == '+') {
            setenv("ZE_FLAT_DEVICE_HIERARCHY", line + 1, 1);
        }
    }
    const bool valid = load();
    free(hidden);
    hidden = NULL;
    if (valid && (settings.devices < 1 || settings.devices > MAX_ROOT_DEVICES ||
                  settings.max_allocation > settings.memory || settings.timer == 0 ||
                  (settings.page & (settings.page - 1)) != 0 || settings.page < OS_PAGE)) {
        abort(); // it took what it must refuse
    }
    return 0;
}
