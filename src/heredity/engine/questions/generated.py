"""Scorers of the package reasoning-gym (Stojanovski et al., 2025, arXiv:2505.24760), prevented from running code in answers.

Scorers that simplify formulas run in a separate process, since some answers take them hours. The process is
limited by CPU time, so the verdict is the same on a busy machine.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import io
import json
import math
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from types import CodeType, FunctionType
from typing import Any

from heredity._core.errors import HostError, MissingExtraError
from heredity._core.ids import canonical_json
from heredity.engine.questions.contract import Question, Verification

_MAX_EXPRESSION = 600
_MAX_NODES = 300
_MAX_POWERS = 2
_MAX_EXPONENT = 64
_MAX_CONSTANT = 1e15

_EVALUATE = frozenset({"eval", "exec", "compile"})
_PARSE = frozenset({"parse_expr", "sympify", "parse_latex", "S"})
_LARGE = re.compile(r"[0-9.][eE][-+]?[0-9]{4,}")
"""`Fraction("1e999999999")` would fill the memory."""

_NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Load, ast.Call),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub),
)
_FUNCTIONS = frozenset(
    (
        *("sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "acot", "asec", "acsc"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log", "ln", "sqrt", "Abs"),
    )
)
_NAME = re.compile(r"[A-Za-z]|pi|Abs")


def may_take_hours(scorer: type) -> bool:
    """Return True if a scorer simplifies formulas."""
    return "simplify" in _names_used(scorer)


def problem_of(scorer: type, answer: str) -> str:
    """Return the reason an answer must not reach a scorer, one line; `""` if it may.

    Args:
        scorer: the class of the data set, with its `score_answer`.
        answer: the answer exactly as the scorer would get it.
    """
    uses = _names_used(scorer)
    if uses & _PARSE:
        return "" if _is_arithmetic(answer) else "the answer is no plain expression"
    if uses & _EVALUATE:
        return "" if _is_literal(answer) else "the answer is no plain value"
    if "Fraction" in uses and _LARGE.search(answer):
        return "the answer holds a number too large to score"
    return ""


@cache
def _names_used(scorer: type) -> frozenset[str]:
    """Return every name in the scoring code, including the functions of its package that it calls."""
    package = scorer.__module__.partition(".")[0]
    pending, seen, names = ["score_answer"], set[str](), set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for function in _functions(scorer, name, package):
            used = {used for code in _codes(function.__code__) for used in code.co_names}
            names |= used
            pending += used
    return frozenset(names)


def _functions(scorer: type, name: str, package: str) -> Iterator[FunctionType]:
    for owner in (scorer, sys.modules[scorer.__module__]):
        function: Any = inspect.unwrap(getattr(owner, name)) if callable(getattr(owner, name, None)) else None
        if inspect.isfunction(function) and function.__module__.partition(".")[0] == package:
            yield function


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_literal(answer: str) -> bool:
    """Return True if `eval` would yield only a literal or fail: a single name, or a syntax error."""
    try:
        tree = ast.parse(answer.lstrip(" \t"), mode="eval")
    except (SyntaxError, ValueError):
        return True
    except (RecursionError, MemoryError):
        return False
    if isinstance(tree.body, ast.Name):
        return True
    try:
        ast.literal_eval(tree.body)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _is_arithmetic(answer: str) -> bool:
    """Return True for a small expression of numbers, letters, `+ - * / **` and functions such as `sin`."""
    if len(answer) > _MAX_EXPRESSION:
        return False
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    return len(nodes) <= _MAX_NODES and all(map(_is_plain, nodes)) and _powers(tree) <= _MAX_POWERS


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
        return named and len(node.args) == 1 and not node.keywords
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float) and _magnitude(node) < _MAX_CONSTANT
    if isinstance(node, ast.Name):
        return node.id in _FUNCTIONS or _NAME.fullmatch(node.id) is not None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        constants = [_magnitude(n) for n in ast.walk(node.right) if isinstance(n, ast.Constant)]
        return len(constants) <= 2 and all(value <= _MAX_EXPONENT for value in constants)
    return isinstance(node, _NODES)


def _magnitude(node: ast.Constant) -> float:
    return abs(node.value) if isinstance(node.value, int | float) else math.inf


def _powers(node: ast.AST) -> int:
    deepest = max((_powers(child) for child in ast.iter_child_nodes(node)), default=0)
    return deepest + (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow))


_MAX_CHARS = 1000
"""Maximum characters of an answer, plus ten times the reference's: some scorers take milliseconds per character."""

_COMPARED = frozenset({"game_of_life_halting"})
"""Data sets whose scorers accept every non-empty answer; here the answer must equal the reference."""

_PRINTS = frozenset({"bf"})
"""Data sets that print while generating, which would corrupt a command's JSON."""

CPU_SECONDS = 20
"""CPU seconds per answer, including about two for the start."""

_MEMORY = 4 << 30
_CLOCK_SECONDS = 300


