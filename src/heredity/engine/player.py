"""Players: candidates that play worlds, either a program in the sandbox or a language model that reasons and acts (ReAct).

A player's candidate has these parts; a solver's other parts mean the same here:

- `agent/player`: `agent.py` with a class `Player`, constructed with `instruction`, `actions`, `prompts` and
  `memories`; its method `act(observation)` returns an action, `{"action": name, "params": {...}}`. It runs in the
  sandbox, where it may request model replies and call the candidate's tools (see `heredity.engine.program`).
- `prompt/system`: without a program, a language model plays with this prompt. `{{instruction}}`, `{{actions}}`,
  `{{memory}}` and `{{form}}` are replaced by the world's instruction, its actions and symbols, the memories, and the
  answer format; values without a placeholder are appended.
"""

from __future__ import annotations

import base64
import json
import re
from collections import deque
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from heredity._core.errors import CandidateError, ConfigError, RefusedError
from heredity.engine.actor import Programs, Service, ToolResult
from heredity.engine.conversation import Conversation, NoAnswerError
from heredity.engine.parts import Parts, fill, read_parts
from heredity.engine.program import Services
from heredity.engine.react import FORM, parse_action
from heredity.models import Image, Message
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import check_candidate, files_of
from heredity.results.status import Status

PLAYER = "agent/player"
_GAP = re.compile(r"\n{3,}")
_MAX_NOTES = 4000
_OUTPUT = 64 << 10
_OPENING = {"timeout": Status.INIT_TIMEOUT, "oom": Status.OOM, "missing": Status.IMPORT_ERROR}
_ACTING = {"timeout": Status.ROLLOUT_TIMEOUT, "oom": Status.OOM}

WORDS = """\
You act in a small world. At every turn you see it as it is now, and answer with one action. Some rules you may have to find out
by trying; watch what each action leads to.

{{instruction}}

{{actions}}

{{memory}}

{{form}}"""
"""Default prompt of a player."""

_ANSWER = f"""\
How to answer. First write notes to yourself inside <thinking_memory></thinking_memory>: what you have learned, where you stand,
what you will try next. At the next turn you get back these notes and your last actions, and nothing else of what you wrote.
Then give exactly one action, in this form:
{FORM}"""


