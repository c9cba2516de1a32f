// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program in SPIR-V says about itself: its kernels, their arguments, and its specialisation
// constants. An OpenCL runtime tells none of this of a program that it did not compile from source.

#ifndef URASYNC_SPIRV_H
#define URASYNC_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum parameter_kind {
    PARAMETER_VALUE,   // so many bytes
    PARAMETER_POINTER, // to memory that the host can name
    PARAMETER_LOCAL,   // memory of a work-group
    PARAMETER_OPAQUE,  // an image, a sampler and the like
} parameter_kind_t;

typedef struct parameter {
    parameter_kind_t kind;
    size_t size; // bytes of its value; of a pointer 8
    bool only_read;
} parameter_t;

typedef struct spirv_kernel {
    char *name;
    const struct native_kernel *native; // a function that was registered instead; or NULL
    uint32_t parameter_count;
    parameter_t *parameters;
} spirv_kernel_t;

typedef struct spirv_constant {
    uint32_t id; // by which a specialisation names it
    uint32_t size;
} spirv_constant_t;

typedef struct spirv_program {
    uint32_t kernel_count;
    spirv_kernel_t *kernels;
    uint32_t constant_count;
    spirv_constant_t *constants;
} spirv_program_t;

// Reads a program; NULL, or what is wrong with it. `program` is for spirv_free in any case.
const char *spirv_read(const uint8_t *bytes, size_t size, spirv_program_t *program);
void spirv_free(spirv_program_t *program);

#endif
