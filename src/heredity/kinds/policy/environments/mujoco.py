"""MuJoCo, version 5 of gymnasium's robots. Returns change with the simulator's version, which is recorded."""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import Family

FAMILY = Family(
    "mujoco",
    notes=(
        "Positions are in metres, angles in radians, velocities per second; values are float64 without "
        "declared bounds. "
        "Starting positions and velocities are disturbed a little, by the seed. The terms of the reward "
        "are given in `info`. "
        "Source: gymnasium, MuJoCo."
    ),
    extra="mujoco",
    requires=("mujoco",),
    packages=("gymnasium", "mujoco"),
)

SPECS = (
    FAMILY.spec(
        "Ant-v5",
        1000,
        -3500.0,
        """
Make a four-legged robot run in the direction +x.

- Observation, 105 values: 13 positions (height, orientation as a quaternion w x y z, then hip and ankle of the legs
  front left, front right, back left, back right), 14 velocities (3 linear, 3 angular, 8 joints), 78 contact forces
  on the 13 bodies, clipped to ±1.
- Action, 8 float32 in [-1, 1]: torques on hip and ankle of the back right, front left, front right and back left leg.
- Reward each step: forward velocity, +1 while healthy, -0.5 · sum(action²), a small contact cost. The episode ends
  when the height leaves [0.2, 1.0]. Random play gets about -60 and full torques -3000; the lower bound is set below
  that.
""",
        core16=True,
        reward_components=("reward_forward", "reward_survive", "reward_ctrl", "reward_contact"),
    ),
    FAMILY.spec(
        "HalfCheetah-v5",
        1000,
        -1500.0,
        """
Make a two-legged flat runner run in the direction +x.

- Observation, 17 values: height and pitch of the front tip, angles of back thigh, shin, foot and front thigh, shin,
  foot; then the velocities: x, z, pitch and the six joints.
- Action, 6 float32 in [-1, 1]: torques on back thigh, shin, foot and front thigh, shin, foot.
- Reward each step: forward velocity, -0.1 · sum(action²). The episode never ends early. Random play gets about
  -290; running backwards gets less without a bound, and the lower bound is a convention.
""",
        core16=True,
        reward_components=("reward_forward", "reward_ctrl"),
    ),
    FAMILY.spec(
        "Hopper-v5",
        1000,
        -100.0,
        """
Make a one-legged robot hop in the direction +x.

- Observation, 11 values: height and angle of the torso, angles of thigh, leg and foot; then the velocities x, z,
  torso, thigh, leg, foot (clipped to ±10).
- Action, 3 float32 in [-1, 1]: torques on thigh, leg and foot.
- Reward each step: forward velocity, +1 while healthy, -0.001 · sum(action²). The episode ends when the height is
  below 0.7, the torso leans more than 0.2 rad, or a value leaves ±100. Random play gets 4 to 110.
""",
        reward_components=("reward_forward", "reward_ctrl", "reward_survive"),
    ),
    FAMILY.spec(
        "Humanoid-v5",
        1000,
        -100.0,
        """
Make a three-dimensional humanoid walk in the direction +x.

- Observation, 348 values: 22 positions (height, quaternion, 17 joints), 23 velocities, then inertia, velocity and
  forces of the bodies.
- Action, 17 float32 in [-0.4, 0.4]: torques on abdomen (3), right leg (4), left leg (4), right arm (3), left arm (3).
- Reward each step: 1.25 · forward velocity, +5 while healthy, -0.1 · sum(action²), a contact cost of at most 10.
  The episode ends when the height leaves [1.0, 2.0]. Random play gets 70 to 240.
""",
        reward_components=("reward_survive", "reward_forward", "reward_ctrl", "reward_contact"),
    ),
    FAMILY.spec(
        "HumanoidStandup-v5",
        1000,
        0.0,
        """
Make a humanoid that lies on its back stand up.

- Observation, 348 values: as in Humanoid.
- Action, 17 float32 in [-0.4, 0.4]: as in Humanoid.
- Reward each step: height of the torso divided by 0.003 s, -0.1 · sum(action²), an impact cost of at most 10, +1.
  The episode never ends early. Random play gets about 33000.
""",
        reward_components=("reward_linup", "reward_quadctrl", "reward_impact"),
    ),
    FAMILY.spec(
        "InvertedDoublePendulum-v5",
        1000,
        -100.0,
        """
Balance two poles, one on top of the other, on a cart.

- Observation, 9 values: cart position; sin of the two angles; cos of the two angles; velocities of cart and angles
  (clipped to ±10); the force of the rail.
- Action, 1 float32 in [-1, 1]: force on the cart.
- Reward each step: +10 while upright, less 0.01·x² + (y - 2)² of the tip at (x, y), less 0.001 and 0.005 times the
  squared velocities of the angles. The episode ends when the tip is at or below a height of 1. Random play gets 25
  to 90.
""",
        reward_components=("reward_survive", "distance_penalty", "velocity_penalty"),
    ),
    FAMILY.spec(
        "InvertedPendulum-v5",
        1000,
        0.0,
        """
Balance a pole on a cart.

- Observation, 4 values: cart position, pole angle, cart velocity, pole velocity.
- Action, 1 float32 in [-3, 3]: force on the cart.
- Reward: +1 for each step with the pole within 0.2 rad of upright; the episode ends otherwise. Returns lie in [0,
  1000].
""",
        reward_components=("reward_survive",),
    ),
    FAMILY.spec(
        "Pusher-v5",
        100,
        -500.0,
        """
Push a cylinder to a goal with an arm of seven joints.

- Observation, 23 values: 7 joint angles, 7 joint velocities, then x, y, z of the fingertip, of the object and of
  the goal.
- Action, 7 float32 in [-2, 2]: torques on shoulder (pan, lift, roll), elbow, forearm roll, wrist (flex, roll).
- Reward each step: -distance from object to goal, -0.5 · distance from fingertip to object, -0.1 · sum(action²).
  The episode never ends early. Random play gets about -150 and full torques -370.
""",
        core16=True,
        reward_components=("reward_near", "reward_dist", "reward_ctrl"),
    ),
    FAMILY.spec(
        "Reacher-v5",
        50,
        -121.0,
        """
Move the tip of a two-link arm to a target in the plane, with little torque.

- Observation, 10 values: cos of the two joint angles, sin of the two joint angles, target x and y, the two joint
  velocities, x and y of the vector from the target to the tip. The links are 0.1 and 0.11 m long; the target lies
  within 0.2 m.
- Action, 2 float32 in [-1, 1]: torques on shoulder and elbow.
- Reward each step: -distance from tip to target, -sum(action²). The episode never ends early. Returns lie in [-121,
  0]: the tip is never more than 0.41 m from the target.
""",
        core16=True,
        reward_components=("reward_dist", "reward_ctrl"),
    ),
    FAMILY.spec(
        "Swimmer-v5",
        1000,
        -400.0,
        """
Make a chain of three links swim in the direction +x in a viscous fluid.

- Observation, 8 values: angle of the front link, angles of the two joints; velocity x and y of the tip, and the
  three angular velocities.
- Action, 2 float32 in [-1, 1]: torques on the two joints.
- Reward each step: forward velocity, -0.0001 · sum(action²). The episode never ends early. Good swimmers get about
  360, so swimming backwards gets about -360.
""",
        reward_components=("reward_forward", "reward_ctrl"),
    ),
    FAMILY.spec(
        "Walker2d-v5",
        1000,
        -200.0,
        """
Make a flat two-legged robot walk in the direction +x.

- Observation, 17 values: height and angle of the torso, angles of right thigh, leg, foot and left thigh, leg, foot;
  then the velocities in the same order after x and z (clipped to ±10).
- Action, 6 float32 in [-1, 1]: torques on right thigh, leg, foot and left thigh, leg, foot.
- Reward each step: forward velocity, +1 while healthy, -0.001 · sum(action²). The episode ends when the height
  leaves [0.8, 2.0] or the torso leans more than 1 rad. Random play gets -10 to 70.
""",
        reward_components=("reward_forward", "reward_ctrl", "reward_survive"),
    ),
)
