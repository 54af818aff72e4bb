"""Export to logs of Inspect (`.eval`, version 2), which `inspect view` shows and `read_eval_log` reads.

A run becomes one log of its search (`train.eval`: one sample for each rollout, `train/3#2` the second one at that task)
and one log for each judged candidate and reference (`VIEW-CANDIDATE.eval`: one sample for each hidden case). Conversations are
kept for rollouts of train tasks. Judging records scores and statuses only, so those samples have no messages.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from heredity import __version__
from heredity._core.ids import digest_json
from heredity.analysis.statistics import case_mean
from heredity.engine.trajectory import to_json
from heredity.experiments.exports.contract import Export, Exporter, Written
from heredity.experiments.exports.reading import TRAIN, Attempt, Judged, RunReading, timestamp
from heredity.models import Message
from heredity.results.run import RunStatus

LOG_VERSION = 2
SCORER = "score"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 100
_MOST_CHARS = 1000
"""Longest text in a summary."""

Json = dict[str, Any]


def write(export: Export) -> Written:
    """Write the logs of all runs."""
    written = Written()
    for run in export.runs(written):
        folder = export.out / file_name(run.id)
        folder.mkdir()
        if any(True for _ in run.attempts()):
            _write_log(folder / f"{TRAIN}.eval", run, TRAIN, _train_samples(run), None, written)
        names = set[str]()
        for judged in run.judged():
            name = f"{judged.view}-{judged.name}"
            while name in names:  # judged again
                name += "-again"
            names.add(name)
            _write_log(
                folder / f"{file_name(name)}.eval", run, judged.view, _judged_samples(run, judged), judged, written
            )
    written.files = sorted(str(path.relative_to(export.out)) for path in export.out.rglob("*.eval"))
    written.count(logs=len(written.files))
    return written


def file_name(name: str) -> str:
    """Return a name as that of a file or folder on any system; a long one is cut and gets its digest."""
    short = _UNSAFE.sub("-", name).strip("-.") or "run"
    return short if len(short) <= _LONGEST_NAME else f"{short[: _LONGEST_NAME - 9]}-{digest_json(name)[:8]}"


def _write_log(
    path: Path, run: RunReading, view: str, samples: Iterable[Json], judged: Judged | None, written: Written
) -> None:
    start = _start(run, view, judged)
    summaries: list[Json] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        ids: dict[str, None] = {}
        for sample in samples:
            ids.setdefault(sample["id"])
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _dumps(sample))
            summaries.append(_summary(sample))
        start["eval"]["dataset"] |= {"samples": len(ids), "sample_ids": list(ids)}
        start["eval"]["config"] = {"epochs": 1}
        log.writestr("_journal/start.json", _dumps(start))
        log.writestr("summaries.json", _dumps(summaries))
        log.writestr("header.json", _dumps({**start, **_conclusion(run, summaries, judged)}))
    written.count(samples=len(summaries))


def _start(run: RunReading, view: str, judged: Judged | None) -> Json:
    results, started = run.results, run.started
    key = digest_json([run.id, view, judged.candidate if judged else None, judged and judged.reference])
    evolver = results.evolver
    of_reference = judged is not None and judged.reference is not None
    solver = judged.reference if judged and judged.reference else str(evolver.name)
    options = {} if of_reference else dict(evolver.options)
    about = {
        "heredity": __version__,
        "protocol": results.protocol,
        "view": view,
        "candidate": judged.candidate if judged else None,
        "reference": judged.reference if judged else None,
        "selected": judged.selected if judged else None,
        "seed": results.seed,
        "organisation": results.organisation,
        "commitment": results.commitment,
        "config_digest": results.config_digest,
        "isolation": results.isolation,
        "conditions": results.conditions,
        "notes": results.notes,
        "higher_is_better": results.higher_is_better,
    }
    spec = {
        "eval_set_id": results.suite_id,
        "eval_id": key[:22],
        "run_id": run.id,
        "created": timestamp(run.events[0].at),
        "task": f"{results.taskset}.{view}",
        "task_id": digest_json([results.taskset, results.taskset_version, view])[:22],
        "task_version": str(results.taskset_version),
        "solver": solver,
        "solver_args": options,
        "dataset": {"name": f"{results.taskset} ({view})", "shuffled": False},
        "model": run.entry,
        "config": {},
        "packages": {"heredity": __version__, **(results.packages or {})},
        "metadata": about,
        "scorers": [{"name": SCORER, "metrics": [{"name": "mean"}, {"name": "stderr"}]}],
        "tags": [str(results.protocol), view, *started.get("labels", {}).values()],
    }
    step = {"solver": solver, "params": options}
    return {"version": LOG_VERSION, "eval": spec, "plan": {"name": str(evolver.kind), "steps": [step], "config": {}}}


_STATUSES = {RunStatus.FINISHED: "success", RunStatus.FAILED: "error", RunStatus.UNFINISHED: "started"}


def _conclusion(run: RunReading, summaries: Sequence[Json], judged: Judged | None) -> Json:
    results, times = run.results, run.results.times
    scores = [s["scores"][SCORER]["value"] for s in summaries if s["scores"]]
    errors = sum("error" in summary for summary in summaries)
    usage = _usage_total(run, summaries, judged)
    failure = results.evolver_failure
    conclusion: Json = {
        "status": _STATUSES[results.status],
        "results": {
            "total_samples": len(summaries),
            "completed_samples": len(summaries) - errors,
            "scores": [_score_row(scores, len(summaries), judged)] if scores else [],
        },
        "stats": {
            "started_at": times.started if times else "",
            "completed_at": (times.ended if times else None) or "",
            "model_usage": {run.entry: usage} if usage else {},
        },
    }
    if failure:
        text = {"message": failure.message, "traceback": failure.traceback, "traceback_ansi": failure.traceback}
        conclusion["error"] = text
    return conclusion


def _score_row(scores: Sequence[float], samples: int, judged: Judged | None) -> Json:
    """Return the mean of the known scores with its standard error; clusters are drawn together."""
    estimate = case_mean([[scores]], clusters=[judged.clusters] if judged and len(scores) == samples else None)
    metrics = {"mean": math.fsum(scores) / len(scores)}
    if estimate is not None and estimate.error is not None and math.isfinite(estimate.error):
        metrics["stderr"] = estimate.error
    return {
        "name": SCORER,
        "scorer": SCORER,
        "scored_samples": len(scores),
        "unscored_samples": samples - len(scores),
        "metrics": {name: {"name": name, "value": value} for name, value in metrics.items()},
    }


def _usage_total(run: RunReading, summaries: Sequence[Json], judged: Judged | None) -> Json:
    if judged is not None:
        return _usage(judged.usage)
    known = [usage for s in summaries for usage in s["model_usage"].values()]
    keys = dict.fromkeys(key for usage in known for key in usage)
    return {key: sum(usage[key] for usage in known) for key in keys if all(key in usage for usage in known)}


def _usage(used: Mapping[str, Any]) -> Json:
    """Return usage in Inspect's form; empty unless input and output are known. Cached input is counted apart there."""
    given, out, cached = (used.get(key) for key in ("input_tokens", "output_tokens", "cached_tokens"))
    if given is None or out is None:
        return {}
    read = int(cached or 0)
    usage: Json = {"input_tokens": int(given) - read, "output_tokens": int(out), "total_tokens": int(given) + int(out)}
    if cached is not None:
        usage["input_tokens_cache_read"] = read
    if used.get("cost_usd") is not None:
        usage["total_cost"] = float(used["cost_usd"])
    return usage


