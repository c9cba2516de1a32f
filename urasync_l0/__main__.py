# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m urasync_l0 doctor`` and the like: the command ``urasync-pools`` by another name."""

import sys

from urasync_l0.tools.command import main

if __name__ == "__main__":
    sys.exit(main())
