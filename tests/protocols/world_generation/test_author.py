"""The built-in author: its tools, models that answer nonsense, budgets that end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.protocols.world_generation.making import Answering, HereRunner, QuickRunner

from heredity._core.errors import ClosedError, ConfigError, HeredityError
from heredity.engine.runner import Job
from heredity.kinds.world.building import KIND
from heredity.kinds.world.themes import Theme, ThemeTaskset
from heredity.library.models.world_faults import FAULTS
from heredity.library.models.world_writer import CarelessWorldWriter, WorldWriter
from heredity.methods import Budget, EvolverContext, Feedback, Outcome, Trial
from heredity.models import Model
from heredity.protocols.world_generation.author import WorldAuthor
from heredity.resources import Candidate
from heredity.sandbox import isolation
from heredity.sandbox.limits import Limits


class Builds:
    """A session that builds here, so many times."""

    def __init__(self, taskset: ThemeTaskset, builds: int = 12, runner: HereRunner | None = None) -> None:
        self.taskset, self.left, self.built = taskset, builds, list[tuple[Candidate, str, float]]()
        self._runner = runner or QuickRunner()

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        if not self.left:
            raise ClosedError("the budget is spent")
        self.left -= 1
        (trial,) = trials
        job = Job(self.taskset.info, trial.candidate, self.taskset.draw("train", 1, 3)[0])
        ((_, trajectory),) = [item async for item in self._runner.run([job], Limits())]
        self.built.append((trial.candidate, trajectory.stdout, trajectory.total_reward))
        outcome = Outcome(0, trajectory.total_reward, 1, trajectory=trajectory)
        return [Feedback(len(self.built), trial.candidate.digest, "ok", (outcome,))]

    def remaining(self) -> Budget:
        return Budget(episodes=self.left)


async def written(
    model: Model | None,
    theme: str = "A maze with keys",
    builds: int = 12,
    runner: HereRunner | None = None,
    **options: Any,
) -> Builds:
    taskset = ThemeTaskset("themes/x#maze", "maze", Theme(theme=theme))
    session = Builds(taskset, builds, runner)
    context = EvolverContext(taskset.info, KIND.candidates.starter(taskset.info), 0, 1, options, model)
    await WorldAuthor().evolve(session, context)  # type: ignore[arg-type]
    return session


async def test_a_world_is_written_built_and_mended_until_the_gates_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ("unknown key", "value without a place")
    monkeypatch.setattr("heredity.library.models.world_writer.FAULTS", {kind: FAULTS[kind] for kind in kinds})
    monkeypatch.setattr(CarelessWorldWriter, "rate", 1.0)
    theme = "A gardener tends plots where melons ripen. Harvest many."
    session = await written(CarelessWorldWriter(), theme, runner=HereRunner())
    scores = [score for _, _, score in session.built]
    assert scores[0] == 0.0, "nobody sees the other fault before the world is one"
    assert scores == sorted(scores)
    assert any(0.0 < score < 1.0 for score in scores)
    assert scores[-1] == 1.0
    assert {"theme.md", "design.md", "world.yaml"} <= set(session.built[-1][0].agent)


@pytest.mark.slow
async def test_an_author_hands_in_hooks_and_they_meet_the_gates_in_the_sandbox() -> None:
    try:
        isolation.resolve()
    except HeredityError:
        pytest.skip("programs cannot be confined on this machine")
    theme = (
        "A gardener tends plots where melons ripen. Harvest many; what one is worth is computed from how ripe it is."
    )
    session = await written(WorldWriter(), theme, runner=HereRunner())
    candidate, _, score = session.built[-1]
    assert {"world.yaml", "hooks.py"} <= set(candidate.agent)
    assert "hooks:" in candidate.agent.text("world.yaml")
    assert score == 1.0


@pytest.mark.slow
async def test_a_careless_author_states_its_faults_and_they_are_found() -> None:
    theme = "In a harbour a trader sells at drifting prices past a rival."
    session = await written(CarelessWorldWriter(), theme, runner=HereRunner())
    design = session.built[0][0].agent.text("design.md")
    planted = [kind for kind in FAULTS if f"- {kind}\n" in design.partition("## Planted faults")[2]]
    assert planted
    told = "".join(said for _, said, _ in session.built)
    for kind in planted:
        if all(gate != "reliability" for gate, _ in FAULTS[kind].meets):
            assert any(f"- {found}" in told for _, found in FAULTS[kind].meets), (kind, told)


async def test_a_theme_out_of_its_vocabulary_is_refused_by_the_offline_author() -> None:
    session = await written(WorldWriter(), "Zeitgeist und Sehnsucht")
    assert session.built == []


async def test_the_review_makes_the_theme_precise() -> None:
    theme = "In a surreal dream of beauty. A gardener tends plots where melons ripen. Harvest many."
    session = await written(WorldWriter(), theme, review=True)
    files = session.built[0][0].agent
    assert "Abstract: beauty, dream, surreal." in files.text("review.md")
    assert "surreal" not in files.text("theme.md")
    assert "crops that ripen" in files.text("theme.md")


@pytest.mark.parametrize(
    "answer",
    [
        "I would rather not.",
        "",
        [("fly", "{}")],
        [("write_file", "not JSON")],
        [("write_file", '["a list"]')],
        [("write_file", '{"path": "world.yaml"}')],
        [("write_file", '{"path": "../../etc/passwd", "content": "x"}')],
        [("write_file", '{"path": "/etc/passwd", "content": "x"}')],
        [("write_file", json.dumps({"path": "world.yaml", "content": "x" * (2 << 20)}))],
        [("replace", '{"path": "theme.md", "old": "", "new": "x"}')],
        [("read_file", '{"path": "nothing.md"}')],
        [("read_file", "[" * 100_000)],
    ],
)
async def test_nonsense_is_answered_and_builds_nothing(answer: Any) -> None:
    model = Answering("a design", answer)
    session = await written(model, turns=6)
    assert session.built == []
    assert len(model.asked) <= 7
    told = [m.content for m in model.asked[-1].messages if m.role == "tool"]
    assert all("Done" not in said and "characters now" not in said for said in told)


async def test_empty_files_are_a_finding_and_the_same_build_is_not_paid_twice() -> None:
    model = Answering(
        "",
        [("write_file", '{"path": "world.yaml", "content": ""}'), ("build", "{}"), ("build", "")],
        [("finish", "{}")],
    )
    session = await written(model)
    assert len(session.built) == 1
    assert "is missing or empty" in session.built[0][1]
    assert "Nothing has changed" in model.asked[-1].messages[-1].content


async def test_half_of_a_pair_of_surrogates_can_be_built() -> None:
    text = json.dumps({"path": "world.yaml", "content": "a: \ud800"})
    session = await written(Answering("", [("write_file", text), ("build", "{}")], [("finish", "{}")]))
    assert len(session.built) == 1


async def test_a_budget_that_ends_ends_the_author_quietly() -> None:
    number = iter(range(1000))

    def more(_: object) -> Any:
        from heredity.models import Reply
        from heredity.models.contract import ToolCall

        n = next(number)
        written = ToolCall(f"w{n}", "write_file", json.dumps({"path": "world.yaml", "content": f"a: {n}"}))
        return Reply("", (written, ToolCall(f"b{n}", "build", "{}")), "tool_calls")

    session = await written(Answering("", more), builds=3)
    assert len(session.built) == 3


async def test_without_a_model_it_says_what_to_set() -> None:
    with pytest.raises(ConfigError, match=r"gateway\.optimisation"):
        await written(None)
