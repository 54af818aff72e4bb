"""Everything that loads files from outside, each with sound files that `fuzz_loaders.py` makes malformed ones of."""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from heredity._core.errors import HeredityError

WORLDS = Path(__file__).parents[1] / "tests" / "data" / "world_folders"


@dataclass(frozen=True)
class Loader:
    """Something that loads files.

    Attributes:
        name: what it is called.
        files: sound files, by their path in a folder; or a function that makes them.
        load: loads them from that folder; raises an error of Heredity's own if they are malformed.
        targets: the files that are made malformed; all by default.
        folder: what the folder is called.
        refuses: whether the sound files are refused as well, by what only somebody else could sign.
    """

    name: str
    files: Mapping[str, bytes] | Callable[[], Mapping[str, bytes]]
    load: Callable[[Path], object]
    targets: tuple[str, ...] = ()
    folder: str = "input"
    refuses: bool = False

    @cached_property
    def sound(self) -> Mapping[str, bytes]:
        """The sound files."""
        return self.files() if callable(self.files) else self.files

    def lay_out(self, folder: Path) -> None:
        """Write the sound files."""
        for name, data in self.sound.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def prepare(self) -> None:
        """Load the sound files, so that what is imported by that is not counted; refusals of them are the loader's own affair."""
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / self.folder
            self.lay_out(folder)
            if self.refuses:
                with contextlib.suppress(HeredityError):
                    self.load(folder)
            else:
                self.load(folder)


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def _lines(rows: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _folder(folder: Any, under: str = "") -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            files.update(_folder(entry, f"{under}{entry.name}/"))
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            files[under + entry.name] = entry.read_bytes()
    return files


def _library(path: str) -> Any:
    return resources.files("heredity.library").joinpath(path)


def _tensors(shapes: Mapping[str, tuple[int, ...]]) -> bytes:
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}  # type: ignore[dict-item]
        at += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"\0" * at


CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4, "tie_word_embeddings": True}
TABLE = {"version": "1.0", "truncation": None, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
SHAPES = {"model.embed_tokens.weight": (6, 4), "model.norm.weight": (4,), "model.layers.0.q.weight": (4, 4)}
MODEL = {
    "config.json": _json(CONFIG),
    "generation_config.json": _json({"eos_token_id": [1], "temperature": 0.5}),
    "tokenizer.json": _json(TABLE),
    "tokenizer_config.json": _json({"tokenizer_class": "X", "eos_token": "a"}),
    "chat_template.jinja": b"{{ messages }}",
}


def _base(folder: Path) -> Any:
    from heredity.kinds.checkpoint.models import inspect

    for name, data in {**MODEL, "model.safetensors": _tensors(SHAPES)}.items():
        (folder / name).write_bytes(data)
    return folder, inspect(folder)


def _checkpoint(folder: Path) -> object:
    from heredity.kinds.checkpoint.models import candidate_of, inspect, snapshot

    with tempfile.TemporaryDirectory() as home:
        base_folder, base = _base(Path(home))
        inspected = inspect(folder, inside=folder.parent, base=base)
        candidate_of(inspected).to_bytes()
        return snapshot(folder, Path(home) / "kept", inspected, base_folder)


def _adapter(folder: Path) -> object:
    from heredity.kinds.checkpoint.models import inspect, merge_adapter

    with tempfile.TemporaryDirectory() as home:
        base = _base(Path(home))
        merged = merge_adapter(folder, base, Path(home) / "merged", inside=folder.parent)
        return inspect(merged, base=base[1])


def _harness(folder: Path) -> object:
    from heredity.engine.parts import read_parts
    from heredity.resources.assembly import candidate_from_folder, variables

    candidate = candidate_from_folder(folder)
    return read_parts(candidate), variables(candidate)


def _registered(folder: Path) -> Any:
    from heredity.resources import Registry, Store

    registry = Registry(Store(folder.parent / "store.sqlite"))
    try:
        return registry, registry.init(folder)
    finally:
        registry.store.close()


def _export(folder: Path) -> object:
    from heredity.resources import Registry, Store

    with tempfile.TemporaryDirectory() as home:
        registry = Registry(Store(Path(home) / "store.sqlite"))
        try:
            return registry.load_from_json(folder / "export.json")
        finally:
            registry.store.close()


def _exported() -> bytes:
    from heredity.resources import Registry, Store

    with tempfile.TemporaryDirectory() as home:
        registry = Registry(Store(Path(home) / "store.sqlite"))
        registry.register("prompt", "greeting", "Say hello to {{name}}.", {"description": "greets"})
        registry.register("memory", "facts", {"facts.jsonl": '{"a": 1}\n'}, {"parameters": {"x": [1, 2]}})
        registry.save_to_json(Path(home) / "export.json")
        registry.store.close()
        return (Path(home) / "export.json").read_bytes()


SKILL = b"""---
name: adding
description: >
  Adds two numbers; use it
  for sums.
license: MIT
metadata: {version: "1.0", tags: [a, b]}
allowed-tools:
  - one
  - two
---

# Adding
"""


def _contract(folder: Path) -> object:
    from heredity.resources import Registry, Store

    with tempfile.TemporaryDirectory() as home:
        registry = Registry(Store(Path(home) / "store.sqlite"))
        try:
            return registry.load_contract(folder / "SKILL.md")
        finally:
            registry.store.close()


def _world(folder: Path) -> object:
    from heredity.kinds.world.description import read_description

    return read_description(folder / "world.yaml")


def _world_folder(folder: Path) -> object:
    from heredity.kinds.world.folders.folder import WorldFolder

    world = WorldFolder(folder)
    world.check()
    return world.yaml("levels/" + next(p for p in world.files if p.startswith("levels/")).removeprefix("levels/"))


def _hidden(folder: Path) -> object:
    from heredity.session import HiddenCases

    return HiddenCases.open(folder)


def _hidden_file() -> dict[str, bytes]:
    from heredity.session import HiddenCases

    with tempfile.TemporaryDirectory() as home:
        HiddenCases.create(Path(home))
        return {path.name: path.read_bytes() for path in Path(home).iterdir()}


QUESTIONS = [
    {"question": "1+1?", "answer": "2", "split": "train", "level": 1},
    {"question": "Which?", "answer": "B", "choices": ["x", "y", "z"], "split": "test"},
    {"question": "3+3?", "answer": 6, "split": "val"},
]
GPQA_COLUMNS = (
    "Record ID",
    "Question",
    "Correct Answer",
    "Incorrect Answer 1",
    "Incorrect Answer 2",
    "Incorrect Answer 3",
)


def _csv(rows: Iterable[Iterable[str]]) -> bytes:
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows).encode() + b"\n"


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


