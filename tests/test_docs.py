"""The documentation is run: its code, its commands, its configurations, its links, and the fields it lists."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from jsonschema import Draft202012Validator
from tests.offering import Offer

from heredity._core.built_in import BUILT_IN
from heredity._core.errors import HeredityError, IsolationError
from heredity.cli.catalogue import journal_schema, results_schema
from heredity.configuration.config import Config
from heredity.engine.engine import Engine, EngineSettings
from heredity.engine.runner import Job
from heredity.engine.space_numbers import starter_program
from heredity.experiments.config import config_of, load, resolve, suites
from heredity.experiments.suite import open_suite, run_suite
from heredity.kinds.container.check import check_tasks
from heredity.methods import Budget, EvolverContext
from heredity.methods.registry import METHODS
from heredity.models import Request
from heredity.models.gateway import Gateway
from heredity.models.settings import GatewaySettings
from heredity.protocols.registry import PROTOCOLS
from heredity.protocols.shared.selection import judge
from heredity.records import read_journal
from heredity.resources import Candidate
from heredity.sandbox import isolation
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers.contract import open_backend
from heredity.sandbox.limits import Limits
from heredity.session import Conditions, HiddenCases, RunPlan, ViewPlan, run_evolution
from heredity.tasks.registry import taskset

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z0-9-]*")


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str


def blocks(*languages: str) -> list[Block]:
    collected: list[Block] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            collected.append(Block(str(page.relative_to(ROOT)), line, match[1], match[2]))
    return [block for block in collected if block.language in languages]


def name_of(block: Block) -> str:
    return f"{block.page}:{block.line}"


def confined() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


needs_a_sandbox = pytest.mark.skipif(not confined(), reason="policies cannot be confined on this machine")


# --- code


@cache
def run_page(page: str) -> dict[str, Any]:
    """Run the Python of one page in the order of the page, as a reader who types it in would."""
    # A module of its own: dataclasses and models look theirs up by name.
    module = ModuleType("page_" + re.sub(r"\W", "_", page))
    space = sys.modules.setdefault(module.__name__, module).__dict__
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _run_blocks(page, space)
    return space


def _run_blocks(page: str, space: dict[str, Any]) -> None:
    for block in blocks("python"):
        if block.page == page:
            padded = "\n" * (block.line - 1) + block.text
            exec(compile(padded, str(ROOT / page), "exec"), space)


def load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    # Pydantic and dataclasses look their module up by name.
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NO_BUBBLEWRAP = available()
"""Why there is no bubblewrap: looking for it starts it, once."""

CODE_PAGES = sorted({block.page for block in blocks("python")})


@needs_a_sandbox
@pytest.mark.parametrize("page", CODE_PAGES)
def test_the_code_of_a_page_runs(page: str) -> None:
    if NO_BUBBLEWRAP and any("BubblewrapBackend" in b.text for b in blocks("python") if b.page == page):
        pytest.skip(f"the page attempts container tasks: {NO_BUBBLEWRAP}")
    run_page(page)


def test_the_code_of_every_important_page_is_found() -> None:
    assert {
        "README.md",
        "docs/python.md",
        "docs/records.md",
        "docs/guides/policy-evolution.md",
    } <= set(CODE_PAGES)


def play(method: Any, runner: Any, folder: Path, episodes: int, name: str = "gymnasium/CartPole-v1") -> list[Any]:
    """Let a method spend a budget on a runner; return the run's events."""
    tasks = taskset(name)
    views = [ViewPlan("validation", "validation", 2), ViewPlan("heldout", "heldout", 2)]
    about = {"name": "docs", "kind": "method"}
    plan = RunPlan("docs", "docs", "policy-evolution", about, 0, Budget(episodes=episodes), judge, views, replay=True)
    context = EvolverContext(tasks.info, Candidate.program(starter_program(tasks.info.public)), 0, plan.train_tasks)

    async def run() -> None:
        conditions = Conditions(tasks, runner, HiddenCases.create(folder / "sealed"))
        await run_evolution(folder / "run", plan, conditions, lambda session: method.evolve(session, context))

    asyncio.run(run())
    return list(read_journal(folder / "run" / "journal.jsonl"))


@pytest.fixture
def extending() -> dict[str, Any]:
    return load_module(ROOT / "examples" / "parts.py").__dict__


@pytest.fixture(scope="module")
def worst_case() -> dict[str, Any]:
    """Return the names of the example of a protocol, loaded once: a configuration keeps the classes of its sections."""
    return load_module(ROOT / "examples" / "worst_case.py").__dict__


