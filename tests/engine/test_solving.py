from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.fakes import InProcessPrograms, ListedModel, SlowModel, calling, candidate, provider_error, saying

from heredity._core.errors import BudgetError, ConfigError, HostError, IsolationError
from heredity._core.spans import Span, collecting
from heredity.engine import question_runner as solving
from heredity.engine.actor import Programs, Solving
from heredity.engine.kind import KINDS
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.question_runner import SolvingRunner, conversation_of
from heredity.engine.questions import Question
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.models import Model, Reply, Request
from heredity.models.scripted import Answer, Rule, Scripted, When
from heredity.resources import Candidate, SourceTree
from heredity.sandbox import isolation
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import Rollouts, outcome_of
from heredity.tasks import Task, TasksetInfo

INFO = TasksetInfo("questions/sums", "1", "question", {}, {}, "Sums.", 0.0)
TIMES = "def run(left: int, right: int):\n    return left * right\n"
PLAIN = candidate(prompt_system="Be brief.")
CALCULATING = candidate(prompt_system="Use the tool.", tool_times=TIMES)
SECRET = "42"


def task(text: str = "What is 6*7?", answer: str = SECRET, index: int = 0, **fields: Any) -> Task:
    question = Question(text, answer, fields.pop("verifier", {"kind": "numeric"}), **fields)
    return Task(f"train/{index}", "train", index, question.to_spec())


def job(made: Candidate = PLAIN, given: Task | None = None, seed: int = 7) -> Job:
    return Job(INFO, made, given or task(), policy_seed=seed)


async def run(runner: SolvingRunner, *jobs: Job, limits: Limits | None = None) -> list[Trajectory]:
    trajectories = {position: trajectory async for position, trajectory in runner.run(jobs, limits or Limits())}
    assert sorted(trajectories) == list(range(len(jobs)))
    return [trajectories[position] for position in range(len(jobs))]


async def attempt(
    model: Model, made: Candidate = PLAIN, given: Task | None = None, programs: Programs | None = None, **settings: Any
) -> Trajectory:
    runner = SolvingRunner(model, programs=programs or InProcessPrograms(), settings=Solving(**settings))
    [trajectory] = await run(runner, job(made, given))
    assert Trajectory.decode(trajectory.encode()).status == trajectory.status
    list(trajectory.rows())
    return trajectory


def last(trajectory: Trajectory, key: str) -> Any:
    return trajectory.columns[f"info/{key}"][-1]


# --- what a trajectory holds


async def test_a_right_answer_scores_and_a_wrong_one_does_not() -> None:
    right, wrong = await attempt(ListedModel(["42"])), await attempt(ListedModel(["41"]))
    assert (right.status, right.failure_source, right.total_reward, right.terminated) == ("ok", "none", 1.0, True)
    assert (wrong.status, wrong.failure_source, wrong.total_reward, wrong.terminated) == ("ok", "none", 0.0, True)
    assert last(right, "correct") is True
    assert last(wrong, "correct") is False
    assert last(wrong, "extracted") == "41"
    assert outcome_of(task(), right, 0.0).score == 1.0


async def test_a_trajectory_has_a_step_for_each_model_call() -> None:
    model = ListedModel([calling(("times", {"left": 6, "right": 7}), text="I multiply."), "42"])
    trajectory = await attempt(model, CALCULATING)
    assert trajectory.length == 2
    rows = list(trajectory.rows())
    assert rows[0]["obs"] == "[system]\nUse the tool.\n\n[user]\nWhat is 6*7?"
    assert rows[0]["action"] == 'I multiply.\n{"tool": "times", "arguments": {"left": 6, "right": 7}}'
    assert rows[1]["obs"] == "[tool]\n42"
    assert rows[1]["action"] == "42"
    assert [row["reward"] for row in rows] == [0.0, 1.0]
    assert [row["terminated"] for row in rows] == [False, True]
    assert rows[0]["info"] == {}
    assert rows[1]["info"]["question"] == "What is 6*7?"
    assert rows[1]["info"]["expected"] == SECRET
    assert rows[1]["info"]["rounds"] == [1.0]
    assert len(trajectory.columns["obs"]) == 3
    assert trajectory.columns["obs"][-1].startswith("right, score 1")
    assert isinstance(trajectory.columns["reward"], np.ndarray)
    assert trajectory.cost == {
        "input_tokens": 20,
        "output_tokens": 4,
        "cached_tokens": 0,
        "cost_usd": 0.002,
        "model_calls": 2,
        "tool_calls": 1,
    }


