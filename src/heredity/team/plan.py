"""The plan of a team: steps, their agents and dependencies; written as plan.md and read back (Autogenesis, section 4).

    plan = Plan("In which year was the bridge built?", (Step("s1", "researcher", "Find its page"),)) checked(plan,
    {"researcher"}).to_markdown()

plan.md has five parts: the task, the steps as a checklist, their flow as a Mermaid chart, the history of rounds, the
result. A person may edit the steps between rounds; `edited` reads them back and reports errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from heredity._core.errors import ConfigError, nearest
from heredity._core.outside import read_text
from heredity._core.refusals import reading

MOST_STEPS = 200
_MOST_BYTES = 4 << 20
_SHOWN = 400


class PlanError(ConfigError):
    """A plan that cannot be carried out; the message names the step and what to change."""


class State(StrEnum):
    """State of a step."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


_BOXES = {State.PENDING: " ", State.RUNNING: "~", State.DONE: "x", State.FAILED: "!", State.SKIPPED: "-"}
_STATES = {box: state for state, box in _BOXES.items()}
_ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}"
_STEP = re.compile(
    r"- \[(?P<box>.)\] \*\*(?P<id>[^*]*)\*\* \((?P<agent>[^)]*)\)(?: after (?P<after>[^:]*))?: ?(?P<task>.*)"
)
_SECTION = re.compile(r"## (Task|Steps|Flow|History|Result)\s*")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan.

    Attributes:
        id: letters, digits, `_`, `-`; unique in the plan.
        agent: the participant that does it.
        task: the instructions, in words.
        after: steps that must finish first.
        state: its state.
        result: its result, or the reason it failed.
    """

    id: str
    agent: str
    task: str
    after: tuple[str, ...] = ()
    state: State = State.PENDING
    result: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of work: the planner's note at its start, and the steps that ended in it, in the order of their end."""

    note: str = ""
    ended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan, immutable; changes return a new plan.

    Attributes:
        task: the team's task.
        steps: the steps.
        rounds: the rounds so far.
        result: the answer; empty until there is one.
    """

    task: str
    steps: tuple[Step, ...] = ()
    rounds: tuple[Round, ...] = ()
    result: str = ""

    def step(self, step_id: str) -> Step:
        """Return a step by its id."""
        return next(step for step in self.steps if step.id == step_id)

    def ready(self) -> list[Step]:
        """Return the steps that can start now: pending, with all dependencies done or skipped."""
        over = {step.id for step in self.steps if step.state in (State.DONE, State.SKIPPED)}
        return [step for step in self.steps if step.state is State.PENDING and over.issuperset(step.after)]

    def marked(self, step_id: str, state: State, result: str = "") -> Plan:
        """Return the plan with another state of a step; an ended step is noted in the last round."""
        steps = tuple(replace(s, state=state, result=result) if s.id == step_id else s for s in self.steps)
        rounds = self.rounds
        if state in (State.DONE, State.FAILED) and rounds:
            rounds = (*rounds[:-1], replace(rounds[-1], ended=(*rounds[-1].ended, step_id)))
        return replace(self, steps=steps, rounds=rounds)

    def revised(self, steps: Iterable[Step], note: str = "") -> Plan:
        """Return the plan of a new round: ended steps stay, all others are replaced by these steps.

        Raises:
            PlanError: if a step reuses the id of a different, ended step.
        """
        ended = {step.id: step for step in self.steps if step.state in (State.DONE, State.FAILED, State.SKIPPED)}
        fresh: list[Step] = []
        for step in steps:
            before = ended.get(step.id)
            if before is None:
                fresh.append(replace(step, state=State.PENDING, result=""))
            elif (before.agent, before.task) != (step.agent, step.task):
                raise PlanError(
                    f"step {step.id}: a step of this id has ended ({before.state}); give another id to what is to be done now"
                )
        return replace(self, steps=(*ended.values(), *fresh), rounds=(*self.rounds, Round(note)))

    def edited(self, text: str) -> Plan:
        """Return the plan with the steps of an edited plan.md; ended steps are kept unchanged.

        Raises:
            PlanError: if the text is not a plan.md; the message names the line.
        """
        ended = {step.id: step for step in self.steps if step.state in (State.DONE, State.FAILED)}
        steps = tuple(ended.get(step.id, replace(step, result="")) for step in parsed(text).steps)
        gone = [step for step in ended.values() if step.id not in {s.id for s in steps}]
        return replace(self, steps=(*gone, *steps))

    def to_markdown(self) -> str:
        """Return plan.md."""
        history = [_round(number, past_round, self) for number, past_round in enumerate(self.rounds, 1)]
        parts = [
            ("Task", _quoted(self.task)),
            ("Steps", "\n".join(map(_line, self.steps)) or "None yet."),
            ("Flow", f"```mermaid\n{self.to_mermaid()}\n```"),
            ("History", "\n\n".join(history) or "Nothing has been done yet."),
            ("Result", _quoted(self.result) if self.result else "None yet."),
        ]
        return "# Plan\n" + "".join(f"\n## {title}\n\n{body}\n" for title, body in parts)

    def to_mermaid(self) -> str:
        """Return the steps' flow as a Mermaid chart."""
        nodes = [f'    {_node(s.id)}["{s.id}: {s.agent}"]:::{s.state}' for s in self.steps]
        arrows = [f"    {_node(before)} --> {_node(s.id)}" for s in self.steps for before in s.after]
        colours = [f"    classDef {state} {style}" for state, style in _STYLES.items()]
        return "\n".join(["flowchart TD", *nodes, *arrows, *colours])


