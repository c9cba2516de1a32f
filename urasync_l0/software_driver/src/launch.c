// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: what they take with them from their kernel, which memory they touch, how they run.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

// --- Making and giving back ---------------------------------------------------------------------

static size_t round_up(size_t size) {
    const size_t alignment = sizeof(size_t);
    return (size + alignment - 1) / alignment * alignment;
}

static const void *pointer_of(const launch_t *launch, uint32_t argument) {
    const void *pointer;
    memcpy(&pointer, launch->arguments + launch->values[argument], sizeof pointer);
    return pointer;
}

static const parameter_t *parameter_of(const launch_t *launch, uint32_t argument) {
    return &launch->kernel->info->parameters[argument];
}

static bool add_range(launch_t *launch, uintptr_t base, size_t size, bool written) {
    const uint32_t count = launch->range_count + launch->beyond_count;
    byte_range_t *more = realloc(launch->ranges, (count + 1) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    more[count] = (byte_range_t){base, size, written};
    launch->ranges = more;
    return true;
}

typedef struct gathering {
    launch_t *launch;
    bool good;
} gathering_t;

static void add_beyond(const memory_facts_t *facts, void *argument) {
    gathering_t *gathering = argument;
    const uint32_t kinds[] = {[ZE_MEMORY_TYPE_HOST] = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST,
                              [ZE_MEMORY_TYPE_DEVICE] = ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE,
                              [ZE_MEMORY_TYPE_SHARED] = ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED};
    const launch_t *launch = gathering->launch;
    if (facts->context == launch->kernel->module->context &&
        (launch->indirect & kinds[facts->type]) != 0 && gathering->good) {
        gathering->good = add_range(gathering->launch, facts->base, facts->size, true);
        gathering->launch->beyond_count += gathering->good ? 1 : 0;
    }
}

// For the checker: the pointers' whole allocations, or what a test has declared; then, without a
// declaration, everything of the kinds that the kernel may reach through pointers in memory.
static bool gather_ranges(launch_t *launch) {
    const kernel_t *kernel = launch->kernel;
    for (uint32_t i = 0; i < kernel->info->parameter_count; ++i) {
        if (parameter_of(launch, i)->kind != PARAMETER_POINTER || pointer_of(launch, i) == NULL) {
            continue;
        }
        const void *pointer = pointer_of(launch, i);
        memory_facts_t facts;
        byte_range_t range = {(uintptr_t)pointer, 1, !parameter_of(launch, i)->only_read};
        if (kernel->declared != NULL) {
            range.size = kernel->declared[i];
        } else if (memory_find(pointer, &facts)) {
            range.base = facts.base;
            range.size = facts.size;
        }
        if (range.size > 0) {
            if (!add_range(launch, range.base, range.size, range.written)) {
                return false;
            }
            ++launch->range_count;
        }
    }
    gathering_t gathering = {.launch = launch, .good = true};
    if (launch->indirect != 0) {
        memory_visit(add_beyond, &gathering);
    }
    return gathering.good;
}

launch_t *launch_create(kernel_t *kernel, const ze_group_count_t *groups, bool is_cooperative) {
    const size_t total = round_up(kernel->total);
    const size_t places = kernel->info->parameter_count * sizeof(size_t);
    launch_t *launch = malloc(sizeof *launch + total + places);
    if (launch == NULL) {
        return NULL;
    }
    *launch = (launch_t){.kernel = kernel_retain(kernel),
                         .indirect = kernel->declared == NULL ? kernel->indirect : 0,
                         .is_cooperative = is_cooperative};
    if (groups != NULL) {
        launch->groups[0] = groups->groupCountX;
        launch->groups[1] = groups->groupCountY;
        launch->groups[2] = groups->groupCountZ;
    }
    memcpy(launch->group_size, kernel->group_size, sizeof launch->group_size);
    memcpy(launch->offset, kernel->offset, sizeof launch->offset);
    memcpy(launch->arguments, kernel->arguments, kernel->total);
    launch->values = (size_t *)(launch->arguments + total);
    memcpy(launch->values, kernel->values, places);
    if (checker_is_on && !gather_ranges(launch)) {
        launch_free(launch);
        return NULL;
    }
    return launch;
}

void launch_free(launch_t *launch) {
    while (launch != NULL) {
        launch_t *next = launch->next;
        kernel_release(launch->kernel);
        free(launch->ranges);
        free(launch);
        launch = next;
    }
}

void launches_hold(const command_t *command) {
    for (launch_t *launch = command->launch.first; launch != NULL; launch = launch->next) {
        atomic_fetch_add(&launch->kernel->pending, 1);
    }
}

static void let_go(const command_t *command) {
    for (launch_t *launch = command->launch.first; launch != NULL; launch = launch->next) {
        atomic_fetch_sub(&launch->kernel->pending, 1);
    }
}

// --- What it touches ----------------------------------------------------------------------------

static bool touches(const launch_t *launch, uintptr_t base, size_t size) {
    if (checker_is_on) {
        for (uint32_t i = 0; i < launch->range_count + launch->beyond_count; ++i) {
            const byte_range_t *range = &launch->ranges[i];
            if (range->base < base ? base - range->base < range->size : range->base - base < size) {
                return true;
            }
        }
        return false;
    }
    for (uint32_t i = 0; i < launch->kernel->info->parameter_count; ++i) {
        if (parameter_of(launch, i)->kind == PARAMETER_POINTER &&
            (uintptr_t)pointer_of(launch, i) - base < size) {
            return true;
        }
    }
    return launch->indirect != 0; // whatever the kind: who waits for too much waits long enough
}

bool launches_touch(const command_t *command, uintptr_t base, size_t size) {
    for (const launch_t *launch = command->launch.first; launch != NULL; launch = launch->next) {
        if (touches(launch, base, size)) {
            return true;
        }
    }
    return false;
}

// --- Running ------------------------------------------------------------------------------------

static void groups_of(const launch_t *launch, uint32_t groups[3]) {
    memcpy(groups, launch->groups, sizeof launch->groups);
    if (launch->indirect_groups != NULL) {
        ze_group_count_t now;
        memcpy(&now, launch->indirect_groups, sizeof now);
        groups[0] = now.groupCountX;
        groups[1] = now.groupCountY;
        groups[2] = now.groupCountZ;
    }
}

static void run_native(launch_t *launch, const uint32_t groups[3]) {
    const uint32_t count = launch->kernel->info->parameter_count;
    const void *values[count + 1];
    urasync_launch told = {.argument_count = count, .arguments = values};
    for (uint32_t i = 0; i < count; ++i) {
        values[i] = launch->arguments + launch->values[i];
    }
    for (int i = 0; i < 3; ++i) {
        told.groups[i] = groups[i];
        told.group_size[i] = launch->group_size[i];
        told.offset[i] = launch->offset[i];
    }
    launch->started = os_now();
    native_kernel_run(launch->kernel->native, &told);
    launch->ended = os_now();
}

static int32_t set_arguments(const launch_t *launch) {
    const opencl_t *cl = opencl();
    cl_kernel_t kernel = launch->kernel->kernel;
    int32_t result = CL_SUCCESS;
    for (uint32_t i = 0; i < launch->kernel->info->parameter_count && result == CL_SUCCESS; ++i) {
        const parameter_t *parameter = parameter_of(launch, i);
        if (parameter->kind == PARAMETER_POINTER) {
            result = cl->clSetKernelArgSVMPointer(kernel, i, pointer_of(launch, i));
        } else if (parameter->kind == PARAMETER_LOCAL) {
            result = cl->clSetKernelArg(kernel, i, launch->values[i], NULL);
        } else {
            result = cl->clSetKernelArg(kernel, i, parameter->size,
                                        launch->arguments + launch->values[i]);
        }
    }
    return result;
}

// Groups of a cooperative launch may wait for each other.
static int32_t set_dispatch(const launch_t *launch) {
    kernel_t *kernel = launch->kernel;
    const opencl_t *cl = opencl();
    if (launch->is_cooperative == kernel->is_concurrent ||
        cl->clGetKernelMaxConcurrentWorkGroupCountINTEL == NULL) {
        return CL_SUCCESS;
    }
    const uint32_t type = launch->is_cooperative ? 1 : 0;
    const int32_t result = cl->clSetKernelExecInfo(
        kernel->kernel, CL_KERNEL_EXEC_INFO_DISPATCH_TYPE_INTEL, sizeof type, &type);
    kernel->is_concurrent = result == CL_SUCCESS ? launch->is_cooperative : kernel->is_concurrent;
    return result;
}

// The arguments belong to OpenCL's kernel until the launch is enqueued, hence the lock.
static int32_t enqueue(cl_queue_t queue, const launch_t *launch, const uint32_t groups[3],
                       cl_event_t *event) {
    size_t offset[3];
    size_t global[3];
    size_t local[3];
    for (int i = 0; i < 3; ++i) {
        offset[i] = launch->offset[i];
        local[i] = launch->group_size[i];
        global[i] = local[i] * groups[i];
    }
    os_mutex_lock(&launch->kernel->mutex);
    int32_t result = set_arguments(launch);
    if (result == CL_SUCCESS) {
        result = set_dispatch(launch);
    }
    if (result == CL_SUCCESS) {
        result = opencl()->clEnqueueNDRangeKernel(queue, launch->kernel->kernel, 3, offset, global,
                                                  local, 0, NULL, event);
    }
    os_mutex_unlock(&launch->kernel->mutex);
    return result;
}

// The runtime's own times, if its clock is ours; else those around the run.
static void note_times(launch_t *launch, cl_event_t event, uint64_t before, uint64_t after) {
    const opencl_t *cl = opencl();
    uint64_t start = 0;
    uint64_t end = 0;
    cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    const bool good = before <= start && start <= end && end <= after;
    launch->started = good ? start : before;
    launch->ended = good ? end : after;
}

// Groups that wait for each other need all of the runtime's threads: two such launches at a time
// would each have some of them, and wait for ever.
static os_mutex_t meeting = OS_MUTEX_INITIALIZER;

static int32_t run_to_the_end(cl_queue_t queue, const launch_t *launch, const uint32_t groups[3],
                              cl_event_t *event) {
    if (launch->is_cooperative) {
        os_mutex_lock(&meeting);
    }
    int32_t result = enqueue(queue, launch, groups, event);
    if (result == CL_SUCCESS) {
        result = opencl()->clWaitForEvents(1, event);
    }
    if (launch->is_cooperative) {
        os_mutex_unlock(&meeting);
    }
    return result;
}

static void run_in_opencl(worker_t *worker, launch_t *launch, const uint32_t groups[3]) {
    const opencl_t *cl = opencl();
    if (worker->queue == NULL) {
        worker->queue = opencl_create_queue();
    }
    cl_event_t event = NULL;
    const uint64_t before = os_now();
    const int32_t result = worker->queue != NULL
                               ? run_to_the_end(worker->queue, launch, groups, &event)
                               : CL_OUT_OF_HOST_MEMORY;
    if (result == CL_SUCCESS) {
        note_times(launch, event, before, os_now());
    }
    if (event != NULL) {
        cl->clReleaseEvent(event);
    }
    if (result != CL_SUCCESS) {
        fprintf(stderr,
                "urasync software driver: the OpenCL runtime could not run the kernel '%s' (%s, "
                "%d); device %" PRIu32 " is lost\n",
                launch->kernel->info->name, opencl_result_name(result), result,
                worker->device->index);
        device_lose(worker->device);
    }
}

void launches_run(worker_t *worker, const command_t *command) {
    uint32_t count = UINT32_MAX;
    if (command->launch.count != NULL) {
        memcpy(&count, command->launch.count, sizeof count);
    }
    for (launch_t *launch = command->launch.first; launch != NULL; launch = launch->next) {
        uint32_t groups[3];
        launch->started = launch->ended = os_now();
        if (count-- == 0) {
            break;
        }
        groups_of(launch, groups);
        if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) {
            continue;
        }
        if (launch->kernel->native != NULL) {
            run_native(launch, groups);
        } else {
            run_in_opencl(worker, launch, groups);
        }
        command->launch.first->ended = launch->ended;
    }
    let_go(command);
}

void launches_times(const command_t *command, uint64_t *start, uint64_t *end) {
    const launch_t *first = command->launch.first;
    if (first != NULL) {
        *start = device_ticks_at(first->started);
        *end = device_ticks_at(first->ended);
    }
}

bool launches_visit_ranges(worker_t *worker, const command_t *command, range_visit_t *visit) {
    for (const launch_t *launch = command->launch.first; launch != NULL; launch = launch->next) {
        for (uint32_t i = 0; i < launch->range_count + launch->beyond_count; ++i) {
            if (!visit(worker, &launch->ranges[i], i < launch->range_count)) {
                return false;
            }
        }
    }
    return true;
}
