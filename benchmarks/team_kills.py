"""Kill a team at random instants and let it go on: python benchmarks/team_kills.py [--kills 100] [--seed 0]; prints JSON.

The team plans in rounds. Agents call tools that append a line to a file; one tool must not be called twice. The team
also repairs one of its prompts, with versions in a store. A child process does the task and is killed with SIGKILL
after a random time; another child resumes in the same folder until it is done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import select
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.ids import generator
from heredity.engine.actor import ProvidedTool, Solving
from heredity.engine.solver import Solver
from heredity.models import Reply, Request, ToolCall, ToolSpec
from heredity.models.scripted import Scripted
from heredity.records import read_journal
from heredity.resources import Candidate, SourceTree
from heredity.resources.store import Store
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.design import EvolutionDesign, TeamParts, read_team
from heredity.team.evolution.evolving import Evolving
from heredity.team.evolution.lineage import Lineage
from heredity.team.evolution.trials import Staff
from heredity.team.participant import Context
from heredity.team.record import EFFECT_DONE
from heredity.team.team import Member, open_team

_ROUNDS, _STEPS = 4, 4
_SPEC = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
_TOOLS = frozenset({"write", "send"})
_EFFECT = re.compile(r'#(write|send)-(\{"what": "[^"]*"\})-1$')
_VARIABLE = "prompt/worker:prompt.md"


def measure(kills: int = 100, seed: int = 0) -> dict[str, Any]:
    """Kill a team `kills` times, each in a new task, and return the counts.

    Args:
        kills: number of kills; an instant after the end of the task is redrawn.
        seed: seed of the instants.

    Returns:
        `kills`; `twice`: tool calls repeated although recorded as done; `sent_twice`: repeated calls of the tool that
        must not be repeated; `other_answers` and `other_versions`: tasks with an answer or a lineage that differs from
        the undisturbed task's; `by_progress`: kills by progress, in tenths of the journal.
    """
    draws = generator(seed, "bench", "team-kills")
    tally: dict[str, Any] = {"kills": 0, "twice": 0, "sent_twice": 0, "other_answers": 0, "other_versions": 0}
    tenths = [0] * 10
    with EngineFolder() as top:
        whole = Path(top, "whole")
        started = time.monotonic()
        _finish(whole, 0)
        seconds = time.monotonic() - started
        expected, length = _answer(whole), len(read_journal(whole / "team" / "journal.jsonl"))
        while tally["kills"] < kills:
            folder = Path(top, f"task{tally['kills']}-{int(draws.integers(1 << 30))}")
            if not _killed(folder, float(draws.uniform(0.0, seconds))):
                continue
            done = _recorded(folder)
            tenths[min(9, 10 * len(_journal(folder)) // length)] += 1
            _finish(folder, 1)
            tally["kills"] += 1
            later = [line["call"] for line in _calls(folder) if line["process"] == 1]
            tally["twice"] += sum(call in done for call in later)
            sent = [line["call"] for line in _calls(folder) if line["call"].startswith("send")]
            tally["sent_twice"] += len(sent) - len(set(sent))
            tally["other_answers"] += _answer(folder)[0] != expected[0]
            tally["other_versions"] += _answer(folder)[1] != expected[1]
    return {**tally, "by_progress": tenths, "seconds_of_a_task": round(seconds, 3), "journal_lines": length}


def _killed(folder: Path, after: float) -> bool:
    """Run the task in a child and kill it some seconds after its start; return True if it was still working."""
    child, began = _child(folder, 0)
    select.select([began], [], [], 60)
    os.close(began)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _finish(folder: Path, process: int) -> None:
    child, began = _child(folder, process)
    _, status = os.waitpid(child, 0)
    os.close(began)
    if status:
        raise RuntimeError(f"the team in {folder} ended with status {status}")


def _child(folder: Path, process: int) -> tuple[int, int]:
    """Fork a child that does the task, and return it with a pipe that it writes to when it starts."""
    folder.mkdir(exist_ok=True)
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    status = 1
    try:
        asyncio.run(_task(folder, process, lambda: os.write(writer, b"x")))
        status = 0
    finally:
        os._exit(status)


async def _task(folder: Path, process: int, began: Callable[[], Any]) -> None:
    def noted(name: str) -> Callable[[Mapping[str, Any]], Any]:
        async def call(arguments: Mapping[str, Any]) -> str:
            line = json.dumps({"call": f"{name} {arguments['what']}", "process": process}) + "\n"
            file = os.open(folder / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(file, line.encode())
            os.fsync(file)
            os.close(file)
            await asyncio.sleep(0.002)
            return f"{name} of {arguments['what']}"

        return call

    write = TeamTool(ProvidedTool(ToolSpec("write", "writes a line", _SPEC), noted("write")), lasting=True)
    send = TeamTool(ProvidedTool(ToolSpec("send", "sends a line", _SPEC), noted("send")), repeatable=False)
    staff = Staff(lambda made, name: _agent(made, name, (write, send)), Scripted(_plan), _TOOLS, rounds=_ROUNDS + 1)
    with Lineage(folder / "versions.db", folder.name, across=True) as lineage:
        (folder / "team").mkdir(exist_ok=True)
        team = read_team(lineage.start(_candidate(), folder / "team"), _TOOLS)
        evolving = Evolving(team, staff, EvolutionDesign(), Scripted(_edit), keep=lineage.keep)
        members = {"worker": Member("works", evolving.handler("worker"))}
        async with open_team(folder / "team", members, evolving, between=evolving.between) as opened:
            evolving.join(opened.bus)
            began()
            result = await opened.run("the whole", seconds=120)
    (folder / "answer.json").write_text(json.dumps(result.answer))


def _candidate() -> Candidate:
    design = {"agents": {"worker": {"description": "works"}}}
    parts = {"agent/team": {"agent.json": json.dumps(design)}, "prompt/worker": {"prompt.md": "Work."}}
    return Candidate({name: SourceTree(files) for name, files in parts.items()})


def _agent(made: TeamParts, name: str, tools: tuple[TeamTool, ...]) -> SubAgent:
    def provided(_: Context) -> tuple[TeamTool, ...]:
        return tools

    return SubAgent(Solver(made.of_agent(name)), Scripted(_work), provided, settings=Solving(max_turns=6))


def _plan(request: Request) -> str:
    """Plan rounds of sequential steps; the last round sends, and the answer is the written text."""
    observation = request.messages[-1].content
    number = int(observation.partition("after ")[2].partition(" rounds")[0])
    if number == _ROUNDS:
        written = sorted(set(re.findall(r"write of r\d+s\d+", observation)))
        return json.dumps({"finished": True, "result": "; ".join(written) or "nothing"})
    names = [f"r{number}s{step}" for step in range(_STEPS)]
    task = "send" if number == _ROUNDS - 1 else "write"
    steps = [
        {"id": name, "agent": "worker", "task": f"{task} {name}", "after": names[max(0, i - 2) : i // 2]}
        for i, name in enumerate(names)
    ]
    return json.dumps({"steps": steps})


def _work(request: Request) -> Reply | str:
    """Call the step's tool; first in a wrong form while the prompt does not define the right one."""
    asked = next(m.content for m in request.messages if m.role == "user").splitlines()[0]
    tool, _, what = asked.partition(" ")
    results = [m.content for m in request.messages if m.role == "tool"]
    clumsy = "with care" not in request.messages[0].content
    if clumsy and not results:
        return Reply("", (ToolCall("0", tool, '{"that": 1}'),))
    if len(results) < 1 + clumsy:
        return Reply("", (ToolCall("1", tool, json.dumps({"what": what})),))
    return results[-1]


