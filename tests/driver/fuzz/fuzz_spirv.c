// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A coverage-guided fuzzer of what is read from a program in SPIR-V: anything is read to its end or
// refused. The input is everything behind a header, so that chance need not find that.

#include <string.h>

#include "spirv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { HEADER_SIZE = 20, LONGEST = 4096 };
    static const uint32_t header[HEADER_SIZE / 4] = {0x07230203, 0x00010000, 0, 64, 0};
    uint8_t bytes[HEADER_SIZE + LONGEST];
    if (size > LONGEST) {
        return -1;
    }
    memcpy(bytes, header, HEADER_SIZE);
    memcpy(bytes + HEADER_SIZE, data, size);
    spirv_program_t program;
    spirv_read(bytes, HEADER_SIZE + size, &program);
    spirv_free(&program);
    return 0;
}
