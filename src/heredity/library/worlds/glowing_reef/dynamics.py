"""The rules of `glowing_reef`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

COLOURS = ("red", "green", "blue", "violet")
SYMBOLS = "RGBV"
LONGEST = 4
"""The longest call, in pulses."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A passing animal: its kind, its call, the expected reply (colours by number), and the reward."""

    kind: str
    call: tuple[int, ...]
    reply: tuple[int, ...]
    worth: int

    def __deepcopy__(self, memo: object) -> Meeting:
        return self


@dataclass(slots=True)
class State:
    """The current animal, and the number of pulses given of its reply."""

    meetings: tuple[Meeting, ...]
    at: int
    given: int


def reply_to(call: Sequence[int], dialect: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the reply in a dialect: the call in another order, with each colour replaced by another.

    Args:
        call: colours by number.
        dialect: `order` is `"same"`, `"reversed"` or `"turned"` (the first comes last); `colours` maps each colour.
    """
    order = dialect["order"]
    pulses = list(call)[::-1] if order == "reversed" else [*call[1:], call[0]] if order == "turned" else list(call)
    return tuple(dialect["colours"][pulse] for pulse in pulses)


class GlowingReef(Dynamics[State]):
    """A row of animals, each with the dialect of its kind."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        meetings = tuple(
            Meeting(
                level["kinds"][meeting["kind"]]["name"],
                tuple(meeting["call"]),
                reply_to(meeting["call"], level["kinds"][meeting["kind"]]),
                meeting["worth"],
            )
            for meeting in level["meetings"]
        )
        return State(meetings, 0, 0)

    def act(self, state: State, action: Action) -> Outcome:
        """Flash a colour, watch a neighbour answer, or drift on."""
        meeting = state.meetings[state.at]
        if action.name == "flash":
            return self._flash(state, meeting, COLOURS.index(action.params["colour"]))
        if action.name == "watch":
            shown = ", ".join(COLOURS[pulse] for pulse in meeting.reply)
            return self._next(state, 0, f"Another {meeting.kind} answers it with {shown}. The two swim off.")
        return self._next(state, 0, f"You leave the {meeting.kind} behind.")

    def _flash(self, state: State, meeting: Meeting, colour: int) -> Outcome:
        wanted = meeting.reply[state.given]
        if colour != wanted:
            return self._next(state, 0, f"The {meeting.kind} flinches, glows {COLOURS[wanted]} once and is gone.")
        state.given += 1
        if state.given < len(meeting.reply):
            return Outcome(1.0, message=f"The {meeting.kind} brightens at your {COLOURS[colour]}.")
        return self._next(
            state,
            1 + meeting.worth,
            f"The {meeting.kind} glows all over: the reply is whole, and pays {meeting.worth}.",
        )

    @staticmethod
    def _next(state: State, paid: int, message: str) -> Outcome:
        state.at += 1
        state.given = 0
        return Outcome(float(paid), done=state.at == len(state.meetings), message=message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the animal and its call, the reply so far, and the next animals."""
        left = state.meetings[state.at :]
        if not left:
            return {"kind": "nobody", "worth": 0, "left": 0, "coming": "nobody", "grid": [".", "."]}
        now = left[0]
        coming = [f"a {m.kind} ({len(m.call)} pulses, worth {m.worth})" for m in left[1:4]]
        return {
            "kind": f"a {now.kind}",
            "worth": now.worth,
            "left": len(left),
            "coming": ", ".join(coming) or "nobody",
            "grid": [
                "".join(SYMBOLS[pulse] for pulse in now.call),
                "".join(SYMBOLS[pulse] for pulse in now.reply[: state.given]).ljust(len(now.call), "."),
            ],
        }


DYNAMICS = GlowingReef()
