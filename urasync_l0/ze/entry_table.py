# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the extension's table of entries says: which exist, and how often each was called."""

from urasync_l0.ze._extension import ffi, lib


def _name(entry: int) -> str:
    return bytes(ffi.string(lib.urasync_entry_name(entry))).decode()


_INDEX = {_name(entry): entry for entry in range(lib.URASYNC_ENTRY_COUNT)}


def entries() -> tuple[str, ...]:
    """Every entry that the bindings declare."""
    return tuple(_INDEX)


def required_entries() -> tuple[str, ...]:
    """Entries without which a loader is refused."""
    return tuple(name for name, entry in _INDEX.items() if not lib.urasync_entry_is_optional(entry))


def has(entry: str) -> bool:
    """Whether the loader that was opened exports an entry; False before one is opened.

    Raises
    ------
    KeyError
        If the bindings do not declare the entry.
    """
    return bool(lib.urasync_entry_is_present(_INDEX[entry]))


def call_counts() -> dict[str, int]:
    """Calls that this process made through the bindings, for each entry called at least once."""
    calls = ((name, int(lib.urasync_entry_calls(entry))) for name, entry in _INDEX.items())
    return {name: count for name, count in calls if count}


def total_calls() -> int:
    """Calls that this process made through the bindings, all entries together."""
    return int(lib.urasync_total_calls())


def loader_version() -> str | None:
    """The loader's own version, such as "1.32.0"; None before it has initialised a driver."""
    count = ffi.new("size_t *")
    if lib.zelLoaderGetVersions(count, ffi.NULL) or not count[0]:
        return None
    versions = ffi.new("zel_component_version_t[]", count[0])
    if lib.zelLoaderGetVersions(count, versions):
        return None
    for component in versions[0 : count[0]]:
        if bytes(ffi.string(component.component_name)) == b"loader":
            version = component.component_lib_version
            return f"{version.major}.{version.minor}.{version.patch}"
    return None
