# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the doctor finds, says and shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.helpers.kernels import build
from tests.tools.diagnoses import (
    ARC,
    GPU,
    INTEL,
    MACHINES,
    NO_DRIVER,
    NO_LOADER,
    NOT_IN_THE_GROUP,
    NOTHING,
    SOFTWARE,
)
from tests.tools.results import console_of, text_of
from urasync_l0 import Context, Queue, driver_report
from urasync_l0.diagnosis import Diagnosis, Finding, Node, Verdict, diagnose
from urasync_l0.driver_report import DriverReport, PlatformReport, Trial
from urasync_l0.tools.doctor_view import DoctorView
from urasync_l0.tools.layout import Layout
from urasync_l0.watch_settings import WATCHING

RENDERED = Path(__file__).with_name("rendered")
FORMS = {"80": (80, False), "160": (160, False), "plain": (80, True)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_shown(machine: str, form: str) -> None:
    width, plain = FORMS[form]
    console = console_of(width)
    console.print(DoctorView(MACHINES[machine], Layout(plain=plain)))
    shown = "".join(f"{line.rstrip()}\n" for line in text_of(console).splitlines())
    assert shown == (RENDERED / f"doctor-{machine}-{form}.txt").read_text("utf-8")
    assert all(len(line) <= width for line in shown.splitlines())
    assert shown.isascii() or not plain


def test_the_data_has_everything() -> None:
    data = json.loads(json.dumps(DoctorView(GPU, Layout()).to_data()))
    assert data["verdict"] == "gpu"
    assert data["nodes"] == [{"path": "/dev/dri/renderD128", "group": "render", "is_open": True}]
    assert data["drivers"][0]["platforms"][0]["devices"][0]["total_memory"] == ARC.total_memory
    assert {finding["level"] for finding in data["findings"]} == {"ok"}
    assert set(data) == set(asdict(GPU)) | {"verdict", "findings"}


def test_nothing_that_a_terminal_acts_on_is_shown() -> None:
    console = console_of(160)
    diagnosis = replace(GPU, environment={"ZE_AFFINITY_MASK": "0\x1b]0;title\x07"})
    console.print(DoctorView(diagnosis, Layout()))
    assert "ZE_AFFINITY_MASK=0\\x1b]0;title\\x07" in text_of(console)


# -- what it means ---------------------------------------------------------------------------------


def remedies(diagnosis: Diagnosis) -> list[str]:
    return [finding.remedy for finding in diagnosis.findings if finding.level == "problem"]


@pytest.mark.parametrize(
    ("diagnosis", "verdict"),
    [
        (GPU, Verdict.GPU),
        (NOT_IN_THE_GROUP, Verdict.SOFTWARE_ONLY),
        (NOTHING, Verdict.NOTHING),
        (replace(GPU, drivers=(INTEL,)), Verdict.GPU),
        (replace(GPU, drivers=(SOFTWARE,)), Verdict.SOFTWARE_ONLY),
    ],
)
def test_verdict(diagnosis: Diagnosis, verdict: Verdict) -> None:
    assert diagnosis.verdict is verdict


def test_a_healthy_machine_has_no_problem() -> None:
    assert GPU.findings == (
        Finding("ok", "The system's driver works, with the adapters legacy and v2."),
        Finding("ok", "The software driver works, with the adapters legacy and v2."),
    )


def test_who_is_not_in_the_group_is_told_how_to_join() -> None:
    assert remedies(NOT_IN_THE_GROUP) == ["usermod -aG render ada, and log in again."]
    other = Node("/dev/dri/renderD129", "render", False)
    works = replace(GPU, nodes=(*GPU.nodes, other))
    assert remedies(works) == []
    assert works.findings[0].text.startswith("ada may not open /dev/dri/renderD129")


def test_no_driver_for_the_gpu() -> None:
    (remedy,) = remedies(replace(GPU, drivers=(NO_DRIVER,)))
    assert "libze-intel-gpu1" in remedy


def test_no_gpu() -> None:
    (remedy,) = remedies(replace(GPU, nodes=(), drivers=(NO_DRIVER,)))
    assert "--device /dev/dri" in remedy


def test_a_driver_is_named_that_does_not_exist() -> None:
    misspelt = replace(GPU, environment={"URASYNC_L0_DRIVER": "softwrae"})
    assert "'softwrae'" in misspelt.findings[0].text
    assert remedies(misspelt) == ["Set it to system or software, or unset it."]


def test_no_loader() -> None:
    assert remedies(replace(GPU, drivers=(NO_LOADER,))) == ["On Debian: apt-get install libze1"]


def test_what_belongs_to_the_package_is_missed() -> None:
    texts = [finding.text for finding in NOTHING.findings]
    assert "The UR adapter library of legacy is missing." in texts
    assert "The UR adapter library of v2 is missing." in texts
    assert any("pool core runs in Python" in text for text in texts)


def with_trials(*trials: Trial) -> Diagnosis:
    device = replace(ARC, trials=trials)
    places = (PlatformReport("1.3", "1.3.0", (device,)),)
    return replace(GPU, drivers=(replace(INTEL, platforms=places),))


def test_one_adapter_is_enough() -> None:
    diagnosis = with_trials(Trial("legacy", None), Trial("v2", "no counter-based events"))
    assert diagnosis.verdict is Verdict.GPU
    assert [finding.level for finding in diagnosis.findings] == ["note", "ok"]
    assert "no counter-based events" in diagnosis.findings[0].text


def test_a_device_on_which_nothing_works() -> None:
    diagnosis = with_trials(Trial("legacy", "wrong bytes"), Trial("v2", "wrong bytes"))
    assert diagnosis.verdict is Verdict.NOTHING
    assert [finding.level for finding in diagnosis.findings] == ["problem"] * 3


# -- looking ---------------------------------------------------------------------------------------


def test_the_software_driver_is_examined() -> None:
    report = driver_report.examine_driver("software")
    assert report.problem is None
    assert report.adapters == ("legacy", "v2")
    assert report.loader is not None
    assert [Path(library).name for library in report.libraries] == ["libze_urasync_software.so"]
    (device,) = report.platforms[0].devices
    features = {feature.name: feature.is_there for feature in device.features}
    assert features["in-order lists"]
    assert features["counter-based events"]
    assert features["virtual memory"]
    assert device.total_memory > 0


def test_what_the_driver_lacks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "URASYNC_L0_SOFTWARE_HIDE",
        "zeVirtualMem*,zePhysicalMem*,zeEventCounterBasedCreate,"
        "ZE_experimental_event_pool_counter_based",
    )
    (device,) = driver_report.examine_driver("software").platforms[0].devices
    features = {feature.name: feature for feature in device.features}
    assert not features["virtual memory"].is_there
    assert "separate allocations" in features["virtual memory"].detail
    assert not features["counter-based events"].is_there
    assert "counter-based events" in features["counter-based events"].detail
    assert [trial.problem is None for trial in device.trials] == [True, False]


