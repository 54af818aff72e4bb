"""Targets: the variables of a candidate that an optimizer may change (the mask g of Autogenesis, section 3.2.1).

Prompt-Evo is the target `prompt`, Solution-Evo is `solution` (how a rollout of several rounds criticises and revises an
answer), PS-Joint-Evo is both, and Agent-Evo is all five.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.actor import ANSWER, CRITIC, QUESTION, REVISE, SOLVER, SYSTEM
from heredity.resources import Candidate
from heredity.resources.assembly import ABOUT, manifest_of, variables, with_variables

Target = Literal["prompt", "solution", "tool", "memory", "agent"]

Editable = Target | Literal["answer"]
"""Targets, plus the answer to one task, which only evolution within that task may edit."""

ANSWER_TEXT = f"{ANSWER}:prompt.md"
"""The variable that holds an answer."""

_SOLUTION = (CRITIC, REVISE)
_NEW: Mapping[Editable, tuple[str, ...]] = {
    "prompt": (f"{SYSTEM}:prompt.md", f"{QUESTION}:prompt.md"),
    "solution": tuple(f"{part}:prompt.md" for part in _SOLUTION),
    "answer": (ANSWER_TEXT,),
    "tool": ("tool/NAME:tool.py", "tool/NAME:SKILL.md", f"tool/NAME:{ABOUT}"),
    "memory": ("memory/NAME:memory.md", "memory/NAME:memory.jsonl"),
    "agent": (f"{SOLVER}:agent.py", "agent/player:agent.py"),
}
_INSIDE = (f"{SOLVER}:middleware/NAME.py", f"{SOLVER}:project/PATH")
"""Files that may be added to an existing solver program."""


def target_of(variable: str) -> str:
    """Return the target that a variable such as `"prompt/system:prompt.md"` belongs to."""
    part = variable.partition(":")[0]
    if part == ANSWER:
        return "answer"
    return "solution" if part in _SOLUTION else part.partition("/")[0]


def chosen_variables(candidate: Candidate, targets: Iterable[Editable]) -> dict[str, str]:
    """Return the variables of a candidate that belong to the targets: name to text.

    Among manifests only those of tools count: solvers see their descriptions and arguments.
    """
    wanted = set(targets)
    return {
        name: text
        for name, text in variables(candidate).items()
        if target_of(name) in wanted and (target_of(name) == "tool" or not name.endswith(f":{ABOUT}"))
    }


def new_variables(candidate: Candidate, targets: Iterable[Editable]) -> list[str]:
    """Return the names that may be added; `NAME` stands for any name and `PATH` for any path."""
    targets = tuple(targets)
    names = [name for target in targets for name in _NEW[target]]
    # One program drives a candidate, so a solver excludes a player.
    driven = any(part.startswith("agent/") for part in candidate.parts)
    solver = candidate.parts.get(SOLVER)
    inside = "agent" in targets and solver is not None and manifest_of(solver, SOLVER).evolvable
    return [
        *(
            name
            for name in names
            if name.partition(":")[0] not in candidate.parts and not (driven and name.startswith("agent/"))
        ),
        *(_INSIDE if inside else ()),
    ]


def may_be_added(variable: str, new: Iterable[str]) -> bool:
    """Return True if a variable matches a name or placeholder in `new_variables`."""
    patterns = (re.escape(name).replace("NAME", "[^/:]+").replace("PATH", ".+") for name in new)
    return any(re.fullmatch(pattern, variable) for pattern in patterns)


class UnchangedError(ConfigError):
    """Edits that were understood and leave everything as it is."""


def checked_edits(candidate: Candidate, targets: Iterable[Editable], edits: Mapping[str, str | None]) -> Candidate:
    """Return the candidate after edits within the targets.

    Raises:
        ConfigError: if a variable does not belong to the targets, a text cannot be stored, nothing changes, a part
            would no longer be evolvable, or the result cannot be built.
        UnknownNameError: if the variable does not exist and may not be added; suggests the nearest.
    """
    targets = tuple(targets)
    chosen, new = chosen_variables(candidate, targets), new_variables(candidate, targets)
    for name, text in edits.items():
        _check_name(candidate, name, chosen, new, targets)
        try:
            (text or "").encode()
        except UnicodeEncodeError as error:
            raise ConfigError(f"the new text of {name} cannot be stored: {error}") from error
    made = with_variables(candidate, edits)
    if made == candidate:
        raise UnchangedError("these edits change nothing; give texts that differ")
    for name, part in made.parts.items():
        if name in candidate.parts and part != candidate.parts[name] and not manifest_of(part, name).evolvable:
            raise ConfigError(f"{name} would no longer be evolvable; leave `evolvable` in its {ABOUT} as it is")
    return made


def _check_name(
    candidate: Candidate, name: str, chosen: Mapping[str, str], new: list[str], targets: tuple[Editable, ...]
) -> None:
    if name in chosen:
        return
    part, _, path = name.partition(":")
    if part in candidate.parts and not manifest_of(candidate.parts[part], part).evolvable:
        raise ConfigError(f"{part} is not evolvable, so {path} of it stays as it is")
    if "/" in part and target_of(name) not in targets:
        raise ConfigError(f"{name} is no target of this evolution, which is to change {', '.join(targets)} only")
    code = part.partition("/")[0] in ("tool", "agent") and part in candidate.parts and path
    if not code and not may_be_added(name, new):
        raise UnknownNameError("variable", name, [*chosen, *new])
