"""Prompts for the stages of a world before it is built (AutoEnv, section 3.2, appendix B.7)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from heredity._core.errors import ConfigError, RecordError
from heredity._core.outside import ANY_SIZE, json_value, read_text
from heredity._core.refusals import reading
from heredity.kinds.world.compose.composing import compose, description_text
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.themes import Theme, avoided, name_themes
from heredity.models import Model, Request, Usage
from heredity.models.contract import NOTHING_USED

PURPOSE = "optimisation"
_ROUNDS = 4
"""Maximum requests for missing themes."""
_LINE = re.compile(r"^\s*(?:[-*]|\d+[.)])\s+(.+?)\s*$", re.MULTILINE)
_MOST_OTHERS = 200


@dataclass(frozen=True, slots=True)
class Review:
    """A review: its full `text`, and the `theme` made precise, empty if there is none."""

    text: str
    theme: str


class _Reply(BaseModel):
    """A line of the file."""

    key: str
    text: str
    usage: Usage


class Preparation:
    """A model for questions about themes; its replies are saved in a file and reused.

    Args:
        model: the model.
        path: the file, one line of JSON per reply.

    Attributes:
        used: usage of all replies, earlier processes included.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self._model, self._path = model, path
        self._kept: dict[str, str] = {}
        self.used: Usage = NOTHING_USED
        lines: list[str] = []
        if path.exists():
            with reading(path, "text", "delete it to ask its questions again"):
                lines = read_text(path, ANY_SIZE).split("\n")
        for line in lines:
            with suppress(ValueError):  # Truncated by a kill, or not a reply; ask again.
                reply = _Reply.model_validate(json_value(line))
                self._kept[reply.key], self.used = reply.text, self.used + reply.usage

    async def text(self, key: str, prompt: str) -> str:
        """Return the saved reply for a key, or ask the model.

        Raises:
            ProviderError: if the model fails to answer.
            RecordError: if the reply cannot be saved.
        """
        if key not in self._kept:
            reply = await self._model.reply(Request.of(prompt, purpose=PURPOSE))
            line = json.dumps({"key": key, "text": reply.text, "usage": reply.usage.to_json()})
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(f"\n{line}")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise RecordError(f"{self._path} cannot be written: {error.strerror}; make room and retry") from error
            self._kept[key], self.used = reply.text, self.used + reply.usage
        return self._kept[key]

    async def proposed(self, count: int, others: Collection[str], taken: Collection[str] = ()) -> dict[str, Theme]:
        """Return new themes, by name.

        Args:
            count: number of themes.
            others: themes and worlds to avoid.
            taken: names already in use.

        Raises:
            ConfigError: if the model proposes too few after several requests.
        """
        themes: dict[str, Theme] = {}
        for number in range(_ROUNDS):
            rejected = [*others, *(theme.theme for theme in themes.values())]
            answer = await self.text(f"propose/{count}/{number}", _propose_request(count - len(themes), rejected))
            lines = [line for line in _LINE.findall(answer) if any(character.isalpha() for character in line)]
            fresh = name_themes(lines, self._model.name, [*taken, *themes])
            repeated = avoided(fresh, rejected)
            fresh = {name: theme for name, theme in fresh.items() if name not in repeated}
            themes.update(dict(list(fresh.items())[: count - len(themes)]))
            if len(themes) == count:
                return {name: theme.model_copy(update={"source": "proposed"}) for name, theme in themes.items()}
        raise ConfigError(
            f"{self._model.name} proposed only {len(themes)} new themes of {count} in {_ROUNDS} requests; request fewer or "
            "pass some"
        )

    async def reviewed(self, name: str, theme: Theme) -> Review:
        """Return the review of a theme."""
        text = await self.text(f"review/{name}/{theme.digest[:12]}", review_request(theme.theme))
        return Review(text, precise_theme(text))


def _propose_request(count: int, others: Collection[str]) -> str:
    listed = "\n".join(f"- {other.splitlines()[0][:160]}" for other in list(others)[:_MOST_OTHERS]) or "- nothing yet"
    return f"""Task: propose

Propose {count} themes for small text worlds whose rules a program can follow: a place, who acts there, what is to be reached, what
is in the way, what pays. They should differ from each other in how they are played, and not repeat what there is already. Answer
with {count} lines that begin with `- `, each a theme of one or two sentences.

What there is already:

{listed}
"""


def with_review(theme: Theme, text: str, by: str) -> Theme:
    """Return a reviewed theme; unless stated otherwise, it was not made precise.

    Raises:
        ConfigError: if the reviewed text is not a theme.
    """
    if not text.strip():
        return theme
    made: Mapping[str, Theme] = name_themes([text.strip()], "the review")
    return next(iter(made.values())).model_copy(update={"source": theme.source, "reviewed": by})


REVIEW, DESIGN, THEME = "review.md", "design.md", "theme.md"
"""Files of the stages; each version is kept with its build."""
PRECISE = "## Theme"
"""Marker line before the precise theme in a review."""
_EXAMPLE = 7
"""Name of the composed world shown as an example."""


@cache
def guide() -> str:
    """Return instructions for writing a `world.yaml` that passes the gates, with an example."""
    text = Path(__file__).with_name("guide.md").read_text(encoding="utf-8")
    example = description_text(compose(Recipe(_EXAMPLE)).description)
    return f"{text}\n## An example\n\nIts texts, rules and goal are not to be repeated.\n\n```yaml\n{example}```\n"


def review_request(theme: str) -> str:
    """Return the prompt for a review of a theme."""
    return f"""Task: review

A small text world is to be made from the theme below, in rules that a program can follow. Review the theme before anybody begins.

1. List what is ambiguous: what could be understood in two ways and would give two different worlds.
2. List what is abstract: what names no state, no action and no number that rules could hold on to.
3. List what is redundant: what says a thing twice, or adds words and no rule.
4. Then, under a line `{PRECISE}`, write the theme anew: the goal, what is seen and hidden, the actions, the mechanisms and what
   pays, with numbers.

The theme:

{theme}
"""


def precise_theme(review: str) -> str:
    """Return the precise theme in a review; empty if there is none."""
    return review.partition(PRECISE)[2].strip()


def design_request(theme: str, world: str) -> str:
    """Return the prompt for a design."""
    return f"""Task: design

Design a small text world named `{world}` on the theme below. Write a page of Markdown with these headings, and be definite:
background, goal, state (each variable with its range, and whether it is hidden), actions (with parameters, and when they are
refused), transition, rewards, observation, termination, what is special about it, what differs between levels. Situations must be
few enough to be searched: prefer small numbers.

The theme:

{theme}
"""


def rules_request(theme: str, design: str, world: str, gates: str, builds: int | None) -> str:
    """Return the prompt that starts the conversation in which the world is written and repaired."""
    left = "" if builds is None else f" You have {builds} builds."
    return f"""Task: rules

Write the world named `{world}` as `world.yaml`, with the tools; `meta.name` is `{world}`. Then call `build`: it makes the levels
and executes the gates {gates}. Read what they found, mend it, and build again until all of them pass; then call
`finish`.{left} Other gates follow that tell you nothing.

The theme:

{theme}

The design:

{design}
"""
