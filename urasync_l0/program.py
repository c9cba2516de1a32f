# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in SPIR-V and their kernels.

What the driver made lasts until nobody holds it any more: a program or kernel that is closed or
dropped while a launch is under way goes when the launch is complete.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from urasync_l0.argument import checked_bytes, checked_instance
from urasync_l0.device import distinct_handles
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.result import (
    InvalidContextError,
    InvalidDeviceError,
    InvalidKernelError,
    InvalidOperationError,
    InvalidProgramError,
    InvalidValueError,
    UrError,
    UrResult,
)
from urasync_l0.specialisation import checked_constants
from urasync_l0.ze import module as ze_module
from urasync_l0.ze.handles import (
    DeviceHandle,
    KernelHandle,
    ModuleHandle,
    handle_value,
    kernel_from,
    module_from,
)
from urasync_l0.ze.module import KernelProperties

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


_UNKNOWN = b"?"  # what somebody else's module was made from


def _check_options(options: str) -> None:
    """Refuse options that the compiler would not see whole."""
    if "\0" in checked_instance("options", options, str):
        raise InvalidValueError(f"The options {options!r} have a zero byte, where they would end.")


class NativeModule:
    """A program, compiled for one device; or for those that somebody else compiled it for.

    What is not ``is_owned`` is somebody else's, and stays.
    """

    def __init__(self, context: NativeContext, handle: ModuleHandle, log: str, is_owned: bool):
        self.context = context
        self.handle = handle
        self.log = log
        if is_owned:
            finalizer = _ModuleFinalizer(self, context.attention.append)
            finalizer.handle = handle
            context.watch(finalizer)

    @classmethod
    def compile(
        cls, context: NativeContext, device: DeviceHandle, inputs: Sequence[ze_module.Input]
    ) -> NativeModule:
        """A module of programs in SPIR-V."""
        with context.loss:
            return cls(context, *ze_module.create(context.handle, device, inputs), True)


