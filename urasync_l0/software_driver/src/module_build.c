// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the description of a module to its programs, and what there is to say about it.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "last_error.h"
#include "module.h"

void text_add(text_t *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *more = added < 0 ? NULL : realloc(text->content, text->length + (size_t)added + 1);
    if (more == NULL) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(more + text->length, (size_t)added + 1, format, arguments);
    va_end(arguments);
    text->content = more;
    text->length += (size_t)added;
}

typedef struct input {
    const uint8_t *bytes;
    size_t size;
    const char *flags; // or NULL
    const ze_module_constants_t *constants;
} input_t;

// --- Native functions ---------------------------------------------------------------------------

// The names of functions, a line each.
static ze_result_t build_native(module_t *module, const input_t *input, text_t *log) {
    char *names = malloc(input->size + 1);
    if (names == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(names, input->bytes, input->size);
    names[input->size] = '\0';
    spirv_program_t *program = &module->inputs[0];
    program->kernels = calloc(input->size + 1, sizeof *program->kernels);
    ze_result_t result =
        program->kernels != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    char *rest = NULL;
    for (char *name = strtok_r(names, "\n", &rest); name != NULL && result == ZE_RESULT_SUCCESS;
         name = strtok_r(NULL, "\n", &rest)) {
        const native_kernel_t *native = native_kernel_find(name);
        if (native == NULL) {
            text_add(log, "No native function is registered as '%s'.", name);
            result = ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
        } else if (native_kernel_describe(native, &program->kernels[program->kernel_count])) {
            ++program->kernel_count;
        } else {
            result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    free(names);
    return result;
}

// --- SPIR-V -------------------------------------------------------------------------------------

// Level Zero's own flags become OpenCL's, or nothing: most are about registers and addresses that
// only a GPU has. The others are the same in both.
static char *options_of(const char *flags) {
    text_t options = {0};
    char *copy = strdup(flags != NULL ? flags : "");
    char *rest = NULL;
    for (char *flag = copy != NULL ? strtok_r(copy, " ", &rest) : NULL; flag != NULL;
         flag = strtok_r(NULL, " ", &rest)) {
        static const char level[] = "-ze-opt-level";
        if (strncmp(flag, level, strlen(level)) == 0) {
            const char *value =
                flag[strlen(level)] == '=' ? flag + sizeof level : strtok_r(NULL, " ", &rest);
            if (value != NULL && (strcmp(value, "0") == 0 || strcmp(value, "O0") == 0)) {
                text_add(&options, "-cl-opt-disable ");
            }
        } else if (strcmp(flag, "-ze-opt-disable") == 0) {
            text_add(&options, "-cl-opt-disable ");
        } else if (strncmp(flag, "-ze-", strlen("-ze-")) != 0) {
            text_add(&options, "%s ", flag);
        }
    }
    free(copy);
    return options.content; // NULL without any
}

// One result of OpenCL as one of Level Zero.
static ze_result_t build_result(int32_t result) {
    switch (result) {
    case CL_SUCCESS:
        return ZE_RESULT_SUCCESS;
    case CL_OUT_OF_HOST_MEMORY:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case CL_LINK_PROGRAM_FAILURE:
        return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    default:
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
}

static void add_build_log(cl_program_t program, text_t *log) {
    const opencl_t *cl = opencl();
    size_t size = 0;
    if (cl->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size < 2) {
        return;
    }
    char *content = calloc(size + 1, 1);
    if (content != NULL && cl->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG,
                                                     size, content, NULL) == CL_SUCCESS) {
        text_add(log, "%s\n", content);
    }
    free(content);
}

static int32_t specialise(const spirv_program_t *info, cl_program_t program,
                          const ze_module_constants_t *constants, text_t *log) {
    const opencl_t *cl = opencl();
    for (uint32_t i = 0; constants != NULL && i < constants->numConstants; ++i) {
        const uint32_t id = constants->pConstantIds[i];
        uint32_t size = 0;
        for (uint32_t j = 0; j < info->constant_count; ++j) {
            size = info->constants[j].id == id ? info->constants[j].size : size;
        }
        if (size == 0) {
            text_add(log, "There is no specialisation constant of the number %u.\n", id);
            return CL_INVALID_SPEC_ID;
        }
        const int32_t result = cl->clSetProgramSpecializationConstant(
            program, id, size, constants->pConstantValues[i]);
        if (result != CL_SUCCESS) {
            text_add(log, "The specialisation constant %u of %u bytes was refused (%s, %d).\n", id,
                     size, opencl_result_name(result), result);
            return result;
        }
    }
    return CL_SUCCESS;
}

// Reads an input and makes a program of it, which is not compiled yet.
static ze_result_t take(const input_t *input, uint32_t number, spirv_program_t *info,
                        cl_program_t *program, text_t *log) {
    const opencl_t *cl = opencl();
    const char *problem = spirv_read(input->bytes, input->size, info);
    if (problem != NULL) {
        text_add(log, "Input %u of %zu bytes is no program in SPIR-V: %s.\n", number, input->size,
                 problem);
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    int32_t result = CL_SUCCESS;
    *program = cl->clCreateProgramWithIL(cl->context, input->bytes, input->size, &result);
    if (result != CL_SUCCESS) {
        *program = NULL;
        text_add(log, "Input %u of %zu bytes was refused (%s, %d).\n", number, input->size,
                 opencl_result_name(result), result);
        return build_result(result);
    }
    return build_result(specialise(info, *program, input->constants, log));
}

static ze_result_t compile(cl_program_t program, const char *flags, bool alone, text_t *log) {
    const opencl_t *cl = opencl();
    char *options = options_of(flags);
    const int32_t result =
        alone ? cl->clBuildProgram(program, 1, &cl->device, options, NULL, NULL)
              : cl->clCompileProgram(program, 1, &cl->device, options, 0, NULL, NULL, NULL, NULL);
    add_build_log(program, log);
    if (result != CL_SUCCESS) {
        text_add(log, "It did not compile with the options '%s' (%s, %d).\n",
                 options != NULL ? options : "", opencl_result_name(result), result);
    }
    free(options);
    return build_result(result);
}

static ze_result_t link_programs(const cl_program_t *programs, uint32_t count, cl_program_t *linked,
                                 text_t *log) {
    const opencl_t *cl = opencl();
    int32_t result = CL_SUCCESS;
    *linked =
        cl->clLinkProgram(cl->context, 1, &cl->device, NULL, count, programs, NULL, NULL, &result);
    if (*linked != NULL) {
        add_build_log(*linked, log);
    }
    if (result == CL_SUCCESS) {
        return ZE_RESULT_SUCCESS;
    }
    text_add(log, "The %u inputs did not link (%s, %d).\n", count, opencl_result_name(result),
             result);
    return result == CL_OUT_OF_HOST_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                           : ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
}

static ze_result_t build_spirv(module_t *module, const input_t *inputs, text_t *log) {
    const uint32_t count = module->input_count;
    const opencl_t *cl = opencl_open();
    if (cl == NULL) {
        text_add(log, "%s", last_error());
        return ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    }
    cl_program_t *programs = calloc(count, sizeof(cl_program_t));
    ze_result_t result = programs != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; ++i) {
        result = take(&inputs[i], i, &module->inputs[i], &programs[i], log);
        if (result == ZE_RESULT_SUCCESS) {
            result = compile(programs[i], inputs[i].flags, count == 1, log);
        }
    }
    if (result == ZE_RESULT_SUCCESS && count == 1) {
        module->program = programs[0];
        programs[0] = NULL;
    } else if (result == ZE_RESULT_SUCCESS) {
        result = link_programs(programs, count, &module->program, log);
    }
    for (uint32_t i = 0; programs != NULL && i < count; ++i) {
        if (programs[i] != NULL) {
            cl->clReleaseProgram(programs[i]);
        }
    }
    free(programs);
    return result;
}

// --- Inputs -------------------------------------------------------------------------------------

static const ze_module_program_exp_desc_t *several(const ze_module_desc_t *desc) {
    for (const ze_base_desc_t *next = desc->pNext; next != NULL; next = next->pNext) {
        if (next->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC) {
            return (const ze_module_program_exp_desc_t *)next;
        }
    }
    return NULL;
}

static input_t input_of(const ze_module_desc_t *desc, const ze_module_program_exp_desc_t *more,
                        uint32_t number) {
    if (more == NULL) {
        return (input_t){desc->pInputModule, desc->inputSize, desc->pBuildFlags, desc->pConstants};
    }
    return (input_t){more->pInputModules[number], more->inputSizes[number],
                     more->pBuildFlags != NULL ? more->pBuildFlags[number] : NULL,
                     more->pConstants != NULL ? more->pConstants[number] : NULL};
}

ze_result_t module_build(module_t *module, const ze_module_desc_t *desc, text_t *log) {
    const ze_module_program_exp_desc_t *more = several(desc);
    if (more != NULL && (more->inputSizes == NULL || more->pInputModules == NULL)) {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    const uint32_t count = more != NULL ? more->count : 1;
    if (count == 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const input_t input = input_of(desc, more, i);
        if (input.bytes == NULL) {
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
        }
        if (input.size == 0) {
            return ZE_RESULT_ERROR_INVALID_SIZE;
        }
    }
    input_t *inputs = calloc(count, sizeof *inputs);
    module->inputs = calloc(count, sizeof *module->inputs);
    if (inputs == NULL || module->inputs == NULL) {
        free(inputs);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    module->input_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        inputs[i] = input_of(desc, more, i);
    }
    const ze_result_t result = desc->format == ZE_MODULE_FORMAT_NATIVE
                                   ? build_native(module, &inputs[0], log)
                                   : build_spirv(module, inputs, log);
    free(inputs);
    return result;
}
