"""The rest of what is loaded from outside: worlds in rules, published runs, judgements, logs, streams, databases, data sets."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fuzz_seeds import Loader, _folder, _json, _lines

RUN = "HEREDITY_FUZZ_RUN"
"""Names the folder in which the processes of a campaign share the run that is published once."""

_SMALL = {
    "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "small"},
    "evolver": {"method": "best-of-n"},
    "budget": {"episodes": 2},
    "views": {"validation": 1, "heldout": 2},
    "suite": {"baselines": False},
    "engine": {"workers": 1},
}


def _world_files() -> Mapping[str, bytes]:
    from heredity.kinds.world.world import world

    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "made"
        world("composed-7").write(folder)  # type: ignore[attr-defined]
        return _folder(folder)


def _rule_world(folder: Path) -> object:
    from heredity.kinds.world.world import World
    from heredity.tasks.registry import taskset

    made = World(folder)
    level = made.shipped["test"][0]
    episode = made.start(level.data)
    for action in (None, {"action": next(iter(made.description.actions))}, 3):
        if not episode.done:
            episode.step(action)
    taskset(f"worlds/{folder}").draw("train", 1, 0)
    return made.make(1, 1), made.play(level.data), made.sources


def _composed_name(folder: Path) -> object:
    from heredity._core.errors import ConfigError
    from heredity._core.outside import read_text
    from heredity.kinds.world.compose.recipe import Recipe

    try:
        name = read_text(folder / "name.txt", 1 << 20).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"name.txt cannot be read: {error}; write a name in it") from error
    return Recipe.from_name(name)


def _published() -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory() as own:
        home = Path(os.environ.get(RUN) or own)
        made = home / "run"
        if not made.is_dir():
            _publish(home / "suites" / "one")
            first = next(iter(sorted((home / "suites" / "one" / "runs").iterdir())))
            shutil.copytree(first, made, symlinks=True)
        return _folder(made)


def _publish(folder: Path) -> None:
    import asyncio

    from heredity.experiments.config import resolve
    from heredity.experiments.suite import open_suite, run_suite

    asyncio.run(run_suite(folder, open_suite(folder, resolve(_SMALL))))


def _verified(folder: Path) -> object:
    from heredity.experiments.verification.verify import verify

    return verify(folder)


def _reported(folder: Path) -> object:
    from heredity.experiments.results import read_run
    from heredity.pages.report.sections import annotation_sections

    return read_run(folder), annotation_sections(folder)


def _annotated(folder: Path) -> object:
    from heredity.protocols.harness_evolution.annotation import read_annotations

    return read_annotations(folder)


def _judgements(folder: Path) -> object:
    from heredity.session import HiddenCases
    from heredity.session.bench import JudgementStore

    with tempfile.TemporaryDirectory() as home:
        return JudgementStore(folder / "judgements.jsonl", HiddenCases.create(Path(home)))


def _receipts(folder: Path) -> object:
    from heredity.experiments.transparency.statements import read_receipts

    return read_receipts(folder)


def _log_file(path: Path) -> object:
    from heredity._core.errors import ConfigError
    from heredity.experiments.transparency.statements import parse_log

    try:
        return list(parse_log(_own(path)))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}; give the file of a log") from error


def _own(path: Path) -> bytes:
    """Return the bytes of a file that the host has written, so that it is a file."""
    from heredity._core.errors import ConfigError
    from heredity._core.outside import read_bytes

    try:
        return read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path.name} is none of the host's own files: {error}; remove it") from error


def _stream(folder: Path) -> object:
    from heredity.analysis.usage import recognised_usage, stream_usage

    lines = _own(folder / "agent.events.jsonl").decode("utf-8", "replace").splitlines()
    return [recognised_usage(lines), *(stream_usage(agent, lines) for agent in ("codex", "claude-code"))]


def _store_file() -> Mapping[str, bytes]:
    from heredity.resources import Registry, Store

    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "store.sqlite"
        registry = Registry(Store(path))
        registry.register("prompt", "greeting", "Say hello to {{name}}.", {"description": "greets"})
        registry.register("memory", "facts", {"facts.jsonl": '{"a": 1}\n'})
        registry.store.close()
        with sqlite3.connect(path) as whole:
            whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole.close()
        return {path.name: path.read_bytes()}


def _store(folder: Path) -> object:
    from heredity.resources import Registry, Store

    registry = Registry(Store(folder / "store.sqlite"))
    try:
        return [registry.get(*name.split("/", 1)) for name in registry.list()]
    finally:
        registry.store.close()


def _gateway_settings(folder: Path) -> object:
    from heredity.cli.broker import gateway_settings

    return gateway_settings(folder / "models.toml")


def _rewards(file: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from heredity.kinds.container.verification import _read_rewards

        copied = folder / "copied"
        copied.mkdir()
        (copied / file).write_bytes(_own(folder / file))
        return _read_rewards(copied / file)

    return load


def _actions(folder: Path) -> object:
    from heredity.kinds.policy.environments.video import _read_actions

    return list(_read_actions(folder / "actions.jsonl"))


def _plan(folder: Path) -> object:
    from heredity.session.schedule import read_plan

    return read_plan(folder / "plan.json", _schedule(), 4)


def _schedule() -> Any:
    from heredity.session.schedule import Schedule

    return Schedule(batch_size=2, epochs=1)


def _drawn() -> Mapping[str, bytes]:
    from heredity.session.schedule import draw_plan

    return {"plan.json": _json(draw_plan(_schedule(), 4, 0).to_json())}


def _alpaca(folder: Path) -> object:
    from heredity.library.tasks.posttraining.preference.task import alpaca_eval

    os.environ["HEREDITY_DATA"] = str(folder)
    return alpaca_eval().inner.draw("heldout", 1, 0)


def _deepsearchqa(folder: Path) -> object:
    from heredity.library.tasks.posttraining.deepsearchqa import task

    os.environ[task.DATA_VARIABLE] = str(folder / "q.csv")
    os.environ[task.CORPUS_VARIABLE] = str(folder / "documents.jsonl")
    return task.deepsearchqa().inner.draw("heldout", 1, 0)


def _official_game(folder: Path) -> object:
    from heredity.library.tasks.posttraining.alfworld.task import _copied, _official_spec, _playable

    return _playable(folder), _official_spec(folder), _copied(folder)


CODEX = [
    {"type": "thread.started", "thread_id": "a"},
    {"type": "turn.completed", "usage": {"input_tokens": 3, "cached_input_tokens": 1, "output_tokens": 2}},
]
CLAUDE = [
    {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 3, "output_tokens": 2}}},
    {"type": "result", "usage": {"input_tokens": 3, "output_tokens": 2}, "total_cost_usd": 0.5},
]
SEARCHED = "problem,problem_category,answer,answer_type\n" + "".join(
    f"What is {i}?,c,{i},Single Answer\n" for i in range(6)
)
GATEWAY = b'[gateway]\nexecution = "local/smollm2"\nconcurrent = 2\n'
GAME = {
    "game.tw-pddl": _json({"pddl_problem": "(define (problem a))", "solvable": True, "grammar": "g"}),
    "traj_data.json": _json({"task_type": "look_at_obj_in_light", "turk_annotations": {"anns": [{"task_desc": "d"}]}}),
}
LOGGED = (
    '{"at":1.5,"commitment":"c","event":"start","experiment":"e","heredity":1,"previous":"'
    + "0" * 64
    + '","run":"a","suite":"s"}'
)
JUDGED = _lines({"key": f"{i:064x}", "data": {"scores": [0.5, 1.0]}} for i in range(3))

# ruff: noqa: E501
RECORDS: tuple[Loader, ...] = (
    Loader("world in rules", _world_files, _rule_world, folder="made"),
    Loader("composed name", {"name.txt": b"composed-7-binary-partial-2"}, _composed_name),
    Loader("published run", _published, _verified, ("metrics.json", "opened.json", "card.json", "run.toml", "journal.jsonl")),
    Loader("recorded run", _published, _reported, ("metrics.json", "run.toml", "journal.jsonl")),
    Loader("annotations", {"annotations.jsonl": _lines([{"view": "id", "labels": ["a"], "snapshot": "E_1", "by": "rules"}] * 2)}, _annotated),
    Loader("judgements", {"judgements.jsonl": JUDGED}, _judgements),
    Loader("receipts of logs", {"logged.jsonl": _lines([{"kind": "git", "log": "git a/b", "line": LOGGED, "proof": {}}])}, _receipts),
    Loader("log of starts", {"log.jsonl": LOGGED.encode() + b"\n"}, lambda folder: _log_file(folder / "log.jsonl")),
    *(Loader(f"events of {name}", {"agent.events.jsonl": _lines(rows)}, _stream) for name, rows in (("codex", CODEX), ("claude", CLAUDE))),
    Loader("resource database", _store_file, _store),
    Loader("models of broker", {"models.toml": GATEWAY}, _gateway_settings),
    Loader("rewards json", {"reward.json": _json({"reward": 0.5, "speed": 1})}, _rewards("reward.json")),
    Loader("rewards text", {"reward.txt": b"0.5\n"}, _rewards("reward.txt")),
    Loader("actions", {"actions.jsonl": b"0\n1\n[0.5]\n"}, _actions),
    Loader("batch plan", _drawn, _plan),
    Loader("alpaca", {"alpaca_eval/alpaca_eval.json": _json([{"instruction": f"i{i}", "output": "o"} for i in range(6)])}, _alpaca),
    Loader("deepsearchqa", {"q.csv": SEARCHED.encode(), "documents.jsonl": _lines([{"title": "t", "text": "some words"}] * 3)}, _deepsearchqa),
    Loader("alfworld game", GAME, _official_game),
)  # fmt: skip
