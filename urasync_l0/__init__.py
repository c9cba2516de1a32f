# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory allocated and freed in queue order, on Level Zero devices."""
