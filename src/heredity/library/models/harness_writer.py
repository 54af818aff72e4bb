"""`offline/harness-writer`: an optimizer's model that repairs the harness of the shell worker from evidence in rollouts.

It answers all requests of optimizers, and those of the `gepa` package. It knows the lessons, but not which task needs
which, so it also writes down useless and harmful ones. `offline/harness-writer-careless` forgets the last line of the
middleware, so that every attempt fails, and fixes that only if the rejected proposals say so, as the contract gate does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from heredity._core.errors import ProviderError
from heredity._core.ids import generator
from heredity.library.models.diagnosis import (
    blamed,
    broken_middleware,
    findings,
    gepa_block,
    is_rejected,
    taught,
    taught_in,
)
from heredity.library.models.follower import words_of
from heredity.library.models.harness_parts import (
    CARELESS_TEXT,
    MIDDLEWARE,
    MIDDLEWARE_TEXT,
    PROMPT,
    TOOL,
    TOOL_ABOUT,
    TOOL_ABOUT_TEXT,
    TOOL_TEXT,
    appended,
    because,
    edit,
    place_of,
    rewritten,
)
from heredity.library.models.inducer import block_of
from heredity.library.models.lessons import BRIEF, LESSONS, TABLES, lessons_in
from heredity.models.contract import Reply, Request, Usage

_EACH = 2
"""How many lessons it takes from one rollout, and from one minibatch of GEPA."""
_AT_ONCE = 2
"""How many lessons it adds with one update of the form `engineer`."""


class HarnessWriter:
    """Answers the requests of optimizers (docs/optimizers.md, and those of the `gepa` package) with lessons for the worker.

    It knows the worker's lessons, and sees the same of rollouts as any model. It cannot know which assumption of a
    failed rollout did the harm. The output of verifiers and programs helps; otherwise it guesses by the request's seed.
    It rewrites a prompt as a whole, with few lessons; it adds entries to libraries; as an engineer it also writes a
    tool and a middleware. Deterministic in the request.
    """

    name = "offline/harness-writer"
    careless = False

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if it is not an optimizer's request (`unscripted`).
        """
        rng = generator(request.sampling.seed or 0, "offline", "harness-writer", request.digest)
        asked = next((m.content for m in request.messages if m.role == "user"), "")
        question = gepa_block(asked)
        text = _gepa(question, rng) if question is not None else self._answer(block_of(request, self.name), rng)
        return Reply(text, usage=Usage(words_of(request.messages), len(text.split()), 0, 0.0), model=self.name)

    def _answer(self, block: Mapping[str, Any], rng: np.random.Generator) -> str:
        task = str(block.get("task"))
        if task == "engineer":
            return json.dumps(_engineer(block, rng, self.careless))
        if task not in _FORMS:
            raise ProviderError(
                "unscripted", f"{self.name} cannot {task!r}; it answers optimizers only", transient=False
            )
        return json.dumps(_FORMS[task](block, rng))


class CarelessHarnessWriter(HarnessWriter):
    """The same, but the hook of its first middleware forgets to return; it fixes that when the failure is reported."""

    name = "offline/harness-writer-careless"
    careless = True


# --- forms that look at attempts