@dataclass(frozen=True, slots=True)
class Sight:
    """A player's input at one turn.

    Attributes:
        text: the observation as text, `""` if it is a picture.
        picture: the observation as PNG (empty if it is text).
        message: the result of the last action.
        paid: the reward of the last action (in the world's unit).
        t: steps taken so far; `steps`: maximum number of steps.
    """

    text: str
    picture: bytes
    message: str
    paid: float
    t: int
    steps: int

    @property
    def words(self) -> str:
        """All of it as one text, with a picture as a data URI on the first line."""
        shown = (
            f"data:image/png;base64,{base64.b64encode(self.picture).decode()}"
            if self.picture
            else self.text.rstrip("\n")
        )
        lines = [shown]
        if self.message and self.message not in self.text:
            lines.append(self.message)
        if self.paid:
            lines.append(f"The last action paid {self.paid:g}.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Move:
    """A player's action.

    Attributes:
        given: the action as received; a `RefusedError` if it could not be read.
        thought: its notes to itself.
    """

    given: object
    thought: str = ""


class PlayerFailedError(CandidateError):
    """A failure of a player's program; `status` is its category, `traceback` shows the author's own lines."""

    def __init__(self, status: Status, message: str, traceback: str = "") -> None:
        self.status, self.traceback = status, traceback
        super().__init__(message)


class Player(Protocol):
    """Plays one episode."""

    async def act(self, sight: Sight) -> Move:
        """Return an action.

        Raises:
            PlayerFailedError: if the candidate's program fails.
            HostError: if a provider or the sandbox fails.
            BudgetError: if the budget does not allow a model call.
        """
        ...


class KeptProgram(Protocol):
    """A sandboxed process that keeps an object."""

    @property
    def opened(self) -> ToolResult:
        """The result of constructing the object."""
        ...

    async def call(self, method: str, arguments: Mapping[str, Any], *, seconds: float) -> ToolResult:
        """Call a method of the object."""
        ...


class KeepingPrograms(Programs, Protocol):
    """A sandbox that can also keep a program's object; implemented by `heredity.engine.programs.SandboxedPrograms`."""

    def open(
        self,
        tree: SourceTree,
        make: str,
        arguments: Mapping[str, Any],
        *,
        services: Mapping[str, Service] | None = None,
    ) -> AbstractAsyncContextManager[KeptProgram]:
        """Return a process that keeps the object `module:Class` constructs."""
        ...


def read_player(candidate: Candidate) -> Parts:
    """Read a player's candidate without running it; `program` of the parts is that of `agent/player`.

    Raises:
        ConfigError: if a part is malformed or unknown to players.
    """
    check_candidate(candidate)
    parts = read_parts(Candidate({name: part for name, part in candidate.parts.items() if name != PLAYER}))
    if parts.program is not None:
        raise ConfigError(f"a player has no part agent/solver, which answers questions; name its program {PLAYER}")
    program = candidate.parts.get(PLAYER)
    if program is None:
        if parts.tools:
            raise ConfigError(
                f"a player without a program calls no tools; leave out tool/{parts.tools[0].name}, or add {PLAYER}"
            )
        return parts
    if "agent.py" not in program:
        raise ConfigError(f"{PLAYER} has no agent.py (it has {', '.join(program)}); add it, with a class Player")
    return replace(parts, program=files_of(program))


def plain_player() -> Candidate:
    """Return the default first candidate: a language model with the default prompt and empty memory."""
    return Candidate({"prompt/system": SourceTree({"prompt.md": WORDS})})


@dataclass
class ReactPlayer:
    """A language model called once per step. Its context is bounded for any length of the episode.

    Args:
        parts: its prompts and memories.
        instruction_parts: the world's instruction, and its actions and symbols, in words.
        conversation: the conversation of the rollout.
        recent: number of its last actions in the context.
    """

    parts: Parts
    instruction_parts: tuple[str, str]
    conversation: Conversation
    recent: int = 10
    _notes: str = ""
    _last: str = ""
    _done: deque[str] = field(default_factory=deque[str])

    async def act(self, sight: Sight) -> Move:
        """Request an action; an unreadable one is refused and the model gets the reason. Raises as `Player.act`."""
        if sight.t:
            paid = f", paid {sight.paid:g}" if sight.paid else ""
            self._done.append(f"{sight.t}. {self._last} -> {sight.message or 'done'}{paid}")
        system, turn = self._system(), self._turn(sight)
        try:
            reply = await self.conversation.ask([system, turn], [turn] if sight.t else [system, turn])
        except NoAnswerError as error:
            self._last = "(no answer)"
            return Move(RefusedError(f"There was no answer: {error}"))
        action = parse_action(reply.text)
        if isinstance(action, str):
            self._last = "(an answer that could not be read)"
            return Move(RefusedError(action))
        self._notes = action.memory[:_MAX_NOTES] or self._notes
        given = {"action": action.name, "params": dict(action.params)}
        self._last = json.dumps(given, ensure_ascii=False)[:500]
        return Move(given, action.memory)

    def _system(self) -> Message:
        instruction, actions = self.instruction_parts
        places = {"instruction": instruction, "actions": actions}
        places |= {"memory": "\n\n".join(self.parts.memories.values()), "form": _ANSWER}
        words = fill(self.parts.prompts.get("system", WORDS), places)
        return Message("system", _GAP.sub("\n\n", words))

    def _turn(self, sight: Sight) -> Message:
        while len(self._done) > self.recent:
            self._done.popleft()
        parts = [f"Turn {sight.t + 1} of {sight.steps}."]
        if self._done:
            parts.append("Your last actions and what they led to:\n" + "\n".join(self._done))
        if self._notes:
            parts.append(f"Your notes:\n{self._notes}")
        if sight.picture:
            parts.append("What you see now is the picture.")
            return Message("user", "\n\n".join(parts), (Image("image/png", sight.picture),))
        parts.append("What you see now:\n" + sight.text.rstrip("\n"))
        return Message("user", "\n\n".join(parts))


@dataclass
class ProgramPlayer:
    """A candidate's program, kept in the sandbox for one episode.

    Args:
        program: the open process.
        services: services it may request: `Solving.max_turns` model replies for each action.
        seconds: wall seconds per action, excluding time spent waiting for services.

    Attributes:
        stdout: printed text, bounded; likewise `stderr`.
        act_s: total wall seconds used.
    """

    program: KeptProgram
    services: Services
    seconds: float
    stdout: str = ""
    stderr: str = ""
    act_s: float = 0.0

    def check(self) -> None:
        """Raise the error of opening the program, if any.

        Raises:
            PlayerFailedError: if it could not be imported or its `Player` not be constructed.
        """
        self._take(self.program.opened, _OPENING, Status.INIT_ERROR)

    async def act(self, sight: Sight) -> Move:
        """Request an action from the program. Raises as `Player.act`."""
        self.services.asked, self.services.ended = 0, None
        result = await self.program.call("act", {"observation": sight.words}, seconds=self.seconds)
        if self.services.fatal is not None:
            raise self.services.fatal
        if result.error == "tool_error" and self.services.ended is not None:
            return Move(RefusedError(f"There was no answer: {self.services.ended}"))
        self._take(result, _ACTING, Status.ACT_ERROR)
        return Move(result.value)

    def _take(self, result: ToolResult, categories: Mapping[str, Status], otherwise: Status) -> None:
        self.stdout, self.stderr = (self.stdout + result.stdout)[:_OUTPUT], (self.stderr + result.stderr)[:_OUTPUT]
        self.act_s += result.seconds
        if result.error:
            status = categories.get(result.error, otherwise)
            raise PlayerFailedError(status, f"{result.error}: {result.message}", result.traceback)
