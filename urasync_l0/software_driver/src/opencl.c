// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for the runtime in this order, and takes the first that has what is needed:
//   URASYNC_L0_OPENCL    the file of a runtime, or of an ICD loader
//   OCL_ICD_FILENAMES    files of runtimes, with colons between them, as for an ICD loader
//   libOpenCL.so.1       the system's ICD loader, which reads the other usual variables itself
// What is needed: a device of the type CPU that takes SPIR-V and any pointer of the host.

#include "opencl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "last_error.h"
#include "os.h"

enum { MOST_FOUND = 16 }; // platforms, and devices of each

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static opencl_t found;
static bool is_open = false; // never closed again

const opencl_t *opencl(void) { return &found; }

// What was looked at and why it does not serve, as one sentence after the other.
typedef struct search {
    char text[LONGEST_ERROR / 2];
    size_t length;
} search_t;

__attribute__((format(printf, 2, 3))) static void say(search_t *search, const char *format, ...) {
    const size_t room = sizeof search->text - search->length;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(search->text + search->length, room, format, arguments);
    va_end(arguments);
    search->length += (size_t)length < room ? (size_t)length : room - 1;
}

static bool read_functions(void *library, const char *file, opencl_t *candidate, search_t *search) {
#define OPENCL_READ(result, name, parameters)                                                      \
    *(void **)&candidate->name = os_library_find(library, #name);                                  \
    if (candidate->name == NULL) {                                                                 \
        say(search, " %s has no function %s.", file, #name);                                       \
        return false;                                                                              \
    }
    OPENCL_FUNCTIONS(OPENCL_READ)
#undef OPENCL_READ
    return true;
}

static bool is_suitable(const opencl_t *candidate, const char *file, cl_device_t device,
                        search_t *search) {
    char name[256] = "a device";
    char versions[256] = "";
    uint64_t svm = 0;
    candidate->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    candidate->clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL);
    candidate->clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
    const bool spirv = strstr(versions, "SPIR-V") != NULL;
    const bool pointers = (svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0;
    if (!spirv || !pointers) {
        say(search, " The device %s of %s takes no %s.", name, file,
            spirv ? "pointers of the host" : "SPIR-V");
    }
    return spirv && pointers;
}

static bool choose_device(opencl_t *candidate, const char *file, search_t *search) {
    cl_platform_t platforms[MOST_FOUND];
    uint32_t platform_count = 0;
    const int32_t result = candidate->clGetPlatformIDs(MOST_FOUND, platforms, &platform_count);
    if (result != CL_SUCCESS || platform_count == 0) {
        say(search, " %s offers no platform (%s, %d).", file, opencl_result_name(result), result);
        return false;
    }
    bool any = false;
    for (uint32_t i = 0; i < platform_count && i < MOST_FOUND; ++i) {
        cl_device_t devices[MOST_FOUND];
        uint32_t count = 0;
        if (candidate->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, MOST_FOUND, devices,
                                      &count) != CL_SUCCESS) {
            continue;
        }
        for (uint32_t j = 0; j < count && j < MOST_FOUND; ++j) {
            any = true;
            if (is_suitable(candidate, file, devices[j], search)) {
                candidate->platform = platforms[i];
                candidate->device = devices[j];
                candidate->units = 1;
                candidate->clGetDeviceInfo(devices[j], CL_DEVICE_MAX_COMPUTE_UNITS,
                                           sizeof candidate->units, &candidate->units, NULL);
                return true;
            }
        }
    }
    if (!any) {
        say(search, " %s has no device of the type CPU.", file);
    }
    return false;
}

static cl_queue_t create_queue(const opencl_t *of) {
    const uint64_t properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    int32_t result = CL_SUCCESS;
    cl_queue_t queue =
        of->clCreateCommandQueueWithProperties(of->context, of->device, properties, &result);
    return result == CL_SUCCESS ? queue : NULL;
}

cl_queue_t opencl_create_queue(void) { return create_queue(&found); }

static bool open_context(opencl_t *candidate, const char *file, search_t *search) {
    int32_t result = CL_SUCCESS;
    candidate->context =
        candidate->clCreateContext(NULL, 1, &candidate->device, NULL, NULL, &result);
    candidate->queue = result == CL_SUCCESS ? create_queue(candidate) : NULL;
    if (candidate->queue == NULL) {
        say(search, " %s cannot make a context and a queue (%s, %d).", file,
            opencl_result_name(result), result);
        return false;
    }
#define OPENCL_LOOK_UP(result, name, parameters)                                                   \
    *(void **)&candidate->name =                                                                   \
        candidate->clGetExtensionFunctionAddressForPlatform(candidate->platform, #name);
    OPENCL_EXTENSIONS(OPENCL_LOOK_UP)
#undef OPENCL_LOOK_UP
    return true;
}

// A library that does not serve stays loaded: runtimes have threads that would lose their code.
static bool try_file(const char *file, search_t *search) {
    const char *problem = NULL;
    void *library = os_library_open(file, &problem);
    if (library == NULL) {
        say(search, " %s cannot be loaded: %s.", file,
            problem != NULL ? problem : "no reason given");
        return false;
    }
    opencl_t candidate = {0};
    if (!read_functions(library, file, &candidate, search) ||
        !choose_device(&candidate, file, search) || !open_context(&candidate, file, search)) {
        return false;
    }
    found = candidate;
    return true;
}

static bool try_files(const char *variable, search_t *search) {
    const char *value = getenv(variable);
    if (value == NULL || *value == '\0') {
        say(search, " %s is not set.", variable);
        return false;
    }
    say(search, " %s is '%s'.", variable, value);
    char *files = strdup(value);
    bool good = false;
    char *rest = NULL;
    for (char *file = files != NULL ? strtok_r(files, ":", &rest) : NULL; file != NULL && !good;
         file = strtok_r(NULL, ":", &rest)) {
        good = try_file(file, search);
    }
    free(files);
    return good;
}

const opencl_t *opencl_open(void) {
    search_t search = {.length = 0};
    os_mutex_lock(&mutex);
    if (!is_open) {
        is_open = try_files("URASYNC_L0_OPENCL", &search) ||
                  try_files("OCL_ICD_FILENAMES", &search) || try_file("libOpenCL.so.1", &search);
    }
    const bool good = is_open;
    os_mutex_unlock(&mutex);
    if (!good) {
        last_error_set(
            "Programs in SPIR-V need an OpenCL runtime for the CPU that takes SPIR-V and pointers "
            "of "
            "the host, and none was found.%s Install one (pip install 'urasync-l0[kernels]' brings "
            "intel-opencl-rt), or name the file of one in URASYNC_L0_OPENCL.",
            search.text);
    }
    return good ? &found : NULL;
}

const char *opencl_result_name(int32_t result) {
    static const struct {
        int32_t result;
        const char *name;
    } names[] = {
        {0, "CL_SUCCESS"},
        {-1, "CL_DEVICE_NOT_FOUND"},
        {-2, "CL_DEVICE_NOT_AVAILABLE"},
        {-3, "CL_COMPILER_NOT_AVAILABLE"},
        {-5, "CL_OUT_OF_RESOURCES"},
        {-6, "CL_OUT_OF_HOST_MEMORY"},
        {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
        {-15, "CL_COMPILE_PROGRAM_FAILURE"},
        {-17, "CL_LINK_PROGRAM_FAILURE"},
        {-30, "CL_INVALID_VALUE"},
        {-42, "CL_INVALID_BINARY"},
        {-43, "CL_INVALID_BUILD_OPTIONS"},
        {-44, "CL_INVALID_PROGRAM"},
        {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
        {-46, "CL_INVALID_KERNEL_NAME"},
        {-49, "CL_INVALID_ARG_INDEX"},
        {-50, "CL_INVALID_ARG_VALUE"},
        {-51, "CL_INVALID_ARG_SIZE"},
        {-52, "CL_INVALID_KERNEL_ARGS"},
        {-54, "CL_INVALID_WORK_GROUP_SIZE"},
        {-55, "CL_INVALID_WORK_ITEM_SIZE"},
        {-59, "CL_INVALID_OPERATION"},
        {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
        {-66, "CL_INVALID_COMPILER_OPTIONS"},
        {-67, "CL_INVALID_LINKER_OPTIONS"},
        {-71, "CL_INVALID_SPEC_ID"},
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (names[i].result == result) {
            return names[i].name;
        }
    }
    return "a result of OpenCL";
}
