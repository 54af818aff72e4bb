"""The reference agents of examples/agents/posttraining: their parts, and whole runs against a small grading server."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heredity import library
from heredity.kinds.checkpoint.models.bases import base_model
from heredity.kinds.checkpoint.models.checkpoint import inspect
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task, workspace_files
from heredity.library.tasks.posttraining.alfworld import task as alfworld
from heredity.library.tasks.posttraining.corridor import STEPS, Corridor

from .grading_server import grading_server

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

AGENT = Path(library.__path__[0]) / "agents" / "posttraining"
PARTS = ("workspace", "lora", "policy", "rounds", "supervised", "online", "games", "grpo")


@pytest.fixture(scope="module")
def agent() -> Iterator[Any]:
    """The agent's modules, which it imports from its own folder."""
    sys.path.insert(0, str(AGENT))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in PARTS})
    finally:
        sys.path.remove(str(AGENT))
        for name in PARTS:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def base() -> Path:
    return base_model("characters/arithmetic")


@pytest.fixture
def policy(agent: Any, base: Path) -> Any:
    return agent.policy.Policy(base)


# --- the model


def test_answers_and_their_likelihood_do_not_depend_on_the_batch(policy: Any) -> None:
    turns = [policy.turn("47+5=", "52"), policy.turn("10+1=", "11"), policy.turn("99+9=", "108")]
    together, mask = policy.logprobs(turns)
    assert mask.sum(1).tolist() == [3, 3, 4]
    for row, turn in enumerate(turns):
        alone, own = policy.logprobs([turn])
        assert (alone * own).sum().item() == pytest.approx((together * mask)[row].sum().item(), abs=1e-4)
    prompts = [prompt for prompt, _ in turns] + [policy.encode("7")]
    sampled = policy.sample(prompts, temperature=0.0, limit=5)
    assert sampled == [policy.sample([prompt], temperature=0.0, limit=5)[0] for prompt in prompts]


def test_a_sampled_answer_is_as_likely_as_the_model_says(policy: Any) -> None:
    torch.manual_seed(0)
    prompt = policy.encode("47+5=")
    answers = policy.sample([prompt] * 400, temperature=1.0, limit=1)
    first = max(set(map(tuple, answers)), key=lambda answer: answers.count(list(answer)))
    share = answers.count(list(first)) / len(answers)
    logprobs, mask = policy.logprobs([(prompt, list(first))])
    likelihood = (logprobs * mask).sum().exp().item()
    assert abs(share - likelihood) < 4 * math.sqrt(likelihood * (1 - likelihood) / 400) + 1e-3


def test_a_checkpoint_differs_from_its_base_in_numbers_alone(policy: Any, base: Path, tmp_path: Path) -> None:
    with torch.no_grad():
        policy.parameters[0].mul_(1.01)
    original = inspect(base, inside=None, base=None)
    saved = inspect(policy.save(tmp_path / "saved"), inside=tmp_path, base=original)
    assert saved.digest != original.digest
    assert (saved.parameters, saved.files.keys()) == (original.parameters, original.files.keys())


def test_low_rank_parts_are_merged_into_the_same_tensors(
    agent: Any, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.policy, "_SMALL", 0)
    adapted = agent.policy.Policy(base, rank=2)
    assert sum(p.numel() for p in adapted.parameters) < adapted.size / 5
    turn = adapted.turn("47+5=", "52")
    before = adapted.logprobs([turn])[0]
    with torch.no_grad():
        for part in adapted.parameters:
            part.add_(0.05 * torch.randn_like(part))
    after = adapted.logprobs([turn])[0]
    merged = adapted.save(tmp_path / "merged")
    inspect(merged, inside=tmp_path, base=inspect(base, inside=None, base=None))
    monkeypatch.undo()
    again = agent.policy.Policy(merged).logprobs([turn])[0]
    assert not torch.allclose(before, after, atol=1e-2)
    assert torch.allclose(after, again, atol=2e-3)


