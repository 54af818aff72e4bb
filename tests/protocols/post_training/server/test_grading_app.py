from __future__ import annotations

import asyncio
import json
import math
import os
import pickle
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from heredity.kinds.checkpoint.models.checkpoint import candidate_of, inspect
from heredity.kinds.checkpoint.models.tensors import write_tensors
from heredity.protocols.post_training.server.agent_run import GradingApp, Revisions
from heredity.protocols.post_training.server.workspace import KeptCheckpoints, Part, TrainingWorkspace
from heredity.records import read_journal
from heredity.session import Session

from .tiny import ByDigest, checkpoint, session, terms


@dataclass
class Run:
    """A grading server in front of a real session, and the agent's folder."""

    folder: Path
    session: Session
    runner: ByDigest
    workspace: TrainingWorkspace
    app: GradingApp
    client: httpx.AsyncClient
    chosen: list[str | None]

    @property
    def output(self) -> Path:
        return self.workspace.root / "output"

    async def submit(self, path: object, code: int = 200, **more: object) -> dict[str, Any]:
        reply = await self.client.post("/submit", json={"model_path": path, **more})
        assert reply.status_code == code, reply.text
        return reply.json()

    def save(self, name: str, value: float, worth: float | Sequence[float], **more: Any) -> str:
        folder = checkpoint(self.output / name, value, **more)
        self.runner.worth[inspect(folder).digest] = worth
        return f"/workspace/output/{name}"

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [dict(e.data) for e in read_journal(self.folder / "journal.jsonl") if e.kind == kind]