def _reflect(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    causes = blamed(findings(block, rng))
    where = place_of(_texts(block), _new(block))
    hypotheses = [
        {"cause": because([name]), "variables": [_home(name, where)], "tasks": tasks} for name, tasks in causes.items()
    ]
    return {"hypotheses": hypotheses[:5]}


def _select(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    hypotheses = cast(Sequence[Mapping[str, Any]], block.get("hypotheses") or ())
    chosen = [
        {"variable": variable, "change": f"mend this: {hypothesis.get('cause')}", "hypothesis": index}
        for index, hypothesis in enumerate(hypotheses[:_EACH])
        for variable in hypothesis.get("variables", ())
    ]
    return {"selections": chosen or [{"variable": PROMPT, "change": "nothing to mend", "hypothesis": 0}]}


def _critique(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    names = taught(list(blamed(findings(block, rng))))[:_EACH]
    where = place_of(_texts(block), _new(block))
    gradients = [{"variable": where, "text": LESSONS[name].says} for name in names]
    return {"critique": because(names) if names else "nothing to say", "gradients": gradients}


def _signal(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    names = taught(list(blamed(findings(block, rng))))[:_AT_ONCE]
    return {"signal": "\n".join(LESSONS[name].says for name in names) or "nothing was learned"}


def _summarise(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    item = block["evidence"][0]
    transcript = str(item.get("transcript") or item.get("answer") or "")
    lines = [line for line in transcript.splitlines() if line.startswith(("- I ", "- One thing: "))]
    return {"summary": "\n".join(lines) or "it did nothing of note"}


# --- forms that change texts


def _improve(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Rewrite the prompt, or edit other variables that may change."""
    gradients = cast(Sequence[Mapping[str, Any]], block.get("gradients") or ())
    texts, diagnosed = _texts(block), findings(block, rng)
    targets = cast(Sequence[str], _limits(block).get("targets") or ())
    advice = "\n".join([str(block.get("signal") or ""), *(str(t) for g in gradients for t in g.get("texts", ()))])
    advised = [name for name in LESSONS if name in lessons_in(advice)]
    if PROMPT not in texts or ("agent" in targets and not gradients):
        made = _engineer(block, rng, careless=False, advised=advised)
        where = place_of(texts, _new(block))
        nothing = [edit(where, texts.get(where, ""), "nothing was learned")]
        return {"edits": made["edits"] or nothing, "expects": made["risks"]}
    fresh = advised or taught(list(blamed(diagnosed)))
    heeded = [name for finding in diagnosed for name in finding.heeded]
    text, kept = rewritten(texts[PROMPT], fresh, heeded, int(_limits(block).get("value_chars", 20_000)))
    why = because([name for name in kept if name in fresh]) if fresh else "nothing was learned"
    return {"edits": [edit(PROMPT, text, why)], "expects": f"lessons on {', '.join(kept) or 'nothing'} are heeded"}


def _engineer(
    block: Mapping[str, Any], rng: np.random.Generator, careless: bool, advised: Sequence[str] = ()
) -> dict[str, Any]:
    """Add missing parts: lessons to a memory or the prompt, the tool, and the middleware, each if allowed."""
    texts, new, diagnosed = _texts(block), _new(block), findings(block, rng)
    causes, present = blamed(diagnosed), taught_in(texts)
    fresh = [name for name in (advised or taught(list(causes))) if name not in present][:_AT_ONCE]
    edits: list[dict[str, Any]] = []
    if fresh:
        where = place_of(texts, new)
        edits.append(edit(where, appended(where, texts.get(where, ""), fresh), because(fresh)))
    if TABLES in causes and TABLES not in present and "tool/NAME:tool.py" in new:
        edits += [edit(TOOL, TOOL_TEXT, because([TABLES])), edit(TOOL_ABOUT, TOOL_ABOUT_TEXT, "says what it is for")]
    wanted = BRIEF in causes and BRIEF not in present and "agent/solver:middleware/NAME.py" in new
    if wanted:
        forgets = careless and not is_rejected(block.get("rejected"), MIDDLEWARE)
        edits.append(edit(MIDDLEWARE, CARELESS_TEXT if forgets else MIDDLEWARE_TEXT, LESSONS[BRIEF].lacked))
    broken = () if careless else broken_middleware(block)
    edits += [edit(name, _MENDED.get(name), "it breaks its contract") for name in broken if name in texts]
    mended = {name for change in edits for name in _mended(change["variable"], fresh)}
    fixes = [f.task for f in diagnosed if f.task is not None and not f.solved and (broken or mended & set(f.lacked))]
    risks = "a lesson may mislead where it does not apply" if edits else "nothing was learned"
    return {"edits": edits, "fixes": sorted(set(fixes)), "risks": risks}


def _gepa(question: Mapping[str, Any], rng: np.random.Generator) -> str:
    present = lessons_in(str(question["current"]))
    names = [name for name in taught(list(blamed(findings(question, rng)))) if name not in present][:_EACH]
    return f"```\n{appended('prompt.md', str(question['current']), names)}```"


# --- forms that keep libraries


def _lessons(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    finding, teaching = findings(block, rng)[0], _teaching(block, "skillbook")
    helpful = [id_ for id_, names in teaching.items() if names & set(finding.heeded)] if finding.solved else []
    misled = {"sort"} if "order" in finding.lacked else set[str]()
    harmful = [id_ for id_, names in teaching.items() if names & misled] if not finding.solved else []
    names = () if finding.solved else taught(finding.lacked)[:_EACH]
    question = " ".join(str(block["evidence"][0].get("question") or "").split()[:8])
    # An entry says where it was learned, as notes do that grow with experience; that makes them long.
    lessons = [{"text": f"{LESSONS[name].says} Learned from: {question}", "section": name} for name in names]
    return {"helpful": helpful, "harmful": harmful, "lessons": lessons}


def _curate(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    book = cast(Sequence[Mapping[str, Any]], block["skillbook"])
    retired = [entry["id"] for entry in book if entry.get("harmful", 0) > entry.get("helpful", 0)]
    present = {name for entry in book if entry["id"] not in retired for name in lessons_in(str(entry["text"]))}
    added = _unknown([str(lesson["text"]) for lesson in block["lessons"]], present)
    operations = [{"do": "retire", "id": id_} for id_ in retired]
    return {"operations": [*operations, *added], "why": "what misled goes, what was missing comes"}


def _compare(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    group = findings(block, rng)
    failed = [finding for finding in group if not finding.solved]
    good = {name for finding in group if finding.solved for name in finding.heeded}
    wanted = taught(list(blamed(failed)))
    wanted = [name for name in wanted if name in good] or wanted[:_EACH]
    present = {name for names in _teaching(block, "experiences").values() for name in names}
    return {
        "operations": _unknown([LESSONS[name].says for name in wanted], present),
        "why": "the better attempts did so" if good else "all attempts went without",
    }


def _consolidate(block: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    present = {name for names in _teaching(block, "experiences").values() for name in names}
    proposed = [str(o["text"]) for proposal in block["proposed"] for o in proposal["operations"] if o["do"] == "add"]
    return {"operations": _unknown(proposed, present), "why": "one experience for each lesson"}


def _unknown(texts: Sequence[str], present: set[str]) -> list[dict[str, Any]]:
    """Return additions of the texts that teach something new, without duplicates."""
    seen, operations = set(present), list[dict[str, Any]]()
    for text in texts:
        names = lessons_in(text)
        if names - seen:
            operations.append({"do": "add", "text": text, "section": min(names - seen)})
            seen |= names
    return operations


_FORMS: Mapping[str, Callable[[Mapping[str, Any], np.random.Generator], dict[str, Any]]] = {
    "reflect": _reflect,
    "select": _select,
    "critique": _critique,
    "dynamics": _signal,
    "instruction": _signal,
    "improve": _improve,
    "lessons": _lessons,
    "curate": _curate,
    "summarise": _summarise,
    "compare": _compare,
    "consolidate": _consolidate,
}


def _teaching(block: Mapping[str, Any], library: str) -> dict[str, frozenset[str]]:
    entries = cast(Sequence[Mapping[str, Any]], block[library])
    return {str(entry["id"]): lessons_in(str(entry["text"])) for entry in entries}


def _texts(block: Mapping[str, Any]) -> dict[str, str]:
    return dict(cast(Mapping[str, str], block.get("variables") or {}))


def _limits(block: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], block.get("limits") or {})


def _new(block: Mapping[str, Any]) -> list[str]:
    return list(cast(Sequence[str], _limits(block).get("new_variables") or ()))


def _home(name: str, where: str) -> str:
    return {TABLES: TOOL, BRIEF: MIDDLEWARE}.get(name, where)


_MENDED = {MIDDLEWARE: MIDDLEWARE_TEXT}
"""What broken middleware is replaced by; other than its own it removes."""


def _mended(variable: str, fresh: Sequence[str]) -> Sequence[str]:
    return {TOOL: [TABLES], MIDDLEWARE: [BRIEF]}.get(variable, fresh)
