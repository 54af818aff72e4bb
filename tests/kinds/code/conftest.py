from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.kinds.code.sums import write

from heredity.kinds.code.judge import Judge, Tests
from heredity.kinds.code.problem import Problem
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.native import NativeRuns


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    return write(tmp_path_factory.mktemp("problems") / "sum")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def judge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Judge]:
    if available() is not None:
        pytest.skip("programs cannot be confined on this machine")
    async with NativeRuns(2) as runs:
        yield Judge(runs, tmp_path_factory.mktemp("programs"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tests(judge: Judge, asked: Problem) -> Tests:
    return await judge.tests(asked, "secret")