def test_the_method_that_a_page_shows_spends_its_budget_twice_alike(extending: dict[str, Any], tmp_path: Path) -> None:
    runs = [
        play(extending["Doubling"](), extending["Dealt"](), tmp_path / str(rollout), episodes=9) for rollout in (0, 1)
    ]
    admitted = [[e.data["candidate"] for e in run if e.kind == "submission.admitted"] for run in runs]
    assert sum(e.data["charge"] for e in runs[0] if e.kind == "submission.admitted") == 9
    assert admitted[0] == admitted[1]


@needs_a_sandbox
def test_the_method_of_a_page_gets_feedback(
    extending: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = play(run_page("docs/python.md")["Gambler"](), extending["Dealt"](), tmp_path, episodes=16)
    assert sum(e.kind == "submission.completed" for e in events) == 8
    assert capsys.readouterr().out.splitlines()[-1].endswith(" 0")


async def test_the_kind_that_a_page_shows_is_opened_by_the_engine(extending: dict[str, Any], offer: Offer) -> None:
    offer("heredity.kinds", "dealt", extending["KIND"])
    tasks = extending["SOURCE"].taskset("mine/tilted")
    (task,) = tasks.draw("train", 1, entropy=3)
    job = Job(replace(tasks.info, kind="dealt"), Candidate({}), task)
    async with Engine(EngineSettings(), ["dealt"]) as engine:
        [(_, trajectory)] = [item async for item in engine.run([job], Limits())]
    assert (trajectory.status, trajectory.total_reward in range(1, 7)) == ("ok", True)


def test_the_taskset_that_a_page_shows_keeps_what_it_promises(extending: dict[str, Any]) -> None:
    tasks = extending["SOURCE"].taskset("mine/tilted")
    assert tasks.info.name == "mine/tilted"
    assert tasks.draw("train", 6, entropy=3)[:2] == tasks.draw("train", 2, entropy=3)
    assert tasks.draw("train", 2, entropy=3) != tasks.draw("heldout", 2, entropy=3)
    with pytest.raises(HeredityError, match="tilted"):
        extending["SOURCE"].taskset("mine/tiltet")


async def test_the_model_that_a_page_shows_is_found_by_name(extending: dict[str, Any], offer: Offer) -> None:
    offer("heredity.models", "mine", extending["open_model"])
    gateway = Gateway(GatewaySettings.model_validate({"execution": "mine/eliza", "cache": False}))
    reply = await gateway.model("execution").reply(Request.of("I must go"))
    assert (reply.text, reply.usage.input_tokens) == ("Why do you say: I must go", 3)


@needs_a_sandbox
@pytest.mark.skipif(NO_BUBBLEWRAP is not None, reason=f"bubblewrap: {NO_BUBBLEWRAP}")
async def test_the_sandbox_that_a_page_shows_runs_container_tasks(
    extending: dict[str, Any], worst_case: dict[str, Any], offer: Offer
) -> None:
    offer("heredity.sandboxes", "small", extending["small"])
    offer("heredity.protocols", "worst-case", worst_case["PROTOCOL"])
    assert resolve({**SMALL_SUITE, "engine": {"containers": "small"}}).engine.containers == "small"
    with pytest.raises(HeredityError, match=r"engine\.containers.*did you mean small"):
        resolve({**SMALL_SUITE, "engine": {"containers": "smal"}})
    async with open_backend("small") as backend:
        [checked] = await check_tasks(backend, ROOT / "src/heredity/library/tasks/containers/shell/count-errors", 1)
    assert checked.faults == ()


def test_the_environment_that_a_page_shows_conforms(extending: dict[str, Any]) -> None:
    env = gymnasium.make("Countdown-v0")
    check_env(env.unwrapped)
    shown, _ = env.reset(seed=4)
    assert [env.step(1)[1:3] for _ in range(int(shown[0]))][-1] == (1.0, True)


@needs_a_sandbox
def test_the_protocol_of_the_examples_judges_and_reports(
    worst_case: dict[str, Any], offer: Offer, tmp_path: Path
) -> None:
    offer("heredity.protocols", "worst-case", worst_case["PROTOCOL"])
    folder = tmp_path / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(SMALL_SUITE))))
    (run,) = result.runs
    scores = sorted(run.heldout.scores)
    assert run.part == worst_case["WorstResults"](of=2, worst=sum(scores[:2]) / 2)
    (page,) = folder.glob("runs/*/report.md")
    assert "The mean return of the 2 worst held-out episodes." in page.read_text()
    with pytest.raises(HeredityError, match=r"worst\.off"):
        resolve({**SMALL_SUITE, "worst": {"off": 2}})


