# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C client, compiled for this run."""

from pathlib import Path

import pytest

from tests.ur_library.client_process import compile_client


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's program."""
    return compile_client(tmp_path_factory.mktemp("client"))
