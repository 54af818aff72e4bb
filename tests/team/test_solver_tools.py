"""Tools that a configuration gives to single solvers and to teams that are candidates: the web, documents, servers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.engine.fakes import ListedModel, calling, candidate
from tests.team.test_mcp_servers import SERVER

from heredity._core.errors import ConfigError, IsolationError, MissingExtraError
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.question_runner import SolvingRunner, conversation_of
from heredity.engine.questions import Question
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.experiments.config import model_files, resolve
from heredity.experiments.engine import Engine
from heredity.experiments.preflight import preflight
from heredity.experiments.suite import open_suite, run_suite
from heredity.library.localweb.server import serving
from heredity.library.localweb.town import make_town
from heredity.models import Message, Request
from heredity.records import read_journal
from heredity.resources import Candidate, SourceTree
from heredity.sandbox import agent_bubblewrap
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo
from heredity.team.tools import task_tools
from heredity.team.tools.task_tools import open_task_tools
from heredity.team.tools.web.browser import check

pytest.importorskip("mcp", reason="the extra mcp is not installed")
pytest.importorskip("httpcore", reason="the extra web is not installed")
pytestmark = pytest.mark.skipif(agent_bubblewrap.available() is not None, reason="commands cannot be confined here")

INFO = TasksetInfo("questions/mine", "1", "question", {}, {}, "Bridges.", 0.0)
ASKED = Question("In which year was the Mill Bridge opened?", "1890", {"kind": "numeric"})
PLAIN = candidate(prompt_system="Look it up.")
DONE = json.dumps({"finished": True, "result": "1890"})


@pytest.fixture(scope="module")
def town() -> Iterator[str]:
    with serving(make_town(0)) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "corpus/bridge.txt": "The Mill Bridge is old.",
        "own/server.py": SERVER,
        "own/given": "x",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def configured(folder: Path, town: str = "127.0.0.1:9", **sections: Any) -> dict[str, Any]:
    server = {"command": ["python3", "server.py"], "folder": "own", "tools": ["do"], "seconds": 5.0}
    return {
        "run": {"protocol": "resource-evolution", "tasksets": [f"questions/file:{folder}/q.jsonl"], "name": "tools"},
        "evolver": {"method": "static"},
        "budget": {"rollouts": 2, "train_cases": 2},
        "views": {"heldout": 2},
        "suite": {"baselines": False},
        "solver": {"tools": ["fetch", "search", "own"]},
        "web": {"allow": [town]},
        "corpus": {"folder": "corpus"},
        "mcp": {"own": server},
        "gateway": {"execution": f"scripted/{folder}/rules.toml"},
        **sections,
    }


def calls(*made: tuple[str, Mapping[str, Any]]) -> str:
    """Return rules that call tools one after the other, and answer when all results are there."""
    rules = [
        {"when": {"results": number}, "reply": {"calls": [{"name": name, "arguments": dict(arguments)}]}}
        for number, (name, arguments) in enumerate(made)
    ]
    return tomli_w.dumps({"rule": [*rules, {"when": {"results": len(made)}, "reply": "1890"}]})


def job(index: int = 0, made: Candidate = PLAIN, files: tuple[str, ...] = ()) -> Job:
    spec = {**ASKED.to_spec(), "metadata": {"files": list(files)}}
    return Job(INFO, made, Task(f"heldout/{index}", "heldout", index, spec), policy_seed=1)


async def answered(
    data: Mapping[str, Any], folder: Path, model: ListedModel, *jobs: Job, first_s: float = 300.0
) -> list[Trajectory]:
    """Attempt jobs one after the other with the tools of a configuration."""
    async with SandboxedPrograms() as programs, open_task_tools(resolve(data, base=folder).tools, programs) as tools:
        runner = SolvingRunner(model, programs=programs, provided=tools)
        done: list[Trajectory] = []
        for number, one in enumerate(jobs):
            limits = Limits(episode_s=Limits().episode_s if number else first_s)
            done += [trajectory async for _, trajectory in runner.run([one], limits)]
        return done


def watched(reply: Any, ask: Any) -> Any:
    async def asked(request: Request) -> Any:
        await ask(request)
        return await reply(request)

    return asked


def results(trajectory: Trajectory) -> list[Message]:
    return [message for message in conversation_of(trajectory) if message.role == "tool"]


async def test_the_engine_of_a_configuration_gives_a_solver_its_tools_and_each_attempt_its_own_server(
    folder: Path, town: str
) -> None:
    looked = ("own_do", {"what": "read", "path": "/workspace/made"})
    rules = calls(
        ("fetch", {"address": f"http://{town}/bridges/mill-bridge.html"}),
        ("fetch", {"address": "http://127.0.0.1:1/"}),
        ("search", {"query": "Mill Bridge"}),
        looked,
        ("own_do", {"what": "write", "path": "/workspace/made"}),
        looked,
    )
    (folder / "rules.toml").write_text(rules)
    async with Engine(resolve(configured(folder, town), base=folder), ["question"]) as engine:
        attempts = [done async for done in engine.run([job(0), job(1)], Limits())]
    for _, trajectory in attempts:
        assert (trajectory.status, trajectory.total_reward, trajectory.cost["tool_calls"]) == ("ok", 1.0, 6)
        page, forbidden, found, before, written, after = (message.content for message in results(trajectory))
        assert "1890" in page
        assert forbidden.startswith("error: ")
        assert town in forbidden
        assert "The Mill Bridge is old." in found
        assert before.startswith("error: FileNotFoundError")
        assert (written, after) == ("write", "written")
    assert sorted(path.name for path in (folder / "own").iterdir()) == ["given", "server.py"]


def test_a_run_has_them_among_its_conditions_and_is_resumed_without_asking_again(
    folder: Path, town: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "very-secret")
    lines = [
        {"question": f"{ASKED.text} ({n})", "answer": "1890", "split": s}
        for n, s in enumerate(["train", "heldout"] * 2)
    ]
    (folder / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "rules.toml").write_text(calls(("fetch", {"address": f"http://{town}/bridges/mill-bridge.html"})))
    data = configured(folder, town, search={"service": "brave", "key": "SEARCH_KEY"})
    data["solver"]["tools"].append("search-web")
    chosen = resolve(data, base=folder)
    suite = folder / "runs" / "tools"
    result = asyncio.run(run_suite(suite, open_suite(suite, chosen)))
    assert not result.failures
    (metrics,) = result.runs
    assert metrics.heldout.mean == 1.0
    (run,) = (suite / "runs").iterdir()
    kept = (run / "journal.jsonl").read_bytes()
    started = next(iter(read_journal(run / "journal.jsonl"))).data
    assert started["conditions"]["solver.tools"] == ["fetch", "search", "own", "search-web"]
    assert started["conditions"]["web.allow"] == [town]
    assert started["conditions"]["mcp.own.command"] == ["python3", "server.py"]
    assert started["conditions"]["search.service"] == "brave"
    assert not [path for path in suite.rglob("*") if path.is_file() and b"very-secret" in path.read_bytes()]
    (folder / "rules.toml").write_text('[[rule]]\nreply = "No idea."\n')
    again = asyncio.run(run_suite(suite, open_suite(suite, chosen)))
    assert [one.heldout.mean for one in again.runs] == [1.0]
    assert (run / "journal.jsonl").read_bytes() == kept


async def test_a_team_that_is_a_candidate_has_them_in_every_step(folder: Path, town: str) -> None:
    design = json.dumps({"agents": {"reader": {"description": "reads"}}})
    made = Candidate({"agent/team": SourceTree({"agent.json": design})})
    plan = json.dumps({"steps": [{"id": f"s{n}", "agent": "reader", "task": "Read it"} for n in (1, 2)]})
    page, note = ("fetch", {"address": f"http://{town}/bridges/mill-bridge.html"}), {"path": "/workspace/made"}
    model = ListedModel([plan, calling(page), calling(page), "1890", "1890", DONE])
    [trajectory] = await answered(configured(folder, town), folder, model, job(0, made))
    assert (trajectory.total_reward, trajectory.cost["tool_calls"]) == (1.0, 2)
    assert all("1890" in message.content for message in results(trajectory))
    assert {"fetch", "search", "own_do", "read"} & {spec.name for spec in model.asked[1].tools} == {
        "fetch",
        "search",
        "own_do",
    }
    # What one step has left with a server of the attempt, another step of it finds.
    one = json.dumps({"steps": [{"id": "s1", "agent": "reader", "task": "Write"}]})
    more = json.dumps({"steps": [{"id": "s2", "agent": "reader", "task": "Read"}]})
    write, read = calling(("own_do", {"what": "write", **note})), calling(("own_do", {"what": "read", **note}))
    model = ListedModel([one, write, "done", more, read, "1890", DONE])
    [trajectory] = await answered(configured(folder, town), folder, model, job(0, made))
    assert [message.content for message in results(trajectory)] == ["write", "written"]


def running(word: str) -> int:
    """Return how many processes have a word in their command."""
    commands: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            commands.append(path.read_bytes())
    return sum(word.encode() in command for command in commands)


async def test_an_attempt_that_ends_while_a_server_hangs_leaves_no_process_and_the_next_one_begins_anew(
    folder: Path,
) -> None:
    own = f"server_{secrets.token_hex(8)}.py"
    (folder / "own" / "server.py").rename(folder / "own" / own)
    data = configured(folder, solver={"tools": ["own"]}, web={}, corpus={})
    data["mcp"]["own"]["command"] = ["python3", own]
    hang, hello = calling(("own_do", {"what": "hang"})), calling(("own_do", {"what": "hello"}))
    seen: list[int] = []

    async def ask(request: Request) -> None:
        seen.append(running(own))

    model = ListedModel([hang, hello, "1890"])
    model.reply = watched(model.reply, ask)  # type: ignore[method-assign]
    late, done = await answered(data, folder, model, job(0), job(1), first_s=1.5)
    assert (late.status, done.total_reward) == ("rollout_timeout", 1.0)
    assert results(done)[0].content == "hello"
    assert [count > 0 for count in seen] == [False, False, True]
    assert running(own) == 0


async def test_a_member_of_a_team_has_only_what_its_design_says(folder: Path, town: str) -> None:
    agents = {
        "reader": {"description": "reads", "given": ["se*", "own_do"]},
        "thinker": {"description": "thinks", "given": []},
    }
    made = Candidate({"agent/team": SourceTree({"agent.json": json.dumps({"agents": agents})})})
    plan = json.dumps({"steps": [{"id": n, "agent": n, "task": "Do it"} for n in agents]})
    model = ListedModel([plan, "1890", "1890", DONE])
    [trajectory] = await answered(configured(folder, town), folder, model, job(0, made))
    assert trajectory.total_reward == 1.0
    had = [{spec.name for spec in asked.tools} - {"remember", "recall"} for asked in model.asked[1:3]]
    assert sorted(map(sorted, had)) == [[], ["own_do", "search"]]


async def test_an_attempt_has_so_many_calls_and_the_next_one_as_many_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_tools, "MOST_CALLS", 2)
    read = calling(("read", {"path": "bridge.txt"}), ("read", {"path": "bridge.txt"}), ("read", {"path": "bridge.txt"}))
    model = ListedModel([read, "1890", read, "1890"])
    data = configured(folder, solver={"tools": ["read"]}, web={}, mcp={})
    for trajectory in await answered(data, folder, model, job(0), job(1)):
        first, second, third = (message.content for message in results(trajectory))
        assert first == second
        assert third.startswith("error: no more than 2 calls")


async def test_files_of_a_task_are_read_beside_the_corpus_and_for_this_task_alone(folder: Path) -> None:
    (folder / "corpus" / "given").mkdir()
    (folder / "corpus" / "given" / "only.txt").write_text("For one question.")
    data = configured(folder, solver={"tools": ["read"]}, web={}, mcp={})
    read = calling(("read", {"path": "only.txt"}))
    model = ListedModel([read, "1890", read, "1890"])
    with_file, without = await answered(data, folder, model, job(0, files=("given/only.txt",)), job(1))
    assert "For one question." in results(with_file)[0].content
    assert "there is no document" in results(without)[0].content
    assert [spec.name for spec in model.asked[0].tools] == ["read"]


async def test_a_program_of_a_candidate_reaches_them_as_services_by_the_same_rules_and_finds_no_key(
    folder: Path, town: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "very-secret")
    program = f"""
