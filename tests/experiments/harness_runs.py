"""Small suites of harness evolution on questions, with offline models, and what must be equal between two of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from heredity._core.ids import canonical_json, digest_json
from heredity.configuration.config import Config
from heredity.experiments.config import resolve
from heredity.experiments.results import rebuild_run
from heredity.experiments.sealed import sealed_folder
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.records import read_journal
from heredity.session.cases import FILE_NAME

QUESTIONS = "questions/mix/reasoning-gym/gcd+reasoning-gym/lcm"
FAR = "questions/mix/reasoning-gym/spell_backward+reasoning-gym/chain_sum"
ENTROPY = 3
"""The last harness is then the best on validation."""


def config(**changes: dict[str, Any]) -> Config:
    """A run of a second or two; sections are merged into it."""
    data: dict[str, dict[str, Any]] = {
        "run": {"protocol": "harness-evolution", "tasksets": [QUESTIONS], "ood": [FAR], "name": "h"},
        "evolver": {"method": "refine"},
        "budget": {"train_cases": 6},
        "schedule": {"batch_size": 3},
        "views": {"validation": 4, "heldout": 6, "ood": 5, "replay": 4},
        "gateway": {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"},
        "suite": {"baselines": False},
    }
    for name, section in changes.items():
        data[name] = {**data.get(name, {}), **section}
    return resolve(data)


def seal(folder: Path, entropy: int = ENTROPY) -> None:
    """Give a new suite hidden cases that are the same every time, so that what is learned from them is too."""
    secret = {"schema_version": 1, "entropy": f"{entropy:064x}", "salt": "5a" * 32}
    sealed_folder(folder).mkdir(parents=True, exist_ok=True)
    (sealed_folder(folder) / FILE_NAME).write_bytes(canonical_json({**secret, "check": digest_json(secret)}))


def ran(folder: Path, chosen: Config | None = None, entropy: int = ENTROPY) -> SuiteResult:
    """Run or continue a suite."""
    if not sealed_folder(folder).exists():
        seal(folder, entropy)
    return asyncio.run(run_suite(folder, open_suite(folder, chosen)))


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [dict(e.data) for e in read_journal(folder / "journal.jsonl") if e.kind == kind]


def assessed(folder: Path) -> dict[tuple[str, str], list[float | None]]:
    """Return the scores of every judgement under the run's own model: by view and candidate."""
    return {(e["view"], e["candidate"]): e["scores"] for e in events(folder, "snapshot.assessed") if e["model"] is None}


def contents(*folders: Path) -> dict[str, str]:
    """Return every file below some folders with what it holds."""
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in _files(folders)}


def _files(folders: Iterable[Path]) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def facts(run: Path) -> dict[str, Any]:
    """Return what must be equal between a run that was interrupted and one that was not."""
    harness = rebuild_run(run).model_dump(mode="json")["part"]
    made = events(run, "submission.completed")
    return {
        "batches": [(e["number"], e["tasks"], e["candidate"]) for e in events(run, "batch.started")],
        "charges": [(e["submit_id"], e["key"], e["candidate"], e["tasks"]) for e in events(run, "submission.admitted")],
        "outcomes": sorted((e["submit_id"], [(o["task"], o["score"]) for o in e["outcomes"]]) for e in made),
        "decisions": [(e["candidate"], e["accepted"], e["reason"]) for e in events(run, "candidate.decided")],
        "calls": sorted((e["request"], e["place"]) for e in events(run, "model.called")),
        "points": events(run, "snapshots.frozen"),
        "judged": sorted((e["view"], e["candidate"], e["scores"]) for e in events(run, "snapshot.assessed")),
        "rows": harness["rows"],
        "tokens": {part: harness["costs"][part]["tokens"] for part in ("rollout", "update")},
        "finished": events(run, "run.finished"),
    }
