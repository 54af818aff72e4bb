"""World folders, in the format of AutoEnv-36, and their action lists. None of a folder's code runs here.

A folder has `config.yaml`, `env_main.py`, `env_obs.py`, `env_generate.py`, `env_validator.py`, `action_space.txt`,
`agent_instruction.txt`, `level_max_rewards.json`, `levels/` for test and `val_levels/` for validation. Its code runs
only in the sandbox (`heredity.kinds.world.process`). Actions are read from `action_space.txt`, which is mostly prose.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any, cast

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.outside import json_value, resolved, yaml_value
from heredity._core.plugins import is_path
from heredity._core.refusals import reading
from heredity.kinds.world.gates.contract import CERTIFICATE
from heredity.kinds.world.world import in_rules
from heredity.resources import SourceTree

FILES = (
    "config.yaml",
    "env_main.py",
    "env_obs.py",
    "env_generate.py",
    "env_validator.py",
    "action_space.txt",
    "agent_instruction.txt",
    "level_max_rewards.json",
)
"""Files of a folder in addition to its levels."""
TEST, VALIDATION = "levels", "val_levels"
FOLDERS = "world-folders/"
"""Prefix of the names of folder tasksets; the path follows."""
_NEEDED = ("config.yaml", "env_main.py", "action_space.txt", "agent_instruction.txt", "level_max_rewards.json")
_GUEST = Path(__file__).parents[1] / "guest_base"
_MAX_BYTES, _MAX_FILES = 12 << 20, 800
"""Size limit of a folder, since a sandbox process works on a copy in its scratch folder."""
_STEPS = 200
"""Default horizon if a folder's `config.yaml` has none."""


@dataclass(frozen=True, slots=True)
class FolderLevel:
    """A level of a folder.

    Attributes:
        split: its folder, `"levels"` or `"val_levels"`.
        stem: its file name without the ending, such as `"level_03"`.
    """

    split: str
    stem: str

    @property
    def world_id(self) -> str:
        """The argument of the environment's `reset`, which looks for levels in `levels/`."""
        return self.stem if self.split == TEST else f"../{self.split}/{self.stem}"

    @property
    def path(self) -> str:
        """Its file."""
        return f"{self.split}/{self.stem}.yaml"


