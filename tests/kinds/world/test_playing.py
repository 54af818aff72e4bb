from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from tests.engine.fakes import USED, ListedModel, SlowModel, candidate, provider_error, saying

from heredity._core.errors import BudgetError, ConfigError, IsolationError
from heredity.engine.actor import Solving
from heredity.engine.player import WORDS, plain_player, read_player
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.question_runner import conversation_of
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.world.kind import WorldRunner
from heredity.kinds.world.pictures import SIZE
from heredity.kinds.world.world import world
from heredity.models import Model, Request
from heredity.resources import Candidate, SourceTree
from heredity.sandbox import isolation
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import outcome_of
from heredity.tasks import Task
from heredity.tasks.registry import taskset

NAME = "grid_treasure"
DIRECTIONS = ("north", "south", "west", "east")


def task(skin: str = "text", index: int = 0) -> Task:
    return taskset(f"worlds/{NAME}?skin={skin}").draw("heldout", index + 1, 1)[index]


def job(made: Candidate, given: Task | None = None, index: int = 0) -> Job:
    return Job(taskset(f"worlds/{NAME}").info, made, given or task(), index, policy_seed=3)


async def run(runner: WorldRunner, *jobs: Job, limits: Limits | None = None) -> list[Trajectory]:
    trajectories = {position: trajectory async for position, trajectory in runner.run(jobs, limits or Limits())}
    return [trajectories[position] for position in range(len(jobs))]


async def attempt(model: Model | None, made: Candidate, given: Task | None = None, **options: Any) -> Trajectory:
    limits = options.pop("limits", None)
    [trajectory] = await run(WorldRunner(model, **options), job(made, given), limits=limits)
    again = Trajectory.decode(trajectory.encode())
    assert len(trajectory.columns["obs"]) == trajectory.length + 1
    assert len(list(again.rows())) == trajectory.length
    assert sum(trajectory.columns["reward"]) == pytest.approx(trajectory.total_reward)
    return trajectory


def acting(*directions: str) -> list[str]:
    """Replies that take notes and move; after the last one the model shouts for ever."""
    moves = [{"action": "move", "params": {"direction": d}} for d in directions] + [{"action": "call"}] * 100
    return [f"<thinking_memory>step {i}</thinking_memory><action>{json.dumps(m)}</action>" for i, m in enumerate(moves)]


def way(given: Task) -> list[str]:
    return [action.params["direction"] for action in world(NAME).levels.solve(given.spec["level"])]


# --- a language model plays


async def test_a_model_that_finds_the_treasure_gets_all_of_the_bound() -> None:
    model = ListedModel(acting(*way(task())))  # type: ignore[arg-type]
    played = await attempt(model, plain_player())
    assert (played.status, played.failure_source, played.total_reward, played.terminated) == ("ok", "none", 1.0, True)
    assert played.length == len(model.asked) == len(way(task()))
    rows = list(played.rows())
    assert rows[0]["action"] == {"action": "move", "params": {"direction": way(task())[0]}}
    assert rows[0]["info"]["thought"] == "step 0"
    assert rows[-1]["info"]["total"] == rows[-1]["info"]["bound"] == 1.0
    assert played.columns["info/message"][-1] == "You have found the treasure."
    assert played.cost["model_calls"] == played.length
    assert played.cost["input_tokens"] == played.length * (USED.input_tokens or 0)


async def test_running_out_of_steps_is_a_truncation_and_no_failure() -> None:
    trajectory = await attempt(ListedModel(acting()), plain_player())  # type: ignore[arg-type]
    assert (trajectory.status, trajectory.total_reward, trajectory.terminated) == ("ok", 0.0, False)
    assert list(np.flatnonzero(trajectory.columns["truncated"])) == [trajectory.length - 1]
    assert trajectory.length == task().spec["level"]["steps"]


async def test_a_reply_that_cannot_be_read_costs_a_step_and_is_told_why() -> None:
    model = ListedModel(["I would go north.", "", *acting()])
    trajectory = await attempt(model, plain_player(), limits=Limits(steps=3))
    assert list(trajectory.columns["info/refused"]) == [True, True, False]
    assert "no action in your reply" in trajectory.columns["info/message"][0]
    assert "no action in your reply" in model.asked[1].messages[-1].content
    assert trajectory.columns["action"][0] == {"action": None, "params": {}}
    assert (trajectory.status, trajectory.length) == ("ok", 3)


