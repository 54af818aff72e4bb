"""Variants of a problem by seed, in which a memorized solution is wrong: `two-gates@7`.

A variant keeps the problem's story and difficulty. The seed draws the function's name, the order of its arguments,
and a change of the answer that the statement describes: numbers are shifted, texts lengthened, truth values inverted.
So the known name is missing, and the known answer is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.kinds.code.languages import LANGUAGES, Language
from heredity.kinds.code.problem import CHECKER, Example, Problem
from heredity.kinds.code.signature import BOOL, LINKED, NONE, STRING, TREE, Function, Signature, Type

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

    Raises:
        ConfigError: if the problem comes from a file, whose cases are fixed, or has its own checker.
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

    signature = _signature(original.signature, change)
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


def _signature(original: Signature, change: Change) -> Signature:
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
