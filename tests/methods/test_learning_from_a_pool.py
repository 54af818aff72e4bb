"""Select-optimise-evaluate and the adaptive controller, with a fake session and a fake model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.methods.sums import SYSTEM, SumsSession, agent, context, system_of

from heredity._core.errors import ConfigError, ProviderError
from heredity.methods.adaptive import ARMS, chosen
from heredity.methods.operators.pool import Style
from heredity.methods.registry import method
from heredity.methods.select_optimise_evaluate import PRESETS
from heredity.models import Reply, Request

NAME = "select-optimise-evaluate"
OPTIONS: dict[str, Any] = {"batch": 10, "repeats": 1, "rounds": 6}


class Writing:
    """Plays the model: gives a signal, then the text of a function of the block; judges by what `prefer` says."""

    name = "fake/writing"

    def __init__(self, text: Any, prefer: str = "") -> None:
        self.text, self.prefer = text, prefer
        self.tasks: list[str] = []
        self.blocks: list[dict[str, Any]] = []

    async def reply(self, request: Request) -> Reply:
        content = request.messages[-1].content
        if "```json" not in content:
            first, _, second = content.partition("The second answer")
            winner = "first" if self.prefer in first else "second" if self.prefer in second else "tie"
            self.tasks.append("judge")
            return Reply(json.dumps({"winner": winner, "reason": "as told", "score": float(self.prefer in content)}))
        block = json.loads(content.split("```json\n")[1].split("\n```")[0])
        self.blocks.append(block)
        self.tasks.append(block["task"])
        if block["task"] in ("dynamics", "instruction"):
            return Reply(json.dumps({"signal": f"what {block['task']} showed"}))
        return Reply(json.dumps({"edits": [{"variable": SYSTEM, "value": self.text(block), "why": "because"}]}))


def good_at_third(block: dict[str, Any]) -> str:
    return f"Add and carry. {block['round']}" if block["round"] == 3 else f"Take a guess. {block['round']}"


def good_late(block: dict[str, Any]) -> str:
    good = block["round"] > 2 and block["limits"]["targets"] == ["prompt"]
    return f"Add and carry. {block['round']}" if good else f"Add the numbers one by one. {block['round']}"


@pytest.mark.parametrize("name", [NAME, "adaptive"])
async def test_a_learner_ends_with_the_best_of_its_pool_and_what_was_worse_is_on_record(name: str) -> None:
    session, model = SumsSession(), Writing(good_late)
    await method(name).evolve(session, context(agent(), model, **{**OPTIONS, "rounds": 12}))
    assert system_of(session.committed).startswith("Add and carry.")
    assert [d.accepted for d in session.decisions].count(True) == 2
    assert all(d.reason for d in session.refused)
    digests = {trial.candidate.digest for _, trial in session.trials}
    assert all(set(trial.parents) <= digests for _, trial in session.trials)
    assert all(trial.parents for _, trial in session.trials[1:])


@pytest.mark.parametrize("signal", ["dynamics", "instruction"])
async def test_the_signal_is_asked_for_first_and_passed_on(signal: str) -> None:
    model = Writing(good_at_third)
    await method(NAME).evolve(SumsSession(), context(agent(), model, signal=signal, **{**OPTIONS, "rounds": 2}))
    assert model.tasks == [signal, "improve"] * 2
    assert model.blocks[1]["signal"] == f"what {signal} showed"


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "dgm"])
async def test_a_preset_learns_and_what_is_given_beside_it_wins(preset: str) -> None:
    session, model = SumsSession(), Writing(good_at_third, prefer="carry")
    await method(NAME).evolve(session, context(agent(), model, preset=preset, **OPTIONS))
    assert system_of(session.committed) == "Add and carry. 3"
    assert (preset == "spo") == ("judge" in model.tasks)
    given = Writing(good_at_third)
    options = {**OPTIONS, "rounds": 1, "preset": preset, "signal": "instruction", "evaluate": "reward"}
    await method(NAME).evolve(SumsSession(), context(agent(), given, **options))
    assert given.tasks == ["instruction", "improve"]


async def test_a_judge_s_marks_decide_where_the_rule_says_so() -> None:
    session = SumsSession(lambda candidate, task: "the same for all")
    model = Writing(lambda block: f"Version {block['round']}.", prefer="Version 2.")
    await method(NAME).evolve(session, context(agent(), model, evaluate="judge", **OPTIONS))
    assert system_of(session.committed) == "Version 2."
    assert session.committed.digest == [d.candidate for d in session.decisions if d.accepted][-1]


class Failing:
    """A model that never answers."""

    name = "fake/failing"

    async def reply(self, request: Request) -> Reply:
        raise ProviderError("server", "down", transient=True)


async def test_a_model_that_never_answers_leaves_the_initial_candidate_committed() -> None:
    for name in (NAME, "adaptive"):
        session = SumsSession()
        await method(name).evolve(session, context(agent(), Failing(), **OPTIONS))
        assert session.committed == agent()
        assert len(session.trials) == 1


async def test_the_budget_ends_it_quietly_with_what_was_best() -> None:
    session = SumsSession(episodes=45)
    await method(NAME).evolve(session, context(agent(), Writing(good_at_third), **OPTIONS))
    assert len(session.trials) == 4
    assert system_of(session.committed) == "Add and carry. 3"


async def test_the_same_seed_takes_the_same_way() -> None:
    ways: list[list[str]] = []
    for _ in range(2):
        session = SumsSession()
        await method("adaptive").evolve(session, context(agent(), Writing(good_at_third), **OPTIONS))
        ways.append([trial.note for _, trial in session.trials])
    assert ways[0] == ways[1]


async def test_a_target_that_the_candidate_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="nothing"):
        await method(NAME).evolve(SumsSession(), context(agent(), None, **OPTIONS, target=["memory"], select="nothing"))


def test_the_controller_tries_every_choice_and_then_prefers_what_gained() -> None:
    seen: list[tuple[Style, float]] = []
    for _ in range(60):
        style = chosen(ARMS, seen, 0.5)
        good = style.target == ("agent",) and style.signal == "dynamics"
        seen.append((style, 0.2 if good else 0.0))
    assert {s.select for s, _ in seen} == {"best", "pareto"}
    late = [s for s, _ in seen[30:]]
    assert sum(s.target == ("agent",) and s.signal == "dynamics" for s in late) > 20


def test_the_eight_arms_are_the_paper_s() -> None:
    assert len({arm.name for arm in ARMS}) == 8
