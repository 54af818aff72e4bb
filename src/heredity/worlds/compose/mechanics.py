"""Mechanics: parts of worlds, each a piece of description and rules, kept as YAML in `mechanics/`.

A file of mechanics has one `stage`, what its worlds are made on, and mechanics that stand on it; those of `common.yaml` stand on
all. Texts and rules name nouns of a vocabulary as `$word`, and what differs by the kind of reward as `«accumulative|binary»`. In
rules a line `earn(value)` pays, or counts towards what a binary world asks for; `<check>`, `<enter>` and `<tick>` are where other
mechanics put theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from heredity.outside import yaml_value
from heredity.worlds.description import SkinDescription

FOLDER = Path(__file__).with_name("mechanics")
COMMON = "common"
"""The file of mechanics that stand on every stage."""
_NOUN = re.compile(r"(\b[Aa] )?\$(\w+)")
_EITHER = re.compile(r"«([^«»|]*)\|([^«»]*)»")


class Told(BaseModel):
    """What a mechanic shows where nothing is hidden."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    let: str = ""
    observe: dict[str, str] = Field(default_factory=dict[str, str])
    line: str = ""


class Mechanic(BaseModel):
    """A mechanic, or the stage of a family of worlds.

    Attributes:
        stage: whether it is what the others stand on.
        goal: whether it says what pays; a stage that does not needs exactly one that does.
        reward: the kind of reward that it is for, if not both.
        barrier: whether it stands in the way.
        hidden: whether it hides something, so that it is for partial observation alone.
        inverse: whether it is what makes words mean the contrary; its constants are lists of which one is drawn.
        loops: whether it needs more than one way.
        deed: what a stage is mainly for, as `$deed` in the texts of common mechanics: its checks stand before that.
        mechanic: what it is called; the stage's own name where it adds none.
        hides: what is said in place of `told` where something may be hidden.
        make: statements of `levels.make`; `level`: what of it the level keeps.
        check: statements before anything is changed, `enter` after the main action, `tick` after every action.
        state: variables with `words`; `actions` with their rule `do`; `observe`, `let`, `line`: what is shown and how.
        last: statements of `let` that come after those of the others; `view`: the expression of the grid that is seen.
        pays: what pays, in words; `gain`: an expression by which rewards are multiplied, in the place of `<gain>`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: bool = False
    goal: bool = False
    reward: Literal["binary", "accumulative"] | None = None
    barrier: bool = False
    hidden: bool = False
    inverse: bool = False
    loops: bool = False
    deed: str = ""
    mechanic: str = ""
    capabilities: tuple[str, ...] = ()
    instruction: str = ""
    observation: str = ""
    hides: str = ""
    told: Told = Told()
    pays: str = ""
    gain: str = "1"
    termination: str = ""
    generator: str = ""
    steps: str = ""
    constants: dict[str, Any] = Field(default_factory=dict[str, Any])
    state: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    functions: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    actions: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    make: str = ""
    level: dict[str, str | int] = Field(default_factory=dict[str, str | int])
    check: str = ""
    enter: str = ""
    tick: str = ""
    let: str = ""
    last: str = ""
    view: str = ""
    observe: dict[str, str | int] = Field(default_factory=dict[str, str | int])
    line: str = ""
    legend: dict[str, str] = Field(default_factory=dict[str, str])
    colours: dict[str, str] = Field(default_factory=dict[str, str])
    swap: tuple[tuple[str, str], ...] = SkinDescription(text="").swap
    mirror: dict[str, tuple[float | str, float | str]] = Field(
        default_factory=dict[str, tuple[float | str, float | str]]
    )


@cache
def families() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return what is written of mechanics: family to name to fields, the common ones in each."""
    files = {path.stem: yaml_value(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}
    return {name: {**own, **files[COMMON]} for name, own in files.items() if name not in (COMMON, "themes")}


@cache
def common() -> frozenset[str]:
    """Return the names of the mechanics that stand on every stage."""
    return frozenset(yaml_value((FOLDER / f"{COMMON}.yaml").read_text(encoding="utf-8")))


@cache
def themes() -> Mapping[str, Mapping[str, str]]:
    """Return the vocabularies: name to what each noun is there."""
    return yaml_value((FOLDER / "themes.yaml").read_text(encoding="utf-8"))


@cache
def mechanics(family: str) -> Mapping[str, Mechanic]:
    """Return the mechanics of a family, nouns not yet put in."""
    return {name: Mechanic.model_validate(fields) for name, fields in families()[family].items()}


def worded(family: str, name: str, nouns: Mapping[str, str], reward: str) -> Mechanic:
    """Return a mechanic in the words of a vocabulary, for a kind of reward."""

    def noun(match: re.Match[str]) -> str:
        article, word = match.group(1) or "", match.group(2)
        value = nouns[word] if word in nouns else nouns[word.lower()][:1].upper() + nouns[word.lower()][1:]
        return (article.strip() + "n " if article and value[0].lower() in "aeiou" else article) + value

    def put(value: Any) -> Any:
        if isinstance(value, str):
            chosen = _EITHER.sub(lambda match: match.group(1 if reward == "accumulative" else 2), value)
            return _NOUN.sub(noun, chosen)
        if isinstance(value, dict):
            return {put(key): put(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return [put(inner) for inner in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]

    return Mechanic.model_validate(put(families()[family][name]))
