# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in SPIR-V and their kernels.

What the driver made lasts until nobody holds it any more: a program or kernel that is closed or
dropped while a launch is under way goes when the launch is complete.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from urasync_l0.argument import checked_bytes, checked_instance
from urasync_l0.device import distinct_handles
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.result import InvalidOperationError, InvalidProgramError, InvalidValueError, UrError
from urasync_l0.ze import module as ze_module
from urasync_l0.ze.handles import DeviceHandle, KernelHandle, ModuleHandle, handle_value

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.device import Device


class _ModuleFinalizer(Finalizer):
    __slots__ = ("handle",)
    handle: ModuleHandle

    def run(self, context: NativeContext) -> None:
        if context.unwatch(self):
            self.close(context)

    def close(self, context: NativeContext) -> None:
        with suppress(UrError), context.loss:  # what the driver refuses goes with the context
            ze_module.destroy(self.handle)


class _KernelFinalizer(Finalizer):
    __slots__ = ("handle",)
    handle: KernelHandle

    def run(self, context: NativeContext) -> None:
        if context.unwatch(self):
            self.close(context)

    def close(self, context: NativeContext) -> None:
        with suppress(UrError), context.loss:
            ze_module.destroy_kernel(self.handle)


class NativeModule:
    """A program, compiled for one device."""

    def __init__(self, context: NativeContext, device: DeviceHandle, spirv: bytes, options: str):
        self.context = context
        with context.loss:
            self.handle, self.log = ze_module.create(context.handle, device, spirv, options)
        finalizer = _ModuleFinalizer(self, context.attention.append)
        finalizer.handle = self.handle
        context.watch(finalizer)


class NativeKernel:
    """A kernel for one device. Who sets arguments and appends a launch holds ``lock``."""

    def __init__(self, module: NativeModule, name: str) -> None:
        self.module = module
        self.lock = threading.Lock()
        with module.context.loss:
            self.handle = ze_module.create_kernel(module.handle, name)
        finalizer = _KernelFinalizer(self, module.context.attention.append)
        finalizer.handle = self.handle
        module.context.watch(finalizer)


class Program:
    """A program for the devices of a context. Any thread may use it.

    Attributes
    ----------
    context
        The context that it belongs to.
    spirv
        The program.
    options
        What it was built with.
    log
        What the compiler said.
    """

    def __init__(self, context: Context, spirv: bytes) -> None:
        spirv = checked_bytes("spirv", spirv)
        if not spirv:
            raise InvalidValueError("A program needs at least one byte of SPIR-V.")
        self.context = context
        self.spirv = spirv
        self.options = ""
        self.log = ""
        self._lock = threading.Lock()
        self._modules: dict[int, NativeModule] = {}
        self._is_closed = False

    __reduce_ex__ = not_copied("Send its spirv and options.")

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else "" if self._modules else ", not built"
        return f"<Program of {len(self.spirv)} bytes{state}>"

    @property
    def is_built(self) -> bool:
        """Whether it can give kernels."""
        return bool(self._modules)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its context was."""
        return self._is_closed or self.context.is_closed

    def build(self, options: str = "") -> None:
        """Compile it for all devices of the context.

        Raises
        ------
        InvalidOperationError
            If that was done already.
        InvalidProgramError
            If the program or its context is closed.
        UrError
            With PROGRAM_BUILD_FAILURE if it does not compile.
        """
        checked_instance("options", options, str)
        native = self.context.native
        native.attend()
        with self._lock:
            self._require_open()
            if self._modules:
                raise InvalidOperationError(f"{self!r} is built already.")
            try:
                built = {
                    handle_value(device): NativeModule(native, device, self.spirv, options)
                    for device in distinct_handles(self.context.devices)
                }
            except UrError as error:
                self.log = error.message
                raise
            self.options = options
            self.log = "\n".join(filter(None, (module.log for module in built.values())))
            self._modules = built

    def kernel_names(self) -> list[str]:
        """The names of its kernels."""
        self._require_open()
        with self.context.native.loss:
            return ze_module.kernel_names(next(iter(self._require_built().values())).handle)

    def kernel(self, name: str) -> Kernel:
        """A kernel by its name.

        Raises
        ------
        InvalidProgramError
            If the program is not built, or closed.
        UrError
            With INVALID_KERNEL_NAME if it has none of that name.
        """
        self.context.native.attend()
        with self._lock:
            self._require_open()
            natives = {
                device: NativeKernel(module, name)
                for device, module in self._require_built().items()
            }
        return Kernel(self, name, natives)

    def close(self) -> None:
        """Give it back; its kernels stay. Idempotent."""
        with self._lock:
            self._is_closed = True
            self._modules = {}
        self.context.native.run_finalizers()

    def _require_open(self) -> None:
        if self.is_closed:
            raise InvalidProgramError(f"{self!r} cannot be used any more.")

    def _require_built(self) -> dict[int, NativeModule]:
        if not self._modules:
            raise InvalidProgramError(f"{self!r} must be built first.")
        return self._modules


class Kernel:
    """A kernel of a program, which `Queue.launch` runs. Any thread may use it."""

    def __init__(self, program: Program, name: str, natives: dict[int, NativeKernel]) -> None:
        self.program = program
        self.name = name
        self._natives = natives
        first = next(iter(natives.values()))
        with program.context.native.loss:
            self.argument_count = ze_module.argument_count(first.handle)
        self._is_closed = False

    __reduce_ex__ = not_copied("Send its program and name.")

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r}{', closed' if self._is_closed else ''}>"

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its context was."""
        return self._is_closed or self.program.context.is_closed

    def native(self, device: Device) -> NativeKernel:
        """The kernel for a device of the program's context."""
        natives = self._natives
        while device.native_value not in natives and device.parent is not None:
            device = device.parent  # a context builds for the devices that it names
        return natives[device.native_value]

    def close(self) -> None:
        """Give it back, when the launches under way are complete. Idempotent."""
        self._is_closed = True
        self._natives = {}
        self.program.context.native.run_finalizers()
