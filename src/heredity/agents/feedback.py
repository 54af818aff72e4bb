"""Feedback files: the files of a submission for its agent (EvoPolicyGym's layout and fields)."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from heredity.agents.terms import PROTOCOL_VERSION, RunTerms
from heredity.engine.trajectory import Column, Failure, Trajectory, to_json
from heredity.methods.contract import Feedback, Outcome

_TIMEOUTS = frozenset({"rollout_timeout", "act_timeout", "init_timeout"})
_ZIP_ABOVE = 1 << 20
_ENCODE = json.JSONEncoder(allow_nan=False, default=to_json, ensure_ascii=False, check_circular=False).encode


@dataclass(frozen=True, slots=True)
class Receipt:
    """The ledger's data on one submission.

    Attributes:
        first_episode: number of its first episode (0 is the run's first).
        remaining: episodes left after its charge.
        completed_at: Unix time of the answer (s).
        seconds: wall seconds from admission to answer.
    """

    first_episode: int
    remaining: int
    completed_at: float
    seconds: float


def summarise(
    feedback: Feedback, receipt: Receipt, terms: RunTerms, trajectories: Sequence[Trajectory | None]
) -> dict[str, Any]:
    """Return `summary.json`: every field of EvoPolicyGym's summary, and the candidate's digest.

    `returns` are scores: higher is better, a failed rollout counts as at most the taskset's failure return, a
    missing one is null. When the submission as a whole failed, every aggregate is null.
    """
    ok = feedback.status == "ok"
    outcomes = feedback.outcomes
    scores = [_finite(o.score) for o in outcomes]
    present = [s for s in scores if s is not None]
    lengths = [o.length for o in outcomes]
    per_episode = _components(trajectories, terms.reward_components) if ok else None
    return {
        "schema_version": PROTOCOL_VERSION,
        "submit_index": feedback.submit_id - 1,
        "env": terms.env,
        "status": feedback.status,
        "n_episodes": len(outcomes),
        "first_global_episode": receipt.first_episode,
        "env_instances": [o.task for o in outcomes],
        "remaining_budget": receipt.remaining,
        "submit_started_at": _timestamp(receipt.completed_at - receipt.seconds),
        "submit_completed_at": _timestamp(receipt.completed_at),
        "wall_time_seconds": round(receipt.seconds, 6),
        "returns": scores if ok else None,
        "mean_return": float(np.mean(present)) if ok and present else None,
        "std_return": float(np.std(present)) if ok and present else None,
        "min_return": min(present) if ok and present else None,
        "max_return": max(present) if ok and present else None,
        "episode_lengths": lengths if ok else None,
        "mean_episode_length": float(np.mean(lengths)) if ok and lengths else None,
        "timeouts": [i for i, o in enumerate(outcomes) if o.status in _TIMEOUTS] if ok else None,
        "errors": [i for i, o in enumerate(outcomes) if o.failure and o.status not in _TIMEOUTS] if ok else None,
        "reward_components_mean": _component_means(per_episode),
        "reward_components_per_episode": per_episode,
        "candidate": feedback.candidate,
    }


def write_submission(
    folder: Path,
    feedback: Feedback,
    summary: dict[str, Any],
    trajectories: Sequence[Trajectory | None],
    *,
    terms: RunTerms,
) -> None:
    """Write one submission's feedback into an empty folder."""
    if feedback.status != "ok":
        failure = feedback.failure or Failure(feedback.status, "every episode of the submission failed")
        _write_text(folder / "errors.txt", _error_line(failure, summary["submit_completed_at"]))
    episodes = folder / "episodes"
    episodes.mkdir()
    for position, (outcome, trajectory) in enumerate(zip(feedback.outcomes, trajectories, strict=True)):
        number = summary["first_global_episode"] + position
        episode = episodes / f"ep_{number:0{terms.width}d}"
        episode.mkdir()
        _write_episode(episode, outcome, trajectory, summary["submit_completed_at"], terms.external_observations)
    (folder / "summary.json").write_text(encode_json(summary, indent=1) + "\n", encoding="utf-8")


def encode_json(value: Any, indent: int | None = None) -> str:
    """Encode JSON values; numbers JSON lacks are written as the texts `"NaN"`, `"Inf"` and `"-Inf"`."""
    try:
        return json.dumps(value, allow_nan=False, default=to_json, ensure_ascii=False, indent=indent)
    except (ValueError, TypeError):
        return json.dumps(_strict(to_json(value)), allow_nan=False, ensure_ascii=False, indent=indent)


def trajectory_lines(trajectory: Trajectory, *, external: bool) -> Iterator[str]:
    """Yield the lines of `trajectory.jsonl`: t, obs, action, reward, terminated, truncated, info.

    Args:
        trajectory: the trajectory.
        external: leave `obs` null, because observations are stored in a separate file.
    """
    columns = trajectory.columns
    n = trajectory.length
    obs: Sequence[Any] = [None] * n if external else _values(columns["obs"], n)
    infos = [(k.removeprefix("info/"), _values(c, n)) for k, c in columns.items() if k.startswith("info/")]
    steps = zip(
        obs,
        *(_values(columns[k], n) for k in ("action", "reward", "terminated", "truncated")),
        strict=False,
    )
    for t, (observation, action, reward, terminated, truncated) in enumerate(steps):
        row = {
            "t": t,
            "obs": observation,
            "action": action,
            "reward": reward,
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "info": {k: c[t] for k, c in infos if c[t] is not None},
        }
        try:
            yield _ENCODE(row)
        except (ValueError, TypeError):
            # Numbers that JSON lacks and keys that are not texts are rare, so the second pass is made only then.
            yield _ENCODE(_strict(to_json(row)))


def _write_episode(folder: Path, outcome: Outcome, trajectory: Trajectory | None, at: str, external: bool) -> None:
    failure = outcome.failure
    if failure is None and outcome.status != "ok":
        failure = Failure(outcome.status, "the attempt gave no result; it is not counted against the policy")
    stdout = stderr = rows = ""
    if trajectory is not None:
        stdout, stderr = trajectory.stdout, trajectory.stderr
        if trajectory.length and "obs" in trajectory.columns:
            rows = "\n".join(trajectory_lines(trajectory, external=external)) + "\n"
            if external:
                _write_observations(folder, trajectory.columns["obs"], trajectory.length)
    for name, text in (("trajectory.jsonl", rows), ("stdout.txt", stdout), ("stderr.txt", stderr)):
        _write_text(folder / name, text)
    if failure is not None:
        _write_text(folder / "error.txt", _error_line(failure, at))


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))


