"""`offline/coder`: writes programs from the stored solutions of problems, wrong and slow ones first, and repairs them by verdict.

A plan, drawn from the names of the problem and the language, decides the order: a right program at once, or first one
that is wrong, slow or does not compile, or none. It moves on in its plan only when a fault is reported. If a language
has no wrong or slow solution, it writes a program that does not compile. The gains of such a program are its author's
choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from heredity._core.errors import ProviderError
from heredity._core.ids import digest_bytes
from heredity.kinds.code.problem import Problem, library_problems
from heredity.library.models.follower import words_of
from heredity.library.models.inducer import block_of
from heredity.models.contract import Reply, Request, Usage

RIGHT, WRONG, SLOW, BROKEN, NONE = "right", "wrong", "slow", "broken", "none"
PLANS = (
    (RIGHT,),
    (WRONG, RIGHT),
    (SLOW, RIGHT),
    (BROKEN, WRONG, RIGHT),
    (NONE, SLOW, WRONG, RIGHT),
    (WRONG, SLOW, BROKEN, WRONG),
)
"""What is written in each round, the first answer at the front; the last of a plan stays."""

_ANSWER = "prompt/answer:prompt.md"
_BROKEN = "this is )( no program\n"
_FENCE = re.compile(r"^```([\w+]+)", re.MULTILINE)


def plan_of(problem: str, language: str) -> tuple[str, ...]:
    """Return the plan for a problem in a language."""
    return PLANS[int(digest_bytes(f"{problem}/{language}".encode())[:8], 16) % len(PLANS)]


def program(problem: Problem, language: str, kind: str) -> str:
    """Return a program of a kind; one that does not compile if the problem lacks the kind in this language."""
    stored = problem.accepted if kind == RIGHT else problem.rejected
    folder = {WRONG: "wrong/", SLOW: "slow/"}.get(kind, "")
    if kind in (RIGHT, WRONG, SLOW):
        for path, (written, source) in stored.items():
            if written.name == language and path.startswith(folder):
                return source
    return _BROKEN


def reply_of(problem: Problem, language: str, kind: str) -> str:
    """Return the reply: a fenced program, or no program."""
    if kind == NONE:
        return "I cannot see how to begin."
    return f"```{language}\n{program(problem, language, kind).rstrip()}\n```"


class Coder:
    """Writes programs by plan, and plays their optimizer; usage counts words."""

    name = "offline/coder"

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if it is neither about a problem of Heredity nor an optimizer's request (`unscripted`).
        """
        last = request.messages[-1].content if request.messages else ""
        if "```json" not in last:
            problem, language = _problem_of(last)
            return self._reply(request, reply_of(problem, language, plan_of(problem.name, language)[0]))
        block = block_of(request, self.name)
        task = str(block.get("task"))
        replies = {
            "reflect": {"hypotheses": [{"cause": "the program fails", "variables": [_ANSWER], "tasks": []}]},
            "select": {"selections": [{"variable": _ANSWER, "change": "the program", "hypothesis": 0}]},
            "critique": {
                "critique": "the program fails",
                "gradients": [{"variable": _ANSWER, "text": "write another"}],
            },
            "assess": {"right": 0.5, "why": "it was not run"},
        }
        if task == "improve":
            return self._reply(request, json.dumps(_improved(block)))
        if task not in replies:
            raise ProviderError("unscripted", f"{self.name} cannot {task!r}", transient=False)
        return self._reply(request, json.dumps(replies[task]))

    def _reply(self, request: Request, text: str) -> Reply:
        usage = Usage(words_of(request.messages), len(text.split()), 0, 0.0)
        return Reply(text, usage=usage, model=self.name)


def _improved(block: Mapping[str, Any]) -> dict[str, Any]:
    """Write the next program of the plan if a fault is reported, else the same again."""
    evidence = cast("Sequence[Mapping[str, Any]]", block["evidence"])[0]
    problem, language = _problem_of(str(evidence.get("question")))
    plan, number = plan_of(problem.name, language), int(block["round"]) if evidence.get("error") else 0
    value = reply_of(problem, language, plan[min(number, len(plan) - 1)])
    return {"edits": [{"variable": _ANSWER, "value": value, "why": f"round {block['round']}"}], "expects": "it passes"}


def _problem_of(question: str) -> tuple[Problem, str]:
    title = next((line[2:].strip() for line in question.splitlines() if line.startswith("# ")), "")
    fences = [name for name in _FENCE.findall(question) if name != "json"]
    if title not in _problems() or not fences:
        raise ProviderError("unscripted", "offline/coder knows the problems of Heredity alone", transient=False)
    return _problems()[title], fences[-1]


@cache
def _problems() -> Mapping[str, Problem]:
    return {problem.title: problem for problem in library_problems()}
