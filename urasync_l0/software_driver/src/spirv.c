// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the instructions notes what each id is, a second one collects the kernels. Names
// and numbers are those of the specification of SPIR-V.

#include "spirv.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    MOST_IDS = 1 << 22, // what the specification says that everyone must take
    MOST_DEPTH = 32,    // of types in types
    POINTER_SIZE = 8,
};

enum operation {
    LINE = 8,
    ENTRY_POINT = 15,
    TYPE_BOOL = 20,
    TYPE_INT = 21,
    TYPE_FLOAT = 22,
    TYPE_VECTOR = 23,
    TYPE_ARRAY = 28,
    TYPE_STRUCT = 30,
    TYPE_POINTER = 32,
    CONSTANT = 43,
    SPECIAL_TRUE = 48,
    SPECIAL_FALSE = 49,
    SPECIAL_CONSTANT = 50,
    FUNCTION = 54,
    FUNCTION_PARAMETER = 55,
    FUNCTION_END = 56,
    DECORATE = 71,
    GROUP_DECORATE = 74,
    NO_LINE = 317,
};

enum { EXECUTION_KERNEL = 6 };
enum { DECORATION_SPEC_ID = 1, DECORATION_PACKED = 10, DECORATION_PARAMETER = 38 };
enum { PARAMETER_BY_VALUE = 2, PARAMETER_NO_WRITE = 6 };
enum { STORAGE_WORKGROUP = 4, STORAGE_FUNCTION = 7 };

typedef struct layout {
    size_t size; // bytes; 0 of what has no size
    size_t alignment;
} layout_t;

enum { BY_VALUE = 1, NO_WRITE = 2, PACKED = 4, SPECIAL = 8 };

typedef struct entity {
    const uint32_t *definition; // its instruction
    uint32_t flags;             // of its decorations
    uint32_t spec_id;
    bool is_measured; // the rest is known
    layout_t layout;
} entity_t;

typedef struct reader {
    const uint32_t *words;
    size_t count;
    uint32_t bound;
    entity_t *ids;
    spirv_program_t *program;
    const char *problem;
} reader_t;

static uint32_t operation_of(const uint32_t *instruction) { return *instruction & 0xffff; }
static uint32_t length_of(const uint32_t *instruction) { return *instruction >> 16; }

static entity_t *find(reader_t *reader, uint32_t id) {
    return id < reader->bound ? &reader->ids[id] : NULL;
}

// The definition of an id, if it has enough words.
static const uint32_t *definition(reader_t *reader, uint32_t id, uint32_t words) {
    const entity_t *found = find(reader, id);
    if (found == NULL || found->definition == NULL || length_of(found->definition) < words) {
        return NULL;
    }
    return found->definition;
}

// --- The first walk: what each id is ------------------------------------------------------------

static void define(reader_t *reader, const uint32_t *instruction, uint32_t place) {
    entity_t *id = length_of(instruction) > place ? find(reader, instruction[place]) : NULL;
    if (id == NULL) {
        reader->problem = "an instruction defines an id that is out of its bounds";
    } else {
        id->definition = instruction;
    }
}

static void decorate(reader_t *reader, const uint32_t *instruction) {
    entity_t *target = length_of(instruction) >= 3 ? find(reader, instruction[1]) : NULL;
    if (target == NULL) {
        reader->problem = "a decoration is for an id that is out of its bounds";
        return;
    }
    const uint32_t operand = length_of(instruction) > 3 ? instruction[3] : UINT32_MAX;
    switch (instruction[2]) {
    case DECORATION_SPEC_ID:
        target->flags |= SPECIAL;
        target->spec_id = operand;
        break;
    case DECORATION_PACKED:
        target->flags |= PACKED;
        break;
    case DECORATION_PARAMETER:
        target->flags |= operand == PARAMETER_BY_VALUE ? BY_VALUE : 0;
        target->flags |= operand == PARAMETER_NO_WRITE ? NO_WRITE : 0;
        break;
    default:
        break;
    }
}

static void decorate_group(reader_t *reader, const uint32_t *instruction) {
    const entity_t *group = length_of(instruction) >= 2 ? find(reader, instruction[1]) : NULL;
    for (uint32_t i = 2; group != NULL && i < length_of(instruction); ++i) {
        entity_t *target = find(reader, instruction[i]);
        if (target != NULL) {
            target->flags |= group->flags;
        }
    }
}

static void note(reader_t *reader, const uint32_t *instruction) {
    switch (operation_of(instruction)) {
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_VECTOR:
    case TYPE_ARRAY:
    case TYPE_STRUCT:
    case TYPE_POINTER:
        define(reader, instruction, 1);
        break;
    case CONSTANT:
    case SPECIAL_TRUE:
    case SPECIAL_FALSE:
    case SPECIAL_CONSTANT:
    case FUNCTION:
        define(reader, instruction, 2);
        break;
    case DECORATE:
        decorate(reader, instruction);
        break;
    case GROUP_DECORATE:
        decorate_group(reader, instruction);
        break;
    default:
        break;
    }
}

