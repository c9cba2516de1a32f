# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level Zero: declarations, the loader, and checked calls. Nothing outside touches the extension.

Modules stand beside each other by area: `loader`, `driver`, `device`, `context`, `memory`,
`virtual_memory`, `command_list`, `event`. Their functions take and give plain Python values and the
handle types of `handles`, and raise a subclass of `urasync_l0.result.UrError` on every failure.
They add no locks: what Level Zero says about calls from several threads holds for them.
"""
