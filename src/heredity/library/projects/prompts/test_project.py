"""Every question can be asked and has an answer that is told right from wrong."""

import unittest
from pathlib import Path

from heredity.tasks.registry import taskset

QUESTIONS = taskset(f"questions/file:{Path(__file__).with_name('questions.csv')}")


class Questions(unittest.TestCase):
    def test_no_question_is_in_two_splits(self) -> None:
        texts = [
            {case.spec["question"] for case in QUESTIONS.draw(split, 15, 0)}
            for split in ("train", "validation", "heldout")
        ]
        assert all(len(asked) == 15 for asked in texts)
        assert not texts[0] & texts[1] | texts[0] & texts[2] | texts[1] & texts[2]

    def test_answers_are_numbers(self) -> None:
        assert all(case.spec["answer"].isdigit() for case in QUESTIONS.draw("train", 40, 0))