def _questions(file: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from heredity._core.ids import digest_json
        from heredity.kinds.question.files import read_pool

        pool = read_pool(folder / file, {})
        return digest_json([q.to_spec() for part in pool.splits.values() for q in part])

    return load


def _benchmark(variable: str, path: str, read: Callable[[], Any]) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        os.environ[variable] = str(folder / path)
        return read()

    return load


def _gpqa() -> object:
    from heredity.kinds.question.benchmarks import read_gpqa

    return read_gpqa()


def _gsm8k() -> object:
    from heredity.kinds.question.benchmarks import read_gsm8k

    return read_gsm8k()


def _aime() -> object:
    from heredity.kinds.question.benchmarks import read_aime

    return read_aime("aime24")


def _suite(folder: Path) -> object:
    from heredity._core.ids import digest_json
    from heredity.experiments.config import cells, load

    config = load(folder / "suite.toml")
    return digest_json(config.model_dump(mode="json")), cells(config)


def _task(folder: Path) -> object:
    from heredity.kinds.container.format import read_task
    from heredity.sandbox.containers.replay import read_dockerfile

    task = read_task(folder)
    return task.digest, read_dockerfile(folder / "environment" / "Dockerfile")


def _splits(folder: Path) -> object:
    from heredity.kinds.container.taskset import read_splits

    return read_splits(folder)


def _tree(folder: Path) -> object:
    from heredity.resources import Candidate, SourceTree

    tree = SourceTree.from_folder(folder, max_bytes=1 << 20, max_files=50)
    Candidate.program(tree).to_bytes()
    return Candidate.from_bytes(tree.get("candidate.bin", b""))


def _packed() -> bytes:
    from heredity.resources import Candidate, SourceTree

    return Candidate.program(SourceTree({"policy.py": "x = 1\n", "lib/a.py": "y = 2\n"})).to_bytes()


def _replayed(folder: Path) -> object:
    from heredity.models.replay import Replayed

    return Replayed(folder / "calls.jsonl")


def _recording() -> bytes:
    import asyncio

    from heredity.models import Message, Request
    from heredity.models.replay import Recording
    from heredity.models.scripted import Scripted

    async def record(path: Path) -> None:
        recorded = Recording(Scripted(lambda request: "yes"), path)
        for text in ("a", "b"):
            await recorded.reply(Request((Message("user", text),)))
        await recorded.close()

    with tempfile.TemporaryDirectory() as home:
        asyncio.run(record(Path(home) / "calls.jsonl"))
        return (Path(home) / "calls.jsonl").read_bytes()


def _scripted(folder: Path) -> object:
    from heredity.models.scripted import Scripted

    return Scripted.read(folder / "rules.toml")


def _agent(folder: Path) -> object:
    from heredity.agents.launchers.registry import AgentFolder

    return AgentFolder(folder).launch("do it", "model")


def _smith(folder: Path) -> object:
    from heredity.kinds.checkpoint.tasks.registry import workspace_files
    from heredity.kinds.checkpoint.tasks.scoring import smith

    return workspace_files(smith(str(folder)), 0)


def _results(file: str) -> Callable[[Path], object]:
    def load(folder: Path) -> object:
        from heredity.protocols.harness_evolution.analysis.rows import read_rows

        return read_rows(folder / file)

    return load


def _index(folder: Path) -> object:
    from heredity.protocols.harness_evolution.analysis import inspect_split, read_split, read_task_index

    return inspect_split(read_task_index(folder / "index.json"), read_split(folder / "split.json"))


def _labels(folder: Path) -> object:
    from heredity.protocols.harness_evolution.annotation import read_rules

    return read_rules(folder / "rules.toml")


def _run(folder: Path) -> object:
    from heredity.records import read_journal
    from heredity.records.run_folder import load_config
    from heredity.records.span_log import read_spans

    return load_config(folder), read_spans(folder / "spans.jsonl"), read_journal(folder / "journal.jsonl")


def _journal() -> bytes:
    from heredity.records import Journal

    with tempfile.TemporaryDirectory() as home:
        journal = Journal.open(Path(home) / "journal.jsonl")
        journal.append_many([("run.started", {"a": 1}), ("x", {"b": [1, "c"]})])  # type: ignore[list-item]
        journal.close()
        return (Path(home) / "journal.jsonl").read_bytes()


RESULT = {"task_id": "a", "view_name": "id", "mode": "eval", "score": 0.5, "success": True, "cost": {"steps": 3}}
TASKS = [{"task_id": name, "source": {"type": "x"}, "attributes": {"domain": "d"}, "scoring": {}} for name in "abcd"]
SPLIT = {
    "split_id": "s",
    "split_version": "v1",
    "seed": 42,
    "splits": {"train": ["a", "b"], "val": ["c"], "test": ["d"]},
}
SMITH = {
    "config.yaml": b"name: mine\neval_mode: per_sample\nexpose_files: [eval.py]\ndescription: d\n",
    "eval.py": b"def evaluate(question, model_answer, reference_answer, **extra): return 1.0\n",
    "data/train.jsonl": _lines({"question": f"q{i}", "answer": str(i), "n": i} for i in range(12)),
}
AIME = _lines({"question": f"What is {i}?", "answer": str(i)} for i in range(30))
GSM = [{"question": f"What is {i}?", "answer": f"It is.\n#### {i}"} for i in range(20)]
GPQA = _csv([GPQA_COLUMNS, *((f"r{i}", f"q{i}", "a", "b", "c", "d") for i in range(10))])
SHARDS = {
    "model-00001-of-00002.safetensors": _tensors({k: SHAPES[k] for k in list(SHAPES)[:1]}),
    "model-00002-of-00002.safetensors": _tensors({k: SHAPES[k] for k in list(SHAPES)[1:]}),
}
WEIGHT_MAP = {name: list(SHARDS)[position > 0] for position, name in enumerate(SHAPES)}
LORA = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "bias": "none", "target_modules": ["q"]}
MATRICES = {
    "base_model.model.model.layers.0.q.lora_A.weight": (2, 4),
    "base_model.model.model.layers.0.q.lora_B.weight": (4, 2),
}
SUITES = ("demo.toml", "questions-offline.toml", "posttrain-cpu.toml", "harness-offline.toml", "worlds-six.toml")
CONTAINER = "tasks/containers/programs/roman-numbers"

