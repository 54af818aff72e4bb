"""Problem folders, and variants of a problem by seed.

two-gates/ problem.toml     title, difficulty, tags, signature, examples, how answers are compared statement.md
the problem statement reference.py     a fast solution; brute.py: another one, slow and obvious tests.py
small(random) returns one small case; cases(random) yields maximal and adversarial ones wrong/ slow/     solutions
that must be rejected: for a wrong answer or an error, or for their time checker.py       if several answers are
right: accepts(case, expected, answer) decides (compare = "checker") solutions/       further accepted solutions, in
any language, among which a solution is ranked
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import json_value, read_text, toml_table
from heredity._core.refusals import hint, quoted, reading
from heredity.kinds.code.languages import LANGUAGES, Language
from heredity.kinds.code.signature import BOOL, LINKED, NONE, STRING, TREE, Function, Signature, Type

DIFFICULTIES = ("easy", "medium", "hard")
UNRATED = "unrated"
"""Default difficulty of a row of a file."""

CHECKER = "checker"
COMPARISONS = ("exact", "close", "unordered", CHECKER)
"""Equal; equal but for 1e-6 in floats; equal as lists whose order does not matter; equal, or right by the problem's
checker.
"""

LIBRARY = "heredity.library"
_REQUIRED = ("problem.toml", "statement.md", "reference.py", "brute.py", "tests.py")
_FIELDS = {"title", "difficulty", "tags", "signature", "examples", "compare", "memory_mb", "slow"}
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Example:
    """A public case: its input, its answer and optionally an explanation."""

    case: Sequence[Any]
    answer: Any
    why: str = ""


@dataclass(frozen=True)
class Problem:
    """A programming problem.

    Attributes:
        name: name of its folder.
        title: for people.
        difficulty: `"easy"`, `"medium"` or `"hard"`.
        tags: its topics, sorted.
        statement: Markdown.
        signature: signature of a solution.
        examples: the public cases.
        compare: how answers are compared.
        memory_bytes: memory limit of a solution.
        files: Python sources by name: `reference.py`, `brute.py`, `tests.py`, and `checker.py` if it compares answers.
        rejected: solutions that must be rejected, by path below the folder, with the language of each.
        accepted: solutions that must be accepted, likewise (the reference is one of them).
        no_slow: the reason for the lack of a solution of a wrong complexity; empty if there is one.
        source: key for `problem`: its name, the path of its folder, or that of a file with the name of a row after `#`.
        given: all its cases with their answers, the examples first, if it comes with them instead of a reference.
        seconds: CPU seconds of a solution for each of those cases.
        original: for a variant, the problem that provides its cases and answers; `changed` converts both.
    """

    name: str
    title: str
    difficulty: str
    tags: tuple[str, ...]
    statement: str
    signature: Signature
    examples: tuple[Example, ...]
    compare: str
    memory_bytes: int
    files: Mapping[str, str]
    rejected: Mapping[str, tuple[Language, str]]
    accepted: Mapping[str, tuple[Language, str]]
    no_slow: str = ""
    source: str = ""
    given: tuple[tuple[Sequence[Any], Any], ...] = ()
    seconds: float = 0.0
    original: Problem | None = None
    changed: Callable[[Sequence[Any], Any], tuple[list[Any], Any]] | None = None

    @property
    def digest(self) -> str:
        """Digest of everything that determines its cases and answers."""
        shown = [(example.case, example.answer) for example in self.examples]
        given = {"given": repr(self.given), "seconds": self.seconds, "text": self.statement} if self.given else {}
        names = {"name": self.name} if self.original else {}
        return digest_json({"files": dict(self.files), "examples": shown, "compare": self.compare, **given, **names})

    def equal(self, expected: Any, answer: Any) -> bool:
        """Return True if an answer is the expected one; a checker may still accept another one."""
        if self.compare == "unordered" and isinstance(expected, list) and isinstance(answer, list):
            count = [Counter(json.dumps(item) for item in cast("list[Any]", items)) for items in (expected, answer)]
            return count[0] == count[1]
        return _close(expected, answer) if self.compare == "close" else expected == answer

    def text(self, language: Language) -> str:
        """Return the solver's view: the statement, the examples, and the starter.

        Raises:
            ConfigError: if it cannot be solved in this language.
        """
        language.check(self.signature)
        lines = [f"# {self.title}", "", self.statement.strip(), ""]
        for number, example in enumerate(self.examples, 1):
            why = f"  \n{example.why}" if example.why else ""
            lines += [
                f"**Example {number}.** Input `{json.dumps(example.case)}`, answer `{json.dumps(example.answer)}`{why}",
                "",
            ]
        starter = language.starter(self.signature).rstrip()
        return "\n".join([*lines, f"{language.title}:", "", f"```{language.name}", starter, "```"])


def read_problem(folder: Path) -> Problem:
    """Read a problem's folder.

    Raises:
        ConfigError: if something is missing or wrong in it.
    """
    if missing := [name for name in _REQUIRED if not (folder / name).is_file()]:
        raise ConfigError(f"{folder} has no {missing[0]}; add it: a problem has {', '.join(_REQUIRED)}")
    path = folder / "problem.toml"
    where = str(path)
    with reading(path, "TOML", "correct it there"):
        data = toml_table(read_text(path))
    if unknown := sorted(data.keys() - _FIELDS):
        raise ConfigError(f"{where}: unknown key {quoted(unknown[0])}; {hint(unknown[0], sorted(_FIELDS))}")
    signature = _signature(data.get("signature"), f"{where}: signature")
    tags = data.get("tags")
    if not isinstance(tags, list) or not tags or not all(isinstance(tag, str) for tag in cast("list[Any]", tags)):
        raise ConfigError(f"{where}: tags is {quoted(tags)}; give a list of words")
    compare = _choice({"compare": "exact", **data}, "compare", COMPARISONS, where)
    if (compare == CHECKER) != (folder / "checker.py").is_file():
        raise ConfigError(
            f'{where}: compare is {quoted(compare)}; use "checker" if there is a checker.py, and only then'
        )
    memory = data.get("memory_mb", 256)
    if not isinstance(memory, int) or not 16 <= memory <= 4096:
        raise ConfigError(f"{where}: memory_mb is {quoted(memory)}; give 16 to 4096")
    examples = data.get("examples", [])
    if not isinstance(examples, list):
        raise ConfigError(f"{where}: examples is {quoted(examples)}; give [[examples]] with case and answer")
    return Problem(
        name=folder.name,
        title=str(data.get("title", folder.name)),
        difficulty=_choice(data, "difficulty", DIFFICULTIES, where),
        tags=tuple(sorted(cast("list[str]", tags))),
        statement=_text(folder / "statement.md"),
        signature=signature,
        examples=tuple(_example(example, signature, where) for example in cast("list[Any]", examples)),
        compare=compare,
        memory_bytes=memory << 20,
        files={
            name: _text(folder / name)
            for name in (*_REQUIRED, *(("checker.py",) if compare == CHECKER else ()))
            if name.endswith(".py")
        },
        rejected=_solutions(folder, ("wrong", "slow")),
        accepted={
            "reference.py": (LANGUAGES["python3"], _text(folder / "reference.py")),
            **_solutions(folder, ("solutions",)),
        },
        no_slow=str(data.get("slow", "")),
        source=folder.name if folder.parent == library_folder() else str(folder.resolve()),
    )


def problem_folders(library: Path) -> dict[str, Path]:
    """Return the problems' folders below one, by name."""
    return {path.parent.name: path.parent for path in sorted(library.glob("*/problem.toml"))}


