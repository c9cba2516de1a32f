# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions of pairs under callgrind (`benchmarks.instructions`)."""

import json
import os
import subprocess
from pathlib import Path
from unittest.mock import Mock, call

import pytest

import ze_build
from benchmarks import instructions
from benchmarks.instructions import Counted
from benchmarks.measuring_process import Program
from benchmarks.rounds import measure_in_turns

PAIR, EVENT_PAIR, REQUEST = 1000, 2500, 70_000
"""Additions of the program below: for each pair, and for each request."""

PROGRAM = f"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(long count) {{
    __asm__ volatile("1: sub $1, %0\\n jnz 1b" : "+r"(count));
}}

int main(void) {{
    char name[64], argument[4096];
    while (scanf("%63s %4095s", name, argument) == 2) {{
        if (strcmp(name, "instructions") == 0) {{
            void *counter = dlopen(argument, RTLD_NOW);
            ((void (*)(void))dlsym(counter, "write_instructions"))();
        }} else {{
            for (long i = atol(argument); i > 0; i--)
                add(strcmp(name, "pairs") == 0 ? {PAIR} : {EVENT_PAIR});
            add({REQUEST});
        }}
        puts("0");
        fflush(stdout);
    }}
}}
"""

needs_callgrind = pytest.mark.skipif(
    instructions.what_is_missing() is not None, reason=str(instructions.what_is_missing())
)


@needs_callgrind
def test_what_is_counted_is_what_pairs_take_and_no_more(tmp_path: Path) -> None:
    source, target = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(
        [*ze_build.compiler(), "-O2", str(source), "-ldl", "-o", str(target)], check=True
    )
    counted = instructions.count(Program("adding", (str(target),), os.environ))
    # Each addition is two instructions; the loop around them, and reading longer numbers, few.
    assert 2 * PAIR <= counted.pair <= 2 * PAIR + 60
    assert 2 * EVENT_PAIR <= counted.event_pair <= 2 * EVENT_PAIR + 60


@needs_callgrind
def test_a_program_that_ends_under_callgrind_is_no_count() -> None:
    with pytest.raises(RuntimeError, match=r"^brief: pairs 50 ended the process \(3\)$"):
        instructions.count(Program("brief", ("sh", "-c", "read line; exit 3"), os.environ))


def test_nothing_is_counted_without_callgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert instructions.what_is_missing() == "valgrind is not installed"
    with pytest.raises(RuntimeError, match="valgrind is not installed"):
        instructions.count(Program("any", ("true",), os.environ))


@pytest.mark.usefixtures("frozen")
def test_cases_and_the_command_count_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counts: list[str] = []

    def count(program: Program) -> Counted:
        counts.append(program.name)
        return Counted(pair=7000.5, event_pair=9000)

    monkeypatch.setattr(instructions, "count", count)
    program = instructions.python_program("legacy")
    figures = measure_in_turns(list(instructions.cases(program, "legacy")), 3)
    assert [(each.group, each.name, each.adapter, each.unit) for each in figures] == [
        ("instructions", "no events", "legacy", "a pair"),
        ("instructions", "an event for both calls", "legacy", "a pair"),
    ]
    assert [(each.median, each.rounds) for each in figures] == [(7000.5, 1), (9000, 1)]
    assert counts == ["legacy, Python"]
    instructions.main(["--adapter", "v2"])
    assert json.loads(capsys.readouterr().out) == {
        "benchmark": "instructions",
        "adapter": "v2",
        "pair": 7000.5,
        "event_pair": 9000,
    }
    assert counts == ["legacy, Python", "v2, Python"]


@pytest.mark.parametrize(("request_name", "event"), [("pairs", False), ("event_pairs", True)])
def test_what_is_counted_in_python_are_pairs(request_name: str, event: bool) -> None:
    queue = Mock()
    instructions.pair_requests(queue)[request_name](3)
    pair = [
        call.alloc_device(4096, event=event),
        call.free(queue.alloc_device.return_value, event=event),
    ]
    assert queue.mock_calls == [*pair * 3, call.finish()]
