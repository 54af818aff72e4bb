"""The rules of `satellite_bays`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

EMPTY = -1
SERVICES = ("sight", "link", "thrust")


@dataclass(frozen=True, slots=True)
class Plan:
    """Constants of an episode: the modules, column by column, and the launch requirements."""

    lines: tuple[str, ...]
    mass: tuple[int, ...]
    power: tuple[int, ...]
    heat: tuple[int, ...]
    services: tuple[tuple[int, ...], ...]
    battery: int
    most_mass: int
    most_heat: int
    wanted: tuple[int, ...]

    def __deepcopy__(self, memo: object) -> Plan:
        return self


@dataclass(slots=True)
class State:
    """Module number in each bay."""

    bays: list[int]
    plan: Plan


def temperatures(bays: Sequence[int], heat: Sequence[int]) -> list[int]:
    """Return the temperature of each bay: the heat of its module and of adjacent ones; 0 for empty bays.

    Args:
        bays: the module in each bay, `EMPTY` for none.
        heat: heat of each module; negative values cool.
    """
    own = [0, *(0 if module == EMPTY else heat[module] for module in bays), 0]
    return [0 if module == EMPTY else own[bay] + own[bay + 1] + own[bay + 2] for bay, module in enumerate(bays)]


def refusal(bays: Sequence[int], power: Sequence[int], heat: Sequence[int], battery: int, most_heat: int) -> str:
    """Return the reason why the live frame does not tolerate these modules; an empty text if it does."""
    balance = battery + sum(power[module] for module in bays if module != EMPTY)
    if balance < 0:
        return f"The power would fall to {balance}."
    for bay, temperature in enumerate(temperatures(bays, heat), 1):
        if temperature > most_heat:
            return f"Bay {bay} would reach a temperature of {temperature}."
    return ""


class SatelliteBays(Dynamics[State]):
    """A row of bays that are live during installation."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        modules: list[dict[str, Any]] = level["modules"]
        plan = Plan(
            lines=tuple(
                f"{letter} {_described(module)}" for letter, module in zip(ascii_uppercase, modules, strict=False)
            ),
            mass=tuple(module["mass"] for module in modules),
            power=tuple(module["power"] for module in modules),
            heat=tuple(module["heat"] for module in modules),
            services=tuple(tuple(module.get(service, 0) for module in modules) for service in SERVICES),
            battery=level["battery"],
            most_mass=level["most_mass"],
            most_heat=level["most_heat"],
            wanted=tuple(level["wanted"]),
        )
        return State([EMPTY] * level["bays"], plan)

    def act(self, state: State, action: Action) -> Outcome:
        """Install or remove a module, or launch."""
        if action.name == "launch":
            missing = _missing(state)
            message = (
                f"The launch is called off: {missing}." if missing else "Lift-off: the satellite is complete and works."
            )
            return Outcome(float(not missing), done=True, message=message)
        bay = action.params["bay"]
        if bay > len(state.bays):
            raise RefusedError(f"There are bays 1 to {len(state.bays)} only.")
        there = state.bays[bay - 1]
        module = EMPTY
        if action.name == "install":
            module = ascii_uppercase.index(action.params["module"])
            if module >= len(state.plan.lines) or module in state.bays:
                raise RefusedError(f"There is no module {action.params['module']} on the shelf.")
            if there != EMPTY:
                raise RefusedError(f"Bay {bay} is taken.")
        elif there == EMPTY:
            raise RefusedError(f"Bay {bay} is empty.")
        after, plan = [*state.bays], state.plan
        after[bay - 1] = module
        if why := refusal(after, plan.power, plan.heat, plan.battery, plan.most_heat):
            raise RefusedError(f"The fuse trips and nothing is changed. {why}")
        state.bays = after
        if module == EMPTY:
            return Outcome(message=f"Module {ascii_uppercase[there]} is back on the shelf.")
        return Outcome(message=f"Module {action.params['module']} runs in bay {bay}.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the shelf, the bays and the sums."""
        plan, used = state.plan, [module for module in state.bays if module != EMPTY]
        heats = temperatures(state.bays, plan.heat)
        mass, power = sum(plan.mass[m] for m in used), plan.battery + sum(plan.power[m] for m in used)
        given = [sum(column[m] for m in used) for column in plan.services]
        return {
            "shelf": [line for module, line in enumerate(plan.lines) if module not in used],
            "bays": [
                f"bay {bay}: " + ("empty" if module == EMPTY else f"{plan.lines[module]}; temperature {temperature}")
                for bay, (module, temperature) in enumerate(zip(state.bays, heats, strict=True), 1)
            ],
            "mass": mass,
            "most_mass": plan.most_mass,
            "power": power,
            "most_heat": plan.most_heat,
            "given": ", ".join(map("{} {}".format, SERVICES, given)),
            "wanted": ", ".join(map("{} {}".format, SERVICES, plan.wanted)),
            "gauges": {
                "mass": [mass, 0, plan.most_mass],
                "power": [power, 0, 20],
                "hottest": [max(heats), 0, max(1, plan.most_heat)],
                **{s: [g, 0, max(1, w)] for s, g, w in zip(SERVICES, given, plan.wanted, strict=True)},
            },
        }


def _missing(state: State) -> str:
    """Return the missing launch requirement; an empty text if none."""
    plan = state.plan
    if EMPTY in state.bays:
        return f"bay {state.bays.index(EMPTY) + 1} is empty"
    mass = sum(plan.mass[module] for module in state.bays)
    if mass > plan.most_mass:
        return f"a mass of {mass} is more than the rocket lifts"
    for service, column, wanted in zip(SERVICES, plan.services, plan.wanted, strict=True):
        given = sum(column[module] for module in state.bays)
        if given < wanted:
            return f"{service} is {given}, and {wanted} is needed"
    return ""


def _described(module: dict[str, Any]) -> str:
    gives = "".join(f", {service} {module[service]}" for service in SERVICES if service in module)
    return f"{module['kind']}: mass {module['mass']}, power {module['power']:+d}, heat {module['heat']:+d}{gives}"


DYNAMICS = SatelliteBays()