def kernels_of_the_software_driver() -> driver_report.Feature:
    (device,) = driver_report.examine_driver("software").platforms[0].devices
    (feature,) = (each for each in device.features if each.name == "kernels")
    return feature


def test_kernels_are_tried() -> None:
    """Whether they can be had is what building any program says."""
    with Context(driver="software") as context:
        build(context)
    assert kernels_of_the_software_driver() == driver_report.Feature("kernels", True, "SPIR-V 1.4")


def test_kernels_need_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URASYNC_L0_OPENCL", "/nowhere/libruntime.so")
    monkeypatch.setenv("OCL_ICD_FILENAMES", "/nowhere/libother.so")
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nowhere")
    feature = kernels_of_the_software_driver()
    assert not feature.is_there
    assert "/nowhere/libruntime.so" in feature.detail
    assert "pip install 'urasync-l0[kernels]'" in feature.detail


def test_what_a_driver_says_while_it_does_not_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URASYNC_L0_SOFTWARE_MEMROY", "1G")
    report = driver_report.examine_driver("software")
    assert report.problem is not None
    assert report.problem.endswith("there is no setting URASYNC_L0_SOFTWARE_MEMROY")


def test_mapped_memory_that_others_do_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URASYNC_L0_SOFTWARE_MAPPED_UNKNOWN", "1")
    (device,) = driver_report.examine_driver("software").platforms[0].devices
    (feature,) = (each for each in device.features if each.name == "virtual memory")
    assert feature.is_there
    assert "off by default" in feature.detail


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo a last word >&2; kill -SEGV $$", "was ended by SIGSEGV: a last word."),
        ("exit 5", "ended with status 5."),
    ],
)
def test_a_driver_that_takes_the_process_down(
    script: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    report = driver_report.examine_driver("system")
    assert report.error == "Crash"
    assert report.problem is not None
    assert report.problem.endswith(problem)
    assert report.adapters == ()


def test_a_driver_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait_in_vain(command: list[str], timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", wait_in_vain)
    assert driver_report.examine_driver("system") == DriverReport(
        "system", "TimeoutExpired", "No answer within 120 seconds."
    )


def test_a_device_that_does_nothing_fails_its_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    with Context(driver="software") as context:
        device = context.devices[0]
    with monkeypatch.context() as patched:
        patched.setattr(Queue, "fill", lambda *_: None)
        assert driver_report.problem_of_trial("v2", device) == (
            "A copy was complete, but the bytes are wrong."
        )
    with monkeypatch.context() as patched:
        close = Context.close
        patched.setattr(Context, "close", lambda *arguments: close(*arguments) and False)
        assert driver_report.problem_of_trial("v2", device) == (
            "A copy was not complete within 10 seconds."
        )
    assert driver_report.problem_of_trial("v2", device) is None


def test_who_looks_is_asked_for_nothing_that_a_program_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, str]] = []

    def run(command: list[str], env: dict[str, str], **_: object) -> object:
        asked.append(env)
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    for name in WATCHING:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("ZE_AFFINITY_MASK", "0")
    assert driver_report.examine_driver("system").error == "Crash"
    (environment,) = asked
    assert environment["ZE_AFFINITY_MASK"] == "0"
    assert not WATCHING & environment.keys()


