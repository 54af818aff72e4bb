"""Problems from a user's file, one per row, in the forms of HumanEval, MBPP, LiveCodeBench and LeetCode's data sets.

| form | identified by | cases |
|---|---|---|
| HumanEval | `prompt`, `entry_point`, `test` | assertions on `candidate` in `check` |
| LeetCode | the same with `starter_code` | assertions with named arguments |
| MBPP | `test_list` | assertions on the function that they name |
| LiveCodeBench | `public_test_cases` | JSON: `input` and `output` of a function or of a whole program |

A row that is not a valid problem is left out and reported; if more than one in five are, the file is rejected.
"""

from __future__ import annotations

import ast
import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity._core.outside import python_tree
from heredity._core.tables import read_rows
from heredity.kinds.code.problem import DIFFICULTIES, UNRATED, Example, Problem
from heredity.kinds.code.signature import (
    ANY,
    LINKED,
    STRING,
    TREE,
    Function,
    Parameter,
    Signature,
    Type,
    plain,
    printed,
)

_MOST_ITEMS = 1_000_000
_REMEDY = "write assert NAME(arguments) == value, with literals, or take the row out"


@dataclass(frozen=True, slots=True)
class Asserted:
    """A call and its expected result.

    Attributes:
        name: the called name.
        arguments: values of positional arguments.
        named: values of keyword arguments.
        answer: the expected result.
        close: true if floats may differ slightly.
    """

    name: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    answer: Any
    close: bool = False

    def case(self, parameters: Sequence[str]) -> list[Any]:
        """Return its arguments in the order of a function's parameters.

        Raises:
            ConfigError: if one is missing, or there are others.
        """
        values = dict(zip(parameters, self.arguments, strict=False)) | self.named
        if len(self.arguments) > len(parameters) or values.keys() != {*parameters}:
            raise ConfigError(
                f"a call of {self.name} gives {len(self.arguments)} arguments and {list(self.named)}; expected "
                f"{', '.join(parameters)}"
            )
        return [values[name] for name in parameters]


def asserted(text: str, names: Sequence[str]) -> list[Asserted]:
    """Return the assertions of a test, in order: those of its function `check`, or else of the text itself.

    Args:
        text: Python.
        names: callable names; any name if empty.

    Raises:
        ConfigError: if it is not Python, or has any other statement.
    """
    try:
        module = python_tree(text, shallow=True)
    except ValueError as error:
        raise ConfigError(f"it is no Python: {error}; {_REMEDY}") from error
    checks = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    return [one for node in (checks[0].body if checks else module.body) for one in _of(node, names)]


