"""`offline/rule-inducer`: an optimizer's model that writes rules for the rule follower, by program induction.

It sees the same as any model: the JSON block of the optimizers' requests (docs/optimizers.md). For a failed rollout it
searches for skills that give the expected answer, and for words that identify such questions. One example is little: a
skill may fit by chance, and words may occur in questions of other kinds. The commit gate must refuse such wrong rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from heredity._core.errors import ProviderError
from heredity._core.ids import generator
from heredity.library.models.follower import Rule, read_rules, words_of
from heredity.library.models.skills import SKILLS, apply_skill
from heredity.models.contract import Reply, Request, Usage

_BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_PROMPT = "prompt/system:prompt.md"
_LONGEST_CUE = 4
_CUES = 20
_ADVICE = "Add this rule: "


class RuleInducer:
    """Answers an optimizer's requests: reflects, selects, critiques, and adds one rule at a time to the system prompt.

    It reads the rules in libraries: it blames the rule that a failed rollout followed, and adds one for each skill.

    Deterministic in the request; different seeds give different proposals.
    """

    name = "offline/rule-inducer"

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if it is not an optimizer's request (`unscripted`).
        """
        block = block_of(request, self.name)
        rng = generator(request.sampling.seed or 0, "offline", "rule-inducer", request.digest)
        answers = {"reflect": _reflect, "select": _select, "critique": _critique, "improve": _improve}
        answers |= {"dynamics": _signal, "instruction": _signal, "lessons": _lessons, "curate": _curate}
        answers |= {"summarise": _summarise, "compare": _compare, "consolidate": _consolidate}
        task = str(block.get("task"))
        if task not in answers:
            raise ProviderError(
                "unscripted", f"{self.name} cannot {task!r}; it answers optimizers only", transient=False
            )
        text = json.dumps(answers[task](block, rng))
        return Reply(text, usage=Usage(words_of(request.messages), len(text.split()), 0, 0.0), model=self.name)


def block_of(request: Request, name: str) -> Mapping[str, Any]:
    """Return the JSON block of an optimizer's request.

    Raises:
        ProviderError: if there is none (`unscripted`); `name` is the model in the message.
    """
    for message in request.messages:
        match = _BLOCK.search(message.content)
        if message.role == "user" and match:
            try:
                value = json.loads(match[1])
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return cast(Mapping[str, Any], value)
    raise ProviderError(
        "unscripted", f"{name} was asked something without a JSON block; it answers optimizers only", transient=False
    )


