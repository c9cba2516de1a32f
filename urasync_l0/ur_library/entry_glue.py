# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the Python functions behind the C entries, from their declarations.

A function turns handles, pointers and structures into what the entries of an `Adapter` take, calls
the adapter, writes the results to the client's memory, and returns the code. The text of each is
made from what its parameters need, so a call does nothing that its entry does not need. An error is
kept for ``urAdapterGetLastError``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from urasync_l0.entry_points import Adapter


class Parameter(NamedTuple):
    """A parameter of a declared function."""

    type: str
    name: str


class Glue:
    """The text of one function, in parts."""

    def __init__(self, name: str, parameters: list[Parameter]) -> None:
        self.name = name
        self.parameters = parameters
        self.before: list[str] = []
        self.arguments: list[str] = []
        self.after: list[str] = []

    def text(self) -> str:
        """The whole function."""
        names = ", ".join(parameter.name for parameter in self.parameters)
        lines = [
            *self.before,
            f"call({', '.join(self.arguments)})",
            *self.after,
            "return 0",
        ]
        body = "\n        ".join(lines)
        return (
            f"def {self.name}({names}):\n"
            f"    try:\n        {body}\n"
            f"    except BaseException as error:\n        return failed({self.name!r}, error)\n"
        )


def declarations(header: str) -> dict[str, list[Parameter]]:
    """The functions that a header declares, with their parameters."""
    found: dict[str, list[Parameter]] = {}
    for match in re.finditer(r"ur_result_t\s+(ur\w+)\(([^;]*)\);", header):
        texts = " ".join(match[2].split()).split(", ")
        parts = [re.fullmatch(r"(.*?)\s*(\w+)", text) for text in texts]
        found[match[1]] = [Parameter(part[1], part[2]) for part in parts if part is not None]
    return found


def _out(glue: Glue, name: str, write: str) -> None:
    glue.before.append(f"{name}_out = Out() if {name} else None")
    glue.arguments.append(f"{name}_out")
    glue.after.append(f"if {name}_out is not None and {name}_out.is_set: {write}")


def _handle(glue: Glue, kind: str, name: str) -> None:
    glue.arguments.append(f"{kind}_table[{name}]")


def _handle_out(glue: Glue, kind: str, name: str) -> None:
    add = "add" if kind == "event" else "handle"
    _out(glue, name, f"{name}[0] = {kind}_table.{add}({name}_out.value)")


def _handles_out(glue: Glue, kind: str, name: str) -> None:
    _out(glue, name, f"write_handles({name}, {kind}_table, {name}_out.value)")


def _handles_in(glue: Glue, kind: str, name: str, count: str) -> None:
    read = "wait_list" if name == "event_wait_list" and glue.name != "urEventWait" else "handles"
    glue.arguments.append(f"{read}({kind}_table, {name}, {count}) if {name} else None")


def _value(glue: Glue, name: str) -> None:
    glue.before.append(f"{name}_out = InfoOut() if {name} else None")
    glue.arguments.append(f"{name}_out")
    glue.after.append(f"if {name}_out is not None: write_value({name}, {name}_out)")


