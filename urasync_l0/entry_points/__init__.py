# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The UR-named entry points of both adapters: a module for each noun, and `Adapter` has them all.

They are the second face of what the Python objects do. An entry checks what a C caller can get
wrong, then calls what the objects call, and writes its out-pointers last. The rules that hold for
all:

* Arguments stand in Unified Runtime's order. Handles are the package's own objects, a null handle
  is None. Pointers to memory are addresses, 0 is null. An out-pointer is an `Out`, None is null.
* An entry returns nothing. One that fails raises `UrError`, whose ``code`` a C caller gets, leaves
  every out-pointer as it was and changes nothing else.
* Checks come before effects: first null handles, then null pointers, then enumerators and flags,
  then all that depends on the state of things: dead handles, sizes, the wait list.
* Any thread may call. Sizes are bytes, times nanoseconds.
"""

from urasync_l0.entry_points.base import Adapter

__all__ = ["Adapter"]
