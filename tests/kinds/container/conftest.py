from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers import BubblewrapBackend, ContainerLimits

REASON = available()

# The folder of tests/tasks, whose small task folders are used here too, also where these tests run alone.


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if REASON is not None and "backend" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason=f"container tasks cannot be isolated here: {REASON}"))


@pytest.fixture
async def backend() -> AsyncIterator[BubblewrapBackend]:
    made = BubblewrapBackend(ContainerLimits(processes=64, files=2000))
    yield made
    await made.close()
