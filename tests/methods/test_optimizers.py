"""What every optimizer must do: keep what is right, find what is better, and survive whatever the model says."""

from __future__ import annotations

import asyncio
import json
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
    block_of,
    context,
    proposing,
    right_if_taught,
    right_unless_harmed,
    system_of,
)

from heredity._core.errors import BudgetError, ConfigError, ProviderError
from heredity._core.spans import Span, collecting
from heredity.methods.registry import method
from heredity.models import Request
from heredity.resources import Candidate

REVISE = "prompt/revise:prompt.md"
OPTIMIZERS = ["reflection", "textgrad", "reinforce-pp", "grpo"]
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)


def run(
    name: str, model: Any, solver: Solver = right_if_taught, *, initial: Candidate | None = None, seed: int = 0,
    episodes: int | None = None, close_after: int = 10**9, train: int = TRAIN, **options: Any,
) -> SumsSession:  # fmt: skip
    session = SumsSession(solver, episodes=episodes, close_after=close_after)
    given = context(initial or agent(), model, seed=seed, train=train, **{"batch": TRAIN, "rounds": 4, **options})
    asyncio.run(method(name, given.options).evolve(session, given))
    return session


def harmful(block: dict[str, Any]) -> dict[str, str]:
    return {SYSTEM: f"Take a guess, number {block['round']}.{block['draw']}."}


def sometimes_good(block: dict[str, Any]) -> dict[str, str]:
    if block["round"] == 2 and block["draw"] % 2 == 0:
        return {SYSTEM: f"Add the numbers and carry over. {block['draw']}"}
    return harmful(block)


# --- commit and roll back


@every_optimizer
def test_an_agent_that_is_right_at_first_is_right_after_harmful_edits(name: str) -> None:
    session = run(name, proposing(harmful), right_unless_harmed)
    assert session.committed == agent()
    assert [d.accepted for d in session.decisions].count(True) == 1
    assert session.decisions[0].baseline == ""
    assert len(session.refused) >= 4
    for refused in session.refused:
        assert (refused.difference, refused.pairs, refused.baseline) == (-1.0, TRAIN, agent().digest)
        assert "falls by 1" in refused.reason
        assert refused.submissions
    tried = [t for _, t in session.trials if t.candidate != agent()]
    assert {t.candidate.digest for t in tried} == {d.candidate for d in session.refused}
    assert all(t.parents == (agent().digest,) for t in tried)


@every_optimizer
def test_a_good_edit_among_harmful_ones_is_committed_and_built_upon(name: str) -> None:
    model = proposing(sometimes_good)
    session = run(name, model, rounds=3)
    assert "carry" in system_of(session.committed)
    gain = next(d for d in session.decisions[1:] if d.accepted)
    assert gain.difference == 0.5
    assert gain.interval is not None
    assert 0.0 < gain.interval[0] < 0.5 < gain.interval[1] <= 1.0
    later = [t for _, t in session.trials if t.parents == (gain.candidate,)]
    assert later
    assert session.committed.digest == gain.candidate
    shown = [b["variables"][SYSTEM] for b in model.blocks if b["round"] == 3 and SYSTEM in b["variables"]]
    assert shown
    assert all("carry" in text for text in shown)


@every_optimizer
def test_what_was_refused_is_told_to_the_model_with_the_reason(name: str) -> None:
    model = proposing(harmful)
    run(name, model, right_unless_harmed, rounds=2)
    (rejected, *_) = [b["rejected"] for b in model.blocks if b["round"] == 2]
    assert any(
        entry["edits"][SYSTEM].startswith("Take a guess") and "falls by 1" in entry["reason"] for entry in rejected
    )


@every_optimizer
def test_an_edit_that_changes_no_score_is_committed_only_if_it_is_shorter(name: str) -> None:
    longer = run(name, proposing(lambda b: {SYSTEM: f"Add all of the numbers. {b['draw']}"}), right_unless_harmed)
    assert longer.committed == agent()
    assert any("is longer" in d.reason for d in longer.refused)
    shorter = run(name, proposing(lambda b: {SYSTEM: "Add."}), right_unless_harmed)
    assert system_of(shorter.committed) == "Add."


@every_optimizer
def test_it_stops_when_nothing_better_was_found_for_some_rounds(name: str) -> None:
    model = proposing(harmful)
    run(name, model, right_unless_harmed, rounds=50, patience=3)
    assert max(b["round"] for b in model.blocks) == 3


