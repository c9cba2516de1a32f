// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, threads and clock of Linux.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NANOSECONDS_PER_SECOND = 1000000000 };

static int protection(os_access_t access) {
    switch (access) {
    case OS_ACCESS_NONE:
        return PROT_NONE;
    case OS_ACCESS_READ:
        return PROT_READ;
    case OS_ACCESS_READ_WRITE:
        break;
    }
    return PROT_READ | PROT_WRITE;
}

// Maps `size` anonymous bytes at a multiple of `alignment`: maps too much and gives the rest back.
static void *map_aligned(const void *hint, size_t size, size_t alignment, int prot) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (alignment < OS_PAGE) {
        alignment = OS_PAGE;
    }
    if (hint != NULL) {
        void *there = mmap((void *)hint, size, prot, flags, -1, 0);
        if (there == MAP_FAILED) {
            return NULL;
        }
        if (((uintptr_t)there & (alignment - 1)) == 0) {
            return there;
        }
        munmap(there, size);
    }
    const size_t slack = alignment - OS_PAGE;
    if (size > SIZE_MAX - slack) {
        return NULL;
    }
    char *all = mmap(NULL, size + slack, prot, flags, -1, 0);
    if (all == MAP_FAILED) {
        return NULL;
    }
    const uintptr_t start = ((uintptr_t)all + alignment - 1) & ~(uintptr_t)(alignment - 1);
    const size_t before = start - (uintptr_t)all;
    if (before > 0) {
        munmap(all, before);
    }
    if (slack > before) {
        munmap((char *)start + size, slack - before);
    }
    return (void *)start;
}

void *os_memory_map(size_t size, size_t alignment) {
    return map_aligned(NULL, size, alignment, PROT_READ | PROT_WRITE);
}

void *os_memory_reserve(const void *hint, size_t size, size_t alignment) {
    return map_aligned(hint, size, alignment, PROT_NONE);
}

void os_memory_unmap(void *address, size_t size) { munmap(address, size); }

bool os_memory_protect(void *address, size_t size, os_access_t access) {
    return mprotect(address, size, protection(access)) == 0;
}

static os_mutex_t store_mutex = OS_MUTEX_INITIALIZER;
static int store_file = -1;
static uint64_t store_end = 0;

// Offsets are never used twice: the file is sparse, and its end is far away.
bool os_store_take(size_t size, uint64_t *offset) {
    bool taken = false;
    os_mutex_lock(&store_mutex);
    if (store_file < 0) {
        store_file = memfd_create("urasync-physical-memory", MFD_CLOEXEC);
    }
    if (store_file >= 0 && size <= (uint64_t)INT64_MAX - store_end &&
        ftruncate(store_file, (off_t)(store_end + size)) == 0) {
        *offset = store_end;
        store_end += size;
        taken = true;
    }
    os_mutex_unlock(&store_mutex);
    return taken;
}

void os_store_give_back(uint64_t offset, size_t size) {
    fallocate(store_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}

bool os_store_map(void *address, size_t size, uint64_t offset, os_access_t access) {
    return mmap(address, size, protection(access), MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                store_file, (off_t)offset) != MAP_FAILED;
}

bool os_store_unmap(void *address, size_t size) {
    return mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                -1, 0) != MAP_FAILED;
}

uint64_t os_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void os_sleep(uint64_t nanoseconds) {
    const struct timespec time = {.tv_sec = (time_t)(nanoseconds / NANOSECONDS_PER_SECOND),
                                  .tv_nsec = (long)(nanoseconds % NANOSECONDS_PER_SECOND)};
    nanosleep(&time, NULL);
}

uint64_t os_deadline(uint64_t timeout) {
    if (timeout == OS_FOREVER) {
        return OS_FOREVER;
    }
    const uint64_t now = os_now();
    return timeout < OS_FOREVER - now ? now + timeout : OS_FOREVER;
}

bool os_thread_start(os_thread_t *thread, void *(*run)(void *), void *argument, const char *name) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return false;
    }
    pthread_setname_np(*thread, name);
    // Else who appends loses its processor to a worker that it wakes, as to no device.
    const struct sched_param none = {0};
    pthread_setschedparam(*thread, SCHED_BATCH, &none);
    return true;
}

void os_thread_join(os_thread_t thread) { pthread_join(thread, NULL); }

void os_condition_init(os_condition_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool os_condition_wait(os_condition_t *condition, os_mutex_t *mutex, uint64_t deadline) {
    if (deadline == OS_FOREVER) {
        pthread_cond_wait(condition, mutex);
        return true;
    }
    const struct timespec until = {.tv_sec = (time_t)(deadline / NANOSECONDS_PER_SECOND),
                                   .tv_nsec = (long)(deadline % NANOSECONDS_PER_SECOND)};
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}

void *os_library_open(const char *file, const char **problem) {
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        *problem = dlerror();
    }
    return library;
}

void *os_library_find(void *library, const char *name) { return dlsym(library, name); }