async def test_the_whole_conversation_can_be_had_back() -> None:
    model = ListedModel(
        [calling(("times", {"left": 6, "right": 7}), ("times", "{")), "41", "Really?", calling(("times", {})), "42"]
    )
    trajectory = await attempt(model, CALCULATING, rounds=2, feedback="self")
    said = conversation_of(Trajectory.decode(trajectory.encode()))
    solver = [r for r in model.asked if r.messages[0].role == "system"]
    critic = [r for r in model.asked if r.messages[0].role == "user"]
    assert [m.role for m in said].count("assistant") == trajectory.length == 5
    without_critic = [m for m in said if m not in critic[0].messages and m.content != "Really?"]
    assert tuple(without_critic[:-1]) == solver[-1].messages
    assert said[-1].content == "42"


async def test_what_was_asked_last_and_not_answered_is_kept_too() -> None:
    model = ListedModel([calling(("times", {"left": 6, "right": 7})), provider_error("server")])
    trajectory = await attempt(model, CALCULATING)
    assert [m.role for m in conversation_of(trajectory)] == ["system", "user", "assistant", "tool"]
    assert trajectory.length == 1
    assert trajectory.cost["input_tokens"] == 10


async def test_unknown_costs_are_absent() -> None:
    trajectory = await attempt(ListedModel([Reply("42")]))
    assert trajectory.cost == {"model_calls": 1, "tool_calls": 0}
    assert KINDS.load("question").usage(trajectory) is not None


async def test_options_are_shown_and_the_letter_is_checked() -> None:
    model = ListedModel(["B"])
    given = task("Which?", "B", verifier={"kind": "choice"}, choices=("one", "two"), instructions="Give the letter.")
    trajectory = await attempt(model, given=given)
    assert trajectory.total_reward == 1.0
    assert model.asked[0].messages[-1].content == "Which?\n\nA) one\nB) two\n\nGive the letter."


async def test_the_reference_never_reaches_the_model() -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "I think it is 1."

    given = task("Guess my number.", "918273645")
    for feedback in ("none", "self", "verdict"):
        await attempt(saying(answer), given=given, rounds=3, feedback=feedback)
    assert asked
    assert not [r for r in asked if "918273645" in json.dumps(r.to_json())]


# --- rounds


async def test_the_last_round_counts_and_every_round_is_scored() -> None:
    trajectory = await attempt(ListedModel(["42", "41"]), rounds=2)
    assert trajectory.total_reward == 0.0
    assert last(trajectory, "rounds") == [1.0, 0.0]


async def test_the_verdict_goes_back_to_the_solver_until_it_is_right() -> None:
    model = ListedModel(["40", "I do not know", "42", "never asked"])
    trajectory = await attempt(model, rounds=9, feedback="verdict")
    assert last(trajectory, "rounds") == [0.0, 0.0, 1.0]
    assert trajectory.total_reward == 1.0
    assert "wrong. It was read as: 40" in model.asked[1].messages[-1].content
    assert "No answer could be read" in model.asked[2].messages[-1].content


async def test_public_tests_speak_between_rounds() -> None:
    async def public(given: Task, text: str) -> str | None:
        return f"{given.id}: {text} fails" if text == "40" else None

    model = ListedModel(["40", "42", "never asked"])
    runner = SolvingRunner(model, settings=Solving(rounds=3, feedback="public"), public=public)
    [trajectory] = await run(runner, job())
    assert last(trajectory, "rounds") == [0.0, 1.0]
    assert "train/0: 40 fails" in model.asked[1].messages[-1].content


