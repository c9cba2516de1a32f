// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings from the environment, read once at the first initialisation.
//
//   URASYNC_L0_SOFTWARE_DEVICES         1 to 8 root devices (1)
//   URASYNC_L0_SOFTWARE_SUB_DEVICES     sub-devices of each root device, 2 to 4; 0: none (0)
//   URASYNC_L0_SOFTWARE_MEMORY          memory of each device, bytes with K, M, G or T (16G)
//   URASYNC_L0_SOFTWARE_MAX_ALLOCATION  largest single allocation (4G, or the memory if less)
//   URASYNC_L0_SOFTWARE_PAGE            page of large virtual memory, a power of two (2M)
//   URASYNC_L0_SOFTWARE_TIMER           ticks a second of the device's clock (19200000)
//   URASYNC_L0_SOFTWARE_MAPPED_UNKNOWN  1: memory queries do not know mapped memory (0)
//   URASYNC_L0_SOFTWARE_PEER            0: devices cannot access each other (1)
//   URASYNC_L0_SOFTWARE_HIDE            names of entries, published functions and extensions that
//                                       the driver shall not have, separated by commas; a name may
//                                       end in * to mean all that begin so
//
// Level Zero's own ZE_FLAT_DEVICE_HIERARCHY says what zeDeviceGet gives when there are sub-devices:
// COMPOSITE (what this driver takes when it is not set), FLAT or COMBINED.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define PREFIX "URASYNC_L0_SOFTWARE_"

extern char **environ;

settings_t settings;

static const uint64_t kib = 1024;
static const uint64_t mib = 1024 * kib;
static const uint64_t gib = 1024 * mib;
static const uint64_t tib = 1024 * gib;

static bool parse_number(const char *text, uint64_t *number, const char **rest) {
    if (*text < '0' || *text > '9') {
        return false; // strtoull would take a sign and blanks
    }
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    *rest = end;
    return errno == 0;
}

static bool parse_bytes(const char *text, uint64_t *bytes) {
    uint64_t number;
    const char *suffix;
    if (!parse_number(text, &number, &suffix)) {
        return false;
    }
    uint64_t unit = 1;
    if (*suffix != '\0') {
        switch (*suffix) {
        case 'K':
            unit = kib;
            break;
        case 'M':
            unit = mib;
            break;
        case 'G':
            unit = gib;
            break;
        case 'T':
            unit = tib;
            break;
        default:
            return false;
        }
        if (suffix[1] != '\0') {
            return false;
        }
    }
    if (number == 0 || number > UINT64_MAX / unit) {
        return false;
    }
    *bytes = number * unit;
    return true;
}

static bool complain(const char *name, const char *value, const char *expected) {
    fprintf(stderr, "urasync software driver: %s=%s is not valid: expected %s\n", name, value,
            expected);
    return false;
}

static bool read_bytes(const char *name, uint64_t least, uint64_t most, bool power_of_two,
                       const char *expected, uint64_t *bytes) {
    const char *text = getenv(name);
    if (text == NULL) {
        return true;
    }
    if (!parse_bytes(text, bytes) || *bytes < least || *bytes > most ||
        (power_of_two && (*bytes & (*bytes - 1)) != 0)) {
        return complain(name, text, expected);
    }
    return true;
}

static bool read_number(const char *name, uint64_t least, uint64_t most, const char *expected,
                        uint64_t *number) {
    const char *text = getenv(name);
    const char *rest;
    if (text == NULL) {
        return true;
    }
    if (!parse_number(text, number, &rest) || *rest != '\0' || *number < least || *number > most) {
        return complain(name, text, expected);
    }
    return true;
}

static bool read_switch(const char *name, bool *value) {
    uint64_t number = *value ? 1 : 0;
    const bool valid = read_number(name, 0, 1, "0 or 1", &number);
    *value = number == 1;
    return valid;
}

static bool item_covers(const char *item, size_t length, const char *name) {
    if (length > 0 && item[length - 1] == '*') {
        return strncmp(item, name, length - 1) == 0;
    }
    return strlen(name) == length && strncmp(item, name, length) == 0;
}

// A copy, because the program may change its environment while other threads look here.
static char *hidden = NULL;

bool settings_hidden(const char *name) {
    const char *item = hidden;
    while (item != NULL && *item != '\0') {
        const size_t length = strcspn(item, ",");
        if (item_covers(item, length, name)) {
            return true;
        }
        item += length;
        item += *item == ',' ? 1 : 0;
    }
    return false;
}

