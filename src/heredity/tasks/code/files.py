"""Problems out of a user's file, a row each, in the forms of HumanEval, MBPP, LiveCodeBench and LeetCode's data sets.

| form | is told by | cases |
|---|---|---|
| HumanEval | `prompt`, `entry_point`, `test` | assertions on `candidate` in `check` |
| LeetCode | the same with `starter_code` | assertions with named arguments |
| MBPP | `test_list` | assertions on the function that they name |
| LiveCodeBench | `public_test_cases` | JSON: `input` and `output` of a function or of a whole program |

A row of which no problem can be made is left out, and said so; where more than one in five are, it is the file that is wrong.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from heredity.errors import ConfigError, HeredityError, UnknownNameError
from heredity.tasks.code.asserts import asserted
from heredity.tasks.code.headers import Header, header
from heredity.tasks.code.problem import DIFFICULTIES, UNRATED, Example, Problem
from heredity.tasks.code.signature import ANY, STRING, Function, Parameter, Signature, Type, plain, printed
from heredity.tasks.questions.tables import read_rows

SECONDS = 6.0
"""Processor seconds that a solution has for a case, beside what its language takes to start."""

MOST_ODD = 0.2
"""The largest share of rows that are left out."""

_MEMORY = 1 << 30
_MOST_UNPACKED = 1 << 30
_PROGRAM = Signature(
    (Function("main", (Parameter("input", Type(STRING)),), Type(STRING)),),
    form="program",
    starter="# read from standard input\n",
)
_NAMES = ("task_id", "question_id", "problem_id", "name")
_TEXTS = ("problem_description", "question_content", "text", "description", "prompt")

Case = tuple[list[Any], Any]


@dataclass(frozen=True, slots=True)
class _Read:
    """What a form makes of a row: `shown` is how many of the cases, the first ones, a solver is told."""

    signature: Signature
    cases: tuple[Case, ...]
    shown: int
    close: bool = False


@dataclass(frozen=True)
class Rows:
    """The problems of a file, and what is wrong with the rows that are none."""

    problems: tuple[Problem, ...]
    left_out: tuple[str, ...]


def problems_of(path: Path) -> Rows:
    """Read a file of problems: JSONL, CSV or parquet.

    Raises:
        ConfigError: if it cannot be read, or too many rows are no problems.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; correct the path in code/PATH") from error
    return _read(path.absolute(), stat.st_mtime_ns, stat.st_size)


def row_of(name: str) -> Problem:
    """Return the problem of a row by `PATH#NAME`.

    Raises:
        ConfigError: if the file is wrong, or has no such row.
    """
    path, _, row = name.rpartition("#")
    problems = {problem.name: problem for problem in problems_of(Path(path)).problems}
    if row not in problems:
        raise UnknownNameError(f"row of {path}", row, sorted(problems))
    return problems[row]


@lru_cache(maxsize=8)
def _read(path: Path, *_: int) -> Rows:
    problems: dict[str, Problem] = {}
    odd: list[str] = []
    rows = read_rows(path).rows
    for where, cells, damage in rows:
        try:
            if damage:
                raise ConfigError(damage)
            problem = _problem(path, cells)
            if problem.name in problems:
                raise ConfigError(f"the name {problem.name!r} is taken by an earlier row; give each its own")
            problems[problem.name] = problem
        except HeredityError as error:
            odd.append(f"{where}: {error}")
    if len(odd) > MOST_ODD * len(rows):
        share = f"{len(odd)} of {len(rows)} rows are no problems, at most {MOST_ODD:.0%} are left out"
        raise ConfigError("\n".join([share, *odd[:20], *([f"and {len(odd) - 20} more"] if odd[20:] else [])]))
    return Rows(tuple(problems.values()), tuple(odd))


