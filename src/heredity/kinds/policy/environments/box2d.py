"""Box2D: landing, walking and racing in a two-dimensional rigid-body simulator."""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import Family

FAMILY = Family(
    "box2d",
    notes="Source: gymnasium, Box2D.",
    extra="box2d",
    requires=("Box2D", "pygame"),
    packages=("gymnasium", "box2d"),
)

_LANDER = """
Land on the pad between two flags, at the origin, softly and upright.

- Observation, 8 float32: horizontal and vertical position (the pad is 0, 0), horizontal and vertical velocity,
  angle (rad), angular velocity, and 1 for each leg that touches the ground.
- Action{action}
- Reward each step: what a potential gains that falls with distance, speed and tilt and rises by 10 for each leg on
  the ground, less 0.3 (main) or 0.03 (side) a step for a burning engine. The episode ends with +100 at rest, with
  -100 on a crash or out of sight. 200 counts as solved. Rewards are not bounded below: random play gets -500 to 0
  and full engines down to -1300.
- The terrain and the first push come from the seed.
"""

_WALKER = """
Walk to the far end of {terrain} on two legs.

- Observation, 24 float32: hull angle (rad), its velocity, horizontal and vertical velocity; for each leg: hip angle
  and speed, knee angle and speed, ground contact; then 10 lidar distances. No position is given.
- Action, 4 float32 in [-1, 1]: motor of hip 1, knee 1, hip 2, knee 2.
- Reward each step: progress (about 300 for the whole way), less a cost for tilting the hull and for the use of
  motors. A fall (the hull touches the ground) gives -100 and ends the episode. Returns cannot be less than about
  {low}.
- The seed draws the terrain and the first push. The simulator keeps traces of earlier episodes, so each gets a new one.
"""

SPECS = (
    FAMILY.spec(
        "LunarLander-v3",
        1000,
        -1500.0,
        _LANDER.format(action=": 0 nothing, 1 left side engine, 2 main engine, 3 right side engine."),
    ),
    FAMILY.spec(
        "LunarLanderContinuous-v3",
        1000,
        -1500.0,
        _LANDER.format(
            action=", 2 float32 in [-1, 1]: the main engine (off below 0, then 50 to 100% of its power), the side\n"
            "  engines (off inside ±0.5; negative is the left one, positive the right)."
        ),
    ),
    FAMILY.spec(
        "BipedalWalker-v3",
        1600,
        -320.0,
        _WALKER.format(terrain="slightly uneven ground", low="-320"),
        core16=True,
        renew=True,
    ),
    FAMILY.spec(
        "BipedalWalkerHardcore-v3",
        2000,
        -370.0,
        _WALKER.format(terrain="ground with stumps, pits and stairs", low="-370"),
        renew=True,
    ),
    FAMILY.spec(
        "CarRacing-v3",
        1000,
        -200.0,
        """
Drive a car round a closed track, seen from above, as fast as possible.

- Observation: a picture, (96, 96, 3) uint8, with bars for speed, wheel slip, steering and rotation at the bottom.
- Action, 3 float32: steering in [-1, 1] (negative is left), gas in [0, 1], brake in [0, 1]. The car starts at rest
  on the track.
- Reward: -0.1 a frame, 1000 / tiles for each new tile of the track. 95% of the tiles in one lap end the episode;
  leaving the playing field gives -100 and ends it. Returns lie in [-200, 1000).
- The seed draws the track. A step is 0.02 s.
""",
        core16=True,
        group="synthesis",
        obs_storage="external",
        packages=("gymnasium", "box2d", "pygame-ce"),
        renew=True,
    ),
)
