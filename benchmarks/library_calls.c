/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an allocation and its free cost a C program, through the adapter library that the command
 * line names: the median of some rounds, in nanoseconds a pair. The places of the functions in
 * their tables are defined by who compiles this (library_calls.py).
 */
#include "unified_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, PAIRS = 5000, SIZE = 1024 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        ur_result_t result_ = (call);                                                              \
        if (result_ != UR_RESULT_SUCCESS) {                                                        \
            fprintf(stderr, "%u from %s\n", result_, #call);                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void *library;

static void *function(const char *table, size_t place) {
    void *functions[64] = {0};
    char name[64];
    ur_result_t (*get)(ur_api_version_t, void *);
    snprintf(name, sizeof(name), "urGet%sProcAddrTable", table);
    get = (ur_result_t (*)(ur_api_version_t, void *))dlsym(library, name);
    if (get == NULL) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    OK(get(UR_API_VERSION, functions));
    return functions[place];
}

#define UR(name) ((__typeof__(&name))function(TABLE_##name, PLACE_##name))

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    ur_device_handle_t device;
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    double plain[ROUNDS], with_events[ROUNDS];
    library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", count == 2 ? dlerror() : "usage: library_calls LIBRARY");
        return 1;
    }
    OK(UR(urAdapterGet)(1, &adapter, NULL));
    OK(UR(urPlatformGet)(adapter, 1, &platform, NULL));
    OK(UR(urDeviceGet)(platform, 2, 1, &device, NULL));
    OK(UR(urContextCreate)(1, &device, NULL, &context));
    OK(UR(urQueueCreate)(context, device, NULL, &queue));
    __typeof__(&urEnqueueUSMDeviceAllocExp) alloc = UR(urEnqueueUSMDeviceAllocExp);
    __typeof__(&urEnqueueUSMFreeExp) release = UR(urEnqueueUSMFreeExp);
    __typeof__(&urEventRelease) release_event = UR(urEventRelease);
    __typeof__(&urQueueFinish) finish = UR(urQueueFinish);
    for (int round = -1; round < ROUNDS; round++) { /* the first warms up */
        void *mem;
        double start = now();
        for (int i = 0; i < PAIRS; i++) {
            OK(alloc(queue, NULL, SIZE, NULL, 0, NULL, &mem, NULL));
            OK(release(queue, NULL, mem, 0, NULL, NULL));
        }
        double middle = now();
        OK(finish(queue));
        double again = now();
        for (int i = 0; i < PAIRS; i++) {
            ur_event_handle_t allocated, freed;
            OK(alloc(queue, NULL, SIZE, NULL, 0, NULL, &mem, &allocated));
            OK(release(queue, NULL, mem, 1, &allocated, &freed));
            OK(release_event(allocated));
            OK(release_event(freed));
        }
        double end = now();
        OK(finish(queue));
        if (round >= 0) {
            plain[round] = (middle - start) / PAIRS;
            with_events[round] = (end - again) / PAIRS;
        }
    }
    qsort(plain, ROUNDS, sizeof(double), compare);
    qsort(with_events, ROUNDS, sizeof(double), compare);
    printf("{\"pair\": %.0f, \"pair_with_events\": %.0f}\n", plain[ROUNDS / 2],
           with_events[ROUNDS / 2]);
    return 0;
}
