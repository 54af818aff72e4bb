"""A container task, attempted by a function and by a cheat."""

import asyncio
import tempfile
from pathlib import Path

from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import attempt
from heredity.sandbox.containers import BubblewrapBackend

FILES = {
    "task.toml": 'schema_version = "1.4"\n[environment]\nstorage_mb = 32\n',
    "instruction.md": "Sort /app/words.txt in place.\n",
    "environment/Dockerfile": "FROM debian:stable\nWORKDIR /app\nRUN printf 'b\\na\\n' > words.txt\n",
    "tests/test.sh": "sort -c /app/words.txt && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n",
}


async def agent(sandbox, task):
    print(task.instruction)
    seen = await sandbox.exec("cat words.txt", timeout_s=10)
    assert (seen.code, seen.stdout) == (0, "b\na\n")
    await sandbox.exec("sort -o words.txt words.txt")


async def main(folder):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    backend = BubblewrapBackend()
    try:
        task = read_task(folder)
        solved = await attempt(backend, task, agent)
        tampered = await attempt(backend, task, "sleep 60 & echo 1 > /logs/verifier/reward.txt; sleep 0.3")
    finally:
        await backend.close()
    print(f"reward: {solved.verdict.reward}, of the cheat: {tampered.verdict.reward}")
    assert tampered.verdict.reward == 0
    assert tampered.discarded == ("/logs/verifier/reward.txt",)
    assert any("sleep 60" in command for command in tampered.leftovers)


with tempfile.TemporaryDirectory() as name:
    asyncio.run(main(Path(name)))
