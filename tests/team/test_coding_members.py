"""Coding agents as members of a team, each in the real sandbox: what they find, ask, leave; how they fail, end and go on."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, HostError
from heredity.agents.launchers import available
from heredity.agents.launchers.registry import programs
from heredity.agents.models import models_for_agent
from heredity.models import Reply, Usage
from heredity.models.scripted import Scripted
from heredity.team import Bus, Message, Outcome, Participant, open_record
from heredity.team.assembly import work
from heredity.team.outside import CodingAgent, CodingAgents, _last_message
from heredity.team.settings import AgentSection, load_team
from heredity.team.view import View

pytestmark = pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}")

ASK = """
import json, os, urllib.request
body = json.dumps({"model": os.environ["HEREDITY_MODEL"], "messages": [{"role": "user", "content": os.environ["HEREDITY_PROMPT"]}]})
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body.encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""


def folder(tmp_path: Path, script: str, name: str = "own") -> Path:
    """Make an agent that is a folder."""
    at = tmp_path / name
    at.mkdir(exist_ok=True)
    (at / "start.sh").write_text(script)
    (at / "ask.py").write_text(ASK)
    return at


@asynccontextmanager
async def serving(
    tmp_path: Path, agent: Path | str, model: Any = None, files: dict[str, Path] | None = None, **section: Any
) -> AsyncIterator[Bus]:
    """Open the team's bus with one coding agent on it."""
    shared = CodingAgents(files or {}, models_for_agent)
    own = AgentSection(description="codes", launcher=str(agent), **section)
    member: CodingAgent = shared.agent("coder", own, model, tmp_path / "team")
    with open_record(tmp_path / "team") as record:
        async with Bus(record) as bus:
            bus.register(Participant("coder", member))
            yield bus


async def step(bus: Bus, name: str = "s1", **body: Any) -> Message:
    return await bus.outside.request("coder", {"task": "Write it", "step": name, **body}, key=f"job.{name}")


async def under_way(tmp_path: Path) -> None:
    while not list((tmp_path / "team" / "agents").glob("s1-*/workspace/begun")):  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.02)


class Answered:
    """A model that says the same, at a price."""

    name = "scripted/own"

    def __init__(self, text: str) -> None:
        self.text = text

    async def reply(self, _: Any) -> Reply:
        return Reply(self.text, usage=Usage(10, 5, 0, 0.25))


def test_it_finds_what_is_given_asks_its_model_and_what_it_leaves_goes_on(tmp_path: Path) -> None:
    """Its model's calls are counted, files of a step are given to the next, the host stays hidden and unwritten."""
    data = tmp_path / "data.csv"
    data.write_text("a,b\n1,2\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    agent = folder(
        tmp_path,
        f"""python3 "$(dirname "$0")/ask.py" > answer.md
cat files/data.csv given/s0/tool.py given/s0.md >> answer.md
cat {secret} >> answer.md 2>/dev/null; echo x 2>/dev/null > files/data.csv && echo WROTE >> answer.md
mkdir -p results; echo 'print("tool of {{}}")' > results/tool.py
""",
    )

    async def run() -> tuple[Message, Message]:
        async with serving(tmp_path, agent, Answered("the model said"), {"data.csv": data}) as bus:
            first = await step(bus, "s0", files=["data.csv"])
            return first, await step(bus, "s1", files=["data.csv"], given={"s0": "as before"})

    first, second = asyncio.run(run())
    assert first.ok, first.error
    assert second.ok, second.error
    assert second.value["answer"].startswith('the model said\na,b\n1,2\nprint("tool of {}")\nas before')
    assert "Files that it left: tool.py" in second.value["answer"]
    assert not {"SECRET", "WROTE"} & set(second.value["answer"].split())
    assert data.read_text() == "a,b\n1,2\n"
    assert (second.value["calls"], second.value["usage"]["output_tokens"]) == (1, 5)
    view = View.of(tmp_path / "team")
    assert (view.calls, view.used.tokens, view.used.cost_usd) == (2, 30, 0.5)


def test_a_result_that_cannot_be_kept_hides_no_other(tmp_path: Path) -> None:
    script = (
        "echo done > answer.md; mkdir results; cd results; echo 'a = 1' > kept.py; ln -s /etc/passwd link; mkfifo pipe"
    )

    async def run() -> Message:
        async with serving(tmp_path, folder(tmp_path, script)) as bus:
            return await step(bus)

    answer = asyncio.run(run()).value["answer"]
    assert "Files that it left: kept.py (6 bytes)" in answer
    assert "Left out of results/: link is a link" in answer
    assert "pipe is not a plain file" in answer


def test_failures_are_failed_steps_with_exit_code_and_last_lines(tmp_path: Path) -> None:
    """A wrong end, no answer and a limit that is reached are the agent's failures; a model that fails is nobody's."""

    def down(_: Any) -> Reply:
        raise HostError("the provider is down")

    async def run(script: str, model: Any = None, **section: Any) -> Message:
        async with serving(tmp_path, folder(tmp_path, script), model, **section) as bus:
            return await step(bus, f"n{len(os.listdir(tmp_path / 'team'))}{abs(hash(script))}")

    crashed = asyncio.run(run("echo one; echo two >&2; exit 3"))
    assert crashed.outcome is Outcome.FAILED
    assert "exit code 3" in crashed.error
    assert "two" in crashed.error
    silent = asyncio.run(run("true"))
    assert "without an answer" in silent.error
    linked = asyncio.run(run("ln -s /etc/hostname answer.md"))
    assert "without an answer" in linked.error
    twice = 'python3 "$(dirname "$0")/ask.py" && exec python3 "$(dirname "$0")/ask.py"'
    spent = asyncio.run(run(twice, Answered("first"), tokens=10))
    assert "its 10 tokens are spent" in spent.error
    with pytest.raises(HostError, match="down"):
        asyncio.run(run('exec python3 "$(dirname "$0")/ask.py" ', Scripted(down, "scripted/own")))