def library_folder() -> Path:
    """Return the folder of the built-in problems."""
    from importlib.resources import files

    return Path(str(files(LIBRARY) / "problems"))


def problem(name: str) -> Problem:
    """Return a problem by name, by the path of its folder, or by that of a file and a row in it, such as `mine.jsonl#HumanEval/3`.

    `NAME@SEED` is a variant of it (`heredity.kinds.code.problem`).

    Raises:
        ConfigError: if it does not exist, or something is wrong in it.
    """
    if Path(name).is_dir():
        return read_problem(Path(name))
    before, at, seed = name.rpartition("@")
    if at and before and "/" not in seed and "#" not in seed:
        return variant(problem(before), seed)
    if "#" in name:
        from heredity.kinds.code.files import row_of

        return row_of(name)
    folders = problem_folders(library_folder())
    if name not in folders:
        raise UnknownNameError("problem", name, sorted(folders))
    return _shipped(folders[name])


def library_problems() -> tuple[Problem, ...]:
    """Return the built-in problems, sorted by name; they are read once."""
    return tuple(map(_shipped, problem_folders(library_folder()).values()))


@lru_cache(maxsize=512)
def _shipped(folder: Path) -> Problem:
    return read_problem(folder)


def _signature(data: Any, where: str) -> Signature:
    if not isinstance(data, Mapping):
        raise ConfigError(f"{where} is missing; give [signature] with a name, parameters and returns")
    table = cast("Mapping[str, Any]", data)
    if "class" not in table:
        return Signature((Function.parse(table, where),))
    made = Function.parse({"name": "init", "parameters": table.get("parameters", {})}, where)
    given = table.get("methods", [])
    if not isinstance(given, list):
        raise ConfigError(f"{where}.methods is {quoted(given)}; give [[signature.methods]]")
    methods = [Function.parse(method, f"{where}.methods") for method in cast("list[Any]", given)]
    return Signature((made, *methods), str(table["class"]))


