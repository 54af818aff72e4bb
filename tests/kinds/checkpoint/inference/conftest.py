"""What the tests of inference share: a sandbox with torch imported, a small checkpoint, and who runs in the sandbox."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from heredity.kinds.checkpoint.inference import WarmSandbox
from heredity.kinds.checkpoint.models import make_characters
from heredity.kinds.checkpoint.tasks.contract import BaseRecipe
from heredity.sandbox.bubblewrap_root import available

SUMS = tuple((f"{a}+{b}=", str(a + b)) for a in range(5) for b in range(5))


@pytest.fixture(scope="session")
def confined() -> None:
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra: posttrain)")
    if (reason := available()) is not None:
        pytest.skip(reason)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(confined: None) -> AsyncIterator[WarmSandbox]:
    warm_sandbox = WarmSandbox()
    yield warm_sandbox
    await warm_sandbox.close()


@pytest.fixture(scope="session")
def folder(confined: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model that knows some sums of two digits, and has no chat template."""
    recipe = BaseRecipe("0123456789+= \n", SUMS, steps=40, batch=32, learning_rate=1e-2)
    return make_characters(tmp_path_factory.mktemp("sums") / "model", recipe, size="tiny")


@pytest.fixture
def processes(sandbox: WarmSandbox) -> Callable[[], list[int]]:
    """Give the processes in the sandbox, as this machine numbers them: the zygote, then a worker if there is one."""

    def below(pid: int) -> list[int]:
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []
        return [descendant for child in map(int, children) for descendant in (child, *below(child))]

    return lambda: below(sandbox._zygote.pid) if sandbox._zygote else []
