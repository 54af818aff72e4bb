"""Export to records of Every Eval Ever (schema 0.3.0), in the layout of its datastore: `data/COLLECTION/DEVELOPER/MODEL/`.

A finished run becomes one aggregate record: the scores of its final candidate on each hidden view, with intervals. Where
scores are shares, a file of samples has the score of each case. What was evaluated is the execution model, or the
evolver where no language model is called.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from heredity import __version__
from heredity._core.errors import ConfigError
from heredity._core.ids import canonical_json, digest_json
from heredity.analysis.samples import share
from heredity.analysis.statistics import CONFIDENCE, case_mean
from heredity.experiments.exports.contract import Export, Exporter, Written
from heredity.experiments.exports.inspect_logs import file_name
from heredity.experiments.exports.reading import Judged, RunReading
from heredity.experiments.results import metrics_of

SCHEMA = "0.3.0"

Json = dict[str, Any]


def write(export: Export) -> Written:
    """Write the records of all finished runs.

    Raises:
        ConfigError: if nobody says who ran the evaluation, or no run was judged.
    """
    written = Written()
    for run in export.runs(written):
        judged = [one for one in run.judged() if one.selected and any(score is not None for score in one.scores)]
        if not judged:
            written.leave_out(run.id, "the run: its final candidate has no score on hidden cases")
            continue
        organisation = export.organisation or run.results.organisation
        if not organisation:
            raise ConfigError(
                "Every Eval Ever asks who ran an evaluation; give --organisation NAME, or set run.organisation in the configuration"
            )
        _write(run, judged, organisation, export.out, written)
    if not written.files:
        raise ConfigError(f"{export.source} has no judged run to export: {'; '.join(written.notes)}")
    return written


def _write(run: RunReading, judged: Sequence[Judged], organisation: str, out: Path, written: Written) -> None:
    folder = Path("data", _component(str(run.results.taskset)), *_model_id(run).split("/"))
    name = uuid.UUID(digest_json([run.id, run.results.commitment])[:32], version=4)
    record = _record(run, judged, organisation)
    shares = [one for one in judged if _bounds(run, one) is not None]
    lines = [row for one in shares for row in _samples(run, one, record)]
    missing = sum(score is None for one in shares for score in one.scores)
    if missing:
        written.leave_out(run.id, "missing scores: a sample needs a score")
    if len(shares) < len(judged):
        written.leave_out(run.id, "samples: they are right or wrong, and these scores are no shares")
    (out / folder).mkdir(parents=True, exist_ok=True)
    if lines:
        path = folder / f"{name}_samples.jsonl"
        data = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines).encode()
        (out / path).write_bytes(data)
        checksum = hashlib.sha256(data).hexdigest()
        about = {"format": "jsonl", "file_path": path.as_posix(), "total_rows": len(lines)}
        record["detailed_evaluation_results"] = {**about, "hash_algorithm": "sha256", "checksum": checksum}
        written.files.append(path.as_posix())
    path = folder / f"{name}.json"
    (out / path).write_text(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    written.files.append(path.as_posix())
    written.count(records=1, samples=len(lines))


def _component(name: str) -> str:
    """Return a name as a portable part of a path; `data` is reserved."""
    short = file_name(name)
    return f"{short}-set" if short.lower() == "data" else short


def _model_id(run: RunReading) -> str:
    """Return the model as `DEVELOPER/MODEL`, which are names of folders."""
    developer, _, model = run.entry.rpartition("/")
    return f"{_component(developer or 'unknown')}/{_component(model)}"


def _texts(**values: Any) -> dict[str, str]:
    """Return known values as texts, which is all that additional details hold."""
    return {
        key: value if isinstance(value, str) else canonical_json(value).decode()
        for key, value in values.items()
        if value not in (None, "", [], {})
    }


def _record(run: RunReading, judged: Sequence[Judged], organisation: str) -> Json:
    results, times = run.results, run.results.times
    model = _model_id(run)
    what = "language model" if run.model else "evolver; its candidates call no language model"
    timestamp = {"evaluation_timestamp": times.ended} if times and times.ended else {}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{results.taskset}/{run.entry}/{run.id}/{times.started if times else ''}",
        **timestamp,
        "retrieved_timestamp": str(int(time.time())),
        "source_metadata": {
            "source_name": "Heredity",
            "source_type": "evaluation_run",
            "source_organization_name": organisation,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "heredity",
            "version": __version__,
            "additional_details": _texts(packages=results.packages),
        },
        "model_info": {
            "name": run.entry,
            "id": model,
            "developer": model.split("/")[0],
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                **_texts(evaluated=what, evolver=results.evolver.name, stand_ins=results.stand_ins),
            },
        },
        "evaluation_results": [_result(run, one) for one in judged],
    }


def _bounds(run: RunReading, judged: Judged) -> tuple[float, float] | None:
    """Return the bounds of scores that are shares; None for returns."""
    known = [score for score in judged.scores if score is not None]
    return (0.0, 1.0) if share(known) and not metrics_of(run.results.protocol).returns else None


def _result(run: RunReading, judged: Judged) -> Json:
    results, bounds = run.results, _bounds(run, judged)
    known = [score for score in judged.scores if score is not None]
    scores = [float("nan") if score is None else score for score in judged.scores]
    estimate = case_mean([[scores]], bounds=bounds, clusters=[judged.clusters or None])
    assert estimate is not None  # it has a score
    uncertainty: Json = {"num_samples": len(known)}
    if estimate.error is not None:
        uncertainty["standard_error"] = {"value": estimate.error, "method": "analytic"}
    if estimate.interval is not None:
        low, high = estimate.interval
        method = "hull of Student's t and bootstrap-t" + (", by cluster" if estimate.clusters else "")
        uncertainty["confidence_interval"] = {
            "lower": low, "upper": high, "confidence_level": CONFIDENCE, "method": method
        }  # fmt: skip
    reference = results.reference
    details = _texts(
        candidate=judged.candidate,
        missing=len(judged.scores) - len(known) or None,
        reference=reference.name if reference else None,
        reference_mean=reference.heldout_mean if reference and judged.view == "heldout" else None,
    )
    low, high = bounds or ("-Infinity", "Infinity")
    return {
        "evaluation_result_id": f"{run.id}:{judged.view}",
        "evaluation_name": f"{results.taskset}.{judged.view}",
        "source_data": {
            "dataset_name": str(results.taskset),
            "source_type": "other",
            "additional_details": _texts(
                taskset_version=results.taskset_version, commitment=results.commitment, view=judged.view
            ),
        },
        "metric_config": {
            "evaluation_description": f"mean score on the hidden cases of the view {judged.view}",
            "metric_id": f"heredity.{results.protocol}.mean-score",
            "metric_name": "mean score" if bounds else "mean return",
            "metric_kind": "mean_score",
            "metric_unit": "proportion" if bounds else "points",
            "lower_is_better": not results.higher_is_better,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
        },
        "score_details": {"score": estimate.mean, "details": details, "uncertainty": uncertainty},
        "generation_config": {
            "additional_details": _texts(
                protocol=results.protocol,
                evolver=results.evolver.name,
                options=results.evolver.options,
                seed=results.seed,
                episodes_used=results.budget.used,
                submissions=results.budget.submissions,
                conditions=results.conditions,
                config_digest=results.config_digest,
                isolation=results.isolation,
            )
        },
    }


def _samples(run: RunReading, judged: Judged, record: Json) -> Iterator[Json]:
    """Yield the samples of a view. Judging keeps scores, not conversations, so questions and replies are not part of them."""
    for case, score in enumerate(judged.scores):
        if score is None:
            continue
        yield {
            "schema_version": SCHEMA,
            "evaluation_id": record["evaluation_id"],
            "model_id": record["model_info"]["id"],
            "evaluation_name": f"{run.results.taskset}.{judged.view}",
            "evaluation_result_id": f"{run.id}:{judged.view}",
            "sample_id": f"{judged.view}/{case}",
            "interaction_type": "single_turn",
            "input": {"raw": f"{run.results.taskset}, {judged.view} case {case}: not recorded", "reference": []},
            "output": {"raw": []},
            "messages": None,
            "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score >= 1.0},
            "metadata": _texts(
                status=judged.statuses[case] if judged.statuses else None,
                cluster=judged.clusters[case] if judged.clusters else None,
                steps=judged.lengths[case] if judged.lengths else None,
            ),
        }


EXPORTER = Exporter("records that Every Eval Ever's validator accepts", write)
