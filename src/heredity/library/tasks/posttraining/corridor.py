"""A game in a corridor: fetch the key, then go through the door, and do not step into a pit.

    .^k#.@..^..D^.

`@` is you, and `&` is you with the key; `k` the key, `D` the door, `^` a pit, `#` a rock, `.` nothing. The actions are
`l` and `r` for a step, `L` and `R` for a jump over one cell. A rock stops whoever would land on it, and the door
whoever has no key; nobody can jump over the door. The key has to be landed on.
"""

from __future__ import annotations

ACTIONS = "lrLR"
STEPS = 10
"""Most actions of a game."""


class Corridor:
    """One game. An unknown action passes the turn, and so does one that is stopped by a rock, the door or the end of the corridor.

    Args:
        level: the corridor at the beginning, such as `".^k#.@..^..D^."`.
    """

    def __init__(self, level: str) -> None:
        self.steps, self.size, self._start = STEPS, len(level), level.index("@")
        self.key, self.door = level.index("k"), level.index("D")
        self.ground = [thing if thing in "^#" else "." for thing in level]
        self.reset()

    def reset(self) -> str:
        """Begin, and return what is seen. A new game has started."""
        self.place, self.has_key, self.taken = self._start, False, 0
        self.done, self.score = False, 0.0
        return self.observation

    @property
    def observation(self) -> str:
        """The corridor as it is now: all that a player needs to know."""
        cells = list(self.ground)
        cells[self.door] = "D"
        if not self.has_key:
            cells[self.key] = "k"
        cells[self.place] = "&" if self.has_key else "@"
        return "".join(cells)

    def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action; return what is seen, 1 for going through the door or else 0, and whether the game has ended.

        At the end `done` is true, and `score` is 1 if the door was gone through, else 0; then nothing moves, and
        nothing is paid.
        """
        if self.done:
            return self.observation, 0.0, True
        self.move(action)
        return self.observation, self.score, self.done

    def move(self, action: str) -> None:
        """Take an action in a game that goes on, and look at nothing."""
        reach = {"l": -1, "r": 1, "L": -2, "R": 2}.get(action.strip(), 0)
        target = self.place + reach
        over_door = abs(reach) == 2 and self.place + reach // 2 == self.door
        stopped = not 0 <= target < self.size or over_door or (target == self.door and not self.has_key)
        if not stopped and self.ground[target] != "#":
            self.place = target
            self.has_key = self.has_key or target == self.key
        self.taken += 1
        self.score = float(self.place == self.door)
        self.done = bool(self.score) or self.ground[self.place] == "^" or self.taken >= STEPS