static void walk(reader_t *reader, void (*visit)(reader_t *, const uint32_t *)) {
    for (size_t at = HEADER_WORDS; at < reader->count && reader->problem == NULL;) {
        const uint32_t *instruction = &reader->words[at];
        const uint32_t length = length_of(instruction);
        if (length == 0 || length > reader->count - at) {
            reader->problem = "an instruction goes beyond its end";
            return;
        }
        visit(reader, instruction);
        at += length;
    }
}

// --- Sizes of types -----------------------------------------------------------------------------

static layout_t layout_of(reader_t *reader, uint32_t type, int depth);

static layout_t layout_of_vector(reader_t *reader, const uint32_t *vector, int depth) {
    const layout_t element = layout_of(reader, vector[2], depth + 1);
    size_t elements = 1;
    while (elements < vector[3] && elements < 16) { // three take the room of four
        elements *= 2;
    }
    return (layout_t){element.size * elements, element.size * elements};
}

static layout_t layout_of_array(reader_t *reader, const uint32_t *array, int depth) {
    const layout_t element = layout_of(reader, array[2], depth + 1);
    const uint32_t *length = definition(reader, array[3], 4);
    if (length == NULL || operation_of(length) != CONSTANT ||
        (element.size != 0 && length[3] > UINT32_MAX / element.size)) {
        return (layout_t){0, 1};
    }
    return (layout_t){element.size * length[3], element.alignment};
}

