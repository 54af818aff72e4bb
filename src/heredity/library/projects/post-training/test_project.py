"""Batches have labels on answers alone, and the agent starts with what a run gives it."""

import unittest
import random
from pathlib import Path

from agent.train import batch_of

from heredity.experiments.config import load


class Agent(unittest.TestCase):
    def test_labels_are_on_answers_alone(self) -> None:
        tokens, labels = batch_of([([5, 6], [7, 8, 9]), ([5], [7])], 2, random.Random(0))
        assert sorted(map(len, tokens + labels)) == [5, 5, 5, 5]
        assert sorted([v for v in row if v != -100] for row in labels) == [[7], [7, 8, 9]]

    def test_the_suite_starts_this_agent(self) -> None:
        here = Path(__file__).parent
        assert str(here / "agent") in load(here / "suite.toml").model_dump_json()