async def test_an_action_that_is_not_possible_is_refused_by_the_world() -> None:
    model = ListedModel(['<action>{"action": "dig"}</action>', *acting()])
    trajectory = await attempt(model, plain_player(), limits=Limits(steps=2))
    assert trajectory.columns["info/refused"][0] is True
    assert "the actions are move, call" in model.asked[1].messages[-1].content


async def test_what_a_model_is_shown_is_bounded() -> None:
    model = ListedModel(acting())  # type: ignore[arg-type]
    await attempt(model, plain_player(), recent=3)
    first, later = model.asked[0].messages, model.asked[9].messages
    assert [m.role for m in later] == ["system", "user"]
    assert first[0] == later[0]
    lines = [line for line in later[1].content.splitlines() if "->" in line]
    assert [line.partition(".")[0] for line in lines] == ["7", "8", "9"]
    assert "The echo comes from" in lines[0]
    assert "step 8" in later[1].content
    assert "step 7" not in later[1].content


async def test_the_words_of_a_candidate_are_used_and_lose_nothing_that_they_have_no_place_for() -> None:
    model = ListedModel(acting())  # type: ignore[arg-type]
    made = candidate(prompt_system="Be bold. {{memory}}", memory_lessons='{"text": "Shout first."}\n')
    await attempt(model, made, limits=Limits(steps=1))
    system = model.asked[0].messages[0].content
    assert system.startswith("Be bold. - Shout first.")
    for words in (world(NAME).description.instruction.strip(), "- move:", "'#': wall", "<thinking_memory>"):
        assert words in system


async def test_cells_at_the_edge_are_shown_though_they_are_blanks() -> None:
    model = ListedModel(acting())  # type: ignore[arg-type]
    trajectory = await attempt(model, plain_player(), limits=Limits(steps=1))
    assert trajectory.columns["obs"][0].splitlines()[1:] == ["#.#T#", "#.###", "#.@..", "#####", "     "]
    assert model.asked[0].messages[1].content.endswith("\n     ")
    assert "\n\n\n" not in model.asked[0].messages[0].content


async def test_the_hidden_part_of_a_level_never_reaches_the_model() -> None:
    given = task(index=2)
    model = ListedModel(acting())  # type: ignore[arg-type]
    trajectory = await attempt(model, plain_player(), given, limits=Limits(steps=5))
    shown = json.dumps([m.to_json() for asked in model.asked for m in asked.messages]) + json.dumps(
        list(trajectory.rows())
    )
    assert "treasure" in shown
    assert json.dumps(given.spec["level"]["treasure"]) not in shown
    assert given.spec["level"]["grid"][3] not in shown


async def test_a_picture_skin_gives_the_model_pictures() -> None:
    model = ListedModel(acting())  # type: ignore[arg-type]
    trajectory = await attempt(model, plain_player(), task("picture"), limits=Limits(steps=2))
    [image] = model.asked[1].messages[-1].images
    assert image.data.startswith(b"\x89PNG")
    assert int.from_bytes(image.data[16:20], "big") == SIZE
    head, _, rest = trajectory.columns["obs"][1].partition("\n")
    assert base64.b64decode(head.removeprefix("data:image/png;base64,")) == image.data
    assert rest.startswith("The echo comes from")


async def test_the_conversation_is_on_record_without_repeating_the_system_message() -> None:
    trajectory = await attempt(ListedModel(acting()), plain_player(), limits=Limits(steps=2))  # type: ignore[arg-type]
    assert [m.role for m in conversation_of(trajectory)] == ["system", "user", "assistant", "user", "assistant"]


async def test_repeats_of_an_attempt_have_seeds_of_their_own() -> None:
    seeds: list[int | None] = []

    def answer(request: Request) -> str:
        seeds.append(request.sampling.seed)
        return acting()[0]

    runner = WorldRunner(saying(answer))
    await run(runner, job(plain_player(), index=0), job(plain_player(), index=1), limits=Limits(steps=1))
    assert len(set(seeds)) == 2


@pytest.mark.parametrize("error", ["server", "connection"])
async def test_a_provider_that_fails_is_to_blame_itself(error: str) -> None:
    trajectory = await attempt(ListedModel([*acting()[:2], provider_error(error)]), plain_player())
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("provider_error", "provider", 2)
    assert np.isnan(outcome_of(task(), trajectory, 0.0).score)


async def test_an_episode_that_takes_too_long_fails() -> None:
    trajectory = await attempt(SlowModel(), plain_player(), settings=Solving(seconds=0.05))
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("rollout_timeout", "candidate", 0)


