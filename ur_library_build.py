# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the C source of a UR adapter library, for ze_build.py.

``include/entries.h`` declares the functions that the library offers. For each there is an
``extern "Python"`` function, which cffi connects with Python, and around it the C function that
clients call. ``function_tables.txt`` says where each stands in the tables; all others say that they
are not offered.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import cffi

# Functions that do without Python.
IN_C = frozenset({"urAdapterSetLoggerCallback", "urAdapterSetLoggerCallbackLevel"})

# Allocations and frees. If they name no pool, event or structure they reach Python as numbers
# alone, since cffi makes an object for every pointer; entry_glue.py has the rest.
PLAIN = re.compile(r"urEnqueueUSM\w+Exp")

# Called by Python.
FOR_PYTHON = """
extern void *const function_table_address;
bool is_logged(uint32_t level);
void write_log(uint32_t level, const char *message);
const char *library_path(void);
void fail_start(const char *reason);
void end_calls(void);
void release_at_exit(void);
void connect_usual_calls(uintptr_t given);
"""

EXPORTED = "{ global: urGet*ProcAddrTable; urasync_l0_interpreter_lock; local: *; };\n"

START = """
from urasync_l0.ur_library._{adapter} import ffi, lib
try:
    try:
        from urasync_l0.ur_library.startup import start
    except ModuleNotFoundError:
        # A Python program of another environment than that of the library.
        import os, pathlib, sys
        library = pathlib.Path(os.fsdecode(ffi.string(lib.library_path())))
        sys.path.append(str(library.parents[2]))
        from urasync_l0.ur_library.startup import start
    start(ffi, lib, "{adapter}")
except BaseException:
    import traceback
    lib.fail_start(traceback.format_exc().encode())
"""


class Entry(NamedTuple):
    """A declared function: its name, and the type and name of each parameter."""

    name: str
    parameters: tuple[tuple[str, str], ...]


def declared_entries(header: str) -> list[Entry]:
    """The functions that a header declares."""
    found = []
    for match in re.finditer(r"ur_result_t\s+(ur\w+)\(([^;]*)\);", header):
        parameters = []
        for parameter in " ".join(match[2].split()).split(", "):
            type_, name = re.fullmatch(r"(.*?)\s*(\w+)", parameter).groups()  # type: ignore[union-attr]
            parameters.append((type_, name))
        found.append(Entry(match[1], tuple(parameters)))
    return found


def function_tables(text: str) -> dict[str, list[str]]:
    """The names of the functions in each table, in their order."""
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    tables = re.findall(r"^(\w+):((?:\s+ur\w+)+)", text, re.MULTILINE)
    return {name: functions.split() for name, functions in tables}


def type_for_python(type_: str, name: str) -> str:
    """What cffi gives to Python: handles and addresses as integers, which cost nothing to make."""
    if re.fullmatch(r"ur_\w+_handle_t", type_) or (
        type_ in ("void *", "const void *") and name in ("mem", "dst", "src", "mapped_ptr")
    ):
        return "uintptr_t"
    if re.fullmatch(r"(const )?ur_\w+_handle_t \*", type_) or type_ == "void **":
        return "uintptr_t *"
    return type_


def _parameters(entry: Entry) -> str:
    return ", ".join(f"{type_} {name}" for type_, name in entry.parameters)


def _python_declaration(entry: Entry) -> str:
    parameters = ", ".join(type_for_python(*parameter) for parameter in entry.parameters)
    return f"uint32_t python_{entry.name}({parameters});"


def _plain_declaration(entry: Entry) -> str:
    """Takes the queue, and the size or the address. Gives an address, which is even, or 0; for a
    result other than success twice its code plus 1, which is odd."""
    return f"uintptr_t plain_{entry.name}(uintptr_t queue, uintptr_t {_plain_argument(entry)});"


def _plain_argument(entry: Entry) -> str:
    return "size" if ("size_t", "size") in entry.parameters else "mem"


# What has to hold, beside a queue, for the calls that src/usual_calls.c tries, and how it is
# called.
WAITS_OR_SIGNALS = "(event != 0 || num_events_in_wait_list != 0)"
USUAL = {
    r"urEnqueueUSM(Host|Device|Shared)AllocExp": (
        "mem != 0 && properties == 0",
        "allocate_at_once(&call, UR_USM_TYPE_{kind}, pool, size, mem, &done)",
    ),
    r"urEnqueueUSMFreeExp": ("mem != 0 && pool == 0", "free_at_once(&call, mem, &done)"),
    r"urEnqueueEventsWait": (WAITS_OR_SIGNALS, "record_at_once(&call, false, &done)"),
    r"urEnqueueEventsWaitWithBarrier": (WAITS_OR_SIGNALS, "record_at_once(&call, true, &done)"),
}
RELEASE = """
    ur_result_t done;
    if (release_event_at_once(event, &done))
        return end_call(done);"""


def _usual_call(entry: Entry) -> str:
    """What is tried before Python is called."""
    if entry.name == "urEventRelease":
        return RELEASE
    for pattern, (condition, at_once) in USUAL.items():
        if match := re.fullmatch(pattern, entry.name):
            at_once = at_once.format(kind="".join(match.groups()).upper())
            return f"""
    if (queue != 0 && {condition}) {{
        ur_result_t done;
        const struct usual_call call = {{"{entry.name}", queue, num_events_in_wait_list,
                                        event_wait_list, event}};
        if ({at_once})
            return end_call(done);
    }}{_plain_call(entry) if PLAIN.fullmatch(entry.name) else ""}"""
    return ""


