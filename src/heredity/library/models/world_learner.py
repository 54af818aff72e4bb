"""`offline/world-learner`: an optimizer's model for players with rules and constants, based on counts over rollouts.

It reads the transcripts of rollouts at worlds (docs/optimizers.md), and knows two forms of advice. In a prompt: lines
such as `- Prefer {action}`, `- Avoid {action}` and `- When it says "words", do {action}`, with an action's name alone
for any parameters. In a program: constants such as `EXPLORE = 0.4` or `SWEEP = False` at the beginning of a line.
`harnesses/explorer` follows both. Its proposals are often wrong, since they rest on a few rollouts; evaluation must
filter them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from heredity._core.errors import ProviderError
from heredity._core.ids import generator
from heredity.library.models.follower import words_of
from heredity.library.models.inducer import block_of
from heredity.models.contract import Reply, Request, Usage

_TURN = re.compile(r"^\[(told|said)\] (.*?)(?=^\[(?:told|said)\] |^\[… |\Z)", re.MULTILINE | re.DOTALL)
_PAID = re.compile(r"The last action paid (-?[\d.]+(?:e[+-]?\d+)?)\.\s*$")
_CONSTANT = re.compile(r"^([A-Z][A-Z_]+) = (True|False|-?\d+(?:\.\d+)?)", re.MULTILINE)
_PHRASE = re.compile(r"[A-Za-z][A-Za-z ,']{5,38}[a-z]")
_RULE = re.compile(r'^- (?:Prefer|Avoid|When it says "[^"\n]+", do) (?:\{.*\}|\w+)$', re.MULTILINE)
_PROMPT = "prompt/system:prompt.md"


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of a rollout: observation, action, reward, and whether anything changed."""

    seen: str
    action: str
    paid: float
    changed: bool