async def test_the_same_words_are_judged_once() -> None:
    judge = ListedModel(['{"score": 0, "reason": "no"}'])
    given = task("Why?", "Because.", verifier={"kind": "judge"})
    runner = SolvingRunner(saying(lambda r: "Hm."), judge=judge, settings=Solving(rounds=3, feedback="verdict"))
    [trajectory] = await run(runner, job(given=given))
    assert len(judge.asked) == 1
    assert last(trajectory, "rounds") == [0.0, 0.0, 0.0]
    assert trajectory.cost["judge_tokens"] == 12


# --- failures


@pytest.mark.parametrize(
    ("replies", "said"),
    [([Reply("")], "empty"), ([Reply("no", finish="refusal")], "refusal"), ([calling(("times", {}))] * 4, "turns")],
)
async def test_an_attempt_without_an_answer_is_the_candidates_zero(replies: list[Any], said: str) -> None:
    trajectory = await attempt(ListedModel(replies), CALCULATING, max_turns=4)
    assert (trajectory.status, trajectory.failure_source, trajectory.total_reward) == ("no_answer", "candidate", 0.0)
    assert trajectory.failure is not None
    assert trajectory.failure.message.startswith(said)
    assert last(trajectory, "question") == "What is 6*7?"
    assert outcome_of(task(), trajectory, 0.0).score == 0.0


async def test_a_round_without_an_answer_is_scored_zero_after_the_others() -> None:
    trajectory = await attempt(ListedModel(["42", Reply("")]), rounds=2)
    assert trajectory.status == "no_answer"
    assert last(trajectory, "rounds") == [1.0, 0.0]


@pytest.mark.parametrize(
    "kind", ["timeout", "rate_limit", "server", "connection", "garbage", "auth", "request", "unscripted"]
)
async def test_a_provider_that_fails_is_to_blame_itself(kind: str) -> None:
    trajectory = await attempt(ListedModel([provider_error(kind)]))
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("provider_error", "provider", 0)
    assert trajectory.failure is not None
    assert kind in trajectory.failure.message
    assert math.isnan(outcome_of(task(), trajectory, 0.0).score)


@pytest.mark.parametrize("kind", ["empty", "context"])
async def test_a_candidate_cannot_erase_an_attempt_by_what_it_says(kind: str) -> None:
    trajectory = await attempt(ListedModel([provider_error(kind)]))
    assert (trajectory.status, trajectory.failure_source) == ("no_answer", "candidate")


async def test_a_judge_that_fails_is_the_providers_fault() -> None:
    given = task("Why?", "Because.", verifier={"kind": "judge"})
    runner = SolvingRunner(saying(lambda r: "Hm."), judge=ListedModel([provider_error("server")]))
    [trajectory] = await run(runner, job(given=given))
    assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")


async def test_a_verifier_that_fails_is_the_environments_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise HostError("the scorer fell over")

    monkeypatch.setattr(solving, "verify", broken)
    for settings in ({}, {"rounds": 2, "feedback": "verdict"}):
        trajectory = await attempt(ListedModel(["42", "42"]), **settings)
        assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
        assert math.isnan(outcome_of(task(), trajectory, 0.0).score)


@pytest.mark.parametrize(
    ("error", "status"), [(HostError("gone"), "host_error"), (IsolationError("no seccomp"), "isolation_error")]
)
async def test_a_sandbox_that_fails_is_the_hosts_fault(error: Any, status: str) -> None:
    model = saying(lambda r: calling(("times", {"left": 6, "right": 7})))
    trajectory = await attempt(model, CALCULATING, programs=InProcessPrograms(fail=error))
    assert (trajectory.status, trajectory.failure_source) == (status, "host")


async def test_a_machine_that_cannot_confine_stops_the_run() -> None:
    model = saying(lambda r: calling(("times", {"left": 6, "right": 7})))
    runner = SolvingRunner(model, programs=InProcessPrograms(fail=IsolationError("no seccomp")))
    with pytest.raises(IsolationError, match="seccomp"):
        await Rollouts(runner, Limits(), retries=1).all([job(CALCULATING)])


