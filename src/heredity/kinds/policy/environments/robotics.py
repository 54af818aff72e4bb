"""Gymnasium-Robotics: manipulation and mazes on MuJoCo; many tasks state their goal in the observation.

The tasks that turn an object in a hand (HandManipulate…) start the solver from the state left by the last episode,
which changes results in the fifteenth digit and then grows; each episode gets a new environment.
"""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import EnvironmentSpec, Family

FAMILY = Family(
    "robotics",
    notes="Positions are in metres, angles in radians. The seed draws start and goal. Source: gymnasium-robotics.",
    extra="robotics",
    modules=("gymnasium_robotics",),
    requires=("gymnasium_robotics", "mujoco"),
    packages=("gymnasium", "gymnasium-robotics", "mujoco"),
)

_GOAL = "a dict of `observation`, {obs} float64, `achieved_goal` and `desired_goal`, {goal} float64 each"
_BLOCK = (
    "gripper position, {thing} position, {thing} relative to the gripper, the two fingers, {thing} "
    "rotation (Euler angles), its "
    "relative and angular velocity, gripper and finger velocity"
)

_FETCH = """
{task}

- Observation, {obs}. `observation` holds {parts}. Goals are positions x, y, z.
- Action, 4 float32 in [-1, 1]: movement of the gripper in x, y, z (5 cm at most a step), opening of the
  gripper{gripper}.
- Reward each step: {reward}. The episode never ends early. Returns lie in [{low}, 0]. A step is 0.04 s.
"""

_SPARSE = "0 while the goal is reached within 5 cm, else -1"
_DENSE = "minus the distance to the goal"

_FETCH_TASKS = {
    "Reach": (
        "Move the gripper of a robot arm to a point in the air.",
        "gripper position, the two fingers and their velocities",
        10,
    ),
    "Push": (
        "Push a block to a point on the table with the closed gripper of a robot arm.",
        _BLOCK.format(thing="block"),
        25,
    ),
    "Slide": ("Hit a puck so that it slides to a point out of the arm's reach.", _BLOCK.format(thing="puck"), 25),
    "PickAndPlace": ("Lift a block to a point on the table or in the air.", _BLOCK.format(thing="block"), 25),
}


def _fetch(task: str, *, dense: bool) -> EnvironmentSpec:
    text, parts, size = _FETCH_TASKS[task]
    low = -100.0 if dense else -50.0
    description = _FETCH.format(
        task=text,
        obs=_GOAL.format(obs=size, goal=3),
        parts=parts,
        gripper="" if task == "PickAndPlace" else " (without effect: it stays closed)",
        reward=_DENSE if dense else _SPARSE,
        low=low,
    )
    core16 = task in ("Push", "PickAndPlace") and not dense
    return FAMILY.spec(f"Fetch{task}{'Dense' if dense else ''}-v4", 50, low, description, core16=core16)


_HAND = """
{task}

- Observation, {obs}. `observation` holds positions and
  velocities of the 24 joints, then velocity and pose of the object.
- Action, 20 float32 in [-1, 1]: target angles of the 20 actuated joints of a Shadow hand.
- Reward each step: 0 while the goal is reached within 1 cm and 0.1 rad, else -1. The episode never ends early. Returns
  lie in [-100, 0].
"""


def _hand(env_id: str, task: str) -> EnvironmentSpec:
    obs = _GOAL.format(obs=61, goal="7 (position, quaternion)")
    return FAMILY.spec(env_id, 100, -100.0, _HAND.format(task=task, obs=obs), renew=True)


_MAZE = """
Roll a ball through a {size} maze to a goal by forces; when it is reached, a new one is drawn.

- Observation, {obs}. `observation` holds x, y and the velocities; goals are x, y.
- Action, 2 float32 in [-1, 1]: force in x and y.
- Reward each step: {reward}. The episode never ends early. Returns lie in [0, {steps}].
"""


def _maze(name: str, size: str, steps: int, *, dense: bool = False) -> EnvironmentSpec:
    reward = "exp(-distance to the goal)" if dense else "1 within 0.45 m of the goal, else 0"
    text = _MAZE.format(size=size, obs=_GOAL.format(obs=4, goal=2), reward=reward, steps=steps)
    return FAMILY.spec(f"PointMaze_{name}{'Dense' if dense else ''}-v3", steps, 0.0, text)


