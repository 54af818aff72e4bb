"""What has come since then: programs to evolve, benchmarks of code and questions, themes, plans, projects, documents, what runs keep."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from fuzz_seeds import Loader, _csv, _folder, _json, _library, _lines, _parquet, _suite
from fuzz_seeds_code import TEAM, _text
from fuzz_seeds_records import _published, _world_files


def _program_task(folder: Path) -> object:
    from heredity.kinds.program.taskset import read_program_task
    from heredity.tasks.registry import taskset

    task = read_program_task(folder)
    return task.digest, task.program, taskset(f"program/{folder}").draw("train", 1, 0)


def _own_program(folder: Path) -> object:
    from heredity.kinds.program.commands.evolving import write_task

    with tempfile.TemporaryDirectory() as home:
        files = [folder / name for name in ("program.py", "scorer.py", "table.csv")]
        return write_task(Path(home) / "task", files[0], files[1], files[2:], {"metric": "speed"}, "").digest


def _route(folder: Path) -> object:
    from heredity.protocols.post_training.analysis.routes import read_code

    return read_code(
        {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.is_symlink()}
    )


def _constants(folder: Path) -> object:
    import numpy as np

    from heredity._core.outside import read_text
    from heredity._core.refusals import reading
    from heredity.methods.map_elites import edited
    from heredity.methods.operators.constants import find_constants

    with reading(folder / "program.py", "a program", "name another file"):
        source = read_text(folder / "program.py")
    return find_constants(source), edited(np.random.default_rng(0), source)


def _problems(file: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from heredity.kinds.code.files import problems_of

        return [problem.digest for problem in problems_of(folder / file).problems]

    return load


def _benchmark(variable: str, path: str, module: str, read: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from importlib import import_module

        os.environ[variable] = str(folder / path)
        pool = getattr(import_module(module), read)({})
        return [question.to_spec() for part in pool.splits.values() for question in part]

    return load


def _themes(file: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from heredity.kinds.world.themes import read_themes, write_themes

        return write_themes(read_themes(folder / file))

    return load


def _asked_themes(folder: Path) -> object:
    from heredity.models.scripted import Scripted
    from heredity.protocols.world_generation.author import Preparation

    kept = Preparation(Scripted(lambda request: "- another"), folder / "themes.jsonl")
    return kept.used.tokens, asyncio.run(kept.text("first", "name one"))


def _plan(folder: Path) -> object:
    from heredity.team.planning import checked, parsed, read_plan

    return checked(parsed(read_plan(folder / "plan.md")), {"reader", "coder"}).to_markdown()


def _plan_text() -> bytes:
    from heredity.team.planning import Plan, Step

    steps = (Step("s1", "reader", "Find it\nin the archive"), Step("s2", "coder", "Count it", after=("s1",)))
    return Plan("How many are there?", steps).to_markdown().encode()


def _team_task(folder: Path) -> object:
    from heredity.team.settings import read_task

    return read_task(folder)


def _served_task(folder: Path) -> object:
    from heredity.team.serving.office import read_task

    return read_task(folder).to_json()


def _team_asked() -> Mapping[str, bytes]:
    from heredity.team.settings import load_team

    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "team.toml").write_bytes(TEAM)
        settings = load_team(Path(home) / "team.toml").model_dump(mode="json")
    return {"task.json": _json({"task": "count", "files": ["a.csv"], "answer": "3", "settings": settings})}


def _team_edit(folder: Path) -> object:
    from heredity.resources import SourceTree
    from heredity.team.evolution.generation import skill_part, tests_of

    tree = SourceTree.from_folder(folder, max_bytes=1 << 20, max_files=50)
    return tests_of(tree, "tool/add"), skill_part(_text(folder / "SKILL.md"))


def _composed(folder: Path) -> object:
    from heredity.kinds.world.compose.admission import _read_recorded

    return [row.to_json() for row in _read_recorded(folder).values()]


def _certificate(folder: Path) -> object:
    from heredity.kinds.world.curation import certified

    return certified(folder)


def _admitted() -> Mapping[str, bytes]:
    from heredity.kinds.world.gates.contract import files_digest
    from heredity.kinds.world.world import World

    files = _world_files()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "made"
        Loader("", files, lambda _: None).lay_out(folder)
        digest = files_digest(World(folder))
    gate = {"gate": "reliability", "figures": {"means": {"lookahead": 0.5}}}
    return {**files, "certificate.json": _json({"admitted": True, "digest": digest, "gates": [gate]})}


def _audited(folder: Path) -> object:
    from heredity.kinds.world.folders.findings import read_report
    from heredity.kinds.world.folders.folder import WorldFolder

    return read_report(folder, WorldFolder(folder / "1_World"), "0" * 64)


def _checks(folder: Path) -> object:
    from heredity.kinds.code.check import Kept

    return Kept(folder / "checks.jsonl").get("a")


def _episodes(folder: Path) -> object:
    from heredity.kinds.world.commands.episodes import Episodes, Exam

    return len(Episodes("lookahead", Exam(("icy_grip",), 1, 1), folder).rows)


def _episode_row() -> bytes:
    row = {"world": "icy_grip", "level": "a", "run": 0, "score": 0.5, "total": 3.0, "steps": 4, "cost_usd": None}
    return _lines({"key": f"{i}", **row} for i in range(3))


def _sealed(folder: Path) -> object:
    from heredity.experiments.sealed import SealedCases

    return SealedCases(folder / "one").load()


def _reply_cache(folder: Path) -> object:
    from heredity.models.reply_store import ReplyStore

    store = ReplyStore(folder / "replies.sqlite")
    try:
        return store.get("k"), len(store)
    finally:
        store.close()


def _cached() -> Mapping[str, bytes]:
    from heredity.models import Reply
    from heredity.models.reply_store import ReplyStore

    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "replies.sqlite"
        store = ReplyStore(path)
        store.put("k", "a/model", "m", Reply("yes"))
        store.close()
        with sqlite3.connect(path) as whole:
            whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole.close()
        return {path.name: path.read_bytes()}


def _project(folder: Path) -> object:
    from heredity.experiments.config import cells, load
    from heredity.tasks.registry import taskset

    # An environment's file is a module, of the folder before otherwise.
    sys.modules.pop("corridor", None)
    config = load(folder / "suite.toml")
    cells(config)
    return [taskset(name).draw("train", 1, 0) for name in config.run.tasksets]


def _viewed_results(folder: Path) -> object:
    from heredity.pages.live.pages.run import results_of
    from heredity.pages.live.place import configuration
    from heredity.results.run import RunResults

    return results_of(folder, RunResults), configuration(folder)


def _documents(folder: Path) -> object:
    from heredity.engine.programs import SandboxedPrograms
    from heredity.team.tools.documents import Corpus, DocumentReader

    async def read() -> object:
        async with SandboxedPrograms(workers=1) as programs:
            corpus = await Corpus.load(folder, DocumentReader(programs))
            return corpus.search("apple"), [corpus.read(name) for name in corpus.documents]

    return asyncio.run(read())


def _made_documents() -> Mapping[str, bytes]:
    from heredity.library.localweb import writers

    return {
        "note.md": b"# Apples\n\nAn apple a day.\n",
        "rows.csv": b"name,count\napple,3\n",
        "file.pdf": writers.pdf([["An apple"]]),
        "file.docx": writers.docx(["An apple", [["a", "b"]]]),
        "file.xlsx": writers.xlsx({"one": [["apple", 3]]}),
        "file.pptx": writers.pptx([["An apple"]]),
        "file.zip": writers.archive({"a.txt": b"apple"}),
    }


HUMAN = [
    {
        "task_id": f"HumanEval/{i}",
        "prompt": f'def add(a: int, b: int) -> int:\n    """Add {i}."""\n',
        "entry_point": "add",
        "canonical_solution": "    return a + b\n",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(2, 2) == 4\n",
    }
    for i in range(6)
]
MBPP = [
    {
        "task_id": i,
        "text": "Write a function to add.",
        "code": "def add(a, b):\n    return a + b",
        "test_list": ["assert add(1, 2) == 3", "assert add(2, 2) == 4", "assert add(0, 0) == 0"],
        "test_setup_code": "",
    }
    for i in range(6)
]
LIVE = [
    {
        "question_id": f"q{i}",
        "question_title": "Sums",
        "question_content": "Add them.",
        "difficulty": "easy",
        "starter_code": "",
        "public_test_cases": '[{"input": "1 2", "output": "3", "testtype": "stdin"}]',
        "private_test_cases": '[{"input": "2 2", "output": "4", "testtype": "stdin"}]',
        "metadata": "{}",
    }
    for i in range(6)
]
GAIA = [
    {"task_id": f"t{i}", "Question": "What?", "Level": 1, "Final answer": "3", "file_name": "a.txt" if i else ""}
    for i in range(8)
]
HLE = [
    {"id": f"h{i}", "question": "Why?", "answer": "so", "category": "Math", "image": "data:image/png;base64,AAAA" if i else ""}
    for i in range(8)
]  # fmt: skip
CHECKED = {
    "problem": "p",
    "faults": [],
    "agreed": 3,
    "cases": 4,
    "reference_s": 0.1,
    "verdicts": {"a": "PR"},
    "skipped": [],
}
COMPOSED = {
    "world": "composed-7", "seed": 7, "digest": "0" * 64, "reason": "", "detail": "", "meta": {}, "players": {"a": 0.5},
    "nearest": "", "distance": 0.0, "fingerprint": {"a": 0.1}, "seconds": 1.5, "admitted": True,
}  # fmt: skip
ASKED = {"key": "first", "text": "- a tide pool", "usage": {"input_tokens": 3, "output_tokens": 2}}
TOOLS = b"""[run]
tasksets = ["questions/gsm8k"]
protocol = "resource-evolution"

