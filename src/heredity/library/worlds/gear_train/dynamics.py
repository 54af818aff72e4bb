"""The rules of `gear_train`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

PLACES = ("driver", "idler", "driven")
SENSES = ("the same way as the crank", "against the crank")


@dataclass(slots=True)
class State:
    """Mounted gears (driver, idler, driven of each stage, 0 for nothing), gears in the box, and tries left."""

    mounted: list[int]
    box: list[int]
    tries: int
    frame: Frame


@dataclass(frozen=True, slots=True)
class Frame:
    """Constants of an episode: distances of the shafts in teeth, and the target of the last one."""

    distances: tuple[int, ...]
    ratio: Fraction
    against: bool
    fastest: int

    def __deepcopy__(self, memo: object) -> Frame:
        return self


def fault(mounted: Sequence[int], frame: Frame) -> str:
    """Return the first fault of a train, from the crank on; an empty text if it is right.

    Args:
        mounted: teeth of driver, idler and driven gear, stage by stage; 0 for none.
        frame: distances and the target.
    """
    speed, against = Fraction(1), False
    for stage, distance in enumerate(frame.distances):
        driver, idler, driven = mounted[3 * stage : 3 * stage + 3]
        if not driver or not driven:
            return f"Stage {stage + 1} lacks a driver or a driven gear; nothing behind it turns."
        reach = driver + 2 * idler + driven
        if reach != distance:
            what = "grind: too long" if reach > distance else "do not touch: too short"
            return f"The gears of stage {stage + 1} {what} by {abs(reach - distance)} teeth."
        speed, against = speed * driver / driven, against ^ (not idler)
        if speed > frame.fastest:
            return f"Behind stage {stage + 1} the shaft would turn {speed} times a turn, faster than it bears."
    if speed != frame.ratio:
        return f"The last shaft turns {speed} times for a turn of the crank."
    if against != frame.against:
        return f"The last shaft turns {speed} times, as it should, but {SENSES[against]}."
    return ""


class GearTrain(Dynamics[State]):
    """Shafts in a frame, and a box of gears."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        frame = Frame(tuple(level["distances"]), Fraction(*level["ratio"]), level["against"], level["fastest"])
        return State([0] * 3 * len(frame.distances), list(level["box"]), level["tries"], frame)

    def act(self, state: State, action: Action) -> Outcome:
        """Mount a gear, take one off, or turn the crank."""
        if action.name == "crank":
            return self._crank(state)
        stage, place = action.params["stage"], action.params["place"]
        if stage > len(state.frame.distances):
            raise RefusedError(f"There are stages 1 to {len(state.frame.distances)} only.")
        slot = 3 * (stage - 1) + PLACES.index(place)
        there, teeth = state.mounted[slot], 0
        if action.name == "mount":
            teeth = action.params["teeth"]
            if teeth not in state.box:
                raise RefusedError(f"There is no gear of {teeth} teeth in the box.")
            state.box.remove(teeth)
        elif not there:
            raise RefusedError(f"There is no {place} gear on stage {stage}.")
        state.mounted[slot] = teeth
        if there:
            state.box.append(there)
            state.box.sort()
        lines = [f"A gear of {teeth} teeth is mounted as {place} of stage {stage}."] if teeth else []
        if there:
            lines.append(f"The gear of {there} teeth is back in the box.")
        return Outcome(message=" ".join(lines))

    @staticmethod
    def _crank(state: State) -> Outcome:
        state.tries -= 1
        wrong = fault(state.mounted, state.frame)
        if not wrong:
            return Outcome(1.0, done=True, message="The train runs, and the last shaft turns just as it should.")
        return Outcome(done=not state.tries, message=wrong)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the frame, the mounted gears, and the box."""
        frame, mounted = state.frame, state.mounted
        return {
            "stages": [
                f"stage {stage + 1}: distance {distance}; driver {mounted[3 * stage] or '-'},"
                f" idler {mounted[3 * stage + 1] or '-'}, driven {mounted[3 * stage + 2] or '-'}"
                for stage, distance in enumerate(frame.distances)
            ],
            "box": [list(state.box)],
            "ratio": f"{frame.ratio.numerator}/{frame.ratio.denominator}",
            "sense": SENSES[frame.against],
            "fastest": frame.fastest,
            "tries": state.tries,
        }


DYNAMICS = GearTrain()
