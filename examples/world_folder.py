"""A world in the AutoEnv-36 form: its files, a player, its score and its audit."""

import asyncio
import json
from pathlib import Path

from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.kinds.world.folders.audit import audit_folder
from heredity.kinds.world.kind import WorldRunner
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

FILES = {
    "config.yaml": "termination: {max_steps: 6}",
    "agent_instruction.txt": "Ring the bell as often as it says.",
    "action_space.txt": '[{"name": "ring", "description": "Ring.", "parameters": {}},'
    ' {"name": "leave", "description": "Go home.", "parameters": {}}]',
    "level_max_rewards.json": '{"levels": {"level_01.yaml": {"max_reward": 2}, "level_11.yaml": {"max_reward": 3}}}',
    "levels/level_01.yaml": "left: 2",
    "val_levels/level_11.yaml": "left: 3",
    "env_obs.py": """
from base.env.base_observation import ObservationPolicy

class Everything(ObservationPolicy):
    def __call__(self, env_state, t):
        return env_state
""",
    "env_generate.py": """
import random
from base.env.base_generator import WorldGenerator

class Bells(WorldGenerator):
    def generate(self, seed=None, save_path=None):
        random.seed(seed)
        open(f"./levels/made_{seed}.yaml", "w").write(f"left: {random.randint(1, 6)}")
        return f"made_{seed}"
""",
    "env_validator.py": "",
    "env_main.py": """
import yaml
from base.env.base_env import SkinEnv
from env_generate import Bells
from env_obs import Everything

class Belfry(SkinEnv):
    def __init__(self, env_id):
        super().__init__(env_id, Everything())

    def _dsl_config(self):
        self.configs = yaml.safe_load(open("./config.yaml"))

    def reset(self, mode="load", world_id=None, seed=None):
        if mode == "generate":
            world_id = Bells(self.env_id, self.configs).generate(seed)
        self._state, self._t = yaml.safe_load(open(f"./levels/{world_id}.yaml")), 0

    def transition(self, action):
        self.rung = action.get("action") == "ring" and self._state["left"] > 0
        self._state["left"] -= self.rung
        return self._state

    def reward(self, action):
        return float(self.rung), ["rung"] if self.rung else [], {}

    def observe_semantic(self):
        return self.obs_policy(self._state, self._t)

    def render_skin(self, omega):
        return f"The bell is to ring {omega['left']} times."
""",
}
folder = Path("belfry")
SourceTree(FILES).write_to(folder)

PLAYER = """
class Player:
    def __init__(self, **given):
        pass

    def act(self, observation):
        return {"action": "leave" if " 0 times" in observation else "ring", "params": {}}
"""


async def main():
    tasks = taskset("world-folders/belfry")
    [task] = tasks.draw("heldout", 1, entropy=1)
    job = Job(tasks.info, Candidate({"agent/player": SourceTree({"agent.py": PLAYER})}), task)
    async with SandboxedPrograms(2) as programs:
        runner = WorldRunner(None, programs=programs)
        played = [trajectory async for _, trajectory in runner.run([job], Limits())]
        report = await audit_folder(folder, programs, steps=200)
    collected = sum(float(t.columns["info/total"][-1]) for t in played)
    assert collected / sum(float(t.columns["info/bound"][-1]) for t in played) == 1.0  # AutoEnv's score
    print(f"faults: {report.faults}")
    assert {row.solvable for row in report.levels} == {"shown"}, json.dumps(report.to_json())


asyncio.run(main())
