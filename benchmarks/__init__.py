# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Benchmarks of enqueue-ordered memory: recorded traces, their replay, and a demo.

Run from a checkout (``python -m benchmarks.replay``, ``python -m benchmarks.demo``); not installed.
"""
