# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocations as DLPack tensors: their bytes, without a copy."""

from urasync_l0.dlpack.export import DLPackDevice, device_of, export

__all__ = ["DLPackDevice", "device_of", "export"]