@pytest.mark.parametrize(
    "made",
    [
        Candidate({"agent": SourceTree({"policy.py": "x"})}),
        Candidate({"model/base": SourceTree({"model.json": "{}"})}),
        Candidate({"prompt/system": SourceTree({"prompt.md": ""})}),
    ],
)
async def test_a_candidate_that_cannot_be_built_is_told_so_and_costs_nothing(made: Candidate) -> None:
    model = ListedModel([])
    trajectory = await attempt(model, made)
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("import_error", "candidate", 0)
    assert trajectory.failure is not None
    assert trajectory.failure.message
    assert model.asked == []
    assert trajectory.cost["input_tokens"] == 0


async def test_a_program_that_raises_reports_its_traceback() -> None:
    trajectory = await attempt(ListedModel([]), candidate(agent_solver="def solve(problem, host):\n    return 1 / 0\n"))
    assert (trajectory.status, trajectory.failure_source) == ("act_error", "candidate")
    assert trajectory.failure is not None
    assert "agent.py" in trajectory.failure.traceback
    assert "line 2" in trajectory.failure.traceback


async def test_an_answer_of_a_program_without_a_model_is_a_step() -> None:
    trajectory = await attempt(ListedModel([]), candidate(agent_solver="def solve(problem, host):\n    return '42'\n"))
    assert (trajectory.status, trajectory.total_reward, trajectory.length) == ("ok", 1.0, 1)
    assert trajectory.cost["model_calls"] == 0
    assert last(trajectory, "expected") == SECRET


@pytest.mark.parametrize("which", ["settings", "limits"])
async def test_an_attempt_that_takes_too_long_is_the_candidates_fault(which: str) -> None:
    settings = Solving(seconds=0.05) if which == "settings" else Solving()
    runner = SolvingRunner(SlowModel(), settings=settings)
    [trajectory] = await run(runner, job(), limits=Limits(episode_s=0.05 if which == "limits" else 300))
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("rollout_timeout", "candidate", 0)
    assert trajectory.columns["obs"] == ["timeout: no answer within 0.05 seconds"]


async def test_a_spent_budget_ends_the_run() -> None:
    with pytest.raises(BudgetError):
        await attempt(ListedModel([BudgetError("spent")]))


async def test_a_question_that_needs_a_judge_says_so_when_there_is_none() -> None:
    with pytest.raises(ConfigError, match="judge"):
        await attempt(ListedModel(["Hm."]), given=task("Why?", "Because.", verifier={"kind": "judge"}))


@pytest.mark.parametrize(
    "settings",
    [
        Solving(rounds=0),
        Solving(max_turns=0),
        Solving(seconds=0),
        Solving(tool_seconds=float("nan")),
        Solving(tool_output_chars=0),
        Solving(rounds=2, feedback="public"),
        Solving(feedback="verdikt"),  # type: ignore[arg-type]
    ],
)
def test_settings_out_of_range_are_refused(settings: Solving) -> None:
    with pytest.raises(ConfigError):
        SolvingRunner(ListedModel([]), settings=settings)


# --- many at once


async def test_attempts_run_at_the_same_time_up_to_the_limit_and_come_as_they_end() -> None:
    active, most = 0, 0

    class Counting:
        name = "counting"

        async def reply(self, request: Request) -> Reply:
            nonlocal active, most
            active += 1
            most = max(most, active)
            number = int(request.messages[-1].content)
            await asyncio.sleep(0.05 if number == 0 else 0.01)
            active -= 1
            return Reply(str(number))

    runner = SolvingRunner(Counting(), concurrent=3)
    jobs = [job(given=task(str(n), str(n), n)) for n in range(9)]
    order = [position async for position, trajectory in runner.run(jobs, Limits()) if trajectory.total_reward == 1.0]
    assert sorted(order) == list(range(9))
    assert order[0] != 0
    assert most == 3