static size_t round_up(size_t size, size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

static layout_t layout_of_struct(reader_t *reader, const uint32_t *structure, int depth) {
    const bool packed = (reader->ids[structure[1]].flags & PACKED) != 0;
    layout_t all = {0, 1};
    for (uint32_t i = 2; i < length_of(structure); ++i) {
        const layout_t member = layout_of(reader, structure[i], depth + 1);
        if (member.size > UINT32_MAX - all.size) {
            return (layout_t){0, 1};
        }
        if (!packed) {
            all.size = round_up(all.size, member.alignment);
            all.alignment = member.alignment > all.alignment ? member.alignment : all.alignment;
        }
        all.size += member.size;
    }
    all.size = round_up(all.size, all.alignment);
    return all;
}

static layout_t measure(reader_t *reader, uint32_t type, int depth) {
    const layout_t none = {0, 1};
    const uint32_t *found = definition(reader, type, 2);
    const uint32_t words = found != NULL ? length_of(found) : 0;
    if (found == NULL || depth > MOST_DEPTH) {
        return none;
    }
    switch (operation_of(found)) {
    case TYPE_BOOL:
        return (layout_t){1, 1};
    case TYPE_INT:
    case TYPE_FLOAT:
        return words < 3 || found[2] < 8 || found[2] > 64 ? none
                                                          : (layout_t){found[2] / 8, found[2] / 8};
    case TYPE_VECTOR: {
        const layout_t vector = words < 4 ? none : layout_of_vector(reader, found, depth);
        return vector.size != 0 ? vector : none;
    }
    case TYPE_ARRAY:
        return words < 4 ? none : layout_of_array(reader, found, depth);
    case TYPE_STRUCT:
        return layout_of_struct(reader, found, depth);
    case TYPE_POINTER:
        return (layout_t){POINTER_SIZE, POINTER_SIZE};
    default:
        return none;
    }
}

// Each type is measured once: a few structures of structures would take for ever otherwise.
static layout_t layout_of(reader_t *reader, uint32_t type, int depth) {
    entity_t *entity = find(reader, type);
    if (entity == NULL) {
        return (layout_t){0, 1};
    }
    if (!entity->is_measured) {
        const layout_t layout = measure(reader, type, depth);
        entity->layout = layout;
        entity->is_measured = true;
    }
    return entity->layout;
}

// --- The second walk: kernels and constants -----------------------------------------------------

static parameter_t parameter_of(reader_t *reader, const uint32_t *instruction) {
    const uint32_t *type = definition(reader, instruction[1], 2);
    const entity_t *id = find(reader, instruction[2]);
    const uint32_t flags = id != NULL ? id->flags : 0;
    if (type == NULL) {
        return (parameter_t){.kind = PARAMETER_OPAQUE};
    }
    if (operation_of(type) != TYPE_POINTER || length_of(type) < 4) {
        const size_t size = layout_of(reader, instruction[1], 0).size;
        return (parameter_t){.kind = size > 0 ? PARAMETER_VALUE : PARAMETER_OPAQUE, .size = size};
    }
    if (type[2] == STORAGE_WORKGROUP) {
        return (parameter_t){.kind = PARAMETER_LOCAL};
    }
    if (type[2] == STORAGE_FUNCTION || (flags & BY_VALUE) != 0) {
        return (parameter_t){.kind = PARAMETER_VALUE, .size = layout_of(reader, type[3], 0).size};
    }
    return (parameter_t){
        .kind = PARAMETER_POINTER, .size = POINTER_SIZE, .only_read = (flags & NO_WRITE) != 0};
}

// Room for one more; NULL when there is no memory.
static void *one_more(reader_t *reader, void *array, uint32_t count, size_t size) {
    if (count != 0 && (count & (count + 1)) != 0) { // it grows when all bits are set
        return array;
    }
    void *more = realloc(array, ((size_t)count + 1) * 2 * size);
    if (more == NULL) {
        reader->problem = "there is no memory to read it";
    }
    return more;
}

static void add_parameters(reader_t *reader, spirv_kernel_t *kernel, const uint32_t *function) {
    const uint32_t *end = reader->words + reader->count;
    for (const uint32_t *at = function + length_of(function); at < end && reader->problem == NULL;
         at += length_of(at)) {
        if (operation_of(at) == LINE || operation_of(at) == NO_LINE) {
            continue;
        }
        if (operation_of(at) != FUNCTION_PARAMETER || length_of(at) < 3) {
            return;
        }
        parameter_t *parameters =
            one_more(reader, kernel->parameters, kernel->parameter_count, sizeof *parameters);
        if (parameters != NULL) {
            kernel->parameters = parameters;
            parameters[kernel->parameter_count++] = parameter_of(reader, at);
        }
    }
}

static void add_kernel(reader_t *reader, const uint32_t *entry) {
    const uint32_t most = (length_of(entry) - 3) * (uint32_t)sizeof(uint32_t);
    const char *name = (const char *)&entry[3];
    const uint32_t *function = definition(reader, entry[2], 5);
    if (memchr(name, '\0', most) == NULL || function == NULL ||
        operation_of(function) != FUNCTION) {
        reader->problem = "a kernel has no name or no function";
        return;
    }
    spirv_program_t *program = reader->program;
    spirv_kernel_t *kernels =
        one_more(reader, program->kernels, program->kernel_count, sizeof *kernels);
    if (kernels == NULL) {
        return;
    }
    program->kernels = kernels;
    spirv_kernel_t *kernel = &kernels[program->kernel_count++];
    *kernel = (spirv_kernel_t){.name = strdup(name)};
    if (kernel->name == NULL) {
        reader->problem = "there is no memory to read it";
        return;
    }
    add_parameters(reader, kernel, function);
}

static void add_constant(reader_t *reader, const uint32_t *instruction) {
    const entity_t *id = find(reader, instruction[2]);
    if ((id->flags & SPECIAL) == 0) {
        return;
    }
    spirv_program_t *program = reader->program;
    spirv_constant_t *constants =
        one_more(reader, program->constants, program->constant_count, sizeof *constants);
    if (constants != NULL) {
        program->constants = constants;
        constants[program->constant_count++] = (spirv_constant_t){
            .id = id->spec_id, .size = (uint32_t)layout_of(reader, instruction[1], 0).size};
    }
}

static void collect(reader_t *reader, const uint32_t *instruction) {
    switch (operation_of(instruction)) {
    case ENTRY_POINT:
        if (length_of(instruction) > 3 && instruction[1] == EXECUTION_KERNEL) {
            add_kernel(reader, instruction);
        }
        break;
    case SPECIAL_TRUE:
    case SPECIAL_FALSE:
    case SPECIAL_CONSTANT:
        add_constant(reader, instruction);
        break;
    default:
        break;
    }
}

const char *spirv_read(const uint8_t *bytes, size_t size, spirv_program_t *program) {
    *program = (spirv_program_t){0};
    uint32_t header[HEADER_WORDS];
    if (size < sizeof header || size % sizeof(uint32_t) != 0) {
        return "it is shorter than a header, or no multiple of four bytes";
    }
    memcpy(header, bytes, sizeof header);
    if (header[0] != MAGIC) {
        return "it does not begin with the magic number of SPIR-V, 0x07230203";
    }
    if (header[3] == 0 || header[3] > MOST_IDS) {
        return "it claims to have more ids than SPIR-V allows, or none";
    }
    uint32_t *words = malloc(size); // in the alignment of words
    reader_t reader = {.words = words,
                       .count = size / sizeof *words,
                       .bound = header[3],
                       .ids = calloc(header[3], sizeof *reader.ids),
                       .program = program};
    if (words == NULL || reader.ids == NULL) {
        reader.problem = "there is no memory to read it";
    } else {
        memcpy(words, bytes, size);
        walk(&reader, note);
        walk(&reader, collect);
    }
    free(words);
    free(reader.ids);
    return reader.problem;
}

void spirv_free(spirv_program_t *program) {
    for (uint32_t i = 0; i < program->kernel_count; ++i) {
        free(program->kernels[i].name);
        free(program->kernels[i].parameters);
    }
    free(program->kernels);
    free(program->constants);
    *program = (spirv_program_t){0};
}
