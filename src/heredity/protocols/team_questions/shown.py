"""What the record of a team shows of one task: who did steps, which tools were called, what the models used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.gateway import Reply
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.records import read_journal
from heredity.team.events import EFFECT_DONE, MESSAGE
from heredity.team.messages import Kind
from heredity.team.team import PLANNER

BROWSE = "browse"
_KINDS = {"search": "read"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a team's journal holds.

    Attributes:
        agents: who was given steps.
        tools: the kinds of tools that were called; all actions in the browser are one kind.
        hops: how many calls of tools were done.
        steps: how many steps were given.
        model_calls: how often a model was asked; `usage`: what that used.
    """

    agents: tuple[str, ...]
    tools: tuple[str, ...]
    hops: int
    steps: int
    model_calls: int
    usage: Usage

    def lacking(self, wanted: Mapping[str, Any]) -> list[str]:
        """Return what a record had to show (`hops`, `tools`, `agents`) and does not."""
        hops = int(wanted.get("hops", 0))
        return [
            *([f"{self.hops} of {hops} hops"] if self.hops < hops else []),
            *(f"no {tool}" for tool in wanted.get("tools", ()) if tool not in self.tools),
            *(f"no step of {agent}" for agent in wanted.get("agents", ()) if agent not in self.agents),
        ]


def shown(folder: Path) -> Shown:
    """Read the journal of a team that has ended.

    Raises:
        RecordError: if it cannot be read.
    """
    agents: list[str] = []
    tools: list[str] = []
    replies: list[Reply] = []
    for event in read_journal(folder / "journal.jsonl"):
        message, effect = MESSAGE.of(event), EFFECT_DONE.of(event)
        if message is not None and message.get("kind") == Kind.TASK:
            agents += [name for name in message.get("to", ()) if name != PLANNER]
        if effect is not None:
            what = effect["id"].partition("#")[2]
            if what.startswith("model-"):
                replies.append(Reply.from_json(effect["value"]))
            elif kind := _kind(what):
                tools.append(kind)
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    return Shown(_distinct(agents), _distinct(tools), len(tools), len(agents), len(replies), usage)


def _kind(what: str) -> str:
    name = what.partition("-")[0]
    if name in ("program", "keep", "remember", "recall"):
        return ""
    return BROWSE if name.startswith("browser_") else _KINDS.get(name, name)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
