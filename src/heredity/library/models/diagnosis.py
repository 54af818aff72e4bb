"""Diagnosis of rollouts by `offline/harness-writer`: lacked lessons, from reports and the output of verifiers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from heredity.library.models.lessons import BRIEF, LESSONS, TABLES, lessons_in, read_report

_MIDDLEWARE = re.compile(r"middleware/[\w-]+\.py")


@dataclass(frozen=True, slots=True)
class Finding:
    """Diagnosis of one rollout.

    Attributes:
        task: its train task index; None if unknown.
        solved: whether its score is 1.
        lacked: lessons it lacked, the likeliest cause first.
        heeded: lessons it applied.
    """

    task: int | None
    solved: bool
    lacked: tuple[str, ...]
    heeded: tuple[str, ...]


def finding(item: Mapping[str, Any], rng: np.random.Generator) -> Finding:
    """Return the diagnosis of an item of evidence.

    The report lists assumptions, but not the harmful ones. The output of the verifier or the programs may reveal them;
    otherwise chance decides which is blamed first.
    """
    report = "\n".join(str(item[key]) for key in ("summary", "transcript", "answer") if item.get(key))
    lacked, heeded = read_report(report)
    signs = f"{item.get('error') or ''}\n{report}"
    chance = dict(zip(lacked, rng.random(len(lacked)).tolist(), strict=True))
    # What is told for certain comes first: the swamped worker cannot have heeded anything, and sorting in vain is its own sign.
    certain = {name for name in lacked if name in (BRIEF, "order") or _signed(name, signs)}
    ranked = sorted(lacked, key=lambda name: (name not in certain, chance[name]))
    task = item.get("task")
    solved = (item.get("score") or 0.0) >= 1.0
    return Finding(task if isinstance(task, int) else None, solved, tuple(ranked), tuple(heeded))


def findings(block: Mapping[str, Any], rng: np.random.Generator) -> list[Finding]:
    """Return the diagnoses of all items of a request's evidence."""
    items = cast(Sequence[Mapping[str, Any]], block.get("evidence") or ())
    return [finding(item, rng) for item in items]


def blamed(diagnosed: Sequence[Finding]) -> dict[str, list[int]]:
    """Return the lessons that failed rollouts lacked, with their tasks, the most blamed first."""
    weights: dict[str, float] = {}
    tasks: dict[str, list[int]] = {}
    for diagnosis in diagnosed:
        if diagnosis.solved:
            continue
        for rank, name in enumerate(diagnosis.lacked):
            weights[name] = weights.get(name, 0.0) + 1 / (rank + 1)
            tasks.setdefault(name, []).extend([diagnosis.task] if diagnosis.task is not None else [])
    return {name: sorted(set(tasks[name])) for name in sorted(weights, key=lambda name: -weights[name])}


def broken_middleware(block: Mapping[str, Any]) -> list[str]:
    """Return the variables of failing middleware, as named by contract violations."""
    items = cast(Sequence[Mapping[str, Any]], block.get("evidence") or ())
    errors = [str(item.get("error") or "") for item in items]
    files = [name for error in errors if "ContractError" in error for name in _MIDDLEWARE.findall(error)]
    return [f"agent/solver:{name}" for name in dict.fromkeys(files)]


def taught(names: Sequence[str]) -> list[str]:
    """Return the lessons that words can teach."""
    return [name for name in names if name not in (TABLES, BRIEF)]


def gepa_block(question: str) -> Mapping[str, Any] | None:
    """Read the `gepa` package's request: the text to rewrite, and its examples as evidence; None for other requests."""
    parts = question.split("\n```\n")
    start = next((i for i, part in enumerate(parts) if part.startswith("# Example 1\n")), None)
    if start is None:
        return None
    current = question[: question.index("\n```\n# Example 1\n")].partition("```\n")[2].rpartition("\n```\n")[0]
    items: list[dict[str, Any]] = []
    for example in re.split(r"^# Example \d+$", "\n".join(parts[start:]), flags=re.MULTILINE)[1:]:
        sections = dict(re.findall(r"^## (\w[\w ]*)\n(.*?)(?=^## |\Z)", example, re.MULTILINE | re.DOTALL))
        feedback = str(sections.get("Feedback", ""))
        score = re.search(r"Score: ([\d.]+)", feedback)
        output = sections.get("Generated Outputs", "")
        items.append({"transcript": output, "error": feedback, "score": float(score[1]) if score else None})
    return {"current": current, "evidence": items}


def taught_in(texts: Mapping[str, str]) -> frozenset[str]:
    """Return the lessons that a harness's texts teach: prompts and memories by words, other parts by kind."""
    words = "\n".join(text for name, text in texts.items() if name.startswith(("prompt/", "memory/")))
    programs = {TABLES} if any(name.startswith("tool/tables:") for name in texts) else set[str]()
    programs |= {BRIEF} if "agent/solver:middleware/brief.py" in texts else set()
    return lessons_in(words.replace("\\n", "\n")) | programs


def is_rejected(rejected: Any, variable: str) -> bool:
    """Return True if an edit of a variable is among the rejected proposals."""
    return variable in json.dumps(rejected or [])


def _signed(name: str, text: str) -> bool:
    return any(re.search(sign, text) for sign in LESSONS[name].signs)
