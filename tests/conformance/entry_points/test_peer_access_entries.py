# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``urUsmP2P…``: one device's commands use another's device memory, in all contexts."""

from typing import Any

import pytest

from tests.helpers.entries import Client, refused
from tests.helpers.strict_process import run_strictly
from urasync_l0 import Device
from urasync_l0.enums import PeerInfo
from urasync_l0.out import Out
from urasync_l0.platform import default_platform
from urasync_l0.result import UrResult

START = """
    import sys
    from urasync_l0 import Context
    from urasync_l0.adapter import find_adapter
    from urasync_l0.out import Out
    from urasync_l0.platform import default_platform
    from urasync_l0.result import UrError
    from urasync_l0.software_driver.controls import Controls

    adapter = find_adapter(sys.argv[1])
    controls = Controls()
    first, second = default_platform().devices
    enable = adapter.urUsmP2PEnablePeerAccessExp
    disable = adapter.urUsmP2PDisablePeerAccessExp

    def answer(call, *arguments):
        try:
            call(*arguments)
        except UrError as error:
            return error.code.name
        return "SUCCESS"

    def peer_info(name):
        out = Out()
        adapter.urUsmP2PPeerAccessGetInfoExp(first, second, name, 4, out, None)
        return out.value

    def context(*devices):
        made = Context(sys.argv[1], devices=devices, expanding_segments="off")
        for pool in {made.default_pool(device) for device in made.devices}:
            pool.release_threshold = 2**64 - 1
        return made
"""


def run_on_two(program: str, adapter: str, **settings: str) -> list[str]:
    """What a program on two devices prints, by line."""
    settings = {"URASYNC_L0_SOFTWARE_DEVICES": "2"} | settings
    return run_strictly(START + program, adapter, **settings).splitlines()


@pytest.mark.usefixtures("controls")
def test_all_contexts_of_the_adapter_that_have_both(adapter: str) -> None:
    """MT-5, of contexts that exist and those that come; the other adapter's have no part in it."""
    program = """
    other = "legacy" if sys.argv[1] == "v2" else "v2"
    both, owner_only = context(first, second), context(second)
    others = Context(other, expanding_segments="off")
    held = [each.create_queue(second).alloc_device(1000) for each in (both, owner_only, others)]
    enable(first, second)
    print(both.has_peer_access(first, second), both.has_peer_access(second, first),
          others.has_peer_access(0, 1))
    later = context(first, second)
    print(later.has_peer_access(first, second), controls.resident_bytes(0) > 0)
    before = controls.resident_bytes(0)
    more = later.create_queue(second).alloc_device(1000)
    print(controls.resident_bytes(0) > before, controls.resident_bytes(1))
    disable(first, second)
    print(controls.resident_bytes(), both.has_peer_access(first, second),
          later.has_peer_access(first, second))
    print(context(first, second).has_peer_access(first, second))
    """
    assert run_on_two(program, adapter) == [
        "True False False",
        "True True",
        "True 0",
        "0 False False",
        "False",
    ]


@pytest.mark.usefixtures("controls")
def test_states_that_do_not_fit(adapter: str) -> None:
    program = """
    print(answer(disable, first, second), answer(enable, first, second),
          answer(enable, first, second), answer(enable, second, first),
          answer(disable, first, second), answer(disable, first, second))
    print(answer(enable, first, first))
    """
    assert run_on_two(program, adapter) == [
        "INVALID_OPERATION SUCCESS INVALID_OPERATION SUCCESS SUCCESS INVALID_OPERATION",
        "INVALID_DEVICE",
    ]


@pytest.mark.usefixtures("controls")
def test_incapable_peers(adapter: str) -> None:
    """MT-5: asked first; no other call is made."""
    program = """
    both = context(first, second)
    held = both.create_queue(second).alloc_device(1000)
    print(peer_info(0), peer_info(1), answer(enable, first, second))
    print(controls.calls("zeContextMakeMemoryResident"), both.has_peer_access(first, second))
    """
    settings = {"URASYNC_L0_SOFTWARE_PEER": "0"}
    assert run_on_two(program, adapter, **settings) == ["0 0 INVALID_OPERATION", "0 False"]
    assert run_on_two("    print(peer_info(0), peer_info(1))", adapter) == ["1 1"]