[evolver]
method = "static"
initial = "heredity.library:agents/solver"

[solver]
tools = ["search", "read", "python", "fetch", "notes.look"]

[corpus]
folder = "documents"

[web]
allow = ["127.0.0.1"]

[mcp.notes]
command = ["notes", "--read"]

[gateway]
execution = "offline/rule-follower"

[budget]
rollouts = 10
"""
TRAINING = b"""import json

from trl import GRPOConfig, GRPOTrainer

RATE = 0.5


class Tuner(GRPOTrainer):
    def rewards(self, answers):
        return [float(a == "4") for a in answers]


def main():
    with open("settings.json") as file:
        settings = json.load(file)
    Tuner(config=GRPOConfig(learning_rate=RATE * settings["lr"])).train()


main()
"""
SCORER = b"def evaluate(program_path):\n    return {'speed': 1.0}\n"
SKILL = b"---\nname: adding\ndescription: adds\n---\nAdd them.\n"
THEME = b'[tide_pool]\ntheme = "crabs in a tide pool"\n'
QUESTIONS = _csv([("question", "answer", "split"), *((f"q{i}?", f"{i}", "train" if i else "test") for i in range(6))])

# ruff: noqa: E501
KEPT: tuple[Loader, ...] = (
    *(Loader(f"program task {name}", _folder(_library(f"programs/{name}")), _program_task, folder=name) for name in ("circle-packing-26", "bin-packing")),
    Loader("program of one's own", {"program.py": b"x = 1\n", "scorer.py": SCORER, "table.csv": b"a,b\n"}, _own_program),
    Loader("code of an agent that trains", {"train.py": TRAINING, "settings.json": _json({"lr": 0.1, "steps": [1, 2]}), "run.sh": b"python train.py\n"}, _route),
    Loader("the program", {"program.py": TRAINING}, _constants),
    Loader("HumanEval", {"p.jsonl": _lines(HUMAN)}, _problems("p.jsonl")),
    Loader("MBPP", {"p.jsonl": _lines(MBPP)}, _problems("p.jsonl")),
    Loader("LiveCodeBench", {"p.jsonl": _lines(LIVE)}, _problems("p.jsonl")),
    Loader("LiveCodeBench parquet", lambda: {"p.parquet": _parquet(LIVE)}, _problems("p.parquet")),
    Loader("GAIA", {"metadata.jsonl": _lines(GAIA), "a.txt": b"some text"}, _benchmark("HEREDITY_GAIA", "", "heredity.kinds.question.benchmarks", "read_gaia")),
    Loader("HLE", {"hle.jsonl": _lines(HLE)}, _benchmark("HEREDITY_HLE", "hle.jsonl", "heredity.kinds.question.benchmarks", "read_hle")),
    Loader("themes in TOML", {"themes.toml": THEME}, _themes("themes.toml")),
    Loader("themes in lines", {"themes.txt": b"# ours\ncrabs in a tide pool\na lighthouse\n"}, _themes("themes.txt")),
    Loader("themes that were asked for", {"themes.jsonl": b"\n" + _lines([ASKED])}, _asked_themes),
    Loader("plan.md", lambda: {"plan.md": _plan_text()}, _plan),
    Loader("task of a team", _team_asked, _team_task),
    Loader("task that is served", lambda: {**_team_asked(), "result.json": _json({"outcome": "ok", "answer": "3"}), "plan.md": _plan_text()}, _served_task),
    Loader("team's own tools", {"contract.json": _json([{"arguments": {"a": 1}, "returns": 1}]), "SKILL.md": SKILL}, _team_edit),
    Loader("composed worlds", {"composed.jsonl": _lines([COMPOSED] * 3)}, _composed),
    Loader("certificate of a world", _admitted, _certificate, ("certificate.json",), folder="made"),
    Loader("kept audit", {"1_World.json": _json({"digest": "0" * 64, "folder": "1_World", "findings": []}), "1_World/a.txt": b""}, _audited, ("1_World.json",)),
    Loader("kept checks", {"checks.jsonl": _lines([{"key": "a", "checked": CHECKED}] * 2)}, _checks),
    Loader("kept episodes", {"episodes.jsonl": _episode_row()}, _episodes),
    Loader("shared cases", {"sealed/one/suites.json": _json({"ended": {}, "opened": False})}, _sealed),
    Loader("reply cache", _cached, _reply_cache),
    Loader("tools of a suite", {"suite.toml": TOOLS}, _suite),
    *(Loader(f"project {name}", _folder(_library(f"projects/{name}")), _project, targets, folder="mine") for name, targets in
      (("policy", ("suite.toml",)), ("program", ("suite.toml", "task.toml", "scorer.py", "program.py")), ("prompts", ("suite.toml", "questions.csv")),
       ("worlds", ("suite.toml", "lantern/world.yaml")), ("harness", ("suite.toml",)), ("post-training", ("suite.toml",)))),
    Loader("viewed results", _published, _viewed_results, ("metrics.json", "run.toml")),
    Loader("documents", _made_documents, _documents),
)  # fmt: skip
