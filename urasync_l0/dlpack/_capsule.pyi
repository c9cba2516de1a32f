# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any

def make_capsule(
    owner: object,
    address: int,
    size: int,
    device_type: int,
    device_id: int,
    is_versioned: bool,
    /,
) -> Any: ...
