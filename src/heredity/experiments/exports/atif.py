"""Export to trajectories of ATIF, the Agent Trajectory Interchange Format (version 1.7), one for each conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from heredity import __version__
from heredity._core.errors import ConfigError
from heredity.experiments.exports.contract import Export, Exporter, Written
from heredity.experiments.exports.inspect_logs import arguments_of, file_name
from heredity.experiments.exports.reading import Attempt, RunReading, timestamp
from heredity.models import Image, Message

SCHEMA = "ATIF-v1.7"
_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}

Json = dict[str, Any]


def write(export: Export) -> Written:
    """Write the trajectories of all runs.

    Raises:
        ConfigError: if no rollout has a conversation.
    """
    written = Written()
    for run in export.runs(written):
        folder, without = export.out / file_name(run.id), 0
        for attempt in run.attempts():
            if not any(message.role == "assistant" for message in attempt.messages):
                without += 1
                continue
            folder.mkdir(exist_ok=True)
            name = f"{attempt.submission:05}-{attempt.position:05}-{file_name(attempt.task)}"
            shown = _Trajectory(run, attempt, folder, name)
            (folder / f"{name}.json").write_text(
                json.dumps(shown.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
            )
            written.files.append(f"{folder.name}/{name}.json")
            for note in shown.notes:
                written.leave_out(run.id, note)
        if without:
            written.leave_out(run.id, "rollouts without a model's reply")
    if not written.files:
        raise ConfigError(
            f"{export.source} has no conversations, and ATIF holds nothing else; export it with --to inspect or --to csv"
        )
    written.count(trajectories=len(written.files))
    return written


class _Trajectory:
    """One trajectory.

    Attributes:
        notes: what was left out.
    """

    def __init__(self, run: RunReading, attempt: Attempt, folder: Path, name: str) -> None:
        self._run, self._attempt, self._folder, self._name = run, attempt, folder, name
        self._images = 0
        self.notes: list[str] = []

    def to_json(self) -> Json:
        """Return the trajectory as JSON values."""
        run, attempt, used = self._run, self._attempt, self._attempt.used
        steps = list(self._steps(attempt.messages))
        tokens = {
            "total_prompt_tokens": "input_tokens",
            "total_completion_tokens": "output_tokens",
            "total_cached_tokens": "cached_tokens",
        }
        metrics: Json = {name: int(used[key]) for name, key in tokens.items() if key in used}
        if "cost_usd" in used:
            metrics["total_cost_usd"] = used["cost_usd"]
        about = {
            "task": attempt.task,
            "repeat": attempt.repeat,
            "submission": attempt.submission,
            "candidate": attempt.candidate,
            "status": attempt.status,
            "score": attempt.score,
            "seconds": attempt.seconds,
            "submission_started": timestamp(attempt.started),
            "submission_ended": timestamp(attempt.ended),
            "failure": attempt.failure["message"] if attempt.failure else None,
        }
        agent = {"name": f"heredity/{run.results.evolver.name}", "version": __version__, "model_name": run.entry}
        return {
            "schema_version": SCHEMA,
            "session_id": run.id,
            "trajectory_id": f"{run.id}/{self._name}",
            "agent": {**agent, "extra": {"protocol": run.results.protocol, "taskset": run.results.taskset}},
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
            "final_metrics": {**metrics, "total_steps": len(steps)},
            "extra": {key: value for key, value in about.items() if value is not None},
        }

    def _steps(self, messages: Sequence[Message]) -> Iterator[Json]:
        answered = {m.tool_call_id: m for m in messages if m.role == "tool"}
        placed = set[str]()
        for message in messages:
            if message.role in ("system", "user"):
                yield {"source": message.role, "message": self._content(message)}
            elif message.role == "assistant":
                step: Json = {"source": "agent", "message": message.content}
                if message.tool_calls:
                    own = [call for call in message.tool_calls if call.id not in placed]
                    placed.update(call.id for call in own)
                    step["tool_calls"] = [
                        {"tool_call_id": c.id, "function_name": c.name, "arguments": arguments_of(c.arguments)}
                        for c in own
                    ]
                    results = [
                        {"source_call_id": call.id, "content": self._content(answered[call.id])}
                        for call in own
                        if call.id in answered
                    ]
                    if results:
                        step["observation"] = {"results": results}
                yield step
            elif message.tool_call_id not in placed:
                self.notes.append("results of tools that no call asked for")

    def _content(self, message: Message) -> str | list[Json]:
        if not message.images:
            return message.content
        parts: list[Json] = [{"type": "text", "text": message.content}]
        return parts + [part for image in message.images if (part := self._picture(image)) is not None]

    def _picture(self, image: Image) -> Json | None:
        """Write a picture next to the trajectory."""
        suffix = _SUFFIXES.get(image.media_type)
        if suffix is None:
            self.notes.append(f"pictures of type {image.media_type}")
            return None
        path = self._folder / f"{self._name}-{self._images}.{suffix}"
        self._images += 1
        path.write_bytes(image.data)
        return {"type": "image", "source": {"media_type": image.media_type, "path": path.name}}


EXPORTER = Exporter("trajectories in the Agent Trajectory Interchange Format of Harbor", write)