def _piece(glue: Glue, parameter: Parameter, previous: Parameter) -> None:
    type_, name = parameter
    if match := re.fullmatch(r"ur_(\w+)_handle_t", type_):
        if match[1] == "native":
            glue.arguments.append(name)
        else:
            _handle(glue, match[1], name)
    elif match := re.fullmatch(r"const ur_(\w+)_handle_t \*", type_):
        _handles_in(glue, match[1], name, previous.name)
    elif type_ == "ur_device_handle_t *" and glue.name.startswith("urProgram"):
        _handles_in(glue, "device", name, previous.name)
    elif (match := re.fullmatch(r"ur_(\w+)_handle_t \*", type_)) and match[1] != "native":
        is_list = previous.type == "uint32_t" and previous.name.startswith("num_")
        (_handles_out if is_list else _handle_out)(glue, match[1], name)
    elif name == "prop_value":
        if glue.name.endswith(("SetInfoExp", "SetExecInfo")):
            glue.arguments.append(f"read_size({name}, prop_size)")
        else:
            _value(glue, name)
    elif type_ == "const ur_exp_kernel_arg_properties_t *":
        glue.arguments.append(f"kernel_arguments({name}, {previous.name}) if {name} else None")
    elif type_ == "const ur_specialization_constant_info_t *":
        glue.arguments.append(f"constants_of({name}, {previous.name}) if {name} else None")
    elif match := re.fullmatch(r"(?:const )?ur_(\w+_(?:properties|desc|region))_t \*", type_):
        expected = match[1].upper()
        glue.arguments.append(f"structure({name}, {expected}) if {name} else None")
    elif type_ == "const size_t *":
        glue.arguments.append(f"list({name}[0:min(work_dim, 4)]) if {name} else None")
    elif type_ == "const void *" and name == "il":
        glue.arguments.append("content(il, length) if il else None")
    elif type_ == "const ur_device_binary_t *":
        glue.arguments.append(f"targets({name}, num_{name}) if {name} else None")
    elif type_ == "const char *":
        glue.arguments.append(f"text({name})")
    elif type_ == "const char **":
        text = "message_text" if name == "message" else "lasting_text"
        _out(glue, name, f"{name}[0] = {text}({name}_out.value)")
    elif type_ == "const void *" and name == "pattern":
        glue.arguments.append(f"content({name}, pattern_size) if {name} else None")
    elif type_ == "ur_rect_offset_t":
        glue.arguments.append(f"({name}.x, {name}.y, {name}.z)")
    elif type_ == "ur_rect_region_t":
        glue.arguments.append(f"({name}.width, {name}.height, {name}.depth)")
    elif re.fullmatch(r"ur_event_callback_t|ur_context_extended_deleter_t", type_):
        glue.arguments.append(f"{type_}({name}, {glue.parameters[0].name})")
    elif type_.endswith("*") and type_ not in ("void *", "const void *"):
        _out(glue, name, f"{name}[0] = {name}_out.value")
    else:
        glue.arguments.append(name)


def glue_text(name: str, parameters: list[Parameter]) -> str:
    """The text of the function behind an entry."""
    glue = Glue(name, parameters)
    previous = Parameter("", "")
    for parameter in parameters:
        _piece(glue, parameter, previous)
        previous = parameter
    last = parameters[-1]
    if name.endswith(("Release", "DestroyExp")):
        glue.after.append(f"released({last.type[3:-9]}_table, {last.name})")
    if name == "urPlatformGet" or re.fullmatch(r"urProgram(Build|Link)(Exp)?", name):
        glue.after.append(f"release_at_exit({name!r})")
    return glue.text()


_PLAIN_TEXT = """
def {name}(queue, {argument}):
    try:
        out = {out}
        call({arguments})
        return {result}
    except BaseException as error:
        return 2 * failed({name!r}, error) + 1
"""


def plain_text(name: str, parameters: list[Parameter]) -> str:
    """The text of the function for plain calls of an allocation or a free, or an empty string.

    Such a call gives a queue and a size or an address, nothing else. It is answered with an address
    or 0, or with twice a result plus 1: an address may have any of the 64 bits but the lowest.
    """
    if not re.fullmatch(r"urEnqueueUSM\w+Exp", name):
        return ""
    gives = Parameter("void **", "mem") in parameters
    argument = "size" if gives else "mem"
    known = {"queue": "queue_table[queue]", argument: argument, "num_events_in_wait_list": "0"}
    if gives:
        known["mem"] = "out"
    return _PLAIN_TEXT.format(
        name=name,
        argument=argument,
        out="Out()" if gives else "None",
        arguments=", ".join(known.get(parameter.name, "None") for parameter in parameters),
        result="out.value" if gives else "0",
    )


def make_functions(
    header: str, adapter: Adapter, names: dict[str, object]
) -> dict[str, Callable[..., int]]:
    """The functions behind the entries that a header declares and an adapter has, by the names that
    the library calls them by.

    Parameters
    ----------
    names
        What the functions' texts refer to, beside the adapter's entry.
    """
    made: dict[str, Callable[..., int]] = {}
    for name, parameters in declarations(header).items():
        entry = getattr(adapter, name, None)
        if entry is not None:
            texts = {"python": glue_text(name, parameters), "plain": plain_text(name, parameters)}
            for kind, text in texts.items():
                found: dict[str, Any] = {**names, "call": entry}
                if text:
                    exec(compile(text, f"<{name} for C clients>", "exec"), found)
                    made[f"{kind}_{name}"] = found[name]
    return made
