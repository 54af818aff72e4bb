"""Rules as `Dynamics`: compiled once, followed at the speed of Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heredity.errors import ConfigError
from heredity.worlds.contract import MAX_STEPS, Action, Dynamics, LevelData, Outcome
from heredity.worlds.description import Description
from heredity.worlds.dsl import language
from heredity.worlds.dsl.allowance import HookError
from heredity.worlds.dsl.bounded import RuleError, Turn
from heredity.worlds.dsl.functions import FUNCTIONS
from heredity.worlds.dsl.linking import link
from heredity.worlds.dsl.schema import Rules
from heredity.worlds.dsl.scope import Rule, Scope
from heredity.worlds.dsl.values import fitting, frozen, thawed

if TYPE_CHECKING:
    from heredity.worlds.dsl.hooks import Hooks

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
        hooks: its functions in Python, none of which has been run; None where there are none.

    Args:
        description: of the world.
        rules: its rules.
        folder: where it lies, which its hooks need.

    Raises:
        ConfigError: if a rule is not in the language, or names what is not there; the message has path and line.
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
        names = [*rules.state, *rules.functions, *rules.hooks]
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
        """Return the state in which a level begins.

        Raises:
            ConfigError: if the level is no table of values that rules have, or its `steps` are no horizon.
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
        """Follow an action's rule; `turn` counts what it does, for whoever wants to know."""
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
        """Return what is paid at the horizon."""
        paid = self.compiled.follow("finish", state, state.level, Turn()) if "finish" in self._run else 0.0
        return float(paid)

    def observe(self, state: State) -> dict[str, Any]:
        """Return what is exposed, as JSON values."""
        try:
            return thawed(self._run["observe"](state, state.level, Turn()))
        except FAILURES as error:
            raise self.compiled.fault("observe", error) from error


def _hooks(rules: Rules, folder: Path | None) -> Hooks | None:
    if not rules.hooks:
        return None
    if folder is None:
        raise ConfigError("rules.hooks are files beside the world.yaml; open the world as a folder")
    from heredity.worlds.dsl.hooks import Hooks

    return Hooks(folder, rules.hooks)


def checked_steps(level: Mapping[str, Any]) -> None:
    """Raise if a level has a horizon of its own that is none.

    Raises:
        ConfigError: if its `steps` are no whole number from 1 to 1000.
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
