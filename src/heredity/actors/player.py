"""Players: what a candidate plays worlds with — a program in the sandbox, or a language model that reasons and acts (ReAct).

A player's candidate has these parts; a solver's other parts mean the same here:

- `agent/player`: `agent.py` with a class `Player`, made with `instruction`, `actions`, `prompts` and `memories`; its method
  `act(observation)` returns an action, `{"action": name, "params": {...}}`. It is run in the sandbox, where it may ask for a
  model's reply and for the candidate's tools (see `heredity.actors.program`).
- `prompt/system`: without a program, a language model plays with these words. `{{instruction}}`, `{{actions}}`, `{{memory}}`
  and `{{form}}` are replaced by the world's instruction, its actions and symbols, the memories, and how to answer; what has
  no place follows at the end.
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

from heredity.actors.contract import Programs, Service, ToolResult
from heredity.actors.conversation import Conversation, NoAnswerError
from heredity.actors.parts import Parts, fill, read_parts
from heredity.actors.program import Services
from heredity.actors.react import FORM, parse_action
from heredity.errors import CandidateError, ConfigError
from heredity.gateway import Image, Message
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import check_candidate, files_of
from heredity.results.status import Status
from heredity.worlds.contract import RefusedError

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
"""The words of a player that has none of its own."""

_ANSWER = f"""\
How to answer. First write notes to yourself inside <thinking_memory></thinking_memory>: what you have learned, where you stand,
what you will try next. At the next turn you get back these notes and your last actions, and nothing else of what you wrote.
Then give exactly one action, in this form:
{FORM}"""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a player is given at a turn.

    Attributes:
        text: what it reads, `""` if it sees a picture.
        picture: what it sees, as PNG; empty if it reads.
        message: what the last action led to.
        paid: what it paid, in the world's own unit.
        t: steps taken so far; `steps`: how many there are at most.
    """

    text: str
    picture: bytes
    message: str
    paid: float
    t: int
    steps: int

    @property
    def words(self) -> str:
        """All of it as one text: a picture as a data URI on the first line."""
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
    """What a player does.

    Attributes:
        given: the action as it gave it; a `RefusedError` if it could not be read.
        thought: its notes to itself.
    """

    given: object
    thought: str = ""


class PlayerFailedError(CandidateError):
    """A player's program failed; `status` is the category of the failure, `traceback` shows the author's own lines."""

    def __init__(self, status: Status, message: str, traceback: str = "") -> None:
        self.status, self.traceback = status, traceback
        super().__init__(message)


class Player(Protocol):
    """Plays one episode."""

    async def act(self, sight: Sight) -> Move:
        """Return what to do.

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
        """What came of making the object."""
        ...

    async def call(self, method: str, arguments: Mapping[str, Any], *, seconds: float) -> ToolResult:
        """Call a method of the object."""
        ...


class KeepingPrograms(Programs, Protocol):
    """A sandbox that can also keep a program's object: `heredity.rollouts.programs.SandboxedPrograms`."""

    def open(
        self,
        tree: SourceTree,
        make: str,
        arguments: Mapping[str, Any],
        *,
        services: Mapping[str, Service] | None = None,
    ) -> AbstractAsyncContextManager[KeptProgram]:
        """Return a process that keeps what `module:Class` makes."""
        ...


def read_player(candidate: Candidate) -> Parts:
    """Read a player's candidate; `program` of the parts is that of `agent/player`. Nothing of it is run.

    Raises:
        ConfigError: if a part cannot be built, or is none that a player has.
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
    """Return the candidate to start from: a language model with our words and nothing learned."""
    return Candidate({"prompt/system": SourceTree({"prompt.md": WORDS})})


@dataclass
class ReactPlayer:
    """A language model that is asked once for every step. What it is shown is bounded, however long the episode.

    Args:
        parts: its prompts and memories.
        instruction_parts: the world's instruction, and its actions and symbols, in words.
        conversation: the conversation of the rollout.
        recent: how many of its last actions it is shown.
    """

    parts: Parts
    instruction_parts: tuple[str, str]
    conversation: Conversation
    recent: int = 10
    _notes: str = ""
    _last: str = ""
    _done: deque[str] = field(default_factory=deque[str])

    async def act(self, sight: Sight) -> Move:
        """Ask for an action; one that cannot be read is refused, and the model is told why. Raises as `Player.act`."""
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
        services: what it may ask for: `Solving.max_turns` replies of the model for each action.
        seconds: wall seconds of one action, waiting for services not counted.

    Attributes:
        stdout: what it printed, bounded; likewise `stderr`.
        act_s: wall seconds that it took in all.
    """

    program: KeptProgram
    services: Services
    seconds: float
    stdout: str = ""
    stderr: str = ""
    act_s: float = 0.0

    def check(self) -> None:
        """Raise what came of opening the program.

        Raises:
            PlayerFailedError: if it could not be imported or its `Player` not be made.
        """
        self._take(self.program.opened, _OPENING, Status.INIT_ERROR)

    async def act(self, sight: Sight) -> Move:
        """Ask the program for an action. Raises as `Player.act`."""
        self.services.asked = 0
        result = await self.program.call("act", {"observation": sight.words}, seconds=self.seconds)
        if self.services.fatal is not None:
            raise self.services.fatal
        self._take(result, _ACTING, Status.ACT_ERROR)
        return Move(result.value)

    def _take(self, result: ToolResult, categories: Mapping[str, Status], otherwise: Status) -> None:
        self.stdout, self.stderr = (self.stdout + result.stdout)[:_OUTPUT], (self.stderr + result.stderr)[:_OUTPUT]
        self.act_s += result.seconds
        if result.error:
            status = categories.get(result.error, otherwise)
            raise PlayerFailedError(status, f"{result.error}: {result.message}", result.traceback)
