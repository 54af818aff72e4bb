"""Rules as `Dynamics`: compiled once, followed at the speed of Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from heredity.errors import ConfigError
from heredity.worlds.contract import Action, Dynamics, LevelData, Outcome
from heredity.worlds.description import Description
from heredity.worlds.dsl import language
from heredity.worlds.dsl.bounded import PLAIN, RuleError, Turn, whole
from heredity.worlds.dsl.functions import FUNCTIONS
from heredity.worlds.dsl.linking import link
from heredity.worlds.dsl.schema import Rules, Variable
from heredity.worlds.dsl.scope import Rule, Scope

FAILURES = (
    RuleError,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    NameError,
    RecursionError,
    MemoryError,
)
"""What is raised where a rule cannot be followed."""


class State:
    """The variables of a world, by name; their values never change, so that a copy is cheap and can be hashed."""

    __slots__ = ("__dict__", "level")

    def __init__(self, level: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> None:
        self.level = level
        self.__dict__.update(values or {})

    def __deepcopy__(self, memo: object) -> State:
        return State(self.level, self.__dict__)


class Compiled:
    """The rules of a description, checked and compiled.

    Attributes:
        run: what each rule is called by: `state.NAME`, `actions.NAME`, `refused`, `observe`, `finish`, `levels.make` and so on.
        matters: variables of the state on which it depends what can still happen; the others are only shown.

    Raises:
        ConfigError: if a rule is not in the language, or names what is not there; the message has path and line.
    """

    def __init__(self, description: Description, rules: Rules) -> None:
        self.description, self.rules = description, rules
        constants = {name: frozen(value, f"rules.constants.{name}") for name, value in rules.constants.items()}
        self._check_names(description, rules)
        takes = {name: function.takes for name, function in rules.functions.items()}
        variables = frozenset(rules.state)
        fixed = frozenset(name for name, variable in rules.state.items() if variable.fixed)
        acting = Scope(variables, fixed, frozenset(constants), takes, frozenset({"level"}))
        making = Scope(frozenset(), frozenset(), frozenset(constants), takes, frozenset({"level"}), draws=True)
        made: dict[str, Rule] = {}
        for name, function in rules.functions.items():
            path = f"rules.functions.{name}"
            made[f"functions.{name}"] = language.statements(function.do, path, acting, function.takes, effects=False)
        known: set[str] = set()
        for name, variable in rules.state.items():
            scope = Scope(frozenset(known), frozenset(), frozenset(constants), takes, frozenset({"level"}))
            made[f"state.{name}"] = language.expression(variable.start, f"rules.state.{name}.start", scope)
            known.add(name)
        for name, text in rules.actions.items():
            parameters = tuple(description.actions[name].params)
            made[f"actions.{name}"] = language.statements(text, f"rules.actions.{name}", acting, parameters)
        made["refused"] = language.statements(rules.refused, "rules.refused", acting)
        made["observe"] = self._observing(rules, acting)
        if rules.finish:
            made["finish"] = language.expression(rules.finish, "rules.finish", acting)
        levels = rules.levels
        made["levels.make"] = language.statements(
            levels.make, "rules.levels.make", making, ("difficulty",), effects=False
        )
        if levels.bound is not None:
            made["levels.bound"] = language.expression(levels.bound.value, "rules.levels.bound.value", making)
        if levels.solve is not None:
            made["levels.solve"] = language.statements(levels.solve, "rules.levels.solve", making, (), effects=False)
        self.matters = _mattering(made, rules)
        self.run = link(made, constants, {name: fitting(name, v) for name, v in rules.state.items()})

    @staticmethod
    def _observing(rules: Rules, scope: Scope) -> Rule:
        """Return the statements of `let`, and after them a table of what is observed."""
        shown = ", ".join(f"{name!r}: ({text.strip()})" for name, text in rules.observe.items())
        rule = language.statements(f"{rules.let}\nreturn {{{shown}}}", "rules.observe", scope, effects=False)
        last = rule.tree.body[-1]
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
            last.value = last.value.args[0]  # its places are limited each; nothing is made of them all
        return rule

    @staticmethod
    def _check_names(description: Description, rules: Rules) -> None:
        for what, one, other in (
            ("rules.actions lacks", description.actions, rules.actions),
            ("actions lacks", rules.actions, description.actions),
        ):
            lacking = [name for name in one if name not in other]
            if lacking:
                raise ConfigError(f"{what} {', '.join(lacking)}; describe every action, and give each its rule")
        taken = {"level", "difficulty", *FUNCTIONS, *language.EFFECTS}
        names = [*rules.state, *rules.functions]
        for name in names:
            if name in taken or names.count(name) > 1:
                raise ConfigError(f"rules: the name {name!r} is taken; give another")

    def follow(self, rule: str, state: Any, level: Any, turn: Turn, *values: Any) -> Any:
        """Follow a rule.

        Raises:
            RuleError: if it goes wrong; the message names the rule.
        """
        try:
            return self.run[rule](state, level, turn, *values)
        except FAILURES as error:
            raise self.fault(rule, error) from error

    def fault(self, rule: str, error: Exception) -> RuleError:
        """Return the error that names the rule which went wrong."""
        said = f"there is no {error} in it" if isinstance(error, KeyError) else str(error)
        return RuleError(f"{self.description.meta.name}: rules.{rule}: {said[:200]}")


class RulesDynamics(Dynamics[State]):
    """A world's dynamics from its rules."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self._run = compiled, compiled.run
        self._acts = {name: compiled.run[f"actions.{name}"] for name in compiled.rules.actions}
        self._passes = bool(compiled.rules.refused)

    def start(self, level: LevelData) -> State:
        """Return the state in which a level begins."""
        turn, data = Turn(), frozen(level, "the level")
        state = State(data)
        for name, variable in self.compiled.rules.state.items():
            value = self.compiled.follow(f"state.{name}", state, data, turn)
            try:
                setattr(state, name, fitting(name, variable)(value))
            except RuleError as error:
                raise RuleError(f"{self.compiled.description.meta.name}: rules.state.{name}.start: {error}") from error
        return state

    def act(self, state: State, action: Action) -> Outcome:
        """Follow an action's rule."""
        turn = Turn()
        try:
            self._acts[action.name](state, state.level, turn, *action.params.values())
        except FAILURES as error:
            raise self.compiled.fault(f"actions.{action.name}", error) from error
        return Outcome(float(turn.reward), turn.done, turn.said)

    def refuse(self, state: State) -> Outcome:
        """Let time pass."""
        if not self._passes:
            return Outcome()
        turn = Turn()
        self.compiled.follow("refused", state, state.level, turn)
        return Outcome(float(turn.reward), turn.done, turn.said)

    def finish(self, state: State) -> float:
        """Return what is paid at the horizon."""
        paid = self.compiled.follow("finish", state, state.level, Turn()) if "finish" in self._run else 0.0
        return float(paid)

    def observe(self, state: State) -> dict[str, Any]:
        """Return what is exposed, as JSON values."""
        try:
            return thawed(self._run["observe"](state, state.level, Turn()))
        except FAILURES as error:
            raise self.compiled.fault("observe", error) from error


