"""A world for models too small to read: the exposed values as one short line, each action as one character.

The skin's words are left out. Only the exposed values stay, in the order of the observation, so a character-level model
can learn a world in seconds. Larger models read the world like other players (see
`heredity.kinds.world.commands.training_examples`).
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Sequence
from typing import Any, cast

from heredity._core.errors import ConfigError, RefusedError
from heredity.kinds.world.contract import Action, LevelData
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.world import World

CHARACTERS = string.ascii_letters + string.digits
"""Characters of the actions, in the order of the description."""
ALPHABET = string.digits + string.ascii_letters + string.punctuation + " "
LONGEST = 480
"""Maximum length of a line, so that it fits a character-level model."""
_UNSEEN = ("steps", "message")


class Glimpses:
    """The encoding of a world in characters.

    Args:
        world: the world.

    Attributes:
        actions: every action by its character.

    Raises:
        ConfigError: if it has more actions than characters, or actions that cannot be listed.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        actions = list(itertools.islice(_every_action(world.description), len(CHARACTERS) + 1))
        if len(actions) > len(CHARACTERS):
            raise ConfigError(
                f"{world.name} has more than {len(CHARACTERS)} actions, but each needs a single character; "
                "take a model that reads: heredity worlds examples --form chat"
            )
        self.actions = dict(zip(CHARACTERS, actions, strict=False))
        self._characters = {_key(action): character for character, action in self.actions.items()}

    def shown(self, episode: Episode) -> str:
        """Return the line for the current state.

        Raises:
            ConfigError: if it is longer than `LONGEST`.
        """
        values = [_flat(value) for name, value in episode.observe().items() if name not in _UNSEEN]
        line = "".join(c if c in ALPHABET else "?" for c in "|".join(values)) + ">"
        if len(line) > LONGEST:
            raise ConfigError(
                f"{self._world.name} shows {len(line)} characters, more than {LONGEST}; take a model that reads: "
                "heredity worlds examples --form chat"
            )
        return line

    def read(self, reply: str) -> Action | RefusedError:
        """Return the action encoded by the first character of a reply."""
        action = self.actions.get(reply.strip()[:1])
        return RefusedError(f"{reply[:20]!r} does not encode an action") if action is None else action

    def demonstrated(self, data: LevelData) -> Iterator[tuple[str, str]]:
        """Yield each step's line and the reference solution's answer on a level."""
        episode = self._world.start(data)
        for action in self._world.levels.solve(data):
            if episode.done:
                return
            yield self.shown(episode), self._characters[_key(action)]
            episode.step(action)


def _key(action: Action) -> str:
    return repr((action.name, sorted(action.params.items())))


def _every_action(described: Description) -> Iterator[Action]:
    for name, action in described.actions.items():
        choices = [[(key, value) for value in _values(name, key, kind)] for key, kind in action.params.items()]
        for chosen in itertools.product(*choices):
            yield Action(name, dict(chosen))


def _values(name: str, key: str, kind: Parameter) -> Sequence[Any]:
    if kind.type == "choice":
        return kind.of
    if kind.type == "integer":
        return range(int(kind.low or 0), int(kind.high or 0) + 1)[: len(CHARACTERS) + 1]
    raise ConfigError(
        f"the {kind.type} {key} of {name} cannot be listed, so actions are not single characters; take a model that reads: "
        "heredity worlds examples --form chat"
    )


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(_flat(inner) for inner in cast(list[Any], value))
    if isinstance(value, dict):
        return ",".join(_flat(inner) for inner in cast(dict[str, Any], value).values())
    return f"{value:g}" if isinstance(value, float) else str(value)