async def test_a_spent_budget_ends_the_run() -> None:
    with pytest.raises(BudgetError):
        await attempt(ListedModel([BudgetError("spent")]), plain_player())


async def test_closing_the_stream_ends_what_is_going_on() -> None:
    model = SlowModel()
    stream = WorldRunner(model).run([job(plain_player()), job(plain_player())], Limits())
    pulling = asyncio.ensure_future(anext(stream))
    while model.active < 2:  # noqa: ASYNC110 - the fake counts its calls and says nothing
        await asyncio.sleep(0.001)
    pulling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pulling
    await stream.aclose()
    assert model.active == 0


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (candidate(prompt_system="x", tool_map="def run():\n    return 1\n"), "calls no tools"),
        (candidate(agent_solver="def solve(problem, host): ...\n"), "agent/player"),
        (candidate(agent_player="class Player:\n    def act(self:\n"), "agent.py"),
        (Candidate({"agent/player": SourceTree({"policy.py": "class Policy: ...\n"})}), "no agent.py"),
        (Candidate.program(SourceTree({"policy.py": "class Policy: ...\n"})), "parts are named like"),
    ],
)
async def test_a_candidate_that_cannot_be_built_fails_by_its_own_fault(made: Candidate, words: str) -> None:
    trajectory = await attempt(ListedModel([]), made)
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("import_error", "candidate", 0)
    assert trajectory.failure is not None
    assert words in trajectory.failure.message


async def test_what_a_candidate_needs_and_the_run_does_not_have_is_said() -> None:
    with pytest.raises(ConfigError, match=r"gateway\.execution"):
        await attempt(None, plain_player())
    with pytest.raises(ConfigError, match="pass programs"):
        await attempt(None, candidate(agent_player="class Player: ...\n"))
    for options in ({"concurrent": 0}, {"recent": 0}, {"settings": Solving(seconds=0)}):
        with pytest.raises(ConfigError, match="expected"):
            WorldRunner(None, **options)  # type: ignore[arg-type]


async def test_a_world_that_breaks_is_not_the_candidates_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(state: Any, action: Any) -> Any:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(world(NAME).dynamics, "act", broken)
    trajectory = await attempt(ListedModel(acting()), plain_player())  # type: ignore[arg-type]
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")