def _text(path: Path) -> str:
    with reading(path, "text", "put the file there"):
        return read_text(path)


def _example(data: Any, signature: Signature, where: str) -> Example:
    try:
        # An answer may be a list with null in it, which TOML cannot express.
        case, answer = json_value(data["case"]), json_value(data["answer"])
        signature.encoded(case)
    except (KeyError, ValueError, TypeError, AttributeError, ConfigError) as error:
        raise ConfigError(
            f"{where}: an example is {quoted(data)}: {error!s:.200}; give case and answer as JSON texts"
        ) from error
    return Example(case, answer, str(data.get("why", "")))


def _choice(data: Mapping[str, Any], field: str, choices: Sequence[str], where: str) -> str:
    if data.get(field) not in choices:
        raise ConfigError(f"{where}: {field} is {quoted(data.get(field))}; give one of {', '.join(choices)}")
    return str(data[field])


def _solutions(folder: Path, names: Sequence[str]) -> dict[str, tuple[Language, str]]:
    by_suffix = {Path(one.file).suffix: one for one in LANGUAGES.values()}
    solutions: dict[str, tuple[Language, str]] = {}
    for name in names:
        for path in sorted((folder / name).glob("*")):
            if path.suffix in by_suffix:
                solutions[f"{name}/{path.name}"] = by_suffix[path.suffix], _text(path)
    return solutions


