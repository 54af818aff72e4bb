"""Writes journals of post-training as a run does; what checkpoints score is made up, from a seed."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity._core.ids import generator
from heredity.analysis.contract import RunEvidence
from heredity.analysis.run_results import run_results
from heredity.protocols.post_training.protocol import METRICS
from heredity.records import Blob, Journal
from heredity.records.blobs import BlobStore
from heredity.resources import Candidate, SourceTree
from heredity.results.run import RunResults

Json = dict[str, Any]
SCRIPTS = Path(__file__).parent / "scripts"
START = 1_790_000_000.0


def results(scenario: Told) -> RunResults:
    """Return the results of a run that is like that."""
    journal = PostTrainingJournal(scenario)
    return run_results(RunEvidence(journal.lines, journal.load, journal.blob), METRICS)


def script(name: str) -> dict[str, bytes]:
    """Return the files of a sample; they are kept as text, so that nothing takes them for code of this repository."""
    folder = SCRIPTS / name
    if not folder.is_dir():
        return {f"{name}.py": (SCRIPTS / f"{name}.py.txt").read_bytes()}
    return {str(p.relative_to(folder)).removesuffix(".txt"): p.read_bytes() for p in folder.rglob("*.txt")}


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return a tar archive of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def checkpoint(name: str) -> Candidate:
    """Return a candidate of the manifest of some weights."""
    manifest = {"digest": name, "files": {"model.safetensors": name}, "architecture": "LlamaForCausalLM"}
    return Candidate({"model/weights": SourceTree({"manifest.json": json.dumps(manifest)})})


@dataclass
class Act:
    """One thing that an agent does.

    Attributes:
        skill: chance that its checkpoint answers a task; None writes code and submits nothing, `"base"` submits the base model.
        code: name of the sample that is added to its code; `""` changes nothing.
        refused: why the server refuses the submission.
        crash: why grading fails.
        took: seconds since the act before.
        note: what it says of the submission.
    """

    skill: float | str | None = None
    code: str = ""
    refused: str = ""
    crash: str = ""
    took: float = 60.0
    note: str = ""


@dataclass
class Told:
    """What a run is to be like."""

    acts: Sequence[Act] = (Act(0.5, "torch_sft"), Act(0.75, "torch_grpo", note="a larger group"))
    agent: str = "reference"
    seed: int = 0
    task: str = "arithmetic"
    level: str = "L1"
    mode: str = "free"
    base: float = 0.4
    tasks: int = 60
    budget: float = 600.0
    repeats: int = 0
    exit_code: int = 0
    finished: bool = True
    tokens: bool = False
    interrupted: bool = False
    more: Json = field(default_factory=dict[str, Any])


class PostTrainingJournal:
    """The events of one run and its blobs."""

    def __init__(self, scenario: Told) -> None:
        self.told = scenario
        self.events: list[tuple[str, Json, float]] = []
        self.blobs: dict[str, bytes] = {}
        self.candidates: dict[str, Candidate] = {}
        self.draws = generator(scenario.seed, "tests", "posttraining", scenario.agent, scenario.task)
        # What is hard for one checkpoint is hard for another, as with real ones.
        self.hardness = self.draws.random((2, scenario.tasks))
        self.clock = 0.0
        self.submitted = 0
        self.code: dict[str, bytes] = {}
        self.skills: dict[str, float] = {}
        self.numbers: dict[str, int] = {}
        self._write()

    @property
    def lines(self) -> list[Json]:
        """The journal as mappings."""
        return [{"seq": i, "at": at, "kind": k, "data": data} for i, (k, data, at) in enumerate(self.events)]

    def load(self, digest: str) -> Candidate:
        """Return a candidate."""
        return self.candidates[digest]

    def blob(self, digest: str) -> bytes:
        """Return a blob."""
        return self.blobs[digest]

    def save(self, folder: Path) -> Path:
        """Write the folder of the run and return it."""
        candidates = [Blob.of(candidate.to_bytes()) for candidate in self.candidates.values()]
        BlobStore(folder / "blobs").put_many([*candidates, *(Blob(d, b) for d, b in self.blobs.items())])
        times = iter([at for _, _, at in self.events])
        journal = Journal.open(folder / "journal.jsonl", now=lambda: next(times))
        for kind, data, _ in self.events:
            journal.append(kind, data)
        journal.sync()
        journal.close()
        return folder

    def add(self, kind: str, **data: Any) -> None:
        """Write an event."""
        self.events.append((kind, data, START + self.clock))

    def _write(self) -> None:
        scenario = self.told
        self._start()
        self.base = self._know(checkpoint("base"))
        self.skills[self.base] = scenario.base
        self.add("heartbeat", clock_s=0.0)
        for act in scenario.acts:
            self._do(act)
        graded = [(skill, digest) for digest, skill in self.skills.items() if digest != self.base]
        best = max(graded)[1] if graded else self.base
        for _ in range(scenario.repeats):
            scores = self._scores(self.skills[best], 0, jitter=0.05)
            self.add("grading.repeated", submit_id=self.numbers.get(best), candidate=best, repeat=1, scores=scores)
        self.clock += 10
        if scenario.finished:
            self._end(best)

    def _start(self) -> None:
        scenario = self.told
        self.add(
            "run.started",
            run_id=f"{scenario.task}--{scenario.agent}-{scenario.mode}--s{scenario.seed}",
            suite_id="post-training",
            protocol="post-training",
            taskset=f"posttraining/{scenario.task}",
            taskset_version="1",
            family=scenario.level,
            group="posttraining",
            evolver={
                "name": scenario.agent,
                "kind": "agent",
                "command": "bash start.sh",
                "base_model": f"characters/{scenario.task}",
                "mode": scenario.mode,
            },
            seed=scenario.seed,
            budget={"seconds": scenario.budget},
            views={"heldout": scenario.tasks},
            failure_return=0.0,
            isolation="namespaces",
            packages={"heredity": "0.1", "torch": "2.13.0"},
            commitment="c" * 64,
            config_digest="d" * 64,
            **({"posttraining": scenario.more} if scenario.more else {}),
        )

    def _know(self, candidate: Candidate, note: str = "") -> str:
        self.candidates[candidate.digest] = candidate
        blob = Blob.of(candidate.to_bytes()).digest
        self.add("candidate", digest=candidate.digest, blob=blob, parents=[], note=note)
        return candidate.digest

    def _scores(self, skill: float, view: int, jitter: float = 0.0) -> list[float]:
        drift = self.draws.normal(0.0, jitter, self.told.tasks) if jitter else 0.0
        return [float(hard < skill) for hard in self.hardness[view] + drift]

    def _do(self, act: Act) -> None:
        self.clock += act.took
        if act.code:
            self.code |= script(act.code)
            data = archive(self.code)
            blob = Blob.of(data)
            self.blobs[blob.digest] = data
            number = 1 + sum(kind == "code.revised" for kind, _, _ in self.events)
            self.add(
                "code.revised",
                revision=number,
                blob=blob.digest,
                files=sorted(self.code),
                at_s=self.clock - act.took / 2,
            )
        if self.told.tokens:
            usage = {"input_tokens": 20_000, "cache_tokens": 5_000, "output_tokens": 2_000, "cost_usd": 0.02}
            self.add("agent.usage", source="claude-code", **usage)
        if self.told.interrupted and self.submitted == 1:
            self.add("run.resumed", rollout=1, reason="killed")
        if act.skill == "base":
            self.add(
                "submission.rejected", key="output/copy", category="base_model", message="the untouched base model"
            )
        elif act.refused:
            self.add("submission.rejected", key=f"k{len(self.events)}", category="candidate", message=act.refused)
        elif act.skill is not None:
            self._submit(act)

    def _submit(self, act: Act) -> None:
        self.submitted += 1
        skill = float(act.skill or 0.0)
        digest = self._know(checkpoint(f"weights-{self.told.seed}-{self.submitted}"), act.note)
        named = {"submit_id": self.submitted, "key": f"s{self.submitted}", "candidate": digest}
        count = self.told.tasks
        self.add(
            "submission.admitted", **named, request="r", position=[0, 1], tasks=list(range(count)), charge=count,
            remaining=None, at_s=self.clock,
        )  # fmt: skip
        self.clock += 3.0
        self.add("heartbeat", clock_s=self.clock)
        failure = {"category": "load_error", "message": act.crash, "traceback": "", "step_index": None}
        scores = [] if act.crash else self._scores(skill, 0)
        if scores:
            self.skills[digest], self.numbers[digest] = skill, self.submitted
            self.add("checkpoint.kept", digest=digest, path=f"checkpoints/{digest[:8]}", bytes=2_600_000)
        rows = [
            {"task": i, "score": score, "length": 1, "status": "ok", "failure": None} for i, score in enumerate(scores)
        ]
        self.add(
            "submission.completed", **named, status="load_error" if act.crash else "ok",
            failure=failure if act.crash else None, outcomes=rows, blob=None, seconds=3.0, invalid_steps=[0] * len(rows),
        )  # fmt: skip

    def _end(self, best: str) -> None:
        self.add("agent.ended", code=self.told.exit_code, reason="finished", seconds=self.clock)
        self.add("session.closed", reason="finished")
        self.add("baseline.scored", candidate=self.base, scores=self._scores(self.told.base, 0), view="graded")
        # A run in which nothing was graded is left with the base model, which is scored as the reference.
        judged = None if best == self.base else best
        self.add("judging.selected", submit_id=self.numbers.get(best), candidate=judged, reason="best graded mean")
        if judged is not None:
            scores = self._scores(self.skills[best], 1)
            many = {"lengths": [1] * len(scores), "statuses": ["ok"] * len(scores), "seconds": 1.0}
            self.add("judging.scored", view="heldout", candidate=best, submit_id=None, scores=scores, **many)
        self.add("reference.scored", name="base", view="heldout", scores=self._scores(self.told.base, 1))
        self.add("cases.judged", commitment="c" * 64)
        self.add("run.finished", status="finished")
