"""How a model plays a game of text: what it is asked at every step, how its reply is read, and a loop that plays one episode.

The model reasons and acts (ReAct, Yao et al. 2023): it replies with a thought and one action, is told what the action led to,
and is asked again with all of that. A question is one text, so models without a chat template can play as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

FORM = "Reply with two lines:\nThought: what you think, in a sentence\nAction: one action"
"""How a reply is to look; the thought may be left out."""

_ACTION = re.compile(r"^\s*action\s*:\s*(.*)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^\s*thought\s*:\s*(.*)$", re.IGNORECASE | re.MULTILINE)
_MAX_THOUGHT = 300
_MAX_ACTION = 1000


class Episode(Protocol):
    """One game. `steps` is how many actions there are at most."""

    steps: int

    def reset(self) -> str:
        """Begin, and return the first observation."""
        ...

    def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action; return the observation, the reward and whether the game has ended."""
        ...


@dataclass(frozen=True)
class Turn:
    """What a model did: its thought, its action, and what that led to."""

    thought: str
    action: str
    observation: str


@dataclass
class Transcript:
    """What has happened in an episode, and how the model is asked for the next step.

    Attributes:
        opening: the first observation, which is always shown.
        turns: what came after.
        chars: at most so much is shown of the turns; the oldest are left out first.
    """

    opening: str
    turns: list[Turn] = field(default_factory=list[Turn])
    chars: int = 4000

    def text(self) -> str:
        """Return it as the model reads it, from the opening to the last observation."""
        shown: list[str] = []
        left = self.chars
        for turn in reversed(self.turns):
            block = f"{written(turn.thought, turn.action)}\nObservation: {turn.observation}"
            left -= len(block)
            if left < 0 and shown:
                shown.append("(earlier steps are left out)")
                break
            shown.append(block)
        return "\n".join([f"Observation: {self.opening}", *reversed(shown)])


def asked(instruction: str, transcript: Transcript) -> str:
    """Return what the model is asked: what the game is, then what has happened."""
    return f"{instruction}\n\n{transcript.text()}\n"


def read_reply(text: str) -> tuple[str, str]:
    """Read thought and action out of a reply; without a line `Action: …`, its first line is the action, or `""`."""
    action = _ACTION.search(text)
    thought = _THOUGHT.search(text[: action.start()] if action else "")
    action_text = (
        action[1].strip() if action else next((line.strip() for line in text.splitlines() if line.strip()), "")
    )
    return (thought[1].strip()[:_MAX_THOUGHT] if thought else ""), action_text[:_MAX_ACTION]


def written(thought: str, action: str) -> str:
    """Return a thought and an action as a reply."""
    return f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}"


@dataclass
class Played:
    """An episode that was played: what the model was asked and replied at each step, and the sum of rewards."""

    asked: list[str] = field(default_factory=list[str])
    replies: list[str] = field(default_factory=list[str])
    rewards: list[float] = field(default_factory=list[float])
    done: bool = False

    @property
    def total(self) -> float:
        """The sum of the rewards."""
        return sum(self.rewards)


def play(episode: Episode, instruction: str, reply: Callable[[str], str]) -> Played:
    """Play one episode as it is played when a checkpoint is graded.

    Args:
        episode: the game.
        instruction: of the game's module, `INSTRUCTION`.
        reply: the model: what it is asked to what it replies.
    """
    transcript, played = Transcript(episode.reset()), Played()
    while not played.done and len(played.rewards) < episode.steps:
        question = asked(instruction, transcript)
        answer = reply(question)
        thought, action = read_reply(answer)
        observation, reward, played.done = episode.step(action)
        transcript.turns.append(Turn(thought, action, observation))
        played.asked.append(question)
        played.replies.append(answer)
        played.rewards.append(reward)
    return played


def following(steps: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """Return a model that replies with these thoughts and actions in turn, whatever it is asked."""
    coming = iter(steps)
    return lambda _: written(*next(coming))