SMALL_SUITE: dict[str, Any] = {
    "run": {"protocol": "worst-case", "tasksets": ["gymnasium/CartPole-v1"], "name": "worst"},
    "evolver": {"method": "random"},
    "worst": {"of": 2},
    "budget": {"episodes": 4, "train_cases": 4},
    "views": {"heldout": 3},
}

EXAMPLES = {
    "bus.py": ([], "ok 10"),
    "launcher.py": ([], "--model openai/gpt-5"),
    "scripted_model.py": ([], "It is Lima."),
    "noting.py": ([], "note what the verifier said"),
    "sandboxed_programs.py": ([], "'done': True"),
    "team.py": ([], "1969"),
    "world_players.py": ([], "ok ok"),
    "worst_case.py": ([], "worst held-out episodes"),
    "container_task.py": ([], "reward: 1.0"),
    "harness.py": ([], "reward: 1.0"),
    "lamps.py": ([], "reference: 1.0"),
    "tide.py": ([], "bound: exact"),
    "world_folder.py": ([], "faults: 0"),
    "evaluate_policy.py": ([], "IndexError: list index out of range"),
    "parts.py": ([], ""),
    "own_method.py": (["a-run"], "held-out mean"),
    "results_table.py": (["table.csv"], "rank score"),
}
TABLE = "environment,family,a,b,random\nx,f,3,2,1\ny,f,3,,1\n"


@needs_a_sandbox
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    if NO_BUBBLEWRAP and "BubblewrapBackend" in (ROOT / "examples" / name).read_text(encoding="utf-8"):
        pytest.skip(f"the example attempts container tasks: {NO_BUBBLEWRAP}")
    (tmp_path / "table.csv").write_text(TABLE)
    arguments, expected = EXAMPLES[name]
    done = run_python([str(ROOT / "examples" / name), *arguments], tmp_path)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


def test_every_example_is_run_or_an_environment() -> None:
    assert {p.name for p in (ROOT / "examples").glob("*.py")} == {*EXAMPLES, "corridor.py"}


def test_the_environment_of_the_examples_conforms() -> None:
    command = ["-m", "heredity", "env", "check", "corridor:Corridor-v0", "--json"]
    path = os.pathsep.join([str(ROOT / "examples"), os.environ.get("PYTHONPATH", "")])
    done = run_python(command, ROOT, PYTHONPATH=path)
    assert json.loads(done.stdout)["passed"], done.stdout


def run_python(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    "module",
    ["heredity", "heredity.experiments.suite", "heredity.agents", "heredity.agents.launchers", "heredity.cli.main"],
)
def test_importing_warns_of_nothing(module: str) -> None:
    done = run_python(["-W", "error", "-c", f"import {module}"], ROOT)
    assert done.returncode == 0, done.stderr


# --- commands


def command_lines() -> list[tuple[str, list[str]]]:
    invocations: list[tuple[str, list[str]]] = []
    for block in blocks("bash"):
        for offset, line in enumerate(block.text.splitlines()):
            words = shlex.split(line, comments=True)
            while words and "=" in words[0]:
                words = words[1:]
            if words[:1] == ["heredity"]:
                invocations.append((f"{block.page}:{block.line + offset}", words[1:]))
    return invocations


@pytest.mark.parametrize(("location", "words"), [pytest.param(*each, id=each[0]) for each in command_lines()])
def test_a_command_of_the_documentation_can_be_parsed(location: str, words: list[str]) -> None:
    parsed(words)


def parsed(words: list[str]) -> None:
    group = COMMANDS["heredity"]
    context = group.make_context("heredity", words)
    name, command, rest = group.resolve_command(context, words)
    while hasattr(command, "commands") and rest:
        context = command.make_context(name, rest, parent=context)
        name, command, rest = command.resolve_command(context, rest)
    command.make_context(name, rest, parent=context)


COMMAND_PAGES = load_module(ROOT / "docs" / "command_pages.py")
COMMANDS: dict[str, Any] = dict(COMMAND_PAGES.commands())


def test_the_overview_names_every_command_with_its_purpose() -> None:
    rows = dict(
        re.findall(r"^\| \[`(heredity\b[^`]*)`\]\(\S+\) \| (.*) \|$", COMMAND_PAGES.overview(), flags=re.MULTILINE)
    )
    assert list(rows) == list(COMMANDS)
    assert [name for name, purpose in rows.items() if not purpose] == []


