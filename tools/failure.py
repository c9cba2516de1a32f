# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why the tool cannot do what it was asked, in words for whoever asked."""

from __future__ import annotations


class ToolError(Exception):
    """The command ends here; the message says what happened, and what to do."""
