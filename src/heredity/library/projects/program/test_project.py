"""The scorer knows good answers from bad ones, and refuses what is none."""

import unittest

from program import solve
from scorer import verify

NO_ANSWERS = [None, [], [0.5] * 5, [0, 0.1, 0.2, 0.3, 0.4, 2], [True] * 6]


class Scorer(unittest.TestCase):
    def test_what_evolution_begins_with_is_an_answer(self) -> None:
        assert verify(solve())["least_difference"] >= 0

    def test_answers_are_measured_exactly(self) -> None:
        assert verify([0, 1 / 32, 4 / 32, 9 / 32, 15 / 32, 1])["least_difference"] == 1 / 32
        assert verify([0, 0.25, 0.5, 0.75, 1, 0])["least_difference"] == 0

    def test_what_is_no_answer_is_refused(self) -> None:
        for answer in NO_ANSWERS:
            with self.subTest(answer=answer), self.assertRaisesRegex(ValueError, "six numbers"):  # noqa: PT027
                verify(answer)
