"""highway-env: decisions and control in road traffic."""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import Family

FAMILY = Family(
    "highway",
    notes="The seed draws the traffic. Source: highway-env.",
    extra="highway",
    modules=("highway_env",),
    requires=("highway_env",),
    packages=("gymnasium", "highway-env"),
)

_KINEMATICS = """- Observation, (5, 5) float32: one row for the own car, then one for each of the four nearest others:
  whether there is one, x, y, vx, vy, divided by their ranges {scale}. Others are given
  {frame}."""

_META = "- Action: 0 change lane to the left, 1 nothing, 2 change lane to the right, 3 faster, 4 slower."

_RELATIVE = _KINEMATICS.format(scale="and clipped to ±1", frame="relative to the own car")
_ABSOLUTE = _KINEMATICS.format(
    scale="(100 m, 15 m/s)", frame="in the same coordinates, with the centre of the roundabout as origin"
)

_HIGHWAY = """
Drive fast on a {lanes}-lane highway, keep right, and do not collide.

{obs}
{meta}
- Reward, in [0, 1] each step: high for speeds towards 30 m/s and for the right lanes; 0 or little for a collision,
  which ends the episode. Returns lie in [0, {steps}]. A step is 1 s.
"""

_ROUNDABOUT = """
Cross a roundabout with traffic quickly and without a collision.

{obs}
{meta}
- Reward each step: speed (0, 8 or 16 m/s) mapped to [0, 1], a little less for lane changes; a collision gives about
  0 and ends the episode. Returns lie in [-0.05, 11]. A step is 1 s; the horizon is 11 s.
{version}
"""

_TRACK_OBS = """- Observation, (2, 12, 12) float32: a grid of 3 m cells around the own car, turned with it: where cars
  are, where the road is.
- Action, 1 float32 in [-1, 1]: steering. The speed is kept."""

_RACETRACK = """
Follow {track} by steering alone, in the middle of the lane, without hitting the other car.

{obs}
- Reward each step, about [0, 1]: near 1 in the middle of the lane, less for steering, 0 off the road. A collision or
  leaving the road ends the episode. A step is 0.2 s; the environment itself stops after 1501 steps.
"""

SPECS = (
    FAMILY.spec("highway-v0", 40, 0.0, _HIGHWAY.format(lanes="four", obs=_RELATIVE, meta=_META, steps=40)),
    FAMILY.spec(
        "highway-fast-v0",
        30,
        0.0,
        _HIGHWAY.format(lanes="three", obs=_RELATIVE, meta=_META, steps=30)
        + "- A coarser and faster simulation of highway-v0 with fewer cars.\n",
    ),
    FAMILY.spec(
        "merge-v1",
        30,
        -1.0,
        f"""
Pass a junction where a car joins the road: keep speed, avoid a collision, make room.

{_RELATIVE}
{_META}
- Reward each step, about [0, 1]: high for speed and the right lane, less for lane changes and for making the joining
  car slow. A collision ends the episode, and its step may cost a little. The episode ends after 370 m. A step is 1 s; no
  episode meets the horizon.
""",
    ),
    FAMILY.spec(
        "roundabout-v0",
        11,
        -0.05,
        _ROUNDABOUT.format(
            obs=_ABSOLUTE, meta=_META, version="- Version 0 is kept for Core16; version 1 corrects the road network."
        ),
        core16=True,
    ),
    FAMILY.spec("roundabout-v1", 11, -0.05, _ROUNDABOUT.format(obs=_ABSOLUTE, meta=_META, version="")),
    FAMILY.spec(
        "parking-v0",
        500,
        -500.0,
        """
Park a car in a given bay of a walled car park with the given heading.

- Observation, a dict of `observation`, `achieved_goal` and `desired_goal`, 6 float64 each: x, y (100 m), vx, vy (5
  m/s), cos and sin of the heading.
- Action, 2 float32 in [-1, 1]: acceleration (±5 m/s²), steering (±45 degrees).
- Reward each step: -(|x| + 0.3·|y| + 0.02·|cos| + 0.02·|sin|)^0.5 of the difference to the goal, -5 for a
  collision. A reward above -0.12 is success; that or a collision ends the episode. Returns lie in [-500, 0). A step
  is 0.2 s.
""",
        core16=True,
    ),
    FAMILY.spec(
        "intersection-v2",
        13,
        -5.0,
        """
Turn left at a busy crossing by choosing the speed alone.

- Observation, (15, 7) float32: one row for each car, the own one first: presence, x, y (100 m), vx, vy (20 m/s),
  cos and sin of the heading, in absolute coordinates.
- Action: 0 slower, 1 nothing, 2 faster (0, 4.5 or 9 m/s).
- Reward each step: 0 to 1 for speeds of 7 to 9 m/s, 1 on arrival, about -5 for a collision; arrival and collision
  end the episode. Returns lie in [-5, 13]. A step is 1 s.
""",
    ),
    FAMILY.spec("racetrack-v1", 1501, -0.15, _RACETRACK.format(track="a winding closed track", obs=_TRACK_OBS)),
    FAMILY.spec("racetrack-oval-v1", 1501, -0.15, _RACETRACK.format(track="an oval track", obs=_TRACK_OBS)),
    FAMILY.spec(
        "exit-v1",
        18,
        0.0,
        """
Leave a busy six-lane highway by the exit on its right in time.

- Observation, (15, 7) float32: one row for each car, the own one first: presence, x, y, vx, vy, cos and sin of the
  heading.
- Action: 0 change lane to the left, 1 nothing, 2 change lane to the right, 3 faster, 4 slower (18, 24 or 30 m/s).
- Reward each step, in [0, 1]: 1 on the exit lane, else up to about 0.1 for speed. A collision ends the episode. A
  step is 1 s.
""",
    ),
    FAMILY.spec(
        "two-way-v0",
        15,
        0.0,
        f"""
Overtake on a two-way road with cars that come towards one.

- Observation, (3, 3, 5) float32 in [0, 1]: predicted occupancy by time to collision: speed, lane, time.
{_META}
- Reward each step, in [0, 1]: 0.8 for speed, 0.2 for the left lane. A collision ends the episode. Returns lie in
  [0, 15].
""",
    ),
    FAMILY.spec(
        "u-turn-v1",
        10,
        0.0,
        f"""
Drive through a U-turn fast without hitting slower cars.

- Observation, (3, 3, 16) float32 in [0, 1]: predicted occupancy by time to collision: speed, lane, time.
{_META}
- Reward each step, in [0, 1]: for speed and the left lane, 0 for a collision, which ends the episode. Returns lie
  in [0, 10].
""",
    ),
    FAMILY.spec(
        "lane-keeping-v0",
        200,
        -50000.0,
        """
Keep a car with the dynamics of a bicycle in the middle of a winding lane, from noisy measurements.

- Observation, a dict of `state`, `derivative` and `reference_state`, each (4, 1) float64: lateral position (m),
  heading (rad), lateral speed (m/s), yaw rate (rad/s), with a noise of ±0.05.
- Action, 1 float32 in [-1, 1]: steering (±60 degrees).
- Reward each step: 1 - (distance from the middle / lane width)². The episode never ends early. Returns are at most
  200; random play gets down to about -17000. A step is 0.1 s. It cannot be drawn.
""",
    ),
)