def _reflect(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    failed = _failures(block)
    cause = "no rule tells the agent what to do with questions such as these"
    return {
        "hypotheses": [{"cause": cause, "variables": [_PROMPT], "tasks": [f["task"] for f in failed]}] if failed else []
    }


def _select(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return {"selections": [{"variable": _PROMPT, "change": "add a rule for one kind of question", "hypothesis": 0}]}


def _critique(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    rule = _induced(block, rng)
    if rule is None:
        return {"critique": "nothing to say", "gradients": []}
    return {"critique": "a rule is missing", "gradients": [{"variable": _PROMPT, "text": f"{_ADVICE}{rule}"}]}


def _signal(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    rule = _induced(block, rng)
    return {"signal": "nothing was learned" if rule is None else f"{_ADVICE}{rule}"}


def _improve(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    prompt = str(cast(Mapping[str, Any], block.get("variables") or {}).get(_PROMPT, ""))
    gradients = cast(Sequence[Mapping[str, Any]], block.get("gradients") or ())
    advice = [str(block.get("signal") or "")]
    advice += [str(text) for gradient in gradients for text in gradient.get("texts", ())]
    rules = [rule for text in advice for rule in read_rules(text.removeprefix(_ADVICE))]
    induced = [rules[int(rng.integers(len(rules)))]] if rules else [r for r in [_induced(block, rng)] if r is not None]
    if not induced:
        return {
            "edits": [{"variable": _PROMPT, "value": prompt.rstrip() + "\n", "why": "nothing was learned"}],
            "expects": "",
        }
    rule = induced[0]
    lines = prompt.rstrip().splitlines()
    first = next((i for i, line in enumerate(lines) if read_rules(line)), len(lines))
    position = first if rng.random() < 0.5 else len(lines)
    lines.insert(position, str(rule))
    why = f'questions that say "{rule.cue}" need to {rule.what}'
    return {
        "edits": [{"variable": _PROMPT, "value": "\n".join(lines) + "\n", "why": why}],
        "expects": "such questions are answered",
    }


def _lessons(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    rule, right = _induced(block, rng), not _failures(block)
    followed = _followed(block, "skillbook")
    lessons = [{"text": _entry(rule), "section": rule.what}] if rule else []
    return {"helpful": followed if right else [], "harmful": [] if right else followed, "lessons": lessons}


def _curate(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    retired = [e["id"] for e in block["skillbook"] if e["harmful"] > e["helpful"]]
    added = _rule_of_each_skill([str(lesson["text"]) for lesson in block["lessons"]], rng)
    operations = [{"do": "retire", "id": id_} for id_ in retired] + [{"do": "add", **addition} for addition in added]
    return {"operations": operations, "why": "rules that failed go, rules for what failed come"}


def _summarise(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return {"summary": "; ".join(f"it answered {item.get('answer')}" for item in block["evidence"])}


def _compare(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    rule = _induced(block, rng)
    operations: list[dict[str, Any]] = [{"do": "delete", "id": id_} for id_ in _followed(block, "experiences")]
    operations += [{"do": "add", "text": _entry(rule)}] if rule else []
    return {"operations": operations, "why": "what the attempts followed was wrong"}


def _consolidate(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    proposed = [operation for change in block["proposed"] for operation in change["operations"]]
    gone = dict.fromkeys(id_ for operation in proposed if operation["do"] == "delete" for id_ in operation["ids"])
    added = _rule_of_each_skill([str(operation["text"]) for operation in proposed if operation["do"] == "add"], rng)
    operations = [{"do": "delete", "id": id_} for id_ in gone] + [{"do": "add", **change} for change in added]
    return {"operations": operations, "why": "one rule for each kind of question"}


def _followed(block: Mapping[str, Any], library: str) -> list[str]:
    """Return the id of the entry that the follower applies to the first rollout's question; none if it applies none."""
    question = str(block["evidence"][0].get("question"))
    for entry in cast(Sequence[Mapping[str, Any]], block[library]):
        for rule in read_rules(str(entry["text"])):
            if rule.what not in SKILLS or rule.cue.casefold() not in question.casefold():
                continue
            if apply_skill(rule.what, _body(question)) is not None:
                return [str(entry["id"])]
    return []


def _rule_of_each_skill(texts: Sequence[str], rng: np.random.Generator) -> list[dict[str, str]]:
    by_skill: dict[str, list[str]] = {}
    for text in texts:
        for rule in read_rules(text):
            by_skill.setdefault(rule.what, []).append(text)
    return [{"text": own[int(rng.integers(len(own)))], "section": skill} for skill, own in by_skill.items()]


def _entry(rule: Rule) -> str:
    return str(rule).removeprefix("- ")


def _body(question: str) -> str:
    """Return a question without the paragraph on the answer format."""
    return question.rpartition("\n\n")[0] or question if "<answer>" in question else question


def _failures(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = cast(Sequence[Mapping[str, Any]], block.get("evidence") or ())
    return [i for i in items if i.get("question") and i.get("expected") and (i.get("score") or 0.0) < 1.0]


def _induced(block: Mapping[str, Any], rng: np.random.Generator) -> Rule | None:
    """Return a rule that would have answered one of the failed questions."""
    failed = _failures(block)
    for index in rng.permutation(len(failed)):
        question, expected = str(failed[int(index)]["question"]).strip(), str(failed[int(index)]["expected"])
        body = _body(question)
        fitting = [name for name in SKILLS if apply_skill(name, body) == expected.strip().strip("$")]
        words = list(_WORD.finditer(body))
        for _ in range(_CUES if fitting and words else 0):
            start = int(rng.integers(len(words)))
            end = min(start + int(rng.integers(1, _LONGEST_CUE + 1)), len(words)) - 1
            cue = body[words[start].start() : words[end].end()]
            if "\n" not in cue and '"' not in cue and not any(c.isdigit() for c in cue):
                return Rule(cue, fitting[int(rng.integers(len(fitting)))])
    return None
