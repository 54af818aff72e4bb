"""The workspace of a post-training run: its layout, the host's status files, the agent's files, and copies of checkpoints."""

from __future__ import annotations

import asyncio
import io
import json
import math
import os
import shutil
import tarfile
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from heredity._core.errors import CandidateError, ConfigError, RecordError
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, candidate_of, inspect, snapshot
from heredity.kinds.checkpoint.tasks.contract import folder_name
from heredity.protocols.post_training.events import CHECKPOINT_DROPPED, CHECKPOINT_KEPT
from heredity.records import Event
from heredity.records.events import JUDGING_SELECTED
from heredity.records.journal import Line
from heredity.resources.tree import read_folder
from heredity.sandbox.agent_bubblewrap import INSIDE

PERCENT = 100.0
"""Factor of the server's scores, percentages as in the paper; those of metrics and journals are from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several tasks in a run's grading.

    Attributes:
        name: name of the task.
        task_indices: its items on the graded view.
        baseline: the base model's score on these, from 0 to 1.
    """

    name: str
    task_indices: range
    baseline: float


@dataclass(frozen=True, slots=True)
class TrainingTerms:
    """The terms of one run.

    Attributes:
        task: its name.
        level: `"L1"`, `"L2"` or `"L3"`.
        metric: name of the score.
        description: the task in Markdown.
        base_model: the base's name.
        base_folder: its folder on the host.
        base: its description.
        baseline: its score on the graded view (0 to 1).
        graded: number of graded items.
        timeout_s: wall seconds of the run; grading counts.
        mode: `"free"`, `"sft-only"`, `"rl-only"` or `"multi-task"`: the allowed routes, audited afterwards.
        parts: the tasks of a run of several; empty for one.
        gpus: the names of the GPUs reserved for the run.
        files: the files of the task's workspace, path to content.
    """

    task: str
    level: str
    metric: str
    description: str
    base_model: str
    base_folder: Path
    base: Checkpoint = field(repr=False)
    baseline: float
    graded: int
    timeout_s: float
    mode: str = "free"
    parts: tuple[Part, ...] = ()
    gpus: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)

    def __post_init__(self) -> None:
        if not self.timeout_s > 0:
            raise ConfigError(f"budget.seconds is {self.timeout_s}; give the wall seconds of a run")

    @property
    def model_folder(self) -> str:
        """The base's folder inside the workspace."""
        return f"models/{folder_name(self.base_model)}"

    def environment(self, workspace: str) -> dict[str, str]:
        """Return the environment variables of the run contract; the relay adds the server's address."""
        return {
            "TASK": self.task,
            "BASE_MODEL": self.base_model,
            "WORKSPACE": workspace,
            "MODEL_PATH": f"{workspace}/{self.model_folder}",
            "DATA_PATH": f"{workspace}/data",
            "OUTPUT_DIR": f"{workspace}/output",
        }

    def meta(self, progress: Mapping[str, Any]) -> dict[str, Any]:
        """Return `run_meta.json`."""
        return {
            "task": self.task,
            "level": self.level,
            "base_model": self.base_model,
            "metric": self.metric,
            "mode": self.mode,
            "timeout_s": self.timeout_s,
            "grading_counts": True,
            "graded_items": self.graded,
            "baseline_score": round(self.baseline * PERCENT, 4),
            **({"tasks": [part.name for part in self.parts]} if self.parts else {}),
            **({"gpus": list(self.gpus)} if self.gpus else {}),
            **progress,
        }

    def by_task(self, scores: Mapping[int, float]) -> dict[str, dict[str, float | None]]:
        """Return the percentages of each of several tasks: score, baseline_score and improvement.

        Args:
            scores: score from 0 to 1 by task index of the graded view; missing ones are NaN or absent, and left out.
        """
        percentages: dict[str, dict[str, float | None]] = {}
        for part in self.parts:
            own = [
                scores[task_index]
                for task_index in part.task_indices
                if not math.isnan(scores.get(task_index, math.nan))
            ]
            score = round(math.fsum(own) / len(own) * PERCENT, 4) if own else None
            base = round(part.baseline * PERCENT, 4)
            gained = None if score is None else round(score - base, 4)
            percentages[part.name] = {"score": score, "baseline_score": base, "improvement": gained}
        return percentages