# --- learning


def test_attempts_are_measured_against_their_own_group(agent: Any) -> None:
    def group(*rewards: float) -> list[Any]:
        return [agent.online.Episode([([1], [n]), ([2], [n])], reward) for n, reward in enumerate(rewards)]

    turns, weights = agent.grpo.advantages([group(1.0, 1.0), group(0.0, 1.0), group(0.0, 0.0), group(0.0, 0.0, 3.0)])
    assert len(turns) == 10
    assert weights[:4] == [-1.0, -1.0, 1.0, 1.0]
    assert sum(weights) == pytest.approx(0)
    assert weights[-1] == pytest.approx(math.sqrt(2))


def test_a_game_that_was_won_sooner_is_worth_more(agent: Any) -> None:
    soon, late = agent.online.Episode([([1], [1])], 1.0), agent.online.Episode([([1], [2]), ([2], [2])], 1.0)
    turns, weights = agent.grpo.advantages([[soon, late]], discount=0.9)
    assert len(turns) == 3
    assert weights == pytest.approx([1.0, -1.0, -1.0])


def test_a_probability_that_has_moved_enough_is_pushed_no_further(agent: Any) -> None:
    new = torch.tensor([0.5, 0.1, -0.5, -0.1], requires_grad=True)
    advantage = torch.tensor([1.0, 1.0, -1.0, -1.0])
    agent.grpo.clipped(new, torch.zeros(4), advantage, 0.2).sum().backward()
    assert (new.grad != 0).tolist() == [False, True, False, True]


def test_an_update_makes_what_was_rewarded_likelier(agent: Any, policy: Any) -> None:
    good, bad = policy.turn("47+5=", "52"), policy.turn("47+5=", "53")
    before, _ = policy.logprobs([good, bad])
    optimizer = torch.optim.SGD(policy.parameters, lr=1e-4)
    recipe = agent.grpo.Recipe(kl=0.01, batch=1)
    agent.grpo.update(policy, [good, bad], [1.0, -1.0], optimizer, recipe, policy.weights())
    change = policy.logprobs([good, bad])[0] - before
    assert change[0, -2] > 0 > change[1, -2]


def test_problems_that_taught_nothing_come_up_less_often(agent: Any) -> None:
    draw = agent.online.Curriculum(40, seed=0)
    assert sorted(draw.choose(100)) == list(range(40))
    for problem in range(40):
        draw.learned(problem, [0.0, 1.0] if problem < 20 else [1.0, 1.0])
    chosen = [problem for _ in range(50) for problem in draw.choose(10)]
    assert 0.6 < sum(problem < 20 for problem in chosen) / len(chosen) < 0.95


def lay_out(root: Path, task: str, seed: int = 0) -> None:
    for name, data in workspace_files(posttraining_task(task), seed).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def space_of(agent: Any, root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    contract = {"WORKSPACE": str(root), "MODEL_PATH": "m", "GRADING_SERVER_URL": "http://127.0.0.1:1"}
    for name, value in contract.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("DATA_PATH", raising=False)
    return agent.workspace.Workspace()


class Spelled:
    """A policy whose tokens are characters, and whose replies come from a function."""

    def __init__(self, reply: Callable[[str], str]) -> None:
        self._reply = reply

    def encode(self, prompt: str) -> list[int]:
        return list(map(ord, prompt))

    def answer(self, text: str) -> list[int]:
        return [*self.encode(text), 0]

    def text(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))

    def sample(self, prompts: list[list[int]], temperature: float, limit: int) -> list[list[int]]:
        return [self.encode(self._reply(self.text(prompt))) for prompt in prompts]


