# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A logger for each area, below ``urasync_l0``. Nothing is printed unless a program asks for it.

None of them is used where an allocation or a free takes its usual way, nor under a pool's lock.
"""

import logging

PACKAGE = logging.getLogger("urasync_l0")
PACKAGE.addHandler(logging.NullHandler())

LOADER = PACKAGE.getChild("loader")
CONTEXT = PACKAGE.getChild("context")
POOL = PACKAGE.getChild("pool")
MEMORY = PACKAGE.getChild("memory")
RECORDING = PACKAGE.getChild("recording")
SNAPSHOT = PACKAGE.getChild("snapshot")

AREAS = (LOADER, CONTEXT, POOL, MEMORY, RECORDING, SNAPSHOT)
