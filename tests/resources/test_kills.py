"""Operators that are killed at random instants: what was acknowledged is there, and what was under way happened or did not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import HeredityError
from heredity.resources import Registry, Store
from heredity.resources.contracts import read_contract

KILLS = 20
BATCHES = 40
WRITERS = (
    *("register", "update", "copy", "restore", "unregister", "set_variables", "init"),
    *("load_from_json", "save_to_json", "save_contract", "load_contract"),
)


def operate(registry: Registry, inputs: Path, outputs: Path, seed: int, index: int) -> None:
    """Do the operation of this number: the same one whoever does it, on resources that are there and that are not."""
    draw = random.Random(f"{seed}/{index}")
    type_, name = draw.choice(["prompt", "tool"]), f"r{draw.randrange(5)}"
    about = {"description": f"does {index}", "parameters": {"k": index}}
    files: dict[str, Any] = {f"{'prompt.md' if type_ == 'prompt' else 'tool.py'}": f"text = {index}\n" * 20}
    version = f"1.0.{draw.randrange(6)}"
    with suppress(HeredityError):
        match draw.choice(WRITERS):
            case "register":
                registry.register(type_, name, files, about)
            case "update":
                registry.update(type_, name, files, about, branch=draw.choice(["main", "main", "bold"]))
            case "copy":
                registry.copy(type_, name, f"r{draw.randrange(8)}")
            case "restore":
                registry.restore(type_, name, version, branch=draw.choice(["main", "bold"]))
            case "unregister":
                registry.unregister(type_, name)
            case "set_variables":
                registry.set_variables(type_, name, {"parameters.k": -index})
            case "init":
                registry.init(inputs / f"folder-{index % 2}")
            case "load_from_json":
                registry.load_from_json(inputs / f"batch-{draw.randrange(BATCHES)}.json")
            case "save_to_json":
                registry.save_to_json(outputs / "all.json")
            case "save_contract":
                registry.save_contract("tool", name, outputs)
            case "load_contract":
                registry.load_contract(inputs / f"skill-{index % 2}" / "skill")


def prepare(folder: Path) -> Path:
    """Write what the operators read: exports of fifteen versions each, folders of resources, contracts."""
    folder.mkdir()
    for batch in range(BATCHES):
        with Store(folder / "batch.db") as store:
            registry = Registry(store)
            registry.register("prompt", f"batch-{batch}", "first")
            for i in range(14):
                registry.update("prompt", f"batch-{batch}", f"text {i} " * 20)
            registry.save_to_json(folder / f"batch-{batch}.json")
        (folder / "batch.db").unlink()
    for i in range(2):
        for name in ("r0", "r1", "many-a", "many-b"):
            (folder / f"folder-{i}" / "prompt" / name).mkdir(parents=True)
            (folder / f"folder-{i}" / "prompt" / name / "prompt.md").write_text(f"{name} {i}")
        (folder / f"skill-{i}" / "skill").mkdir(parents=True)
        text = f"---\nname: skill\ndescription: skill {i}\n---\n"
        (folder / f"skill-{i}" / "skill" / "SKILL.md").write_text(text)
    return folder


def state(registry: Registry) -> Any:
    """Return everything that a store holds but times, and the digests that depend on them."""
    store, labels = registry.store, {v.digest: v.label for v in registry.store.versions()}
    versions = [
        (v.label, v.content, v.manifest.to_json(), [labels[p] for p in v.parents], v.note) for v in store.versions()
    ]
    heads: dict[str, Any] = {}
    for resource in registry.list(hidden=True):
        type_, name = resource.split("/")
        branches = {b: labels[digest] for b, digest in store.branches(type_, name).items()}
        moves = [(m.branch, labels[m.target], m.action) for m in store.moves(type_, name)]
        heads[resource] = (branches, store.hidden(type_, name), moves)
    return versions, heads


def killed(path: Path, folders: tuple[Path, Path], seed: int, first: int, draw: random.Random) -> int:
    """Let a process operate, kill it a random while after some operations; return how many it acknowledged."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            registry = Registry(Store(path))
            for index in range(first, first + 100_000):
                operate(registry, *folders, seed, index)
                os.write(writing, b".")
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as done:
        seen = len(done.read(draw.randrange(10)))
        time.sleep(draw.uniform(0, 0.02))
        os.kill(pid, signal.SIGKILL)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL
        return seen + len(done.read())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_an_operator_that_is_killed_happened_or_did_not(tmp_path: Path, seed: int) -> None:
    inputs, outputs, path = prepare(tmp_path / "in"), tmp_path / "out", tmp_path / "s.db"
    outputs.mkdir()
    draw = random.Random(seed)
    (tmp_path / "twin-out").mkdir()
    Store(path).close()
    index = acknowledged = 0
    with Store(tmp_path / "twin.db") as twin_store:
        twin = Registry(twin_store)
        for _ in range(KILLS):
            count = killed(path, (inputs, outputs), seed, index, draw)
            for number in range(index, index + count):
                operate(twin, inputs, tmp_path / "twin-out", seed, number)
            index, acknowledged = index + count, acknowledged + count
            with Store(path) as store:
                assert store.check() == []
                if state(Registry(store)) != state(twin):
                    operate(twin, inputs, tmp_path / "twin-out", seed, index)
                    index += 1
                    assert state(Registry(store)) == state(twin)
            check_outputs(outputs, tmp_path)
    assert acknowledged > 2 * KILLS


def check_outputs(outputs: Path, folder: Path) -> None:
    for file in outputs.glob("*/SKILL.md"):
        assert read_contract(file.read_text(), where=str(file)).name == file.parent.name
    if (outputs / "all.json").exists():
        shutil.rmtree(folder / "loaded", ignore_errors=True)
        with Store(folder / "loaded" / "s.db") as store:
            assert Registry(store).load_from_json(outputs / "all.json") >= 0
            assert store.check() == []