def _train_samples(run: RunReading) -> Iterator[Json]:
    lineage = run.lineage()
    for attempt in run.attempts():
        messages = attempt.messages
        reply = next((i for i, m in enumerate(messages) if m.role == "assistant"), len(messages))
        parents, note = lineage.get(attempt.candidate, ((), ""))
        expected, question = attempt.info("expected"), attempt.info("question")
        usage = _usage(attempt.used)
        sample = {
            # Epochs of Inspect are complete grids, and attempts are not: each is a sample of its own.
            "id": f"{attempt.task}#{attempt.repeat}",
            "epoch": 1,
            "input": question if isinstance(question, str) else _input(messages[:reply]) or attempt.task,
            "target": _target(expected),
            "messages": [_message(m, i, run.entry, reply) for i, m in enumerate(messages)],
            "output": _output(messages, run.entry, usage),
            "metadata": {
                "task": attempt.task,
                "repeat": attempt.repeat,
                "submission": attempt.submission,
                "position": attempt.position,
                "candidate": attempt.candidate,
                "parents": list(parents),
                "note": note,
                "status": attempt.status,
                "steps": attempt.length,
                **({"terminated": attempt.trajectory.terminated} if attempt.trajectory else {}),
            },
            "model_usage": {run.entry: usage} if usage else {},
            "started_at": timestamp(attempt.started),
            "completed_at": timestamp(attempt.ended),
            **({} if attempt.seconds is None else {"total_time": attempt.seconds, "working_time": attempt.seconds}),
            "uuid": digest_json([run.id, attempt.submission, attempt.position])[:22],
        }
        reason = attempt.info("reason")
        yield {**sample, **_scored(attempt.score, attempt.info("extracted"), reason), **_error(attempt)}


