"""The plan of a team, and the planning agent, which hands out steps over the bus and plans again (Autogenesis, section 4).

    plan = Plan("In which year was the bridge built?", (Step("s1", "researcher", "Find its page"),))
    checked(plan, {"researcher"}).to_markdown()

plan.md has five parts: the task, the steps as a checklist, their flow as a Mermaid chart, the history of rounds, the
result. A person may edit the steps between rounds; `edited` reads them back and reports errors.

The planning agent does none of the steps itself. In a round every step whose dependencies are done runs at once; the round
ends when no step runs and none can start. Then the plan is revised, until the planner has finished, or after 30 rounds.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Protocol, cast

from heredity._core.errors import ConfigError, HeredityError, nearest
from heredity._core.outside import read_text
from heredity._core.refusals import reading
from heredity.models import Message as Said
from heredity.models import Model, Request
from heredity.models.contract import options_of
from heredity.models.replies import format_of, object_in, objects_in
from heredity.team.agent import Numbered, RecordedModel, quoted, shortened
from heredity.team.participant import Context, Message

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


ROUNDS = 30
_TRIES = 3
_RESULT = 2_000
_RESULTS = 24_000
_ANSWER = 60_000


@dataclass(frozen=True, slots=True)
class Revision:
    """A planner's decision at the end of a round.

    Attributes:
        steps: the next steps (those that have ended need not be repeated).
        finished: whether the task is done.
        result: the answer, if finished.
        note: the reason, for the history.
    """

    steps: tuple[Step, ...] = ()
    finished: bool = False
    result: str = ""
    note: str = ""


class Planner(Protocol):
    """Decides on the next steps, given the plan so far."""

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Return the next revision.

        Args:
            plan: the plan so far; without steps at first.
            agents: available agents, with their abilities.
            context: the context for recording.
        """
        ...


class PlanningFailedError(HeredityError):
    """A team ends without an answer; the message says why."""


class PlanningAgent:
    """Handles the tasks given to a team.

    Args:
        planner: makes and revises the plan.
        agents: returns names and descriptions of the available agents (called before each round: agents may join).
        keep: receives each version of the plan, for plan.md.
        review: receives the plan before each round, returns it as edited by a person; None for no review.
        between: called after each round with the plan, before it is revised: where a team improves itself.
        rounds: limit on rounds.
        timeout: seconds for each step; None for the bus's default.
    """

    def __init__(
        self,
        planner: Planner,
        agents: Callable[[], Mapping[str, str]],
        *,
        keep: Callable[[Plan], None] = lambda _: None,
        review: Callable[[Plan], Awaitable[Plan]] | None = None,
        between: Callable[[Plan, Context], Awaitable[None]] | None = None,
        rounds: int = ROUNDS,
        timeout: float | None = None,
    ) -> None:
        self._planner = planner
        self._agents = agents
        self._keep = keep
        self._review = review
        self._between = between
        self._rounds = rounds
        self._timeout = timeout

    async def __call__(self, message: Message, context: Context) -> dict[str, Any]:
        """Do a task: plan, dispatch, collect, plan again.

        Raises:
            PlanningFailedError: if the last round gives no answer, or no plan is valid.
        """
        plan = Plan(str(message.body.get("task", "")))
        for number in range(1, self._rounds + 1):
            revision = await self._planner.revise(plan, self._agents(), context)
            if revision.finished:
                plan = replace(plan, result=shortened(revision.result, _ANSWER))
                self._keep(plan)
                return {"answer": plan.result, "rounds": number - 1, "plan": plan.to_markdown()}
            plan = checked(plan.revised(revision.steps, revision.note), self._agents())
            plan = await self._reviewed(plan, number, context)
            plan = await self._work_off(plan, number, message, context)
            if self._between is not None:
                await self._between(plan, context)
        raise PlanningFailedError(
            f"no answer after {self._rounds} rounds; give the team more rounds, or a smaller task"
        )

    async def _reviewed(self, plan: Plan, number: int, context: Context) -> Plan:
        self._keep(plan)
        review, name = self._review, f"review{number}"
        if review is None and not context.done(name):
            return plan

        async def ask() -> str:
            return (await review(plan) if review else plan).to_markdown()

        # A person's edits hold, also for a team that resumes without a review.
        return checked(plan.edited(str(await context.once(name, ask))), self._agents())

    async def _work_off(self, plan: Plan, number: int, message: Message, context: Context) -> Plan:
        """Run all steps that can run, each as soon as possible, and return the plan with their results."""
        running: dict[asyncio.Task[Message], str] = {}
        try:
            while True:
                for step in plan.ready():
                    running[self._start(step, plan, number, message, context)] = step.id
                    plan = plan.marked(step.id, State.RUNNING)
                self._keep(plan)
                if not running:
                    return plan
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                # In the order of their start, so that the rest does not depend on the clock.
                for task in [task for task in running if task in done]:
                    plan = _ended(plan, running.pop(task), task.result())
        finally:
            for task in running:
                task.cancel()

    def _start(self, step: Step, plan: Plan, number: int, message: Message, context: Context) -> asyncio.Task[Message]:
        given = {before: plan.step(before).result for before in step.after if plan.step(before).result}
        body: dict[str, Any] = {"task": step.task, "goal": plan.task, "step": step.id}
        if given:
            body["given"] = {name: shortened(result, _RESULT * 4) for name, result in given.items()}
        if files := message.body.get("files"):
            body["files"] = files
        return asyncio.ensure_future(
            context.request(step.agent, body, timeout=self._timeout, key=f"round{number}.{step.id}")
        )