@pytest.mark.parametrize("path", COMMANDS)
def test_the_page_of_a_command_explains_every_argument_and_option(path: str) -> None:
    page = COMMAND_PAGES.page_of(path, COMMANDS[path])
    assert page.splitlines()[2]
    rows = dict(re.findall(r"^\| `(.+)` \| (.*) \|$", page, flags=re.MULTILINE))
    params = [p for p in COMMANDS[path].params if p.name != "help"]
    assert len(rows) == len(params)
    assert [name for name, meaning in rows.items() if not meaning] == []
    options = {name for p in params if p.param_type_name == "option" for name in (*p.opts, *p.secondary_opts)}
    assert options <= set(OPTION.findall("\n".join(rows)))


@pytest.mark.parametrize("path", [path for path, command in COMMANDS.items() if not hasattr(command, "commands")])
def test_the_help_of_a_command_ends_with_an_example_of_it(path: str) -> None:
    text = inspect.cleandoc(COMMANDS[path].callback.__doc__ or "")
    example = text.rpartition("\n\nExample: ")[2].replace("\n", " ")
    assert example.startswith(path)
    parsed(shlex.split(example)[1:])


def test_commands_that_do_not_exist_would_be_noticed() -> None:
    with pytest.raises(Exception, match="No such option"):
        parsed(["run", "a.toml", "--no-such-thing"])
    with pytest.raises(Exception, match="No such command"):
        parsed(["evolved"])


# --- configurations


def configurations() -> list[Block]:
    # What a team.toml has as well says nothing of which of the two it is.
    own = set(Config.model_fields) - {"corpus", "web", "search", "mcp"}
    return [b for b in blocks("toml") if tomllib.loads(b.text).keys() & own]


@pytest.mark.parametrize("block", configurations(), ids=name_of)
def test_a_configuration_of_the_documentation_is_valid(block: Block) -> None:
    resolve({"run": {"tasksets": ["gymnasium/CartPole-v1"]}, **tomllib.loads(block.text)}, source=name_of(block))


@pytest.mark.parametrize("path", [*suites().values(), *sorted(ROOT.glob("examples/*.toml"))], ids=lambda p: p.name)
def test_a_configuration_file_is_valid(path: Path) -> None:
    config = load(path)
    assert {*config.matrix.get("evolver.method", []), config.evolver.method} <= {*METHODS.names(), None}


