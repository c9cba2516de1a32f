// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in SPIR-V as arrays of words, written by their instructions. Names and numbers are those
// of its specification.

#ifndef URASYNC_SPIRV_WORDS_H
#define URASYNC_SPIRV_WORDS_H

#include <stdint.h>

// An instruction: its length in words, its number, its operands.
#define OP(number, ...)                                                                            \
    (uint32_t)((sizeof((const uint32_t[]){__VA_ARGS__}) / 4 + 1) << 16 | (number)), __VA_ARGS__
#define OP_ALONE(number) (uint32_t)(1 << 16 | (number))

#define TEXT4(a, b, c, d)                                                                          \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

// Ids that the beginning below defines; a program's own begin at OWN.
enum { VOID = 1, UINT, UCHAR, TO_UINT, FUNCTION_OF_KERNEL, OWN };
enum { BOUND = 64 };

#define HEADER 0x07230203, 0x00010000, 0, BOUND, 0
#define BEGINNING OP(17, 4), OP(17, 6), OP(17, 5), OP(17, 39), OP(14, 2, 2)
#define TYPES                                                                                      \
    OP(19, VOID), OP(21, UINT, 32, 0), OP(21, UCHAR, 8, 0), OP(32, TO_UINT, 5, UINT),              \
        OP(33, FUNCTION_OF_KERNEL, VOID, TO_UINT)
#define ENTRY_POINT(function, ...) OP(15, 6, function, __VA_ARGS__)
#define DECORATE(...) OP(71, __VA_ARGS__)
#define FUNCTION(id, result, type) OP(54, result, id, 0, type)
#define PARAMETER(id, type) OP(55, type, id)
#define LABEL(id) OP(248, id)
#define LOAD(id, type, pointer) OP(61, type, id, pointer, 2, 4)
#define STORE(pointer, value) OP(62, pointer, value, 2, 4)
#define RETURN OP_ALONE(253), OP_ALONE(56)

#endif