import os, socket
from heredity_guest import ask

def said(name, arguments):
    try:
        return str(ask(name, arguments))
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

def solve(problem, host):
    try:
        socket.create_connection(("127.0.0.1", {town.rpartition(":")[2]}), 2)
        direct = "reached"
    except OSError:
        direct = "not reached"
    page = said("fetch", {{"address": "http://{town}/bridges/mill-bridge.html"}})
    other = said("fetch", {{"address": "http://127.0.0.1:1/"}})
    wrong = said("own_do", {{"whatever": 1}})
    tool = ask("tool", {{"name": "own_do", "arguments": {{"what": "variables"}}}})["value"]
    return "\\n".join([direct, page, other, wrong, tool, " ".join(os.environ), "Answer: 1890"])
"""
    data = configured(folder, town, search={"service": "searxng", "url": f"http://{town}", "key": "SEARCH_KEY"})
    data["solver"]["tools"].append("search-web")
    [trajectory] = await answered(data, folder, ListedModel([]), job(0, candidate(agent_solver=program)))
    assert (trajectory.status, trajectory.cost["tool_calls"]) == ("ok", 4), trajectory.failure
    words = conversation_of(trajectory)[-1].content
    assert words.startswith("not reached")
    assert "1890" in words.partition("Answer:")[0]
    assert "127.0.0.1:1 is not allowed" in words
    assert "own_do has no what" in words
    assert "SECRET" not in words.upper()
    assert "SEARCH_KEY" not in words


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solver": {"tools": ["fetc", "search", "own"]}}, "solver.tools: unknown tool 'fetc'"),
        ({"solver": {"tools": ["fetch", "fetch", "search", "own"]}}, "solver.tools names 'fetch' twice"),
        ({"solver": {"tools": ["fetch.page"]}}, "solver.tools: unknown tool 'fetch.page'"),
        ({"web": {}}, "solver.tools: 'fetch' needs reachable hosts; set web.allow"),
        ({"solver": {"tools": ["search", "own"]}}, "web.allow is set, but no tool uses it"),
        ({"solver": {"tools": ["fetch", "search"]}}, "mcp.own is set, but no tool uses it; name 'own'"),
        ({"mcp": {"read": {"url": "http://x/mcp"}}}, "mcp.read: a server has a name"),
        ({"solver": {"tools": ["fetch", "search", "own"], "pictures": True}}, "solver.pictures is only for pages"),
        ({"search": {"service": "google"}}, "search.service"),
        ({"web": {"allow": ["http://x"]}}, "web.allow|web"),
    ],
)
def test_what_does_not_go_together_is_refused_by_its_key(changes: dict[str, Any], message: str, folder: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(configured(folder, **changes), base=folder)


def test_a_configuration_without_tools_has_the_conditions_it_had_before_there_were_any(folder: Path) -> None:
    bare = configured(folder, solver={"max_turns": 3}, web={}, corpus={}, mcp={})
    conditions = resolve(bare, base=folder).conditions()
    assert not [key for key in conditions if key.partition(".")[0] in ("web", "corpus", "search", "mcp")]
    assert "solver.tools" not in conditions
    config = resolve(bare, base=folder)
    # A run of an earlier version is resumed only if its configuration has the digest that it had.
    assert not {"web", "corpus", "search", "mcp"} & set(config.model_dump())
    assert not {"tools", "pictures"} & (set(config.model_dump()["solver"]) | set(config.model_dump()["evolver"]))
    assert resolve(config.model_dump(exclude_none=True)) == config
    tools = resolve(configured(folder), base=folder)
    assert resolve(tools.model_dump(exclude_none=True)) == tools
    given = resolve(configured(folder), base=folder).conditions()
    assert given["corpus.folder"] == str(folder / "corpus")
    assert given["mcp.own.folder"] == str(folder / "own")


def test_documents_that_changed_are_other_conditions_for_what_was_judged(folder: Path) -> None:
    (folder / "rules.toml").write_text("")
    config = resolve(configured(folder), base=folder)
    before = model_files(config)
    assert {"corpus.folder", "mcp.own.folder"} < set(before)
    (folder / "corpus" / "bridge.txt").write_text("The Mill Bridge is new, they say.")
    assert {name for name, digest in model_files(config).items() if digest != before[name]} == {"corpus.folder"}


def test_what_is_missing_is_listed_before_anything_starts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    data = configured(
        folder,
        solver={"tools": ["browse", "search", "search-web", "own", "far"]},
        web={"allow": ["example.org"], "browser": str(folder / "no-chromium")},
        corpus={"folder": "nowhere"},
        search={"service": "brave", "key": "NO_SUCH_KEY"},
        mcp={"own": {"command": ["true"], "folder": "gone"}, "far": {"url": "http://x/mcp", "token": "NO_SUCH_KEY"}},
    )
    data["run"]["tasksets"] = ["gymnasium/CartPole-v1"]
    lacking = {c.name: c.detail for c in preflight(resolve(data, base=folder), folder / "runs" / "s") if not c.ok}
    assert "do not use tools" in lacking["solver.tools"]
    assert "nowhere is no folder" in lacking["documents"]
    assert "NO_SUCH_KEY is not set" in lacking["tool search-web"]
    assert "NO_SUCH_KEY is not set" in lacking["server far"]
    assert "gone is not a folder" in lacking["server own"]
    assert lacking["tool browse"]


async def test_a_corpus_with_the_answers_in_it_is_refused(folder: Path) -> None:
    (folder / "corpus" / "questions.jsonl").write_text("{}")
    with pytest.raises(ConfigError, match="questions with their answers"):
        await answered(configured(folder, solver={"tools": ["read"]}, web={}, mcp={}), folder, ListedModel([]))


async def test_tools_that_nobody_would_be_given_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="'episode' do not use tools"):
        Engine(resolve(configured(folder), base=folder), ["episode"])


def _no_browser() -> str:
    try:
        check()
    except (MissingExtraError, ConfigError, IsolationError) as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.skipif(bool(_no_browser()), reason=_no_browser() or "there is a browser")
async def test_steps_of_a_team_have_pages_of_their_own_and_reach_allowed_hosts_alone(folder: Path, town: str) -> None:
    design = json.dumps({"agents": {"reader": {"description": "reads"}}})
    made = Candidate({"agent/team": SourceTree({"agent.json": design})})
    steps = [{"id": f"s{n}", "agent": "reader", "task": "Read it"} for n in (1, 2)]
    opened = calling(("browser_open", {"address": f"http://{town}/bridges/mill-bridge.html"}))
    model = ListedModel(
        [
            *(json.dumps({"steps": steps[:1]}), opened, "1890", json.dumps({"steps": steps[1:]})),
            *(
                calling(("browser_read", {})),
                calling(("browser_open", {"address": "http://127.0.0.1:1/"})),
                "1890",
                DONE,
            ),
        ]
    )
    data = configured(folder, town, solver={"tools": ["browse"], "pictures": True}, corpus={}, mcp={})
    [trajectory] = await answered(data, folder, model, job(0, made))
    assert "browser_look" in {spec.name for spec in model.asked[1].tools}
    first, second, refused = (message.content for message in results(trajectory))
    assert "1890" in first
    assert "1890" not in second
    assert refused.startswith("error: ")