_STYLES = {
    State.PENDING: "fill:#f5f5f5,stroke:#888,color:#222",
    State.RUNNING: "fill:#fff3c4,stroke:#b58900,color:#222",
    State.DONE: "fill:#d5f0d8,stroke:#2e7d32,color:#222",
    State.FAILED: "fill:#fbd9d5,stroke:#b3261e,color:#222",
    State.SKIPPED: "fill:#ffffff,stroke:#bbb,color:#777,stroke-dasharray:4",
}


def checked(plan: Plan, agents: Collection[str]) -> Plan:
    """Return the plan after checking that it can be carried out.

    Raises:
        PlanError: if an id is malformed or used twice, an agent or a step does not exist, a task is empty, there are
            too many steps, or steps wait for each other.
    """
    if len(plan.steps) > MOST_STEPS:
        raise PlanError(
            f"the plan has {len(plan.steps)} steps; at most {MOST_STEPS} can be carried out: plan fewer at a time"
        )
    ids = [step.id for step in plan.steps]
    for index, step in enumerate(plan.steps):
        _check_step(step, ids, index, agents)
    try:
        list(TopologicalSorter({step.id: step.after for step in plan.steps}).static_order())
    except CycleError as error:
        around = " → ".join(error.args[1])
        raise PlanError(f"steps wait for each other: {around}; remove one of these dependencies") from None
    return plan


def _check_step(step: Step, ids: list[str], index: int, agents: Collection[str]) -> None:
    if not re.fullmatch(_ID, step.id):
        raise PlanError(f"step {index + 1}: {step.id!r:.60} is no id; use up to 32 letters, digits, '_' and '-'")
    if ids.index(step.id) != index:
        raise PlanError(f"step {step.id}: two steps have this id; give one of them another")
    if not step.task.strip():
        raise PlanError(f"step {step.id}: it does not say what is to be done")
    if step.state is State.PENDING and step.agent not in agents:
        hint = f"; did you mean {' or '.join(near)}?" if (near := nearest(step.agent, agents)) else ""
        raise PlanError(
            f"step {step.id}: there is no agent {step.agent!r:.60}{hint} (there is: {', '.join(sorted(agents))})"
        )
    for before in step.after:
        if before not in ids:
            raise PlanError(f"step {step.id}: it is after {before!r:.60}, and there is no such step")