def _edit(request: Request) -> str:
    observation = request.messages[-1].content
    if '"task": "reflect"' in observation:
        return json.dumps({"hypotheses": [{"cause": "it is careless", "variables": [_VARIABLE], "tasks": [0]}]})
    if '"task": "select"' in observation:
        return json.dumps({"selections": [{"variable": _VARIABLE, "change": "care", "hypothesis": 0}]})
    text = "Work with care." if '"mends nothing' in observation or "scores the same" in observation else "Work on."
    return json.dumps({"edits": [{"variable": _VARIABLE, "value": text, "why": "care"}], "expects": ""})


def _calls(folder: Path) -> list[dict[str, Any]]:
    path = folder / "calls"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _journal(folder: Path) -> list[Any]:
    path = folder / "team" / "journal.jsonl"
    return list(read_journal(path)) if path.exists() else []


def _recorded(folder: Path) -> set[str]:
    """Return the calls that are recorded as done in steps of the plan."""
    done: set[str] = set()
    for event in _journal(folder):
        effect = EFFECT_DONE.of(event)
        match = _EFFECT.search(effect["id"]) if effect and ".trial." not in effect["id"] else None
        if match:
            done.add(f"{match[1]} {json.loads(match[2])['what']}")
    return done


def _answer(folder: Path) -> tuple[str, list[Any]]:
    """Return the answer, and the final prompt with the texts of its versions."""
    with Store(folder / "versions.db", create=False) as store:
        versions = [store.tree(v).text("prompt.md") for v in store.list("prompt", "worker")]
        head = store.tree(store.get("prompt", "worker")).text("prompt.md")
    return json.loads((folder / "answer.json").read_text()), [head, versions]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(measure(given.kills, given.seed)))