def _write_observations(folder: Path, column: Column, n: int) -> None:
    if n and not isinstance(column, np.ndarray) and isinstance(column[0], dict):
        keys = list(column[0])  # pyright: ignore[reportUnknownVariableType]
        arrays = {str(k): np.asarray([column[t][k] for t in range(n)]) for k in keys}
        _write_npz(folder, arrays)
        return
    array = np.asarray(column[:n])
    if array.nbytes > _ZIP_ABOVE:
        _write_npz(folder, {"observations": array})
    else:
        np.save(folder / "observations.npy", array, allow_pickle=False)


def _write_npz(folder: Path, arrays: dict[str, np.ndarray]) -> None:
    # The lightest compression level: pictures shrink about as well, in a fraction of numpy's default time.
    with zipfile.ZipFile(folder / "observations.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def _error_line(failure: Failure, at: str) -> str:
    return encode_json({"schema_version": PROTOCOL_VERSION, "timestamp": at, **failure.to_json()}) + "\n"


def _values(column: Column, n: int) -> Sequence[Any]:
    return column[:n].tolist() if isinstance(column, np.ndarray) else column


def _strict(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
    if isinstance(value, dict):
        return {k: _strict(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_strict(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _finite(score: float) -> float | None:
    return float(score) if math.isfinite(score) else None


def _components(
    trajectories: Sequence[Trajectory | None], declared: dict[str, str]
) -> dict[str, list[float | None]] | None:
    if not declared:
        return None
    return {name: [_component_sum(t, key) for t in trajectories] for name, key in declared.items()}


def _component_sum(trajectory: Trajectory | None, key: str) -> float | None:
    column = None if trajectory is None else trajectory.columns.get(f"info/{key}")
    if trajectory is None or column is None:
        return None
    values = [float(v) for v in _values(column, trajectory.length) if isinstance(v, int | float)]
    return _finite(math.fsum(values)) if all(map(math.isfinite, values)) else None


def _component_means(per_episode: dict[str, list[float | None]] | None) -> dict[str, float | None] | None:
    if per_episode is None:
        return None
    means: dict[str, float | None] = {}
    for name, sums in per_episode.items():
        present = [s for s in sums if s is not None]
        means[name] = math.fsum(present) / len(present) if present else None
    return means


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
