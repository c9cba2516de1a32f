# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Types of the cffi module that the build writes from include/controls.h.

from typing import Any

class _FFI:
    NULL: Any
    def new(self, cdecl: str, init: Any = ...) -> Any: ...
    def string(self, cdata: Any, maxlen: int = ...) -> bytes | str: ...
    def dlopen(self, name: str, flags: int = ...) -> Any: ...

ffi: _FFI
