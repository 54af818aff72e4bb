"""`world-author`: the built-in author, a conversation of a model with files and a build tool.

It writes an optional review of the theme, a design, then the rules with tools, and repairs them until the visible gates pass
(AutoEnv, section 3.2). Works with any configured model (`gateway.optimisation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from heredity._core.errors import ConfigError
from heredity.kinds.world.gates.build import MAX_BYTES, WORLD
from heredity.methods import EvolverContext, SessionContract, Trial
from heredity.methods.operators.evaluate import until_closed
from heredity.methods.registry import MethodOptions, parse_options
from heredity.models import Message, Model, Request, Sampling, ToolSpec
from heredity.models.contract import ToolCall
from heredity.models.replies import value_in
from heredity.protocols.world_generation import stages
from heredity.resources import Candidate, SourceTree

PURPOSE = "optimisation"
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
        return (await self.model.reply(Request.of(prompt, sampling=self.sampling, purpose=PURPOSE))).text


async def _prepared(asked: _Asked, desk: Desk, context: EvolverContext, *, review: bool) -> None:
    """Write the files of the stages before the rules."""
    public = context.taskset.public
    theme = str(public["theme"])
    if review:
        desk.files[stages.REVIEW] = await asked.text(stages.review_request(theme))
        theme = stages.precise_theme(desk.files[stages.REVIEW]) or theme
    desk.files[stages.THEME] = theme + "\n"
    desk.files[stages.DESIGN] = await asked.text(stages.design_request(theme, public["world"]))


async def _written(asked: _Asked, desk: Desk, context: EvolverContext, turns: int) -> None:
    """Let the model write and repair until it finishes or runs out of turns."""
    public = context.taskset.public
    first = stages.rules_request(
        desk.files[stages.THEME],
        desk.files[stages.DESIGN],
        public["world"],
        ", ".join(public["gates"]),
        desk.session.remaining().submissions or desk.session.remaining().episodes,
    )
    messages = [Message("system", stages.guide()), Message("user", first)]
    silent = 0
    for _ in range(turns):
        request = Request(tuple(messages), TOOLS, asked.sampling, purpose=PURPOSE)
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
        builds: number of builds so far.
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