class WorldFolder:
    """The contents of a folder's files.

    Args:
        path: its absolute path; `name`: the last part.

    Attributes:
        path: where it is, absolute; `name`: its last part.
        files: all files in it, except its certificate.

    Raises:
        ConfigError: if the folder does not exist or is too large. The properties raise it too, and name the file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = resolved(Path(path))
        if not self.path.is_dir():
            raise ConfigError(f"{path} is not a folder; give one in the AutoEnv-36 format, with env_main.py in it")
        if (self.path / "world.yaml").is_file() and not (self.path / "env_main.py").is_file():
            raise ConfigError(
                f"{path} is a world in the form of the library: its code would run in this process, as only that of an "
                "installed package may. Install it (entry point group heredity.worlds, docs/extending.md); or write its rules "
                "in world.yaml, with hooks for what they cannot say, or give it the AutoEnv-36 form, with env_main.py, which "
                f"run in the sandbox: {FOLDERS}{path}"
            )
        files = SourceTree.from_folder(self.path, max_bytes=_MAX_BYTES, max_files=_MAX_FILES)
        self.files = SourceTree({path: data for path, data in files.items() if path != CERTIFICATE})

    @property
    def name(self) -> str:
        """The folder's name, which begins its environment's id."""
        return self.path.name

    @property
    def digest(self) -> str:
        """Digest of everything that the folder's scores depend on: its files, and the code that runs them."""
        return self.tree.digest

    @cached_property
    def tree(self) -> SourceTree:
        """The files for the sandbox, opened as `world_folder_guest:World`."""
        return SourceTree({**_guest_files(), **{f"world/{path}": data for path, data in self.files.items()}})

    def check(self) -> None:
        """Read everything that a rollout needs.

        Raises:
            ConfigError: for the first file that is missing or wrong.
        """
        for name in _NEEDED:
            self._text(name)
        _ = self.config, self.instruction, self.actions, self.max_steps
        if not self.levels(TEST):
            raise ConfigError(f"{self.path / TEST} has no level_NN.yaml; put the test levels there")
        for level in (*self.levels(TEST), *self.levels(VALIDATION)):
            self.upper_bound(level)

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """`config.yaml`."""
        value = self.yaml("config.yaml")
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path / 'config.yaml'} is not a mapping; expected meta, termination and so on")
        return cast(Mapping[str, Any], value)

    @cached_property
    def max_steps(self) -> int:
        """The horizon: `termination.max_steps` of `config.yaml`, or 200 by default."""
        termination = self.config.get("termination")
        steps = cast(Any, termination).get("max_steps", _STEPS) if isinstance(termination, dict) else _STEPS
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
            raise ConfigError(f"{self.path / 'config.yaml'}: termination.max_steps is {steps!r}; expected 1 or more")
        return steps

    @cached_property
    def instruction(self) -> str:
        """`agent_instruction.txt`."""
        return self._text("agent_instruction.txt").strip()

    @cached_property
    def action_text(self) -> str:
        """`action_space.txt`, complete, as shown to agents."""
        return self._text("action_space.txt").strip()

    @cached_property
    def actions(self) -> tuple[Mapping[str, Any], ...]:
        """The JSON list at the start of `action_space.txt`: `name`, `description`, `parameters` of each action."""
        file, text = self.path / "action_space.txt", self.action_text
        start = text.find("[")
        if start < 0:
            raise ConfigError(f"{file} has no JSON list of actions; write one at its beginning, prose may follow")
        try:
            value: Any = json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file}: the list of actions is not JSON: {error}; correct it there") from error
        if not value or not all(isinstance(action, dict) and isinstance(action.get("name"), str) for action in value):
            raise ConfigError(f"{file}: expected a list of objects with a name, but got {str(value)[:80]}")
        return tuple(value)

    def levels(self, split: str) -> tuple[FolderLevel, ...]:
        """Return the levels in `"levels"` or `"val_levels"`, by name."""
        paths = (PurePosixPath(path) for path in self.files)
        return tuple(FolderLevel(split, p.stem) for p in paths if str(p.parent) == split and p.suffix == ".yaml")

    def level(self, name: str) -> FolderLevel:
        """Return a level by its file name without the ending.

        Raises:
            UnknownNameError: if the level is unknown.
        """
        levels = {level.stem: level for split in (VALIDATION, TEST) for level in self.levels(split)}
        if name not in levels:
            raise UnknownNameError(f"level of {self.name}", name, levels)
        return levels[name]

    def upper_bound(self, level: FolderLevel) -> float:
        """Return the declared bound of a level, its `max_reward` in `level_max_rewards.json`, which may be wrong.

        Raises:
            ConfigError: if it is missing, or not a number above 0.
        """
        bounds, validation = self._bounds, level.split == VALIDATION
        bound = bounds.get((validation, level.stem), bounds.get((not validation, level.stem)))
        if bound is None or not (math.isfinite(bound) and bound > 0):
            given = "no max_reward" if bound is None else f"{bound:g} as max_reward"
            raise ConfigError(
                f"{self.path / 'level_max_rewards.json'} gives {given} for {level.path}; expected a number above 0"
            )
        return bound

    @cached_property
    def mean_upper_bound(self) -> float:
        """The mean of all declared bounds, for generated levels, which have none."""
        bounds = [self.upper_bound(level) for split in (TEST, VALIDATION) for level in self.levels(split)]
        return sum(bounds) / len(bounds)

    @cached_property
    def _bounds(self) -> Mapping[tuple[bool, str], float]:
        file = "level_max_rewards.json"
        with reading(self.path / file, "JSON", "correct it there"):
            value = json_value(self._text(file))
        stems = {level.stem for split in (TEST, VALIDATION) for level in self.levels(split)}
        bounds: dict[tuple[bool, str], float] = {}
        for key, upper_bound in _bounds_in(value, stems, False):
            bounds.setdefault(key, upper_bound)
        return bounds

    def yaml(self, path: str) -> Any:
        """Return the contents of a YAML file of the folder.

        Raises:
            ConfigError: if it is missing or not YAML.
        """
        with reading(self.path / path, "YAML", "correct that line"):
            return yaml_value(self._text(path))

    def _text(self, path: str) -> str:
        if path not in self.files:
            raise ConfigError(f"{self.path} has no {path}; the AutoEnv-36 format needs it")
        return self.files.text(path)


