# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fuzzer of the entries of the UR libraries: ``python -m tests.ur_library.fuzz``."""
