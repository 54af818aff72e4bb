"""`offline/reviser`: all models of evolution within a task: it answers, assesses and revises, as planned for each question.

It derives answers from the question (`heredity.library.models.skills`). A plan, drawn from the question's words,
decides when it answers right: at once, in round 1, 2 or 3, or never. In some plans a right answer is spoiled in the
next round, or the assessment is wrong. So messages between rounds, commits and losses can be checked against the plan.
The gains of such a program are its author's choice, not a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from heredity._core.errors import ProviderError
from heredity._core.ids import digest_bytes
from heredity.library.models.follower import RuleFollower, read_rules, words_of
from heredity.library.models.inducer import block_of
from heredity.library.models.skills import apply_skill
from heredity.models.contract import Reply, Request, Usage

CUES: Mapping[str, str] = {
    "Greatest Common Divisor": "give the greatest common divisor of the numbers",
    "Least Common Multiple": "give the least common multiple of the numbers",
    "How many 1 bits": "count the ones of the last number in binary",
    "Spell this word backward": "write what follows the colon backwards",
}
"""Words by which it knows a kind of question, and the skill that answers it."""

_WRONG = "leave it unanswered"
"""What a wrong rule says: whatever else it said, such as to repeat a word, would be right for some question by luck."""

_PROMPT = "prompt/system:prompt.md"
_ANSWER = "prompt/answer:prompt.md"


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan for a question's right answer.

    Attributes:
        round: first round with the right answer, 0 for at once (None for never).
        spoils: whether the next round gives a wrong answer again.
        fooled: whether a wrong answer is assessed as right.
    """

    round: int | None
    spoils: bool = False
    fooled: bool = False

    def right_in(self, number: int) -> bool:
        """Return True if the answer of this round is right."""
        if self.round is None or number < self.round:
            return False
        return not (self.spoils and number > self.round)


PLANS = (
    Plan(0),
    Plan(0, spoils=True),
    Plan(1),
    Plan(1, spoils=True),
    Plan(2),
    Plan(3),
    Plan(None),
    Plan(None, fooled=True),
)


def plan_of(question: str) -> Plan:
    """Return the plan for a question, from its words."""
    words = " ".join(question.split())
    return PLANS[int(digest_bytes(words.encode())[:8], 16) % len(PLANS)]


def solution(question: str) -> str | None:
    """Return the right answer to a question of a known kind; None for any other."""
    for cue, skill in CUES.items():
        if cue.casefold() in question.casefold():
            return apply_skill(skill, body(question))
    return None


def body(question: str) -> str:
    """Return a question without the paragraph on the answer format."""
    return question.rpartition("\n\n")[0] or question if "<answer>" in question else question


class Reviser:
    """Answers by plan, and plays the optimizer and the critic of these answers; usage counts words."""

    name = "offline/reviser"

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if it is an optimizer's request outside evolution within a task (`unscripted`).
        """
        if not request.messages or "```json" not in request.messages[-1].content:
            return await self._answered(request)
        block = block_of(request, self.name)
        answers = {
            "assess": _assess,
            "reflect": _reflect,
            "select": _select,
            "critique": _critique,
            "improve": _improve,
        }
        task = str(block.get("task"))
        if task not in answers:
            raise ProviderError("unscripted", f"{self.name} cannot {task!r}", transient=False)
        return self._reply(request, json.dumps(answers[task](block)))

    async def _answered(self, request: Request) -> Reply:
        question = next((m.content for m in request.messages if m.role == "user"), "")
        rules = read_rules("\n".join(m.content for m in request.messages if m.role == "system"))
        if rules and all(rule.what != _WRONG for rule in rules):
            reply = await RuleFollower().reply(request)
            return self._reply(request, reply.text)
        right = not rules and plan_of(question).right_in(0)
        return self._reply(request, _written(question, right=right, number="0"))

    def _reply(self, request: Request, text: str) -> Reply:
        usage = Usage(words_of(request.messages), len(text.split()), 0, 0.0)
        return Reply(text, usage=usage, model=self.name)


def _assess(block: Mapping[str, Any]) -> dict[str, Any]:
    question, given = str(block["question"]), str(block["answer"])
    right = plan_of(question).fooled or given == solution(question)
    return {"right": 1.0 if right else 0.25, "why": "it checks out" if right else "a step does not hold"}


def _reflect(block: Mapping[str, Any]) -> dict[str, Any]:
    variables = list(_variables(block))
    return {"hypotheses": [{"cause": "the answer does not follow", "variables": variables, "tasks": _tasks(block)}]}


def _select(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"selections": [{"variable": _target(block), "change": "what the answer rests on", "hypothesis": 0}]}


def _critique(block: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "critique": "the answer does not follow",
        "gradients": [{"variable": _target(block), "text": "work it out again"}],
    }


def _improve(block: Mapping[str, Any]) -> dict[str, Any]:
    """Write the answer of this round, or a rule that leads to it; the first of several draws follows the plan."""
    question, number = str(_evidence(block)[0].get("question")), int(block["round"])
    draw = int(block.get("draw") or 0)
    right, target = plan_of(question).right_in(number) and not draw, _target(block)
    if target == _ANSWER:
        value = _written(question, right=right, number=f"{number}.{draw}")
    else:
        cue = next((c for c in CUES if c.casefold() in question.casefold()), "a question")
        skill = CUES.get(cue, "")
        value = f'- When a question says "{cue}", {skill if right else _WRONG}.\n(revision {number}.{draw})'
    return {"edits": [{"variable": target, "value": value, "why": f"round {number}"}], "expects": "another answer"}


def _written(question: str, *, right: bool, number: str) -> str:
    answer_known = solution(question)
    answer = answer_known if right and answer_known is not None else f"nothing {number}"
    text_of_answer = re.sub(r"\s+", " ", answer)
    return f"<answer>{text_of_answer}</answer>" if "<answer>" in question else f"Answer: {text_of_answer}"


def _target(block: Mapping[str, Any]) -> str:
    targets = cast("Sequence[str]", block["limits"]["targets"])
    return _ANSWER if "answer" in targets else _PROMPT


def _variables(block: Mapping[str, Any]) -> Mapping[str, str]:
    return cast("Mapping[str, str]", block.get("variables") or {})


def _evidence(block: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return cast("Sequence[Mapping[str, Any]]", block["evidence"])


def _tasks(block: Mapping[str, Any]) -> list[Any]:
    return [item.get("task") for item in _evidence(block)]