async def test_stopping_early_ends_everything_at_once() -> None:
    model = SlowModel()
    runner = SolvingRunner(model)

    async def consume() -> None:
        async for _ in runner.run([job() for _ in range(20)], Limits()):
            pass

    running = asyncio.create_task(consume())
    await asyncio.sleep(0.1)
    assert model.active == 8
    running.cancel()
    started = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert model.active == 0
    assert time.monotonic() - started < 20


async def test_closing_the_iterator_ends_what_is_under_way() -> None:
    class Half(SlowModel):
        async def reply(self, request: Request) -> Reply:
            return Reply("42") if "6*7" in request.messages[-1].content else await super().reply(request)

    model = Half()
    trajectories = SolvingRunner(model).run([job(), job(given=task("Slow?", "1", 1))], Limits())
    assert (await anext(trajectories))[0] == 0
    assert model.active == 1
    await trajectories.aclose()
    assert model.active == 0


async def test_the_models_seed_is_the_policys_and_repeats_have_their_own() -> None:
    asked: list[int | None] = []

    def answer(request: Request) -> str:
        asked.append(request.sampling.seed)
        return "42"

    runner = SolvingRunner(saying(answer), concurrent=1)
    other = task(index=1)
    await run(runner, job(), job(), job(given=other, seed=8), job(candidate(prompt_system="Other.")))
    assert asked[0] == 7
    assert asked[1] not in (7, None)
    assert asked[2:] == [8, 7]
    again, asked[:] = list(asked), []
    await run(runner, job(), job())
    assert asked == again[:2]
    asked.clear()
    await run(SolvingRunner(saying(answer), settings=Solving(temperature=0)), job(), job())
    assert asked == [7, 7]


async def test_no_jobs_give_no_trajectories() -> None:
    assert await run(SolvingRunner(ListedModel([]))) == []


async def test_attempts_are_spans_with_their_rounds_tools_and_checks_inside() -> None:
    seen: list[Span] = []
    with collecting(seen.append):
        await attempt(ListedModel([calling(("times", {"left": 6, "right": 7})), "42"]), CALCULATING)
    by_name = {s.name: s for s in seen}
    assert set(by_name) == {"rollout", "round", "tool", "verify"}
    assert by_name["rollout"].attributes["task"] == "train/0"
    assert by_name["rollout"].attributes["candidate"] == CALCULATING.digest
    assert by_name["rollout"].attributes["score"] == 1.0
    assert by_name["round"].parent_id == by_name["verify"].parent_id == by_name["rollout"].span_id
    assert by_name["tool"].parent_id == by_name["round"].span_id


async def test_retried_attempts_are_answered_in_the_end() -> None:
    model = ListedModel([provider_error("server"), "42"])
    [trajectory] = await Rollouts(SolvingRunner(model), Limits(), retries=1).all([job()])
    assert trajectory.total_reward == 1.0


# --- the sandbox


def _confined() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


needs_a_sandbox = pytest.mark.skipif(not _confined(), reason="programs cannot be confined on this machine")


@pytest.fixture
async def sandbox() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as programs:
        yield programs


@pytest.fixture
def calls_then_answers() -> Scripted:
    rules = [Rule(Answer(calls=[("it", {})]), When(tool="it", results=0)), Rule("42", When(results=1))]
    return Scripted(rules)