def is_folder(name: str) -> bool:
    """Return True if a path is a folder with code; worlds in rules alone need no sandbox."""
    return is_path(name) and not in_rules(Path(name.partition("?")[0]))


def _bounds_in(value: Any, stems: set[str], validation: bool) -> Iterator[tuple[tuple[bool, str], float]]:
    """Yield the bounds in a file of any layout: a level's name with its bound, or with an object that has `max_reward`."""
    if isinstance(value, list):
        for entry in cast(list[Any], value):
            if isinstance(entry, dict):
                names = [_stem(text) for text in cast(dict[str, Any], entry).values() if isinstance(text, str)]
                yield from _bounds_in({name: entry for name in names if name in stems}, stems, validation)
    elif isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            within = validation or "val" in key.lower()
            upper_bound = cast(Any, inner).get("max_reward") if isinstance(inner, dict) else inner
            if _stem(key) in stems:
                if isinstance(upper_bound, int | float) and not isinstance(upper_bound, bool):
                    yield (within, _stem(key)), float(upper_bound)
            else:
                yield from _bounds_in(inner, stems, within)


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem if path.suffix in (".yaml", ".yml") else path.name


@cache
def _guest_files() -> Mapping[str, bytes]:
    return {str(path.relative_to(_GUEST)): path.read_bytes() for path in sorted(_GUEST.rglob("*.py"))}


_KINDS = {
    "dict": re.compile(r"\b(dict(ionary)?|mapping)\b", re.IGNORECASE),
    "list": re.compile(r"\b(list|array|tuple|pair)s? of\b|^\W*(list|array|tuple)\b|\[\s*x\d?\s*,\s*y", re.IGNORECASE),
    "integer": re.compile(r"\b(int(eger)?|index|count)\b|\bnumber of\b", re.IGNORECASE),
    "boolean": re.compile(r"\bbool(ean)?\b", re.IGNORECASE),
    "number": re.compile(
        r"\b(float|number|decimal|real|ratio|fraction|amount|quantity|volume|percent(age)?)\b", re.IGNORECASE
    ),
    "text": re.compile(r"\b(str|string|text|name)\b", re.IGNORECASE),
}
_FRACTIONS = re.compile(r"\b(float|decimal|real|ratio|fraction)\b", re.IGNORECASE)
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_ASIDE = r"(?:\s*\([^()]*\))?"
_RANGE = re.compile(
    rf"(?<![\w.]){_NUMBER}{_ASIDE}\s*(?:-|–|to|through|\.\.\.?)\s*{_NUMBER}(?![\w.])"
    rf"|between\s+{_NUMBER}\s+and\s+{_NUMBER}|[\[(]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[\])]",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<![\w.])(-?\d+(?:\s*,\s*-?\d+)*)\s*,?\s*or\s+(-?\d+)(?![\w.])", re.IGNORECASE)
