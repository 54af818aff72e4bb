"""Rules as `Dynamics`: compiled once, executed at the speed of Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heredity._core.errors import ConfigError
from heredity.kinds.world.contract import MAX_STEPS, Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.description import Description
from heredity.kinds.world.dsl import language
from heredity.kinds.world.dsl.bounded import CHECKED, HookError, RuleError, Turn, fitting, frozen, thawed
from heredity.kinds.world.dsl.functions import FUNCTIONS
from heredity.kinds.world.dsl.language import Rule, Scope
from heredity.kinds.world.dsl.schema import Rules

if TYPE_CHECKING:
    from heredity.kinds.world.dsl.hooks import Hooks

_COUNTED = """
__turn.passes -= {}
if __turn.passes < 0: __turn.count(0)
"""
"""First statement of a function."""


def link(
    rules: Mapping[str, Rule],
    constants: Mapping[str, Any],
    fits: Mapping[str, Callable[[Any], Any]],
    hooks: Mapping[str, Callable[..., Any]],
) -> dict[str, Callable[..., Any]]:
    """Compile rules that may call each other by name; each takes the state, the level, the turn, and its parameters.

    Args:
        rules: by name; those of functions are `functions.NAME`.
        constants: by name.
        fits: by state variable, a function that returns a valid value and raises for others.
        hooks: Python functions by name, which take the turn first.

    Raises:
        ConfigError: if functions are recursive, directly or indirectly.
    """
    _check_order(rules)
    space: dict[str, Any] = {"__builtins__": {}, **CHECKED}
    space.update({f"__b_{name}": function for name, function in FUNCTIONS.items()})
    space.update({f"__k_{name}": value for name, value in constants.items()})
    space.update({f"__fit_{name}": fit for name, fit in fits.items()})
    space.update({f"__hook_{name}": hook for name, hook in hooks.items()})
    names = {key: f"__f_{number}" for number, key in enumerate(rules)}
    for key, rule in rules.items():
        tree = rule.tree
        tree.name = names[key]
        # Chains of functions that call two each grow exponentially; functions without calls are counted with their callers.
        if key.startswith("functions.") and rule.calls:
            tree.body[:0] = ast.parse(_COUNTED.format(1 + sum(1 for _ in ast.walk(tree)) // 20)).body
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id.startswith("__own_"):
                node.id = names["functions." + node.id.removeprefix("__own_")]
        module = ast.fix_missing_locations(ast.Module([tree], []))
        try:
            exec(compile(module, f"<{rule.path}>", "exec"), space)  # Every node was checked.
        except (SyntaxError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            raise ConfigError(f"{rule.path}{line}: {getattr(error, 'msg', error)}") from error
    return {key: space[name] for key, name in names.items()}


def _check_order(rules: Mapping[str, Rule]) -> None:
    done: set[str] = set()

    def visit(key: str, way: tuple[str, ...]) -> None:
        if key in way:
            raise ConfigError(
                f"{key} calls itself, through {' and '.join(way[way.index(key) :])}; loops go through lists only"
            )
        if key not in done:
            for called in sorted(rules[key].calls):
                visit("functions." + called, (*way, key))
            done.add(key)

    for key in rules:
        visit(key, ())


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
"""Exceptions that a failing rule may raise."""


class State:
    """The variables of a world, by name; values are immutable, so a copy is cheap and hashable."""

    __slots__ = ("__dict__", "level")

    def __init__(self, level: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> None:
        self.level = level
        self.__dict__.update(values or {})

    def __deepcopy__(self, memo: object) -> State:
        return State(self.level, self.__dict__)


class Compiled:
    """The rules of a description, checked and compiled.

    Attributes:
        run: a function for each rule: `state.NAME`, `actions.NAME`, `refused`, `observe`, `finish`, `levels.make` and
            so on.
        matters: variables of the state that affect the future; the others are only displayed.
        hooks: its Python functions, none of which has run yet; None if it has none.

    Args:
        description: of the world.
        rules: its rules.
        folder: the world's folder, needed by its hooks.

    Raises:
        ConfigError: if a rule is not in the language, or uses an unknown name; the message has path and line.
    """

    def __init__(self, description: Description, rules: Rules, folder: Path | None = None) -> None:
        self.description, self.rules = description, rules
        constants = {name: frozen(value, f"rules.constants.{name}") for name, value in rules.constants.items()}
        self._check_names(description, rules)
        takes = {name: function.takes for name, function in rules.functions.items()}
        hooks = {name: (hook.takes, hook.reads) for name, hook in rules.hooks.items()}
        variables = frozenset(rules.state)
        fixed = frozenset(name for name, variable in rules.state.items() if variable.fixed)
        acting = Scope(variables, fixed, frozenset(constants), takes, hooks, frozenset({"level"}))
        making = replace(acting, state=frozenset(), fixed=frozenset(), draws=True)
        made: dict[str, Rule] = {}
        for name, function in rules.functions.items():
            path = f"rules.functions.{name}"
            made[f"functions.{name}"] = language.statements(function.do, path, acting, function.takes, effects=False)
        states: set[str] = set()
        for name, variable in rules.state.items():
            scope = replace(acting, state=frozenset(states), fixed=frozenset())
            made[f"state.{name}"] = language.expression(variable.start, f"rules.state.{name}.start", scope)
            states.add(name)
        for name, text in rules.actions.items():
            parameters = tuple(description.actions[name].params)
            made[f"actions.{name}"] = language.statements(text, f"rules.actions.{name}", acting, parameters)
        passing = replace(acting, refuses=False)
        made["after"] = language.statements(rules.after, "rules.after", passing)
        made["refused"] = language.statements(rules.refused, "rules.refused", passing)
        made["observe"] = self._observing(rules, acting)
        if rules.finish:
            made["finish"] = language.expression(rules.finish, "rules.finish", acting)
        levels = rules.levels
        made["levels.make"] = language.statements(
            levels.make, "rules.levels.make", replace(making, names=frozenset()), ("difficulty",), effects=False
        )
        if levels.bound is not None:
            made["levels.bound"] = language.expression(levels.bound.value, "rules.levels.bound.value", making)
        if levels.solve is not None:
            made["levels.solve"] = language.statements(levels.solve, "rules.levels.solve", making, (), effects=False)
        self.matters = _mattering(made, rules)
        self.hooks = _hooks(rules, folder)
        fits = {name: fitting(name, v) for name, v in rules.state.items()}
        self.run = link(made, constants, fits, self.hooks.functions() if self.hooks else {})

    @staticmethod
    def _observing(rules: Rules, scope: Scope) -> Rule:
        """Return the statements of `let`, followed by a table of the observed values."""
        shown = ", ".join(f"{name!r}: ({text.strip()})" for name, text in rules.observe.items())
        rule = language.statements(f"{rules.let}\nreturn {{{shown}}}", "rules.observe", scope, effects=False)
        last = rule.tree.body[-1]
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
            last.value = last.value.args[0]  # Each of its values is limited, and the table is not used further.
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
        names = [*rules.state, *rules.functions, *rules.hooks]
        for name in names:
            if name in taken or names.count(name) > 1:
                raise ConfigError(f"rules: the name {name!r} is taken; give another")

    def follow(self, rule: str, state: Any, level: Any, turn: Turn, *values: Any) -> Any:
        """Execute a rule.

        Raises:
            RuleError: if it fails; the message names the rule.
        """
        try:
            return self.run[rule](state, level, turn, *values)
        except FAILURES as error:
            raise self.fault(rule, error) from error

    def fault(self, rule: str, error: Exception) -> RuleError:
        """Return an error that names the failed rule."""
        reason = f"there is no {error} in it" if isinstance(error, KeyError) else str(error)
        if isinstance(error, HookError):
            return type(error)(f"{self.description.meta.name}: rules.{rule}: {reason[:400]}", error.traceback)
        remedy = "" if isinstance(error, RuleError) else "; correct that rule"
        return RuleError(f"{self.description.meta.name}: rules.{rule}: {reason[:200]}{remedy}")


class RulesDynamics(Dynamics[State]):
    """A world's dynamics from its rules."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self._run = compiled, compiled.run
        self._acts = {name: compiled.run[f"actions.{name}"] for name in compiled.rules.actions}
        self._passes, self._goes_on = bool(compiled.rules.refused), bool(compiled.rules.after)
        self.hooks = compiled.hooks

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level.

        Raises:
            ConfigError: if the level is not a table of valid values, or its `steps` are not a horizon.
        """
        turn, data = Turn(), frozen(level, "the level")
        if not isinstance(data, dict):
            raise ConfigError(f"the level is {data!r:.60}; expected a table")
        checked_steps(data)
        state = State(data)
        for name, variable in self.compiled.rules.state.items():
            value = self.compiled.follow(f"state.{name}", state, data, turn)
            try:
                setattr(state, name, fitting(name, variable)(value))
            except RuleError as error:
                raise RuleError(f"{self.compiled.description.meta.name}: rules.state.{name}.start: {error}") from error
        return state

    def act(self, state: State, action: Action, turn: Turn | None = None) -> Outcome:
        """Execute an action's rule; pass `turn` to receive its counts."""
        turn = turn or Turn()
        try:
            self._acts[action.name](state, state.level, turn, *action.params.values())
        except FAILURES as error:
            raise self.compiled.fault(f"actions.{action.name}", error) from error
        if self._goes_on and not turn.done:
            self.compiled.follow("after", state, state.level, turn)
        return Outcome(float(turn.reward), turn.done, turn.message)

    def refuse(self, state: State) -> Outcome:
        """Let time pass."""
        if not self._passes:
            return Outcome()
        turn = Turn()
        self.compiled.follow("refused", state, state.level, turn)
        return Outcome(float(turn.reward), turn.done, turn.message)

    def finish(self, state: State) -> float:
        """Return the payment at the horizon."""
        paid = self.compiled.follow("finish", state, state.level, Turn()) if "finish" in self._run else 0.0
        return float(paid)

    def observe(self, state: State) -> dict[str, Any]:
        """Return the exposed values, as JSON values."""
        try:
            return thawed(self._run["observe"](state, state.level, Turn()))
        except FAILURES as error:
            raise self.compiled.fault("observe", error) from error