@asynccontextmanager
async def running(
    folder: Path, seconds: float = 60.0, parts: tuple[Part, ...] = (), gpus: tuple[str, ...] = ()
) -> AsyncIterator[Run]:
    chosen: list[str | None] = []
    runner = ByDigest()
    opened = session(folder, runner, seconds=seconds)
    workspace = TrainingWorkspace(
        folder / "workspace", replace(terms(checkpoint(folder / "base"), seconds), parts=parts, gpus=gpus)
    )
    workspace.prepare()
    app = GradingApp(
        opened,
        workspace,
        KeptCheckpoints(folder / "models", opened.note),
        Revisions(workspace, opened.note),
        choose_gpu=chosen.append,
    )
    app.publish()
    transport = httpx.ASGITransport(app=app.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://run") as client:
        yield Run(folder, opened, runner, workspace, app, client, chosen)


async def test_a_checkpoint_is_graded_answered_and_kept(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        answer = await run.submit(run.save("first", 1.0, 0.5))
        assert (answer["score"], answer["baseline_score"], answer["improvement"]) == (50.0, 25.0, 25.0)
        assert (answer["submission_id"], answer["total_submissions"], answer["error"]) == (1, 1, None)
        assert answer["best"] == {
            "submission_id": 1, "score": 50.0, "improvement": 25.0, "model_path": "/workspace/output/first",
        }  # fmt: skip
        kept = [path.name for path in (tmp_path / "models").iterdir()]
        assert kept == [inspect(run.output / "first").digest]
        scores = json.loads((run.workspace.root / "scores.json").read_text())
        assert [s["score"] for s in scores] == [50.0]
        meta = json.loads((run.workspace.root / "run_meta.json").read_text())
        assert meta["timeout_s"] == 60.0
        assert meta["last_submit_time"] >= meta["start_time"]


async def test_a_submission_may_name_one_of_the_runs_own_gpus_to_be_graded_on(tmp_path: Path) -> None:
    async with running(tmp_path, gpus=("1", "GPU-aa")) as run:
        assert json.loads((run.workspace.root / "run_meta.json").read_text())["gpus"] == ["1", "GPU-aa"]
        assert "GPUs 1, GPU-aa to itself" in (run.workspace.root / "instructions.md").read_text()
        await run.submit(run.save("first", 1.0, 0.5), gpu="GPU-aa")
        await run.submit(run.save("second", 2.0, 0.5), gpu=1)
        await run.submit(run.save("third", 3.0, 0.5))
        assert run.chosen == ["GPU-aa", None, "1", None, None, None]
        for wrong in (0, "GPU-bb", True, ["1"]):
            refused = await run.submit(run.save("first", 1.0, 0.5), 400, gpu=wrong)
            assert "the GPUs of this run are 1, GPU-aa" in refused["error"]


async def test_where_a_run_has_no_gpu_nothing_hangs_on_the_one_that_is_named(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        assert (await run.submit(run.save("first", 1.0, 0.5), gpu=0))["score"] == 50.0
        assert run.chosen == [None, None]


async def test_only_the_best_weights_are_kept_and_of_the_others_what_they_were(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        for name, value, worth in (("a", 1.0, 0.5), ("b", 2.0, 0.75), ("c", 3.0, 0.25)):
            await run.submit(run.save(name, value, worth))
        best = inspect(run.output / "b").digest
        assert [path.name for path in (tmp_path / "models").iterdir()] == [best]
        assert [e["digest"] for e in run.events("checkpoint.kept")][-1] == best
        assert len(run.events("checkpoint.dropped")) == 2
        assert run.app.best is not None
        assert run.app.best["score"] == 75.0


async def test_the_best_is_told_by_more_digits_than_are_shown(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        first = await run.submit(run.save("a", 1.0, 0.123456781))
        second = await run.submit(run.save("b", 2.0, 0.123456789))
        assert first["score"] == second["score"]
        assert [path.name for path in (tmp_path / "models").iterdir()] == [inspect(run.output / "b").digest]
        assert second["best"]["submission_id"] == 2


async def test_the_same_contents_are_graded_once_wherever_they_lie(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        first = await run.submit(run.save("a", 1.0, 0.5))
        os.utime(run.output / "a" / "model.safetensors", (0, 0))
        again = await run.submit(run.save("copy", 1.0, 0.5))
        assert again["cached"]
        assert again["submission_id"] == first["submission_id"] == 1
        assert len(run.runner.graded) == 1


async def test_many_at_once_are_graded_one_after_the_other(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        paths = [run.save(f"m{i}", float(i + 1), i / 10) for i in range(5)]
        answers = await asyncio.gather(*(run.submit(path) for path in paths))
        assert sorted(a["submission_id"] for a in answers) == [1, 2, 3, 4, 5]
        assert len(run.runner.graded) == 5


async def test_the_untouched_base_is_the_baseline_and_is_flagged(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        checkpoint(run.output / "copied", 0.0)
        answer = await run.submit("output/copied")
        assert answer["is_base_model"]
        assert (answer["score"], answer["improvement"]) == (25.0, 0.0)
        assert run.runner.graded == []
        assert run.events("submission.rejected")[0]["category"] == "base_model"


async def test_the_base_in_another_type_of_floats_is_still_the_untouched_base(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        copied = checkpoint(run.output / "copied", 0.0)
        halves = [("model.embed_tokens.weight", "BF16", (3, 2), bytes(12))]
        write_tensors(copied / "model.safetensors", halves)
        answer = await run.submit("output/copied")
        assert answer["is_base_model"]
        assert run.runner.graded == []


async def test_of_several_tasks_the_answer_has_each(tmp_path: Path) -> None:
    parts = (Part("sums", range(0, 4, 2), 0.5), Part("games", range(1, 4, 2), 0.0))
    async with running(tmp_path, parts=parts) as run:
        answer = await run.submit(run.save("first", 1.0, [1.0, 0.5, 1.0, math.nan]))
        expected = {
            "sums": {"score": 100.0, "baseline_score": 50.0, "improvement": 50.0},
            "games": {"score": 50.0, "baseline_score": 0.0, "improvement": 50.0},
        }
        assert answer["tasks"] == expected
        assert json.loads((run.workspace.root / "scores.json").read_text())[0]["tasks"] == expected
        checkpoint(run.output / "copied", 0.0)
        base = await run.submit("output/copied")
        assert {name: scores["improvement"] for name, scores in base["tasks"].items()} == {"sums": 0.0, "games": 0.0}
        assert (await run.client.get("/time")).json()["meta"]["tasks"] == ["sums", "games"]
        nothing = await run.submit(run.save("second", 2.0, [1.0, math.nan, 1.0, math.nan]))
        assert nothing["tasks"]["games"] == {"score": None, "baseline_score": 0.0, "improvement": None}
        assert "and `tasks` with the same of each task" in (run.workspace.root / "instructions.md").read_text()


async def test_an_agent_cannot_set_its_baseline(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        reply = await run.client.post("/set_baseline", json={"score": 0})
        assert reply.status_code == 403
        assert "cannot be set" in reply.json()["error"]
        assert (await run.submit(run.save("a", 1.0, 0.5)))["baseline_score"] == 25.0


async def test_what_is_no_checkpoint_of_this_run_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        outside = checkpoint(tmp_path / "elsewhere", 1.0)
        errors = [
            (await run.submit(path, 400))["error"] for path in (str(outside), "../elsewhere", "/etc", "output/none")
        ]
        assert all("inside the workspace" in text for text in errors[:3])
        (run.output / "link").symlink_to(run.workspace.root / "models" / "characters-tiny")
        errors.append((await run.submit("output/link", 400))["error"])
        wide = run.save("wide", 1.0, 1.0, rows=4)
        errors.append((await run.submit(wide, 400))["error"])
        folder = checkpoint(run.output / "pickled", 1.0)
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": 1}))
        errors.append((await run.submit("output/pickled", 400))["error"])
        own = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "auto_map": {"AutoModel": "own.Model"}}
        checkpoint(run.output / "own-code", 1.0, config=own)
        errors.append((await run.submit("output/own-code", 400))["error"])
        assert len(set(errors)) >= 6
        assert run.runner.graded == []
        rejected = run.events("submission.rejected")
        assert {e["category"] for e in rejected} == {"invalid_checkpoint"}
        assert len(rejected) == len(errors)


async def test_requests_that_are_none_are_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        for body in (b"", b"[]", b"{", b'{"model_path": 3}', b'{"model_path": ""}', b'{"model_path": "a\\u0000b"}'):
            reply = await run.client.post("/submit", content=body)
            assert reply.status_code == 400
            assert "model_path" in reply.json()["error"]
        assert (await run.client.post("/submit", content=b"x" * (2 << 20))).status_code == 413
        reply = await run.client.get("/submit")
        assert reply.status_code == 405
        assert "POST /submit" in reply.json()["error"]


async def test_nothing_is_graded_after_the_time(tmp_path: Path) -> None:
    async with running(tmp_path, seconds=0.2) as run:
        path = run.save("late", 1.0, 1.0)
        await asyncio.sleep(0.3)
        assert "the run is over" in (await run.submit(path, 409))["error"]
        reply = (await run.client.get("/time")).json()
        assert reply["remaining"] == 0.0
        assert list((tmp_path / "models").iterdir()) == []


async def test_a_server_that_is_started_again_knows_what_was_graded(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        await run.submit(run.save("a", 1.0, 0.5))
    runner = ByDigest()
    opened = session(tmp_path, runner)
    workspace = TrainingWorkspace(tmp_path / "workspace", terms(tmp_path / "base"))
    workspace.prepare()
    app = GradingApp(
        opened, workspace, KeptCheckpoints(tmp_path / "models", opened.note), Revisions(workspace, opened.note)
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app.asgi), base_url="http://run") as client:
        again = (await client.post("/submit", json={"model_path": "output/a"})).json()
    assert again["cached"]
    assert again["score"] == 50.0
    assert runner.graded == []
    assert candidate_of(inspect(workspace.root / "output" / "a")).digest == again["candidate"]


async def test_every_version_of_the_code_is_kept_with_the_submission_it_made(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        code = run.workspace.root / "code" / "train.py"
        code.write_text("print('sft')\n")
        await run.submit(run.save("a", 1.0, 0.5))
        await run.submit(run.save("b", 2.0, 0.5))
        code.write_text("print('grpo')\n")
        await run.submit(run.save("c", 3.0, 0.5))
        revisions = run.events("code.revised")
        assert [r["revision"] for r in revisions] == [1, 2]
        assert revisions[0]["files"] == ["train.py"]


def test_the_workspace_holds_what_the_contract_says(tmp_path: Path) -> None:
    workspace = TrainingWorkspace(tmp_path / "workspace", terms(checkpoint(tmp_path / "base")))
    workspace.prepare()
    there = {path.name for path in workspace.root.iterdir()}
    assert {"code", "output", "models", "data", "description.md", "instructions.md", "eval.py", "status"} <= there
    assert set(workspace.host_files) >= {"status", "models", "data", "description.md", "instructions.md", "eval.py"}
    assert inspect(workspace.root / "models" / "characters-tiny").digest == inspect(tmp_path / "base").digest
    variables = terms(tmp_path / "base").environment("/workspace")
    assert set(variables) == {"TASK", "BASE_MODEL", "WORKSPACE", "MODEL_PATH", "DATA_PATH", "OUTPUT_DIR"}
    (workspace.root / "output" / "mine").write_text("kept")
    workspace.prepare()
    assert (workspace.root / "output" / "mine").read_text() == "kept"