RULES = b"""[[rule]]
name = "first"
when = {user = "add (?P<a>[0-9]+)", results = 0, times = 1}
reply = {text = "${a}", calls = [{name = "add", arguments = {a = 1}}], delay_s = 0.5}

[[rule]]
reply = "done"
"""

# ruff: noqa: E501
LOADERS: tuple[Loader, ...] = (
    Loader("checkpoint", {**MODEL, "model.safetensors": _tensors(SHAPES)}, _checkpoint),
    Loader("checkpoint in shards", {**MODEL, **SHARDS, "model.safetensors.index.json": _json({"metadata": {}, "weight_map": WEIGHT_MAP})},
           _checkpoint, (*SHARDS, "model.safetensors.index.json")),
    Loader("adapter", {"adapter_config.json": _json(LORA), "adapter_model.safetensors": _tensors(MATRICES)}, _adapter),
    Loader("harness folder", {**_folder(_library("harnesses/worker")), "prompt/system/resource.json": _json({"description": "d"})},
           _harness),
    Loader("resource folder", {"prompt/a/prompt.md": b"Do.", "tool/t/tool.py": b"def run(): pass\n", "memory/m/m.jsonl": b'{"a": 1}\n',
                               "tool/t/resource.json": _json({"description": "d", "pins": {"prompt/a": "1.0.0"}})}, _registered),
    Loader("resource export", {"export.json": _exported()}, _export),
    Loader("SKILL.md", {"SKILL.md": SKILL}, _contract, folder="adding"),
    Loader("world.yaml", {"world.yaml": _library("worlds/icy_grip/world.yaml").read_bytes()}, _world),
    Loader("world folder", _folder(WORLDS / "3_LanternCanal"), _world_folder),
    Loader("hidden cases", _hidden_file(), _hidden),
    Loader("questions jsonl", {"q.jsonl": _lines(QUESTIONS)}, _questions("q.jsonl")),
    Loader("questions csv", {"q.csv": _csv([("question", "answer", "split"), ("a?", "1", "train"), ("b?", "2", "test")])},
           _questions("q.csv")),
    Loader("questions parquet", lambda: {"q.parquet": _parquet([{**q, "answer": str(q["answer"])} for q in QUESTIONS])}, _questions("q.parquet")),
    Loader("gpqa", {"gpqa.csv": GPQA}, _benchmark("HEREDITY_GPQA", "gpqa.csv", _gpqa)),
    Loader("aime", {"aime/aime24.jsonl": AIME}, _benchmark("HEREDITY_DATA", "", _aime)),
    Loader("gsm8k", lambda: {f"gsm8k/{split}.parquet": _parquet(GSM) for split in ("train", "test")}, _benchmark("HEREDITY_DATA", "", _gsm8k)),
    *(Loader(f"suite {name}", {"suite.toml": _library(f"suites/{name}").read_bytes()}, _suite) for name in SUITES),
    Loader("container task", _folder(_library(CONTAINER)), _task, ("task.toml", "instruction.md", "environment/Dockerfile")),
    Loader("container splits", {"splits.toml": b'version = "1"\nood = []\n[domains.d]\ntrain = ["t"]\nvalidation = []\nheldout = []\n',
                                "d/t/task.toml": b""}, _splits, ("splits.toml",)),
    Loader("source tree", {"policy.py": b"x = 1\n", "lib/a.py": b"y = 2\n", "candidate.bin": _packed()}, _tree),
    Loader("recorded model", {"calls.jsonl": _recording()}, _replayed),
    Loader("scripted model", {"rules.toml": RULES}, _scripted),
    Loader("agent folder", {"start.sh": b"true\n", "config.yaml": b"env_vars:\n  A: 1\n  B: text\n"}, _agent),
    Loader("smith folder", SMITH, _smith),
    Loader("task results jsonl", {"r.jsonl": _lines([RESULT] * 3)}, _results("r.jsonl")),
    Loader("task results parquet", lambda: {"r.parquet": _parquet([RESULT] * 3)}, _results("r.parquet")),
    Loader("task index", {"index.json": _json({"version": "1", "tasks": TASKS}), "split.json": _json(SPLIT)}, _index),
    Loader("failure labels", {"rules.toml": b'[[rule]]\nlabel = "x"\npattern = "a+"\nwhen = "failed"\nin = ["error"]\n'}, _labels),
    Loader("run folder", {"run.toml": b'[run]\nname = "a"\n', "spans.jsonl": _lines([{"span_id": "a"}]), "journal.jsonl": _journal()}, _run),
)  # fmt: skip