def test_the_machine_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZE_AFFINITY_MASK", "0")
    diagnosis = diagnose(drivers=())
    assert diagnosis.environment["ZE_AFFINITY_MASK"] == "0"
    assert diagnosis.python.startswith(sys.version.split()[0])
    assert diagnosis.groups
    assert all(path and Path(path).is_file() for path in diagnosis.ur_libraries.values())
    assert diagnosis.verdict is Verdict.NOTHING


# -- the command -----------------------------------------------------------------------------------


def run_doctor(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "urasync_l0", "doctor", *arguments],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_command_on_the_software_driver() -> None:
    run = run_doctor("--driver", "software")
    assert (run.returncode, run.stderr) == (0, "")
    assert "The software driver works, with the adapters legacy and v2." in run.stdout


def test_the_command_without_a_gpu() -> None:
    """A driver that is not there stands for the machine's own, which may be one."""
    run = run_doctor("--json", ZE_ENABLE_ALT_DRIVERS="libthere_is_none.so")
    assert run.returncode == Verdict.SOFTWARE_ONLY, run.stderr
    data = json.loads(run.stdout)
    assert data["verdict"] == "software_only"
    assert [driver["error"] for driver in data["drivers"]] == ["DriverNotFoundError", None]


def test_the_command_without_a_loader() -> None:
    run = run_doctor(URASYNC_L0_LOADER="/there/is/no/loader.so")
    assert run.returncode == Verdict.NOTHING, run.stderr
    assert "apt-get install libze1" in run.stdout
    assert "/there/is/no/loader.so" in run.stdout


def test_the_command_follows_no_setting_for_programs(tmp_path: Path) -> None:
    """It would overwrite what a program recorded."""
    trace = tmp_path / "trace.csv"
    run = run_doctor("--driver", "software", URASYNC_L0_RECORD=str(trace))
    assert (run.returncode, run.stderr) == (0, "")
    assert not trace.exists()
