# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The replayer: a trace through an adapter, measured, with every byte looked at if wanted."""
