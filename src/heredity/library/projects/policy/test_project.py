"""The environment keeps gymnasium's contract, and its bell says where the door is."""

import unittest

import corridor  # registers Corridor-v0
import gymnasium
from gymnasium.utils.env_checker import check_env


class Environment(unittest.TestCase):
    def test_the_contract(self) -> None:
        check_env(gymnasium.make("Corridor-v0").unwrapped)

    def test_who_heeds_the_bell_finds_the_door(self) -> None:
        env = corridor.Corridor()
        for seed in range(20):
            (_, bell), _ = env.reset(seed=seed)
            total, arrived = 0.0, False
            for _ in range(10):
                _, reward, arrived, _, _ = env.step(2 if bell > 0 else 0)
                total += reward
                if arrived:
                    break
            assert arrived
            assert total > 8