def _problem(path: Path, cells: Mapping[str, Any]) -> Problem:
    name = next((str(cells[key]).strip() for key in _NAMES if cells.get(key) not in (None, "")), "")
    if not name or "#" in name:
        raise ConfigError(f"{_NAMES[0]} is {name!r}; give each row a name of its own, without #")
    read = _form(cells)(cells)
    if len(read.cases) <= read.shown:
        raise ConfigError(
            f"there are {len(read.cases)} cases, of which {read.shown} are shown; give at least one that is hidden"
        )
    for case, answer in read.cases:
        read.signature.encoded(case)
        _check_answer(read.signature, answer)
    difficulty = str(cells.get("difficulty") or UNRATED).lower()
    tags = cells.get("tags")
    named = cast("list[Any]", tags) if isinstance(tags, list) else []
    examples = tuple(Example(case, answer) for case, answer in read.cases[: read.shown])
    return Problem(
        name=name,
        title=str(cells.get("question_title") or cells.get("title") or name),
        difficulty=difficulty if difficulty in DIFFICULTIES else UNRATED,
        tags=tuple(sorted({str(tag) for tag in named})) or ("file",),
        statement=_statement(cells),
        signature=read.signature,
        examples=examples,
        compare="close" if read.close else "exact",
        memory_bytes=_MEMORY,
        files={},
        rejected={},
        accepted={},
        source=f"{path}#{name}",
        given=read.cases,
        seconds=SECONDS,
    )


def _form(cells: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], _Read]:
    for key, form in (
        ("public_test_cases", _live),
        ("test_list", _mbpp),
        ("starter_code", _leetcode),
        ("test", _human),
    ):
        if cells.get(key):
            return form
    raise ConfigError(
        "there are no cases; give test with entry_point (HumanEval, LeetCode), test_list (MBPP) or public_test_cases "
        "(LiveCodeBench)"
    )


def _statement(cells: Mapping[str, Any]) -> str:
    text = next((cells[key] for key in _TEXTS if isinstance(cells.get(key), str) and cells[key].strip()), None)
    if text is None:
        raise ConfigError(f"there is no statement; give one of {', '.join(_TEXTS)}")
    return "Complete the function." if text == cells.get("prompt") and cells.get("entry_point") else str(text)


def _human(cells: Mapping[str, Any]) -> _Read:
    prompt, entry = _text(cells, "prompt"), _text(cells, "entry_point")
    head = _field("prompt", lambda: header(prompt, entry))
    cases, close = _cases("test", _text(cells, "test"), ("candidate", entry), head)
    return _Read(head.alone(head.before, prompt), cases, 0, close)


def _leetcode(cells: Mapping[str, Any]) -> _Read:
    starter = _text(cells, "starter_code")
    entry = str(cells.get("entry_point") or "").rpartition(".")[2]
    head = _field("starter_code", lambda: header(starter, entry))
    cases, close = _cases("test", _text(cells, "test"), ("candidate", head.name), head)
    return _Read(head.method(), _typed(head, cases), 0, close)


def _mbpp(cells: Mapping[str, Any]) -> _Read:
    tests = [*_texts(cells, "test_list"), *_texts(cells, "challenge_test_list")]
    setup = "\n".join([str(cells.get("test_setup_code") or ""), *_texts(cells, "test_imports")]).strip()
    calls = _field("test_list", lambda: asserted("\n".join(tests), ()))
    if len(names := {call.name for call in calls}) != 1:
        raise ConfigError(f"test_list calls {sorted(names)}; let every assertion call one and the same function")
    code = str(cells.get("code") or "")
    head = (
        _field("code", lambda: header(code, calls[0].name))
        if code
        else _unnamed(calls[0].name, len(calls[0].arguments))
    )
    cases = tuple((call.case(head.parameters), call.answer) for call in calls)
    starter = f"def {head.name}({', '.join(head.parameters)}):\n    ...\n"
    return _Read(head.alone(setup, starter), _plainly(cases), 1, any(call.close for call in calls))


