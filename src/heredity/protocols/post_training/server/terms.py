"""Information given to an agent about its post-training run (Agent² RL-Bench, section 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint
from heredity.kinds.checkpoint.tasks.contract import folder_name

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
        baseline: its score on the graded view, from 0 to 1.
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
