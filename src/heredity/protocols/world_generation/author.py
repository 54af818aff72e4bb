"""`world-author`: the built-in author, a conversation of a model with files and a build tool.

It writes a review of the theme (optional), a design, then the rules with tools, and repairs them until the visible gates
pass (AutoEnv, section 3.2; prompts after appendix B.7). Works with any configured model (`gateway.optimisation`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from heredity._core.errors import ConfigError, RecordError
from heredity._core.outside import ANY_SIZE, json_value, read_text
from heredity._core.refusals import reading
from heredity.kinds.world.compose.composing import compose, description_text
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.gates.build import MAX_BYTES, WORLD
from heredity.kinds.world.themes import Theme, avoided, name_themes
from heredity.methods import EvolverContext, SessionContract, Trial
from heredity.methods.operators.evaluate import until_closed
from heredity.methods.registry import MethodOptions, parse_options
from heredity.models import Message, Model, Request, Sampling, ToolSpec, Usage
from heredity.models.contract import NOTHING_USED, ToolCall
from heredity.models.replies import value_in
from heredity.resources import Candidate, SourceTree

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
            reply = await self._model.reply(Request.of(prompt, purpose="optimisation"))
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


_SHOWN = 12_000
"""Maximum length of a tool's result, in characters."""
_NUDGES = 3
"""Maximum consecutive replies without a tool call."""


def _tool(name: str, description: str, **properties: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {key: {"type": "string", "description": text} for key, text in properties.items()},
        "required": list(properties),
    }
    return ToolSpec(name, description, schema)


_PATH = "the file's path, such as world.yaml"
TOOLS = (
    _tool("write_file", "Write a whole file.", path=_PATH, content="the whole content"),
    _tool(
        "replace",
        "Replace a part of a file that stands in it once.",
        path=_PATH,
        old="what stands there",
        new="what is to",
    ),
    _tool("read_file", "Read a file.", path=_PATH),
    _tool("list_files", "List the files and their sizes."),
    _tool("build", "Build the world from the files, execute the gates that may be shown, and return what they found."),
    _tool("finish", "End: the last of the best builds is what counts."),
)
"""The author's tools."""


class AuthorOptions(MethodOptions):
    """Options of the built-in author."""

    review: bool = Field(False, description="review the theme and make it precise first (AutoEnv, appendix B.7)")
    turns: int = Field(120, ge=1, le=10_000, description="maximum replies of the model in the conversation with tools")
    temperature: float | None = Field(None, ge=0, le=100, description="temperature of the model; its default if unset")


class WorldAuthor:
    """Writes and repairs a world on a theme, by a model with tools (AutoEnv, section 3.2)."""

    name = "world-author"
    options_model = AuthorOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Spend the session's builds.

        Raises:
            ConfigError: if no model is configured.
            ProviderError: if the model fails to answer.
        """
        options = parse_options(AuthorOptions, self.name, context.options)
        if context.model is None:
            raise ConfigError("world-author needs a model; set gateway.optimisation")
        asked = _Asked(context.model, Sampling(temperature=options.temperature, seed=context.seed))
        desk = Desk(session, dict(context.initial.agent.texts()), (context.initial.digest,))
        with until_closed():
            await _prepared(asked, desk, context, review=options.review)
            await _written(asked, desk, context, options.turns)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The author's model and its settings."""

    model: Model
    sampling: Sampling

    async def text(self, prompt: str) -> str:
        """Return its reply to a prompt."""
        return (await self.model.reply(Request.of(prompt, sampling=self.sampling, purpose="optimisation"))).text


async def _prepared(asked: _Asked, desk: Desk, context: EvolverContext, *, review: bool) -> None:
    """Write the files of the stages before the rules."""
    public = context.taskset.public
    theme = str(public["theme"])
    if review:
        desk.files[REVIEW] = await asked.text(review_request(theme))
        theme = precise_theme(desk.files[REVIEW]) or theme
    desk.files[THEME] = theme + "\n"
    desk.files[DESIGN] = await asked.text(design_request(theme, public["world"]))


