"""What calls programs and scorers inside of the sandbox; it imports nothing but the standard library.

One line of JSON on stdin: `do` (`"evaluate"`, `"solve"` or `"verify"`), `program`, `scorer`, `seed`, `stages`, `metric` and
`minimise`; for `verify` the answer of `solve` follows. One JSON object on what was stdout; for `solve` a line `answer`, then
the answer as JSON. Whatever is printed goes to stderr.
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
MOST_NAME = 200
MOST_DEPTH = 100


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
    header, _, given = sys.stdin.buffer.read().partition(b"\n")
    request = json.loads(header)
    _offer_names()
    random.seed(request["seed"] or 0)
    where = "scorer"
    try:
        if request["do"] == "evaluate":
            text = json.dumps(_evaluated(_module("evaluator", request["scorer"]), request), allow_nan=False)
        elif request["do"] == "solve":
            where = "program"
            solved = _called(_module("program", request["program"]).solve, (), request["seed"])
            text = "answer\n" + json.dumps(_plain(solved), allow_nan=False)
        else:
            where = "answer"
            answer = _answered(given)
            where = "scorer"
            verify = _module("scorer", request["scorer"]).verify
            text = json.dumps(_read(_called(verify, (answer,), request["seed"])), allow_nan=False)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        refused = request["do"] == "verify" and isinstance(error, ValueError)
        text = json.dumps(
            {
                "error": type(error).__name__,
                "message": _text(error),
                "traceback": _encodable(traceback.format_exc())[-MOST_TEXT:],
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
        if reached > len(stages) or not _passes(result["metrics"], stages[reached - 1], request):
            break
    return {"metrics": metrics, "texts": texts, "stages": reached}


def _passes(metrics: dict[str, Any], threshold: float, request: dict[str, Any]) -> bool:
    numbers = [value for value in metrics.values() if value is not None]
    name = next((name for name in (request["metric"], "combined_score") if name in metrics), None)
    value = metrics[name] if name is not None else sum(numbers) / len(numbers) if numbers else None
    if value is None:
        return False
    return bool(value <= threshold if request["minimise"] else value >= threshold)


def _read(result: Any) -> dict[str, Any]:
    """Return what a scorer said: numbers by name, None for what is not finite or ought to be a number, and texts."""
    texts: dict[str, Any] = {}
    if hasattr(result, "metrics"):
        texts = {_name(k): _text(v) for k, v in dict(getattr(result, "artifacts", None) or {}).items()}
        result = result.metrics
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str):
        result, texts = result[0], {"feedback": _text(result[1])}
    if not isinstance(result, dict):
        result = {"score": result}
    metrics: dict[str, float | None] = {}
    for key, value in result.items():
        name, number = _name(key), _number(value)
        if number is None:
            texts[name] = _text(value)
            if value is None or name == "combined_score":
                metrics[name] = None
        else:
            metrics[name] = number if math.isfinite(number) else None
    return {"metrics": metrics, "texts": texts}


def _number(value: Any) -> float | None:
    """Return a number of whatever library; None for what is none: a truth value is not, nor is the text of a number."""
    if isinstance(value, (bool, str, bytes, bytearray)) or type(value).__name__ in ("bool", "bool_"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return math.inf


def _name(key: Any) -> str:
    return _text(key)[:MOST_NAME]


def _text(value: Any) -> str:
    try:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else _encodable(str(value))
    except Exception as error:  # noqa: BLE001 - the text is the author's own code
        text = f"a {type(value).__name__} that cannot be shown: its text raises {type(error).__name__}"
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT // 2]}\n… cut …\n{text[-MOST_TEXT // 2 :]}"


def _encodable(text: str) -> str:
    """Return a text with halves of surrogate pairs, which no JSON may hold, as their escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _answered(data: bytes) -> Any:
    """Return what a program answered; what it wrote need not be JSON. Raises ValueError then."""
    try:
        answer = json.loads(data, parse_constant=_refuse, parse_float=_finite)
        if data.count(b"[") + data.count(b"{") > MOST_DEPTH:
            _check_depth(answer)
        if b"\\u" in data:
            json.dumps(answer, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("the answer is nested too deeply") from error
    return answer


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise ValueError(f"the answer is nested more than {MOST_DEPTH} deep")


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


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
