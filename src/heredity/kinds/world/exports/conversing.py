"""A level as a conversation: the messages of an exported world, and the parsing of replies."""

from __future__ import annotations

from heredity._core.errors import RefusedError
from heredity.engine.react import FORM, parse_action
from heredity.kinds.world.episode import actions_text
from heredity.kinds.world.exports.playing import Play
from heredity.kinds.world.world import Level, World

_WORDS = """\
You act in a small world. At every turn you see it as it is now, and answer with one action. Some rules you may have to find out
by trying; watch what each action leads to.

{instruction}

{actions}

You may write notes to yourself inside <thinking_memory></thinking_memory>. Then give exactly one action, in this form:
{form}"""


def system_prompt(world: World) -> str:
    """Return a player's system prompt: the instruction, the actions, the symbols, and the answer format."""
    described = world.description
    return _WORDS.format(instruction=described.instruction.strip(), actions=actions_text(described), form=FORM)


class Conversation:
    """A level played in text.

    Args:
        world: the world.
        level: the level.
        skin: `text` or `inverse`.

    Attributes:
        said: the current message for the player.
        refused: number of replies that were not a possible action.
    """

    def __init__(self, world: World, level: Level, skin: str = "text") -> None:
        self.play, self._bound = Play(world, level.data, skin), level.upper_bound.value
        self.turn_text, self.refused = self._turn(""), 0

    @property
    def score(self) -> float:
        """Reward so far divided by the level's bound."""
        return self.play.episode.total / self._bound

    def answer(self, reply: str) -> bool:
        """Take a reply as an action; return True while the level continues. An unreadable reply is refused."""
        action = parse_action(reply)
        given = (
            RefusedError(action) if isinstance(action, str) else {"action": action.name, "params": dict(action.params)}
        )
        step = self.play.step(given)
        self.refused += step.refused
        paid = f"It paid {step.reward:g}." if step.reward else ""
        self.turn_text = self._turn(" ".join(filter(None, (step.message, paid))))
        return not self.play.episode.done

    def _turn(self, news: str) -> str:
        episode = self.play.episode
        shown = self.play.shown().rstrip("\n")
        return "\n\n".join(filter(None, (f"Turn {episode.t + 1} of {episode.steps}.", shown, news)))
