"""Calls programs and scorers inside the sandbox; imports only the standard library.

One line of JSON on stdin: `do` (`"evaluate"`, `"solve"` or `"verify"`), `program`, `scorer`, `seed`, `stages`,
`metric` and `minimise`; for `verify` the answer of `solve` follows. One JSON object on the original stdout; for
`solve` a line `answer`, then the answer as JSON. Printed text is redirected to stderr.
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
MOST_ANSWER = 16_000_000
"""Maximum size of an answer as JSON, in bytes: slightly below the sandbox's own limit."""
_MOST_BITS = 14_000
"""Maximum digits of an integer: Python does not parse JSON integers of more than 4300."""


class EvaluationResult:
    """Result class for evaluators that import it: metrics, and texts that explain them."""

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
    process = os.getpid()
    try:
        text = _DO[request["do"]](request, given)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        text = json.dumps(_failure(error, request))
    if os.getpid() == process:  # forked processes do not answer
        out.write(text)
        out.flush()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    # Exit without running threads and handlers of the loaded code.
    os._exit(0)


class _MisuseError(Exception):
    """An error of a program or a scorer that is described in one line, without a traceback."""


class _AnswerError(_MisuseError):
    """An error in the text that solve() should have written."""


class _RefusedError(Exception):
    """The ValueError by which verify() refuses an answer."""


def _evaluate(request: dict[str, Any], given: bytes) -> str:
    return json.dumps(_evaluated(_module("evaluator", request["scorer"]), request), allow_nan=False)


def _solve(request: dict[str, Any], given: bytes) -> str:
    solved = _called(_module("program", request["program"]), "solve", (), request["seed"])
    text = json.dumps(_plain(solved), allow_nan=False)
    if len(text) > MOST_ANSWER:
        raise _MisuseError(f"solve() returned {len(text):,} bytes of JSON; return at most {MOST_ANSWER:,}")
    return f"answer\n{text}"


def _verify(request: dict[str, Any], given: bytes) -> str:
    answer = _answered(given)
    scorer = _module("scorer", request["scorer"])
    try:
        result = _called(scorer, "verify", (answer,), request["seed"])
    except ValueError as error:
        raise _RefusedError from error
    return json.dumps(_read(result), allow_nan=False)


_DO = {"evaluate": _evaluate, "solve": _solve, "verify": _verify}


def _failure(error: BaseException, request: dict[str, Any]) -> dict[str, str]:
    """Describe a failure in one sentence; for the author's own exceptions, with the author's own frames."""
    where = "program" if request["do"] == "solve" else "scorer"
    opening = "the scorer failed: " if request["do"] == "verify" else ""
    if isinstance(error, _AnswerError):
        where = "answer"
    elif isinstance(error, _RefusedError):
        where, opening, error = "answer", "verify() refused the answer: ", error.__cause__ or error
    raised, frames = traceback.TracebackException(type(error), error, error.__traceback__), ""
    mine = _own_frames(raised)
    if isinstance(error, _MisuseError):
        message = str(error)
    elif isinstance(error, SystemExit):
        message = _exit_message(error, raised, request)
    else:
        kind = "" if where == "answer" and type(error) is ValueError else f"{type(error).__name__}: "
        message = opening + f"{kind}{_text(error)}".removesuffix(": ")
        if mine or isinstance(error, SyntaxError):
            frames = "".join(raised.format() if mine else raised.format_exception_only())
    frames = frames.replace(f'"{os.path.dirname(request["program"])}/', '"')
    return {"error": message, "traceback": _text(frames), "where": where}


def _own_frames(raised: traceback.TracebackException | None) -> bool:
    """Keep only frames of the author's files, also of causes; return True if there are any."""
    if raised is None:
        return False
    raised.stack[:] = [frame for frame in raised.stack if frame.filename != __file__ and _is_own(frame.filename)]
    inner = [
        _own_frames(other)
        for other in (raised.__cause__, raised.__context__, *(getattr(raised, "exceptions", ()) or ()))
    ]
    return bool(raised.stack) or any(inner)


def _is_own(path: str) -> bool:
    return path.startswith(os.path.dirname(__file__)) or (path.startswith("<") and "<frozen " not in path)


def _exit_message(error: SystemExit, raised: traceback.TracebackException, request: dict[str, Any]) -> str:
    names = {request["program"]: "the program", request["scorer"]: "the scorer"}
    here = [frame for frame in raised.stack if frame.filename in names]
    if not here:
        return f"sys.exit({'' if error.code is None else repr(error.code)}) was called"
    last = here[-1]
    code = "" if error.code is None else repr(error.code)[:MOST_NAME]
    where = f"{os.path.basename(last.filename)}, line {last.lineno}"
    return f"{names[last.filename]} called sys.exit({code}) in {where}; return a value, or raise an exception"


