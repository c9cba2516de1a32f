# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pool-state tool ``urasync-pools``; installed as ``urasync_l0.tools``."""
