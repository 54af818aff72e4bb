"""Rules by hostile authors: whatever they try, they are bounded, and the error says where."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kinds.world.dsl.wells import YAML

from heredity._core.errors import ConfigError
from heredity.kinds.world.dsl import dynamics
from heredity.kinds.world.dsl import dynamics as search
from heredity.kinds.world.dsl.bounded import RuleError
from heredity.kinds.world.world import World

LEVEL = {"water": 3, "clouds": [2, 0, 1, 0, 0, 2, 1, 0]}
WAIT = {"action": "wait"}
RULES = YAML.replace("water + rain()", "water + clouds[day]").replace("dig(draw(0, 1000000), difficulty)", "draw(1, 9)")
PLAIN = RULES[: RULES.index("  hooks:")] + RULES[RULES.index("  state:\n") :]
"""The same world in rules alone."""


def plain(place: Path, **changed: Any) -> Path:
    """Write the world in rules alone, with values at paths such as `rules__after` changed."""
    described = yaml.safe_load(PLAIN)
    for path, value in changed.items():
        at = described
        *before, last = path.split("__")
        for key in before:
            at = at.setdefault(key, {})
        at[last] = value
    folder = place / "well"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "world.yaml").write_text(yaml.safe_dump(described))
    return folder


BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "values with its aliases"),
        ("a: &a [*a]", "not YAML"),
        ("a: " + "[" * 5000 + "]" * 5000, "nested"),
        ("a: " + "{b: " * 5000 + "}" * 5000, "nested"),
        ("a: !!python/object/apply:os.system [id]", "not YAML"),
        ("a: " + "9" * 5000, "not YAML"),
    ],
)  # fmt: skip
def test_a_description_that_explodes_is_refused_while_it_is_read(tmp_path: Path, text: str, said: str) -> None:
    folder = plain(tmp_path)
    (folder / "world.yaml").write_text(text)
    with pytest.raises(ConfigError, match=f"(?s)world.yaml.*{said}"):
        World(folder)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rules__constants": {"BIG": 10**4000}}, "rules.constants.BIG has a number beyond"),
        ({"rules__constants": {"BIG": float("inf")}}, "rules.constants.BIG has a number beyond"),
        ({"rules__constants": {"BIG": [[0] * 3000, [0] * 3000]}}, "more than 4000 values"),
        ({"skin__text": "{water:>999999999}"}, "{water} is no plain place"),
        ({"skin__text": "{message.__class__.__mro__}"}, "is no plain place"),
        ({"skin__text": "{water!r}"}, "is no plain place"),
        ({"skin__text": "{water:{buckets}}"}, "is no plain place"),
        ({"skin__text": "{water"}, "expected '}'"),
        ({"actions__draw__params__litres__high": 10**30}, "low and high are numbers up to"),
        ({"actions__draw__params__litres__high": float("inf")}, "low and high are numbers up to"),
        ({"actions__draw__params": {f"p{n}": {"type": "integer", "low": 0, "high": 9} for n in range(50)}}, "at most 12"),
        ({"rules__state": {f"v{n}": {"type": "integer", "start": 0} for n in range(5000)}}, "at most 200"),
        ({"rules__refused": "refuse('for ever')"}, "refuse comes after"),
        ({"max_steps": 10**9}, "less than or equal to 1000"),
    ],
)  # fmt: skip
def test_what_is_too_large_or_no_value_is_refused_with_its_place(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        World(plain(tmp_path, **changed))


DOUBLING = {f"f{n}": {"do": f"return f{n + 1}() + f{n + 1}()"} for n in range(40)} | {"f40": {"do": "return 1"}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rules__functions": DOUBLING, "rules__actions__wait": "x = f0()"}, "more than 20000 passes"),
        ({"rules__actions__wait": "x = ['a' * 4000] * 4000\ny = cells(x, 'b')"}, "more than 20000 passes"),
        ({"rules__actions__wait": "x = ['a' * 4000] * 4000\ny = symbols(x, {}, 'b')"}, "more than 20000 passes"),
        ({"rules__actions__wait": "x = ['a' * 4000] * 4000\ny = distances(x, [0, 0], 'a')"}, "more than 20000 passes"),
        (
            {
                "rules__state__huge": {"type": "grid", "most": 4000, "start": "[]"},
                "rules__actions__wait": "huge = ['a' * 4000] * 4000",
            },
            "huge is ",
        ),
    ],
)
def test_a_turn_that_explodes_ends_with_its_rule(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    episode = World(plain(tmp_path, **changed)).start(LEVEL)
    with pytest.raises(RuleError, match=rf"rules\.actions\.wait: {said}"):
        episode.step(WAIT)


@pytest.mark.parametrize("steps", [10**12, 0, -3, True, "many", None])
def test_a_level_has_no_horizon_of_its_own_choice(tmp_path: Path, steps: Any) -> None:
    made = World(plain(tmp_path))
    with pytest.raises(ConfigError, match="steps of the level is"):
        made.start({**LEVEL, "steps": steps})
    with pytest.raises(ConfigError, match="steps of the level is"):
        made.levels.upper_bound({**LEVEL, "steps": steps})
    makes = f"return {{'water': 3, 'clouds': [], 'steps': {steps!r}}}"
    with pytest.raises(RuleError, match="steps of the level is"):
        World(plain(tmp_path / "made", rules__levels__make=makes)).make(1, 1)


def test_a_file_of_levels_is_no_way_in(tmp_path: Path) -> None:
    folder = plain(tmp_path)
    whole = json.loads(World(folder).levels_text())
    level = whole["test"][0]
    for change in (
        {"bound": {"value": 1e999, "kind": "exact", "reason": "x"}},
        {"bound": {"value": "1", "kind": "exact", "reason": "x"}},
        {"bound": 3},
        {"data": 7},
        {"more": 1},
    ):
        (folder / "levels.json").write_text(json.dumps({**whole, "test": [{**level, **change}]}))
        with pytest.raises(ConfigError, match=r"levels\.json"):
            _ = World(folder).shipped
    for path in ("/dev/zero", "pipe"):
        (folder / "levels.json").unlink()
        if path == "pipe":
            os.mkfifo(folder / "levels.json")
        else:
            (folder / "levels.json").symlink_to(path)
        with pytest.raises(ConfigError, match="it is not a plain file"):
            _ = World(folder).shipped
    with pytest.raises(ConfigError, match="a number beyond"):
        World(folder).start({**LEVEL, "water": 10**20})


def test_searches_that_explode_stop_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing = {
        "rules__state__held": {"type": "list", "most": 4000, "start": "[]"},
        "rules__actions__wait": "held = held + [held[0:9], day, 'and so on']",
    }
    made = World(plain(tmp_path, **growing))
    assert made.levels.upper_bound(LEVEL).kind == "exact"
    for name, value in (("SEARCH_WEIGHT", 500), ("SEARCH_WORK", 1000)):
        with monkeypatch.context() as patch:
            patch.setattr(search, name, value)
            assert World(made.folder).levels.upper_bound(LEVEL).kind == "declared"
    endless = plain(
        tmp_path / "a", actions__draw__params__litres__high=10**14, actions__draw__params__litres__low=-(10**14)
    )
    with pytest.raises(ConfigError, match="more than 400 different actions"):
        World(endless).levels.upper_bound(LEVEL)
    monkeypatch.setattr(dynamics, "LEVEL_WORK", 100_000)
    draft = "x = {'water': draw(1, 9), 'clouds': [draw(0, 2) for i in below(8)]}"
    drafts = f"{draft}\nrequire(len(solution(x)) > 99)\nreturn x"
    with pytest.raises(RuleError, match="the search for a level exceeds its work limit"):
        World(plain(tmp_path / "b", rules__levels__make=drafts)).make(1, 1)
