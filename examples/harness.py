"""A harness with a loop and a middleware: probed, then run on a container task."""

import asyncio
import tempfile
from pathlib import Path

from heredity.engine.actor import Solving
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.kinds.container.format import read_task
from heredity.kinds.container.kind import ContainerRunner, probe
from heredity.models.scripted import Answer, Rule, Scripted, When
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.containers import BubblewrapBackend
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo

TASK = {
    "task.toml": 'schema_version = "1.4"\n[environment]\nstorage_mb = 32\n',
    "instruction.md": "Sort /app/words.txt in place.\n",
    "environment/Dockerfile": "FROM debian:stable\nWORKDIR /app\nRUN printf 'b\\na\\n' > words.txt\n",
    "tests/test.sh": "sort -c /app/words.txt && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n",
}
LOOP = """
from heredity_harness import Harness, Message

def solve(problem, host):
    harness = Harness(host, __file__)
    messages = [Message("system", host["system"]), Message("user", host["question"])]
    for _ in range(host["turns"]):
        reply = harness.model(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [harness.tool(call) for call in reply.tool_calls]
    return "The turns are used up."
"""
CAREFUL = """
from heredity_harness import Message, Middleware

class Careful(Middleware):
    def before_model(self, messages):
        return [*messages, Message("user", "Look at the result before you stop.")]
"""


def harness(middleware):
    solver = {"agent.py": LOOP, "middleware/10_careful.py": middleware}
    return Candidate(
        {"prompt/system": SourceTree({"prompt.md": "Work in the shell."}), "agent/solver": SourceTree(solver)}
    )


async def main(folder):
    for name, text in TASK.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    read = read_task(folder)
    task = Task("train/0", "train", 0, {"folder": str(folder), "digest": read.digest})
    info = TasksetInfo("tasks/words", "1", "container", {}, {}, "Words.", 0.0)
    sort = Answer(calls=[("shell", {"command": "sort -o words.txt words.txt"})])
    model = Scripted([Rule("Sorted.", When(any="exit code: 0")), Rule(sort, When(user="Look at the result"))])
    backend = BubblewrapBackend()
    try:
        async with SandboxedPrograms() as programs:
            assert await probe(harness(CAREFUL), programs) == ""
            said = await probe(harness(CAREFUL.replace("return", "shown =")), programs)
            assert "10_careful.py: before_model returned None; expected a list of Message" in said

            runner = ContainerRunner(model, backend=backend, programs=programs, settings=Solving(max_turns=5))
            [(_, found)] = [each async for each in runner.run([Job(info, harness(CAREFUL), task)], Limits())]
            print(f"{found.status}, reward: {found.total_reward}, tool calls: {found.cost['tool_calls']}")
    finally:
        await backend.close()


with tempfile.TemporaryDirectory() as name:
    asyncio.run(main(Path(name)))
