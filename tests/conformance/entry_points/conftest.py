# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A client of the entry points, with a context, a device and queues of each submission mode."""

from collections.abc import Callable, Iterator
from typing import cast

import pytest

from tests.helpers.entries import Client
from tests.helpers.stash import WENT_THROUGH
from tests.helpers.usm import TIMEOUT_NS
from urasync_l0 import Context, Device, Queue
from urasync_l0.adapter import find_adapter
from urasync_l0.enums import QueueFlag
from urasync_l0.platform import default_platform
from urasync_l0.result import UrError
from urasync_l0.ze.loader import DriverName


@pytest.fixture
def client(adapter: str, driver: DriverName) -> Client:
    """A program that knows nothing but the entry points of one adapter."""
    return Client(find_adapter(adapter))


@pytest.fixture
def context(
    request: pytest.FixtureRequest,
    client: Client,
    make_context: Callable[..., Context],  # checks that nothing native is left
) -> Iterator[Context]:
    """A context on all root devices.

    The test gives back what it made, except queues of `make_queue`; so releasing the context at
    the end closes it.
    """
    made = client.create_context(default_platform().devices)
    yield made
    if not made.is_closed:
        try:
            client.adapter.urContextRelease(made)
            left = [*made.native.registry.live.values(), *made.native.finalizers.values()]
            went_through = request.node.stash.get(WENT_THROUGH, False)
            problem = f"{made!r} is not closed, since something is left: {left}"
            if went_through:
                assert made.is_closed, problem
        except UrError:  # the test released it, and kept something that depends on it
            pass
        finally:
            assert made.close(TIMEOUT_NS), f"{made!r} does not close"


@pytest.fixture
def device(context: Context, device_index: int) -> Device:
    """The device of this process."""
    return context.devices[device_index]


@pytest.fixture(
    params=[QueueFlag.SUBMISSION_BATCHED, QueueFlag.SUBMISSION_IMMEDIATE],
    ids=["batched", "immediate"],
)
def submission(request: pytest.FixtureRequest) -> QueueFlag:
    """How the queues submit."""
    return cast(QueueFlag, request.param)


@pytest.fixture
def make_queue(
    client: Client, context: Context, device: Device, submission: QueueFlag
) -> Iterator[Callable[[], Queue]]:
    """Makes queues on the device; those that the test keeps are released at the end."""
    made: list[Queue] = []

    def make() -> Queue:
        queue = client.create_queue(context, device, submission)
        made.append(queue)
        return queue

    yield make
    for queue in made:
        if not queue.is_closed:
            client.adapter.urQueueRelease(queue)


@pytest.fixture
def queue(make_queue: Callable[[], Queue]) -> Queue:
    """A queue."""
    return make_queue()


@pytest.fixture
def other_queue(queue: Queue, make_queue: Callable[[], Queue]) -> Queue:
    """A second queue."""
    return make_queue()
