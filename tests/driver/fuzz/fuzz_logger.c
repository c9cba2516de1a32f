// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A coverage-guided fuzzer of UR_LOG_LEVEL_ZERO, which the UR libraries read.

#include "logger.c"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[LONGEST + 1];
    if (!fuzz_text(data, size, text)) {
        return -1;
    }
    if (strstr(text, "file,") != NULL) {
        return -1; // would write files all over the place
    }
    setenv("UR_LOG_LEVEL_ZERO", text, 1);
    written_from = LEVEL_QUIET;
    read_settings();
    if (written_from > LEVEL_QUIET || output == NULL) {
        abort();
    }
    return 0;
}