def instructions(terms: TrainingTerms) -> str:
    """Return `instructions.md`: how a run works, independent of the task."""
    modes = {
        "free": "Any way of training is allowed.",
        "sft-only": "In this run only supervised fine-tuning is allowed; the code that ran is audited.",
        "rl-only": "In this run the model may be trained by reinforcement learning only; the code that ran is audited.",
        "multi-task": "Any way of training is allowed. One checkpoint is to do well at all of the tasks.",
    }
    several = ", and `tasks` with the same of each task" if terms.parts else ""
    return f"""# Make a model better at {f"{len(terms.parts)} tasks" if terms.parts else "a task"}

`description.md` says what the task is. The base model is in `{terms.model_folder}/` (also `$MODEL_PATH`), data to train on
in `data/` (`$DATA_PATH`). Write code in `code/`, run it here, save checkpoints below `output/` (`$OUTPUT_DIR`), and have them
graded. You have **{terms.timeout_s:.0f} seconds** of wall time in all; grading counts. {modes[terms.mode]}

## Grading

```
curl -s -X POST "$GRADING_SERVER_URL/submit" -H 'content-type: application/json' -d '{{"model_path": "'$OUTPUT_DIR'/final"}}'
curl -s "$GRADING_SERVER_URL/time"
```

A checkpoint is a folder as `save_pretrained` writes it: config.json, safetensors, tokenizer files. It has to have the base's
architecture and tokenizer, and be inside the workspace, without links. A LoRA adapter is merged. No code of yours runs in grading.
The answer has `score` (0 to 100, {terms.metric}, on {terms.graded} items that are not in `data/`), `baseline_score` (the base
model's: {terms.baseline * PERCENT:.2f}), `improvement` and `best`{several}.

Submit as often as you like: the best score counts, and the best checkpoint is afterwards tried on items that no answer was ever
about. One checkpoint is graded at a time; the same one is not graded twice.{_own_gpus(terms)}

## Folders

| path | what it is |
|---|---|
| `code/` | your code; every version of it is kept |
| `output/` | your checkpoints |
| `models/`, `data/`, `description.md`, `instructions.md` | given, read-only |
| `scores.json`, `run_meta.json`, `reports/` | what the host knows of the run, read-only |
"""


def _own_gpus(terms: TrainingTerms) -> str:
    if not terms.gpus:
        return ""
    names = ", ".join(terms.gpus)
    return f"\n\nThis run has the GPUs {names} to itself, to train on and, where `gpu` of a submission names one, to grade on."


def host_files(names: Sequence[str]) -> tuple[str, ...]:
    """Return the top-level names that the host has written into a workspace."""
    return tuple(dict.fromkeys(name.partition("/")[0] for name in names))


Note = Callable[[Line], Awaitable[None]]
"""Journals an event."""


FOLDER = "models"
"""Folder of a run's checkpoints."""


def selected_weights(folder: Path, events: Sequence[Event]) -> Mapping[str, Path]:
    """Return the files of a run's final checkpoint, by name; empty if its weights are not kept.

    Args:
        folder: the run's folder.
        events: its journal.
    """
    selected = {data["candidate"] for data in JUDGING_SELECTED.all(events)}
    for kept in CHECKPOINT_KEPT.all(events):
        weights = folder / FOLDER / kept["digest"]
        if kept["candidate"] in selected and weights.is_dir():
            return {str(path.relative_to(weights)): path for path in weights.rglob("*") if path.is_file()}
    return {}


