"""What the record of a team shows of one task: who did steps, which tools were called, what models used, how the team evolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity.gateway import Reply
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.records import read_journal
from heredity.team.events import EFFECT_DONE, MESSAGE
from heredity.team.evolution.trials import TRIAL
from heredity.team.messages import Kind
from heredity.team.team import PLANNER

BROWSE = "browse"
_KINDS = {"search": "read"}
_NO_TOOLS = frozenset({"program", "keep", "remember", "recall", "decision", "contract"})
_PROPOSING = "evolution-"


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a team's record shows of its evolution.

    Attributes:
        decisions: what came of failures and proposals, in order.
        attempts: how many attempts were made of failed steps, of others, and of earlier tasks.
        calls: how often models were asked for proposals and in attempts; `usage`: what that used.
    """

    decisions: Sequence[Mapping[str, Any]] = ()
    attempts: int = 0
    calls: int = 0
    usage: Usage = NOTHING_USED

    @property
    def commits(self) -> int:
        """How many edits were committed."""
        return sum(one.get("accepted") is True for one in self.decisions)

    @property
    def refusals(self) -> int:
        """How many edits were refused."""
        return sum(one.get("accepted") is False for one in self.decisions)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a team's journal holds.

    Attributes:
        agents: who was given steps.
        tools: the kinds of tools that were called; all actions in the browser are one kind.
        hops: how many calls of tools were done.
        steps: how many steps were given.
        model_calls: how often a model was asked in the task itself; `usage`: what that used.
        evolution: what was done to improve the team.
    """

    agents: tuple[str, ...]
    tools: tuple[str, ...]
    hops: int
    steps: int
    model_calls: int
    usage: Usage
    evolution: Evolution = field(default_factory=Evolution)

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
    evolving = _Evolving()
    for event in read_journal(folder / "journal.jsonl"):
        message, effect = MESSAGE.of(event), EFFECT_DONE.of(event)
        if message is not None and not evolving.takes_message(message):
            agents += _given(message)
        if effect is not None and not evolving.takes_effect(effect["id"], effect["value"]):
            what = effect["id"].rpartition("#")[2]
            if what.startswith("model-"):
                replies.append(Reply.from_json(effect["value"]))
            elif kind := _kind(what):
                tools.append(kind)
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    return Shown(_distinct(agents), _distinct(tools), len(tools), len(agents), len(replies), usage, evolving.evolution)


class _Evolving:
    """Takes what of a record belongs to evolution: proposals, decisions, trials with all that is done in them."""

    def __init__(self) -> None:
        self._trials: dict[str, int] = {}
        self._decisions: list[Mapping[str, Any]] = []
        self._calls = 0
        self._usage = NOTHING_USED

    @property
    def evolution(self) -> Evolution:
        """What was taken."""
        return Evolution(tuple(self._decisions), len(self._trials), self._calls, self._usage)

    def takes_message(self, message: Mapping[str, Any]) -> bool:
        """Take a message, if it is a trial or in one; of an earlier task that was tried apart, what its result says was used."""
        name = str(message["id"]).rstrip("!?")
        if message.get("kind") == TRIAL:
            self._trials[name] = 0
        trial = self._trial(name)
        value = message.get("body", {}).get("value") if message.get("kind") == Kind.RESULT else None
        if trial == name and isinstance(value, Mapping) and not self._trials[name] and value.get("calls"):
            self._add(int(value["calls"]), Usage(**value["usage"]))
        return trial is not None

    def takes_effect(self, effect: str, value: Any) -> bool:
        """Take an effect, if it is one of evolution."""
        owner, _, what = effect.rpartition("#")
        trial = self._trial(owner)
        if what.startswith("decision-"):
            self._decisions.append(value)
        elif (what.startswith(_PROPOSING) and "-model-" in what) or (trial and what.startswith("model-")):
            self._add(1, Reply.from_json(value).usage)
            if trial:
                self._trials[trial] += 1
        return trial is not None or what.startswith((_PROPOSING, "decision-"))

    def _add(self, calls: int, usage: Usage) -> None:
        self._calls += calls
        self._usage += usage

    def _trial(self, name: str) -> str | None:
        return next((trial for trial in self._trials if name == trial or name.startswith(f"{trial}.")), None)


def _given(message: Mapping[str, Any]) -> list[str]:
    if message.get("kind") != Kind.TASK:
        return []
    return [name for name in message.get("to", ()) if name != PLANNER]


def _kind(what: str) -> str:
    name = what.partition("-")[0]
    if name in _NO_TOOLS or name.startswith("review"):
        return ""
    return BROWSE if name.startswith("browser_") else _KINDS.get(name, name)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
