# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the calls of the fuzzer: for each declared entry a C function that takes each argument,
by its type and name, from the input."""

import re
from collections.abc import Iterator
from enum import IntEnum, IntFlag
from pathlib import Path

import ur_library_build
import ze_build
from ur_library_build import Entry
from urasync_l0 import enums
from urasync_l0.enums import StructureType
from urasync_l0.result import UrResult

_BOUNDED = re.compile(r"size|width|\w+_pitch|pitch")
_ROWS = re.compile(r"height")
_TRANSFERS = re.compile(r"urEnqueue(USM(Fill|Memcpy)|Mem)\w*")

# What comes first, since others depend on it: they have a length of their own.
_ROOMS = {
    "prop_value": "void *prop_value = take_mistake(8) ? NULL : take_room(prop_size);",
    "pattern": "const void *pattern = take_content(pattern_size);",
    "il": "const void *il = take_content(length);",
}
_LENGTHS = {
    "prop_value": "const size_t prop_size = take_property_size();",
    "pattern": "const size_t pattern_size = take_pattern_size();",
    "il": "const size_t length = take_byte() % 65;",
}

_LISTS_IN = {
    "const ur_exp_kernel_arg_properties_t *": "take_kernel_arguments",
    "const ur_specialization_constant_info_t *": "take_constants",
}


def _kind(name: str) -> str:
    """The kind of object in a type, or in the name of a native handle."""
    return "MEM" if name in ("buffer", "mem") else name.upper()


def _is_list_in(type_: str, entry: Entry) -> bool:
    return re.fullmatch(r"const ur_\w+_handle_t \*", type_) is not None or (
        type_ == "ur_device_handle_t *" and entry.name.startswith("urProgram")
    )


def _type_name(name: str) -> str:
    return "ur_" + re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


# The enumerations of the declarations, and flags, by the names of their types.
_ENUMERATIONS = {
    f"{_type_name(name)}{plural}_t": (name, values)
    for name, values in vars(enums).items()
    if isinstance(values, type) and issubclass(values, IntEnum | IntFlag)
    for plural in ("", "s")
} | {"ur_exp_peer_info_t": ("PeerInfo", enums.PeerInfo)}


def _enumerated(type_: str) -> str:
    name, values = _ENUMERATIONS[type_]
    take = "take_flags_of" if issubclass(values, IntFlag) else "take_one_of"
    return f"{take}(values_of_{name}, {len(values)})"


def _values() -> Iterator[str]:
    for name, values in dict(_ENUMERATIONS.values()).items():
        numbers = ", ".join(str(int(each) & 0xFFFFFFFF) for each in values)
        yield f"__attribute__((unused)) static const uint32_t values_of_{name}[] = {{{numbers}}};"


def _number(entry: Entry, type_: str, name: str) -> str:
    if type_ == "bool":
        return "take_chance(2)"
    if type_ in _ENUMERATIONS:
        return _enumerated(type_)
    if name == "work_dim":
        return "take_mistake(4) ? take_number() : take_byte() % 3 + 1"
    if type_ != "size_t":
        return "take_number()"
    if "offset" in name:
        return "take_offset_size()"
    if "slice_pitch" in name:
        return "is_sensible ? 0 : take_extent()"
    if _ROWS.fullmatch(name):
        return "take_height()"
    if _BOUNDED.fullmatch(name) and (
        _TRANSFERS.fullmatch(entry.name) or entry.name == "urMemBufferCreate"
    ):
        return "take_extent()"
    return "take_any_size()"


_FUNCTIONS = {
    "ur_event_callback_t": "take_event_callback()",
    "ur_context_extended_deleter_t": "take_deleter()",
    "ur_logger_callback_t": "take_logger_callback()",
    "ur_rect_offset_t": "take_offset()",
    "ur_rect_region_t": "take_region()",
    "const char *": "take_text()",
}


def _value(entry: Entry, index: int) -> str:
    """What gives an argument."""
    type_, name = entry.parameters[index]
    before = entry.parameters[index - 1] if index else ("", "")
    if type_ in _FUNCTIONS:
        return _FUNCTIONS[type_]
    if type_ == "const size_t *":
        return f"take_work_sizes({str(name == 'global_work_offset').lower()})"
    if type_ == "ur_native_handle_t":
        return f"take_native({_kind(name.removeprefix('native_'))})"
    if match := re.fullmatch(r"ur_(\w+)_handle_t", type_):
        return f"take_handle({_kind(match[1])})"
    if (match := re.fullmatch(r"ur_(\w+)_handle_t \*", type_)) and match[1] != "native":
        if before[0] == "uint32_t" and before[1].startswith("num_"):
            return f"take_outs({_kind(match[1])}, &{before[1]})"
        return f"take_out({_kind(match[1])})"
    if type_ != "ur_native_handle_t *" and (
        match := re.fullmatch(r"(?:const )?ur_(\w+_(?:properties|desc|region))_t \*", type_)
    ):
        return f"take_structure({int(StructureType[match[1].upper()])})"
    if type_ == "void **":
        return "take_map_out()" if name == "ret_map" else "take_memory_out()"
    if type_ in ("void *", "const void *"):
        names = {"mapped_ptr": "take_map()", "user_data": "take_memory()"}
        return names.get(name, "take_memory()")
    if type_.endswith("*"):
        return f"take_out_room(sizeof({type_.removesuffix('*').strip()}))"
    return _number(entry, type_, name)


def _locals(entry: Entry) -> Iterator[str]:
    """The declarations of the arguments."""
    done = set()
    names = [name for _, name in entry.parameters]
    for buffer, room in _ROOMS.items():
        if buffer in names:
            length = _LENGTHS[buffer]
            if buffer == "prop_value" and "prop_size" not in names:
                length = "const size_t prop_size = ROOM;"
            yield length
            yield room
            done |= {buffer, length.split(" = ")[0].split()[-1]}
    for index, (type_, name) in enumerate(entry.parameters):
        before = entry.parameters[index - 1][1] if index else ""
        after = entry.parameters[index + 1] if index + 1 < len(names) else ("", "")
        if name in done:
            continue
        if type_ == "uint32_t" and (
            _is_list_in(after[0], entry)
            or after[0] in _LISTS_IN
            or (name.startswith("num_") and after[0].endswith("_handle_t *"))
            or before == "binaries"
        ):
            if before != "binaries":
                yield f"uint32_t {name} = 0;"
        elif type_ == "const ur_device_binary_t *":
            yield f"uint32_t num_{name} = 0;"
            yield f"{type_}{name} = take_binaries(&num_{name});"
        elif type_ in _LISTS_IN:
            yield f"{type_}{name} = {_LISTS_IN[type_]}(&{before});"
        elif _is_list_in(type_, entry):
            kind = _kind(re.sub(r"(const )?ur_(\w+)_handle_t \*", r"\2", type_))
            yield f"{type_}{name} = ({type_})take_handles({kind}, &{before});"
        else:
            space = "" if type_.endswith("*") else " "
            yield f"{type_}{space}{name} = {_value(entry, index)};"


def _case(number: int, entry: Entry) -> str:
    names = ", ".join(name for _, name in entry.parameters)
    lines = list(_locals(entry))
    if entry.name == "urContextRelease":
        lines.append("before_context_release(context);")
    if ("void **", "mem") in entry.parameters:
        lines.append("note_size(size);")
    lines.append(f"const ur_result_t answer = UR({entry.name})({names});")
    lines.append(f"count_call({number}, answer);")
    if re.fullmatch(r"urUSMFree|urEnqueueUSMFreeExp", entry.name):
        lines.append("if (answer == UR_RESULT_SUCCESS)\n        freed(mem);")
    lines.append(f'end_call_of("{entry.name}", answer);')
    body = "\n    ".join(lines)
    return f"static void call_{entry.name}(void) {{\n    {body}\n}}\n"


def write_cases(folder: Path) -> None:
    """Write ``cases.c``, and ``functions.h`` with the places of the entries in the table."""
    sources = ze_build.UR_LIBRARY_SOURCES
    entries = ur_library_build.declared_entries(
        (sources / "include" / "entries.h").read_text(encoding="utf-8")
    )
    tables = ur_library_build.function_tables(
        (sources / "function_tables.txt").read_text(encoding="utf-8")
    )
    places = {
        name: place
        for place, name in enumerate(name for names in tables.values() for name in names)
    }
    types = [f"FUZZ_{stype.name}" for stype in StructureType]
    functions = [
        "#pragma once",
        "// The places of the entries in the table, and what structures call themselves.",
        "enum {",
        *(f"    FUNCTION_{entry.name} = {places[entry.name]}," for entry in entries),
        *(f"    FUZZ_{stype.name} = {int(stype)}," for stype in StructureType),
        "};",
        "",
    ]
    (folder / "functions.h").write_text("\n".join(functions), encoding="utf-8")
    cases = [
        '#include "fuzz.h"\n#include "calls.h"\n',
        *_values(),
        *(_case(number, entry) for number, entry in enumerate(entries)),
        "const struct entry entries[] = {",
        *(f'    {{"{entry.name}", call_{entry.name}}},' for entry in entries),
        "};",
        f"const uint32_t entry_count = {len(entries)};",
        f"const uint32_t structure_types[] = {{{', '.join(types)}}};",
        f"const uint32_t structure_type_count = {len(types)};",
        "bool is_known_result(ur_result_t result) {\n    switch (result) {",
        *(f"    case {int(result)}:" for result in UrResult),
        "        return true;\n    default:\n        return false;\n    }\n}",
        "",
    ]
    (folder / "cases.c").write_text("\n".join(cases), encoding="utf-8")