def read_plan(path: Path) -> str:
    """Return the text of a plan.md, which a person may have edited.

    Raises:
        PlanError: if it cannot be read, or is far longer than any plan.
    """
    with reading(path, "text", "put a plan there", PlanError):
        return read_text(path, _MOST_BYTES)


def parsed(text: str) -> Plan:
    """Parse the task, steps and result of a plan.md; its chart and history are ignored.

    Raises:
        PlanError: if a line of its steps is malformed.
    """
    sections = _sections(text)
    steps: list[Step] = []
    for number, line in sections.get("Steps", []):
        if line.startswith("- "):
            steps.append(_parsed_step(number, line))
        elif steps and (line.startswith("  ") or not line.strip()):
            last = steps[-1]
            steps[-1] = replace(last, task=f"{last.task}\n{line[2:]}")
        elif line.strip() and line.strip() != "None yet.":
            raise PlanError(
                f"plan.md, line {number}: {line!r:.80} is no step; write `- [ ] **id** (agent) after s1, s2: task`"
            )
    finished = [replace(step, task=_as_said(step.task.rstrip("\n"))) for step in steps]
    return Plan(_unquoted(sections.get("Task", [])), tuple(finished), (), _unquoted(sections.get("Result", [])))


def _parsed_step(number: int, line: str) -> Step:
    match = _STEP.fullmatch(line)
    if match is None or match["box"] not in _STATES:
        raise PlanError(
            f"plan.md, line {number}: {line!r:.80} is no step; write `- [ ] **id** (agent) after s1, s2: task`, "
            "with one of ' ', 'x', '!', '-' in the box"
        )
    after = tuple(name.strip() for name in (match["after"] or "").split(",") if name.strip())
    state = _STATES[match["box"]]
    return Step(match["id"], match["agent"], match["task"], after, State.PENDING if state is State.RUNNING else state)


def _sections(text: str) -> Mapping[str, list[tuple[int, str]]]:
    sections: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        title = _SECTION.fullmatch(line)
        if title:
            current = sections.setdefault(title[1], [])
        else:
            current.append((number, line))
    return sections


def _line(step: Step) -> str:
    after = f" after {', '.join(step.after)}" if step.after else ""
    first, *more = _lines(_inert(step.task))
    return "\n".join(
        [f"- [{_BOXES[step.state]}] **{step.id}** ({step.agent}){after}: {first}", *(f"  {line}" for line in more)]
    )


def _round(number: int, past_round: Round, plan: Plan) -> str:
    lines = [f"### Round {number}", *([_quoted(past_round.note)] if past_round.note else [])]
    ended = [
        f"- {step.id} ({step.agent}), {step.state}: {_short(step.result)}" for step in map(plan.step, past_round.ended)
    ]
    return "\n\n".join([*lines, "\n".join(ended) or "Nothing ended."])


def _short(text: str) -> str:
    flat = _inert(" ".join(text.split()))
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}… ({len(flat)} characters)"


def _lines(text: str) -> list[str]:
    # Some readers end a line at a carriage return and the like, others do not.
    return re.sub(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "\n", text).split("\n")


def _inert(text: str) -> str:
    """Return a text with its Markdown images and tags escaped: loading them would contact an outside server."""
    # Not escaped by a backslash, which a preceding backslash would cancel.
    return re.sub(r"<(?=[A-Za-z/!])", "&lt;", text.replace("![", "!\\["))


def _quoted(text: str) -> str:
    return "\n".join(f"> {_inert(line)}".rstrip() for line in _lines(text))


def _unquoted(lines: list[tuple[int, str]]) -> str:
    text = "\n".join(line[1:].removeprefix(" ") for _, line in lines if line.startswith(">"))
    return _as_said(text)


def _as_said(text: str) -> str:
    return re.sub(r"&lt;(?=[A-Za-z/!])", "<", text).replace("!\\[", "![")


def _node(step_id: str) -> str:
    # `end` and the like are keywords of Mermaid.
    return f"step_{step_id.replace('-', '_')}"
