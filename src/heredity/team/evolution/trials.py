"""Trials: attempts of edited teams at failed steps, successful steps and earlier tasks, as evidence for a commit.

Each is a request on the team's bus, and so recorded like everything else: a team resumed after a kill repeats no attempt,
and a trial requested twice (by another round or another method) is made once.

Failures that an edit could fix are found in a step's trace alone (section 3.2.3 of Autogenesis: reflect): the record
of handling a message, with the model's replies and the results of programs and tools. There are six classes: a failing
tool, output in the wrong format, a missing capability, a loop, a claim without a source, an exhausted budget. Each is
attributed to the resources that may be edited to fix it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from heredity._core.errors import ConfigError, HeredityError
from heredity._core.ids import digest_json
from heredity.engine.actor import ProvidedTool
from heredity.engine.questions.extract import final_text, marked_answers, matches
from heredity.engine.react import has_action, parse_action
from heredity.engine.schemas import check_arguments
from heredity.engine.tools import specs_of
from heredity.models import Model, Reply, ToolSpec
from heredity.models.contract import NOTHING_USED, Usage
from heredity.models.replies import value_in
from heredity.resources import Candidate
from heredity.team.agent import AgentFailedError, SubAgent, TeamTool, shortened
from heredity.team.bus import NOBODYS, Bus, describe
from heredity.team.design import TeamParts, read_team
from heredity.team.memory import SharedMemory
from heredity.team.participant import Context, Message, Outcome, Participant
from heredity.team.planning import Debate, ModelPlanner, Plan, PlanError, PlanningAgent, checked, read_revision
from heredity.team.record import Record, open_record
from heredity.team.team import PLANNER, Member, register_team

Trace = Sequence[tuple[str, Any]]
"""Effects of handling a message: names and values, in order."""

_REPEATED = 3
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`]+")
_FILE = re.compile(r"[\w./-]+\.(?:md|txt|html?|pdf|docx|xlsx|pptx|csv|png|jpe?g)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-\d+$")
_ERROR_LINE = re.compile(r"^error: ", re.MULTILINE)


class FailureKind(StrEnum):
    """Class of a failure that an edit could fix."""

    TOOL_ERROR = "tool error"
    WRONG_FORMAT = "wrong format"
    MISSING_CAPABILITY = "missing capability"
    LOOP = "loop"
    UNSUPPORTED_CLAIM = "unsupported claim"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure.

    Attributes:
        kind: its class.
        detail: description in one line.
        tool: the candidate's failing tool; `""` for none.
    """

    kind: FailureKind
    detail: str
    tool: str = ""