# --- models that misbehave

NONSENSE = ["", "   ", "I am sorry, I cannot.", "{", '{"edits": "none"}', '{"edits": []}', "[1, 2]", '{"edits": [{"variable": 3}]}',
            '{"edits": [{"variable": "prompt/system:prompt.md", "value": NaN}]}', "{" * 100_000, '{"a":' * 100_000,
            '{"hypotheses": {}, "selections": 3, "gradients": 1, "critique": null}', "\ud800 { \x00"]  # fmt: skip


@every_optimizer
@pytest.mark.parametrize("said", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_is_asked_about_once_and_then_given_up(name: str, said: str) -> None:
    model = Played(lambda block: said)
    session = run(name, model, rounds=2)
    assert [d.candidate for d in session.decisions] == [agent().digest]
    assert all("could not be used" in r.messages[-1].content for r in model.requests if len(r.messages) > 2)
    assert sum(len(r.messages) > 2 for r in model.requests) == len(model.requests) / 2


@every_optimizer
def test_nonsense_in_the_last_step_costs_no_episodes(name: str) -> None:
    session = run(name, proposing(lambda block: "no"), rounds=3)
    assert len(session.trials) == 1


@every_optimizer
def test_a_reply_that_is_repaired_counts(name: str) -> None:
    good = proposing(lambda block: {SYSTEM: "Add and carry."})

    class Stammering(Played):
        async def reply(self, request: Request) -> Any:
            return await (good if len(request.messages) > 2 else super()).reply(request)

    assert system_of(run(name, Stammering(lambda block: "well…")).committed) == "Add and carry."


@every_optimizer
def test_json_in_fences_among_other_words_is_read(name: str) -> None:
    plain = proposing(lambda block: {SYSTEM: "Add and carry."})

    class Talkative(Played):
        async def reply(self, request: Request) -> Any:
            reply = await plain.reply(request)
            return type(reply)(f'Like {{"this": 1}}:\n```json\n{reply.text}\n```\nGood luck {{}}!')

    assert system_of(run(name, Talkative(lambda block: "")).committed) == "Add and carry."


@every_optimizer
@pytest.mark.parametrize("kind", ["timeout", "auth", "empty", "unscripted"])
def test_a_provider_that_fails_ends_proposals_not_the_method(name: str, kind: str) -> None:
    def play(block: dict[str, Any]) -> Any:
        raise ProviderError(kind, "out of order", transient=False)

    session = run(name, Played(play), rounds=2)
    assert [d.candidate for d in session.decisions] == [agent().digest]


@every_optimizer
def test_what_failed_is_in_the_note_of_the_next_trial(name: str) -> None:
    def play(block: dict[str, Any]) -> Any:
        if block["round"] == 1:
            raise ProviderError("timeout", "took too long", transient=True)
        return {SYSTEM: f"Add and carry. {block['draw']}"}

    session = run(name, proposing(play), rounds=2)
    note = next(t.note for _, t in session.trials if t.parents)
    assert "round 1, improve: the model gave no answer (timeout: took too long)" in note
    assert "to be tried" in note
    assert "\n" not in note


BAD_EDITS: dict[str, tuple[dict[str, str | None], str]] = {
    "a name that is none": ({"system prompt": "x"}, "unknown variable 'system prompt'"),
    "a misspelt part": ({"prompt/sytem:prompt.md": "x"}, "did you mean prompt/system:prompt.md"),
    "another file of a prompt": ({"prompt/system:notes.md": "x"}, "unknown variable"),
    "a part that may not change": ({"prompt/fixed:prompt.md": "x"}, "prompt/fixed is not evolvable"),
    "another target": ({"tool/adder:tool.py": "def run(): ..."}, "no target of this evolution"),
    "an empty prompt": ({SYSTEM: "  "}, "is empty"),
    "a prompt that goes away": ({SYSTEM: None, "prompt/question:prompt.md": None}, "unknown file"),
    "a text too long": ({SYSTEM: "x" * 30_000}, "30000 characters; 20000 are allowed"),
    "nothing new": ({SYSTEM: "Add the numbers."}, "change nothing"),
    "what no file can hold": ({SYSTEM: "\ud800"}, "cannot be stored"),
}


@pytest.mark.parametrize("name", ["reflection", "reinforce-pp", "grpo"])
@pytest.mark.parametrize("case", BAD_EDITS)
def test_an_edit_that_cannot_be_made_is_refused_and_the_model_is_told_why(name: str, case: str) -> None:
    edits, reason = BAD_EDITS[case]
    frozen = {"prompt.md": "Fixed.", "resource.json": json.dumps({"evolvable": False})}
    tool = {"tool.py": "def run(): ...", "resource.json": json.dumps({"description": "adds"})}
    initial = agent(prompt__fixed=frozen, tool__adder=tool)
    model = proposing(lambda block: dict(edits))
    session = run(name, model, initial=initial, rounds=2)
    assert session.committed == initial
    assert len(session.trials) == 1
    rejected = [entry for b in model.blocks if b["round"] == 2 for entry in b["rejected"]]
    assert any(reason in entry["reason"] for entry in rejected), rejected


@pytest.mark.parametrize("name", ["reflection", "grpo"])
def test_code_that_does_not_load_never_takes_the_place_of_code_that_does(name: str) -> None:
    initial = agent(agent__solver={"agent.py": "def solve(problem, host):\n    return 'x'\n"})
    model = proposing(lambda block: {"agent/solver:agent.py": "def solve(:"})
    session = run(name, model, initial=initial, rounds=2, target=["agent"])
    assert session.committed == initial
    reasons = [entry["reason"] for b in model.blocks for entry in b["rejected"]]
    assert any("agent.py of agent/solver is not Python: line 1: " in reason for reason in reasons)


@every_optimizer
def test_code_that_fails_when_it_runs_is_refused(name: str) -> None:
    def solver(candidate: Candidate, task: int) -> str:
        if "carry" in all_texts(candidate) and task == 1:
            raise RuntimeError("boom")
        return right_if_taught(candidate, task)

    session = run(name, proposing(lambda block: {SYSTEM: f"Add and carry. {block['draw']}"}), solver, rounds=1)
    assert session.committed == agent()
    assert "its own code fails 1 times, before 0; on task 1: act_error" in session.refused[0].reason


@every_optimizer
def test_attempts_that_are_missing_are_not_compared(name: str) -> None:
    def solver(candidate: Candidate, task: int) -> str:
        if "carry" in all_texts(candidate) and task == 7:
            raise TimeoutError
        return right_if_taught(candidate, task)

    session = run(name, proposing(lambda block: {SYSTEM: f"Add and carry. {block['draw']}"}), solver, rounds=1)
    gain = next(d for d in session.decisions[1:] if d.accepted)
    assert (gain.pairs, gain.difference) == (11, pytest.approx(5 / 11))


@every_optimizer
def test_a_candidate_that_is_mostly_missing_is_refused(name: str) -> None:
    def solver(candidate: Candidate, task: int) -> str:
        if "carry" in all_texts(candidate):
            raise TimeoutError
        return right_if_taught(candidate, task)

    session = run(name, proposing(lambda block: {SYSTEM: f"Add and carry. {block['draw']}"}), solver, rounds=1)
    assert session.committed == agent()
    assert "only 0 of 12 tasks" in session.refused[0].reason
    assert session.refused[0].difference is None


# --- budgets, keys, determinism


@every_optimizer
@pytest.mark.parametrize("episodes", [1, TRAIN - 1, TRAIN, TRAIN + 1, 3 * TRAIN, 100])
def test_no_budget_is_ever_exceeded(name: str, episodes: int) -> None:
    session = run(name, proposing(sometimes_good), episodes=episodes, rounds=20)
    left = session.remaining().episodes
    assert left is not None
    assert left >= 0
    assert bool(session.decisions) == (episodes >= TRAIN)


@every_optimizer
@pytest.mark.parametrize("after", range(4))
def test_a_session_that_closes_ends_the_method_quietly(name: str, after: int) -> None:
    assert len(run(name, proposing(sometimes_good), close_after=after).trials) <= after + 4


@every_optimizer
def test_a_model_whose_budget_is_spent_ends_the_method_quietly(name: str) -> None:
    def play(block: dict[str, Any]) -> Any:
        raise BudgetError("no tokens left")

    assert len(run(name, Played(play), rounds=9).decisions) == 1


@every_optimizer
def test_the_same_replies_give_the_same_run(name: str) -> None:
    def once(seed: int) -> tuple[list[Any], list[Any], list[str]]:
        model = proposing(sometimes_good)
        session = run(name, model, batch=5, seed=seed, rounds=5, confirm=2)
        trials = [(k, t.candidate.digest, list(t.tasks), t.parents, t.note) for k, t in session.trials]
        return trials, session.decisions, [r.digest for r in model.requests]

    assert once(3) == once(3)
    assert once(3)[0] != once(4)[0]


@every_optimizer
def test_no_two_requests_are_the_same_and_keys_count(name: str) -> None:
    model = proposing(harmful)
    session = run(name, model, right_unless_harmed)
    digests = [r.digest for r in model.requests]
    assert len(set(digests)) == len(digests)
    assert {r.purpose for r in model.requests} == {"optimisation"}
    keys = list(dict.fromkeys(key for key, _ in session.trials))
    assert keys == [f"{name}/{n}" for n in range(len(keys))]


@every_optimizer
def test_no_attempt_is_bought_twice(name: str) -> None:
    session = run(name, proposing(sometimes_good), batch=5, rounds=8, patience=0, confirm=3)
    bought = [(t.candidate.digest, task) for _, t in session.trials for task in t.tasks]
    assert len(set(bought)) == len(bought)


@every_optimizer
def test_every_step_leaves_a_span(name: str) -> None:
    spans: list[Span] = []
    with collecting(spans.append):
        run(name, proposing(harmful), right_unless_harmed, rounds=1)
    assert {"round", "evaluate", "improve", "commit"} <= {s.name for s in spans}
    assert {s.kind for s in spans} == {"round", "operator", "commit"}


# --- what a run may not begin with


@every_optimizer
def test_without_a_model_the_error_says_what_to_set(name: str) -> None:
    with pytest.raises(ConfigError, match=r"set \[gateway\] optimisation"):
        run(name, None)


@every_optimizer
def test_where_nothing_may_change_the_run_does_not_begin(name: str) -> None:
    frozen = {"prompt.md": "Fixed.", "resource.json": json.dumps({"evolvable": False})}
    initial = agent(**{f"prompt__{n}": frozen for n in ("system", "question", "critic", "revise")})
    with pytest.raises(ConfigError, match="names nothing that may change"):
        run(name, proposing(harmful), initial=initial)


def test_wrong_options_are_refused_before_anything_is_spent() -> None:
    with pytest.raises(ConfigError, match="canaries names 12"):
        run("grpo", proposing(harmful), canaries=[12])
    with pytest.raises(ConfigError, match="confirm = 2 needs fresh train tasks"):
        run("grpo", proposing(harmful), confirm=2)
    with pytest.raises(ConfigError, match="gradients are for texts"):
        run("textgrad", proposing(harmful), target=["prompt", "tool"])
    with pytest.raises(ConfigError, match=r"method 'reflection': target\.0 = 'prompts': expected 'prompt'"):
        run("reflection", proposing(harmful), target=["prompts"])


# --- what is shown


@every_optimizer
def test_the_block_holds_what_a_program_needs_to_play_the_model(name: str) -> None:
    model = proposing(harmful)
    run(name, model, rounds=1, evidence=3)
    block = model.blocks[0]
    assert block["variables"] == {SYSTEM: "Add the numbers."}
    assert block["score"] == 0.5
    assert block["limits"]["targets"] == ["prompt"]
    (first, *_) = block["evidence"]
    assert first == {
        "task": 6,
        "question": "What is 6 + 6?",
        "expected": "12",
        "answer": "none",
        "transcript": "[told] Add the numbers.\n6 + 6?\n[said] none\n[told] verdict",
        "score": 0.0,
        "error": "none is not 12",
    }
    assert all(len(b["evidence"]) <= 3 for b in model.blocks)
    assert all(block_of(r)["reply"] for r in model.requests)


# --- one by one


def test_textgrad_rewrites_each_variable_by_its_own_gradients() -> None:
    initial = agent(prompt__question={"prompt.md": "Q: {{question}}"}, memory__facts={"memory.md": "nothing yet"})
    memory = "memory/facts:memory.md"

    def play(block: dict[str, Any]) -> Any:
        if block["task"] == "critique":
            (item,) = block["evidence"]
            blamed = SYSTEM if item["task"] % 2 else memory
            return {"critique": "wrong", "gradients": [{"variable": blamed, "text": f"as task {item['task']} shows"}]}
        ((variable, _),) = block["variables"].items()
        (gradient,) = block["gradients"]
        assert gradient["variable"] == variable
        return {"edits": [{"variable": variable, "value": "carry: " + "; ".join(gradient["texts"]), "why": "so"}]}

    model = Played(play)
    session = run("textgrad", model, initial=initial, target=["prompt", "memory"], evidence=4, rounds=2)
    assert system_of(session.committed) == "carry: as task 7 shows; as task 9 shows"
    assert session.committed.parts["memory/facts"].text("memory.md") == "carry: as task 6 shows; as task 8 shows"
    assert session.committed.parts["prompt/question"] == initial.parts["prompt/question"]
    assert [len(b["evidence"]) for b in model.blocks if b["task"] == "critique"] == [1] * 8


def test_a_critique_that_blames_no_variable_is_meant_for_all() -> None:
    def play(block: dict[str, Any]) -> Any:
        if block["task"] == "critique":
            return {"critique": "carry over"}
        ((variable, _),) = block["variables"].items()
        return {"edits": [{"variable": variable, "value": block["gradients"][0]["texts"][0], "why": ""}]}

    initial = agent(prompt__question={"prompt.md": "Q: {{question}}"})
    session = run("textgrad", Played(play), initial=initial, rounds=1)
    assert session.committed.parts["prompt/question"].text("prompt.md") == "carry over"
    assert system_of(session.committed) == "carry over"


def test_textgrad_can_write_what_was_not_there() -> None:
    def play(block: dict[str, Any]) -> Any:
        if block["task"] == "critique":
            return {"critique": "never says to carry", "gradients": [{"variable": REVISE, "text": "say so"}]}
        assert block["variables"] == {REVISE: ""}
        return {"edits": [{"variable": REVISE, "value": "Did you carry?", "why": "to say so"}]}

    session = run("textgrad", Played(play), target=["solution"], rounds=1)
    assert session.committed.parts["prompt/revise"].text("prompt.md") == "Did you carry?"


def test_reflection_passes_hypotheses_on_to_select_and_selections_on_to_improve() -> None:
    model = proposing(harmful)
    run("reflection", model, rounds=1, candidates=2)
    assert [b["task"] for b in model.blocks] == ["reflect", "select", "improve", "improve"]
    assert model.blocks[1]["hypotheses"][0]["cause"] == "it does not carry"
    assert model.blocks[2]["selections"][0]["change"] == "teach it"


@pytest.mark.parametrize("name", ["reflection", "reinforce-pp", "grpo"])
def test_the_larger_gain_is_committed_however_large_its_edit(name: str) -> None:
    def right_by_degrees(candidate: Candidate, task: int) -> str:
        solved = 12 if "carry" in all_texts(candidate) else 9 if "sums" in all_texts(candidate) else 3
        return str(2 * task) if task < solved else "none"

    def play(block: dict[str, Any]) -> dict[str, str]:
        if block["draw"] % 2 == 0:
            return {SYSTEM: "Add the sums."}
        return {SYSTEM: "Write digits below each other, and carry what exceeds nine into the next column, always."}

    session = run(name, proposing(play), right_by_degrees, rounds=1, candidates=2)
    gained = next(d for d in session.decisions[1:] if d.accepted)
    assert (gained.difference, "carry" in system_of(session.committed)) == (0.75, True)
    assert any("another of the round was committed" in d.reason for d in session.refused)


@pytest.mark.parametrize("name", ["reinforce-pp", "grpo"])
def test_signals_of_a_round_are_shown_in_the_next(name: str) -> None:
    model = proposing(sometimes_good)
    run(name, model, rounds=3)
    first, second, third = (next(b["signals"] for b in model.blocks if b["round"] == n) for n in (1, 2, 3))
    assert first == []
    assert {s["accepted"] for s in second} == {False}
    assert sum(s["accepted"] for s in third) == 1
    assert third[0]["objective"] >= third[-1]["objective"]
    assert {"reward", "ratio", "advantage", "objective", "penalty"} <= third[0].keys()


@pytest.mark.parametrize("name", ["reinforce-pp", "grpo"])
def test_the_solution_is_evolved_in_a_stage_of_its_own(name: str) -> None:
    def play(block: dict[str, Any]) -> Any:
        if block["limits"]["targets"] == ["solution"]:
            assert block["limits"]["new_variables"] == ["prompt/critic:prompt.md", "prompt/revise:prompt.md"]
            return {"prompt/revise:prompt.md": f"Check whether you carry over. {block['draw']}"}
        return {SYSTEM: f"Take a guess. {block['draw']}"}

    session = run(name, proposing(play), target=["prompt", "solution"], rounds=1)
    assert system_of(session.committed) == "Add the numbers."
    assert "carry" in session.committed.parts["prompt/revise"].text("prompt.md")


def test_an_agents_code_and_tools_can_be_evolved_and_added() -> None:
    about = json.dumps({"description": "Adds two numbers. Use it for every sum, and carry."})
    tool = {"tool/adder:tool.py": "def run(a, b):\n    return a + b\n", "tool/adder:resource.json": about}
    session = run("reflection", proposing(lambda block: tool), target=["tool", "agent"], rounds=1)
    assert "tool/adder" in session.committed.parts


# --- the gate's options


def test_a_canary_that_is_lost_outweighs_a_gain() -> None:
    def solver(candidate: Candidate, task: int) -> str:
        return "none" if "carry" in all_texts(candidate) and task == 2 else right_if_taught(candidate, task)

    model = proposing(lambda block: {SYSTEM: f"Add and carry. {block['draw']}"})
    session = run("reflection", model, solver, canaries=[2], batch=6, rounds=1, seed=1)
    assert session.committed == agent()
    assert session.refused[0].reason == "it loses task 2, which must stay solved"
    assert "carry" in system_of(run("reflection", model, solver, rounds=1).committed)


def test_solved_tasks_can_be_protected() -> None:
    def solver(candidate: Candidate, task: int) -> str:
        lost = "carry" in all_texts(candidate) and task < 3
        return "none" if lost else right_if_taught(candidate, task)

    model = proposing(lambda block: {SYSTEM: "Add and carry."})
    assert run("reflection", model, solver, rounds=1, protect=0.6).committed == agent()
    assert run("reflection", model, solver, rounds=1, protect=0.5).committed != agent()


def test_a_gain_that_fresh_tasks_do_not_show_is_not_confirmed() -> None:
    lucky: set[int] = set()

    def solver(candidate: Candidate, task: int) -> str:
        if "carry" not in all_texts(candidate):
            lucky.add(task)
            return right_unless_harmed(candidate, task) if len(lucky) > 6 else "none"
        return str(2 * task) if len(lucky) <= 6 else "none"

    model = proposing(lambda block: {SYSTEM: "Add and carry."})
    session = run("reflection", model, solver, batch=6, confirm=6, rounds=1)
    assert session.committed == agent()
    assert session.refused[0].reason.startswith("not confirmed on 6 fresh tasks: falls by 1")
    assert session.refused[0].pairs == 12


def test_a_gain_is_confirmed_on_tasks_that_were_not_attempted_before() -> None:
    model = proposing(lambda block: {SYSTEM: "Add and carry."})
    session = run("reflection", model, batch=4, confirm=4, rounds=1)
    tasks = [set(t.tasks) for _, t in session.trials]
    assert tasks[0] == tasks[1]
    assert tasks[2] == tasks[3]
    assert not tasks[0] & tasks[2]
    assert session.decisions[-1].accepted
    assert session.decisions[-1].pairs == 8


def test_a_gain_that_cannot_be_paid_to_be_confirmed_is_refused_on_record() -> None:
    model = proposing(lambda block: {SYSTEM: "Add and carry."})
    session = run("reflection", model, batch=4, confirm=4, rounds=5, episodes=13)
    assert session.committed == agent()
    assert session.refused[0].reason == "the budget is too small to confirm it"


def test_a_fall_within_the_tolerance_is_taken_for_a_shorter_prompt() -> None:
    def solver(candidate: Candidate, task: int) -> str:
        return "none" if system_of(candidate) == "Add." and task == 3 else str(2 * task)

    model = proposing(lambda block: {SYSTEM: "Add."})
    assert run("reflection", model, solver, rounds=1).committed == agent()
    assert run("reflection", model, solver, rounds=1, tolerance=0.1).committed != agent()
