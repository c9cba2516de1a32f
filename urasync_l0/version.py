# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's version, which the build reads as well."""

__version__ = "0.1.0"