def _hooks(rules: Rules, folder: Path | None) -> Hooks | None:
    if not rules.hooks:
        return None
    if folder is None:
        raise ConfigError("rules.hooks are files next to the world.yaml; open the world as a folder")
    from heredity.kinds.world.dsl.hooks import Hooks

    return Hooks(folder, rules.hooks)


def checked_steps(level: Mapping[str, Any]) -> None:
    """Raise if a level's own horizon is invalid.

    Raises:
        ConfigError: if its `steps` is not an integer from 1 to 1000.
    """
    steps = level.get("steps", 1)
    if type(steps) is not int or not 1 <= steps <= MAX_STEPS:
        raise ConfigError(f"steps of the level is {steps!r:.60}; expected a whole number from 1 to {MAX_STEPS}")


def _mattering(made: Mapping[str, Rule], rules: Rules) -> tuple[str, ...]:
    waiting = [
        "refused",
        "after",
        *(f"actions.{name}" for name in rules.actions),
        *(["finish"] if rules.finish else []),
    ]
    seen: set[str] = set()
    while waiting:
        rule = waiting.pop()
        if rule not in seen:
            seen.add(rule)
            waiting += [f"functions.{name}" for name in made[rule].calls]
    read = {name for rule in seen for name in made[rule].reads}
    return tuple(name for name, variable in rules.state.items() if name in read and not variable.fixed)
