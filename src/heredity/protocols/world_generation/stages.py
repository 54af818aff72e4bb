"""Prompts for the stages of a world before it is built (AutoEnv, section 3.2, appendix B.7)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from heredity.kinds.world.compose.composed import description_text
from heredity.kinds.world.compose.composing import compose
from heredity.kinds.world.compose.recipe import Recipe

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
