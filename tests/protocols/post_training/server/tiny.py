"""A tiny checkpoint and a session that grades it by one of its numbers."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import HostError
from heredity.agents.launchers import AgentExit, CommandAgent
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, candidate_of, checkpoint_of, inspect
from heredity.kinds.checkpoint.models.tensors import write_tensors
from heredity.kinds.checkpoint.tasks.overlap import HiddenTexts
from heredity.methods import Budget
from heredity.protocols.post_training.protocol import judge
from heredity.protocols.post_training.server.agent_run import train_with_agent
from heredity.protocols.post_training.server.workspace import TrainingTerms
from heredity.records import BlobStore, Committer, Journal, read_journal
from heredity.resources import Candidate
from heredity.sandbox.limits import Limits
from heredity.session import Conditions, HiddenCases, RunPlan, Session, SessionRules, ViewPlan, run_evolution
from heredity.session.bench import Reference
from heredity.tasks import Task, TasksetInfo

GRADED = 4
INFO = TasksetInfo("posttraining/tiny", "1", "model", {}, {}, "tiny", 0.0)
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2, "vocab_size": 3}

SUBMIT = """
submit() {
  curl -s -X POST "$GRADING_SERVER_URL/submit" -H 'content-type: application/json' -d '{"model_path": "'$OUTPUT_DIR/$1'"}'; echo
}
"""
"""A shell function: `submit NAME`."""


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

    worth: dict[str, float | Sequence[float]] = field(default_factory=dict)
    graded: list[str] = field(default_factory=list)
    delay_s: float = 0.0
    breaks: bool = False

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        for position, job in enumerate(jobs):
            digest = checkpoint_of(job.candidate).digest
            if not job.task.index:
                self.graded.append(digest)
            if self.breaks:
                raise HostError("the grading machine is on fire")
            await asyncio.sleep(self.delay_s)
            worth = self.worth.get(digest, 0.0)
            score = worth if isinstance(worth, float) else worth[job.task.index]
            ended, reward = (("host_error", "host"), 0.0) if math.isnan(score) else (("ok", "none"), score)
            yield (
                position,
                Trajectory(job.task.id, job.candidate.digest, *ended, reward, 1, True, {"reward": [reward]}),
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


LONG = 900.0
"""Seconds that are never used up where all goes well."""


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds; how long that takes on a busy machine fails no test."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class Tiny:
    """Graded and held-out tasks, all alike."""

    info = INFO

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        return tuple(Task(f"{split}/{i}", split, i, {"entropy": entropy}) for i in range(count))


@dataclass
class Rig:
    """A whole run with an agent that is a shell script, below `root`: like a suite's, its hidden cases are outside."""

    root: Path
    seconds: float = 30.0
    runner: ByDigest = field(default_factory=ByDigest)
    hidden: HiddenTexts | None = None

    @property
    def run(self) -> Path:
        return self.root / "runs" / "suite" / "runs" / "one"

    @property
    def output(self) -> Path:
        return self.run / "workspace" / "output"

    @property
    def log(self) -> str:
        return (self.run / "logs" / "agent.log").read_text()

    def save(self, **worth: float) -> None:
        """Put checkpoints with these scores into the agent's output, named so."""
        for name, score in worth.items():
            digest = inspect(checkpoint(self.output / name, float(ord(name[0])))).digest
            self.runner.worth[digest] = score

    async def train(self, script: str, **options: Any) -> AgentExit | None:
        """Begin the run, or continue it, until it is judged; return how the agent ended."""
        exits: list[AgentExit | None] = []
        base = checkpoint(self.root / "base")
        hidden_cases = self.root / "sealed" / "suite"
        given: dict[str, Any] = {"end_grace_s": 0.0, "protected": (hidden_cases,), **options}
        agent = CommandAgent(script, **given)
        run_terms = terms(base, self.seconds)

        async def evolve(session: Session) -> None:
            exits.append(await train_with_agent(session, self.run, run_terms, agent, hidden=self.hidden))

        plan = RunPlan(
            "one", "suite", "post-training", {"name": "agent", "kind": "agent"}, 0, Budget(seconds=self.seconds), judge,
            [ViewPlan("heldout", "heldout", 3)], train_tasks=GRADED,
        )  # fmt: skip
        reference = Reference(candidate_of(run_terms.base), (0.0,) * 3, "base", graded=(0.25,) * GRADED)
        await run_evolution(
            self.run, plan, Conditions(Tiny(), self.runner, HiddenCases.create(hidden_cases), reference), evolve
        )
        return exits[0] if exits else None

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of every event of a kind."""
        return [dict(e.data) for e in read_journal(self.run / "journal.jsonl") if e.kind == kind]


def candidate(trained: Checkpoint) -> Candidate:
    return candidate_of(trained)
