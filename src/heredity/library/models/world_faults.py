"""Faults that `offline/world-author-careless` plants, each with the gate and the kinds of findings that should catch it."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heredity.kinds.world.compose.composing import yaml_text

Value = dict[str, Any]
_FIELD = re.compile(r'"(\w+)": ')


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault.

    Attributes:
        plant: changes the description; returns True if the fault fits.
        meets: (gate, kind) of the findings that may reveal it.
        after: the same for the text, if the fault is not in the description.
    """

    plant: Callable[[Value, np.random.Generator], bool]
    meets: tuple[tuple[str, str], ...]
    after: Callable[[str], str] = lambda text: text


def _rule(value: Value, name: str, before: str = "", after: str = "") -> None:
    rules = value["rules"]["actions"]
    rules[name] = before + rules[name] + ("" if rules[name].endswith("\n") else "\n") + after


def _acting(value: Value, rng: np.random.Generator) -> str:
    """Return an action that is not idle."""
    names = [name for name, action in value["actions"].items() if not action.get("idle")]
    return names[int(rng.integers(len(names)))]


def _torn(value: Value, rng: np.random.Generator) -> bool:
    return True


def _unknown_key(value: Value, rng: np.random.Generator) -> bool:
    value["rulles"] = {"state": {}}
    return True


def _other_name(value: Value, rng: np.random.Generator) -> bool:
    value["meta"]["name"] += "_draft"
    return True


def _unknown_variable(value: Value, rng: np.random.Generator) -> bool:
    _rule(value, _acting(value, rng), before='say(f"{courage} is left.")\n')
    return True


def _out_of_range(value: Value, rng: np.random.Generator) -> bool:
    for variable in value["rules"]["state"].values():
        if variable["type"] == "integer" and variable.get("high", 0) > variable.get("low", 0) >= 0:
            variable["low"] = variable["high"]
            return str(variable["start"]) != str(variable["high"])
    return False


def _explains_nothing(value: Value, rng: np.random.Generator) -> bool:
    value["actions"][_acting(value, rng)]["description"] = "Acts."
    return True


def _never_possible(value: Value, rng: np.random.Generator) -> bool:
    value["actions"]["dance"] = {"description": "Dance for a step."}
    value["rules"]["actions"]["dance"] = 'refuse("There is no music.")\n'
    return True


def _says_nothing_of_rewards(value: Value, rng: np.random.Generator) -> bool:
    value["reward"] = ""
    return True


def _unreadable(value: Value, rng: np.random.Generator) -> bool:
    value["skin"]["text"] += "\n\u2603"
    return True


def _no_legend(value: Value, rng: np.random.Generator) -> bool:
    legend = value["skin"].get("legend", {})
    if "#" not in legend:
        return False
    del legend["#"]
    value["skin"].get("colours", {}).pop("#", None)
    return True


def _no_place(value: Value, rng: np.random.Generator) -> bool:
    value["rules"]["observe"]["spare"] = "1"
    return True


def _prints_the_level(value: Value, rng: np.random.Generator) -> bool:
    if value["meta"]["observation"] != "partial":
        return False
    returned = value["rules"]["levels"]["make"].rpartition("return {")[2]
    fields = " ".join(f"{{level.{name}}}" for name in _FIELD.findall(returned))
    value["rules"]["observe"]["draft"] = f"f'{fields}'"
    value["skin"]["text"] += "\nDraft: {draft}"
    return True


def _idling_pays(value: Value, rng: np.random.Generator) -> bool:
    idle = [name for name, action in value["actions"].items() if action.get("idle")]
    if not idle or value["meta"]["reward"] != "accumulative":
        return False
    _rule(value, idle[0], after="pay(1)\n")
    return True


def _pays_on_the_way(value: Value, rng: np.random.Generator) -> bool:
    if value["meta"]["reward"] != "binary":
        return False
    _rule(value, _acting(value, rng), after="pay(1)\n")
    return True


def _takes_in_silence(value: Value, rng: np.random.Generator) -> bool:
    words = f"{value['reward']} {value['instruction']}".lower()
    if value["meta"]["reward"] != "accumulative" or any(
        word in words for word in ("lose", "cost", "pay", "less", "minus")
    ):
        return False
    for name, action in value["actions"].items():
        if not action.get("idle"):
            _rule(value, name, after="pay(-1)\n")
    return True


def _bound_of_dreams(value: Value, rng: np.random.Generator) -> bool:
    if value["meta"]["reward"] != "accumulative":
        return False
    value["rules"]["levels"]["bound"] = {"value": "1000", "reason": "there is no end of it"}
    return True


def _first_action_wins(value: Value, rng: np.random.Generator) -> bool:
    if value["meta"]["reward"] != "binary" or value["meta"]["observation"] != "full":
        return False
    for name, action in value["actions"].items():
        if not action.get("idle"):
            value["rules"]["actions"][name] = 'pay(1)\nend("It is done.")\n'
    return True


FAULTS: Mapping[str, Fault] = {
    "text that is no YAML": Fault(_torn, (("build", "schema"),), lambda text: text + "notes: [unfinished\n"),
    "unknown key": Fault(_unknown_key, (("build", "schema"),)),
    "another name": Fault(_other_name, (("build", "name"),)),
    "unknown variable": Fault(_unknown_variable, (("build", "rules"),)),
    "variable out of its range": Fault(_out_of_range, (("build", "levels"), ("execution", "crash"))),
    "action that explains nothing": Fault(_explains_nothing, (("format", "unexplained action"),)),
    "action that is never possible": Fault(_never_possible, (("format", "impossible action"), ("build", "levels"))),
    "nothing said of rewards": Fault(_says_nothing_of_rewards, (("format", "missing text"),)),
    "sign that nobody can read": Fault(_unreadable, (("format", "unreadable"),)),
    "symbol without a meaning": Fault(_no_legend, (("format", "unexplained symbol"),)),
    "value without a place": Fault(_no_place, (("leak", "exposed, not shown"),)),
    "level printed": Fault(_prints_the_level, (("leak", "written out"), ("leak", "nothing hidden"))),
    "idling pays": Fault(_idling_pays, (("reward", "income for nothing"),)),
    "pay on the way": Fault(_pays_on_the_way, (("reward", "not binary"),)),
    "loss in silence": Fault(_takes_in_silence, (("reward", "unannounced loss"), ("build", "levels"))),
    "bound of dreams": Fault(_bound_of_dreams, (("levels", "bound too high"),)),
    "every action wins": Fault(
        _first_action_wins,
        (("reliability", "no difference"), ("format", "impossible action"), ("levels", "duplicate")),
    ),
}
"""All kinds, by name."""


def planted(sound: Mapping[str, Any], kinds: list[str], rng: np.random.Generator) -> tuple[str, list[str]]:
    """Return the text of a description with faults, and the kinds that fit."""
    value: Value = copy.deepcopy(dict(sound))
    fits = [kind for kind in kinds if FAULTS[kind].plant(value, rng)]
    text = yaml_text(value)
    for kind in fits:
        text = FAULTS[kind].after(text)
    return text, fits
