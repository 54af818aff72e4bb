"""World folders for the tests: two that lie in tests/data, and copies of one with other code in it."""

from __future__ import annotations

import importlib
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heredity.worlds import folder as world_folder

FOLDERS = Path(__file__).parents[1] / "data" / "world_folders"
CANAL, FERRY = FOLDERS / "3_LanternCanal", FOLDERS / "9_CrookedFerry"
_GUEST = Path(world_folder.__file__).with_name("guest_base")


def sail(towards: str) -> dict[str, Any]:
    return {"action": "sail", "params": {"towards": towards}}


LIGHT, MOOR = {"action": "light", "params": {}}, {"action": "moor", "params": {}}


def changed(folder: Path, target: Path, file: str, old: str, new: str) -> Path:
    """Copy a folder, and replace a text in one of its files."""
    shutil.copytree(folder, target)
    text = (target / file).read_text()
    assert old in text
    (target / file).write_text(text.replace(old, new))
    return target


def in_step(lines: str, target: Path) -> Path:
    """Copy the clean folder, with lines of code at the beginning of its transition."""
    start = "    def transition(self, action):\n"
    body = "".join(f"        {line}\n" for line in lines.splitlines())
    return changed(CANAL, target, "env_main.py", start, start + body)


@contextmanager
def imported(folder: Path, target: Path) -> Iterator[Any]:
    """Import a copy of a folder in this very process, as its authors run it, and give its environment."""
    shutil.copytree(folder, target)
    before, path = set(sys.modules), list(sys.path)
    sys.path[:0] = [str(target), str(_GUEST)]
    try:
        with chdir(target):
            base = importlib.import_module("base.env.base_env").SkinEnv
            module = importlib.import_module("env_main")
            [made] = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, base) and v is not base]
            yield made(env_id=f"{folder.name}_benchmark")
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            del sys.modules[name]


def direct_stream(env: Any, level: str, seed: int, actions: list[dict[str, Any]]) -> list[Any]:
    """Play a level the way that the format's own runner does: what is seen, the rewards, and whether it is over."""
    random.seed(seed)
    np.random.seed(seed)
    env.reset(mode="load", world_id=level)
    stream: list[Any] = [env.render_skin(env.observe_semantic())]
    for action in actions:
        _, reward, done, info = env.step(action)
        stream.append([info["skinned"], reward, done])
        if done:
            break
    return stream
