"""A byte order mark, with which editors on Windows begin a file, is no part of what it says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from heredity._core.outside import json_value, read_text
from heredity.engine.kind import Opening, Workers
from heredity.engine.runner import Job
from heredity.experiments.config import read_toml
from heredity.kinds.program.kind import KIND
from heredity.kinds.program.taskset import read_program_task
from heredity.methods.operators.tuning import Tunable, has_constants
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, Registry, SourceTree, Store
from heredity.resources.contracts import read_contract
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

MARK = b"\xef\xbb\xbf"
PROGRAM = "# EVOLVE-BLOCK-START\nSIZE = 2.0\n# EVOLVE-BLOCK-END\ndef solve():\n    return SIZE\n"
SCORER = "def verify(answer):\n    return {'size': answer}\n"
RULES = '[[rule]]\nwhen = {any = "(?s)."}\nreply = "x"\n'
SKILL = "---\nname: adder\ndescription: Adds.\n---\n\nAdd.\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MARK + text.encode())
    return path


def program_task(folder: Path, mark: bytes = MARK) -> Path:
    for name, text in (
        ("task.toml", 'title = "One"\nmetric = "size"\n'),
        ("program.py", PROGRAM),
        ("scorer.py", SCORER),
        ("statement.md", "# Be large\n"),
    ):
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(mark + text.encode())
    return folder


def test_texts_and_json_are_read_without_it(tmp_path: Path) -> None:
    assert read_text(write(tmp_path, "a.txt", "one\r\ntwo")) == "one\ntwo"
    assert json_value(write(tmp_path, "a.json", "[1]").read_bytes()) == [1]


def test_configurations_and_scripted_models(tmp_path: Path) -> None:
    assert read_toml(write(tmp_path, "suite.toml", "[run]\nseeds = 3\n")) == {"run": {"seeds": 3}}
    assert Scripted.read(write(tmp_path, "rules.toml", RULES)).name


def test_a_skill(tmp_path: Path) -> None:
    file = write(tmp_path, "adder/SKILL.md", SKILL)
    assert read_contract("\ufeff" + SKILL, where="here").name == "adder"
    with Store(tmp_path / "store.db") as store:
        assert Registry(store).load_contract(file).label == "tool/adder@1.0.0"


def test_a_task_with_it_is_the_same_task(tmp_path: Path) -> None:
    marked, plain = program_task(tmp_path / "a"), program_task(tmp_path / "b", b"")
    one, other = read_program_task(marked), read_program_task(plain)
    assert (one.program, one.statement, one.digest) == (other.program, other.statement, other.digest)


@pytest.mark.skipif(available() is not None, reason="needs bubblewrap")
def test_programs_and_scorers_with_it_are_measured(tmp_path: Path) -> None:
    tasks = taskset(f"program/{program_task(tmp_path / 'a')}")
    (drawn,) = tasks.draw("train", 1, 1)
    candidate = Candidate.program(SourceTree({"program.py": MARK + PROGRAM.replace("2.0", "5.0").encode()}))

    async def measured() -> float:
        runner = KIND.open(Opening(workers=Workers(count=1)))
        try:
            async for _, trajectory in runner.run([Job(tasks.info, candidate, drawn)], Limits(episode_s=20.0)):
                return trajectory.total_reward
            return 0.0
        finally:
            await runner.close()

    assert asyncio.run(measured()) == 5.0


def test_the_constants_of_a_program_with_it_can_be_tuned() -> None:
    candidate = Candidate.program(SourceTree({"policy.py": MARK + b"A = 1.0\ndef act(x):\n    return A * x\n"}))
    assert has_constants(candidate)
    changed = Tunable(candidate).with_values(Tunable(candidate).values * 3.0)
    assert changed.source.startswith("A = 3.0\n")
