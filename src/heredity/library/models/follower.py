"""`offline/rule-follower`: a solver that only follows the rules in its system message."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from heredity.library.models.skills import SKILLS, apply_skill
from heredity.models.contract import Message, Reply, Request, ToolCall, Usage

_RULE = re.compile(r'^[ \t]*[-*]?[ \t]*When a question says "([^"\n]{1,200})", (.{1,200}?)\.?[ \t]*$', re.MULTILINE)
_CALL = re.compile(r"call the tool ([A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: when the question says `cue` (in any case), do `what`: a skill's words, or `call the tool NAME`."""

    cue: str
    what: str

    def __str__(self) -> str:
        return f'- When a question says "{self.cue}", {self.what}.'


def read_rules(prompt: str) -> list[Rule]:
    """Return the rules in a prompt, in order; other lines are skipped."""
    return [Rule(cue, what) for cue, what in _RULE.findall(prompt)]


class RuleFollower:
    """Follows the first rule whose cue occurs in the question and whose skill applies.

    A rule is a line such as `- When a question says "how many legs", give the sum of the numbers.`, in a system
    message. The skills are those of `heredity.library.models.skills`; a rule may also call a tool with the question
    (`{"question": ...}`); the result is the answer. Without a matching rule it repeats the question's last word. Usage
    counts words.
    """

    name = "offline/rule-follower"

    async def reply(self, request: Request) -> Reply:
        """Answer a request."""
        system = "\n".join(m.content for m in request.messages if m.role == "system")
        asked = [m for m in request.messages if m.role == "user"]
        question = asked[0].content if asked else ""
        last = request.messages[-1]
        if last.role == "tool":
            return self._answer(request, question, _plain(last.content))
        for rule in read_rules(system):
            if rule.cue.casefold() not in question.casefold():
                continue
            call = _CALL.fullmatch(rule.what)
            if call and any(tool.name == call[1] for tool in request.tools):
                return _reply(request, "", ToolCall("call-1", call[1], json.dumps({"question": question})))
            answer = apply_skill(rule.what, _body(question)) if rule.what in SKILLS else None
            if answer is not None:
                return self._answer(request, question, answer)
        words = _body(question).split()
        return self._answer(request, question, words[-1] if words else "nothing")

    def _answer(self, request: Request, question: str, answer: str) -> Reply:
        tagged = "<answer>" in question or any("<answer>" in m.content for m in request.messages if m.role == "system")
        return _reply(request, f"<answer>{answer}</answer>" if tagged else f"Answer: {answer}")


def _reply(request: Request, text: str, *calls: ToolCall) -> Reply:
    usage = Usage(words_of(request.messages), len(text.split()) + 4 * len(calls), 0, 0.0)
    return Reply(text, calls, "tool_calls" if calls else "stop", usage, RuleFollower.name)


def words_of(messages: tuple[Message, ...]) -> int:
    """Return the number of words in messages, which offline models count as tokens."""
    return sum(len(m.content.split()) for m in messages)


def _body(question: str) -> str:
    """Return a question without the paragraph on the answer format."""
    return question.strip().rpartition("\n\n")[0] or question.strip() if "<answer>" in question else question.strip()


def _plain(result: str) -> str:
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return result
    return value if isinstance(value, str) else json.dumps(value)
