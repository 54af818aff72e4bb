"""plan.md: valid by construction, read back as it was written, edited by people."""

from __future__ import annotations

import pytest

from heredity._core.ids import generator
from heredity.team.planning import Plan, PlanError, Round, State, Step, checked, parsed

AGENTS = {"researcher", "coder"}
PLAN = Plan(
    "When was it built?\n## Result\n> 1",
    (
        Step("s1", "researcher", "Find its page\n## Steps\n- [x] **s9** (coder): no"),
        Step("s2", "coder", "Compute: the age", ("s1",)),
        Step("s3", "researcher", "Check", ("s1", "s2")),
    ),
)


def test_a_plan_is_read_back_as_it_was_written() -> None:
    again = parsed(PLAN.to_markdown())
    assert (again.task, again.steps, again.result) == (PLAN.task, PLAN.steps, "")


def test_random_plans_are_read_back_as_they_were_written() -> None:
    draw = generator(5, "plans")
    words = ["## Task", "- [ ] **a** (b): c", "```", "> x", "", "  y", "[x]", "日本", ": after s1", "**", "(", "1."]

    def text() -> str:
        lines = [" ".join(draw.choice(words, draw.integers(1, 4))).rstrip() for _ in range(draw.integers(1, 4))]
        return "\n".join(["t", *lines, "t"])

    for _ in range(300):
        ids = [f"s{i}" for i in range(draw.integers(0, 6))]
        steps = tuple(
            Step(i, str(draw.choice(sorted(AGENTS))), text(), tuple(ids[: draw.integers(0, n + 1)][:n]))
            for n, i in enumerate(ids)
        )
        plan = checked(Plan(text(), steps, (Round(text()),), text()), AGENTS)
        again = parsed(plan.to_markdown())
        assert (again.task, again.steps, again.result) == (plan.task, plan.steps, plan.result)


def test_steps_start_when_what_they_depend_on_is_done_or_skipped() -> None:
    plan = PLAN.revised(PLAN.steps, "first look")
    assert [s.id for s in plan.ready()] == ["s1"]
    plan = plan.marked("s1", State.RUNNING)
    assert plan.ready() == []
    plan = plan.marked("s1", State.DONE, "page 3")
    assert [s.id for s in plan.ready()] == ["s2"]
    assert [s.id for s in plan.marked("s2", State.SKIPPED).ready()] == ["s3"]
    assert plan.marked("s2", State.FAILED, "no").ready() == []
    assert plan.rounds == (Round("first look", ("s1",)),)
    assert "- s1 (researcher), done: page 3" in plan.to_markdown()


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((Step("a", "coder", "x", ("b",)), Step("b", "coder", "x", ("a",))), "wait for each other"),
        ((Step("a", "coder", "x", ("a",)),), "wait for each other"),
        ((Step("a", "codr", "x"),), "did you mean coder"),
        ((Step("a", "coder", "x"), Step("a", "coder", "y")), "two steps have this id"),
        ((Step("a b", "coder", "x"),), "is no id"),
        ((Step("a", "coder", " "),), "does not say what is to be done"),
        ((Step("a", "coder", "x", ("z",)),), "no such step"),
        (tuple(Step(f"s{i}", "coder", "x") for i in range(201)), "at most 200"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_with_the_step(steps: tuple[Step, ...], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        checked(Plan("t", steps), AGENTS)


def test_a_revision_keeps_what_has_ended_and_replaces_the_rest() -> None:
    plan = PLAN.revised(PLAN.steps).marked("s1", State.DONE, "page 3")
    after = plan.revised([PLAN.steps[0], Step("s4", "coder", "Another way", ("s1",))], "s2 is not needed")
    assert [(s.id, s.state) for s in after.steps] == [("s1", State.DONE), ("s4", State.PENDING)]
    with pytest.raises(PlanError, match="give another id"):
        plan.revised([Step("s1", "coder", "something else")])


def test_a_person_may_edit_steps_and_not_what_has_happened() -> None:
    plan = PLAN.revised(PLAN.steps).marked("s1", State.DONE, "page 3")
    text = plan.to_markdown().replace("[x] **s1** (researcher): Find", "[ ] **s1** (researcher): Forge")
    text = text.replace("- [ ] **s3**", "- [-] **s3**").replace("Compute: the age", "Compute it twice")
    edited = checked(plan.edited(text), AGENTS)
    assert edited.step("s1") == plan.step("s1")
    assert edited.step("s2").task == "Compute it twice"
    assert edited.step("s3").state is State.SKIPPED
    without = plan.edited(text.replace("- [x] **s1**", "- [ ] **s0**"))
    assert without.step("s1").state is State.DONE, "what has been done cannot be edited away"
    with pytest.raises(PlanError, match=r"line \d+: '- s2 do it' is no step"):
        plan.edited(text.replace("\n## Flow", "- s2 do it\n\n## Flow"))
    with pytest.raises(PlanError, match="is no step"):
        plan.edited(text.replace("[-]", "[?]"))


def test_the_chart_shows_each_step_its_state_and_each_dependency() -> None:
    chart = Plan("t", (Step("end", "coder", "x", state=State.DONE), Step("s-2", "coder", "y", ("end",)))).to_mermaid()
    assert '    step_end["end: coder"]:::done' in chart
    assert "    step_end --> step_s_2" in chart