class NativeKernel:
    """A kernel for one device. Who sets arguments and appends a launch holds ``lock``."""

    def __init__(self, module: NativeModule, handle: KernelHandle, is_owned: bool) -> None:
        self.module = module
        self.lock = threading.Lock()
        self.handle = handle
        if is_owned:
            finalizer = _KernelFinalizer(self, module.context.attention.append)
            finalizer.handle = self.handle
            module.context.watch(finalizer)

    @classmethod
    def find(cls, module: NativeModule, name: str) -> NativeKernel:
        """A kernel of a module."""
        with module.context.loss:
            return cls(module, ze_module.create_kernel(module.handle, name), True)

    @cached_property
    def required_group_size(self) -> tuple[int, int, int]:
        """The group size that its code requires; zeros if it takes any."""
        with self.module.context.loss:
            return ze_module.kernel_properties(self.handle).required_group_size


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
    constants
        The specialisation constants that were set, as bytes by their numbers.
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
        self.constants: Mapping[int, bytes] = {}
        self.log = ""
        self._compiled: ze_module.Input | None = None
        self._lock = threading.Lock()
        self._modules: dict[int, NativeModule] = {}
        self._linked: tuple[ze_module.Input, ...] = ()
        self._is_closed = False

    __reduce_ex__ = not_copied("Send its spirv and options.")

    @classmethod
    def with_native_handle(cls, context: Context, native_handle: int, is_owned: bool) -> Program:
        """A program over somebody's module, which counts as compiled for all devices.

        Parameters
        ----------
        is_owned
            Whether the module is destroyed when the program and its kernels are gone.
        """
        program = cls(context, _UNKNOWN)
        program.spirv = b""
        module = NativeModule(context.native, module_from(native_handle), "", is_owned)
        program._modules = {
            handle_value(device): module for device in distinct_handles(context.devices)
        }
        return program

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else "" if self._modules else ", not built"
        return f"<Program of {len(self.spirv)} bytes{state}>"

    @property
    def is_built(self) -> bool:
        """Whether it can give kernels."""
        return bool(self._modules)

    @property
    def is_compiled(self) -> bool:
        """Whether it can be linked."""
        return self._compiled is not None

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its context was."""
        return self._is_closed or self.context.is_closed

    def set_constants(self, values: Mapping[int, Any]) -> None:
        """Set specialisation constants for the builds to come; those set before stay.

        Parameters
        ----------
        values
            Bytes or a buffer for each constant's number, as many as the constant has.

        Raises
        ------
        InvalidValueError
            With INVALID_SPEC_ID if it has no constant of a number, with INVALID_VALUE if a value
            has more or fewer bytes than its constant. None is set then.
        InvalidOperationError
            If it is built already.
        InvalidProgramError
            If the program or its context is closed, or it was not made from SPIR-V.
        """
        with self._lock:
            self._require_open()
            if not self.spirv:
                raise InvalidProgramError(f"{self!r} was not made from SPIR-V.")
            if self._modules:
                raise InvalidOperationError(f"{self!r} is built already.")
            self.constants = {**self.constants, **checked_constants(self.spirv, values)}

    def build(self, options: str = "") -> None:
        """Compile it for all devices of the context.

        Raises
        ------
        InvalidOperationError
            If that was done already.
        InvalidProgramError
            If the program or its context is closed.
        InvalidValueError
            If the options have a zero byte.
        UrError
            With PROGRAM_BUILD_FAILURE if it does not compile.
        """
        _check_options(options)
        native = self.context.native
        native.attend()
        with self._lock:
            self._require_open()
            if self._modules:
                raise InvalidOperationError(f"{self!r} is built already.")
            inputs = self._linked or (ze_module.Input(self.spirv, options, self.constants),)
            try:
                built = {
                    handle_value(device): NativeModule.compile(native, device, inputs)
                    for device in distinct_handles(self.context.devices)
                }
            except UrError as error:
                self.log = error.message
                raise
            self.options = options
            self.log = "\n".join(filter(None, (module.log for module in built.values())))
            self._modules = built

    def compile(self, options: str = "") -> None:
        """Note the options and the constants that it is to be compiled with when it is linked.

        Raises
        ------
        InvalidValueError
            If the options have a zero byte.
        InvalidOperationError
            If it is built already.
        InvalidProgramError
            If the program or its context is closed.
        """
        _check_options(options)
        with self._lock:
            self._require_open()
            if self._modules:
                raise InvalidOperationError(f"{self!r} is built already.")
            self.options = options
            self._compiled = ze_module.Input(self.spirv, options, self.constants)

    @classmethod
    def link(cls, programs: Sequence[Program], options: str = "") -> Program:
        """One program of several of a context, which may use each other's functions, built.

        Parameters
        ----------
        programs
            At least one, compiled and not closed.
        options
            For all of them, behind those that each was compiled with.

        Raises
        ------
        InvalidProgramError
            If one is not compiled, or closed.
        InvalidContextError
            If they are not of one context.
        UrError
            With PROGRAM_BUILD_FAILURE if they do not compile or link.
        """
        inputs = []
        for each in programs:
            each._require_open()
            if each.context is not programs[0].context:
                raise InvalidContextError(f"{each!r} is of another context than {programs[0]!r}.")
            if each._compiled is None or not each.spirv:
                raise InvalidProgramError(f"{each!r} must be compiled before it is linked.")
            both = f"{each._compiled.options} {options}".strip()
            inputs.append(replace(each._compiled, options=both))
        linked = cls(programs[0].context, programs[0].spirv)
        linked._linked = tuple(inputs)
        linked.spirv = b"" if len(programs) > 1 else programs[0].spirv
        linked.build(options)
        return linked

    @property
    def native_handle(self) -> int:
        """The module of its first device, as a number.

        Raises
        ------
        InvalidProgramError
            If the program is not built, or closed.
        """
        self._require_open()
        return handle_value(next(iter(self._require_built().values())).handle)

    def kernel_names(self) -> list[str]:
        """The names of its kernels."""
        self._require_open()
        with self.context.native.loss:
            return ze_module.kernel_names(next(iter(self._require_built().values())).handle)

    def kernel_with_native_handle(self, native_handle: int, is_owned: bool) -> Kernel:
        """A kernel over somebody's, of a module of this program; it counts as that of all devices.

        Parameters
        ----------
        is_owned
            Whether the native kernel is destroyed when the kernel and its launches are gone.

        Raises
        ------
        InvalidProgramError
            If the program is not built, or closed.
        """
        native = kernel_from(native_handle)
        with self._lock:
            self._require_open()
            built = self._require_built()
            with self.context.native.loss:
                name = ze_module.kernel_name(native)
            shared = NativeKernel(next(iter(built.values())), native, is_owned)
            natives = dict.fromkeys(built, shared)
        return Kernel(self, name, natives)

    def kernel(self, name: str) -> Kernel:
        """A kernel by its name.

        Raises
        ------
        InvalidProgramError
            If the program is not built, or closed.
        UrError
            With INVALID_KERNEL_NAME if it has none of that name.
        """
        if "\0" in checked_instance("name", name, str):  # the driver would read no further
            raise UrError(
                f"{self!r} has no kernel {name!r}: no name has a zero byte.",
                code=UrResult.INVALID_KERNEL_NAME,
            )
        self.context.native.attend()
        with self._lock:
            self._require_open()
            natives = {
                device: NativeKernel.find(module, name)
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
            self.argument_count = ze_module.kernel_properties(first.handle).argument_count
        self._is_closed = False

    __reduce_ex__ = not_copied("Send its program and name.")

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r}{', closed' if self._is_closed else ''}>"

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its context was."""
        return self._is_closed or self.program.context.is_closed

    def native(self, device: Device) -> NativeKernel:
        """The kernel for a device of the program's context.

        Raises
        ------
        InvalidKernelError
            If the kernel is closed.
        InvalidDeviceError
            If the device is none of the context's.
        """
        natives, asked = self._open_natives(), device
        while device.native_value not in natives:
            if device.parent is None:
                raise InvalidDeviceError(f"{self!r} is for other devices than {asked!r}.")
            device = device.parent  # a context builds for the devices that it names
        return natives[device.native_value]

    def _open_natives(self) -> dict[int, NativeKernel]:
        natives = self._natives  # another thread may close it meanwhile
        if not natives:
            raise InvalidKernelError(f"{self!r} cannot be used any more.")
        return natives

    @property
    def native_handle(self) -> int:
        """The kernel of its program's first device, as a number; 0 if it is closed."""
        return next((handle_value(each.handle) for each in self._natives.values()), 0)

    def properties(self, device: Device) -> KernelProperties:
        """What it is like on a device of the program's context.

        Raises
        ------
        InvalidKernelError
            If the kernel is closed.
        InvalidDeviceError
            If the device is none of the context's.
        """
        with self.program.context.native.loss:
            return ze_module.kernel_properties(self.native(device).handle)

    def set_indirect_access(self, allowed: bool) -> None:
        """Whether later launches may reach all USM through the pointers that they find.

        Raises
        ------
        InvalidKernelError
            If the kernel is closed.
        """
        for native in set(self._open_natives().values()):
            with self.program.context.native.loss, native.lock:
                ze_module.set_indirect_access(native.handle, allowed)

    def close(self) -> None:
        """Give it back, when the launches under way are complete. Idempotent."""
        self._is_closed = True
        self._natives = {}
        self.program.context.native.run_finalizers()
