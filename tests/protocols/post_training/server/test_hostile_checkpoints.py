"""Checkpoints that are made to break the server that grades them: each is refused, says why, costs nothing and leaves nothing."""

from __future__ import annotations

import json
import os
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity.engine.trajectory import Failure
from heredity.kinds.checkpoint.models.checkpoint import inspect
from heredity.kinds.checkpoint.models.tensors import write_tensors
from heredity.methods import Feedback
from heredity.results.status import FailureSource, Status

from . import test_grading_app
from .test_grading_app import Run, running
from .tiny import CONFIG, ByDigest, checkpoint

TENSOR = "model.embed_tokens.weight"
LORA = {"peft_type": "LORA", "r": 1, "lora_alpha": 1}


def with_header(folder: Path, header: object, *, text: bytes = b"") -> None:
    data = text or json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(data)) + data + b"\0" * 24)


def header_of(**entry: Any) -> Callable[[Path], None]:
    whole = {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24], **entry}
    return lambda folder: with_header(folder, {TENSOR: whole})


def written(name: str, text: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(text) and None


def adapted(rank_of_b: int, **config: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "config.json").unlink()
        (folder / "adapter_config.json").write_text(json.dumps({**LORA, **config}))
        name = f"base_model.model.{TENSOR.removesuffix('.weight')}"
        matrices = {"A": np.zeros((1, 2), "<f4"), "B": np.zeros((3, rank_of_b), "<f4")}
        tensors = [(f"{name}.lora_{k}.weight", "F32", m.shape, m.tobytes()) for k, m in matrices.items()]
        write_tensors(folder / "adapter_model.safetensors", tensors)

    return change


def instead(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return change


HOSTILE: dict[str, Callable[[Path], None]] = {
    "a product that takes minutes": header_of(shape=[(1 << 47) + 1] * 100_000),
    "a shape without an end": header_of(shape=[0, 1 << 47, 1 << 47, 1 << 47]),
    "types in a list": header_of(dtype=["F32"]),
    "types in a table": header_of(dtype={"F32": 1}),
    "a tensor that is a number": lambda folder: with_header(folder, {TENSOR: 3}),
    "a header that is a list": lambda folder: with_header(folder, [1]),
    "a header of nestings": lambda folder: with_header(folder, None, text=b'{"a":' + b"[" * 200_000),
    "a number of ten thousand digits": lambda folder: with_header(folder, None, text=b'{"a":' + b"9" * 10_000 + b"}"),
    "NaN in the configuration": written("config.json", json.dumps({**CONFIG, "x": float("nan")}).encode()),
    "a surrogate in the configuration": written("config.json", json.dumps({**CONFIG, "x": "\ud800"}).encode()),
    "a surrogate in a tensor's name": lambda folder: with_header(folder, {"\ud800": {}}),
    "no UTF-8": written("config.json", b'{"a": "\xff"}'),
    "infinity in the decoding": written("generation_config.json", b'{"temperature": 1e999}'),
    "a tokenizer of nothing": written("tokenizer.json", b"{}"),
    "a tokenizer that is NaN": written("tokenizer.json", b'{"model": NaN}'),
    "a folder as weights": instead("model.safetensors", Path.mkdir),
    "a pipe as weights": instead("model.safetensors", os.mkfifo),
    "a folder as configuration": instead("config.json", Path.mkdir),
    "a device as tokenizer": instead("tokenizer.json", lambda path: path.symlink_to("/dev/zero")),
    "matrices of two ranks": adapted(2),
    "a rank without a bound": adapted(1, r=10**4000),
    "a scale without a bound": adapted(1, lora_alpha=10**4000),
    "a name that is no text": lambda folder: os.mkfifo(os.fsencode(folder) + b"/\xff") or (folder / "config.json").unlink(),
    "the same base under its own code": written("config.json", json.dumps({**CONFIG, "auto_map": {}}).encode()),
}  # fmt: skip


async def test_hostile_checkpoints_are_refused_with_the_reason_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loading the base once, which is trusted, would count as time spent on a checkpoint.
    monkeypatch.setattr("heredity.protocols.post_training.server.agent_run.saved_form", lambda _: None)
    async with running(tmp_path) as run:
        await run.submit("output/none", 400)
        opened = len(os.listdir("/proc/self/fd"))
        for number, (name, change) in enumerate(HOSTILE.items()):
            folder = checkpoint(run.output / f"h{number}", 1.0)
            change(folder)
            began = time.process_time()
            answer = await run.submit(f"output/h{number}", 400)
            assert time.process_time() - began < 2, name
            assert len(answer["error"]) > 20, name
            assert "; " in answer["error"], f"{name}: no remedy in {answer['error']}"
        assert len(os.listdir("/proc/self/fd")) == opened
        assert run.runner.graded == []
        assert [e["category"] for e in run.events("submission.rejected")] == ["invalid_checkpoint"] * (len(HOSTILE) + 1)


PATHS = (
    "",
    "/",
    "\ud800",
    "a\nb",
    "a" * 5000,
    "a/" * 500 + "x",
    "n" * 300,
    "output/none",
    "/etc/passwd",
    "../base",
    "/workspace",
)


async def test_no_refusal_names_a_place_of_this_machine(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        for number, change in enumerate(HOSTILE.values()):
            change(checkpoint(run.output / f"h{number}", 1.0))
        (run.output / "link").symlink_to(tmp_path / "base")
        paths = [*PATHS, "output/link", str(tmp_path / "base"), *(f"output/h{n}" for n in range(len(HOSTILE)))]
        replies = [await run.client.post("/submit", content=json.dumps({"model_path": path})) for path in paths]
        run.runner.breaks = True
        replies.append(
            await run.client.post("/submit", json={"model_path": run.save("good", 1.0, 0.5).replace("/workspace/", "")})
        )
        assert [reply.status_code for reply in replies] == [400] * len(paths) + [500]
        for path, reply in zip([*paths, "good"], replies, strict=True):
            assert str(tmp_path) not in reply.text.replace(json.dumps(path)[1:-1], ""), reply.text
            assert "/usr/" not in reply.text
    assert all(str(tmp_path) not in e["message"].replace(e["key"], "") for e in run.events("submission.rejected"))


async def test_how_answers_are_decoded_belongs_to_the_task(tmp_path: Path) -> None:
    base = checkpoint(tmp_path / "base")
    (base / "generation_config.json").write_text('{"eos_token_id": 1}')
    async with running(tmp_path) as run:
        for name, value in (("tuned", 0.0), ("trained", 1.0)):
            folder = checkpoint(run.output / name, value)
            (folder / "generation_config.json").write_text('{"eos_token_id": [1, 2], "temperature": 0.1}')
            table = json.loads((folder / "tokenizer.json").read_text())
            (folder / "tokenizer.json").write_text(json.dumps({**table, "truncation": {"max_length": "all"}}))
        assert (await run.submit("output/tuned"))["is_base_model"], "nothing of it was trained"
        run.runner.worth[inspect(run.output / "trained", base=inspect(base)).digest] = 0.5
        answer = await run.submit("output/trained")
        expected = [
            "generation_config.json: eos_token_id",
            "generation_config.json: temperature",
            "tokenizer.json: truncation",
        ]
        assert answer["score"] == 50.0
        assert ", ".join(expected) in answer["note"]
        assert run.events("settings.overridden") == [{"candidate": answer["candidate"], "settings": expected}]
        (kept,) = (tmp_path / "models").iterdir()
        for name in ("config.json", "generation_config.json", "tokenizer.json"):
            assert (kept / name).read_bytes() == (base / name).read_bytes()
        assert inspect(kept).digest == kept.name


class FailsOnce(ByDigest):
    """Cannot load the first checkpoint that it is given."""

    async def run(self, jobs: Any, limits: Any) -> Any:
        first = not self.graded
        async for position, trajectory in super().run(jobs, limits):
            failure = Failure(Status.MODEL_ERROR, "/opt/heredity/packages/tokenizers/x.py refused it")
            failed = replace(
                trajectory, status=failure.category, failure_source=FailureSource.CANDIDATE, failure=failure
            )
            yield position, failed if first else trajectory


async def test_a_failure_is_not_what_the_same_checkpoint_is_answered_with_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_grading_app, "ByDigest", FailsOnce)
    async with running(tmp_path) as run:
        path = run.save("a", 1.0, 0.5)
        first = await run.submit(path)
        assert (first["score"], first["error"]) == (0.0, "…/x.py refused it")
        second = await run.submit(path)
        assert (second["score"], second["error"], second["cached"]) == (50.0, None, False)
        assert (await run.submit(path))["cached"]
        assert [f.mean for f in feedbacks(run)] == [0.0, 0.5]


def feedbacks(run: Run) -> list[Feedback]:
    return [submission.feedback() for submission in run.session.snapshot()]
