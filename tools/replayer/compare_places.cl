// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares places of an allocation with what they were filled with. packaging/spirv.sh makes
// compare_places.spv of it; kernel_look.py writes and reads the structures.

enum { PATTERN = 16 };

struct place {
    ulong offset; // in the allocation, a multiple of the pattern's bytes
    ulong nbytes;
    ulong2 pattern; // 16 bytes, repeated
    ulong seen;     // 0 before; then 1 if all is right, else 2 and the offset of the first wrong byte
    ulong found;    // that byte
};

kernel void compare_places(global const uchar *data, global uchar *table, ulong first) {
    global struct place *place = (global struct place *)(table + first) + get_global_id(0);
    const ulong2 pattern = place->pattern;
    global const uchar *bytes = data + place->offset;
    ulong at = 0;
    while (at + PATTERN <= place->nbytes && all(*(global const ulong2 *)(bytes + at) == pattern))
        at += PATTERN;
    for (; at < place->nbytes; at++) {
        const ulong word = at & 8 ? pattern.y : pattern.x;
        if (bytes[at] != (uchar)(word >> (at & 7) * 8))
            break;
    }
    place->found = at < place->nbytes ? bytes[at] : 0;
    place->seen = at < place->nbytes ? 2 + at : 1;
}
