"""World folders for the tests: two that lie in tests/data, and copies of one with other code in it."""

from __future__ import annotations

import importlib
import json
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heredity.kinds.world.folders import folder as world_folder
from heredity.resources import SourceTree

FOLDERS = Path(__file__).parents[3] / "data" / "world_folders"
CANAL, FERRY = FOLDERS / "3_LanternCanal", FOLDERS / "9_CrookedFerry"
_GUEST = Path(world_folder.__file__).parents[1] / "guest_base"


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


BAKERY = {
    "config.yaml": "termination: {max_steps: 12}",
    "agent_instruction.txt": "Bake and sell.",
    "action_space.txt": json.dumps(
        [
            {
                "name": "bake",
                "parameters": {"what": "kind of loaf (rye, wheat, or oat)", "amount": "number of loaves (1-3)"},
            },
            {"name": "sell", "parameters": {"buyer": "name of the buyer"}},
            {"name": "taste", "parameters": {}},
            {"name": "rest", "parameters": {}},
        ]
    ),
    "level_max_rewards.json": json.dumps({f"level_0{n}": {"max_reward": 3} for n in range(1, 5)}),
    "levels/level_01.yaml": "{loaves: 0, sold: 0, tasted: 0, oven: warm, buyers: {Ada: 1}, seed: 11}",
    "levels/level_02.yaml": "{loaves: 0, sold: 0, tasted: 0, oven: warm, buyers: {Ada: 1}, seed: 12}",
    "levels/level_03.yaml": "{loaves: 0, sold: 0, tasted: 0, oven: cold, buyers: {Bo: 1}, seed: 13}",
    "val_levels/level_04.yaml": "{loaves: 0, sold: 0, tasted: 0, oven: warm, buyers: {Cy: 1}, seed: 14}",
    "env_validator.py": "",
    "env_obs.py": "",
    "env_generate.py": "",
    "env_main.py": """
import random

import yaml
from base.env.base_env import SkinEnv


class Bakery(SkinEnv):
    def __init__(self, env_id):
        super().__init__(env_id, None)

    def _dsl_config(self):
        self.configs = yaml.safe_load(open("./config.yaml"))

    def reset(self, mode="load", world_id=None, seed=None):
        self._state, self._t, self.rye = yaml.safe_load(open(f"./levels/{world_id}.yaml")), 0, False

    def transition(self, action):
        state, name, given = self._state, action["action"], action["params"]
        self.tasted = name == "taste" and state["loaves"] > 0
        state["tasted"] += self.tasted
        if name == "bake" and state["oven"] == "warm" and given.get("what") == "rye":
            state["loaves"] += given.get("amount", 0)
        if name == "sell" and state["loaves"] >= 1 and given.get("buyer") in state["buyers"]:
            state["loaves"] -= 1
            state["sold"] += random.random() > 0.3
        return state

    def reward(self, action):
        paid = 1.0 if self._state["sold"] and action["action"] not in ("bake", "taste") else 0.0
        return paid + 0.25 * self.tasted, [], {}

    def observe_semantic(self):
        return self._state

    def render_skin(self, omega):
        return str({key: value for key, value in omega.items() if key != "seed"})
""",
}
"""A small folder with faults that show only after some steps: whoever has sold once is paid for anything, even for what is no
action; tasting pays without end; an amount has no end; a level is another one but for a seed; one cannot be solved."""


def written(files: dict[str, str], target: Path, **changed_files: str) -> Path:
    """Write a folder."""
    SourceTree({**files, **changed_files}).write_to(target)
    return target
