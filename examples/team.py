"""A team of one reader and a planner, with functions in place of language models."""

import asyncio
import tempfile
from pathlib import Path

from heredity.engine.solver import build
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.team.agent import SubAgent
from heredity.team.planning import ModelPlanner
from heredity.team.team import Member, open_team


def plan(request):  # A function in a model's place; any model of the gateway goes here.
    if "done" in request.messages[-1].content:
        return '{"finished": true, "result": "1969"}'
    return '{"steps": [{"id": "s1", "agent": "reader", "task": "Find the year"}]}'


async def main() -> None:
    reader = Candidate({"prompt/system": SourceTree({"prompt.md": b"You read documents."})})
    members = {"reader": Member("reads documents", SubAgent(build(reader), Scripted(lambda _: "1969")))}
    with tempfile.TemporaryDirectory() as folder:
        async with open_team(Path(folder), members, ModelPlanner(Scripted(plan))) as team:
            result = await team.run("In which year was it built?")
        print(result.answer, result.rounds)
        print((Path(folder) / "plan.md").read_text())


asyncio.run(main())
