// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table through which the extension reaches the Level Zero loader.
//
// The extension does not link to the loader. urasync_open_loader() opens it and looks every entry
// up by name, so one binary serves every loader, and the package imports where there is none.
// The build generates URASYNC_FOR_EACH_ENTRY(ENTRY), with ENTRY(name, optional) for each entry in
// the declarations, and afterwards one macro for each, which turns its calls into URASYNC_CALL.
//
// Threads: calls may come from any thread. urasync_open_loader() must not run twice at a time.
// Fork: a Level Zero driver does not survive a fork, so in a child of a process that had opened
// the loader every call answers ZE_RESULT_ERROR_UNINITIALIZED without reaching the driver.

#ifndef URASYNC_ENTRY_TABLE_H
#define URASYNC_ENTRY_TABLE_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define URASYNC_ENTRY_INDEX(name, optional) URASYNC_INDEX_##name,
enum { URASYNC_FOR_EACH_ENTRY(URASYNC_ENTRY_INDEX) URASYNC_ENTRY_COUNT };
#undef URASYNC_ENTRY_INDEX

struct urasync_entry {
    const char *name;
    bool is_optional;
    bool is_present; // the loader that was opened last exports it
    _Atomic(void *) function;
    _Atomic(uint64_t) calls; // that reached the loader
};

#define URASYNC_ENTRY_ROW(name, optional) {#name, optional, false, NULL, 0},
static struct urasync_entry urasync_entries[] = {URASYNC_FOR_EACH_ENTRY(URASYNC_ENTRY_ROW)};
#undef URASYNC_ENTRY_ROW

static atomic_bool urasync_loader_is_open;
static atomic_bool urasync_is_forked_child;

static void urasync_forget_functions(void) {
    for (int entry = 0; entry < URASYNC_ENTRY_COUNT; ++entry)
        atomic_store(&urasync_entries[entry].function, NULL);
}

static void urasync_after_fork_in_child(void) {
    if (!atomic_load(&urasync_loader_is_open))
        return; // a loader that the parent never opened may be opened here
    atomic_store(&urasync_is_forked_child, true);
    urasync_forget_functions();
}

// Opens the loader and looks every entry up. Returns NULL, or what is wrong; the text stays valid
// until the next call. Fails when the library cannot be loaded or lacks an entry that is not
// optional; urasync_entry_is_present() then tells which.
static const char *urasync_open_loader(const char *name) {
    static char message[1024];
    static bool watches_forks;
    void *functions[URASYNC_ENTRY_COUNT];

    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, sizeof message, "%s", reason != NULL ? reason : "dlopen failed");
        return message;
    }
    int missing = 0;
    for (int entry = 0; entry < URASYNC_ENTRY_COUNT; ++entry) {
        functions[entry] = dlsym(library, urasync_entries[entry].name);
        urasync_entries[entry].is_present = functions[entry] != NULL;
        missing += functions[entry] == NULL && !urasync_entries[entry].is_optional;
    }
    if (missing > 0) {
        dlclose(library);
        snprintf(message, sizeof message, "%d required entries are missing", missing);
        return message;
    }
    if (!watches_forks) {
        if (pthread_atfork(NULL, NULL, urasync_after_fork_in_child) != 0)
            return "no memory to register a fork handler";
        watches_forks = true;
    }
    for (int entry = 0; entry < URASYNC_ENTRY_COUNT; ++entry)
        atomic_store(&urasync_entries[entry].function, functions[entry]);
    atomic_store(&urasync_loader_is_open, true);
    return NULL;
}

static ze_result_t urasync_no_function(void) {
    if (atomic_load(&urasync_is_forked_child) || !atomic_load(&urasync_loader_is_open))
        return ZE_RESULT_ERROR_UNINITIALIZED;
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

#define URASYNC_CALL(name, ...)                                                                    \
    __extension__({                                                                                \
        struct urasync_entry *urasync_entry = &urasync_entries[URASYNC_INDEX_##name];              \
        __typeof__(&name) urasync_function = (__typeof__(&name))atomic_load_explicit(              \
            &urasync_entry->function, memory_order_acquire);                                       \
        if (urasync_function != NULL)                                                              \
            atomic_fetch_add_explicit(&urasync_entry->calls, 1, memory_order_relaxed);             \
        urasync_function != NULL ? urasync_function(__VA_ARGS__) : urasync_no_function();          \
    })

static bool urasync_in_forked_child(void) { return atomic_load(&urasync_is_forked_child); }

static const char *urasync_entry_name(int entry) { return urasync_entries[entry].name; }

static bool urasync_entry_is_optional(int entry) { return urasync_entries[entry].is_optional; }

static bool urasync_entry_is_present(int entry) { return urasync_entries[entry].is_present; }

static uint64_t urasync_entry_calls(int entry) {
    return atomic_load_explicit(&urasync_entries[entry].calls, memory_order_relaxed);
}

static uint64_t urasync_total_calls(void) {
    uint64_t calls = 0;
    for (int entry = 0; entry < URASYNC_ENTRY_COUNT; ++entry)
        calls += urasync_entry_calls(entry);
    return calls;
}

#endif
