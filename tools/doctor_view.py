# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``doctor``: what this machine has, what is missing, and what to install."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from urasync_l0.diagnosis import Diagnosis, Finding, Verdict
from urasync_l0.driver_report import DeviceReport, DriverReport
from urasync_l0.tools.failure import printable
from urasync_l0.tools.layout import Layout

_ABSENT = "absent"
_STYLES = {"problem": "color(160)", "note": "color(172)", "ok": "color(71)", _ABSENT: "color(244)"}
_SIGNS = {"problem": "✗", "note": "!", "ok": "✓", _ABSENT: "-"}
_PLAIN_SIGNS = {"problem": "x", "note": "!", "ok": "+", _ABSENT: "-"}
_VERDICTS = {
    Verdict.GPU: "A GPU is ready to use.",
    Verdict.SOFTWARE_ONLY: "No GPU is ready to use; the software driver is "
    "(URASYNC_L0_DRIVER=software, or driver='software').",
    Verdict.NOTHING: "No driver is ready to use.",
}


class DoctorView:
    """Renders a diagnosis, and makes plain data of it."""

    def __init__(self, diagnosis: Diagnosis, layout: Layout) -> None:
        self._diagnosis = diagnosis
        self._layout = layout

    def to_data(self) -> dict[str, Any]:
        """The diagnosis as plain data; sizes in bytes."""
        diagnosis = self._diagnosis
        nodes = [node._asdict() for node in diagnosis.nodes]
        findings = [finding._asdict() for finding in diagnosis.findings]
        return asdict(diagnosis) | {
            "nodes": nodes,
            "verdict": diagnosis.verdict.name.lower(),
            "findings": findings,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        diagnosis = self._diagnosis
        yield Text(f"urasync_l0 {diagnosis.version}, pool core {diagnosis.pool_core}", "bold")
        yield self._rows(self._machine())
        for driver in diagnosis.drivers:
            yield Text()
            yield from self._driver(driver)
        yield Text()
        yield Text(_VERDICTS[diagnosis.verdict], "bold")
        yield self._findings(diagnosis.findings)

    def _machine(self) -> Iterator[tuple[str, str]]:
        diagnosis = self._diagnosis
        yield "Python", diagnosis.python
        yield "system", diagnosis.system
        yield "user", f"{diagnosis.user}, in the groups {', '.join(diagnosis.groups)}"
        for node in diagnosis.nodes:
            state = "can be opened" if node.is_open else "cannot be opened"
            yield "GPU", f"{node.path} ({node.group}), {state}"
        if not diagnosis.nodes:
            yield "GPU", "none visible"
        for adapter, path in diagnosis.ur_libraries.items():
            yield f"UR library {adapter}", path or "missing"
        for name, value in diagnosis.environment.items():
            yield "environment", f"{name}={value}"

    def _driver(self, driver: DriverReport) -> Iterator[RenderableType]:
        yield Text(f"{driver.name} driver", "bold")
        yield self._rows(self._about_driver(driver))
        for device in (each for place in driver.platforms for each in place.devices):
            yield Padding(Text(printable(self._about_device(device))), (0, 0, 0, 2))
            yield self._features(device)

    def _about_driver(self, driver: DriverReport) -> Iterator[tuple[str, str]]:
        if driver.loader is not None:
            version = f", version {driver.loader_version}" if driver.loader_version else ""
            yield "loader", f"{driver.loader}{version}"
        for library in driver.libraries:
            yield "library", library
        for place in driver.platforms:
            yield "driver", f"version {place.driver_version}, Level Zero {place.api_version}"
        if driver.problem is not None:
            yield "problem", driver.problem

    def _about_device(self, device: DeviceReport) -> str:
        size = self._layout.size
        free = "" if device.free_memory is None else f", {size(device.free_memory)} free"
        return f"{device.name}: {device.kind}, {size(device.total_memory)}{free}"

    def _features(self, device: DeviceReport) -> RenderableType:
        table = self._grid()
        for each in device.features:
            sign = self._sign("ok" if each.is_there else _ABSENT)
            table.add_row(sign, each.name, Text(each.detail))
        for trial in device.trials:
            sign = self._sign("ok" if trial.problem is None else "problem")
            table.add_row(sign, f"adapter {trial.adapter}", Text(trial.problem or "works"))
        return Padding(table, (0, 0, 0, 4))

    def _findings(self, findings: tuple[Finding, ...]) -> RenderableType:
        table = Table.grid(padding=(0, 1, 0, 0))
        for finding in findings:
            table.add_row(self._sign(finding.level), Text(finding.text))
            if finding.remedy:
                table.add_row("", Text(finding.remedy, "italic"))
        return Padding(table, (0, 0, 0, 2))

    def _sign(self, level: str) -> Text:
        signs = _PLAIN_SIGNS if self._layout.plain else _SIGNS
        return Text(signs[level], _STYLES[level])

    def _rows(self, rows: Iterator[tuple[str, str]]) -> RenderableType:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows:
            table.add_row(Text(name), Text(printable(value)))
        return Padding(table, (0, 0, 0, 2))

    @staticmethod
    def _grid() -> Table:
        table = Table.grid(padding=(0, 1, 0, 0))
        table.add_column()
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        return table
