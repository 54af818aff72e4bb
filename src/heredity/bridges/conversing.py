"""A level as a conversation: what an exported world says at each turn, and how it reads the replies."""

from __future__ import annotations

from heredity.actors.react import FORM, parse_action
from heredity.bridges.playing import Play
from heredity.worlds.contract import RefusedError
from heredity.worlds.listing import actions_text
from heredity.worlds.world import Level, World

_WORDS = """\
You act in a small world. At every turn you see it as it is now, and answer with one action. Some rules you may have to find out
by trying; watch what each action leads to.

{instruction}

{actions}

You may write notes to yourself inside <thinking_memory></thinking_memory>. Then give exactly one action, in this form:
{form}"""


def system_prompt(world: World) -> str:
    """Return what a player is told before a level begins: the instruction, the actions, the symbols, and how to answer."""
    described = world.description
    return _WORDS.format(instruction=described.instruction.strip(), actions=actions_text(described), form=FORM)


class Conversation:
    """A level that is played in words.

    Args:
        world: the world.
        level: the level.
        skin: `text` or `inverse`.

    Attributes:
        said: what the player is told now.
        refused: how many replies were no possible action.
    """

    def __init__(self, world: World, level: Level, skin: str = "text") -> None:
        self.play, self._bound = Play(world, level.data, skin), level.upper_bound.value
        self.turn_text, self.refused = self._turn(""), 0

    @property
    def score(self) -> float:
        """What was collected so far over the level's bound."""
        return self.play.episode.total / self._bound

    def answer(self, reply: str) -> bool:
        """Take a reply as an action; return whether the level goes on. One that cannot be read is refused."""
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