def _judged_samples(run: RunReading, judged: Judged) -> Iterator[Json]:
    for case, score in enumerate(judged.scores):
        status = judged.statuses[case] if judged.statuses else None
        sample = {
            "id": f"{judged.view}/{case}",
            "epoch": 1,
            "input": f"{run.results.taskset}, {judged.view} case {case}",
            "target": "",
            "messages": [],
            "output": {"model": run.entry, "choices": [], "completion": ""},
            "metadata": {
                "candidate": judged.candidate,
                "status": status,
                **({"cluster": judged.clusters[case]} if judged.clusters else {}),
                **({"steps": judged.lengths[case]} if judged.lengths else {}),
            },
            "model_usage": {},
            "completed_at": timestamp(judged.ended),
            "uuid": digest_json([run.id, judged.view, judged.name, case])[:22],
        }
        text = f"missing: {status}"
        error = {"error": {"message": text, "traceback": "", "traceback_ansi": ""}} if score is None else {}
        yield {**sample, **_scored(score, None, None), **error}


def _scored(score: float | None, answer: Any, why: Any) -> Json:
    if score is None:
        return {"scores": {}}
    texts = {"answer": None if answer is None else str(answer), "explanation": None if why is None else str(why)}
    return {"scores": {SCORER: {"value": score, **{key: text for key, text in texts.items() if text is not None}}}}


def _error(attempt: Attempt) -> Json:
    """Return the error of an attempt that is missing; failures of the candidate are scores with a status."""
    failure = attempt.failure
    if attempt.score is not None:
        return {}
    message = failure["message"] if failure else attempt.status
    trace = failure["traceback"] if failure else ""
    return {"error": {"message": f"{attempt.status}: {message}", "traceback": trace, "traceback_ansi": trace}}


def _target(expected: Any) -> str | list[str]:
    if expected is None:
        return ""
    if isinstance(expected, list | tuple):
        return [str(part) for part in expected]  # pyright: ignore[reportUnknownVariableType]
    return expected if isinstance(expected, str) else json.dumps(to_json(expected), ensure_ascii=False)


def _input(messages: Sequence[Message]) -> str:
    return "\n\n".join(m.content for m in messages if m.role == "user")


def _message(message: Message, index: int, model: str, first_reply: int) -> Json:
    shown: Json = {"id": f"m{index}", "role": message.role, "content": _content(message)}
    if message.role == "assistant":
        shown |= {"source": "generate", "model": model}
        if message.tool_calls:
            shown["tool_calls"] = [
                {"id": call.id, "function": call.name, "arguments": arguments_of(call.arguments), "type": "function"}
                for call in message.tool_calls
            ]
    elif message.role == "tool":
        shown["tool_call_id"] = message.tool_call_id
    elif index < first_reply:
        shown["source"] = "input"
    return shown


def _content(message: Message) -> str | list[Json]:
    if not message.images:
        return message.content
    images = [f"data:{i.media_type};base64,{base64.b64encode(i.data).decode()}" for i in message.images]
    return [{"type": "text", "text": message.content}, *({"type": "image", "image": data} for data in images)]


def arguments_of(text: str) -> dict[str, Any]:
    """Return the arguments of a tool call; text that is no JSON object is kept as `{"arguments": text}`."""
    with suppress(ValueError, RecursionError):
        value: Any = json.loads(text or "{}")
        if isinstance(value, dict):
            return value  # pyright: ignore[reportUnknownVariableType]
    return {"arguments": text}


def _output(messages: Sequence[Message], model: str, usage: Json) -> Json:
    last = next((i for i in reversed(range(len(messages))) if messages[i].role == "assistant"), None)
    if last is None:
        return {"model": model, "choices": [], "completion": ""}
    choice = {"message": _message(messages[last], last, model, last), "stop_reason": "stop"}
    output: Json = {"model": model, "choices": [choice], "completion": messages[last].content}
    return {**output, **({"usage": usage} if usage else {})}


_SUMMARISED = (
    "id",
    "epoch",
    "target",
    "scores",
    "model_usage",
    "started_at",
    "completed_at",
    "total_time",
    "working_time",
    "uuid",
)


def _summary(sample: Json) -> Json:
    plain = {key: sample[key] for key in _SUMMARISED if key in sample}
    metadata = {k: v for k, v in sample["metadata"].items() if isinstance(v, str | int | float | bool)}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    counts = {"message_count": len(sample["messages"]), "completed": True}
    return {**plain, "input": sample["input"][:_MOST_CHARS], "metadata": metadata, **error, **counts}


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


EXPORTER = Exporter("logs that `inspect view` opens", write)