def test_a_step_under_way_is_started_again_and_one_on_record_is_not(tmp_path: Path) -> None:
    """What it had written is there, it is told so, and it is said on record; a step that is done costs nothing more."""
    script = (
        """if [ -e begun ]; then printf '%s' "$HEREDITY_PROMPT" | tail -1 > answer.md; else touch begun; sleep 60; fi"""
    )
    agent = folder(tmp_path, script)

    async def interrupted() -> None:
        async with serving(tmp_path, agent) as bus:
            asked = asyncio.ensure_future(step(bus))
            await under_way(tmp_path)
            asked.cancel()

    async def resumed() -> Message:
        async with serving(tmp_path, agent) as bus:
            return await step(bus)

    asyncio.run(interrupted())
    done = asyncio.run(resumed())
    assert done.ok, done.error
    assert done.value["answer"].startswith("This was begun before and was interrupted")
    assert done.value["start"] == 2
    journal = (tmp_path / "team" / "journal.jsonl").read_bytes()
    assert b"started again (start 2)" in journal
    folder(tmp_path, "exit 9")
    assert asyncio.run(resumed()).value == done.value
    assert (tmp_path / "team" / "journal.jsonl").read_bytes() == journal


def test_a_step_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    agent = folder(tmp_path, "touch begun; exec sleep 61.25")

    def left() -> list[str]:
        found: list[str] = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                found += ["61.25"] if b"61.25" in path.read_bytes() else []
            except OSError:
                continue
        return found

    async def run() -> Message:
        async with serving(tmp_path, agent) as bus:
            asked = asyncio.ensure_future(step(bus))
            await under_way(tmp_path)
            await bus.cancel("job.s1")
            return await asked

    assert asyncio.run(run()).outcome is Outcome.CANCELLED
    assert left() == []


TEAM = """
[team]
model = "scripted/{0}/{2}"
step_seconds = 120
[planner]
model = "scripted/{0}/planner.toml"
[agents.coder]
description = "codes"
launcher = "{1}"
"""
PLANNER = r"""
[[rule]]
when = { user = '\(coder\), done.*\n  gave: (?P<said>\w+)' }
reply = '{"finished": true, "result": "${said}"}'
[[rule]]
when = { any = "after 0 rounds" }
reply = '{"steps": [{"id": "s1", "agent": "coder", "task": "Print 42"}]}'
"""


def test_a_team_of_a_file_has_one(tmp_path: Path) -> None:
    """Its path is seen from the file; the task's usage has its calls."""
    folder(tmp_path, 'exec python3 "$(dirname "$0")/ask.py"')
    (tmp_path / "planner.toml").write_text(PLANNER)
    (tmp_path / "own.toml").write_text('[[rule]]\nwhen = { any = "Print 42" }\nreply = "42"\n')
    (tmp_path / "team.toml").write_text(TEAM.format(tmp_path, "./own", "own.toml"))
    settings = load_team(tmp_path / "team.toml")
    result = asyncio.run(work(settings, tmp_path / "task", "Print 42", door=models_for_agent))
    assert (result.outcome, result.answer) == ("ok", "42"), result.error
    usage = json.loads((tmp_path / "task" / "usage.json").read_text())
    assert "own.toml" in json.dumps(usage)
    with pytest.raises(ConfigError, match=r"agents.coder.launcher: nothing here serves models"):
        asyncio.run(work(settings, tmp_path / "other", "Print 42"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('tools = ["python"]', "tools: a coding agent has its own"),
        ('a2a = "http://127.0.0.1:9"', "a coding agent has its own"),
        ('[evolution]\nmode = "within"', "agents.coder.launcher: what it did"),
        ('[agents.other]\ndescription = "x"\ntokens = 5', "tokens: it bounds a coding agent"),
    ],
)
def test_what_a_coding_agent_cannot_have_is_refused(tmp_path: Path, more: str, said: str) -> None:
    (tmp_path / "team.toml").write_text(TEAM.format(tmp_path, "./own", "own.toml") + more)
    with pytest.raises(ConfigError, match=said):
        load_team(tmp_path / "team.toml")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_real_agent_does_a_step(name: str, tmp_path: Path) -> None:
    """It runs commands in its sandbox, writes its answer, and its calls are the team's."""
    from tests.agents.launchers.test_real_agents import SHELLS, write_rules

    if not programs()[name].installed:
        pytest.skip(f"{name} is not installed; heredity agents install {name}")
    tool, call = SHELLS[name]
    commands = ["python3 -c 'print(6 * 7)' > answer.md", "mkdir results; echo 'print(42)' > results/p.py"]
    write_rules(tmp_path / "agent.toml", commands, call, tool)
    (tmp_path / "planner.toml").write_text(PLANNER)
    (tmp_path / "team.toml").write_text(TEAM.format(tmp_path, name, "agent.toml"))
    result = asyncio.run(work(load_team(tmp_path / "team.toml"), tmp_path / "task", "Print 42", door=models_for_agent))
    assert (result.outcome, result.answer) == ("ok", "42"), result.error
    assert View.of(tmp_path / "task").calls > 3
    assert list((tmp_path / "task" / "agents").glob("results/*/p.py"))


def test_an_event_that_is_nested_too_deeply_ends_no_step(tmp_path: Path) -> None:
    said = json.dumps({"type": "result", "result": "done \ud83d"})
    (tmp_path / "events").write_text(f'{"{"}"a":{"[" * 100_000}{"]" * 100_000}{"}"}\n{said}\n')
    assert _last_message(tmp_path / "events").startswith("done")
