// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader's own version query, and the table of entries that this extension looks up itself
// (see entry_table.h, which defines these functions).

typedef struct {
    int major;
    int minor;
    int patch;
    ...;
} zel_version_t;

typedef struct {
    char component_name[...];
    ze_api_version_t spec_version;
    zel_version_t component_lib_version;
    ...;
} zel_component_version_t;

ze_result_t zelLoaderGetVersions(size_t *num_elems, zel_component_version_t *versions);

static const int URASYNC_ENTRY_COUNT;

const char *urasync_open_loader(const char *name);
_Bool urasync_in_forked_child(void);
const char *urasync_entry_name(int entry);
_Bool urasync_entry_is_optional(int entry);
_Bool urasync_entry_is_present(int entry);
uint64_t urasync_entry_calls(int entry);
uint64_t urasync_total_calls(void);
