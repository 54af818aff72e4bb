"""ALFWorld's engine in separate processes, since it prints freely and keeps global state."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from heredity._core.errors import HostError
from heredity.engine.rollout import RolloutError
from heredity.kinds.checkpoint.tasks.env.household import STEPS

_ROOT = Path(str(files("heredity.kinds.checkpoint.tasks")))
# Appended, so that the installed package `alfworld` comes before the folder of that name here.
_CODE = f"import sys; sys.path.append({str(_ROOT)!r}); from env.household import serve; serve()"
_LINE = 1 << 20
_SECONDS = 120.0
"""Most wall seconds of one answer of the engine: loading a game takes 0.5 to 5, a step 0.05."""


@dataclass
class HouseholdStage:
    """A chore open in another process.

    Attributes:
        process: the process that plays it.
        folder: folder of the game.
        steps: maximum number of actions.
        harmless: an action that every game accepts.
    """

    process: asyncio.subprocess.Process
    folder: Path
    steps: int = STEPS
    harmless: str = "look"

    async def reset(self) -> str:
        """Start (see `GameProcess.reset`)."""
        return await self._ask({"open": str(self.folder)})

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action (see `GameProcess.step`)."""
        observation, reward, done = await self._ask({"action": action})
        return observation, reward, done

    async def _ask(self, question: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(_SECONDS):
                self.process.stdin.write(json.dumps(question).encode() + b"\n")
                await self.process.stdin.drain()
                line = await self.process.stdout.readline()
        except TimeoutError as error:
            raise RolloutError(f"ALFWorld gave no answer within {_SECONDS:g} seconds in {self.folder.name}") from error
        except (ConnectionError, ValueError) as error:
            raise RolloutError(f"ALFWorld broke off in {self.folder.name}: {error}") from error
        if not line:
            raise RolloutError(f"ALFWorld ended in {self.folder.name}: {await self._last_words()}")
        return json.loads(line)

    async def _last_words(self) -> str:
        assert self.process.stderr is not None
        lines = (await self.process.stderr.read()).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {await self.process.wait()}"


@asynccontextmanager
async def open_household(folder: Path) -> AsyncGenerator[HouseholdStage]:
    """Open the game in a folder in a separate process, which ends with the game.

    Raises:
        HostError: if the process cannot be started.
    """
    pipe, command = subprocess.PIPE, (sys.executable, "-c", _CODE)
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LINE, start_new_session=True
        )
    except OSError as error:
        raise HostError(f"no process can be started for a game of ALFWorld: {error}") from error
    try:
        yield HouseholdStage(process, folder)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def demonstrations(folders: Sequence[Path]) -> list[list[dict[str, str]]]:
    """Return the planner's solution of each game as train rows; an empty list if it found none.

    Raises:
        HostError: if the engine fails.
    """
    asked = json.dumps({"demonstrate": [str(folder) for folder in folders]}) + "\n"
    done = subprocess.run([sys.executable, "-c", _CODE], input=asked, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != len(folders):
        words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise HostError(f"ALFWorld planned {len(lines)} of {len(folders)} games: {words[-1]}")
    return [json.loads(line) for line in lines]
