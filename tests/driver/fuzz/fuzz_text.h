// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzzers of texts have in common.

#ifndef FUZZ_TEXT_H
#define FUZZ_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The input as a string; false if it is none, or too long.
static inline bool fuzz_text(const uint8_t *data, size_t size, char text[LONGEST + 1]) {
    if (size > LONGEST || memchr(data, '\0', size) != NULL) {
        return false;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    return true;
}

#endif
