"""Worlds whose rules are YAML alone: equal to those written by hand, bounded whoever wrote them, with errors that say where."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.bench.attempts import RULES
from heredity.kinds.world.contract import Action
from heredity.kinds.world.description import Description, read_description
from heredity.kinds.world.dsl.bounded import RuleError
from heredity.kinds.world.dsl.dynamics import Compiled, RulesDynamics, RulesLevels
from heredity.kinds.world.dsl.functions import FUNCTIONS
from heredity.kinds.world.episode import sample_action
from heredity.kinds.world.world import World, from_rules, world

TWINS = sorted(folder.name for folder in RULES.iterdir())
SEQUENCES = 3
"""Random sequences on every level; `pytest -m slow` plays 1,000."""

LANTERN = """
meta:
  {name: lantern, title: A lantern, reward: accumulative, observation: partial, semantics: aligned,
  capabilities: [planning], summary: Light it.}
instruction: Light the lantern.
state: {oil: what is left}
actions:
  pour: {description: Pour., params: {drops: {type: integer, low: 1, high: 3}}}
  wait: {description: Wait., idle: true}
observation: the oil
reward: a coin for every drop, once
termination: when three were poured
max_steps: 4
skin: {text: "{oil} {message}"}
generator: more oil
rules:
  state:
    oil: {type: integer, low: 0, high: 9, start: level.oil}
    poured: {type: list, start: "[]", most: 4}
  actions:
    pour: |
      if drops > oil:
        refuse(f"Only {oil} drops are left.")
      oil -= drops
      poured = poured + [drops]
      pay(drops)
      if len(poured) == 3:
        end("It is full.")
    wait: say("Time passes.")
  refused: say("You wait instead.")
  observe: {oil: oil}
  levels:
    make: |
      return {"oil": draw(2, 3) + difficulty}