def _ended(plan: Plan, step_id: str, result: Message) -> Plan:
    if not result.ok:
        return plan.marked(step_id, State.FAILED, f"{result.outcome}: {result.error}")
    value = result.value
    answer = cast("Mapping[str, Any]", value).get("answer", value) if isinstance(value, Mapping) else value
    return plan.marked(step_id, State.DONE, str(answer))


def prompt_of(plan: Plan, agents: Mapping[str, str]) -> str:
    """Return a planner's prompt: the task, the agents, the steps with their results, bounded in length."""
    listed = "\n".join(f"- {name}: {what}" for name, what in agents.items())
    room = max(200, min(_RESULT, _RESULTS // max(1, len(plan.steps))))
    lines = [
        f"- {s.id} ({s.agent}), {s.state}{', after ' + ', '.join(s.after) if s.after else ''}: {shortened(s.task, 500)}"
        + (f"\n  gave: {quoted(shortened(s.result, room))}" if s.result else "")
        for s in plan.steps
    ]
    steps = "\n".join(lines) or "None so far."
    return f"Task:\n{plan.task}\n\nAgents:\n{listed}\n\nSteps so far, after {len(plan.rounds)} rounds:\n{steps}"


INSTRUCTIONS = """\
You lead a team. You do not work on the task yourself: you cut it into steps and give each to one agent. Steps that do not need
each other run at the same time. Reply with one JSON object and nothing else, either

{"note": "why", "steps": [{"id": "s1", "agent": "NAME", "task": "what to do, complete in itself", "after": []}]}

to have steps done ("after" lists the ids of steps whose results a step needs; give new ids to new steps), or

{"note": "why", "finished": true, "result": "the answer to the task, in the form that it asks for"}

as soon as the results of the steps answer the task. A long text, or one with backslashes, may stand outside of the object,
without escapes: write "<text 1>" in its place, and the text after the object between the lines <text 1> and </text 1>."""

_FORM: Mapping[str, Any] = {
    "note": "why",
    "finished": True,
    "steps": [{"id": "s1", "agent": "NAME", "task": "what to do", "after": ["s0"]}],
    "result": "the answer",
}


class ModelPlanner:
    """A planner that is a language model.

    Args:
        model: the language model.
        prompt: the system message; by default `INSTRUCTIONS`, which define the form of the reply.
        heard: receives each reply, recorded ones included.
    """

    def __init__(self, model: Model, prompt: str = INSTRUCTIONS, heard: Callable[[str], None] = lambda _: None) -> None:
        self._model = model
        self._prompt = prompt
        self._heard = heard

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Call the model; an invalid reply is sent back with the problem, twice.

        Raises:
            PlanningFailedError: if the plan is still invalid.
        """
        model = RecordedModel(self._model, Numbered(context))
        messages = [Said("system", self._prompt), Said("user", prompt_of(plan, agents))]
        problem, takes_format = "", "format" in options_of(self._model)
        for attempt in range(_TRIES):
            # Only once: a server may not keep to a schema, and a long text may have to stand beside the object.
            options = {"format": format_of(_FORM)} if takes_format and attempt == 0 else {}
            reply = await model.reply(Request(tuple(messages), options=options))
            self._heard(reply.text)
            try:
                if reply.finish in ("length", "refusal"):
                    raise PlanError(
                        f"the reply {'was cut at the token limit' if reply.finish == 'length' else 'refuses'}"
                    )
                revision = read_revision(reply.text)
                if not revision.finished:
                    checked(plan.revised(revision.steps), agents)
                return revision
            except ConfigError as error:
                problem = str(error)
                messages += [
                    reply.message,
                    Said("user", f"This cannot be carried out: {problem}. Reply with the JSON object alone."),
                ]
        raise PlanningFailedError(
            f"the planner gave no plan that can be carried out, {_TRIES} times; the last: {problem}"
        )


class OneAgent:
    """A planner that gives the unchanged task to one agent, and returns its answer."""

    def __init__(self, agent: str) -> None:
        self._agent = agent

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Return the one step, then its result.

        Raises:
            PlanningFailedError: if the agent failed.
        """
        if not plan.steps:
            return Revision((Step("s1", self._agent, plan.task),))
        step = plan.step("s1")
        if step.state is not State.DONE or not step.result:
            raise PlanningFailedError(step.result or f"{self._agent} gave no answer")
        return Revision(finished=True, result=step.result)


def read_revision(text: str) -> Revision:
    """Return the revision in a model's reply, in a fence or among text.

    Raises:
        PlanError: if there is none; the message names the missing or mistyped part.
    """
    try:
        fields = object_in(text, _FORM)
    except ConfigError as error:
        raise PlanError(str(error)) from None
    ends = {bool(part.get("finished")) for part in objects_in(text) if part.keys() & {"steps", "finished"}}
    if len(ends) > 1:
        raise PlanError('it plans steps and finishes at once; give "steps" and wait for their results, or "result"')
    note = str(fields.get("note", ""))[:_RESULT]
    if fields.get("finished"):
        result = fields.get("result", "")
        if result in ("", None):
            raise PlanError('"finished" is true and "result" is empty; give the answer')
        return Revision((), True, str(result), note)
    steps = fields.get("steps")
    if not isinstance(steps, list) or not steps:
        raise PlanError('"steps" is empty; give at least one step, or "finished" and "result"')
    return Revision(
        tuple(_step(number, step) for number, step in enumerate(cast("Sequence[Any]", steps), 1)), note=note
    )


def _step(number: int, data: Any) -> Step:
    if not isinstance(data, dict):
        raise PlanError(f"steps[{number}] is no object with id, agent, task and after")
    fields = cast("dict[str, Any]", data)
    after: Any = fields.get("after") or []
    if not isinstance(after, list):
        raise PlanError(f"steps[{number}].after is {after!r:.60}; give a list of ids")
    step_id, agent, task = (str(fields.get(name, "")) for name in ("id", "agent", "task"))
    return Step(step_id, agent, task, tuple(map(str, cast("Sequence[Any]", after))))


# A debate in place of a planner: agents argue in rounds, then another agent judges. It is a plan like any other, made
# without a model, so plan.md, the record and resuming are those of every team.


VERDICT = "verdict"
_OPENING = "Argue your case on this: give your answer, and the reasons that speak for it."
_REPLY = (
    "Above is what all have said so far, you among them. Answer the others: say where they are right and where they are "
    "wrong, and keep your answer or change it."
)
_JUDGE = "Above is what each of those who argued said last. Weigh it, and give the answer to the task in the form that it asks for."


class Debate:
    """A planner (`heredity.team.planning.Planner`) whose plan is a debate.

    Args:
        agents: the debaters (two or more).
        judge: the agent that decides, not a debater.
        rounds: number of rounds.
        stepwise: plan one round at a time, so that agents may be improved between rounds; failed debaters speak
            again, and a failed judge is asked once more.

    Attributes:
        everybody: all agents of the debate.
    """

    def __init__(self, agents: Sequence[str], judge: str, rounds: int, *, stepwise: bool = False) -> None:
        self._agents, self._judge, self._rounds, self._stepwise = tuple(agents), judge, rounds, stepwise
        self.everybody = (*self._agents, judge)

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Return the whole debate, then the verdict; after failures, a verdict on the other arguments.

        Raises:
            PlanningFailedError: if all debaters failed, or the judge gives no answer.
        """
        if not plan.steps and not self._stepwise:
            return Revision(self._steps(plan.task), note=f"{len(self._agents)} argue, {self._judge} judges")
        verdicts = [step for step in plan.steps if step.agent == self._judge and step.state is not State.PENDING]
        if verdicts and verdicts[-1].state is State.DONE and verdicts[-1].result:
            return Revision(finished=True, result=verdicts[-1].result)
        last = {step.agent: step.id for step in plan.steps if step.agent != self._judge and step.state is State.DONE}
        spoken = sum(step.agent == self._agents[0] for step in plan.steps)
        if self._stepwise and spoken < self._rounds:
            return Revision(self._round(plan.task, spoken + 1, tuple(last.values())), note=f"round {spoken + 1}")
        if len(verdicts) > self._stepwise or not last:
            failed = next((step for step in reversed(plan.steps) if step.state is State.FAILED), None)
            raise PlanningFailedError(failed.result if failed else f"{self._judge} gave no answer")
        again = f"{VERDICT}-2" if verdicts else VERDICT
        note = f"{self._judge} judges" if self._stepwise else "not all have argued"
        return Revision((self._verdict(plan.task, tuple(last.values()), again),), note=note)

    def _steps(self, task: str) -> tuple[Step, ...]:
        steps: list[Step] = []
        before: tuple[str, ...] = ()
        for number in range(1, self._rounds + 1):
            own = self._round(task, number, before)
            steps += own
            before = tuple(step.id for step in own)
        return (*steps, self._verdict(task, before))

    def _round(self, task: str, number: int, before: tuple[str, ...]) -> tuple[Step, ...]:
        prompt = f"{task}\n\n{_REPLY if before else _OPENING}"
        return tuple(
            Step(f"r{number}-{position}", name, prompt, before) for position, name in enumerate(self._agents, 1)
        )

    def _verdict(self, task: str, after: tuple[str, ...], step: str = VERDICT) -> Step:
        return Step(step, self._judge, f"{task}\n\n{_JUDGE}", after)