@pytest.mark.usefixtures("controls")
def test_a_failure_in_one_context_undoes_the_others(adapter: str) -> None:
    program = """
    contexts = [context(first, second) for _ in range(3)]
    held = [each.create_queue(second).alloc_device(1000) for each in contexts]
    states = lambda: [each.has_peer_access(first, second) for each in contexts]
    controls.fail("zeContextMakeMemoryResident", 3, 0x70000003)
    print(answer(enable, first, second), states(), controls.resident_bytes())
    print(answer(enable, first, second), states())
    everything = controls.resident_bytes()
    controls.fail("zeContextEvictMemory", 2, 0x70000003)
    print(answer(disable, first, second), states(), controls.resident_bytes() == everything)
    print(answer(disable, first, second), states(), controls.resident_bytes())
    """
    assert run_on_two(program, adapter) == [
        "OUT_OF_DEVICE_MEMORY [False, False, False] 0",
        "SUCCESS [True, True, True]",
        "OUT_OF_DEVICE_MEMORY [True, True, True] True",
        "SUCCESS [False, False, False] 0",
    ]


@pytest.mark.usefixtures("controls")
def test_a_context_that_lost_its_device_is_left_out(adapter: str) -> None:
    program = """
    broken, whole = context(first, second), context(first, second)
    queue = broken.create_queue(second)
    controls.fail("zeMemAllocDevice", 1, 0x70000001)
    print(answer(queue.alloc_device, 1000), answer(queue.alloc_device, 1000))
    held = whole.create_queue(second).alloc_device(1000)
    print(answer(enable, first, second), broken.has_peer_access(first, second),
          whole.has_peer_access(first, second))
    """
    assert run_on_two(program, adapter) == ["DEVICE_LOST DEVICE_LOST", "SUCCESS False True"]


def test_refuses(client: Client) -> None:
    device: Device = default_platform().devices[0]
    value: Out[Any] = Out()
    size: Out[int] = Out()
    for call in (
        client.adapter.urUsmP2PEnablePeerAccessExp,
        client.adapter.urUsmP2PDisablePeerAccessExp,
    ):
        with refused(UrResult.INVALID_NULL_HANDLE):
            call(None, device)
        with refused(UrResult.INVALID_NULL_HANDLE):
            call(device, None)
    get = client.adapter.urUsmP2PPeerAccessGetInfoExp
    with refused(UrResult.INVALID_NULL_HANDLE, value, size):
        get(None, device, PeerInfo.UR_PEER_ACCESS_SUPPORT, 4, value, size)
    with refused(UrResult.INVALID_NULL_HANDLE, value, size):
        get(device, None, PeerInfo.UR_PEER_ACCESS_SUPPORT, 4, value, size)
    with refused(UrResult.INVALID_NULL_POINTER):
        get(device, device, PeerInfo.UR_PEER_ACCESS_SUPPORT, 0, None, None)
    with refused(UrResult.INVALID_ENUMERATION, value, size):
        get(device, device, 2, 4, value, size)
    with refused(UrResult.INVALID_SIZE, value, size):
        get(device, device, PeerInfo.UR_PEER_ACCESS_SUPPORT, 3, value, size)
    get(device, device, PeerInfo.UR_PEER_ACCESS_SUPPORT, 4, value, size)
    assert (value.value, size.value) == (1, 4)


@pytest.mark.usefixtures("controls")
@pytest.mark.parametrize(
    ("entry", "poisoned"),
    [
        ("zeContextMakeMemoryResident", "True False False"),
        ("zeDeviceCanAccessPeer", "True True False"),
    ],
)
def test_a_lost_device_poisons_the_contexts_concerned(
    adapter: str, entry: str, poisoned: str
) -> None:
    """DEVICE_LOST: where the call is about memory, only the context whose memory it is."""
    program = """
    full, empty, owner_only = context(first, second), context(first, second), context(second)
    held = full.create_queue(second).alloc_device(1000)
    controls.fail(ENTRY, 1, 0x70000001)
    print(answer(enable, first, second))
    print(*(each.native.lost is not None for each in (full, empty, owner_only)))
    """
    program = program.replace("ENTRY", repr(entry))
    assert run_on_two(program, adapter) == ["DEVICE_LOST", poisoned]


@pytest.mark.usefixtures("controls")
def test_peers_in_one_direction(adapter: str) -> None:
    """MT-5: whether the first device reaches the second says nothing about the way back."""
    program = """
    import urasync_l0.device
    urasync_l0.device.ze_device.can_access_peer = lambda device, peer: device == first.handle
    print(peer_info(0), answer(enable, first, second))
    first, second = second, first
    print(peer_info(0), answer(enable, first, second))
    """
    program = program.replace("device == first.handle", "device == reaching")
    program = "    reaching = first.handle\n" + program
    assert run_on_two(program, adapter) == ["1 SUCCESS", "0 INVALID_OPERATION"]