def test_an_answer_is_rewarded_by_the_rule_that_grades(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, "arithmetic")
    space = space_of(agent, tmp_path, monkeypatch)
    online = agent.games.rollouts_of(space, Spelled(lambda prompt: str(eval(prompt[:-1]))), 0)
    groups = online.play(20, 2, 1.0)
    assert [len(group) for group in groups] == [2] * 20
    assert {episode.reward for group in groups for episode in group} == {1.0}
    (tmp_path / "eval.py").write_text("def evaluate(question, answer, reference): return float(answer.split('.')[5])")
    online = agent.games.rollouts_of(space, Spelled(lambda prompt: "1"), 0)
    assert online.play(1, 1, 1.0)[0][0].reward == 0.0


def test_a_rule_is_given_the_fields_of_the_row_that_it_asks_for(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_text('{"prompt": "3?", "completion": "9", "answer": "9", "worth": 0.5}\n')
    (tmp_path / "eval.py").write_text(
        "def evaluate(question, answer, reference, worth): return worth * (answer == reference)"
    )
    online = agent.games.rollouts_of(space_of(agent, tmp_path, monkeypatch), Spelled(lambda prompt: "9"), 0)
    assert online.play(1, 1, 1.0)[0][0].reward == 0.5


def test_a_game_is_played_to_its_end_and_rewarded_as_it_is_graded(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, "text-game")
    space = space_of(agent, tmp_path, monkeypatch)
    solving = agent.games.rollouts_of(space, Spelled(lambda seen: shortest_path(seen)[0]), 0)
    episodes = [episode for group in solving.play(12, 2, 1.0) for episode in group]
    assert {episode.reward for episode in episodes} == {1.0}
    assert len({len(episode.turns) for episode in episodes}) > 1
    waiting = agent.games.rollouts_of(space, Spelled(lambda seen: "?"), 0).play(2, 1, 1.0)
    assert [(e.reward, len(e.turns)) for group in waiting for e in group] == [(0.0, STEPS)] * 2


def test_several_tasks_are_tried_each_by_its_own_rule(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, "multi:arithmetic+text-game")
    space = space_of(agent, tmp_path, monkeypatch)
    assert [part.root.name for part in space.parts()] == ["arithmetic", "text-game"]
    limits: dict[str, int] = {}

    def reply(prompt: str) -> str:
        return str(eval(prompt[:-1])) if prompt.endswith("=") else shortest_path(prompt)[0]

    class Noting(Spelled):
        def sample(self, prompts: list[list[int]], temperature: float, limit: int) -> list[list[int]]:
            limits["sum" if self.text(prompts[0]).endswith("=") else "game"] = limit
            return super().sample(prompts, temperature, limit)

    online = agent.games.rollouts_of(space, Noting(reply), 0)
    groups = online.play(online.problems, 2, 1.0)
    assert {episode.reward for group in groups for episode in group} == {1.0}
    games = [group for group in groups if len(group[0].turns) > 1]
    assert (len(groups), len(games)) == (32, 16)
    sums = (tmp_path / "tasks/arithmetic/data/train.jsonl").read_text().splitlines()
    longest = max(len(json.loads(line)["completion"]) for line in sums)
    assert limits == {"sum": longest + 1, "game": 2}, "as long as the longest solution of each with its end"


def shortest_path(seen: str) -> str:
    """Return the actions that win from what is seen, also where the key is held already."""
    reached, waiting = {seen}, deque([(seen, "")])
    while waiting:
        cells, path = waiting.popleft()
        for action in "lrLR":
            game = Corridor(cells if "k" in cells else cells.replace("&", "@").replace(".", "k", 1))
            game.has_key = "k" not in cells
            game.step(action)
            if game.score:
                return path + action
            if not game.done and game.observation not in reached:
                reached.add(game.observation)
                waiting.append((game.observation, path + action))
    raise AssertionError(seen)


@pytest.mark.parametrize(("task", "prompted"), [("shop", "You are shopping."), ("search", "Answer the question")])
def test_games_of_conversation_are_asked_as_the_task_asks(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, prompted: str
) -> None:
    lay_out(tmp_path, task)
    solution: dict[str, str] = {row["prompt"]: row["completion"] for row in map(json.loads, open_lines(tmp_path))}
    games = agent.games.rollouts_of(
        space_of(agent, tmp_path, monkeypatch), Spelled(lambda prompt: solution.get(prompt, "?")), 0
    )
    (group,) = games.play(1, 2, 1.0)
    assert [episode.reward for episode in group] == [1.0, 1.0]
    assert "".join(map(chr, group[0].turns[0][0])).startswith(prompted)


@pytest.mark.skipif(importlib.util.find_spec("alfworld") is None, reason="needs alfworld")
@pytest.mark.slow
def test_chores_are_played_in_lock_step_more_often_than_the_sandbox_has_room_for(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alfworld, "PRACTICE", 3)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("HOME", str(tmp_path))
    alfworld._deal.cache_clear()
    lay_out(tmp_path, "alfworld")
    alfworld._deal.cache_clear()
    solution: dict[str, str] = {row["prompt"]: row["completion"] for row in map(json.loads, open_lines(tmp_path))}
    games = agent.games.rollouts_of(space_of(agent, tmp_path, monkeypatch), Spelled(solution.__getitem__), 0)
    for _ in range(3):
        groups = games.play(3, 2, 1.0)
        assert [episode.reward for group in groups for episode in group] == [1.0] * 6
    maps = Path("/proc/self/maps").read_text().splitlines()
    loaded = {line.split()[4] for line in maps if "libdownward.so" in line}
    assert 0 < len(loaded) <= 6, "closed games give their copies of the library to the next ones"


def open_lines(root: Path) -> list[str]:
    return (root / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines()


# --- rounds


class ScriptedSpace:
    """A workspace whose server gives scores from a list; None refuses."""

    def __init__(self, output: Path, scores: list[float | None], refused: type[Exception]) -> None:
        self.output, self.scores, self.refused, self.lines = output, scores, refused, list[str]()

    def submit(self, checkpoint: Path) -> dict[str, float]:
        score = self.scores.pop(0)
        if score is None:
            raise self.refused("too large")
        return {"score": score, "baseline_score": 20.0}

    def record(self, **progress: Any) -> None: ...

    def remaining(self) -> float:
        return 1000.0

    def elapsed(self) -> float:
        return 1.0

    def log(self, text: str) -> None:
        self.lines.append(text)


def test_a_round_that_lost_is_taken_back_and_the_steps_get_smaller(agent: Any, policy: Any, tmp_path: Path) -> None:
    space = ScriptedSpace(tmp_path, [50.0, 10.0, 49.0, None, 60.0], agent.workspace.RefusedError)
    climb = agent.rounds.Climb(space, policy, 0.8)
    weight, seen = policy.parameters[0], list[float]()
    start = weight.mean().item()

    def train(until: float) -> None:
        with torch.no_grad():
            weight.add_(1.0)
        seen.append(round(weight.mean().item() - start))

    climb.run(train, count=5)
    assert seen == [1, 2, 2, 3, 4]
    assert (climb.best, climb.rate) == (60.0, 0.4)
    assert "submission refused: too large" in space.lines


# --- whole runs


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    replies: list[Any]
    heldout: float
    base_heldout: float
    code_files: set[str]


def processor_s(pid: int) -> float:
    """Seconds of the processor that a process took."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_agent(agent: Any, base: Path, root: Path, seconds: float, seed: int = 0, **settings: str) -> Ended:
    task = posttraining_task("arithmetic")
    lay_out(root, "arithmetic", seed)
    views = {split: PostTrainingTaskset(task).draw(split, 150, seed) for split in ("train", "heldout")}

    def score(folder: Path, split: str = "train") -> float:
        policy = agent.policy.Policy(folder)
        prompts = [policy.encode(item.spec["question"]) for item in views[split]]
        answers = map(policy.text, policy.sample(prompts, temperature=0.0, limit=6))
        right = [a == item.spec["answer"] for a, item in zip(answers, views[split], strict=True)]
        return 100 * sum(right) / len(right)

    # Time is the processor's, so that what else the machine does takes no training away.
    clock = root.parent / f"{root.name}-clock"
    clock.mkdir()
    (clock / "sitecustomize.py").write_text("import time\ntime.monotonic = time.process_time\n")
    started = list[subprocess.Popen[str]]()
    with grading_server(score, base, seconds, lambda: processor_s(started[0].pid)) as (url, replies):
        contract = {
            "TASK": "arithmetic",
            "BASE_MODEL": "characters/arithmetic",
            "WORKSPACE": str(root),
            "MODEL_PATH": str(base),
            "DATA_PATH": str(root / "data"),
            "OUTPUT_DIR": str(root / "output"),
            "GRADING_SERVER_URL": url,
        }
        environment = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, "SEED": str(seed), **contract, **settings}
        with subprocess.Popen(
            ["bash", str(AGENT / "start.sh")],
            cwd=root,
            env=environment | {"PYTHONPATH": str(clock)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            started.append(process)
            try:
                out, err = process.communicate(timeout=1800)
            finally:
                process.kill()
    best = max(replies, key=lambda reply: reply["score"], default={"model_path": base})
    held = score(Path(best["model_path"]), "heldout")
    code = {path.name for path in (root / "code").glob("*")} if (root / "code").exists() else set[str]()
    return Ended(process.returncode, out, err, replies, held, score(base, "heldout"), code)


def test_the_copy_gains_nothing_and_shows_the_code_that_ran(agent: Any, base: Path, tmp_path: Path) -> None:
    ended = run_agent(agent, base, tmp_path, 60, ROUTE="copy")
    assert ended.code == 0, ended.err
    assert [reply["improvement"] for reply in ended.replies] == [0.0]
    assert ended.code_files == {"workspace.py", "route_copy.py", "settings.json"}
    original = inspect(base, inside=None, base=None)
    assert inspect(Path(ended.replies[0]["model_path"]), inside=tmp_path, base=original).digest == original.digest


def test_a_route_that_there_is_not_is_refused(agent: Any, base: Path, tmp_path: Path) -> None:
    ended = run_agent(agent, base, tmp_path, 60, ROUTE="ppo")
    assert (ended.code, ended.replies) == (2, [])
    assert "expected sft, sft-grpo, rejection, copy or broken" in ended.err


@pytest.mark.slow
def test_the_broken_agent_crashes_before_it_submits(agent: Any, base: Path, tmp_path: Path) -> None:
    ended = run_agent(agent, base, tmp_path, 60, ROUTE="broken")
    assert (ended.code, ended.replies) == (1, [])
    assert "sft: " in ended.out
    assert "KeyError: 'difficulty_after_training'" in ended.err


NOISE = 100 * 2.6 * math.sqrt(2 * 0.25 / 150)
"""A gain in points that two measurements of 150 items differ by in one case of a hundred at most."""


@pytest.mark.slow
@pytest.mark.parametrize("route", ["sft", "rejection"])
def test_training_gains_beyond_noise(agent: Any, base: Path, tmp_path: Path, route: str) -> None:
    ended = run_agent(agent, base, tmp_path, 90, ROUTE=route)
    assert ended.code == 0, ended.err
    assert max(reply["improvement"] for reply in ended.replies) > NOISE, ended.out
    assert ended.heldout - ended.base_heldout > NOISE, ended.out


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_online_rollouts_gain_beyond_the_warm_up(agent: Any, base: Path, tmp_path: Path, seed: int) -> None:
    ended = run_agent(agent, base, tmp_path, 150, seed, ROUTE="sft-grpo")
    assert ended.code == 0, ended.err
    scores = [reply["score"] for reply in ended.replies]
    assert len(scores) >= 3, ended.out
    assert max(scores[1:]) > scores[0], ended.out
    assert ended.heldout - ended.base_heldout > NOISE, ended.out


def test_the_agent_needs_nothing_of_heredity() -> None:
    for path in AGENT.glob("*.py"):
        assert "heredity" not in path.read_text(encoding="utf-8"), path