def _offer_names() -> None:
    """Provide the result class that evaluators written for OpenEvolve import."""
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


_GIVEN = {"solve": "nothing", "verify": "the answer"}


def _called(module: Any, name: str, arguments: tuple[Any, ...], seed: int | None) -> Any:
    function = getattr(module, name, None)
    if not callable(function):
        raise _MisuseError(f"{os.path.basename(module.__spec__.origin)} has no function {name}(); define it")
    named: dict[str, Any] = {}
    with contextlib.suppress(TypeError, ValueError):  # functions not written in Python
        signature = inspect.signature(function)
        if seed is not None and "seed" in signature.parameters:
            named = {"seed": seed}
        _check_call(name, signature, arguments, named)
    result = function(*arguments, **named)
    if not inspect.iscoroutine(result):
        return result
    import asyncio

    return asyncio.run(result)


def _check_call(name: str, signature: inspect.Signature, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    try:
        signature.bind(*arguments, **named)
    except TypeError:
        given = _GIVEN.get(name, "the path of the program") + (" and a seed" if named else "")
        takes = [
            f"{one.name} by name" if one.kind is one.KEYWORD_ONLY else str(one.name)
            for one in signature.parameters.values()
            if one.name not in named
        ]
        raise _MisuseError(
            f"{name}() takes {len(takes)} argument{'' if len(takes) == 1 else 's'}"
            f"{' (' + ', '.join(takes) + ')' if takes else ''}; it is called with {given}"
        ) from None


def _evaluated(scorer: Any, request: dict[str, Any]) -> dict[str, Any]:
    stages, path, seed = request["stages"], request["program"], request["seed"]
    if not stages and hasattr(scorer, "evaluate"):
        return _read(_called(scorer, "evaluate", (path,), seed))
    metrics: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    reached = 0
    while hasattr(scorer, f"evaluate_stage{reached + 1}"):
        result = _read(_called(scorer, f"evaluate_stage{reached + 1}", (path,), seed))
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
    """Return a scorer's results: numbers by name, None for values that are not finite or not numbers, and texts."""
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
    """Convert a number of any library; return None for other values, among them booleans and texts of numbers."""
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
    """Escape lone surrogates in a text, which JSON must not contain."""
    return text.encode("utf-8", "backslashreplace").decode()


def _answered(data: bytes) -> Any:
    """Return a program's answer. Raises `_AnswerError` if the text is not JSON."""
    try:
        answer = json.loads(data, parse_constant=_refuse, parse_float=_finite)
        if data.count(b"[") + data.count(b"{") > MOST_DEPTH or b"\\u" in data:
            _plain(answer)
    except (ValueError, RecursionError, _MisuseError) as error:
        deep = "it is nested too deeply" if isinstance(error, RecursionError) else _text(error)
        raise _AnswerError(f"what solve() answered is not JSON ({deep})") from None
    return answer


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


def _plain(value: Any, outer: tuple[Any, ...] = ()) -> Any:
    """Convert a value to JSON types: arrays and tuples to lists, numbers of other libraries to numbers.

    Args:
        value: the value returned by solve(), or a part of it.
        outer: the containers around it, outermost first.
    """
    if value is None or isinstance(value, (str, int, float)):
        if unfit := _unfit(value):
            raise _unfitting(unfit, outer)
        return value
    if any(value is one for one in outer):
        raise _unfitting("itself", outer)
    if len(outer) == MOST_DEPTH:
        raise _unfitting(f"lists nested more than {MOST_DEPTH} deep", outer)
    inside = (*outer, value)
    if isinstance(value, dict):
        keys = [_plain(str(key), inside) for key in value]
        if len(set(keys)) < len(keys):
            raise _unfitting("two keys that are the same as text", inside)
        return {key: _plain(inner, inside) for key, inner in zip(keys, value.values())}  # noqa: B905 - of Python 3.9 too
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner, inside) for inner in value]
    if hasattr(value, "tolist") and not isinstance(value, type):
        return _plain(value.tolist(), inside)
    raise _unfitting(_kind(value), outer)


def _kind(value: Any) -> str:
    name = _name(type(value).__name__)
    return f"a {name}" if isinstance(value, (list, tuple, dict, set)) else f"a value of type {name}"


def _unfit(value: Any) -> str:
    """Describe why JSON cannot hold a number or a text; else return an empty text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    if isinstance(value, int) and int(value).bit_length() > _MOST_BITS:
        return "an integer of more than 4200 digits"
    if isinstance(value, str) and _encodable(value) != value:
        return "a text with half of a surrogate pair"
    return ""


def _unfitting(what: str, outer: tuple[Any, ...]) -> _MisuseError:
    holder = f"{_kind(outer[0])} that holds " if outer else ""
    return _MisuseError(f"solve() returned {holder}{what}; return a value that JSON can hold")


if __name__ == "__main__":
    main()
