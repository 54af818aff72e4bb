"""`offline/town-optimizer`: a program in the place of the model that proposes edits to the team of Varnholm.

It reads requests like any model and answers in their form. If the reader's prompt does not explain workbooks, it first
proposes a useless sentence, then a prompt that explains them but has lost its part on pages. So the record of an
evolving team shows a refusal, a commit, and, if earlier tasks are retried, a rollback because they are lost. It can
only make other prompts worse, which is refused.
"""

from __future__ import annotations

import json
from typing import Any

from heredity.library.models.follower import words_of
from heredity.library.models.town_worker import PART_RULE
from heredity.models.contract import Reply, Request, Usage

_USELESS = "Take your time."
READER = "prompt/reader:prompt.md"


class TownOptimizer:
    """Reflects, selects and improves based on the reader's prompt; usage counts words."""

    name = "offline/town-optimizer"

    async def reply(self, request: Request) -> Reply:
        """Answer a request of the loop: the forms `reflect`, `select` and `improve`."""
        prompt = request.messages[-1].content
        given: dict[str, Any] = json.JSONDecoder().raw_decode(prompt.partition("```json\n")[2])[0]
        text = json.dumps(_answer(given))
        return Reply(text, (), "stop", Usage(words_of(request.messages), len(text.split()), 0, 0.0), self.name)


def _answer(given: dict[str, Any]) -> dict[str, Any]:
    variables: dict[str, str] = given["variables"]
    variable = READER if READER in variables else min(variables)
    if given["task"] == "reflect":
        cause = "read was given an argument that it does not have"
        return {"hypotheses": [{"cause": cause, "variables": [variable], "tasks": [0]}]}
    if given["task"] == "select":
        return {"selections": [{"variable": variable, "change": "say how it is called", "hypothesis": 0}]}
    text = variables[variable]
    mended = variable == READER and given["rejected"] and PART_RULE not in text
    value = f"You read documents. {PART_RULE}" if mended else f"{text.rstrip()} {_USELESS}"
    return {
        "edits": [{"variable": variable, "value": value, "why": "so that read can be called"}],
        "expects": "no errors",
    }
