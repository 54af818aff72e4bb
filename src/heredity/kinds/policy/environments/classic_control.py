"""Classic control: five small, fast tasks of control theory. They are part of gymnasium."""

from __future__ import annotations

from heredity.kinds.policy.environments.spec import Family

FAMILY = Family("classic_control", notes="Source: gymnasium, classic control.")

SPECS = (
    FAMILY.spec(
        "Acrobot-v1",
        500,
        -500.0,
        """
Swing the free end of a two-link pendulum above a line one link length over its base; only the joint between the links
has a motor.

- Observation, 6 float32: cos and sin of the first angle (0 is hanging down), cos and sin of the second angle
  relative to the first, the two angular velocities in rad/s (at most 4π and 9π in size).
- Action, 0, 1 or 2: a torque of -1, 0 or +1 N·m.
- Reward: -1 a step, 0 for the step that reaches the line, which ends the episode. Returns lie in [-500, 0].
- Both links are 1 m and 1 kg; a step is 0.2 s. Angles and velocities start uniformly in ±0.1.
""",
        core16=True,
    ),
    FAMILY.spec(
        "CartPole-v1",
        500,
        0.0,
        """
Keep a pole upright on a cart by pushing the cart.

- Observation, 4 float32: cart position (m), cart velocity (m/s), pole angle (rad, 0 is upright), pole velocity (rad/s).
- Action, 0 or 1: push with 10 N to the left or to the right.
- Reward: +1 a step. The episode ends when the cart is more than 2.4 m from the middle or the pole more than 0.2095 rad
  (12 degrees) from upright. Returns lie in [1, 500].
- A step is 0.02 s. All four values start uniformly in ±0.05.
""",
    ),
    FAMILY.spec(
        "MountainCar-v0",
        200,
        -200.0,
        """
Drive a car out of a valley; its motor is too weak to climb the slope directly, so it must swing.

- Observation, 2 float32: position in [-1.2, 0.6], velocity in ±0.07 a step.
- Action, 0, 1 or 2: accelerate to the left, not at all, to the right (0.001 a step; gravity is 0.0025·cos(3·position)).
- Reward: -1 a step until the position is 0.5, which ends the episode. Returns lie in [-200, 0).
- Starts at rest, uniformly in [-0.6, -0.4].
""",
    ),
    FAMILY.spec(
        "MountainCarContinuous-v0",
        999,
        -99.9,
        """
Drive a car out of a valley with a motor too weak to climb directly, using little force.

- Observation, 2 float32: position in [-1.2, 0.6], velocity in ±0.07 a step.
- Action, 1 float32 in [-1, 1]: the force; it changes the velocity by 0.0015 times its value a step, against a
  gravity of 0.0025·cos(3·position).
- Reward: -0.1 times the squared force each step, and +100 for reaching position 0.45, which ends the episode.
  Returns lie in [-99.9, 100); doing nothing gives 0.
- Starts at rest, uniformly in [-0.6, -0.4].
""",
        core16=True,
    ),
    FAMILY.spec(
        "Pendulum-v1",
        200,
        -16.2736044 * 200,
        """
Swing a pendulum up and hold it upright with little torque; the motor alone cannot lift it.

- Observation, 3 float32: cos and sin of the angle (0 is upright), angular velocity in ±8 rad/s.
- Action, 1 float32 in [-2, 2]: torque in N·m.
- Reward each step: -(angle² + 0.1·velocity² + 0.001·torque²) with the angle in ±π. Returns lie in [-3254.7, 0].
- A step is 0.05 s; 1 m, 1 kg, gravity 10 m/s². Starts at any angle with a velocity in ±1. The episode never ends early.
""",
    ),
)
