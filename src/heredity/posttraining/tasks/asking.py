"""How a model is asked in a game: with all that has happened, or with nothing but the game as it is now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from heredity.posttraining.tasks.env.rollout import Transcript, Turn, read_reply
from heredity.posttraining.tasks.episodes import DIALOGUE, GLIMPSE


class Asking(Protocol):
    """One episode as its player meets it."""

    @property
    def shown(self) -> str:
        """What the player is shown now."""
        ...

    def action(self, reply: str) -> str:
        """Return the action of a reply, which may be any text."""
        ...

    def follow(self, observation: str) -> None:
        """Take in what that action led to."""
        ...


class Dialogue:
    """All that has happened is shown, as `env.rollout.play` shows it; a reply is a thought and an action.

    Args:
        opening: the first observation.
    """

    def __init__(self, opening: str) -> None:
        self._transcript, self._reply = Transcript(opening), ("", "")

    @property
    def shown(self) -> str:
        """What has happened, the oldest steps left out where there are too many."""
        return f"{self._transcript.text()}\n"

    def action(self, reply: str) -> str:
        """Read an action (see `Asking.action`)."""
        self._reply = read_reply(reply)
        return self._reply[1]

    def follow(self, observation: str) -> None:
        """Take in an observation (see `Asking.follow`)."""
        self._transcript.turns.append(Turn(*self._reply, observation))


class Glimpse:
    """The last observation is shown, which says all that matters; a reply is the action.

    Args:
        opening: the first observation.
    """

    def __init__(self, opening: str) -> None:
        self.shown = opening

    def action(self, reply: str) -> str:
        """Read an action (see `Asking.action`)."""
        return reply

    def follow(self, observation: str) -> None:
        """Take in an observation (see `Asking.follow`)."""
        self.shown = observation


ASKING: Mapping[str, Callable[[str], Asking]] = {DIALOGUE: Dialogue, GLIMPSE: Glimpse}
"""The kind of a taskset of games to how a model is asked in them; made of the first observation."""