def _close(expected: Any, answer: Any) -> bool:
    if isinstance(expected, list | tuple) and type(expected) is type(answer):  # pyright: ignore[reportUnknownArgumentType]
        pairs = cast("tuple[Sequence[Any], Sequence[Any]]", (expected, answer))
        return len(pairs[0]) == len(pairs[1]) and all(map(_close, *pairs))
    if isinstance(expected, float) and isinstance(answer, int | float):
        return math.isclose(expected, answer, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return expected == answer


_NAMES = (
    "evaluate",
    "determine",
    "resolve",
    "compute",
    "settle",
    "derive",
    "respond",
    "conclude",
    "deduce",
    "establish",
)
_MOST = 97
_PYTHON = "python3"

_ADAPTED = """

_Learned = {owner}


def _changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + {by}
    if isinstance(value, str):
        return value + {letter!r}
    if isinstance(value, list):
        return [_changed(item) for item in value]
    nodes = [value]
    for node in nodes:
        if node is not None:
            node.val += {by}
            nodes += [node.next] if hasattr(node, "next") else [node.left, node.right]
    return value


"""


@dataclass(frozen=True, slots=True)
class Change:
    """The changes of a variant.

    Attributes:
        by: number added to each number of an answer.
        letter: letter appended to each text.
        name: of the function.
        order: the positions of its arguments in the original.
    """

    by: int
    letter: str
    name: str
    order: tuple[int, ...]

    def case(self, case: Sequence[Any]) -> list[Any]:
        """Convert a case of the original to the variant."""
        return [case[index] for index in self.order] if self.order else list(case)

    def answer(self, kind: Type, value: Any) -> Any:
        """Convert an answer of the original to the variant.

        Args:
            kind: its type.
            value: the answer.
        """
        if value is None:
            return None
        if kind.name == BOOL:
            return not value
        if kind.name == STRING:
            return f"{value}{self.letter}"
        if kind.name in (TREE, LINKED, "list"):
            item = kind.item or Type("int")
            return [self.answer(item, one) for one in cast("list[Any]", value)]
        return value + self.by


def variant(original: Problem, seed: str) -> Problem:
    """Return the variant of a problem for a seed; solutions in Python come with it, adapted.

    A memorized solution of the problem is wrong for its variant, such as `two-gates@7`. A variant keeps the problem's
    story and difficulty. The seed draws the function's name, the order of its arguments, and a change of the answer
    that the statement describes: numbers are shifted, texts lengthened, truth values inverted. So the known name is
    missing, and the known answer is wrong.

    Raises:
        ConfigError: if the problem comes from a file, whose cases are fixed, or has a checker.
    """
    if original.compare == CHECKER:
        raise ConfigError(f"{original.name} has a checker and therefore no variants; leave it out, or use no variant")
    if original.given:
        raise ConfigError(
            f"{original.name} is a row of a file and has no variants; take a problem of the library or a folder"
        )
    change = _draw_change(original, seed)

    def changed(case: Sequence[Any], answer: Any) -> tuple[list[Any], Any]:
        return change.case(case), answers(original, change, case, answer)

    signature = _varied_signature(original.signature, change)
    return replace(
        original,
        name=f"{original.name}@{seed}",
        statement=f"{original.statement.rstrip()}\n\n{_words(original.signature, change)}\n",
        signature=signature,
        examples=tuple(Example(*changed(one.case, one.answer)) for one in original.examples),
        accepted=_adapted(original, change, original.accepted),
        rejected=_adapted(original, change, original.rejected),
        source=f"{original.source}@{seed}",
        original=original,
        changed=changed,
    )


def answers(original: Problem, change: Change, case: Sequence[Any], answer: Any) -> Any:
    """Convert the answer to a case of the original to the variant."""
    signature = original.signature
    if not signature.class_name:
        return change.answer(signature.function.result, answer)
    results = {function.name: function.result for function in signature.functions}
    return [change.answer(results[call[0]], one) for call, one in zip(case[1:], answer, strict=True)]


def _draw_change(original: Problem, seed: str) -> Change:
    draw = generator(0, "variant", original.name, seed)
    names = [name for name in _NAMES if name != original.signature.function.name]
    count = len(original.signature.function.parameters)
    order = tuple(int(index) for index in draw.permutation(count))
    if order == tuple(range(count)):
        order = order[1:] + order[:1]
    return Change(
        by=int(draw.integers(2, _MOST)),
        letter="bcdfghjkmnpqrstvwxz"[int(draw.integers(19))],
        name=names[int(draw.integers(len(names)))],
        order=() if original.signature.class_name else order,
    )


def _varied_signature(original: Signature, change: Change) -> Signature:
    if original.class_name:
        return original
    function = original.function
    parameters = tuple(function.parameters[index] for index in change.order)
    return Signature((Function(change.name, parameters, function.result),))


def _words(signature: Signature, change: Change) -> str:
    names = {kind.name for function in signature.functions for kind in function.result.nested()}
    phrases = [
        (
            names - {STRING, BOOL, NONE, "list"},
            f"{change.by} is added to every number in it, also to one that stands for no answer",
        ),
        (names & {STRING}, f"`{change.letter}` is put behind every text in it"),
        (names & {BOOL}, "every truth value in it is turned round"),
    ]
    parts = [text for present, text in phrases if present]
    what = "What a call returns" if signature.class_name else "The answer"
    return f"**{what} is changed before it is returned**: {'; '.join(parts)}. The examples show it so."


def _adapted(
    original: Problem, change: Change, solutions: Mapping[str, tuple[Language, str]]
) -> dict[str, tuple[Language, str]]:
    """Return the solutions in Python, each with its answer changed as the statement describes."""
    kept = {path: source for path, (language, source) in solutions.items() if language.name == _PYTHON}
    return {path: (LANGUAGES[_PYTHON], source + _adapter(original, change)) for path, source in kept.items()}


def _adapter(original: Problem, change: Change) -> str:
    signature = original.signature
    head = _ADAPTED.format(owner=signature.class_name or "Solution", by=change.by, letter=change.letter)
    if signature.class_name:
        methods = [
            f"    def {function.name}(self, *given):\n        return _changed(super().{function.name}(*given))\n"
            for function in signature.functions[1:]
            if function.result.name != NONE
        ]
        return f"{head}class {signature.class_name}(_Learned):\n" + ("\n".join(methods) or "    pass\n")
    names = [parameter.name for parameter in signature.function.parameters]
    given = ", ".join(names[index] for index in change.order)
    call = f"_Learned().{signature.function.name}({', '.join(names)})"
    return f"{head}class Solution:\n    def {change.name}(self, {given}):\n        return _changed({call})\n"
