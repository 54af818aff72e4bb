"""Toy text: small grid worlds and a card game with discrete states. They are part of gymnasium."""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import Family

FAMILY = Family("toy_text", notes="Source: gymnasium, toy text.")

_LAKE = """
Cross a frozen lake of {n} by {n} fields from the top left to the goal at the bottom right without falling into a hole.

- Observation: row · {n} + column, from 0 to {last}.
- Action: 0 left, 1 down, 2 right, 3 up. The ice is slippery: one time in three the move is as chosen, and as often
  it goes to either side at a right angle.
- Reward: +1 for reaching the goal, else 0. A hole or the goal ends the episode. Returns are 0 or 1.
- The map is always the same; the seed decides where one slips.
"""

_CLIFF = """
Walk along the edge of a cliff on a grid of 4 rows and 12 columns, from the lower left corner (36) to the lower
right (47).

- Observation: row · 12 + column, from 0 to 47.
- Action: 0 up, 1 right, 2 down, 3 left.{slip}
- Reward: -1 a step; stepping into the cliff (37 to 46) costs 100 and leads back to the start. Only the goal ends
  the episode, so the horizon is set here: 200 steps. Returns lie in [-20000, -13].
"""

SPECS = (
    FAMILY.spec(
        "Blackjack-v1",
        30,
        -1.0,
        """
Play one hand of blackjack against a dealer who draws up to 17, from an infinite deck.

- Observation, three integers: the player's sum, the dealer's open card (1 to 10, 1 is an ace), whether the player
  has an ace that counts 11.
- Action: 0 stand, 1 take a card.
- Reward at the end: +1 won, 0 drawn, -1 lost. Going over 21 loses at once. Returns lie in [-1, 1].
- No hand takes more than 22 decisions, so the horizon of 30 is never met.
""",
    ),
    FAMILY.spec("FrozenLake-v1", 100, 0.0, _LAKE.format(n=4, last=15)),
    FAMILY.spec("FrozenLake8x8-v1", 200, 0.0, _LAKE.format(n=8, last=63)),
    FAMILY.spec("CliffWalking-v1", 200, -20000.0, _CLIFF.format(slip=" Every move goes as chosen."), constant=True),
    FAMILY.spec(
        "CliffWalkingSlippery-v1",
        200,
        -20000.0,
        _CLIFF.format(slip=" One time in three the move is as chosen, and as often it goes to either side."),
    ),
    FAMILY.spec(
        "Taxi-v4",
        200,
        -2000.0,
        """
Drive a taxi on a 5 by 5 grid with walls: fetch the passenger at one of four stands and bring them to another.

- Observation, from 0 to 499: ((row · 5 + column) · 5 + passenger) · 4 + destination. Stands are 0 red (top left), 1
  green (top right), 2 yellow (bottom left), 3 blue (bottom, fourth column); passenger 4 is inside the taxi.
- Action: 0 south, 1 north, 2 east, 3 west, 4 pick up, 5 drop off. `info["action_mask"]` marks those that change
  something.
- Reward: -1 a step, +20 instead for delivering the passenger, which ends the episode, -10 instead for picking up or
  dropping off where that is not possible. Returns lie in [-2000, 20].
""",
    ),
)
