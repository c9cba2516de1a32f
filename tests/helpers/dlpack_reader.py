# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads DLPack capsules and takes them over, as libraries in C do."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_LET_GO = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("let_go", _LET_GO))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("let_go", _LET_GO),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_api = ctypes.pythonapi
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = (ctypes.py_object,)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_api.PyCapsule_SetName.argtypes = (ctypes.py_object, ctypes.c_char_p)

_USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}


class Tensor(NamedTuple):
    """What a capsule says; ``version`` is None for one of version 0."""

    version: tuple[int, int] | None
    flags: int
    address: int
    device: tuple[int, int]
    dtype: tuple[int, int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    byte_offset: int


class TakenTensor:
    """The memory of a capsule, taken over: to be given back by `let_go`."""

    def __init__(self, capsule: Any) -> None:
        name = _api.PyCapsule_GetName(capsule)
        address = _api.PyCapsule_GetPointer(capsule, name)
        kind = _Versioned if name == b"dltensor_versioned" else _Managed
        self._managed: Any = kind.from_address(address)
        self._address = address
        assert _api.PyCapsule_SetName(capsule, _USED[name]) == 0

    def let_go(self) -> None:
        """Give the memory back. Python's lock is not held meanwhile."""
        self._managed.let_go(self._address)

    def read(self) -> Tensor:
        """What it says."""
        managed = self._managed
        tensor = managed.tensor
        is_versioned = isinstance(managed, _Versioned)
        return Tensor(
            (managed.major, managed.minor) if is_versioned else None,
            managed.flags if is_versioned else 0,
            tensor.data,
            (tensor.device_type, tensor.device_id),
            (tensor.code, tensor.bits, tensor.lanes),
            tuple(tensor.shape[0 : tensor.ndim]),
            tuple(tensor.strides[0 : tensor.ndim]),
            tensor.byte_offset,
        )
