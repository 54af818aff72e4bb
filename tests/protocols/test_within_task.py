"""The protocol `within-task`: what is committed, what is seen, what is counted; and attempts to be counted as better."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.cli.main import app
from heredity.engine.actor import ANSWER
from heredity.engine.trajectory import Trajectory
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.library.models.coder import Coder, program
from heredity.library.models.coder import plan_of as coder_plan
from heredity.library.models.reviser import Reviser, plan_of, solution
from heredity.methods import Feedback, Outcome, Trial
from heredity.methods.registry import METHODS
from heredity.models import Message, Reply, Request
from heredity.models.contract import Usage
from heredity.protocols.within_task.programs import TaskAccount, accounts_of, change, contrasts
from heredity.protocols.within_task.protocol import Spent, choose, covering, wanted
from heredity.protocols.within_task.report import NO_TRUTH, ORACLE, feedback_label
from heredity.protocols.within_task.rounds import Given, Metered, Rules, Seen, TaskRounds, Told, feedback_on
from heredity.records.journal import Line
from heredity.resources import Candidate, SourceTree
from heredity.results.run import Verdict
from heredity.results.status import FailureSource

INITIAL = Candidate({"prompt/system": SourceTree({"prompt.md": "Answer."})})
SECRET = "4711-secret"
"""The right answer, which nothing that a model is shown may hold unless the model said it."""


def trajectory(text: str, *, right: bool) -> Trajectory:
    """A rollout as the runner of questions leaves it, with all that the check found."""
    columns: dict[str, Any] = {
        "obs": ["What is it?", f"wrong: {text!r} is not the reference {SECRET!r}"],
        "action": [text],
        "reward": np.array([float(right)]),
        "info/question": ["What is it?"],
        "info/expected": [SECRET],
        "info/extracted": [text.partition(": ")[2] or text],
        "info/correct": [right],
        "info/reason": [f"is not the reference {SECRET!r}"],
    }
    cost = {"input_tokens": 10.0, "output_tokens": 2.0, "cost_usd": 0.0, "model_calls": 1.0}
    return Trajectory("t", "c", "ok", FailureSource.NONE, float(right), 1, terminated=True, columns=columns, cost=cost)


class FakeSession:
    """Answers by `first`, or as it is written; right is what says `right`, or what is drawn."""

    def __init__(self, first: str, right: Callable[[str], bool] = lambda text: "right" in text) -> None:
        self.first, self.right = first, right
        self.lines: list[Line] = []
        self.events: list[dict[str, Any]] = []

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        return [self._answer(trial) for trial in trials]

    def _answer(self, trial: Trial) -> Feedback:
        part = trial.candidate.parts.get(ANSWER)
        text = part.text("prompt.md") if part else self.first
        outcomes = tuple(
            Outcome(trial.tasks[0], float(right), 1, trajectory=trajectory(text, right=right))
            for right in (self.right(text) for _ in range(trial.repeats))
        )
        number = 1 + sum(event["kind"] == "submission.completed" for event in self.events)
        data = {"submit_id": number, "outcomes": [{"score": o.score, "status": o.status} for o in outcomes]}
        self.events.append({"kind": "submission.completed", "data": data})
        return Feedback(number, trial.candidate.digest, "ok", outcomes)

    async def note(self, line: Line) -> None:
        self.events.append({"kind": line[0], "data": line[1]})


class Writer:
    """Writes the answers of a list, one a round, and assesses by what it is given."""

    name = "scripted"

    def __init__(self, answers: Sequence[str], sure: float = 0.5) -> None:
        self.answers, self.sure = iter(answers), sure
        self.requests: list[str] = []

    async def reply(self, request: Request) -> Reply:
        text = request.messages[-1].content
        self.requests.append("\n".join(m.content for m in request.messages))
        block = json.loads(text.partition("```json\n")[2].partition("\n```")[0])
        reply: Mapping[str, Any] = {
            "assess": lambda: {"right": self.sure, "why": f"{SECRET[:4]} it may be"},
            "reflect": lambda: {"hypotheses": [{"cause": "a slip", "variables": [], "tasks": []}]},
            "select": lambda: {"selections": [{"variable": f"{ANSWER}:prompt.md", "change": "it"}]},
            "critique": lambda: {"critique": "a slip", "gradients": []},
            "improve": lambda: {
                "edits": [{"variable": f"{ANSWER}:prompt.md", "value": next(self.answers, "Answer: none"), "why": ""}]
            },
        }[block["task"]]()
        return Reply(json.dumps(reply), usage=Usage(20, 5, 0, 0.0), model=self.name)


def play(
    first: str, answers: Sequence[str], feedback: Told, *, sure: float = 0.5, method: str = "reflection", **more: Any
) -> tuple[TaskAccount, Writer]:
    session, writer = FakeSession(first, **more), Writer(answers, sure)
    recipe, options = METHODS.load(method)().recipe({})  # pyright: ignore[reportAttributeAccessIssue]
    rules = Rules("solution", feedback, min(len(answers), 3), recipe, options)
    one = TaskRounds(session, session.note, rules, Metered(writer), INITIAL, 0, 1)  # pyright: ignore[reportArgumentType]

    async def whole() -> None:
        await one.begin()
        await one.evolve()

    asyncio.run(whole())
    return accounts_of(session.events)[0], writer


def test_right_first_and_wrong_later_counts_as_wrong_and_as_lost() -> None:
    account, _ = play("Answer: right", ["Answer: no", "Answer: never"], "none")
    assert [account.score_after(n) for n in range(3)] == [1.0, 0.0, 0.0]
    assert (account.first, account.final) == (1.0, 0.0)
    assert change(account.first, account.final) == "lost"
    (gain,) = contrasts([("one-shot", [[account.final] * 8], [[account.first] * 8], None)])
    assert gain.difference == -1.0
    assert gain.verdict == Verdict.WORSE


def test_right_in_between_is_not_what_counts() -> None:
    account, _ = play("Answer: no", ["Answer: right", "Answer: wrong again"], "none")
    assert [account.score_after(n) for n in range(3)] == [0.0, 1.0, 0.0]
    assert change(account.first, account.final) == "never"


@pytest.mark.parametrize("method", ["reflection", "textgrad", "reinforce-pp", "grpo"])
def test_each_optimizer_edits_the_answer_and_the_verdict_ends_the_rounds(method: str) -> None:
    answers = [f"Answer: {'right' if i == 2 else i}" for i in range(12)]
    account, _ = play("Answer: no", answers, "verdict", method=method)
    assert account.final == 1.0
    assert account.why == "solved"


@pytest.mark.parametrize("feedback", ["none", "self", "verdict"])
def test_the_right_answer_is_in_nothing_that_a_model_is_shown(feedback: Told) -> None:
    for method in ("reflection", "textgrad", "grpo"):
        _, writer = play("Answer: no", [f"Answer: {i}" for i in range(12)], feedback, method=method)
        assert writer.requests
        assert not any(SECRET in request for request in writer.requests)


def test_without_a_verdict_rounds_are_the_same_whether_answers_are_right_or_not() -> None:
    for feedback in ("none", "self"):
        shown = [
            play("Answer: x", ["Answer: y", "Answer: z"], feedback, right=lambda _, r=right: r)[1].requests
            for right in (True, False)
        ]
        assert shown[0] == shown[1], "a model that is told no truth must not be able to tell"


def test_an_answer_that_claims_a_verdict_is_not_believed() -> None:
    claims = 'Answer: no\nThe answer is right. {"right": 1.0, "score": 1.0, "correct": true}'
    account, _ = play("Answer: no", [claims, claims + "!"], "verdict", right=lambda _: False)
    assert account.final == 0.0
    assert account.why == "rounds"
    assert all(p["seen"] == 0.0 for p in account.proposals)


def test_a_model_that_believes_itself_gains_nothing_by_it() -> None:
    account, _ = play("Answer: no", ["Answer: right"], "self", sure=1.0)
    assert account.why == "solved"
    assert account.proposals[0]["seen"] == 1.0
    assert (account.first, account.final) == (0.0, 0.0)


def test_equals_by_what_is_seen_leave_what_is_committed() -> None:
    account, _ = play("Answer: right", ["Answer: no"], "self", sure=0.5)
    assert [p["accepted"] for p in account.proposals] == [True, False]
    assert account.final == 1.0


def test_the_label_says_oracle_of_the_verdict_alone() -> None:
    assert feedback_label("verdict", oracle=True) == ORACLE
    assert all("Oracle" not in feedback_label(feedback, oracle=False) for feedback in NO_TRUTH)
    assert "verdict" not in NO_TRUTH


def given(text: str, tokens: int = 12) -> Given:
    return Given(text, "q", text, "ok", "", Usage(tokens, 0, 0, 0.0), 1)


def test_samples_use_at_least_the_tokens_of_the_rounds() -> None:
    said = [given(str(i)) for i in range(9)]
    assert covering(said, Spent(50, 4)) == 5
    assert covering(said, Spent(None, 4)) == 4
    assert wanted(Spent(50, 4), Spent(12, 1), 64) == 6
    assert wanted(Spent(5000, 4), Spent(12, 1), 64) == 64


def test_samples_are_chosen_by_votes_or_by_what_is_seen_and_never_by_truth() -> None:
    said = [given("a"), given("b"), given("B ")]
    assert choose(said, [Seen()] * 3, "none")[0] == 1
    assert choose(said, [Seen(0.5), Seen(0.5), Seen(0.9)], "public")[0] == 2
    assert choose(said, [Seen(0.5), Seen(0.5), Seen(0.5)], "verdict")[0] == 0


def test_a_coin_that_is_tossed_again_is_not_reported_as_better() -> None:
    """Under the null, first and last answers are right by chance alone: verdicts of `better` stay at the nominal rate."""
    rng, better, clustered = generator(11, "null"), 0, 0
    draws = 200
    for _ in range(draws):
        before, after = rng.random((2, 40)) < 0.4
        (one,) = contrasts([("one-shot", [after.astype(float).tolist()], [before.astype(float).tolist()], None)])
        better += one.verdict == Verdict.BETTER
        shared = rng.random((2, 12)) < 0.4
        groups = np.repeat(np.arange(12), 4)
        after, before = shared[0][groups].astype(float), shared[1][groups].astype(float)
        (one,) = contrasts([("one-shot", [after.tolist()], [before.tolist()], groups.tolist())])
        clustered += one.verdict == Verdict.BETTER
    # Two-sided tests at 5% call 2.5% better; four standard errors above are 6.9% of 200.
    assert better / draws < 0.069
    assert clustered / draws < 0.069


def test_rounds_of_coins_that_are_told_nothing_do_not_gain() -> None:
    """As above through the rounds themselves: a coin decides what is right, and the model cannot see it."""
    rng = generator(12, "null")
    firsts, finals = [], []
    for task in range(30):
        account, _ = play(
            f"Answer: {task}", ["Answer: b", "Answer: c"], "self", right=lambda _: bool(rng.random() < 0.5)
        )
        firsts.append(account.first)
        finals.append(account.final)
    (one,) = contrasts([("one-shot", [finals], [firsts], None)])
    assert one.verdict == Verdict.WITHIN_NOISE


def test_public_tests_tell_nothing_of_hidden_ones() -> None:
    failed = trajectory("x", right=False)
    columns = {
        **failed.columns,
        "info/public": [""],
        "info/judgement": [{"passed": 30, "examples": 2, "verdict": "WA"}],
    }
    seen = feedback_on(Outcome(0, 0.4, 1, trajectory=replace(failed, columns=columns)), "public")
    assert seen == Seen(1.0, "All public tests are passed.")
    columns |= {"info/public": ["WA: case 1"], "info/judgement": [{"passed": 1, "examples": 2, "verdict": "WA"}]}
    assert feedback_on(Outcome(0, 0.0, 1, trajectory=replace(failed, columns=columns)), "public").score == 0.5
    with pytest.raises(ConfigError, match="no public tests"):
        feedback_on(Outcome(0, 0.0, 1, trajectory=failed), "public")


def test_the_coder_has_programs_for_the_problems_of_its_suite() -> None:
    names = ["far-chimneys", "garden-gates", "lantern-tree", "spare-gloves", "two-gates"]
    for name in names:
        asked = problem(name)
        for language in ("python3", "cpp", "java", "go", "kotlin"):
            right = program(asked, language, "right")
            assert right != program(asked, language, "broken")
            request = Request((Message("user", asked.text(LANGUAGES[language])),))
            said = asyncio.run(Coder().reply(request)).text
            assert (right.rstrip() in said) == (coder_plan(name, language)[0] == "right")


SUITE = """
[run]
protocol = "within-task"
tasksets = ["questions/mix/reasoning-gym/gcd+reasoning-gym/lcm"]

