# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the conformance tests' hooks note about a test, for its fixtures."""

import pytest

WENT_THROUGH = pytest.StashKey[bool]()
"""Whether the test came to its end; absent before."""
