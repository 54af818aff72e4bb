"""A tiny checkpoint and a session that grades it by one of its numbers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from heredity.evolution import Budget
from heredity.judging import Session, SessionRules
from heredity.posttraining.models.checkpoint import Checkpoint, candidate_of, checkpoint_of, inspect
from heredity.posttraining.models.tensors import write_tensors
from heredity.records import BlobStore, Committer, Journal
from heredity.resources import Candidate
from heredity.rollouts.contract import Job, Limits
from heredity.rollouts.trajectory import Trajectory
from heredity.server.training.terms import TrainingTerms
from heredity.tasks import Task, TasksetInfo

GRADED = 4
INFO = TasksetInfo("posttraining/tiny", "1", "model", {}, {}, "tiny", 0.0)
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2, "vocab_size": 3}


def checkpoint(folder: Path, value: float = 0.0, *, rows: int = 3, config: Mapping[str, object] = CONFIG) -> Path:
    """Write a checkpoint of one tensor that is `value` everywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}}})
    )
    (folder / "tokenizer_config.json").write_text("{}")
    data = np.full((rows, 2), value, np.float32).tobytes()
    write_tensors(folder / "model.safetensors", [("model.embed_tokens.weight", "F32", (rows, 2), data)])
    return folder


@dataclass
class ByDigest:
    """Scores a checkpoint by what the test says of it."""

    worth: dict[str, float] = field(default_factory=dict)
    graded: list[str] = field(default_factory=list)

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        for place, job in enumerate(jobs):
            digest = checkpoint_of(job.candidate).digest
            if not job.task.index:
                self.graded.append(digest)
            score = self.worth.get(digest, 0.0)
            yield (
                place,
                Trajectory(job.task.id, job.candidate.digest, "ok", "none", score, 1, True, {"reward": [score]}),
            )

    async def close(self) -> None:
        """Nothing was started."""


def terms(base: Path, seconds: float = 60.0) -> TrainingTerms:
    return TrainingTerms(
        task="tiny",
        level="L1",
        metric="accuracy",
        description="# Tiny\n",
        base_model="characters/tiny",
        base_folder=base,
        base=inspect(base),
        baseline=0.25,
        graded=GRADED,
        timeout_s=seconds,
        files={
            "data/train.jsonl": b'{"prompt": "a", "completion": "b"}\n',
            "eval.py": b"def evaluate(q, a, r): return 0.0\n",
        },
    )


def session(folder: Path, runner: ByDigest, *, seconds: float = 60.0) -> Session:
    folder.mkdir(exist_ok=True)
    records = Committer(Journal.open(folder / "journal.jsonl"), BlobStore(folder / "blobs"))
    tasks = [Task(f"train/{i}", "train", i, {}) for i in range(GRADED)]
    rules = SessionRules(Budget(seconds=seconds), seed=0, max_episodes=100)
    return Session(records, runner, taskset=INFO, tasks=tasks, rules=rules)


def candidate(found: Checkpoint) -> Candidate:
    return candidate_of(found)
