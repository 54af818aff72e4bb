"""Training data from a run's conversations: its rollouts on train tasks, never those of judging."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from heredity._core.errors import ConfigError, RecordError
from heredity._core.ids import digest_json
from heredity.engine.question_runner import conversation_of
from heredity.engine.trajectory import decode_many
from heredity.models import Message
from heredity.records import BlobStore, load_config, read_journal
from heredity.records.events import SUBMISSION_COMPLETED

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rollout:
    """One rollout of a train task, as training data.

    Attributes:
        task: the task, `"train/3"`.
        candidate: digest of the candidate.
        score: score of the rollout, higher is better.
        contexts: the model's inputs and replies, as messages of the chat format. Most rollouts have one context; each
            new system message of a program starts another.
    """

    task: str
    candidate: str
    score: float
    contexts: tuple[list[Row], ...]

    @property
    def about(self) -> Row:
        """Return the origin fields of every row."""
        return {"score": self.score, "task": self.task, "candidate": self.candidate}


def rollouts_of(folder: Path) -> list[Rollout]:
    """Return a run's rollouts of train tasks that have a conversation, in order, without duplicates.

    Missing rollouts, due to a provider or this host, are excluded.

    Raises:
        ConfigError: if the run has no conversations: it consists of episodes, or has no rollout yet.
        RecordError: if its records cannot be read; DamagedRecordError if they are damaged.
    """
    blobs, unique = BlobStore(folder / "blobs"), dict[str, Rollout]()
    for event in read_journal(folder / "journal.jsonl"):
        if event.kind != SUBMISSION_COMPLETED.name or event.data["blob"] is None:
            continue
        trajectories = decode_many(blobs.get(event.data["blob"]))
        if any("messages" not in trajectory.columns for trajectory in trajectories):
            break
        for outcome, trajectory in zip(event.data["outcomes"], trajectories, strict=True):
            contexts = tuple(_contexts(conversation_of(trajectory)))
            if outcome["score"] is None or not contexts:
                continue
            rollout = Rollout(trajectory.task_id, trajectory.candidate, float(outcome["score"]), contexts)
            unique.setdefault(digest_json([rollout.about, contexts]), rollout)
    if not unique:
        raise ConfigError(
            f"{folder} has no conversations to train on; they come from rollouts at questions (docs/tracing.md)"
        )
    return list(unique.values())


def model_of(folder: Path) -> str | None:
    """Return the model that a run's candidates conversed with, by its configured name; None if not configured."""
    try:
        return load_config(folder).get("gateway", {}).get("execution") or None
    except RecordError:
        return None


def sft_rows(rollouts: Sequence[Rollout], model: str | None, min_score: float = 1.0) -> list[Row]:
    """Return conversations worth imitating: `{"messages", "score", "task", "candidate", "model"}`, each once.

    Args:
        rollouts: rollouts of a run.
        model: the model that answered in them.
        min_score: minimum score; rollouts below it are excluded.
    """
    rows: dict[str, Row] = {}
    for rollout in rollouts:
        for context in rollout.contexts if rollout.score >= min_score else ():
            rows.setdefault(digest_json(context), {"messages": context, **rollout.about, "model": model})
    return list(rows.values())


def rl_rows(rollouts: Sequence[Rollout], model: str | None) -> list[Row]:
    """Return one row for each reply: `{"prompt", "completion", "reward", "task", "candidate", "model"}`.

    The prompt is the conversation so far, the reward the score of the whole rollout.
    """
    return [
        {
            "prompt": context[:index],
            "completion": [message],
            "reward": rollout.score,
            "task": rollout.task,
            "candidate": rollout.candidate,
            "model": model,
        }
        for rollout in rollouts
        for context in rollout.contexts
        for index, message in enumerate(context)
        if message["role"] == "assistant"
    ]


def preference_rows(rollouts: Sequence[Rollout], model: str | None) -> list[Row]:
    """Return pairs of rollouts of the same task with different scores: `{"chosen", "rejected", …}`.

    Each rollout that is not among the best of its task is paired with one of the best, if possible with one that has
    the same prompt (`same_prompt`). Rollouts with several contexts are excluded.
    """
    by_task: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        if len(rollout.contexts) == 1:
            by_task.setdefault(rollout.task, []).append(rollout)
    return [row for group in by_task.values() for row in _pairs(group, model)]


def _pairs(group: Sequence[Rollout], model: str | None) -> Iterator[Row]:
    top = max(rollout.score for rollout in group)
    best = [rollout for rollout in group if rollout.score == top]
    for worse in (rollout for rollout in group if rollout.score < top):
        alike = [better for better in best if _prompt(better) == _prompt(worse)]
        better = (alike or best)[0]
        yield {
            "chosen": better.contexts[0],
            "rejected": worse.contexts[0],
            "chosen_score": better.score,
            "rejected_score": worse.score,
            "same_prompt": bool(alike),
            "task": worse.task,
            "candidates": [better.candidate, worse.candidate],
            "model": model,
        }


def _prompt(rollout: Rollout) -> list[Row]:
    context = rollout.contexts[0]
    return context[: next(index for index, message in enumerate(context) if message["role"] == "assistant")]


FORMS: Mapping[str, Callable[[Sequence[Rollout], str | None], list[Row]]] = MappingProxyType(
    {"sft": sft_rows, "rl": rl_rows, "preference": preference_rows}
)
"""Forms of training data: name to the function that makes the rows."""


def _contexts(messages: Sequence[Message]) -> Iterator[list[Row]]:
    context: list[Row] = []
    before = ""
    for message in messages:
        if message.role == "system" and before not in ("", "system"):
            if _replied(context):
                yield context
            context = []
        # Two replies in a row: the program wrote the second.
        if not (message.role == before == "assistant"):
            context.append(_chat(message))
        before = message.role
    if _replied(context):
        yield context


def _replied(context: Sequence[Row]) -> bool:
    return any(message["role"] == "assistant" for message in context)


def _chat(message: Message) -> Row:
    """Return a message in the chat format that trainers and providers share."""
    row: Row = {"role": message.role, "content": message.content}
    if message.images:
        shown = [f"data:{i.media_type};base64,{base64.b64encode(i.data).decode()}" for i in message.images]
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in shown]
        row["content"] = [{"type": "text", "text": message.content}, *pictures]
    if message.tool_calls:
        row["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        row["tool_call_id"] = message.tool_call_id
    return row