@dataclass(frozen=True)
class Handled:
    """The course of a step.

    Attributes:
        body: the request.
        outcome, error, answer: the result.
        trace: the effects.
        specs: its agent's tools, by name.
        programs: the agent's tool programs, by the first letters of their digest.
    """

    body: Mapping[str, Any]
    outcome: Outcome
    error: str = ""
    answer: str = ""
    trace: Trace = ()
    specs: Mapping[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    programs: Mapping[str, str] = field(default_factory=dict[str, str])


def failures(handled: Handled) -> list[Failure]:
    """Return a step's failures, starting with the one that ended it; empty if it went well."""
    replies = [Reply.from_json(value) for name, value in handled.trace if name.startswith("model-")]
    calls = [call for reply in replies for call in _calls(reply)]
    repeated = Counter(calls)
    looped = [
        f"{name} was called {n} times with {given[:200]}" for (name, given), n in repeated.items() if n >= _REPEATED
    ]
    failures_found = _ending(handled, looped)
    for name, given in repeated:
        failures_found += _of_call(name, given, handled.specs)
    if not any(reply.tool_calls for reply in replies):
        failures_found += _of_text(replies)
    failures_found += [failure for name, value in handled.trace if (failure := _of_effect(name, value, handled))]
    if looped and not any(failure.kind is FailureKind.LOOP for failure in failures_found):
        failures_found.append(Failure(FailureKind.LOOP, looped[0]))
    if handled.outcome is Outcome.OK:
        failures_found += _unsupported(handled)
    return list(dict.fromkeys(failures_found))


def score(handled: Handled, failures_found: Sequence[Failure]) -> float:
    """Score a step: 1 with an answer and without a failure, 0.5 with both, 0 without an answer."""
    if handled.outcome is not Outcome.OK:
        return 0.0
    return 0.5 if failures_found else 1.0


def transcript(handled: Handled) -> str:
    """Return the messages and effects of a step, in order and shortened, for an optimizer."""
    lines: list[str] = []
    for name, value in handled.trace:
        if name.startswith("model-"):
            reply = Reply.from_json(value)
            calls = "".join(f"\n  calls {call.name}({shortened(call.arguments, 500)})" for call in reply.tool_calls)
            lines.append(f"[said] {shortened(reply.text, 1500)}{calls}")
        else:
            lines.append(f"[{_plain_name(name, handled)}] {shortened(_text(value), 1500)}")
    return shortened("\n".join(lines), 6000)


def _calls(reply: Reply) -> list[tuple[str, str]]:
    if reply.tool_calls:
        return [(call.name, call.arguments) for call in reply.tool_calls]
    action = parse_action(reply.text) if has_action(reply.text) else ""
    return [] if isinstance(action, str) else [(action.name, json.dumps(dict(action.params), sort_keys=True))]


def _ending(handled: Handled, looped: Sequence[str]) -> list[Failure]:
    """Return the failure that ended a step without an answer; failures that no edit can fix are left out."""
    if handled.outcome is Outcome.TIMED_OUT:
        return [Failure(FailureKind.BUDGET, handled.error)]
    status = handled.error.removeprefix("AgentFailedError: ").partition(":")[0]
    if handled.outcome is not Outcome.FAILED or not handled.error.startswith("AgentFailedError: "):
        return []
    if status == "turns":
        return [Failure(FailureKind.LOOP, looped[0])] if looped else [Failure(FailureKind.BUDGET, handled.error)]
    if status in ("timeout", "program_timeout"):
        return [Failure(FailureKind.BUDGET, handled.error)]
    return [Failure(FailureKind.WRONG_FORMAT, handled.error)]


def _of_call(name: str, given: str, specs: Mapping[str, ToolSpec]) -> list[Failure]:
    if name not in specs:
        return [Failure(FailureKind.MISSING_CAPABILITY, f"{name} was called, and there is no such tool for this agent")]
    try:
        check_arguments(
            {**specs[name].parameters, "type": "object"}, value_in(given) if given.strip() else {}, where=name
        )
    except (ConfigError, ValueError, RecursionError) as error:
        return [Failure(FailureKind.WRONG_FORMAT, f"the arguments of {name}: {error}"[:400])]
    return []


def _of_text(replies: Sequence[Reply]) -> list[Failure]:
    wrong = [
        action for reply in replies if has_action(reply.text) and isinstance(action := parse_action(reply.text), str)
    ]
    return [Failure(FailureKind.WRONG_FORMAT, f"an action that cannot be read: {wrong[0]}"[:400])] if wrong else []


def _of_effect(name: str, value: Any, handled: Handled) -> Failure | None:
    if name.startswith("model-"):
        return None
    if name.startswith("program-"):
        own = handled.programs.get(name.split("-")[1], "")
        error = value.get("error") if isinstance(value, Mapping) else ""
        problem = f"{own or 'a program'}: {error}: {value['message']}" if error else ""
        return Failure(FailureKind.TOOL_ERROR, problem[:400], own) if error else None
    text = _text(value)
    failed = text.startswith("error") or (name.startswith("python-") and _ERROR_LINE.search(text))
    return Failure(FailureKind.TOOL_ERROR, f"{name.partition('-')[0]}: {shortened(text, 300)}") if failed else None


def _unsupported(handled: Handled) -> list[Failure]:
    """Return the sources named in an answer that were not shown to its agent."""
    shown = json.dumps(dict(handled.body), ensure_ascii=False)
    for name, value in handled.trace:
        if not name.startswith("model-") and not _text(value).startswith("error"):
            shown += f"\n{name}\n{_text(value)}"
    named = [source.rstrip(".,;:!?") for source in (*_URL.findall(handled.answer), *_FILE.findall(handled.answer))]
    return [
        Failure(FailureKind.UNSUPPORTED_CLAIM, f"{source} is named as a source, and was not among what was read")
        for source in dict.fromkeys(named)
        if source not in shown
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain_name(name: str, handled: Handled) -> str:
    if name.startswith("program-"):
        return handled.programs.get(name.split("-")[1], "program")
    return _NUMBER.sub("", name)


NAME = "evolution"
"""The participant that makes trials; no agent has this name."""

TRIAL = "trial"
PROPOSAL = "proposal"


@dataclass(frozen=True, slots=True)
class Case:
    """Something to attempt.

    Attributes:
        key: its name among the team's cases.
        kind: a step of an agent, a revision of the planner, or a whole earlier task.
        agent: the agent that did the step.
        body: the step's request; `plan`, the plan to revise; for a task, `task` and optionally `files`.
        answer: for an earlier task, the right answer.
    """

    key: str
    kind: Literal["step", "plan", "task"]
    agent: str
    body: Mapping[str, Any]
    answer: str = ""


@dataclass(frozen=True)
class Staff:
    """Makes a team's agents.

    Attributes:
        agent: makes an agent of a given team.
        planner: the model that plans.
        offered: names of the tools that the team provides.
        rounds: limit on the rounds of a re-attempted earlier task.
        step_seconds, task_seconds: time limits (s) of a step and of an earlier task.
        debate: plans in place of a model, where the team debates.
        records: the folder for records of attempts at earlier tasks, so that model calls made before a kill are not
            repeated; None keeps them in memory.
        earlier: makes an agent for an earlier task, without the current task's files, pictures and notes; by default
            `agent`.
    """

    agent: Callable[[TeamParts, str], SubAgent]
    planner: Model
    offered: frozenset[str]
    rounds: int = 30
    step_seconds: float = 1800.0
    task_seconds: float = 7200.0
    debate: Debate | None = None
    records: Path | None = None
    earlier: Callable[[TeamParts, str], SubAgent] | None = None


@dataclass
class Trials:
    """Attempts cases with candidates.

    Attributes:
        staff: makes agents.
        bus: the team's.
        teams: teams to attempt with, by the candidate's digest.
        cases: by their keys.
    """

    staff: Staff
    bus: Bus
    teams: dict[str, TeamParts] = field(default_factory=dict[str, TeamParts])
    cases: dict[str, Case] = field(default_factory=dict[str, Case])

    def join(self) -> None:
        """Join the team."""
        accepted = frozenset({TRIAL, PROPOSAL})
        self.bus.register(Participant(NAME, self._handle, "tries edits", accepted, concurrency=4, capacity=256))

    def team(self, candidate: Candidate) -> TeamParts:
        """Return a candidate's team.

        Raises:
            ConfigError: if it does not describe one.
        """
        if candidate.digest not in self.teams:
            self.teams[candidate.digest] = read_team(candidate, self.staff.offered)
        return self.teams[candidate.digest]

    async def attempt(self, context: Context, team: TeamParts, case: Case, repeat: int = 0) -> dict[str, Any]:
        """Attempt a case: `score` in [0, 1], `answer`, `detail`, `transcript`, `usage`; raises failures outside the team."""
        self.cases[case.key] = case
        body = {"candidate": team.candidate.digest, "case": case.key, "repeat": repeat}
        timeout = self.staff.task_seconds if case.kind == "task" else self.staff.step_seconds
        key = f"trial.{team.candidate.digest[:16]}.{case.key}.{repeat}"
        result = await context.request(NAME, body, kind=TRIAL, timeout=timeout, key=key)
        if result.ok:
            return dict(result.value)
        return {
            "score": 0.0,
            "answer": "",
            "detail": f"{result.outcome}: {result.error}",
            "transcript": "",
            "usage": {},
        }

    async def _handle(self, message: Message, context: Context) -> Any:
        if message.kind == PROPOSAL:
            return None
        team, case = self.teams[message.body["candidate"]], self.cases[message.body["case"]]
        if case.kind == "step":
            return await self._step(team, case, context)
        return await (
            self._plan(team, case, context)
            if case.kind == "plan"
            else self._task(team, case, f"trial-{digest_json(message.id)[:16]}")
        )

    async def _step(self, team: TeamParts, case: Case, context: Context) -> dict[str, Any]:
        if case.agent not in team.design.agents:
            return _failed(f"{case.agent} is no agent of this team any more")
        agent = _without_traces(self.staff.agent(team, case.agent))
        asked = replace(context.message, body=case.body) if context.message else None
        assert asked is not None
        outcome, error, value = Outcome.OK, "", dict[str, Any]()
        try:
            value = await agent(asked, context)
        except AgentFailedError as failed:
            outcome, error = Outcome.FAILED, describe(failed)
        handled = await handled_by(agent, context, self.bus.record.effects_of(asked.id), case.body, outcome)
        handled = replace(handled, error=error, answer=str(value.get("answer", "")))
        failures_found = failures(handled)
        return {
            "score": score(handled, failures_found),
            "answer": handled.answer,
            "detail": error or "; ".join(f"{f.kind}: {f.detail}" for f in failures_found),
            "transcript": transcript(handled),
            "usage": value.get("usage", {}),
        }

    async def _plan(self, team: TeamParts, case: Case, context: Context) -> dict[str, Any]:
        plan: Plan = case.body["plan"]
        agents = {name: agent.description for name, agent in team.design.agents.items()}
        replies: list[str] = []
        try:
            await ModelPlanner(self.staff.planner, team.planner, replies.append).revise(plan, agents, context)
        except HeredityError as error:
            if isinstance(error, NOBODYS):
                raise
            return _failed(describe(error))
        problem = plan_failures(replies, plan, agents)
        return {"score": 0.5 if problem else 1.0, "answer": "", "detail": problem, "transcript": "", "usage": {}}

    async def _task(self, team: TeamParts, case: Case, name: str) -> dict[str, Any]:
        result, calls, usage = await solved(team, self.staff, case.body, name)
        answer = str(result.value["answer"]) if result.ok else ""
        right = result.ok and is_right(answer, case.answer)
        detail = "" if right else f"the answer {answer!r:.200} is not the right one" if result.ok else result.error
        used = usage.to_json()
        return {
            "score": float(right),
            "answer": answer,
            "detail": detail,
            "transcript": "",
            "usage": used,
            "calls": calls,
        }


async def solved(team: TeamParts, staff: Staff, body: Mapping[str, Any], name: str) -> tuple[Message, int, Usage]:
    """Let a team do a task in isolation (only its record is kept, and tools with lasting effects are no-ops).

    Args:
        team: the team.
        staff: makes its agents.
        body: the task.
        name: the name of its record below `staff.records`; an interrupted one resumes.

    Returns:
        The result, the number of model calls, and their usage.
    """
    described = {name: agent.description for name, agent in team.design.agents.items()}
    planner = staff.debate or ModelPlanner(staff.planner, team.planner)
    lead = PlanningAgent(planner, lambda: described, rounds=staff.rounds, timeout=staff.step_seconds)
    opened = open_record(staff.records / name) if staff.records else nullcontext(Record())
    agent_of = staff.earlier or staff.agent
    with opened as record:
        async with Bus(record, timeout=staff.task_seconds) as bus:
            members = {
                agent: Member(about, _without_traces(agent_of(team, agent))) for agent, about in described.items()
            }
            register_team(bus, lead, members, SharedMemory())
            result = await bus.outside.request(PLANNER, body)
            return result, *used_in(bus.record)


def used_in(record: Record) -> tuple[int, Usage]:
    """Return the number of model calls in a record, including evolution's, and their usage."""
    names = {effect: effect.rpartition("#")[2] for effect in record.effects}
    asked = [e for e, n in names.items() if n.startswith("model-") or (n.startswith("evolution-") and "-model-" in n)]
    usage = sum((Reply.from_json(record.effects[effect]).usage for effect in asked), NOTHING_USED)
    return len(asked), usage


def is_right(reply: str, reference: str) -> bool:
    """Return whether a team's reply is right by GAIA's rule: the whole reply, or its final answer."""
    text = final_text(reply)
    return any(matches(answer, reference) for answer in (text, *marked_answers(text)[:1]))


async def handled_by(
    agent: SubAgent, context: Context, trace: list[tuple[str, Any]], body: Mapping[str, Any], outcome: Outcome
) -> Handled:
    """Return the course of a step, with its agent's tools."""
    parts = agent.solver.parts
    specs = {tool.tool.spec.name: tool.tool.spec for tool in agent.tools(context)}
    specs |= {spec.name: spec for spec in specs_of(parts.tools)}
    if agent.release is not None:
        await agent.release(context)
    programs = {tool.tree.digest[:12]: tool.name for tool in parts.tools if tool.tree is not None}
    return Handled(body, outcome, trace=trace, specs=specs, programs=programs)


def plan_failures(replies: Iterable[str], plan: Plan, agents: Mapping[str, str]) -> str:
    """Return the fault in a planner's first invalid reply; `""` if all are valid."""
    for reply in replies:
        try:
            revision = read_revision(reply)
            if not revision.finished:
                checked(plan.revised(revision.steps), agents)
        except PlanError as error:
            return str(error)
    return ""


def _failed(detail: str) -> dict[str, Any]:
    return {"score": 0.0, "answer": "", "detail": detail, "transcript": "", "usage": {}}


def _without_traces(agent: SubAgent) -> SubAgent:
    def tools(context: Context) -> list[TeamTool]:
        return [_harmless(tool) for tool in agent.tools(context)]

    return replace(agent, tools=tools)


def _harmless(tool: TeamTool) -> TeamTool:
    if not tool.lasting and tool.repeatable:
        return tool

    async def nothing(_: Mapping[str, Any]) -> str:
        return "noted (this is a trial: nothing is kept)"

    return TeamTool(ProvidedTool(tool.tool.spec, nothing))