def _live(cells: Mapping[str, Any]) -> _Read:
    public, private = _listed(cells, "public_test_cases"), _listed(cells, "private_test_cases")
    tests, starter = [*public, *private], str(cells.get("starter_code") or "")
    kinds = {str(test.get("testtype")) for test in tests}
    if kinds == {"stdin"}:
        programs = tuple(([_text(test, "input")], printed(_text(test, "output"))) for test in tests)
        return _Read(_PROGRAM, programs, len(public))
    if kinds != {"functional"}:
        raise ConfigError(f"testtype is {', '.join(sorted(kinds))}; give stdin or functional, the same in all cases")
    named = _json(cells.get("metadata"), "metadata")
    entry = str(cast("Mapping[str, Any]", named).get("func_name") or "") if isinstance(named, Mapping) else ""
    head = _field("starter_code", lambda: header(starter, entry))
    cases = tuple(
        (
            [_json(line, "input") for line in _text(test, "input").splitlines() if line.strip()],
            _json(test.get("output"), "output"),
        )
        for test in tests
    )
    return _Read(head.method(), _typed(head, cases), len(public))


def _cases(field: str, text: str, names: Sequence[str], head: Header) -> tuple[tuple[Case, ...], bool]:
    calls = _field(field, lambda: asserted(text, names))
    cases = tuple((_field(field, lambda call=call: call.case(head.parameters)), call.answer) for call in calls)
    return _plainly(cases), any(call.close for call in calls)


def _plainly(cases: Sequence[Case]) -> tuple[Case, ...]:
    return tuple((case, plain(answer)) for case, answer in cases)


def _typed(head: Header, cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return cases with answers as their type has them: a whole number where a float is stated is one."""
    if head.types is None:
        return _plainly(cases)
    floats = head.types[-1].name == "float"
    return tuple((case, float(answer) if floats and type(answer) is int else answer) for case, answer in cases)


def _check_answer(signature: Signature, answer: Any) -> None:
    if signature.form == "program" or signature.function.result.name == ANY:
        return
    result = signature.function.result
    replace_ = Function("answer", (Parameter("answer", result),), result)
    replace(signature, functions=(replace_,)).encoded([answer])


def _unnamed(name: str, count: int) -> Header:
    return Header(name, tuple(f"argument{number}" for number in range(1, count + 1)), None)


def _field(name: str, made: Callable[[], Any]) -> Any:
    try:
        return made()
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error


def _text(cells: Mapping[str, Any], key: str) -> str:
    value = cells.get(key)
    if not isinstance(value, str):
        raise ConfigError(f"{key} is {value!r:.60}; give text")
    return value


def _texts(cells: Mapping[str, Any], key: str) -> list[str]:
    value = cells.get(key)
    listed = _json(value, key) if value else []
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in cast("list[Any]", listed)):
        raise ConfigError(f"{key} is {value!r:.60}; give a list of texts")
    return cast("list[str]", listed)


def _listed(cells: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = cells.get(key) or "[]"
    listed = _json(_unpacked(value, key) if isinstance(value, str) else value, key)
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in cast("list[Any]", listed)):
        raise ConfigError(f"{key} is {value!r:.60}; give a JSON list of input, output and testtype")
    return cast("list[Mapping[str, Any]]", listed)


def _json(value: Any, key: str) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{key} is {value!r:.60}: {error}; give JSON") from error


class _Text(pickle.Unpickler):
    """Reads what is pickled of one text, and nothing that would have to be looked up or called."""

    def find_class(self, module: str, name: str, /) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is asked for")


def _unpacked(value: str, key: str) -> str:
    """Return JSON as it is, or out of base64 of a compressed pickle of it, as LiveCodeBench publishes hidden cases."""
    if value.lstrip()[:1] in ("[", "{"):
        return value
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b64decode(value, validate=True), _MOST_UNPACKED)
        if stream.unconsumed_tail:
            raise ConfigError(f"{key} has more than {_MOST_UNPACKED >> 20} MiB unpacked; give less")
        text = _Text(io.BytesIO(data)).load()
    except (
        binascii.Error,
        zlib.error,
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        IndexError,
        KeyError,
        AttributeError,
        TypeError,
    ) as error:
        raise ConfigError(f"{key} is {value!r:.40}, neither JSON nor packed JSON: {error}; give JSON") from error
    if not isinstance(text, str):
        raise ConfigError(f"{key} unpacks to {type(text).__name__}; give a text of JSON")
    return text
