# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Load for a long time: ``python -m tests.soak``."""
