"""MiniGrid: symbolic grid worlds with a partial view, in which doors, keys and objects have an order."""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import EnvironmentSpec, Family

FAMILY = Family(
    "minigrid",
    notes="""
- Observation, a dict: `image`, (7, 7, 3) uint8, what the agent sees, indexed [x, y]: it stands at [3, 6] and looks
  towards y = 0; walls and closed doors hide what is behind them. Channel 0 is the object (0 unseen, 1 empty, 2
  wall, 3 floor, 4 door, 5 key, 6 ball, 7 box, 8 goal, 9 lava), channel 1 the colour (0 red, 1 green, 2 blue, 3
  purple, 4 yellow, 5 grey), channel 2 the state of a door (0 open, 1 closed, 2 locked); what the agent carries is
  shown in its own cell. `direction`: 0 right, 1 down, 2 left, 3 up. `mission`: the task as text.
- Action: 0 turn left, 1 turn right, 2 go forward, 3 pick up, 4 drop, 5 toggle (open, unlock), 6 done. They act on
  the cell in front.
- Reward: 1 - 0.9 · steps / limit on success, else 0; so returns lie in [0, 1].

The seed draws the layout. Source: minigrid.
""",
    extra="minigrid",
    modules=("minigrid",),
    requires=("minigrid",),
    packages=("gymnasium", "minigrid"),
    group="synthesis",
)

_CORE16 = {
    "MiniGrid-DoorKey-16x16-v0": (
        1000,
        "Find the key in a 16 by 16 room divided by a wall, unlock the door in the wall, and reach the goal "
        "on the other side."
        "The horizon is 1000 steps; the reward still counts steps against the environment's own limit of 2560.",
    ),
    "MiniGrid-KeyCorridorS4R3-v0": (
        480,
        "Pick up the ball behind a locked door. The key lies in one of the other rooms along a corridor; each "
        "room is 4 by 4.",
    ),
    "MiniGrid-FourRooms-v0": (
        100,
        "Reach the goal in a 19 by 19 maze of four rooms joined by gaps. Start, goal and gaps are random.",
    ),
    "MiniGrid-ObstructedMaze-1Q-v1": (
        720,
        "Pick up the blue ball in one quarter of a maze of rooms. Doors are locked, keys are hidden in boxes, "
        "and balls stand in"
        "front of doors.",
    ),
}

_OTHERS = {
    "MiniGrid-Empty-8x8-v0": (256, "Reach the goal in the opposite corner of an empty 8 by 8 room."),
    "MiniGrid-Empty-Random-6x6-v0": (144, "Reach the goal in an empty 6 by 6 room from a random start."),
    "MiniGrid-DoorKey-5x5-v0": (250, "Take the key, unlock the door and reach the goal, in 5 by 5."),
    "MiniGrid-DoorKey-8x8-v0": (640, "Take the key, unlock the door and reach the goal, in 8 by 8."),
    "MiniGrid-MultiRoom-N4-S5-v1": (80, "Pass four small rooms joined by closed doors; the goal is in the last."),
    "MiniGrid-MultiRoom-N6-v0": (120, "Pass six rooms joined by closed doors; the goal is in the last."),
    "MiniGrid-LavaGapS7-v0": (196, "Reach the goal through the one gap in a wall of lava. Lava ends the episode."),
    "MiniGrid-LavaCrossingS9N2-v0": (
        324,
        "Reach the goal across two streams of lava by their gaps. Lava ends the episode.",
    ),
    "MiniGrid-SimpleCrossingS9N3-v0": (324, "Reach the goal through the gaps of three walls."),
    "MiniGrid-Dynamic-Obstacles-8x8-v0": (
        256,
        "Reach the goal among balls that move at random. A collision gives -1 and ends the episode, so "
        "returns lie in [-1, 1]."
        "Only actions 0, 1 and 2 exist here.",
    ),
    "MiniGrid-Fetch-8x8-N3-v0": (
        320,
        "Pick up the one of three objects that the mission names. Another one ends the episode.",
    ),
    "MiniGrid-GoToDoor-8x8-v0": (256, "Stand next to the door that the mission names and do action 6."),
    "MiniGrid-GoToObject-8x8-N2-v0": (
        320,
        "Stand next to the one of two objects that the mission names and do action 6.",
    ),
    "MiniGrid-PutNear-8x8-N3-v0": (
        40,
        "Put one object next to another, both named by the mission. Picking up a wrong one ends the episode.",
    ),
    "MiniGrid-RedBlueDoors-8x8-v0": (1280, "Open the red door, then the blue one. The wrong order ends the episode."),
    "MiniGrid-MemoryS11-v0": (
        605,
        "Remember the object in the first room and go to the same one of two at the end of a corridor. The "
        "other one ends the"
        "episode.",
    ),
    "MiniGrid-MemoryS17Random-v0": (1445, "As MemoryS11, with a corridor of random length in a 17 by 17 grid."),
    "MiniGrid-LockedRoom-v0": (
        190,
        "The mission says in which of six rooms the key of the locked one lies; reach the goal in it.",
    ),
    "MiniGrid-KeyCorridorS3R3-v0": (270, "As KeyCorridorS4R3, with rooms of 3 by 3."),
    "MiniGrid-KeyCorridorS6R3-v0": (1080, "As KeyCorridorS4R3, with rooms of 6 by 6."),
    "MiniGrid-Unlock-v0": (288, "Find the key and open the locked door."),
    "MiniGrid-UnlockPickup-v0": (288, "Unlock the door and pick up the box in the next room."),
    "MiniGrid-BlockedUnlockPickup-v0": (576, "As UnlockPickup, with a ball that blocks the door."),
    "MiniGrid-ObstructedMaze-1Dlhb-v0": (
        288,
        "Pick up the blue ball in the next room. The door is locked and blocked by a ball, the key is hidden in a box.",
    ),
    "MiniGrid-ObstructedMaze-2Q-v1": (1584, "As ObstructedMaze-1Q, over two quarters of the maze."),
    "MiniGrid-ObstructedMaze-Full-v1": (3600, "As ObstructedMaze-1Q, over the whole maze."),
    "MiniGrid-DistShift1-v0": (252, "Reach the goal past two strips of lava; the layout is always the same."),
}

_CONSTANT = {"MiniGrid-Empty-8x8-v0", "MiniGrid-DistShift1-v0"}
_LOWEST = {"MiniGrid-Dynamic-Obstacles-8x8-v0": -1.0}


def _spec(env_id: str, steps: int, description: str, *, core16: bool) -> EnvironmentSpec:
    lowest = _LOWEST.get(env_id, 0.0)
    return FAMILY.spec(env_id, steps, lowest, description, core16=core16, constant=env_id in _CONSTANT)


SPECS = (
    *(_spec(env_id, steps, text, core16=True) for env_id, (steps, text) in _CORE16.items()),
    *(_spec(env_id, steps, text, core16=False) for env_id, (steps, text) in _OTHERS.items()),
)