def test_the_page_of_the_configuration_has_every_key_of_every_protocol() -> None:
    page = COMMAND_PAGES.completed((ROOT / "docs" / "configuration.md").read_text(encoding="utf-8"))
    rows = set(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE))
    keys = {
        key
        for name in PROTOCOLS.names()
        for field in config_of(name).model_fields.values()
        for key in getattr(field.annotation, "model_fields", {})
    }
    assert {"min_per_submit", "base_model", "best_of_k"} <= keys <= rows


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_generated_part_of_a_page_can_be_made(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert (COMMAND_PAGES.completed(text) != text) == ("\n<!-- generated: " in text)


def test_markers_of_generated_tables_that_do_not_exist_would_be_noticed() -> None:
    with pytest.raises(KeyError):
        COMMAND_PAGES.completed("<!-- generated: nothing -->")


# --- formats


BROKEN = "class Policy:\n    def __init__(self, *given): ...\n    def act(self, obs): raise ValueError('always')\n"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small suite with a program that fails and one that does not."""
    if not confined():
        pytest.skip("policies cannot be confined on this machine")
    root = tmp_path_factory.mktemp("formats")
    (root / "program").mkdir()
    (root / "program" / "policy.py").write_text(BROKEN)
    config = resolve(
        {
            "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "formats", "seeds": [0]},
            "evolver": {"method": "random", "name": "broken", "initial": str(root / "program")},
            "budget": {"episodes": 4},
            "views": {"validation": 2, "heldout": 3},
            "suite": {"baselines": ["best-of-n"]},
        }
    )
    folder = root / "runs" / "formats"
    asyncio.run(run_suite(folder, open_suite(folder, config)))
    return folder


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small suite in which prompts evolve, with commits and refusals."""
    pytest.importorskip("reasoning_gym")
    if not confined():
        pytest.skip("programs cannot be confined on this machine")
    folder = tmp_path_factory.mktemp("questions") / "runs" / "formats"
    config = resolve(
        {
            "run": {
                "protocol": "resource-evolution",
                "tasksets": ["questions/mix/reasoning-gym/gcd+reasoning-gym/lcm"],
                "name": "formats",
            },
            "evolver": {"method": "reflection", "options": {"batch": 6, "candidates": 2, "rounds": 2}},
            "budget": {"rollouts": 60, "train_cases": 12},
            "views": {"heldout": 3},
            "gateway": {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"},
            "suite": {"baselines": False},
        }
    )
    asyncio.run(run_suite(folder, open_suite(folder, config)))
    return folder


@pytest.fixture(scope="module", params=["finished", "answered"])
def suite_folder(request: pytest.FixtureRequest) -> Path:
    """Return a finished suite of each protocol."""
    return request.getfixturevalue(request.param)


def journal_table() -> set[str]:
    return set(re.findall(r"^\| `([a-z]+[a-z._]*)` \|", COMMAND_PAGES.events(), flags=re.MULTILINE))


@cache
def validator(what: str) -> Any:
    return Draft202012Validator({"journal": journal_schema, "results": results_schema}[what]())


def test_the_table_of_events_has_every_kind_and_no_other() -> None:
    assert journal_table() == {line["title"] for line in journal_schema()["anyOf"]}


def test_a_journal_is_as_its_schema_says(suite_folder: Path) -> None:
    for path in suite_folder.glob("runs/*/journal.jsonl"):
        for line in path.read_text().splitlines():
            assert [error.message for error in validator("journal").iter_errors(json.loads(line))] == []


def test_metrics_are_as_their_schema_says(suite_folder: Path) -> None:
    for path in [*suite_folder.glob("runs/*/metrics.json"), suite_folder / "metrics.json"]:
        assert [error.message for error in validator("results").iter_errors(json.loads(path.read_text()))] == []


def test_the_small_suites_have_every_kind_of_event_that_counts(answered: Path) -> None:
    (path,) = answered.glob("runs/*/journal.jsonl")
    kinds = {event.kind for event in read_journal(path)}
    assert {"candidate.decided", "model.called", "submission.completed", "judging.scored", "reference.scored"} <= kinds
    fields = {key for line in (path.parent / "spans.jsonl").read_text().splitlines() for key in json.loads(line)}
    assert fields <= set(re.findall(r"`(\w+)`", (ROOT / "docs" / "tracing.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("block", blocks("json"), ids=name_of)
def test_json_of_the_documentation_is_json(block: Block) -> None:
    json.loads(block.text)


# --- links


def anchors(page: Path) -> set[str]:
    text = COMMAND_PAGES.completed(page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    if page.name == "commands.md":
        # The site has a page for each command, to which such links point.
        titles.extend(COMMANDS)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_links_of_a_page_resolve(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    targets = [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]
    for target in targets:
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(path), f"{page.name} links to {target}"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {
        (index.parent / link.partition("#")[0]).resolve()
        for link in re.findall(r"\]\(([^)\s]+)\)", index.read_text(encoding="utf-8"))
    }
    assert {page for page in PAGES if page.name != "README.md"} - {index} <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`((?:examples|src|tests|benchmarks|requirements)/[\w./-]+)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


# --- names of files and modules


FILES_OF_READERS = {
    "code/train.py",
    "env/__init__.py",
    "eval.py",
    "evaluator.py",
    "game.py",
    "middleware/NAME.py",
    "mine.py",
    "runs/first/best/policy.py",
    "tool/calculator/tool.py",
}
"""Files that pages name and that lie in a reader's or an agent's own folder."""


@cache
def files_of_the_repository() -> frozenset[str]:
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    return frozenset(f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_files_that_a_page_names_exist(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    named = {
        name
        for code in re.findall(r"`([^`\n]+)`", text)
        for name in re.findall(r"(?<![\w/.*-])[\w-]+(?:/[\w.-]+)*\.py\b(?!:)", code)
    }
    missing = [name for name in named if not any(path.endswith(f"/{name}") for path in files_of_the_repository())]
    assert sorted({*missing} - FILES_OF_READERS) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_modules_that_a_page_names_exist(page: Path) -> None:
    names = set(re.findall(r"(?<![\w./@-])heredity(?:\.\w+)+", page.read_text(encoding="utf-8")))
    names = {name for name in names if name not in BUILT_IN and not name.endswith((".py", ".conf"))}
    assert sorted(name for name in names if not is_importable(name)) == []


def is_importable(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute or a field of something in one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            if not hasattr(value, attribute):
                return attribute in getattr(value, "model_fields", getattr(value, "__dataclass_fields__", {}))
            value = getattr(value, attribute)
        return True
    return False
