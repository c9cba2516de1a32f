# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level Zero objects on the software driver, through the real loader."""

from collections.abc import Iterator

import pytest

from tests.system.bench import Bench
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list, context, device, driver, loader


@pytest.fixture
def controls() -> Iterator[Controls]:
    loader.choose_driver("software")
    loader.initialise()
    controls = Controls()
    yield controls
    controls.clear_failures()


@pytest.fixture
def bench(controls: Controls) -> Iterator[Bench]:
    first_driver = driver.get_drivers()[0]
    first_device = device.get_devices(first_driver)[0]
    made = context.create(first_driver, [first_device])
    a_list = command_list.create_immediate(made, first_device)
    yield Bench(first_driver, first_device, made, a_list)
    command_list.destroy(a_list)
    context.destroy(made)
