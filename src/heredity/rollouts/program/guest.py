"""What calls programs and scorers inside of the sandbox; it imports nothing but the standard library.

One JSON request on stdin: `do` (`"evaluate"`, `"solve"` or `"verify"`), `program`, `scorer`, `seed`, `stages`, `answer`. One JSON
answer on what was stdout; whatever is printed goes to stderr.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import math
import os
import random
import sys
import traceback
import types
from typing import Any

MOST_TEXT = 8_000


class EvaluationResult:
    """What evaluators import under this name: metrics, and texts that explain them."""

    def __init__(self, metrics: dict[str, Any], artifacts: dict[str, Any] | None = None) -> None:
        self.metrics, self.artifacts = metrics, artifacts or {}

    @classmethod
    def from_dict(cls, metrics: dict[str, Any]) -> EvaluationResult:
        """Return a result without texts."""
        return cls(metrics)

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics."""
        return self.metrics


def main() -> None:
    """Answer the request."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    _offer_names()
    random.seed(request["seed"] or 0)
    where = "scorer"
    try:
        if request["do"] == "evaluate":
            answer = _evaluated(_module("evaluator", request["scorer"]), request)
        elif request["do"] == "solve":
            where = "program"
            answer = {"answer": _plain(_called(_module("program", request["program"]).solve, (), request["seed"]))}
        else:
            verify = _module("scorer", request["scorer"]).verify
            answer = _read(_called(verify, (request["answer"],), request["seed"]))
        text = json.dumps(answer, allow_nan=False)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        refused = request["do"] == "verify" and isinstance(error, ValueError)
        text = json.dumps(
            {
                "error": type(error).__name__,
                "message": str(error)[:MOST_TEXT],
                "traceback": traceback.format_exc()[-MOST_TEXT:],
                "where": "answer" if refused else where,
            }
        )
    out.write(text)
    out.flush()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    # Threads and handlers of what was loaded have no say in how this ends.
    os._exit(0)


def _offer_names() -> None:
    """Let evaluators that were written for OpenEvolve import what they hand back."""
    if importlib.util.find_spec("openevolve") is None:
        package, module = types.ModuleType("openevolve"), types.ModuleType("openevolve.evaluation_result")
        package.__path__ = []
        module.EvaluationResult = package.EvaluationResult = EvaluationResult  # type: ignore[attr-defined]
        sys.modules |= {"openevolve": package, "openevolve.evaluation_result": module}


def _module(name: str, path: str) -> Any:
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _called(function: Any, arguments: tuple[Any, ...], seed: int | None) -> Any:
    takes = inspect.signature(function).parameters
    result = function(*arguments, seed=seed) if "seed" in takes and seed is not None else function(*arguments)
    if not inspect.iscoroutine(result):
        return result
    import asyncio

    return asyncio.run(result)


def _evaluated(scorer: Any, request: dict[str, Any]) -> dict[str, Any]:
    stages, path, seed = request["stages"], request["program"], request["seed"]
    if not stages and hasattr(scorer, "evaluate"):
        return _read(_called(scorer.evaluate, (path,), seed))
    metrics: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    reached = 0
    while hasattr(scorer, f"evaluate_stage{reached + 1}"):
        result = _read(_called(getattr(scorer, f"evaluate_stage{reached + 1}"), (path,), seed))
        metrics |= result["metrics"]
        texts |= result["texts"]
        reached += 1
        if reached > len(stages) or not _passes(result["metrics"], stages[reached - 1]):
            break
    return {"metrics": metrics, "texts": texts, "stages": reached}


def _passes(metrics: dict[str, Any], threshold: float) -> bool:
    numbers = [value for value in metrics.values() if value is not None]
    value = metrics.get("combined_score")
    if value is None:
        value = sum(numbers) / len(numbers) if numbers else -math.inf
    return value >= threshold


def _read(result: Any) -> dict[str, Any]:
    """Return what a scorer said: numbers by name, None for what is not finite, and texts."""
    texts: dict[str, Any] = {}
    if hasattr(result, "metrics"):
        texts = {str(k): _text(v) for k, v in dict(getattr(result, "artifacts", None) or {}).items()}
        result = result.metrics
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str):
        result, texts = result[0], {"feedback": _text(result[1])}
    if not isinstance(result, dict):
        result = {"score": result}
    metrics: dict[str, float | None] = {}
    for key, value in result.items():
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            texts[str(key)] = _text(value)
            if value is None:
                metrics[str(key)] = None
        else:
            metrics[str(key)] = number if math.isfinite(number) else None
    return {"metrics": metrics, "texts": texts}


def _text(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT // 2]}\n… cut …\n{text[-MOST_TEXT // 2 :]}"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays and tuples as lists, numbers of other libraries as numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return value


if __name__ == "__main__":
    main()