def _mattering(made: Mapping[str, Rule], rules: Rules) -> tuple[str, ...]:
    waiting = ["refused", *(f"actions.{name}" for name in rules.actions), *(["finish"] if rules.finish else [])]
    seen: set[str] = set()
    while waiting:
        rule = waiting.pop()
        if rule not in seen:
            seen.add(rule)
            waiting += [f"functions.{name}" for name in made[rule].calls]
    read = {name for rule in seen for name in made[rule].reads}
    return tuple(name for name, variable in rules.state.items() if name in read and not variable.fixed)


def fitting(name: str, variable: Variable) -> Callable[[Any], Any]:
    """Return what gives a value back that fits a variable, and raises `RuleError` for others."""
    fits, optional = _fits(variable), variable.optional

    def fitted(value: Any) -> Any:
        if fits(value) or (optional and value is None):
            return value
        raise RuleError(f"{name} is given {value!r:.60}; expected {_expected(variable)}")

    return fitted


def _expected(variable: Variable) -> str:
    match variable.type:
        case "integer" | "number":
            return f"a {variable.type} from {variable.low:g} to {variable.high:g}"
        case "choice":
            return f"one of {', '.join(map(str, variable.of))}"
        case _:
            return f"a {variable.type} of at most {variable.most}"


def _fits(variable: Variable) -> Callable[[Any], bool]:
    low, high, most = variable.low, variable.high, variable.most

    def of_texts(value: Any) -> bool:
        return type(value) is tuple and len(value) <= most and all(type(v) is str and len(v) <= most for v in value)

    match variable.type:
        case "integer":
            return lambda value: type(value) is int and low <= value <= high
        case "number":
            return lambda value: type(value) in (int, float) and low <= value <= high
        case "flag":
            return lambda value: type(value) is bool
        case "choice":
            return lambda value: value in variable.of
        case "cell":
            return lambda value: type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int
        case "grid":
            return of_texts
        case "text" | "list" | "table":
            kind = {"text": str, "list": tuple, "table": dict}[variable.type]
            return lambda value: isinstance(value, kind) and len(value) <= most


def frozen(value: Any, path: str) -> Any:
    """Return a JSON value whose lists are tuples, all the way down.

    Raises:
        ConfigError: if it is no JSON value, or too large or deep.
    """
    made = _frozen(value, path, 0)
    try:
        return whole(made) if isinstance(made, tuple | dict | str) else made
    except RuleError as error:
        raise ConfigError(f"{path}: {error}") from error


def _frozen(value: Any, path: str, depth: int) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_frozen(inner, path, depth + 1) for inner in value) if depth < 20 else ()
    if isinstance(value, Mapping):
        return (
            {
                key if isinstance(key, int | str) else str(key): _frozen(inner, path, depth + 1)
                for key, inner in value.items()
            }
            if depth < 20
            else {}
        )
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ConfigError(f"{path} holds {value!r:.60}, which is no JSON value; put texts in quotes")


def thawed(value: Any) -> Any:
    """Return a value whose tuples are lists, all the way down."""
    if type(value) is tuple:
        return list(value) if PLAIN.issuperset(map(type, value)) else [thawed(inner) for inner in value]
    if type(value) is dict:
        return {key: thawed(inner) for key, inner in value.items()}
    return value
