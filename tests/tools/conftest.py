# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several tests of tools and benchmarks use."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def frozen() -> Iterator[None]:
    """The collector, which runs before each measured case, has only new objects to look at."""
    gc.freeze()
    yield
    gc.unfreeze()
