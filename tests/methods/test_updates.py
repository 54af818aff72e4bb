"""Methods that update after every batch: ACE, Training-Free GRPO, prompt refinement, AHE."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
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
    attempt_at,
    context,
    right_if_taught,
    right_unless_harmed,
    teaching,
)

from heredity._core.errors import BudgetError, ConfigError, ProviderError
from heredity._core.spans import Span, collecting
from heredity.methods.ace import SKILLBOOK
from heredity.methods.contract import Outcome
from heredity.methods.registry import method
from heredity.methods.tf_grpo import EXPERIENCES
from heredity.resources import Candidate

METHODS = ["ace", "tf-grpo", "refine", "ahe"]
every_method = pytest.mark.parametrize("name", METHODS)
OWN: dict[str, dict[str, Any]] = {"tf-grpo": {"repeats": 2, "compare": "unsolved"}}


def run(
    name: str, model: Any, solver: Solver = right_if_taught, *, initial: Candidate | None = None, seed: int = 0,
    session: SumsSession | None = None, episodes: int | None = None, train: int = TRAIN, **options: Any,
) -> SumsSession:  # fmt: skip
    session = session or SumsSession(solver, episodes=episodes)
    chosen = {"batch": 4, "rounds": 3, **OWN.get(name, {}), **options}
    given = context(initial or agent(), model, seed=seed, train=train, **chosen)
    asyncio.run(method(name, given.options).evolve(session, given))
    return session


def harming(block: dict[str, Any]) -> Any:
    return json.loads(json.dumps(teaching(block)).replace("Remember to carry", "Take a guess"))


def lines(candidate: Candidate, part: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in candidate.parts[part].text("memory.jsonl").splitlines()]


def texts_of(session: SumsSession) -> list[str]:
    return [all_texts(trial.candidate) for _, trial in session.trials]


# --- what they have in common


@every_method
def test_an_agent_learns_from_batches_and_every_adoption_is_on_record(name: str) -> None:
    session = run(name, Played(teaching))
    first, *updates = session.decisions
    assert (first.accepted, first.baseline, first.reason) == (True, "", "the initial candidate")
    assert updates
    assert {(d.accepted, d.reason) for d in updates} == {(True, "adopted as it is")}
    assert [d.baseline for d in updates] == [d.candidate for d in session.decisions[:-1]]
    assert all(d.submissions for d in updates)
    assert "carry" in all_texts(session.committed)
    assert next(t.parents for _, t in session.trials if t.parents) == (agent().digest,)


@every_method
def test_without_a_gate_harm_is_adopted_and_with_one_it_is_refused(name: str) -> None:
    options = {"compare": "unsolved"} if name == "tf-grpo" else {}

    def solver(candidate: Candidate, task: int) -> str:
        return "none" if "guess" in all_texts(candidate) or task % 4 == 3 else str(2 * task)

    assert "guess" in all_texts(run(name, Played(harming), solver, **options).committed)
    gated = run(name, Played(harming), solver, gate=True, batch=TRAIN, **options)
    assert gated.committed == agent()
    assert gated.refused
    assert all("falls by" in d.reason for d in gated.refused)


@every_method
def test_behind_a_gate_what_gains_is_committed_with_its_evidence(name: str) -> None:
    session = run(name, Played(teaching), gate=True, batch=TRAIN, rounds=1)
    gain = session.decisions[-1]
    assert (gain.accepted, gain.difference, gain.pairs) == (True, 0.5, TRAIN)


@every_method
def test_each_update_learns_from_a_batch_of_its_own_that_is_bought_once(name: str) -> None:
    session = run(name, Played(teaching), rounds=3, batch=4)
    bought = [(t.candidate.digest, task) for _, t in session.trials for task in t.tasks]
    assert len(set(bought)) == len(bought)
    if name != "tf-grpo":
        assert [len(t.tasks) for _, t in session.trials] == [4, 4, 4, 4]
        seen = [task for _, t in session.trials[:3] for task in t.tasks]
        assert sorted(seen) == list(range(TRAIN))


@every_method
def test_epochs_are_passes_over_the_train_tasks(name: str) -> None:
    model = Played(teaching if name != "tf-grpo" else harming)
    run(name, model, lambda candidate, task: "none", epochs=2, rounds=1)
    assert {block["round"] for block in model.blocks} == set(range(1, 7))


@every_method
@pytest.mark.parametrize("episodes", [1, 7, 8, 9, 12, 17, 30, 100])
def test_no_budget_is_exceeded_and_no_update_is_made_that_could_not_be_attempted(name: str, episodes: int) -> None:
    model = Played(teaching)
    session = run(name, model, lambda candidate, task: "none", episodes=episodes, rounds=30)
    left = session.remaining().episodes
    assert left is not None
    assert left >= 0
    asked = {block["round"] for block in model.blocks}
    assert len(session.decisions) == (len(asked) + 1 if session.trials else 0)
    if name != "tf-grpo" and session.trials:
        assert left == 0


@every_method
@pytest.mark.parametrize("said", ["", "I cannot.", "[1]", '{"operations": 3, "lessons": 3, "summary": [], "edits": 1}',
                                  '{"operations": [{"do": "sing"}], "lessons": [3], "summary": ""}'])  # fmt: skip
def test_nonsense_is_asked_about_once_and_costs_no_attempt(name: str, said: str) -> None:
    model = Played(lambda block: said)
    session = run(name, model, lambda candidate, task: "none", rounds=1)
    assert [d.candidate for d in session.decisions] == [agent().digest]
    assert len(session.trials) == 1
    assert sum(len(r.messages) > 2 for r in model.requests) == len(model.requests) / 2


@every_method
def test_a_provider_that_fails_ends_updates_not_the_method_and_the_next_note_says_so(name: str) -> None:
    def play(block: dict[str, Any]) -> Any:
        if block["round"] == 1:
            raise ProviderError("timeout", "took too long", transient=True)
        return teaching(block)

    session = run(name, Played(play), lambda candidate, task: "none", rounds=2)
    note = next(t.note for _, t in session.trials if t.parents)
    assert "the model gave no answer (timeout: took too long)" in note
    assert len(session.decisions) == 2


@every_method
def test_a_model_whose_budget_is_spent_ends_the_method_quietly(name: str) -> None:
    def play(block: dict[str, Any]) -> Any:
        raise BudgetError("no tokens left")

    assert len(run(name, Played(play), lambda candidate, task: "none", rounds=9).decisions) == 1


@every_method
def test_the_same_replies_give_the_same_run(name: str) -> None:
    def once(seed: int) -> tuple[list[Any], list[Any], list[str]]:
        model = Played(teaching)
        session = run(name, model, seed=seed)
        trials = [(k, t.candidate.digest, list(t.tasks), t.parents, t.note) for k, t in session.trials]
        return trials, session.decisions, [r.digest for r in model.requests]

    assert once(3) == once(3)
    assert once(3)[0] != once(4)[0]


@every_method
def test_keys_count_no_two_requests_are_the_same_and_every_step_leaves_a_span(name: str) -> None:
    spans: list[Span] = []
    model = Played(teaching)
    with collecting(spans.append):
        session = run(name, model)
    digests = [r.digest for r in model.requests]
    assert len(set(digests)) == len(digests)
    assert list(dict.fromkeys(key for key, _ in session.trials))[:2] == [f"{name}/0", f"{name}/1"]
    assert {"round", "evaluate", "commit", *(b["task"] for b in model.blocks)} <= {s.name for s in spans}


@every_method
def test_options_of_the_gate_need_the_gate_and_targets_are_checked(name: str) -> None:
    with pytest.raises(ConfigError, match=r"gate = false: protect is the gate's; set gate = true"):
        run(name, Played(teaching), protect=0.5)
    with pytest.raises(ConfigError, match=r"target(\.0)? = "):
        run(name, Played(teaching), target=["environment" if name == "ahe" else "tool"])
    with pytest.raises(ConfigError, match=r"set \[gateway\] optimisation"):
        run(name, None)


@pytest.mark.parametrize(("name", "part"), [("ace", SKILLBOOK), ("tf-grpo", EXPERIENCES)])
def test_a_library_that_may_not_change_is_refused_before_anything_is_spent(name: str, part: str) -> None:
    frozen = {"memory.jsonl": "", "resource.json": json.dumps({"evolvable": False})}
    with pytest.raises(ConfigError, match=f"{part} is not evolvable"):
        run(name, Played(teaching), initial=agent(**{part.replace("/", "__"): frozen}))


# --- ACE


def playing(**parts: Callable[[dict[str, Any]], Any]) -> Played:
    return Played(lambda block: parts.get(block["task"], teaching)(block))


def test_the_skillbook_counts_what_helped_and_harmed_and_the_curator_sees_it() -> None:
    given = {"memory.jsonl": '{"id": "a", "text": "Add."}\n{"id": "b", "text": "Guess not."}\n'}

    def lessons(block: dict[str, Any]) -> Any:
        right = block["evidence"][0]["score"] == 1.0
        return {"helpful": ["a", "z"] if right else [], "harmful": [] if right else ["b"], "lessons": ["Be exact."]}

    def curate(block: dict[str, Any]) -> Any:
        return {"operations": [{"do": "retire", "id": "b"}], "why": "it harms"}

    model = playing(lessons=lessons, curate=curate)
    session = run("ace", model, right_if_taught, initial=agent(memory__skillbook=given), batch=TRAIN, rounds=1)
    assert lines(session.committed, SKILLBOOK) == [
        {"id": "a", "text": "Add.", "helpful": 6, "harmful": 0, "section": ""}
    ]
    *asked, curating = model.blocks
    assert len(asked) == TRAIN
    assert all(len(block["evidence"]) == 1 for block in asked)
    assert curating["skillbook"][1] == {"id": "b", "text": "Guess not.", "helpful": 0, "harmful": 6, "section": ""}
    assert {lesson["text"] for lesson in curating["lessons"]} == {"Be exact."}
    assert "it harms" in session.trials[-1][1].note


def test_if_the_curation_fails_the_counts_are_kept() -> None:
    given = {"memory.jsonl": '{"id": "a", "text": "Add."}\n'}
    model = playing(curate=lambda block: "no")
    session = run("ace", model, initial=agent(memory__skillbook=given), batch=4, rounds=1)
    assert lines(session.committed, SKILLBOOK)[0]["helpful"] == 4
    assert "curate: the reply could not be used" in session.trials[-1][1].note


def test_behind_a_gate_counts_alone_are_not_worth_an_evaluation() -> None:
    given = {"memory.jsonl": '{"id": "a", "text": "Add."}\n'}
    model = playing(curate=lambda block: {"operations": []})
    session = run("ace", model, initial=agent(memory__skillbook=given), batch=4, rounds=2, gate=True)
    assert all(trial.candidate == session.committed for _, trial in session.trials)


def test_missing_attempts_teach_nothing() -> None:
    def solver(candidate: Candidate, task: int) -> str:
        raise TimeoutError

    model = Played(teaching)
    assert len(run("ace", model, solver, rounds=2).decisions) == 1
    assert model.blocks == []


# --- Training-Free GRPO


class Wavering(SumsSession):
    """Solves the first rollout of a task from six on and fails the second, unless it was taught."""

    def _feedback(self, trial: Any, number: int) -> Any:
        whole = super()._feedback(trial, number)
        outcomes: list[Outcome] = []
        for position, outcome in enumerate(whole.outcomes):
            taught = "carry" in all_texts(trial.candidate)
            right = taught or outcome.task < 6 or position < len(trial.tasks)
            outcomes.append(attempt_at(trial.candidate, outcome.task, str(2 * outcome.task) if right else "none"))
        return type(whole)(whole.submit_id, whole.candidate, whole.status, tuple(outcomes))


def test_groups_with_different_scores_are_compared_and_the_others_are_not() -> None:
    model = Played(teaching)
    session = run("tf-grpo", model, session=Wavering(), batch=TRAIN, rounds=1, compare="mixed")
    asked = [block["task"] for block in model.blocks]
    assert asked == ["summarise"] * 12 + ["compare"] * 6 + ["consolidate"]
    group = model.blocks[12]["evidence"]
    assert sorted(item["score"] for item in group) == [0.0, 1.0]
    assert all(item["transcript"] is None and item["summary"].startswith("it said") for item in group)
    assert len(model.blocks[-1]["proposed"]) == 6
    assert model.blocks[-1]["proposed"][0]["operations"] == [{"do": "add", "ids": [], "text": "Remember to carry, 1."}]
    assert lines(session.committed, EXPERIENCES) == [{"id": "r1-1", "text": "Remember to carry, 1."}]


def test_a_single_group_s_changes_need_no_merging_and_ids_can_be_modified_and_deleted() -> None:
    given = {"memory.jsonl": '{"id": "a", "text": "Add."}\n{"id": "b", "text": "Guess not."}\n'}

    def compare(block: dict[str, Any]) -> Any:
        changes = [{"do": "modify", "id": "a", "text": "Add and carry."}, {"do": "delete", "id": "b"}]
        return {"operations": changes if block["draw"] == 0 else []}

    model = playing(compare=compare)
    session = run("tf-grpo", model, initial=agent(memory__experiences=given), batch=TRAIN, rounds=1)
    assert "consolidate" not in [block["task"] for block in model.blocks]
    assert lines(session.committed, EXPERIENCES) == [{"id": "a", "text": "Add and carry."}]


def test_a_group_without_summaries_is_compared_all_the_same_and_that_is_noted() -> None:
    model = playing(summarise=lambda block: "…")
    session = run("tf-grpo", model, batch=TRAIN, rounds=1)
    assert {item["summary"] for block in model.blocks if block["task"] == "compare" for item in block["evidence"]} == {
        None
    }
    assert "summarise: the reply could not be used" in session.trials[-1][1].note


def test_groups_that_are_alike_teach_nothing_by_the_paper_s_rule() -> None:
    model = Played(teaching)
    assert len(run("tf-grpo", model, right_unless_harmed, rounds=2, compare="mixed").decisions) == 1
    assert model.blocks == []


# --- prompt refinement


def test_refinement_shows_the_whole_batch_and_rewrites_the_system_prompt_alone() -> None:
    fixed = {"prompt.md": "{{question}} Think."}
    model = Played(teaching)
    session = run("refine", model, initial=agent(prompt__question=fixed), batch=TRAIN, rounds=1)
    (block,) = model.blocks
    assert block["variables"] == {SYSTEM: "Add the numbers."}
    assert len(block["evidence"]) == TRAIN
    assert "carry" in all_texts(session.committed)
    other = Played(lambda block: {"edits": [{"variable": "prompt/question:prompt.md", "value": "{{question}}"}]})
    assert len(run("refine", other, initial=agent(prompt__question=fixed), rounds=1).trials) == 1