def value_of(node: ast.AST) -> Any:
    """Return the value of a literal, or of a sum, a product, a set or a list of literals.

    Raises:
        ConfigError: if it is anything else.
    """
    try:
        return ast.literal_eval(node)  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add(), right=right):
            return _combined(value_of(left), value_of(right), product=isinstance(node.op, ast.Mult))
        case ast.Call(func=ast.Name(id="set" | "tuple" | "list" | "float" as made), args=[inner], keywords=[]):
            try:
                return {"set": set, "tuple": tuple, "list": list, "float": float}[made](value_of(inner))
            except (TypeError, ValueError) as error:
                raise ConfigError(f"line {node.lineno}: {made}(…): {error}; {_REMEDY}") from error
        case ast.UnaryOp(op=ast.USub(), operand=inner) if isinstance(value := value_of(inner), int | float):
            return -value
        case ast.List(elts=items):
            return [value_of(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(value_of(item) for item in items)
        case _:
            raise ConfigError(f"{ast.unparse(node)[:80]!r} is no literal; {_REMEDY}")


def _combined(left: Any, right: Any, *, product: bool) -> Any:
    sizes = [
        len(one) if isinstance(one, str | list | tuple) else one if isinstance(one, int) else 1 for one in (left, right)
    ]
    if product and not all(isinstance(one, int | float) for one in (left, right)) and sizes[0] * sizes[1] > _MOST_ITEMS:
        raise ConfigError(f"a product of {sizes[0] * sizes[1]} items; at most {_MOST_ITEMS} are taken")
    try:
        return left * right if product else left + right
    except (TypeError, OverflowError) as error:
        raise ConfigError(f"{left!r:.40} and {right!r:.40}: {error}; {_REMEDY}") from error


def _of(node: ast.stmt, names: Sequence[str]) -> Iterator[Asserted]:
    match node:
        case ast.Assert(test=ast.Constant(value=True)) | ast.Pass() | ast.Expr(value=ast.Constant()):
            return
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return
        case ast.Assert(test=test):
            assertion = _assertion(test, names)
            if assertion is not None:
                yield assertion
                return
        case _:
            pass
    raise ConfigError(f"line {node.lineno}: {ast.unparse(node).splitlines()[0][:80]!r} cannot be judged; {_REMEDY}")


def _assertion(test: ast.expr, names: Sequence[str]) -> Asserted | None:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            for call, other in ((left, right), (right, left)):
                if _is_call(call, names):
                    return _called(call, value_of(other))
        case ast.Compare(left=ast.Call(func=function, args=[inner]), ops=[ast.Lt() | ast.LtE()], comparators=[bound]):
            if (
                ast.unparse(function) in ("abs", "math.fabs")
                and isinstance(inner, ast.BinOp)
                and isinstance(inner.op, ast.Sub)
            ):
                return _near(inner.left, inner.right, value_of(bound), names)
        case ast.Call(func=function, args=[left, right]) if ast.unparse(function) in ("math.isclose", "isclose"):
            return _near(left, right, 0.0, names)
        case ast.UnaryOp(op=ast.Not(), operand=call) if _is_call(call, names):
            return _called(call, False)
        case _ if _is_call(test, names):
            return _called(test, True)
        case _:
            pass
    return None


def _near(left: ast.expr, right: ast.expr, bound: Any, names: Sequence[str]) -> Asserted | None:
    if not isinstance(bound, int | float) or bound > 0.01:
        return None
    for call, other in ((left, right), (right, left)):
        if _is_call(call, names):
            return _called(call, value_of(other), close=True)
    return None


def _is_call(node: ast.expr, names: Sequence[str]) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (
            node.func.id in names
            if names
            else node.func.id not in ("set", "sorted", "abs", "list", "tuple", "len", "float")
        )
    )


def _called(node: ast.expr, answer: Any, *, close: bool = False) -> Asserted:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    named = {keyword.arg: value_of(keyword.value) for keyword in node.keywords if keyword.arg}
    if len(named) < len(node.keywords):
        raise ConfigError(f"line {node.lineno}: {ast.unparse(node)[:80]!r} gives arguments by **; {_REMEDY}")
    return Asserted(node.func.id, tuple(map(value_of, node.args)), named, answer, close)


_HEADERS_NAMES = {"int": "int", "float": "float", "str": "string", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Header:
    """A function to write.

    Attributes:
        name: its name.
        parameters: names of its parameters, without `self`.
        types: types of the parameters and the result; None if one is missing or unsupported.
        before: the preceding text: imports and other functions.
    """

    name: str
    parameters: tuple[str, ...]
    types: tuple[Type, ...] | None
    before: str = ""

    def method(self) -> Signature:
        """Return it as a method of `Solution`: in every language if types are stated, else in Python."""
        return Signature((self._function(self.types),))

    def alone(self, preamble: str, starter: str) -> Signature:
        """Return it as a plain function, in Python."""
        return Signature((self._function(None),), form="function", preamble=preamble, starter=starter)

    def _function(self, types: tuple[Type, ...] | None) -> Function:
        types_of = types or (Type(ANY),) * (len(self.parameters) + 1)
        return Function(self.name, tuple(map(Parameter, self.parameters, types_of)), types_of[-1])


def header(text: str, name: str = "") -> Header:
    """Parse a starter: a function, or the method of a class; the body is optional.

    Args:
        text: Python.
        name: name of the function; if empty, the last one of the text.

    Raises:
        ConfigError: if there is none.
    """
    module = _parsed(text)
    functions = [(node, node) for node in module.body if isinstance(node, ast.FunctionDef)]
    for owner in module.body:
        if isinstance(owner, ast.ClassDef):
            functions += [(node, owner) for node in owner.body if isinstance(node, ast.FunctionDef)]
    fitting = [pair for pair in functions if not name or pair[0].name == name]
    if not fitting:
        raise ConfigError(
            f"there is no function {name or 'at all'} in {text[:80]!r}; give the head of the function that is asked for"
        )
    node, owner = fitting[-1]
    arguments = [argument for argument in node.args.args if not (owner is not node and argument.arg == "self")]
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.posonlyargs:
        raise ConfigError(f"the function {node.name} takes arguments by *, / or **; name each of them")
    types = [_type(annotation) for annotation in (*(argument.annotation for argument in arguments), node.returns)]
    annotated = tuple(kind for kind in types if kind is not None)
    before = "\n".join(text.splitlines()[: owner.lineno - 1])
    names = tuple(argument.arg for argument in arguments)
    return Header(node.name, names, annotated if len(annotated) == len(types) else None, before)


def _parsed(text: str) -> ast.Module:
    for ending in ("", "\n        pass\n", "\n    pass\n"):
        try:
            return python_tree(text.rstrip() + ending if ending else text)
        except ValueError as error:
            failed = error
    raise ConfigError(f"it is no Python: {failed}; give the head of a function")


def _type(node: ast.expr | None) -> Type | None:
    """Return the type of an annotation; None if missing or not supported in other languages."""
    match node:
        case ast.Name(id=name) if name in _HEADERS_NAMES:
            return Type(_HEADERS_NAMES[name])
        case ast.Constant(value=str() as text):
            try:
                return _type(python_tree(text, "eval").body)
            except ValueError:
                return None
        case ast.Subscript(value=ast.Name(id="Optional"), slice=ast.Name(id="TreeNode" | "ListNode" as name)):
            return Type(TREE if name == "TreeNode" else LINKED)
        case ast.BinOp(
            left=ast.Name(id="TreeNode" | "ListNode" as name), op=ast.BitOr(), right=ast.Constant(value=None)
        ):
            return Type(TREE if name == "TreeNode" else LINKED)
        case ast.Subscript(value=ast.Name(id="List" | "list"), slice=inner):
            item = _type(inner)
            return (
                Type.parse(f"list[{item}]")
                if item is not None and _depth(item) < 3 and item.name not in (TREE, LINKED)
                else None
            )
        case _:
            return None


def _depth(kind: Type) -> int:
    return 0 if kind.item is None else 1 + _depth(kind.item)


SECONDS = 6.0
"""CPU seconds per case, added to the language's startup."""

MOST_ODD = 0.2
"""Maximum share of rows that are left out."""

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
    """A form's reading of a row; `shown` is the number of cases, the first ones, that a solver sees."""

    signature: Signature
    cases: tuple[Case, ...]
    shown: int
    close: bool = False


@dataclass(frozen=True)
class Rows:
    """The problems of a file, and the errors of invalid rows."""

    problems: tuple[Problem, ...]
    left_out: tuple[str, ...]


def problems_of(path: Path) -> Rows:
    """Read a file of problems: JSONL, CSV or parquet.

    Raises:
        ConfigError: if it cannot be read, or too many rows are invalid.
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
            f"there are {len(read.cases)} cases, {read.shown} of them shown; give at least one hidden case"
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
    """Return cases with answers converted to their type: an integer where a float is stated becomes a float."""
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
    """An unpickler for a single text; it looks up and calls nothing."""

    def find_class(self, module: str, name: str, /) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is asked for")


def _unpacked(value: str, key: str) -> str:
    """Return JSON text, unpacked if it is base64 of a compressed pickle, as LiveCodeBench publishes hidden cases."""
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