async def _written(asked: _Asked, desk: Desk, context: EvolverContext, turns: int) -> None:
    """Let the model write and repair until it finishes or runs out of turns."""
    public = context.taskset.public
    first = rules_request(
        desk.files[THEME],
        desk.files[DESIGN],
        public["world"],
        ", ".join(public["gates"]),
        desk.session.remaining().submissions or desk.session.remaining().episodes,
    )
    messages = [Message("system", guide()), Message("user", first)]
    silent = 0
    for _ in range(turns):
        request = Request(tuple(messages), TOOLS, asked.sampling, purpose="optimisation")
        reply = await asked.model.reply(request)
        messages.append(reply.message)
        silent = 0 if reply.tool_calls else silent + 1
        if desk.finished or silent == _NUDGES:
            return
        messages += [Message("tool", await desk.call(call), tool_call_id=call.id) for call in reply.tool_calls]
        if desk.finished:
            return
        if not reply.tool_calls:
            messages.append(Message("user", "Nothing was called. Call write_file, replace, build, or finish."))


@dataclass
class Desk:
    """The author's files, and its access to the session.

    Attributes:
        session: runs the builds.
        files: path to text.
        parents: digests of the candidates that the next build derives from.
        builds: number of builds so far (0 at first).
        finished: True once the author ends.
    """

    session: SessionContract
    files: dict[str, str]
    parents: tuple[str, ...] = ()
    builds: int = 0
    finished: bool = False
    _answers: dict[str, str] = field(default_factory=dict[str, str])

    async def call(self, call: ToolCall) -> str:
        """Execute a tool call and return its result; an invalid call returns an error text instead of raising.

        Raises:
            ClosedError, BudgetError: if no builds are left.
        """
        tools = {tool.name: tool for tool in TOOLS}
        if call.name not in tools:
            return f"There is no tool {call.name!r}; there are {', '.join(tools)}."
        try:
            given: Any = value_in(call.arguments or "{}")
        except ConfigError as error:
            return f"The arguments of {call.name} are no JSON ({error}); nothing was done."
        wanted = list(tools[call.name].parameters["properties"])
        if not isinstance(given, Mapping) or any(not isinstance(given.get(key), str) for key in wanted):
            return f"{call.name} takes the texts {', '.join(wanted) or 'of nothing'}; nothing was done."
        result = await self._build() if call.name == "build" else self._on_files(call.name, given)
        return result if len(result) <= _SHOWN else f"{result[:_SHOWN]}\n[… {len(result) - _SHOWN} characters more]"

    def _on_files(self, name: str, given: Mapping[str, str]) -> str:
        path = given.get("path", "")
        if name == "finish":
            self.finished = True
            return "Done."
        if name == "list_files":
            return "\n".join(f"{path}: {len(text)} characters" for path, text in sorted(self.files.items())) or "None."
        if name == "write_file":
            return self._write(path, given["content"])
        if path not in self.files:
            return f"There is no file {path!r}; there are {', '.join(sorted(self.files)) or 'none'}."
        if name == "read_file":
            return self.files[path]
        count = self.files[path].count(given["old"]) if given["old"] else 0
        if count != 1:
            return f"That stands in {path} {count} times; give a part that stands there once."
        return self._write(path, self.files[path].replace(given["old"], given["new"]))

    def _write(self, path: str, text: str) -> str:
        files = {**self.files, path: text}
        if sum(map(len, files.values())) > MAX_BYTES:
            return f"The files would have more than {MAX_BYTES} characters; write less."
        try:
            SourceTree({name: _encodable(content) for name, content in files.items()})
        except ConfigError as error:
            return f"Nothing was written: {error}."
        self.files = files
        return f"{path} has {len(text)} characters now."

    async def _build(self) -> str:
        candidate = Candidate.program(SourceTree({path: _encodable(text) for path, text in self.files.items()}))
        if candidate.digest in self._answers:
            return f"Nothing has changed since that build, so none was made.\n{self._answers[candidate.digest]}"
        self.builds += 1
        note = f"build {self.builds}" + ("" if WORLD in self.files else f" without {WORLD}")
        trial = Trial(candidate, (0,), parents=self.parents, note=note)
        outcome = (await self.session.submit([trial], key=f"{WorldAuthor.name}/{self.builds}"))[0].outcomes[0]
        self.parents = (candidate.digest,)
        report = outcome.trajectory.stdout if outcome.trajectory is not None else ""
        failed = f"{outcome.status}: {outcome.failure.message}\n" if outcome.failure is not None else ""
        left = self.session.remaining().episodes
        self._answers[candidate.digest] = report or failed
        return f"{report or failed}{'' if left is None else f'{left} builds are left.'}"


def _encodable(text: str) -> str:
    """Return an encodable text; a model's may hold half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode()