// Hides the entries, and refuses an item that covers nothing: it is a misspelt name.
static bool hide(void) {
    const char *list = getenv(PREFIX "HIDE");
    if (list == NULL) {
        return true;
    }
    hidden = strdup(list);
    if (hidden == NULL) {
        return false;
    }
    for (const char *item = list; *item != '\0';) {
        const size_t length = strcspn(item, ",");
        bool known = false;
        for (entry_t entry = 0; entry < ENTRY_COUNT; ++entry) {
            if (item_covers(item, length, entry_name(entry))) {
                atomic_fetch_or(&entry_states[entry].special, ENTRY_HIDDEN);
                known = true;
            }
        }
        for (const char *const *name = driver_published(); *name != NULL; ++name) {
            known = known || item_covers(item, length, *name);
        }
        if (!known) {
            fprintf(stderr,
                    "urasync software driver: %sHIDE names %.*s, but there is no entry, function "
                    "or extension of that name\n",
                    PREFIX, (int)length, item);
            return false;
        }
        item += length;
        item += *item == ',' ? 1 : 0;
    }
    return true;
}

static bool all_known(void) {
    static const char *const known[] = {
        "DEVICES",        "SUB_DEVICES", "MEMORY", "MAX_ALLOCATION", "PAGE", "TIMER",
        "MAPPED_UNKNOWN", "PEER",        "CHECK",  "SEED",           "HIDE"};
    bool valid = true;
    // After clearenv() there is no list at all.
    for (char **variable = environ; variable != NULL && *variable != NULL; ++variable) {
        if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        const char *name = *variable + strlen(PREFIX);
        const size_t length = strcspn(name, "=");
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
            found = found || (strlen(known[i]) == length && strncmp(known[i], name, length) == 0);
        }
        if (!found) {
            fprintf(stderr, "urasync software driver: there is no setting %s%.*s\n", PREFIX,
                    (int)length, name);
            valid = false;
        }
    }
    return valid;
}

static bool read_hierarchy(hierarchy_t *hierarchy) {
    static const char *const names[] = {
        [COMPOSITE] = "COMPOSITE", [FLAT] = "FLAT", [COMBINED] = "COMBINED"};
    const char *text = getenv("ZE_FLAT_DEVICE_HIERARCHY");
    if (text == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *hierarchy = (hierarchy_t)i;
            return true;
        }
    }
    return complain("ZE_FLAT_DEVICE_HIERARCHY", text, "COMPOSITE, FLAT or COMBINED");
}

static bool load(void) {
    uint64_t devices = 1;
    uint64_t sub_devices = 0;
    settings = (settings_t){.memory = 16 * gib,
                            .max_allocation = 4 * gib,
                            .page = 2 * mib,
                            .timer = 19200000,
                            .peer = true};
    bool valid = all_known();
    valid &=
        read_number(PREFIX "DEVICES", 1, MAX_ROOT_DEVICES, "a number of devices, 1 to 8", &devices);
    valid &= read_number(PREFIX "SUB_DEVICES", 0, MAX_SUB_DEVICES, "2 to 4 sub-devices, or 0",
                         &sub_devices);
    if (sub_devices == 1) {
        valid = complain(PREFIX "SUB_DEVICES", "1", "2 to 4 sub-devices, or 0");
    }
    valid &= read_hierarchy(&settings.hierarchy);
    valid &= read_bytes(PREFIX "MEMORY", mib, 1024 * tib, false,
                        "bytes, 1M to 1024T, such as 512M or 16G", &settings.memory);
    valid &= read_bytes(PREFIX "MAX_ALLOCATION", OS_PAGE, 1024 * tib, false,
                        "bytes, 4K to 1024T, such as 512M or 4G", &settings.max_allocation);
    valid &= read_bytes(PREFIX "PAGE", OS_PAGE, gib, true, "a power of two, 4K to 1G, such as 2M",
                        &settings.page);
    valid &= read_number(PREFIX "TIMER", 1, 1000000000, "ticks a second, 1 to 1000000000",
                         &settings.timer);
    valid &= read_switch(PREFIX "MAPPED_UNKNOWN", &settings.mapped_unknown);
    valid &= read_switch(PREFIX "PEER", &settings.peer);
    valid &= read_switch(PREFIX "CHECK", &settings.check);
    valid &= read_number(PREFIX "SEED", 0, UINT64_MAX, "a seed, a whole number", &settings.seed);
    checker_start(settings.check);
    valid &= hide();
    settings.devices = (uint32_t)devices;
    settings.sub_devices = (uint32_t)sub_devices;
    if (settings.max_allocation > settings.memory) {
        settings.max_allocation = settings.memory;
    }
    return valid;
}

bool settings_load(void) {
    static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
    static enum { UNREAD, VALID, INVALID } state = UNREAD;
    os_mutex_lock(&mutex);
    if (state == UNREAD) {
        state = load() ? VALID : INVALID;
    }
    const bool valid = state == VALID;
    os_mutex_unlock(&mutex);
    return valid;
}