def score(question: Question, answer: str) -> Verification:
    """Score an answer with the data set's own scorer, in this process.

    Some scorers would evaluate an answer as Python; an answer that is not a plain value or expression is wrong and
    never reaches them. An answer that makes a scorer fail is wrong (provided the scorer accepts the reference).

    Raises:
        HostError: if the scorer itself fails, or the installed version generates another question for the seed.
        MissingExtraError: if reasoning-gym is not installed.
    """
    if find_spec("reasoning_gym") is None:
        raise MissingExtraError("scoring this question", "reasoning")
    options = question.verifier
    name, shown = options["dataset"], answer[:2000]
    scorer, entry = entry_of(name, options["config"], options["seed"])
    if entry["question"] != question.text:
        raise HostError(
            f"reasoning-gym {version('reasoning_gym')} generates another question of {name} from seed {options['seed']}; "
            "score with the version (and PYTHONHASHSEED) that the task was drawn with"
        )
    reference = reference_of(entry)
    if len(answer) > _MAX_CHARS + 10 * len(reference):
        return Verification(0.0, False, shown, f"the answer has {len(answer)} characters, too many to score")
    if name in _COMPARED:
        same = answer.casefold() == reference.casefold()
        return Verification(float(same), same, shown, "matches the reference" if same else "is not the reference")
    problem = "" if answer == reference else problem_of(type(scorer), answer)
    if problem:
        return Verification(0.0, False, shown, problem)
    try:
        if may_take_hours(type(scorer)):
            scored = score_in_child(name, options["config"], options["seed"], answer)
            if scored is None:
                if score_in_child(name, options["config"], options["seed"], reference) is None:
                    raise HostError(f"the scorer of {name} fails on the reference: it comes to no end")
                return Verification(0.0, False, shown, f"the scorer of {name} comes to no end with the answer")
            points = scored
        else:
            points = points_of(scorer, answer, entry)
    except HostError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, an answer made a scorer fail that takes the reference
        _check(name, options["config"], options["seed"])
        return Verification(0.0, False, shown, f"the scorer of {name} cannot take the answer: {error!r}"[:300])
    return Verification(points, points >= 1.0, shown, f"the scorer of {name} gives {points:g}")


def _check(name: str, options: Mapping[str, Any], seed: int) -> None:
    """Raise HostError if a scorer fails even on the reference; the entry is regenerated, for it may have been modified."""
    scorer, entry = entry_of(name, options, seed)
    try:
        points_of(scorer, reference_of(entry), entry)
    except Exception as error:
        raise HostError(f"the scorer of {name} fails on the reference: {error!r}") from error


def points_of(scorer: Any, answer: str, entry: Mapping[str, Any]) -> float:
    """Return the score of an answer, from 0 to 1."""
    return min(1.0, max(0.0, float(scorer.score_answer(answer, entry))))


def reference_of(entry: Mapping[str, Any]) -> str:
    """Return the reference answer of an entry, empty if the data set has none."""
    # Some data sets give None for questions with several right answers.
    return "" if entry["answer"] is None else str(entry["answer"])


def datasets() -> dict[str, Any]:
    """Return the data sets of the installed package, by name."""
    from reasoning_gym.factory import DATASETS

    return DATASETS


def entry_of(dataset: str, options: Mapping[str, Any], seed: int) -> tuple[Any, dict[str, Any]]:
    """Return a data set with one question, which also scores, and the question's entry, which scorers may modify."""
    scorer, entry = _create_dataset(dataset, canonical_json(dict(options)), seed)
    return scorer, copy.deepcopy(entry)


@lru_cache(maxsize=256)
def _create_dataset(dataset: str, options: bytes, seed: int) -> tuple[Any, dict[str, Any]]:
    import reasoning_gym

    with contextlib.redirect_stdout(io.StringIO()) if dataset in _PRINTS else contextlib.nullcontext():
        made = reasoning_gym.create_dataset(dataset, seed=seed, size=1, **json.loads(options))
        return made, made[0]


def score_in_child(
    dataset: str, options: Mapping[str, Any], seed: int, answer: str, *, cpu_seconds: int = CPU_SECONDS
) -> float | None:
    """Return the score of an answer, from 0 to 1; None if the scorer hit its limit or failed on the answer.

    Raises:
        HostError: if the process fails otherwise.
    """
    command = [sys.executable, "-P", "-m", __name__]
    request = json.dumps([cpu_seconds, dataset, dict(options), seed, answer])
    try:
        done = subprocess.run(
            command,
            input=request,
            capture_output=True,
            text=True,
            timeout=_CLOCK_SECONDS,
            check=False,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"the scorer of {dataset} got no processor time: {error}") from error
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise HostError(f"the scorer of {dataset} failed in its process: {done.stderr.strip()[-500:]}") from error


def main() -> None:
    """Score the answer on standard input, within the limits."""
    cpu_seconds, dataset, options, seed, answer = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    scorer, entry = entry_of(dataset, options, seed)
    try:
        points: float | None = points_of(scorer, answer, entry)
    except Exception:  # noqa: BLE001 - whatever it is, the scorer could not take the answer
        points = None
    sys.stdout.write(json.dumps(points))


if __name__ == "__main__":
    main()
