"""Players of a world: a language model, here rules in its place, and a program."""

import asyncio

from heredity.engine.player import plain_player
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.kinds.world.kind import WorldRunner
from heredity.models.scripted import Rule, Scripted
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

PROGRAM = """
import random

class Player:
    def __init__(self, instruction, actions, prompts, memories):
        self.directions = ["north", "east", "south", "west"]

    def act(self, observation):
        if "wall" in observation:
            random.shuffle(self.directions)
        return {"action": "move", "params": {"direction": self.directions[0]}}
"""

tasks = taskset("worlds/grid_treasure?difficulty=2")
fresh = tasks.draw("train", 3, entropy=11)
model = Scripted([Rule('<thinking_memory>Nothing yet.</thinking_memory><action>{"action": "call"}</action>')])
program = Candidate({"agent/player": SourceTree({"agent.py": PROGRAM})})


async def attempt():
    async with SandboxedPrograms(1) as programs:
        runner = WorldRunner(model, programs=programs)
        jobs = [Job(tasks.info, candidate, fresh[0]) for candidate in (plain_player(), program)]
        found = dict([item async for item in runner.run(jobs, Limits())])
        return found[0], found[1]


asked, played = asyncio.run(attempt())
assert (asked.status, asked.cost["model_calls"], asked.total_reward) == ("ok", asked.length, 0.0)
assert (played.status, played.cost["model_calls"]) == ("ok", 0)
assert next(asked.rows())["info"]["message"].startswith("The echo comes from")

print(asked.status, played.status)