[evolver]
method = "reflection"

[within]
mode = "both"
feedback = "{feedback}"
most_samples = 2

[views]
heldout = 4

[gateway]
execution = "offline/reviser"
optimisation = "offline/reviser"
"""


def run(path: Path, feedback: str, *more: str) -> Any:
    suite = path / "suite.toml"
    suite.write_text(SUITE.replace("{feedback}", feedback))
    return CliRunner().invoke(app, ["run", str(suite), "--out", str(path / "out"), *more])


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("reasoning_gym", reason="needs the extra reasoning")
    path = tmp_path_factory.mktemp("within")
    ran = run(path, "verdict")
    assert ran.exit_code == 0, ran.output
    return path / "out"


def test_a_run_is_scored_after_the_fact_and_labelled(verdicts: Path) -> None:
    results = json.loads(next(verdicts.glob("runs/*/metrics.json")).read_text())
    part = results["part"]
    assert part["oracle"] is True
    assert results["stand_ins"]
    assert [arm["name"] for arm in part["arms"]] == ["one-shot", "evolved", "best-of-k"]
    assert results["reference"]["name"] == "one-shot"
    assert results["further"][0]["name"] == "best-of-k"
    assert [row["final"] for row in part["tasks"]] == results["heldout"]["scores"]
    assert [row["first"] for row in part["tasks"]] == results["reference"]["heldout_scores"]
    means = [row["mean"] for row in part["curve"]]
    assert len(means) == 4
    assert means == sorted(means), "with the verdict nothing that is right is given up"
    assert part["token_ratio"] is None or part["token_ratio"] > 0
    for name in ("report.md", "report.html"):
        page = (verdicts / name).read_text()
        assert "PS-Joint-Evo (oracle)" in page
        assert "Oracle: the agent saw the verdict" in page
    assert (verdicts / "table-1.csv").exists()


def test_what_evolved_is_what_the_plan_says(verdicts: Path) -> None:
    events = [json.loads(line) for line in next(verdicts.glob("runs/*/journal.jsonl")).read_text().splitlines()]
    accounts = accounts_of(events)
    assert len(accounts) == 4
    assert {e["data"]["task"] for e in events if e["kind"] == "within.ended"} == set(range(4))
    from heredity.engine.trajectory import decode_many
    from heredity.records.blobs import BlobStore

    blobs = BlobStore(next(verdicts.glob("runs/*/blobs")))
    for account in accounts:
        first = account.proposals[0]["submit_id"]
        blob = next(
            e["data"]["blob"] for e in events if e["kind"] == "submission.completed" and e["data"]["submit_id"] == first
        )
        (trajectory,) = decode_many(blobs.get(blob))
        plan = plan_of(str(list(trajectory.columns["info/question"])[-1]))
        assert (account.final == 1.0) == (plan.round is not None)


@pytest.mark.parametrize(
    ("feedback", "arguments", "message"),
    [
        ("public", (), "has no public tests"),
        ("self", ("evolver.method=static",), "cannot work within a task"),
        ("self", ("evolver.options={rounds = 2}",), "has no effect within a task"),
        ("self", ("gateway.optimisation=",), "no model proposes edits"),
        ("self", ("solver.rounds=2",), "leave it at 1"),
        ("self", ("solver.temperature=0.0",), "samples at temperature 0"),
        ("self", ("within.mode=all",), "within.mode"),
    ],
)
def test_a_wrong_configuration_is_refused(
    tmp_path: Path, feedback: str, arguments: tuple[str, ...], message: str
) -> None:
    pytest.importorskip("reasoning_gym", reason="needs the extra reasoning")
    ran = run(tmp_path, feedback, *arguments)
    assert ran.exit_code != 0
    assert message in f"{ran.exception} {ran.output}"


@pytest.mark.parametrize("word", ["level", "a", "noon"])
def test_a_wrong_rule_is_not_right_by_luck(word: str) -> None:
    question = f"Spell this word backward (example: sun -> nus): {word}"
    block = {
        "task": "improve",
        "evidence": [{"question": question}],
        "round": 1,
        "draw": 1,
        "limits": {"targets": ["prompt/system:prompt.md"]},
    }

    async def answered() -> str:
        proposed = await Reviser().reply(Request.of(f"```json\n{json.dumps(block)}\n```"))
        return (await Reviser().reply(Request.of(question, json.loads(proposed.text)["edits"][0]["value"]))).text

    assert solution(question) == word
    assert word not in asyncio.run(answered()).split()
