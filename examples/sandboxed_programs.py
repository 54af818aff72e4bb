"""Programs in the sandbox: a function that asks the host for a service, and an object that is kept."""

import asyncio

from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.resources import SourceTree

TREE = SourceTree(
    {
        "tool.py": """
from heredity_guest import ask

def run(question):
    print("asking")
    return {"answer": ask("model", {"prompt": question})}
""",
        "world.py": """
class World:
    def __init__(self, start):
        self.position = start

    def step(self, by):
        self.position += by
        return {"position": self.position, "done": self.position >= 3}
""",
    }
)


async def model(request):
    return request["prompt"].upper()


async def main():
    async with SandboxedPrograms(limits=ProgramLimits(memory_bytes=256 << 20)) as programs:
        result = await programs.call(TREE, "tool:run", {"question": "why?"}, seconds=5, services={"model": model})
        assert result.value == {"answer": "WHY?"}

        async with programs.open(TREE, "world:World", {"start": 1}) as world:
            moved = await world.call("step", {"by": 2}, seconds=1)
            failed = await world.call("step", {"by": "north"}, seconds=1)
    print(moved.value)
    assert 'File "world.py", line 7' in failed.traceback


asyncio.run(main())