@pytest.mark.parametrize(("fails", "whose"), [("north", "candidate"), ("", "environment")])
async def test_a_world_that_one_action_breaks_and_others_do_not_is_no_excuse(
    fails: str, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    act, taken = world(NAME).dynamics.act, list[str]()

    def breaking(state: Any, action: Any) -> Any:
        taken.append(action.params.get("direction", ""))
        # With "" it fails at the third step, whatever is done there.
        if action.params.get("direction") == fails or (not fails and len(taken) % 3 == 0):
            raise ZeroDivisionError("on purpose")
        return act(state, action)

    monkeypatch.setattr(world(NAME).dynamics, "act", breaking)
    monkeypatch.setattr("heredity.kinds.world.process._IDLE", 1 if not fails else 8)
    trajectory = await attempt(ListedModel(acting("south", "south", "north")), plain_player())  # type: ignore[arg-type]
    assert trajectory.failure_source == whose
    assert "on purpose" in str(trajectory.failure)


def test_the_plain_player_is_a_candidate_with_our_words() -> None:
    assert read_player(plain_player()).prompts == {"system": WORDS}


# --- programs play


def _confined() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


needs_a_sandbox = pytest.mark.skipif(not _confined(), reason="programs cannot be confined on this machine")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as running:
        yield running


PLAYER = """
class Player:
    def __init__(self, instruction, actions, prompts, memories):
        assert "treasure" in instruction and actions[0]["name"] == "move"
        self.way = memories["way"].split()[1:]
        print("ready", prompts)

    def act(self, observation):
        if not self.way:
            return {"action": "call"}
        return {"action": "move", "params": {"direction": self.way.pop(0)}}
"""


async def play(programs: SandboxedPrograms, source: str, model: Model | None = None, **options: Any) -> Trajectory:
    memory = json.dumps({"text": " ".join(way(task()))}) + "\n"
    return await attempt(model, candidate(agent_player=source, memory_way=memory), programs=programs, **options)


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
async def test_a_program_plays_and_keeps_its_object(programs: SandboxedPrograms) -> None:
    trajectory = await play(programs, PLAYER)
    assert (trajectory.status, trajectory.total_reward, trajectory.length) == ("ok", 1.0, len(way(task())))
    assert trajectory.stdout == "ready {}\n"
    assert trajectory.cost["act_s"] > 0.0
    assert trajectory.cost["model_calls"] == 0.0


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
async def test_a_program_may_ask_the_model_within_bounds(programs: SandboxedPrograms) -> None:
    source = """
from heredity_guest import ask, ServiceError

class Player:
    def __init__(self, **given):
        pass

    def act(self, observation):
        said = []
        try:
            for _ in range(9):
                said.append(ask("model", {"messages": [{"role": "user", "content": observation}]})["text"])
        except ServiceError as error:
            print(len(said), error)
        return {"action": "move", "params": {"direction": said[0]}}
"""
    model = saying(lambda request: "north")
    trajectory = await play(programs, source, model, settings=Solving(max_turns=2), limits=Limits(steps=3))
    assert trajectory.stdout.count("the 2 model calls") == 3
    assert trajectory.cost["model_calls"] == 6.0
    assert [row["action"]["params"]["direction"] for row in trajectory.rows()] == ["north"] * 3
    without = await play(programs, source, None, limits=Limits(steps=3))
    assert "there is no language model to ask" in without.stdout
    assert (without.status, without.failure_source) == ("act_error", "candidate")


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
async def test_a_provider_that_fails_a_program_is_to_blame_itself(programs: SandboxedPrograms) -> None:
    source = """
from heredity_guest import ask

class Player:
    def __init__(self, **given):
        pass

    def act(self, observation):
        try:
            ask("model", {"messages": [{"role": "user", "content": "?"}]})
        except BaseException:
            pass
        return {"action": "call"}
"""
    trajectory = await play(programs, source, ListedModel([provider_error("server")]))
    assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")


WRONG: Mapping[str, tuple[str, str, str]] = {
    "import": ("raise RuntimeError('no')\n", "init_error", "no"),
    "class": ("class Gamer: ...\n", "import_error", "Player"),
    "init": ("class Player:\n    def __init__(self, **k):\n        1 / 0\n", "init_error", "division"),
    "act": (PLAYER.replace("if not self.way", "if self.map"), "act_error", "map"),
    "slow": (
        "class Player:\n    def __init__(self, **k): ...\n    def act(self, observation):\n        while True: pass\n",
        "rollout_timeout",
        "timeout",
    ),
}


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", WRONG)
async def test_a_program_that_fails_is_to_blame_with_its_traceback(programs: SandboxedPrograms, case: str) -> None:
    source, status, words = WRONG[case]
    trajectory = await play(programs, source, limits=Limits(act_s=0.3))
    assert (trajectory.status, trajectory.failure_source, trajectory.total_reward) == (status, "candidate", 0.0)
    assert trajectory.failure is not None
    assert words in trajectory.failure.message
    if case in ("init", "act"):
        assert "agent.py" in trajectory.failure.traceback


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
async def test_what_a_program_returns_in_place_of_an_action_is_refused(programs: SandboxedPrograms) -> None:
    source = """
class Player:
    def __init__(self, **given):
        self.answers = [None, 7, {"action": "move"}, {"action": "call", "params": [1]}, {"action": "call"}]

    def act(self, observation):
        return self.answers.pop(0)
"""
    trajectory = await play(programs, source, limits=Limits(steps=5))
    assert list(trajectory.columns["info/refused"]) == [True, True, True, True, False]
    assert [row["action"] for row in trajectory.rows()][:2] == [None, 7]


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
async def test_a_program_cannot_build_the_world(programs: SandboxedPrograms) -> None:
    source = """
class Player:
    def __init__(self, **given):
        try:
            import heredity.worlds
        except ImportError:
            print("no worlds here")

    def act(self, observation):
        return {"action": "call"}
"""
    trajectory = await play(programs, source, limits=Limits(steps=1))
    assert trajectory.stdout == "no worlds here\n"


@needs_a_sandbox
@pytest.mark.asyncio(loop_scope="module")
async def test_a_program_may_use_the_tools_of_its_candidate(programs: SandboxedPrograms) -> None:
    source = """
from heredity_guest import ask

class Player:
    def __init__(self, **given):
        pass

    def act(self, observation):
        return {"action": "move", "params": {"direction": ask("tool", {"name": "choose"})["value"]}}
"""
    made = candidate(agent_player=source, tool_choose="def run():\n    return 'east'\n")
    trajectory = await attempt(None, made, programs=programs, limits=Limits(steps=2))
    assert [row["action"]["params"]["direction"] for row in trajectory.rows()] == ["east", "east"]
    assert trajectory.cost["tool_calls"] == 2.0