class KeptCheckpoints:
    """The checkpoints of one run, each in a folder named by its digest.

    Attributes:
        root: their folder, inside the run's.
    """

    def __init__(self, root: Path, note: Note, noted: Collection[str] = ()) -> None:
        """Keep checkpoints under `root`.

        Args:
            root: the folder.
            note: journals kept and dropped checkpoints.
            noted: digests of candidates already recorded as kept.
        """
        self.root, self._note, self._noted = root, note, set(noted)
        self._there: dict[str, Checkpoint] = {}

    def find(self) -> None:
        """Find the weights left by an earlier process, and remove incomplete copies."""
        self.tidy()
        for folder in self.root.glob("*"):
            try:
                self._learn(inspect(folder))
            except CandidateError:
                shutil.rmtree(folder, ignore_errors=True)

    def of(self, candidate: str) -> Checkpoint | None:
        """Return the checkpoint of a candidate, by the candidate's digest; None if its weights are not stored."""
        return self._there.get(candidate)

    def keep(self, folder: Path, checkpoint: Checkpoint, base: Path) -> None:
        """Keep a checkpoint until it is known whether it is the best: a merged one is moved, any other is copied.

        Raises:
            CandidateError: if it changes while it is copied.
            RecordError: if the disk is full or fails.
        """
        try:
            target = self.root / checkpoint.digest
            if not folder.is_relative_to(self.root):
                snapshot(folder, self.root, checkpoint, base)
            elif not target.is_dir():
                folder.rename(target)
        except OSError as error:
            raise RecordError(f"the checkpoint cannot be kept in {self.root}: {error.strerror}") from error
        self._learn(checkpoint)

    def fresh_folder(self) -> Path:
        """Return an unused path under the root, removed by `tidy`.

        Raises:
            RecordError: if the root cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=".merging-", dir=self.root)) / "merged"
        except OSError as error:
            raise RecordError(f"{self.root} cannot be written: {error.strerror}") from error

    async def keep_best(self, best: str | None) -> None:
        """Journal that the best checkpoint is kept and delete the weights of all others.

        Args:
            best: digest of the best candidate so far, if there is one.
        """
        checkpoint = self._there.get(best or "")
        if best and checkpoint and best not in self._noted:
            self._noted.add(best)
            await self._note(
                CHECKPOINT_KEPT.line({"digest": checkpoint.digest, "candidate": best, "bytes": checkpoint.bytes})
            )
        for candidate in [other for other in self._there if other != best]:
            await self.drop(candidate, "another one is better" if best else "it has no score")

    async def drop(self, candidate: str, why: str) -> None:
        """Delete the weights of a candidate; its digest and metadata stay in the journal."""
        digest = self._there.pop(candidate).digest
        await asyncio.to_thread(shutil.rmtree, self.root / digest, True)
        await self._note(CHECKPOINT_DROPPED.line({"digest": digest, "candidate": candidate, "why": why}))

    def tidy(self) -> None:
        """Remove merged and partially copied checkpoints."""
        for leftover in self.root.glob(".*"):
            shutil.rmtree(leftover, ignore_errors=True)

    def _learn(self, checkpoint: Checkpoint) -> None:
        self._there[candidate_of(checkpoint).digest] = checkpoint


_STATUS = "status"
_LINKS = {name: f"{_STATUS}/{name}" for name in ("scores.json", "run_meta.json", "reports")}
_MAX_CODE_BYTES = 32 << 20
_MAX_CODE_FILES = 2000


class TrainingWorkspace:
    """The folder an agent trains in.

    While the agent works, the host writes to the folder `status`, where files are replaced whole; the usual names at the top are
    links to it. The agent owns everything else, so the host follows no link there.
    """

    def __init__(self, root: Path, terms: TrainingTerms) -> None:
        """Describe a workspace; `prepare` writes it."""
        self.root, self.terms = root, terms
        self.host_files = (_STATUS, "models", *host_files(sorted(self._task_files())))

    def prepare(self) -> None:
        """Create the workspace. The host's files are rewritten; the agent's files are kept.

        Raises:
            RecordError: if it cannot be written.
            ConfigError: if two files of the task conflict.
        """
        try:
            for name in ("", "code", "output", _STATUS, f"{_STATUS}/reports", "models"):
                _make_folder(self.root / name)
            for path, content in self._task_files().items():
                _write(self.root / _relative(path), content)
            target = self.root / self.terms.model_folder
            if not target.exists():
                _copy_model(self.terms.base_folder, target)
            for name, link in _LINKS.items():
                if not os.path.lexists(self.root / name):
                    (self.root / name).symlink_to(link)
        except OSError as error:
            raise RecordError(f"the workspace {self.root} cannot be written: {error}") from error

    def write_status(self, name: str, value: Any) -> None:
        """Replace a JSON file that the agent may read.

        Raises:
            RecordError: if it cannot be written.
        """
        self.write_text(name, json.dumps(value, indent=1, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Replace a text file of the folder `status`. Raises as `write_status`."""
        try:
            _write(self.root / _STATUS / name, text.encode())
        except OSError as error:
            raise RecordError(f"{name} cannot be written to {self.root}: {error}") from error

    def submitted(self, model_path: str) -> Path:
        """Return the host's path for an agent's path.

        Raises:
            CandidateError: if it is outside the workspace.
        """
        pure = PurePosixPath(model_path)
        for root in (INSIDE, str(self.root)):
            if pure.is_relative_to(root):
                pure = pure.relative_to(root)
                break
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise CandidateError(
                f"{model_path:.200} is not inside the workspace; save the checkpoint below output/ and give its path"
            )
        return self.root / pure

    def code(self) -> tuple[Mapping[str, bytes], Sequence[str]]:
        """Return the files of `code/` (empty without this folder), and the reasons for leaving others out.

        Links, special files, odd names and files beyond the limits are left out.

        Raises:
            ConfigError: if the folder cannot be read.
        """
        left_out: list[str] = []
        try:
            files = read_folder(
                self.root / "code", max_bytes=_MAX_CODE_BYTES, max_files=_MAX_CODE_FILES, left_out=left_out
            )
        except FileNotFoundError:
            return {}, ()
        except OSError as error:
            raise ConfigError(f"code/ cannot be read ({error.strerror}); make its files readable") from error
        return files, left_out

    def _task_files(self) -> dict[str, bytes]:
        terms = self.terms
        own = {"description.md": terms.description.encode(), "instructions.md": instructions(terms).encode()}
        return {**terms.files, **own}


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return files as a reproducible tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def names_of(files: Mapping[str, bytes]) -> Sequence[str]:
    """Return the names of files, sorted."""
    return sorted(files)


def _relative(path: str) -> PurePosixPath:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise ConfigError(f"the task has the file {path!r}; expected a path inside the workspace")
    return pure


def _make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or not path.is_dir():
        raise ConfigError(f"{path} is not a folder; remove it")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A rename replaces a link instead of following it.
    descriptor, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        os.fchmod(descriptor, 0o644)
    os.rename(name, path)


def _copy_model(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=target.parent))
    part.chmod(0o755)
    for file in sorted(source.iterdir()):
        if file.is_file():
            shutil.copy2(file, part / file.name)
    part.rename(target)