_QUOTED = re.compile(r"'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"|`([^`\n]{1,40})`")
_EXAMPLES = re.compile(r"\be\.\s?g\.|\bfor example\b|\bsuch as\b|\betc\b|\blike\b", re.IGNORECASE)
_IDENTIFIER = r"[A-Za-z][\w-]*"
_LISTED = re.compile(
    r"(?:one of|options?|choices|values|allowed|available)\s*(?:are|is)?\s*[:=]\s*\[?\(?"
    rf"({_IDENTIFIER}(?:\s*(?:,\s*or|,\s*and|,|/|\||\bor\b)\s*{_IDENTIFIER})+)"
    rf"|\((?:e\.\s?g\.\s*,?\s*|such as\s+)?({_IDENTIFIER}(?:\s*(?:,\s*or|,\s*and|,|/|\||\bor\b)\s*{_IDENTIFIER})+)\)",
    re.IGNORECASE,
)
_ENUMS = ("enum", "options", "choices", "values", "allowed_values", "allowed")
_LOW, _HIGH = ("minimum", "min", "low"), ("maximum", "max", "high")
_MOST_VALUES = 24
_IDLE = re.compile(r"^(wait|idle|no_?op|skip|pass|rest|stay|nothing|do_?nothing|hold|stand)([_A-Z].*)?$", re.IGNORECASE)
_CLEARLY: tuple[Any, ...] = (None, [], {}, "no such word", 10**9, -(10**9), 1e308)
_WRONG: tuple[Any, ...] = (*_CLEARLY, "", -1, 2.5, True)


@dataclass(frozen=True, slots=True)
class Values:
    """The possible values of a parameter.

    Attributes:
        kind: `integer`, `number`, `boolean`, `list`, `text`, or `""` if the file does not say.
        tried: values to try.
        complete: True if these are all values.
        elements: possible elements of a list, if the file names them.
        low: minimum of a number, if the file gives it; `high`: maximum.
    """

    kind: str
    tried: tuple[Any, ...]
    complete: bool
    low: float | None = None
    high: float | None = None
    elements: tuple[Any, ...] = ()


def parameters_of(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action's parameters: name to description."""
    given: Any = action.get("parameters") or action.get("params") or {}
    if isinstance(given, list):
        named = [
            (cast(Any, entry).get("name") if isinstance(entry, dict) else entry, entry)
            for entry in cast(list[Any], given)
        ]
        return {name: entry if isinstance(entry, dict) else "" for name, entry in named if isinstance(name, str)}
    if not isinstance(given, dict):
        return {}
    fields = cast(dict[str, Any], given)
    inner = fields.get("properties")
    return cast(dict[str, Any], inner) if isinstance(inner, dict) else fields


def values_of(declared: Any) -> Values:
    """Return the possible values of a parameter from its description."""
    fields = cast(dict[str, Any], declared) if isinstance(declared, dict) else {}
    if isinstance(declared, list):
        fields = {"enum": declared}
    text = declared if isinstance(declared, str) else " ".join(str(v) for v in fields.values() if isinstance(v, str))
    kind = next((name for name, pattern in _KINDS.items() if pattern.search(str(fields.get("type", text)))), "")
    listed = next((fields[name] for name in _ENUMS if isinstance(fields.get(name), list)), None)
    if listed:
        return Values(kind or _kind_of(listed[0]), tuple(listed), True)
    if kind == "boolean":
        return Values(kind, (True, False), True)
    words = _words(text)
    if kind == "list":
        pairs: tuple[Any, ...] = ([[0, 0]], [[0, 0], [0, 1]], [[1, 1], [1, 2], [1, 3]], [[2, 2], [2, 3]])
        single: tuple[Any, ...] = ([0, 0], [0, 1], [1, 0], [1, 1])
        return Values(kind, pairs if re.search(r"\bpairs\b", text) else single, False, elements=words)
    if kind != "dict":
        numbers = _numbers_in(text) if kind in ("integer", "number", "") else ()
        if numbers:
            return Values("integer", numbers, True)
        low, high = _range(fields, text)
        if low is not None and high is not None and kind != "text":
            return _numbers(_kind_of_range(kind, text, low, high), low, high)
        if words and kind not in ("integer", "number"):
            return Values("text", words, not _EXAMPLES.search(text))
    guesses: dict[str, tuple[Any, ...]] = {
        "integer": (0, 1, 2, 3),
        "number": (0.0, 0.5, 1.0) if _FRACTIONS.search(text) else (1, 2, 5),
        "text": ("a", "A", "1"),
        "dict": ({},),
    }
    return Values(kind, guesses.get(kind, (0, 1, "a")), False)


def examples_in(text: str, actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the complete JSON actions in a text, if their names are in the list."""
    defined = {action["name"] for action in actions}
    examples: list[dict[str, Any]] = []
    for start in (match.start() for match in re.finditer(r"\{\s*\"action\"", text)):
        try:
            value: Any = json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        params = cast(dict[str, Any], value).get("params", {})
        if value.get("action") in defined and isinstance(params, dict):
            examples.append({"action": value["action"], "params": params})
    return [example for index, example in enumerate(examples) if example not in examples[:index]]


def enumerate_actions(actions: Sequence[Mapping[str, Any]], most: int = 200) -> tuple[list[dict[str, Any]], bool]:
    """Return actions to try, alternating between names, and whether they are complete."""
    complete, rows = True, list[list[dict[str, Any]]]()
    for action in actions:
        values = {name: values_of(declared) for name, declared in parameters_of(action).items()}
        complete = complete and all(possible.complete for possible in values.values())
        choices = itertools.product(*(possible.tried for possible in values.values()))
        combinations = [
            {"action": action["name"], "params": dict(zip(values, choice, strict=True))}
            for choice in itertools.islice(choices, most + 1)
        ]
        complete = complete and len(combinations) <= most
        rows.append(combinations[:most])
    mixed = [action for turn in itertools.zip_longest(*rows) for action in turn if action is not None]
    return mixed[:most], complete and len(mixed) <= most


def idle_actions(actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the actions without parameters whose names mean doing nothing."""
    names = [action["name"] for action in actions if not parameters_of(action)]
    return [{"action": name, "params": {}} for name in names if _IDLE.match(name)]


def unknown_actions(actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return actions that are not in the list."""
    defined = {action["name"] for action in actions}
    names = ("no_such_action", "", "None", "cheat")
    return [{"action": name, "params": {}} for name in names if name not in defined]


def questions(folder: WorldFolder) -> dict[str, Any]:
    """Return the arguments of a level's search (see `world_folder_explorer.explore` in the guest)."""
    actions = folder.actions
    unknown = [("an action that does not exist", action) for action in unknown_actions(actions)]
    malformed = [(f"an action with {what}", a) for what, a, clearly in malformed_actions(actions) if clearly]
    examples = examples_in(f"{folder.action_text}\n{folder.instruction}", actions)
    return {
        "actions": described_actions(actions),
        "examples": [example for example in examples if not misfit(example, actions)],
        "idle": idle_actions(actions),
        "refused": [*unknown, *malformed],
        "horizon": folder.max_steps,
    }


def described_actions(actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the actions in the format of a level's search (see `world_folder_choices.Choices` in the guest)."""
    return [
        {
            "name": action["name"],
            "params": {
                name: {
                    "kind": values.kind,
                    "tried": list(values.tried),
                    "complete": values.complete,
                    "closed": values.complete or values.low is not None,
                    "elements": list(values.elements),
                    "text": json.dumps(declared),
                }
                for name, declared in parameters_of(action).items()
                for values in [values_of(declared)]
            },
        }
        for action in actions
    ]


def surely_fits(given: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if an action fits the list without any guess at prose."""
    if misfit(given, actions):
        return False
    listed = next(action for action in actions if action["name"] == given["action"])
    possible = [values_of(declared) for declared in parameters_of(listed).values()]
    return all(values.complete or values.low is not None for values in possible)


def malformed_actions(actions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield a description of a defect, an action with it, and whether such an action clearly must not pay.

    Only actions that reach an environment: malformed input is refused before (`FolderWorldProcess.take`).
    """
    for action in actions:
        name = action["name"]
        values = {key: values_of(declared) for key, declared in parameters_of(action).items()}
        plain = {key: possible.tried[0] for key, possible in values.items()}
        if values:
            yield "no parameters", {"action": name, "params": {}}, True
        yield "an unknown parameter", {"action": name, "params": {**plain, "no_such_parameter": 1}}, False
        for key, possible in values.items():
            if len(values) > 1:
                yield f"{key} left out", {"action": name, "params": {k: v for k, v in plain.items() if k != key}}, True
            for value in _WRONG:
                if not _may_be(value, possible):
                    clearly = possible.complete or value in _CLEARLY
                    yield f"{key} {value!r}", {"action": name, "params": {**plain, key: value}}, clearly


def misfit(given: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> str:
    """Describe how an action fails to fit the list, by its name or parameters; `""` if it may fit."""
    name, params = given["action"], cast(Mapping[str, Any], given["params"])
    listed = next((action for action in actions if action["name"] == name), None)
    if listed is None:
        return f"there is no action {name[:60]!r}"
    values = {key: values_of(declared) for key, declared in parameters_of(listed).items()}
    for key in params:
        if key not in values:
            return f"{name} has no parameter {key[:60]!r}"
    for key, possible in values.items():
        if key not in params:
            return f"{name} is given no {key}"
        if not _may_be(params[key], possible):
            return f"{key} of {name} is {str(params[key])[:60]}"
    return ""


def _may_be(given: object, values: Values) -> bool:
    """Return True if a value may be valid as far as the file says."""
    value: Any = given
    if any(type(value) is type(tried) and value == tried for tried in values.tried):
        return True
    if value in (None, {}, "") or values.complete:
        return False
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if number and values.low is not None and values.high is not None:
        return values.low <= value <= values.high and (values.kind != "integer" or value == int(value))
    fits = {
        "integer": number and abs(value) < 10**6 and value == int(value) and value >= 0,
        "number": number and abs(value) < 10**6,
        "list": isinstance(value, list) and bool(value),
        "dict": isinstance(value, dict),
        "text": isinstance(value, str),
    }
    return fits.get(values.kind, isinstance(value, int | float | str) and not isinstance(value, bool))


def _kind_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "text", list: "list"}
    return kinds.get(type(value), "")


def _range(fields: Mapping[str, Any], text: str) -> tuple[float | None, float | None]:
    low, high = (
        next((fields[name] for name in names if isinstance(fields.get(name), int | float)), None)
        for names in (_LOW, _HIGH)
    )
    both: Any = fields.get("range")
    if isinstance(both, list) and len(cast(list[Any], both)) == 2:
        low, high = cast(list[Any], both)
    if low is None or high is None:
        match = _RANGE.search(text)
        bounds = [float(group) for group in match.groups() if group is not None] if match else []
        return (bounds[0], bounds[1]) if bounds and bounds[0] <= bounds[1] else (None, None)
    return float(low), float(high)


def _numbers(kind: str, low: float, high: float) -> Values:
    if kind == "integer":
        every = range(int(low), int(high) + 1)
        if len(every) <= _MOST_VALUES:
            return Values(kind, tuple(every), True, low, high)
        step = (int(high) - int(low)) / (_MOST_VALUES - 1)
        return Values(kind, tuple(int(low + step * i) for i in range(_MOST_VALUES)), False, low, high)
    return Values(kind, tuple(round(low + (high - low) * i / 4, 12) for i in range(5)), False, low, high)


def _kind_of_range(kind: str, text: str, low: float, high: float) -> str:
    whole = low == int(low) and high == int(high) and "." not in (_RANGE.search(text) or [""])[0]
    return "integer" if kind == "integer" or (whole and not _FRACTIONS.search(text)) else "number"


def _numbers_in(text: str) -> tuple[int, ...]:
    """Return the integers of a list that ends with `or`: "10, 20, or 30"."""
    match = _NUMBERS.search(text)
    return tuple(int(number) for number in (*match[1].split(","), match[2])) if match else ()


def _words(text: str) -> tuple[str, ...]:
    words = ["".join(groups) for groups in _QUOTED.findall(text)]
    if not words:
        match = _LISTED.search(text)
        words = re.split(r"\s*(?:,\s*or\b|,\s*and\b|,|/|\||\bor\b)\s*", match[1] or match[2]) if match else []
    return tuple(dict.fromkeys(word for word in words if word))[:_MOST_VALUES]
