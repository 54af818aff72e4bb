"""World folders by hostile authors, in the AutoEnv-36 form: what they do stays in their process, and is the world's failure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.kinds.world.folders.folders import LIGHT, MOOR, in_step
from tests.kinds.world.folders.test_world_folders import attempt

from heredity._core.errors import HeredityError
from heredity.engine.programs import SandboxedPrograms
from heredity.sandbox import isolation

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as running:
        yield running


LATER = "self.n = getattr(self, 'n', 0) + 1\n"


@pytest.mark.parametrize(
    ("lines", "said", "steps"),
    [
        (LATER + "import time; time.sleep(60 if self.n == 4 else 0)", "timeout", 3),
        (LATER + "while self.n == 4: pass", "timeout", 3),
        (LATER + "self.held = getattr(self, 'held', []) + [bytearray(100 << 20)]", "oom", 1),
        ("import os; os.fork()", "PermissionError", 0),
        ("import subprocess; subprocess.run(['true'])", "PermissionError", 0),
        ("import socket; socket.socketpair()", "PermissionError", 0),
        ("import threading, time\n[threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(999)]", "thread", 0),
        ("held = [open('/dev/null') for _ in range(999)]", "Too many open files", 0),
        ("open('full', 'wb').write(bytes(64 << 20))", "File too large|No space", 0),
        ("import os; os.kill(os.getppid(), 9)", "PermissionError", 0),
    ],
)  # fmt: skip
async def test_what_a_folder_takes_too_much_of_ends_it_as_the_worlds_failure(
    programs: SandboxedPrograms, tmp_path: Path, lines: str, said: str, steps: int
) -> None:
    act_s = 2.0 if said == "timeout" else 120.0
    trajectory = await attempt(programs, in_step(lines, tmp_path / "w"), [LIGHT, MOOR, MOOR, MOOR] * 2, act_s=act_s)
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
    assert trajectory.failure is not None
    assert any(word in trajectory.failure.message for word in said.split("|")), trajectory.failure
    assert trajectory.length >= steps


async def test_a_folder_finds_nothing_of_who_plays_and_why(programs: SandboxedPrograms, tmp_path: Path) -> None:
    looks = "\n".join(
        [
            "import gc, os, sys",
            "known = ('HOME', 'TMPDIR', 'LANG', 'LC_CTYPE', 'PYTHONHASHSEED', 'OPENBLAS_NUM_THREADS')",
            "known += ('OMP_NUM_THREADS', 'MALLOC_ARENA_MAX')",
            "assert not [name for name in os.environ if name not in known], 'variables'",
            "assert sys.argv == ['program'], 'arguments'",
            "assert not [name for name in sys.modules if name.split('.')[0] in ('heredity', 'pytest')], 'modules'",
            "held = [value for table in gc.get_objects() if type(table) is dict for value in list(table.values())]",
            "words = ['_'.join(['policy', 'seed']), ''.join(['held', 'out'])]",
            "assert len(held) > 1000",
            "assert not [text for text in held if type(text) is str and any(word in text for word in words)], 'seeds'",
        ]
    )
    trajectory = await attempt(programs, in_step(looks, tmp_path / "w"), [MOOR])
    assert trajectory.status == "ok", trajectory.failure
