# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of peer access: one device's commands use another's device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0.entry_points._handles import handle
from urasync_l0.enums import PeerInfo
from urasync_l0.info import InfoTable, InfoType, Property
from urasync_l0.peer_access import grants_of
from urasync_l0.result import InvalidEnumerationError, UnsupportedEnumerationError

if TYPE_CHECKING:
    from urasync_l0.device import Device
    from urasync_l0.out import Out

INT = InfoType("int", 4)

_INFO: InfoTable[tuple[Device, Device]] = InfoTable(
    {
        PeerInfo.UR_PEER_ACCESS_SUPPORT: Property(
            INT, lambda pair: int(pair[0].can_access_peer(pair[1]))
        ),
        PeerInfo.UR_PEER_ATOMICS_SUPPORT: Property(
            INT, lambda pair: int(pair[0].has_peer_atomics(pair[1]))
        ),
    }
)


class PeerAccessEntryPoints:
    """``urUsmP2P…``: for all contexts of the adapter that have both devices."""

    name: str

    def urUsmP2PEnablePeerAccessExp(
        self, command_device: Device | None, peer_device: Device | None
    ) -> None:
        """Let commands of one device use the memory of another, what exists and what comes."""
        device, peer = _both(command_device, peer_device)
        grants_of(self.name).grant(device, peer)

    def urUsmP2PDisablePeerAccessExp(
        self, command_device: Device | None, peer_device: Device | None
    ) -> None:
        """Take that back."""
        device, peer = _both(command_device, peer_device)
        grants_of(self.name).revoke(device, peer)

    def urUsmP2PPeerAccessGetInfoExp(
        self,
        command_device: Device | None,
        peer_device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `PeerInfo`."""
        pair = _both(command_device, peer_device)
        try:
            _INFO.answer(pair, prop_name, prop_size, prop_value, prop_size_ret)
        except UnsupportedEnumerationError as error:
            raise InvalidEnumerationError(error.message) from None


def _both(command_device: Device | None, peer_device: Device | None) -> tuple[Device, Device]:
    return handle(command_device, "command device"), handle(peer_device, "peer device")
