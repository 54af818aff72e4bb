"""What has come since: problems of the code benchmark, names of its tasksets, teams and what they keep, the viewer's index."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fuzz_seeds import Loader, _folder, _json, _library, _lines, _suite
from fuzz_seeds_records import _published

SUITES = (
    "within-task-offline.toml",
    "within-task-aime.toml",
    "code-offline.toml",
    "team-offline.toml",
    "generation-offline.toml",
)
PROBLEMS = ("abacus-root", "ferry-loads")


def _problem(folder: Path) -> object:
    from heredity.kinds.code.problem import problem

    read = problem(str(folder))
    return read.statement, [read.signature.encoded(example.case) for example in read.examples]


def _code_name(folder: Path) -> object:
    from heredity.kinds.code.taskset import ALL, CodeTasksets

    # What stands before the options is looked up in the registry of all tasksets.
    return CodeTasksets().taskset(f"{ALL}?{_text(folder / 'name.txt')}").draw("train", 1, 0)


def _text(path: Path) -> str:
    from heredity._core.errors import ConfigError
    from heredity._core.outside import read_text

    try:
        return read_text(path, 1 << 20).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} cannot be read: {error}; write a name in it") from error


def _team(folder: Path) -> object:
    from heredity.team.settings import load_team

    settings = load_team(folder / "team.toml")
    return settings, settings.models_named()


def _team_design(folder: Path) -> object:
    from heredity.resources.assembly import candidate_from_folder
    from heredity.team.design import read_team
    from heredity.team.tools.mcp_settings import MCP, read_resource, without_servers

    candidate = candidate_from_folder(folder)
    servers = [read_resource(name, part) for name, part in candidate.parts.items() if MCP in part]
    return servers, read_team(without_servers(candidate), ("python",))


def _kept(read: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from heredity.team.assembly import read_memory
        from heredity.team.evolution.lineage import read_canaries, read_history

        path = folder / "kept.jsonl"
        readers: Mapping[str, Callable[[Path], object]] = {
            "canaries": read_canaries,
            "history": read_history,
            "memory": lambda path: read_memory(str(path)),
        }
        return readers[read](path)

    return load


def _viewed_index(folder: Path) -> object:
    from heredity.pages.live.index import open_index

    with open_index(folder) as index:
        index.update()
        return index.rows("SELECT * FROM runs")


def _viewed() -> Mapping[str, bytes]:
    return {
        name: data
        for name, data in _published().items()
        if name in ("journal.jsonl", "spans.jsonl", "run.toml", "metrics.json")
    }


TEAM = b"""[team]
model = "offline/town-worker"
rounds = 6
step_seconds = 120.0
seconds = 600.0
memory = "notes.jsonl"

[planner]
prompt = "Plan."

[web]
allow = ["127.0.0.1"]

[mcp.files]
command = ["files", "--read"]
tools = ["look"]

[agents.reader]
description = "reads"
prompt = "You read."
tools = ["search", "read"]

[agents.judge]
description = "judges"
asks = ["reader"]
turns = 4
pictures = true

[agents.coder]
description = "computes"
prompt = "You compute."
tools = ["python"]

[evolution]
mode = "within"
at_commit = 0
check_every = 1

[search]
service = "brave"
key = "KEY"

[corpus]
folder = "documents"

[gateway]
concurrent = 2
"""
DEBATE = b"""[team]
model = "offline/town-worker"

[debate]
agents = ["reader", "coder"]
judge = "judge"

[agents.reader]
description = "reads"
tools = ["search", "read"]

[agents.coder]
description = "computes"
tools = ["python"]

[agents.judge]
description = "judges"

[agents.afar]
description = "answers from elsewhere"
a2a = "http://127.0.0.1:9/agent"
token = "TOKEN"
"""
DESIGN = {
    "prompt/reader/prompt.md": b"You read.",
    "agent/team/agent.json": _json({
        "agents": {
            "reader": {"description": "finds facts", "tools": ["python"], "turns": 3},
            "solver": {"description": "solves", "asks": ["reader"], "memories": []},
        },
        "rounds": 5, "evolution": {"attempts": 8},
    }),
    "tool/files/mcp.json": _json({"command": ["files", "--read"], "tools": ["look"], "descriptions": {"look": "looks"}}),
    "tool/files/resource.json": _json({"description": "looks at files"}),
}  # fmt: skip
KEPT = {
    "canaries": [{"task": "1+1?", "answer": "2"}] * 2,
    "history": [{"task": "a", "score": 1.0}, {"check": "b"}],
    "memory": [{"text": "a note", "author": "reader", "kind": "insight"}] * 2,
}

# ruff: noqa: E501
CODE: tuple[Loader, ...] = (
    *(Loader(f"code problem {name}", _folder(_library(f"problems/{name}")), _problem, ("problem.toml", "statement.md", "reference.py")) for name in PROBLEMS),
    Loader("code taskset", {"name.txt": b"language=python3&difficulty=easy,hard&score=share&split=train"}, _code_name),
    *(Loader(f"suite {name}", {"suite.toml": _library(f"suites/{name}").read_bytes()}, _suite) for name in SUITES),
    *(Loader(f"team.toml of a {name}", {"team.toml": text}, _team) for name, text in (("plan", TEAM), ("debate", DEBATE))),
    Loader("team as a candidate", DESIGN, _team_design),
    *(Loader(f"team {name}", {"kept.jsonl": _lines(rows)}, _kept(name)) for name, rows in KEPT.items()),
    Loader("viewed run", _viewed, _viewed_index, ("journal.jsonl", "spans.jsonl", "run.toml")),
)  # fmt: skip
