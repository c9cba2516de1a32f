// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only door to the operating system: memory, threads, clock. Linux for now.
//
// Preconditions of all of them: sizes and offsets are multiples of OS_PAGE unless said otherwise,
// alignments are powers of two, out parameters are not NULL. What can fail returns false or NULL
// and has then changed nothing.

#ifndef URASYNC_OS_H
#define URASYNC_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OS_PAGE = 4096 };

#define OS_FOREVER UINT64_MAX

typedef enum os_access { OS_ACCESS_NONE, OS_ACCESS_READ, OS_ACCESS_READ_WRITE } os_access_t;

// Memory. Pages are zero when first touched and are committed only then.
void *os_memory_map(size_t size, size_t alignment);
void *os_memory_reserve(const void *hint, size_t size, size_t alignment); // no access
void os_memory_unmap(void *address, size_t size);
bool os_memory_protect(void *address, size_t size, os_access_t access);

// The store is one sparse file in memory. A range of it can be mapped at several addresses.
bool os_store_take(size_t size, uint64_t *offset);
void os_store_give_back(uint64_t offset, size_t size);
bool os_store_map(void *address, size_t size, uint64_t offset, os_access_t access);
bool os_store_unmap(void *address, size_t size); // back to a reservation without access

// Clock: nanoseconds of a clock that never goes back.
uint64_t os_now(void);
void os_sleep(uint64_t nanoseconds);
// The time `timeout` nanoseconds from now; OS_FOREVER stays for ever.
uint64_t os_deadline(uint64_t timeout);

// Threads. They take no signals of the process, and no processor from the thread that wakes them.
typedef pthread_t os_thread_t;
bool os_thread_start(os_thread_t *thread, void *(*run)(void *), void *argument, const char *name);
void os_thread_join(os_thread_t thread);

typedef pthread_mutex_t os_mutex_t;
#define OS_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
static inline void os_mutex_init(os_mutex_t *mutex) { pthread_mutex_init(mutex, NULL); }
static inline void os_mutex_destroy(os_mutex_t *mutex) { pthread_mutex_destroy(mutex); }
static inline void os_mutex_lock(os_mutex_t *mutex) { pthread_mutex_lock(mutex); }
static inline void os_mutex_unlock(os_mutex_t *mutex) { pthread_mutex_unlock(mutex); }

typedef pthread_cond_t os_condition_t;
void os_condition_init(os_condition_t *condition);
static inline void os_condition_destroy(os_condition_t *c) { pthread_cond_destroy(c); }
static inline void os_condition_broadcast(os_condition_t *c) { pthread_cond_broadcast(c); }
// Waits once; false when the deadline has passed. May wake for no reason.
bool os_condition_wait(os_condition_t *condition, os_mutex_t *mutex, uint64_t deadline);

// Libraries that are looked for at run time; never closed. `problem` is said when one cannot open.
void *os_library_open(const char *file, const char **problem);
void *os_library_find(void *library, const char *name);

// A hint to the processor that the thread spins.
static inline void os_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
