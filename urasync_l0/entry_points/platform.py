# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of platforms: a platform is a Level Zero driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0.entry_points._handles import handle, pointer
from urasync_l0.enums import Backend, PlatformInfo
from urasync_l0.info import ENUMERATION, HANDLE, STRING, InfoTable, Property
from urasync_l0.out import check_list, write_list
from urasync_l0.platform import Platform, platforms
from urasync_l0.result import InvalidValueError
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from urasync_l0.descriptors import NativeHandleProperties
    from urasync_l0.entry_points.base import Adapter
    from urasync_l0.out import Out

UR_API_VERSION = 0 << 16 | 12
"""The version of Unified Runtime whose interface this is: 0.12."""

_INFO: InfoTable[tuple[object, Platform]] = InfoTable(
    {
        PlatformInfo.NAME: Property(STRING, lambda asked: "Level Zero through urasync-l0"),
        PlatformInfo.VENDOR_NAME: Property(STRING, lambda asked: asked[1].devices[0].vendor),
        PlatformInfo.VERSION: Property(
            STRING, lambda asked: ".".join(str(number) for number in asked[1].api_version)
        ),
        PlatformInfo.EXTENSIONS: Property(
            STRING, lambda asked: " ".join(sorted(asked[1].extensions))
        ),
        PlatformInfo.PROFILE: Property(STRING, lambda asked: "FULL_PROFILE"),
        PlatformInfo.BACKEND: Property(ENUMERATION, lambda asked: Backend.LEVEL_ZERO),
        PlatformInfo.ADAPTER: Property(HANDLE, lambda asked: asked[0]),
    }
)

_BACKEND_OPTIONS = {
    "": "",
    "-O0": "-ze-opt-disable",
    "-O1": "-ze-opt-level=2",
    "-O2": "-ze-opt-level=2",
    "-O3": "-ze-opt-level=2",
    "-foffload-fp32-prec-div": "-ze-fp32-correctly-rounded-divide-sqrt",
    "-foffload-fp32-prec-sqrt": "-ze-fp32-correctly-rounded-divide-sqrt",
}
"""Options of compilers, and what the build of a Level Zero module calls them."""


class PlatformEntryPoints:
    """``urPlatform…``."""

    def urPlatformGet(
        self,
        adapter: Adapter | None,
        num_entries: int,
        platforms: Out[tuple[Platform, ...]] | None,
        num_platforms: Out[int] | None,
    ) -> None:
        """The drivers; the choice of driver must be made before."""
        handle(adapter, "adapter")
        check_list(num_entries, platforms, num_platforms)
        write_list(num_entries, platforms, num_platforms, _platforms())

    def urPlatformGetInfo(
        self,
        platform: Platform | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `PlatformInfo`."""
        asked = (self, handle(platform, "platform"))
        _INFO.answer(asked, prop_name, prop_size, prop_value, prop_size_ret)

    def urPlatformGetApiVersion(self, platform: Platform | None, version: Out[int] | None) -> None:
        """The version of Unified Runtime: major number in the upper 16 bits, minor below."""
        handle(platform, "platform")
        pointer(version, "version").value = UR_API_VERSION

    def urPlatformGetNativeHandle(
        self, platform: Platform | None, native_platform: Out[int] | None
    ) -> None:
        """The ``ze_driver_handle_t``."""
        platform = handle(platform, "platform")
        pointer(native_platform, "native_platform").value = handle_value(platform.handle)

    def urPlatformCreateWithNativeHandle(
        self,
        native_platform: int,
        adapter: Adapter | None,
        properties: NativeHandleProperties | None,
        platform: Out[Platform] | None,
    ) -> None:
        """The platform of a ``ze_driver_handle_t``."""
        handle(adapter, "adapter")
        platform = pointer(platform, "platform")
        for each in _platforms():
            if handle_value(each.handle) == native_platform:
                platform.value = each
                return
        raise InvalidValueError(f"{native_platform:#x} is the handle of no Level Zero driver.")

    def urPlatformGetBackendOption(
        self,
        platform: Platform | None,
        frontend_option: str | None,
        platform_option: Out[str] | None,
    ) -> None:
        """The driver's name for a compiler option."""
        handle(platform, "platform")
        option = pointer(frontend_option, "frontend_option")
        platform_option = pointer(platform_option, "platform_option")
        if option not in _BACKEND_OPTIONS:
            raise InvalidValueError(f"The driver has no option that does what {option!r} does.")
        platform_option.value = _BACKEND_OPTIONS[option]


_platforms = platforms  # the entries' arguments have the name of the function