class WorldLearner:
    """Answers the requests of learning methods: analyses rollouts, then adds a rule or changes a constant.

    Deterministic in the request; different seeds give different proposals.
    """

    name = "offline/world-learner"

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if it is not a learning method's request (`unscripted`).
        """
        block = block_of(request, self.name)
        rng = generator(request.sampling.seed or 0, "offline", "world-learner", request.digest)
        turns = [turn for item in _evidence(block) for turn in turns_of(str(item.get("transcript") or ""))]
        task = str(block.get("task"))
        if task in ("dynamics", "instruction"):
            rules = dynamics(turns) if task == "dynamics" else instructions(turns)
            answer: dict[str, Any] = {"signal": "\n".join(rules) or "nothing stands out"}
        elif task == "critique":
            rules = dynamics(turns) or instructions(turns)
            gradients = [{"variable": _PROMPT, "text": "\n".join(rules)}] if rules else []
            answer = {
                "critique": "it does not keep to what pays" if rules else "nothing to say",
                "gradients": gradients,
            }
        elif task == "reflect":
            answer = {"hypotheses": [{"cause": "it does not know what pays", "variables": [], "tasks": []}]}
        elif task == "select":
            answer = {"selections": [{"variable": v, "change": "what was learned"} for v in _variables(block)]}
        elif task == "improve":
            answer = _improve(block, turns, rng)
        else:
            raise ProviderError("unscripted", f"{self.name} cannot {task!r}; it answers learners only", transient=False)
        text = json.dumps(answer)
        return Reply(text, usage=Usage(words_of(request.messages), len(text.split()), 0, 0.0), model=self.name)


def turns_of(transcript: str) -> list[Turn]:
    """Read the steps in a transcript, skipping the omitted part."""
    turns: list[Turn] = []
    parts = [(kind, text.strip()) for kind, text in _TURN.findall(transcript)]
    for (a, seen), (b, reply), (c, after) in zip(parts, parts[1:], parts[2:], strict=False):
        if (a, b, c) == ("told", "said", "told"):
            paid = _PAID.search(after)
            turns.append(Turn(seen, _action(reply), float(paid[1]) if paid else 0.0, after != seen))
    return [turn for turn in turns if turn.action]


def dynamics(turns: Sequence[Turn]) -> list[str]:
    """Return rules for rewards: preferences, and words with which an action paid and without which it did not."""
    rules: list[str] = []
    named = [replace(t, action=str(json.loads(t.action)["action"])) for t in turns]
    usual = sum(t.paid for t in turns) / max(1, len(turns))
    for action in dict.fromkeys(t.action for t in (*named, *turns)):
        own = [t for t in (*named, *turns) if t.action == action]
        paying, others = [t for t in own if t.paid > 0], [t for t in own if t.paid <= 0]
        mean = sum(t.paid for t in own) / len(own)
        if paying and mean > max(0.0, usual):
            rules.append(f"- Prefer {action}")
        if mean < min(0.0, usual):
            rules.append(f"- Avoid {action}")
        for turn in paying[:2]:
            telling = [p for p in _PHRASE.findall(turn.seen) if all(p not in t.seen for t in others)]
            rules += [f'- When it says "{phrase}", do {action}' for phrase in telling[:2]]
    return rules


def instructions(turns: Sequence[Turn]) -> list[str]:
    """Return rules against useless actions, which never changed anything."""
    rules: list[str] = []
    named = [replace(t, action=str(json.loads(t.action)["action"])) for t in turns]
    for action in dict.fromkeys(t.action for t in (*named, *turns)):
        own = [t for t in (*named, *turns) if t.action == action]
        if len(own) > 1 and not any(t.changed or t.paid > 0 for t in own):
            rules.append(f"- Avoid {action}")
    return rules


def _improve(block: Mapping[str, Any], turns: Sequence[Turn], rng: np.random.Generator) -> dict[str, Any]:
    variables = _variables(block)
    programs = [name for name, text in variables.items() if name.endswith(".py") and _CONSTANT.search(text)]
    prompts = [name for name in variables if name == _PROMPT]
    if programs and (not prompts or rng.random() < 0.5):
        return _constant_changed(programs[0], variables[programs[0]], rng)
    gradients = cast(Sequence[Mapping[str, Any]], block.get("gradients") or ())
    analyses = [
        str(block.get("signal") or ""),
        *(str(text) for gradient in gradients for text in gradient.get("texts", ())),
    ]
    advice = _RULE.findall("\n".join(analyses)) or dynamics(turns) or instructions(turns)
    prompt = variables.get(_PROMPT, "")
    fresh = [rule for rule in advice if rule not in prompt]
    text = prompt.rstrip()
    if fresh:
        text += "\n" + fresh[int(rng.integers(len(fresh)))]
    elif old := _RULE.findall(prompt):
        text = prompt.replace(old[int(rng.integers(len(old)))] + "\n", "").rstrip()
    why = "what attempts have shown"
    return {"edits": [{"variable": _PROMPT, "value": text + "\n", "why": why}], "expects": "more reward"}


def _constant_changed(name: str, program: str, rng: np.random.Generator) -> dict[str, Any]:
    constants = list(_CONSTANT.finditer(program))
    constant = constants[int(rng.integers(len(constants)))]
    old = constant[2]
    scaled = 0.0 if old in ("True", "False") else float(old) * float(rng.choice([0.25, 0.5, 1.5, 2.0]))
    number = f"{scaled:.3g}" if "." in old else str(max(1, round(scaled)))
    value = {"True": "False", "False": "True"}.get(old, number)
    text = program[: constant.start(2)] + value + program[constant.end(2) :]
    why = f"{constant[1]} was {old}"
    return {"edits": [{"variable": name, "value": text, "why": why}], "expects": "more reward"}


def _evidence(block: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return cast(Sequence[Mapping[str, Any]], block.get("evidence") or ())


def _variables(block: Mapping[str, Any]) -> dict[str, str]:
    return dict(cast(Mapping[str, str], block.get("variables") or {}))


def _action(reply: str) -> str:
    """Return an action in the notation of rules; `""` if it is not an action."""
    try:
        value = json.loads(reply)
    except ValueError:
        return ""
    given = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    if not isinstance(given.get("action"), str):
        return ""
    return json.dumps({"action": given["action"], "params": given.get("params") or {}})