def _children() -> set[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return {child for task in tasks for child in task.read_text().split()}


@needs_a_sandbox
async def test_candidates_without_programs_start_no_process(sandbox: SandboxedPrograms) -> None:
    before = _children()
    await attempt(ListedModel(["42"]), programs=sandbox)
    assert _children() == before
    await attempt(ListedModel([]), candidate(agent_solver="def solve(problem, host): return '42'"), programs=sandbox)
    assert _children() > before


@needs_a_sandbox
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return {'value': 6 * 7}", '{"value": 42}'),
        ("raise ValueError('no luck')", "error: tool_error: ValueError: no luck"),
        ("while True: pass", "error: timeout: "),
        ("for _ in range(100): print('x' * 1_000_000)\n    return 'quiet'", '"quiet"'),
        ("return 'x' * 5_000_000", "error: output: "),
        ("import os; os._exit(3)", "error: crash: "),
        ("import socket; socket.create_connection(('127.0.0.1', 80))", "error: tool_error: "),
        ("return object()", "error: output: "),
    ],
)
async def test_whatever_a_tool_does_in_the_sandbox_the_attempt_goes_on(
    sandbox: SandboxedPrograms, calls_then_answers: Scripted, body: str, said: str
) -> None:
    made = candidate(tool_it=f"def run():\n    {body}\n")
    trajectory = await attempt(calls_then_answers, made, programs=sandbox, tool_seconds=1.0)
    assert (trajectory.status, trajectory.total_reward) == ("ok", 1.0)
    assert trajectory.columns["obs"][1].startswith(f"[tool]\n{said}")


@needs_a_sandbox
async def test_a_program_in_the_sandbox_asks_for_models_and_tools(sandbox: SandboxedPrograms) -> None:
    code = """
from heredity_guest import ask, ServiceError

def solve(problem, host):
    reply = ask("model", {"messages": [{"role": "user", "content": problem["question"]}], "tools": host["tools"]})
    product = ask("tool", {"name": "times", "arguments": {"left": 6, "right": 7}})["value"]
    try:
        ask("model", {"messages": []})
    except ServiceError as error:
        return f"{error} Answer: {product}"
"""
    trajectory = await attempt(
        ListedModel(["Let me see."]), candidate(agent_solver=code, tool_times=TIMES), programs=sandbox
    )
    assert (trajectory.status, trajectory.total_reward, trajectory.length) == ("ok", 1.0, 2)
    assert "messages is empty" in trajectory.columns["action"][-1]


@needs_a_sandbox
@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("return 1 / 0", "act_error", "ZeroDivisionError"),
        ("while True: pass", "rollout_timeout", "timeout"),
        ("return missing_name", "act_error", "missing_name"),
        ("import sys; sys.exit(0)", "act_error", "SystemExit"),
    ],
)
async def test_a_program_that_fails_in_the_sandbox_is_the_candidates_failure(
    sandbox: SandboxedPrograms, body: str, status: str, said: str
) -> None:
    made = candidate(agent_solver=f"def solve(problem, host):\n    {body}\n")
    # Only what never ends has to be waited for.
    seconds = 1.0 if status == "rollout_timeout" else 60.0
    trajectory = await attempt(ListedModel([]), made, programs=sandbox, seconds=seconds)
    assert (trajectory.status, trajectory.failure_source) == (status, "candidate")
    assert trajectory.failure is not None
    assert said in trajectory.failure.message
    if status == "act_error":
        assert "agent.py" in trajectory.failure.traceback


@needs_a_sandbox
async def test_a_provider_that_fails_ends_a_program_in_the_sandbox(sandbox: SandboxedPrograms) -> None:
    code = """
from heredity_guest import ask
def solve(problem, host):
    try:
        return ask("model", {"messages": [{"role": "user", "content": "x"}]})["text"]
    except BaseException:
        return "42"
"""
    trajectory = await attempt(ListedModel([provider_error("server")]), candidate(agent_solver=code), programs=sandbox)
    assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")


@needs_a_sandbox
async def test_stopping_early_kills_programs() -> None:
    made = candidate(agent_solver="def solve(problem, host):\n    while True: pass\n")
    async with SandboxedPrograms(1) as only_one:
        runner = SolvingRunner(ListedModel(["42"]), programs=only_one)
        trajectories = runner.run([job(made), job(given=task(index=1))], Limits())
        assert (await anext(trajectories))[0] == 1
        await trajectories.aclose()
        # The one place among running programs is free again only if the endless one is gone.
        tool = SourceTree({"tool.py": "def run(): return 1"})
        assert (await asyncio.wait_for(only_one.call(tool, "tool:run", {}, seconds=60), 60)).value == 1