_ANT_MAZE = """
Walk a four-legged robot through a {size} maze to a goal.

- Observation, {obs}. `observation` is that of Ant without its position; goals are x, y.
- Action, 8 float32 in [-1, 1]: torques on the eight joints, as in Ant.
- Reward each step: 1 within 0.45 m of the goal, else 0. The episode never ends early. Returns lie in [0, {steps}].
"""


def _ant_maze(name: str, size: str, steps: int) -> EnvironmentSpec:
    text = _ANT_MAZE.format(size=size, obs=_GOAL.format(obs=105, goal=2), steps=steps)
    return FAMILY.spec(f"AntMaze_{name}-v5", steps, 0.0, text)


_ADROIT = """
{task}

- Observation, {obs} float64: joint angles of a 24-joint hand on an arm, then poses of the palm, the objects and the
  target, and their differences.
- Action, {act} float32 in [-1, 1]: target positions of the joints, scaled to their ranges.
- Reward each step: {reward}. The episode never ends early. Random play gets about {random}.
"""


def _adroit(name: str, low: float, **text: str | int) -> EnvironmentSpec:
    return FAMILY.spec(f"AdroitHand{name}-v1", 200, low, _ADROIT.format(**text))


SPECS = (
    *(_fetch(task, dense=dense) for dense in (False, True) for task in _FETCH_TASKS),
    FAMILY.spec(
        "HandReach-v3",
        50,
        -50.0,
        f"""
Bring the five fingertips of a hand to given points.

- Observation, {_GOAL.format(obs=63, goal="15 (five points)")}. `observation` holds
  positions and velocities of the 24 joints, then the fingertips.
- Action, 20 float32 in [-1, 1]: target angles of the 20 actuated joints of a Shadow hand.
- Reward each step: 0 while the goal is reached within 1 cm, else -1. The episode never ends early. Returns lie in
  [-50, 0].
""",
    ),
    _hand("HandManipulateBlock-v1", "Turn a block in the hand to a given position and orientation."),
    _hand("HandManipulateEgg-v1", "Turn an egg-shaped object in the hand to a given position and orientation."),
    _hand("HandManipulatePen-v1", "Turn a pen in the hand to a given position and orientation."),
    _adroit(
        "Door",
        -100.0,
        task="Undo the latch of a door with a hand and swing it open.",
        obs=39,
        act=28,
        reward=(
            "up to +10 for opening the hinge in stages, minus small costs for distance to the handle, "
            "closedness and speed"
        ),
        random="-46",
    ),
    _adroit(
        "Hammer",
        -500.0,
        task="Pick up a hammer and drive a nail into a board.",
        obs=46,
        act=26,
        reward=(
            "bonuses for lifting the hammer and for driving the nail, minus distances of palm, hammer and "
            "nail from their goals"
        ),
        random="-265",
    ),
    _adroit(
        "Pen",
        -1500.0,
        task="Turn a pen in the hand to a given orientation without dropping it.",
        obs=45,
        act=24,
        reward="similarity of orientation minus distance, bonuses of 10 and 50 when close, -5 while the pen is dropped",
        random="-610",
    ),
    _adroit(
        "Relocate",
        -100.0,
        task="Pick up a ball and carry it to a given point.",
        obs=39,
        act=30,
        reward="bonuses for lifting the ball and for nearness to the target, minus distances of palm, ball and target",
        random="13",
    ),
    FAMILY.spec(
        "FrankaKitchen-v1",
        280,
        0.0,
        """
Complete seven household tasks in a kitchen with an arm: bottom and top burner, light switch, slide and hinge
cabinet, microwave, kettle.

- Observation, a dict: `observation`, 59 float64 (joints of arm and kitchen, their velocities, with noise),
  `achieved_goal` and `desired_goal`, each a dict of one array for each task.
- Action, 9 float64 in [-1, 1]: velocities of the seven joints and the two fingers.
- Reward: +1 for each task when it is completed. All tasks completed end the episode. Returns lie in [0, 7].
""",
    ),
    _maze("Open", "open", 300),
    _maze("UMaze", "U-shaped", 300),
    _maze("Medium", "medium", 600),
    _maze("Large", "large", 800),
    _maze("UMaze", "U-shaped", 300, dense=True),
    _ant_maze("UMaze", "U-shaped", 700),
    _ant_maze("Medium", "medium", 1000),
)