"""


def lantern(**changed: Any) -> Description:
    made = yaml.safe_load(LANTERN)
    for path, value in changed.items():
        at = made["rules"]
        *before, last = path.split("__")
        for key in before:
            at = at[key]
        at[last] = value
    return Description.model_validate(made)


def compiled(**changed: Any) -> RulesDynamics:
    description = lantern(**changed)
    assert description.rules is not None
    return RulesDynamics(Compiled(description, description.rules))


def play(dynamics: RulesDynamics, *actions: Any, oil: int = 5) -> Any:
    from heredity.kinds.world.episode import Episode

    episode = Episode(lantern(), dynamics, {"oil": oil})
    return episode, [episode.step(action) for action in actions]


def pour(drops: int) -> dict[str, Any]:
    return {"action": "pour", "params": {"drops": drops}}


def check_twin(name: str, sequences: int) -> None:
    """Play random sequences on every shipped level in both: rewards, ends, messages and observations are the same."""
    own, twin = world(name), World(RULES / name)
    for level in [level for split in own.shipped.values() for level in split]:
        rng = generator(7, "twins", name, level.id)
        solution = [action.to_json() for action in own.levels.solve(level.data)]
        for number in range(sequences):
            one, other = own.start(level.data), twin.start(level.data)
            assert one.observe() == other.observe()
            prefix: list[Any] = solution[: int(rng.integers(len(solution) + 1))] if number % 2 else []
            while not one.done:
                drawn = (
                    sample_action(rng, own.description.actions).to_json() if rng.random() < 0.95 else {"action": "x"}
                )
                action = prefix.pop(0) if prefix else drawn
                assert one.step(action) == other.step(action), (level.id, action)
                assert json.dumps(one.observe()) == json.dumps(other.observe()), (level.id, action)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.fast(9)
def test_a_world_in_rules_alone_is_the_one_written_by_hand(name: str) -> None:
    check_twin(name, SEQUENCES)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_a_world_in_rules_alone_is_the_one_written_by_hand_on_1000_sequences(name: str) -> None:
    check_twin(name, 1000)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.fast(6)
def test_levels_made_by_rules_are_different_and_solved_within_their_bound(name: str) -> None:
    check_made(name, range(1), (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_levels_of_20_seeds_are_different_and_solved_within_their_bound(name: str) -> None:
    check_made(name, range(20), (1, 2, 3))


def check_made(name: str, seeds: range, difficulties: tuple[int, ...]) -> None:
    """Make levels: they are different, the same for the same seed, and a solution collects something on each."""
    twin = World(RULES / name)
    made = [twin.make(seed, difficulty) for difficulty in difficulties for seed in seeds]
    assert len({json.dumps(level.data, sort_keys=True) for level in made}) == len(made)
    for level in made:
        assert 0 < level.reference <= level.upper_bound.value
        assert twin.make(level.seed, level.difficulty).data == level.data


@pytest.mark.parametrize("name", ["entropy_door", "glowing_reef", "hooded_ball", "icy_grip", "pattern_canvas"])
def test_bounds_and_solutions_of_rules_are_those_of_the_library(name: str) -> None:
    own, twin = world(name), World(RULES / name)
    for level in [level for split in own.shipped.values() for level in split]:
        assert twin.levels.upper_bound(level.data).value == level.upper_bound.value, level.id
        assert twin.play(level.data) == level.reference, level.id


def test_rules_pay_refuse_and_end() -> None:
    episode, steps = play(compiled(), pour(3), pour(3), pour(1), pour(1))
    assert [step.reward for step in steps] == [3.0, 0.0, 1.0, 1.0]
    assert steps[1].refused
    assert steps[1].message == "Only 2 drops are left. You wait instead."
    assert (steps[-1].terminated, steps[-1].message, episode.observe()["oil"]) == (True, "It is full.", 0)


def test_search_finds_the_bound_and_how_to_reach_it() -> None:
    levels = RulesLevels(compiled())
    level = levels.generate(generator(3, "lantern"), 3)
    bound = levels.upper_bound(level)
    assert (bound.value, bound.kind) == (float(level["oil"]), "exact")
    assert sum(action.params.get("drops", 0) for action in levels.solve(level)) == level["oil"]


def test_copies_of_a_state_go_on_by_themselves() -> None:
    episode, _ = play(compiled(), pour(1))
    twin = episode.copy()
    twin.step(pour(2))
    assert (episode.observe()["oil"], twin.observe()["oil"]) == (4, 2)


@pytest.mark.parametrize(
    ("rule", "said", "oil"),
    [
        ("oil, more = [oil - 1, oil]\nsay(f'{oil} {more}')", "4 5", 4),
        ("(oil, x), poured = [[2, 7], [8, 9]]\nsay(f'{x} {poured[1]}')", "7 9", 2),
        ("x = {[1, 2]: 3}\nx[[1, 2]] = 5\nsay(f'{x[[1, 2]]}')", "5", 5),
        ("say(f'{[f\"{n}{a}\" for n, a in numbered(\"ab\")]} {[a + b for a, b in pairs([1, 2], [3, 4, 5])]}')", "0a, 1b 4, 6", 5),
        ("say(f'{step([3, 3], \"west\", 2)} {how_often([1, 2, 1], 1)} {5:+d}{0.5}')", "3, 1 2 +50.5", 5),
        ("x = {1: {'up': 2, 'in': 3}, 2: {'on': 4}, 3: {}}\nsay(f'{route(x, 1, [4])} {route(x, 3, [2])}')", "up, on None", 5),
    ],
)  # fmt: skip
def test_what_rules_say_and_leave_behind(rule: str, said: str, oil: int) -> None:
    episode, (step,) = play(compiled(actions__wait=rule), {"action": "wait"})
    assert (step.message, episode.observe()["oil"]) == (said, oil)


def test_couples_are_the_best_of_all() -> None:
    def best(worths: Any, left: tuple[int, ...]) -> float:
        if len(left) < 2:
            return 0
        one, *rest = left
        return max(
            best(worths, tuple(rest)),
            *(worths[one][other] + best(worths, tuple(r for r in rest if r != other)) for other in rest),
        )

    for seed in range(5):
        rng = generator(seed, "couples")
        upper = rng.integers(-2, 9, (6, 6))
        worths = (upper + upper.T).tolist()
        chosen = FUNCTIONS["couples"](worths)
        assert len({n for couple in chosen for n in couple}) == 2 * len(chosen)
        assert sum(worths[a][b] for a, b in chosen) == best(worths, tuple(range(6)))


def test_a_search_bears_any_name_of_a_variable() -> None:
    levels = RulesLevels(compiled(state__key={"type": "integer", "start": "0"}))
    assert levels.upper_bound({"oil": 5}).value == 5.0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"actions__wait": "oyl -= 1"}, r"rules.actions.wait, line 1: there is no 'oyl' here \(did you mean oil\?\)"),
        ({"actions__wait": "oil -= 1\nrefuse('no')"}, "line 2: refuse comes after a change"),
        ({"actions__wait": "for i in below(3):\n  if oil > 2:\n    refuse('no')\n  oil -= 1"}, "refuse is in a loop"),
        ({"actions__wait": "while True:\n  pass"}, "while is not a statement of rules"),
        ({"actions__wait": "break"}, "rules.actions.wait.*outside loop"),
        ({"actions__wait": "for oil in below(3):\n  pass"}, "the loop variable has the name of a state variable"),
        ({"actions__wait": "import os"}, "import is not a statement"),
        ({"actions__wait": "say(oil.__class__)"}, "Attribute is not in the language"),
        ({"actions__wait": "say((lambda: 1)())"}, "only functions can be called"),
        ({"actions__wait": "say(open('/etc/passwd'))"}, "there is no function 'open'"),
        ({"actions__wait": "say(f'{oil:999999999d}')"}, "the format after the colon"),
        ({"actions__wait": "oil = draw(1, 2)"}, "draw is called only where levels are made"),
        ({"actions__wait": "say([x async for x in poured])"}, "with `for` alone|outside"),
        ({"actions__wait": "say(" + "(" * 300 + "1" + ")" * 300 + ")"}, "rules.actions.wait"),
        ({"actions__wait": "say(" + "-" * 60 + "1)"}, "more than 40 nested expressions"),
        ({"actions__wait": "x = 1\n" * 3000}, "expected at most 8000"),
        ({"actions__wait": "oil = 9" + "0" * 40}, "a number beyond"),
        ({"observe__oil": "oil = 3"}, "rules.observe"),
        ({"functions": {"f": {"do": "return g()"}, "g": {"do": "return f()"}}}, "calls itself, through"),
        ({"functions": {"f": {"takes": ["a"], "do": "return a"}}, "actions__wait": "say(f())"}, "f takes 1 arguments"),
        ({"functions": {"f": {"do": "pay(3)\nreturn 1"}}}, "pay is only allowed in actions"),
        ({"functions": {"f": {"do": "oil = 3\nreturn 1"}}}, "oil is part of the state, which only actions change"),
        ({"state__oil": {"type": "integer", "start": "3", "fixed": True}}, "oil is fixed"),
        ({"actions": {"pour": "pay(1)"}}, "rules.actions lacks wait"),
        ({"functions": {"oil": {"do": "return 1"}}}, "the name 'oil' is taken"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_language_is_refused_with_its_place(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        compiled(**changed)


@pytest.mark.parametrize(
    "rule",
    [
        "x = 3\nfor i in below(60):\n  x = x * x",
        "x = 1\nfor i in below(70):\n  x = x << 1",
        "x = 'a'\nfor i in below(60):\n  x = x + x",
        "x = [1]\nfor i in below(60):\n  x = [x, x]",
        "x = [1]\nfor i in below(60):\n  x = pairs(x, x)",
        "x = [1, 2]\nfor i in below(60):\n  x[0] = x",
        "x = {1: 1}\nfor i in below(60):\n  x = {1: x}",
        "x = [1]\nfor i in below(4000):\n  x = [x]",
        "x = 'ab' * 4000",
        "x = [0] * 5000",
        "x = '%9999999d' % 1",
        "for a in below(4000):\n  for b in below(4000):\n    pass",
        "x = [a for a in below(300) for b in below(300)]",
        "for i in below(4000):\n  say('again and again')",
        "x = below(10 ** 3)",
        "x = numbers(0, 9999999)",
        "x = poured[7]",
        "x = 1 // (oil - oil)",
        "oil = 99",
        "oil, x = [99, 1]",
        "x = {i: {'on': i + 1} for i in below(999)}\nfor i in below(900):\n  y = route(x, 0, [-1])",
        "x = couples([[1 for a in below(14)] for b in below(14)])",
        "x = [1]\nfor i in below(60):\n  for n, a in numbered(x):\n    x = [n, x]",
        "x = [1]\nfor i in below(60):\n  for a, b in pairs(x, x):\n    x = [x, a, x, b]",
        "oil = 0.5",
        "poured = below(9)",
        "pay('much')",
        "x = y\ny = 1",
    ],
)
def test_a_rule_that_goes_wrong_is_named_and_never_runs_away(rule: str) -> None:
    began = time.process_time()
    with pytest.raises((RuleError, ConfigError), match=r"rules\.actions\.wait"):
        play(compiled(actions__wait=rule), {"action": "wait"})
    assert time.process_time() - began < 60  # it is bounded; how fast it is, is measured elsewhere


def test_a_generator_that_never_agrees_says_so() -> None:
    with pytest.raises(RuleError, match=r"rejects 500 levels in a row; relax `require`"):
        RulesLevels(compiled(levels__make="require(draw(1, 3) > 3)\nreturn {}")).generate(generator(1, "x"), 1)


def test_a_folder_without_rules_or_code_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "lantern"
    folder.mkdir()
    (folder / "world.yaml").write_text(LANTERN[: LANTERN.index("rules:")])
    with pytest.raises(ConfigError, match=r"neither dynamics\.py nor `rules`"):
        World(folder)
    (folder / "world.yaml").write_text(LANTERN.replace("oil -= drops", "oil -= drop"))
    with pytest.raises(ConfigError, match=r"world.yaml: rules.actions.pour, line 3: there is no 'drop' here"):
        World(folder)
    (folder / "world.yaml").write_text(LANTERN)
    dynamics, _ = from_rules(read_description(folder / "world.yaml"), folder)
    assert dynamics.act(dynamics.start({"oil": 5}), Action.of("pour", drops=2)).reward == 2.0