def _plain_call(entry: Entry) -> str:
    argument = _plain_argument(entry)
    given = ("queue", "mem")
    others = [name for _, name in entry.parameters if name not in (*given, "size")]
    conditions = [*(f"{name} != 0" for name in given), *(f"{name} == 0" for name in others)]
    write = "" if argument == "mem" else "\n        *mem = (void *)found;"
    return f"""
    if ({" && ".join(conditions)}) {{
        const uintptr_t found = plain_{entry.name}((uintptr_t)queue, (uintptr_t){argument});
        if (found & 1)
            return end_call((ur_result_t)(found >> 1));{write}
        return end_call(UR_RESULT_SUCCESS);
    }}"""


def _is_put_off(entry: Entry) -> bool:
    """Whether it is what an object does at its end, and may be done a little later."""
    return entry.name == "urUSMFree" or entry.name.endswith("Release")


def _again(entry: Entry) -> str:
    """The call of what was put off."""
    if not _is_put_off(entry):
        return ""
    given = ", ".join(f"({type_})given[{i}]" for i, (type_, _) in enumerate(entry.parameters))
    return f"""
static ur_result_t call_{entry.name}({_parameters(entry)});
static void again_{entry.name}(void *const *given) {{ (void)call_{entry.name}({given}); }}"""


def _put_off(entry: Entry) -> str:
    if not _is_put_off(entry):
        return ""
    given = [name for _, name in entry.parameters]
    arguments = ", ".join([*given, "NULL"][:2])
    return f"""
    if (put_off_nested(again_{entry.name}, {arguments}))
        return end_call(UR_RESULT_SUCCESS);"""


def _c_function(entry: Entry) -> str:
    arguments = ", ".join(
        name if (target := type_for_python(type_, name)) == type_ else f"({target}){name}"
        for type_, name in entry.parameters
    )
    refused = f'refused("{entry.name}")'
    if entry.name == "urEventGetInfo":
        refused = "status_at_end(prop_name, prop_size, prop_value, prop_size_ret)"
    return f"""{_again(entry)}
static ur_result_t call_{entry.name}({_parameters(entry)}) {{
    if (!begin_call("{entry.name}"))
        return {refused};{_put_off(entry)}{_usual_call(entry)}
    return end_call(python_{entry.name}({arguments}));
}}"""


def _glue(entries: list[Entry], tables: dict[str, list[str]]) -> Iterator[str]:
    yield '#include "library.h"\n'
    yield "const char built_by[] = URASYNC_BUILT_BY;"
    in_python = [entry for entry in entries if entry.name not in IN_C]
    offered = {entry.name: f"call_{entry.name}" for entry in in_python}
    offered |= {name: name for name in IN_C}
    for entry in in_python:
        if PLAIN.fullmatch(entry.name):
            yield f"static {_plain_declaration(entry)}"
        yield f"static {_python_declaration(entry)}{_c_function(entry)}"
    for name in (name for table in tables.values() for name in table):
        if name not in offered:
            yield f'static ur_result_t no_{name}(void) {{ return unsupported("{name}"); }}'
    yield "const ur_function_t function_table[] = {"
    for table in tables.values():
        yield "\n".join(f"    (ur_function_t){offered.get(name, f'no_{name}')}," for name in table)
    yield "};\nstatic void *const function_table_address = (void *)function_table;"
    first = 0
    for name, table in tables.items():
        function = f"ur_result_t urGet{name}ProcAddrTable(ur_api_version_t version, void *table)"
        yield f'__attribute__((visibility("default"))) {function};\n{function} {{'
        yield f"    return copy_table(version, table, {first}, {len(table)});\n}}"
        first += len(table)
    yield "int start_bindings(void) { return cffi_start_python(); }"


def write_glue(folder: Path, adapter: str, target: Path) -> None:
    """Write the C source of an adapter's library, from what the folder of its sources declares."""
    header = (folder / "include" / "entries.h").read_text(encoding="utf-8")
    types = (folder / "include" / "unified_runtime.h").read_text(encoding="utf-8")
    tables = function_tables((folder / "function_tables.txt").read_text(encoding="utf-8"))
    entries = declared_entries(header)
    ffi = cffi.FFI()
    ffi.cdef(re.sub(r"^#.*$", "", types, flags=re.MULTILINE))
    functions = "\n".join(_python_declaration(e) for e in entries if e.name not in IN_C)
    plain = (_plain_declaration(each) for each in entries if PLAIN.fullmatch(each.name))
    functions = "\n".join([functions, *plain])
    ffi.cdef(f'{FOR_PYTHON}\nextern "Python" {{\n{functions}\n}}')
    ffi.embedding_api("")
    ffi.embedding_init_code(START.format(adapter=adapter))
    ffi.set_source(f"urasync_l0.ur_library._{adapter}", "\n".join(_glue(entries, tables)))
    ffi.emit_c_code(str(target))
