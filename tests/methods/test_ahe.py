"""AHE: harness engineering from an evidence pack. What it shares with other updates is in test_updates.py."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.methods.sums import (
    SYSTEM,
    TRAIN,
    Played,
    Solver,
    SumsSession,
    agent,
    all_texts,
    context,
    right_if_taught,
)
from tests.methods.test_resuming import SumsRunner, evolve

from heredity._core.errors import ConfigError
from heredity.methods.registry import method
from heredity.resources import Candidate
from heredity.session.schedule import Schedule

PROGRAM = {"agent.py": "def solve(problem, host): ..."}
MIDDLEWARE = "agent/solver:middleware/carry.py"


def engineered(
    play: Callable[[dict[str, Any]], Any],
    solver: Solver = right_if_taught,
    initial: Candidate | None = None,
    **options: Any,
) -> tuple[SumsSession, list[dict[str, Any]]]:
    model, session = Played(play), SumsSession(solver)
    given = context(initial or agent(agent__solver=PROGRAM), model, **{"batch": TRAIN, "rounds": 3, **options})
    asyncio.run(method("ahe").evolve(session, given))
    return session, model.blocks


def edit(variable: str, value: str | None, *fixes: int, why: str = "to carry", risks: str = "") -> dict[str, Any]:
    return {"edits": [{"variable": variable, "value": value, "why": why}], "fixes": list(fixes), "risks": risks}


def test_middleware_is_added_to_the_program_and_the_note_carries_the_manifest() -> None:
    session, (block,) = engineered(
        lambda _: edit(MIDDLEWARE, "# carry\n", 6, 9, 2, why="sums need it", risks="slower"), rounds=1
    )
    assert block["task"] == "engineer"
    assert {MIDDLEWARE.replace("carry", "NAME"), "agent/solver:project/PATH", "memory/NAME:memory.md"} <= {
        *block["limits"]["new_variables"]
    }
    assert set(block["variables"]) == {SYSTEM, "agent/solver:agent.py"}
    assert session.committed.parts["agent/solver"].text("middleware/carry.py") == "# carry\n"
    note = session.trials[-1][1].note
    assert note == f"round 1: {MIDDLEWARE}: sums need it [expected to fix tasks: 6, 9; risks: slower]"


def test_the_pack_has_statistics_groups_history_diffs_and_predictions_checked() -> None:
    def play(block: dict[str, Any]) -> Any:
        if block["round"] == 1:
            return edit(SYSTEM, "Add the numbers.\nRemember to carry, but not eleven.", 6, 11, why="lost carries")
        return edit("memory/rules:memory.md", f"carry, {block['round']}", 11)

    def solver(candidate: Candidate, task: int) -> str:
        text = all_texts(candidate)
        right = task < 6 if "carry" not in text else task not in ((11, 0) if "not eleven" in text else ())
        return str(2 * task) if right else "none"

    _, (first, second, third) = engineered(play, solver, batch=TRAIN, rounds=3)
    assert first["statistics"] == {"score": 0.5, "solved": 6, "failed": 6, "errors": 0}
    assert first["failures"] == [{"error": "none is not 12", "tasks": [6, 7, 8, 9, 10, 11]}]
    assert (first["history"], first["diffs"], first["predictions"]) == ([], {}, [])
    assert second["statistics"]["solved"] == 10
    assert second["history"] == [
        {"round": 1, "changes": [{"variable": SYSTEM, "why": "lost carries"}], "before": 0.5, "after": 10 / 12}
    ]
    assert second["diffs"][SYSTEM].endswith(" Add the numbers.\n+Remember to carry, but not eleven.")
    assert second["predictions"] == [{"round": 1, "tasks": [6, 11], "held": [6], "missed": [11], "broke": [0]}]
    assert list(third["diffs"]) == ["memory/rules:memory.md"]
    assert [prediction["missed"] for prediction in third["predictions"]] == [[11], [11]]


def test_predictions_about_tasks_that_did_not_come_again_are_open() -> None:
    _, blocks = engineered(lambda block: edit(SYSTEM, f"carry {block['round']}", *range(TRAIN)), batch=4, rounds=2)
    (prediction,) = blocks[1]["predictions"]
    assert prediction["tasks"]
    assert (prediction["held"], prediction["missed"]) == ([], [])


def test_what_is_refused_is_shown_next_time_and_costs_no_attempt() -> None:
    replies = [
        edit("agent/solver:elsewhere.txt", "x" * 30_000),
        edit("environment/desk:environment.json", "{}"),
        edit(SYSTEM, "Add the numbers."),
        {"edits": []},
        edit("agent/solver:middleware/broken.py", "def ("),
        edit(SYSTEM, "Add and carry."),
    ]
    session, blocks = engineered(lambda block: replies[block["round"] - 1], rounds=6)
    reasons = [entry["reason"] for entry in blocks[-1]["rejected"]]
    for said, reason in zip(
        (
            "30000 characters",
            "no target",
            "change nothing",
            "no edit was asked for",
            "middleware/broken.py of agent/solver is not Python",
        ),
        reasons,
        strict=True,
    ):
        assert said in reason
    assert blocks[-1]["history"] == []
    assert len(session.decisions) == 2
    assert len(session.trials) == 2


def test_history_says_how_many_changes_are_shown_and_the_latest_are() -> None:
    _, blocks = engineered(lambda block: edit(SYSTEM, f"carry {block['round']}"), rounds=4, history=2)
    assert [entry["round"] for entry in blocks[-1]["history"]] == [2, 3]
    assert [entry["round"] for entry in blocks[-1]["predictions"]] == [2, 3]
    _, blocks = engineered(lambda block: edit(SYSTEM, f"carry {block['round']}"), rounds=2, history=0)
    assert blocks[-1]["history"] == []


def test_behind_a_gate_a_refused_change_is_no_history_but_shown_as_rejected() -> None:
    session, blocks = engineered(lambda block: edit(SYSTEM, f"Take a guess, {block['round']}."), rounds=2, gate=True)
    assert all("falls by" in decision.reason for decision in session.refused)
    assert len(session.refused) == 2
    assert (blocks[-1]["history"], blocks[-1]["diffs"]) == ([], {})
    assert "falls by" in blocks[-1]["rejected"][0]["reason"]


def test_programs_that_fail_are_counted_as_errors_and_grouped() -> None:
    def solver(candidate: Candidate, task: int) -> str:
        raise RuntimeError(f"hook after_model returned None on message {task}")

    _, (block,) = engineered(lambda _: edit(SYSTEM, "carry"), solver, rounds=1)
    assert block["statistics"] == {"score": 0.0, "solved": 0, "failed": TRAIN, "errors": TRAIN}
    error = "act_error: hook after_model returned None on message 0"
    assert block["failures"] == [{"error": error, "tasks": list(range(TRAIN))}]


def test_under_a_schedule_each_batch_has_its_tasks_and_predictions_are_checked_when_tasks_come_again(
    tmp_path: Path,
) -> None:
    model = Played(lambda block: edit(SYSTEM, f"Remember to carry, {block['round']}.", *range(TRAIN)))
    decisions = evolve(tmp_path, "ahe", model, runner := SumsRunner(), {}, Schedule(batch_size=6, epochs=2))
    assert runner.rollouts == 2 * TRAIN
    assert [d.accepted for d in decisions] == [True] * 5
    seen = [sorted(item["task"] for item in block["evidence"]) for block in model.blocks]
    assert sorted(seen[0] + seen[1]) == sorted(seen[2] + seen[3]) == list(range(TRAIN))
    predictions = model.blocks[-1]["predictions"]
    assert predictions[0]["tasks"]
    assert predictions[0]["held"] == predictions[0]["tasks"]
    assert "[expected to fix tasks: " in decisions[1].reason


def test_what_the_contract_gate_refuses_is_told_and_not_built_upon(tmp_path: Path) -> None:
    model = Played(lambda block: edit(SYSTEM, "Guess." if block["round"] == 1 else f"Take a guess. {block['round']}"))
    schedule = Schedule(batch_size=6, epochs=1, updates=2, gate=True)
    decisions = evolve(tmp_path, "ahe", model, SumsRunner(), {}, schedule)
    refused = [d for d in decisions if not d.accepted]
    assert [d.reason for d in refused] == ["contract gate: it guesses"] * 3
    assert model.blocks[-1]["variables"] == {SYSTEM: "Guess."}
    assert [entry["reason"] for entry in model.blocks[-1]["rejected"]] == ["contract gate: it guesses"] * 2
    assert [entry["round"] for entry in model.blocks[-1]["history"]] == [1]


def test_a_reset_begins_without_history(tmp_path: Path) -> None:
    model = Played(lambda block: edit(SYSTEM, f"Remember to carry, {block['round']}."))
    evolve(tmp_path, "ahe", model, SumsRunner(), {}, Schedule(batch_size=6, updates=2, persistence="reset"))
    assert [len(block["history"]) for block in model.blocks] == [0, 1, 0, 1]
    assert [block["variables"][SYSTEM] for block in model.blocks][::2] == ["Add the numbers."] * 2


def test_options_of_rounds_have_no_meaning_under_a_schedule(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="option rounds = 3 has no meaning in a run with a schedule"):
        evolve(tmp_path, "ahe", Played(lambda _: ""), SumsRunner(), {"rounds": 3}, Schedule(batch_size=6))
